//! Replays of many callbacks of an app, which the publisher's activity object carries out.

use serde_json::json;
use worker::Request;

use super::{idempotency_key, replay_query, visitor::Visitor};
use crate::{
    calls::{TIMEOUT, ask, segment},
    isolate::RequestContext,
    refusal::Refusal,
    site::audited,
};
use contract::{
    accounts::AnnouncedChange,
    activity::{self, CancelReplay, CountReplay, FindOutbox, ReadReplay, StartReplay},
    operation::Reply,
};
use domain::model::{
    AppId,
    api_error::{ApiError, common},
};
use platform::{
    http::{answer::Answer, body},
    traits::ObjectCall,
};

const MAX_BODY: usize = 16 << 10;

/// Also of another publisher's.
fn unknown_app() -> ApiError {
    common::NOT_FOUND.with_message("there is no such app with rewards")
}

/// `POST apps/{app_id}/replays`: counts what would be sent again, or starts to send it.
pub async fn start(
    context: &RequestContext,
    visitor: &Visitor,
    segments: &[&str],
    mut request: Request,
) -> Result<Answer, Refusal> {
    let app = AppId::parse(&segment(segments, 0)).ok_or_else(unknown_app)?;
    let to = activity::address(&visitor.publisher);
    let find = FindOutbox { app, shard: None };
    if !context.workers.call(&to, find, TIMEOUT).await?.found {
        return Err(unknown_app().into());
    }
    let key = idempotency_key::read(&request);
    let body = body::read_text(&mut request, MAX_BODY).await?;
    let (filter, is_dry_run) = replay_query::parse(&body, context.now_ms)?;
    let publisher = visitor.publisher.clone();
    if is_dry_run {
        let until = filter.until;
        let count = CountReplay {
            publisher,
            app,
            filter,
        };
        let counted = context.workers.call(&to, count, TIMEOUT).await?;
        let body = json!({ "count": counted.count, "until": until });
        return Ok(Answer::json(200, body.to_string()));
    }
    let key = key?;
    let announce = visitor.announce(AnnouncedChange::ReplayRewards {
        app_id: app,
        filter: replay_query::words(&filter),
    });
    let start = StartReplay {
        publisher,
        app,
        filter,
        key,
    };
    let account = visitor.account.id();
    let started = audited::change(&context.workers, account, announce, &to, start, |_| None).await?;
    Ok(started.into())
}

/// The app and the replay of a path. An app of another publisher has none here.
fn replay_of(segments: &[&str]) -> Result<(AppId, String), ApiError> {
    let app = AppId::parse(&segment(segments, 0));
    let app = app.ok_or_else(|| common::NOT_FOUND.with_message("there is no such replay"))?;
    Ok((app, segment(segments, 1)))
}

/// `GET apps/{app_id}/replays/{replay_id}`.
pub async fn read(context: &RequestContext, visitor: &Visitor, segments: &[&str]) -> Result<Answer, Refusal> {
    let (app, replay_id) = replay_of(segments)?;
    let to = activity::address(&visitor.publisher);
    Ok(ask(context, &to, ReadReplay { app, replay_id }).await)
}

/// `DELETE apps/{app_id}/replays/{replay_id}`.
pub async fn cancel(
    context: &RequestContext,
    visitor: &Visitor,
    segments: &[&str],
) -> Result<Answer, Refusal> {
    let (app, replay_id) = replay_of(segments)?;
    let to = activity::address(&visitor.publisher);
    let announce = visitor.announce(AnnouncedChange::CancelReplay {
        app_id: app,
        replay_id: replay_id.clone(),
    });
    let account = visitor.account.id();
    let cancel = CancelReplay { app, replay_id };
    audited::change(&context.workers, account, announce, &to, cancel, |_| None).await?;
    Ok(Reply::no_content().into())
}
