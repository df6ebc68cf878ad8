//! Replays of many callbacks of an app, which the publisher's activity object carries out.

use serde_json::json;
use worker::Request;

use super::visitor::Visit;
use crate::http::{
    HandlerResult,
    calls::ask,
    site::{
        replay_query,
        replays::{ReplayOrder, unknown_app},
    },
};
use contract::{
    accounts::AnnouncedChange,
    activity::{self, CancelReplay, ReadReplay},
    operation::OperatorReply,
};
use domain::model::{ApiError, AppId, common};
use platform::http::Answer;

/// `POST apps/{app_id}/replays`: counts the callbacks that would be resent, or starts to resend them.
pub async fn start(visit: &Visit<'_>, request: Request) -> HandlerResult {
    let app = AppId::parse(&visit.segment(0)).ok_or_else(unknown_app)?;
    let order = ReplayOrder::read(visit.context, visit.publisher.clone(), app, request).await?;
    if order.is_dry_run {
        let body = json!({ "count": order.count(visit.context).await?, "until": order.filter.until });
        return Ok(Answer::json(200, body.to_string()));
    }
    let announced = AnnouncedChange::ReplayRewards { app_id: app, filter: replay_query::words(&order.filter) };
    let to = activity::address(&visit.publisher);
    let start = order.into_start(None)?;
    Ok(visit.change(announced, to, start).await?.into())
}

/// Returns the app and the replay that a path names. The app is not checked, because the publisher's own
/// activity object has no replay of another publisher's app.
fn replay_of(visit: &Visit<'_>) -> Result<(AppId, String), ApiError> {
    let app = AppId::parse(&visit.segment(0));
    let app = app.ok_or_else(|| common::NOT_FOUND.with_message("no replay has this id"))?;
    Ok((app, visit.segment(1)))
}

/// `GET apps/{app_id}/replays/{replay_id}`.
pub async fn read(visit: &Visit<'_>) -> HandlerResult {
    let (app, replay_id) = replay_of(visit)?;
    let to = activity::address(&visit.publisher);
    Ok(ask(visit.context, &to, ReadReplay { app, replay_id }).await)
}

/// `DELETE apps/{app_id}/replays/{replay_id}`.
pub async fn cancel(visit: &Visit<'_>) -> HandlerResult {
    let (app, replay_id) = replay_of(visit)?;
    let to = activity::address(&visit.publisher);
    let announced = AnnouncedChange::CancelReplay { app_id: app, replay_id: replay_id.clone() };
    let cancel = CancelReplay { app, replay_id };
    visit.change(announced, to, cancel).await?;
    Ok(OperatorReply::no_content().into())
}
