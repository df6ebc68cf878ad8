//! Replays of many callbacks of an app, which the publisher's activity object carries out.

use serde_json::json;
use worker::Request;

use super::visitor::Visitor;
use crate::http::{
    calls::{ask, segment},
    isolate::RequestContext,
    refusal::HandlerResult,
    site::{
        audited, replay_query,
        replays::{ReplayOrder, unknown_app},
    },
};
use contract::{
    accounts::AnnouncedChange,
    activity::{self, CancelReplay, ReadReplay},
    operation::OperatorReply,
};
use domain::model::{
    AppId,
    api_error::{ApiError, common},
};
use platform::http::answer::Answer;

/// `POST apps/{app_id}/replays`: counts what would be sent again, or starts to send it.
pub async fn start(
    context: &RequestContext,
    visitor: &Visitor,
    segments: &[&str],
    request: Request,
) -> HandlerResult {
    let app = AppId::parse(&segment(segments, 0)).ok_or_else(unknown_app)?;
    let order = ReplayOrder::read(context, visitor.publisher.clone(), app, request).await?;
    if order.is_dry_run {
        let body = json!({ "count": order.count(context).await?, "until": order.filter.until });
        return Ok(Answer::json(200, body.to_string()));
    }
    let announce = visitor.announce(AnnouncedChange::ReplayRewards {
        app_id: app,
        filter: replay_query::words(&order.filter),
    });
    let (account, to) = (visitor.account.id(), activity::address(&visitor.publisher));
    let start = order.into_start(None)?;
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
pub async fn read(context: &RequestContext, visitor: &Visitor, segments: &[&str]) -> HandlerResult {
    let (app, replay_id) = replay_of(segments)?;
    let to = activity::address(&visitor.publisher);
    Ok(ask(context, &to, ReadReplay { app, replay_id }).await)
}

/// `DELETE apps/{app_id}/replays/{replay_id}`.
pub async fn cancel(context: &RequestContext, visitor: &Visitor, segments: &[&str]) -> HandlerResult {
    let (app, replay_id) = replay_of(segments)?;
    let to = activity::address(&visitor.publisher);
    let announce = visitor.announce(AnnouncedChange::CancelReplay {
        app_id: app,
        replay_id: replay_id.clone(),
    });
    let account = visitor.account.id();
    let cancel = CancelReplay { app, replay_id };
    audited::change(&context.workers, account, announce, &to, cancel, |_| None).await?;
    Ok(OperatorReply::no_content().into())
}
