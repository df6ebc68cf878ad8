//! The operator's replays of many callbacks of any app: counts them in advance, and starts, follows or cancels a
//! replay.

use serde_json::json;
use worker::Request;

use super::{ask, ask_catalog, segment};
use crate::http::{
    HandlerResult, RequestContext,
    routes::ReplayCall,
    site::{
        gate::Member,
        replay_query::words,
        replays::{ReplayOrder, unknown_app},
    },
};
use contract::{
    activity::{self, CancelReplay, ReadReplay},
    catalog::{AppSettings, GetAppSettings},
};
use domain::{
    accounts::role::Role,
    model::{ApiError, AppId},
};
use platform::http::Answer;

/// Maximum callbacks that a support member may resend in one replay.
const MAX_OF_SUPPORT: u32 = 100;

const TOO_MANY_FOR_SUPPORT: ApiError = ApiError::new(
    403,
    "too_many_for_support",
    "support sends at most 100 callbacks again at a time, and the reversals that follow them: narrow the filter, or ask an admin",
);

/// `by` is the calling member; `None` with the operator's token.
pub async fn call(
    context: &RequestContext,
    call: ReplayCall,
    by: Option<&Member>,
    segments: &[&str],
    request: Request,
) -> HandlerResult {
    let app = AppId::parse(&segment(segments, 0)).ok_or_else(unknown_app)?;
    let settings: AppSettings = ask_catalog(context, GetAppSettings { app_id: app }).await?;
    let to = activity::address(&settings.publisher_id);
    let replay_id = segment(segments, 1);
    Ok(match call {
        ReplayCall::Start => {
            let order = ReplayOrder::read(context, settings.publisher_id, app, request).await?;
            if order.is_dry_run {
                let body = json!({ "count": order.count(context).await?, "until": order.filter.until });
                return Ok(Answer::json(200, body.to_string()).dry_run(true));
            }
            let is_support = by.is_some_and(|member| member.session.role == Role::Support);
            if is_support && order.count(context).await? > i64::from(MAX_OF_SUPPORT) {
                return Err(TOO_MANY_FOR_SUPPORT.into());
            }
            // More callbacks may match by the time the replay runs, so the replay is limited as well.
            let most = is_support.then_some(MAX_OF_SUPPORT);
            let detail = words(&order.filter);
            let started = context.call(&to, order.into_start(most)?).await?;
            Answer::from(started).audited(detail)
        }
        ReplayCall::Read => ask(context, &to, ReadReplay { app, replay_id }).await,
        ReplayCall::Cancel => {
            let cancel = CancelReplay { app, replay_id };
            let reply = context.call(&to, cancel).await?;
            // A replay that had already ended is unchanged.
            Answer::new(204).dry_run(reply.status == 200)
        }
    })
}
