//! The counts of publishers' rewards, from their activity objects.

use futures_util::{StreamExt, stream};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use worker::Request;

use super::{MAX_DOCUMENT, ask_catalog, publisher_in, read_document};
use crate::http::{HandlerResult, RequestContext, site::reward_query};
use contract::{
    activity::{self, Activity, ReadActivity},
    catalog::KnownPublishers,
    operation::{CallError, OperatorReply},
    outbox::EndpointState,
};
use domain::model::{Document, FieldError, MicroUsd, PublisherId, UtcDay};
use platform::{CONNECTIONS, log};

/// Maximum publishers in one call, which is a page of the console's list.
const MAX: usize = 50;
/// Number of days that the figures in lists cover, today included.
const FIGURE_DAYS: i32 = 30;

#[derive(Deserialize)]
struct FiguresBody {
    publisher_ids: Vec<PublisherId>,
}

impl Document for FiguresBody {
    fn check(&self) -> Result<(), FieldError> {
        if self.publisher_ids.len() > MAX {
            return Err(FieldError::new("publisher_ids", format!("must have at most {MAX} ids")));
        }
        Ok(())
    }
}

/// `GET publishers/{publisher_id}/activity`: the same figures as in the publisher's dashboard, but without the steps to
/// go live that only the ledger knows.
pub async fn read(context: &RequestContext, segments: &[&str]) -> HandlerResult {
    let publisher = publisher_in(context, segments).await?;
    let read = last_days(context, &publisher, reward_query::DAYS).await?;
    Ok(OperatorReply::ok(&reward_query::activity(&read, None)).into())
}

/// `POST publisher_figures`: the figures of these publishers. An unknown publisher, or one whose activity object does
/// not answer, is left out.
pub async fn read_figures(context: &RequestContext, mut request: Request) -> HandlerResult {
    let FiguresBody { publisher_ids } = read_document(&mut request, MAX_DOCUMENT).await?;
    // Calling an object creates it, so only known publishers' objects are called.
    let known: Vec<PublisherId> = ask_catalog(context, KnownPublishers { publisher_ids }).await?;
    let read: Vec<_> = stream::iter(known)
        .map(async |publisher| (last_days(context, &publisher, FIGURE_DAYS).await, publisher))
        .buffered(CONNECTIONS)
        .collect()
        .await;
    let mut figures = Map::new();
    for (activity, publisher) in read {
        match activity {
            Ok(activity) => {
                figures.insert(publisher.to_string(), sums(&activity));
            }
            Err(error) => log::warn("operator", format_args!("the activity of {publisher} is left out: {error}")),
        }
    }
    Ok(OperatorReply::ok(&json!({ "figures": figures })).into())
}

async fn last_days(context: &RequestContext, publisher: &PublisherId, days: i32) -> Result<Activity, CallError> {
    let from = UtcDay::of_ms(context.now_ms).minus(days.saturating_sub(1));
    let to = activity::address(publisher);
    context.call(&to, ReadActivity { from }).await
}

/// Adds up the figures of a publisher's apps, except test apps. The payout of reversed rewards is subtracted.
fn sums(activity: &Activity) -> Value {
    let (mut approved, mut pending, mut held, mut dead, mut disabled) = (0_i64, 0_i64, 0_i64, 0_i64, 0_i64);
    let mut payout = MicroUsd::default();
    let apps = activity.apps.iter().filter(|app| !app.app.is_test());
    for app in apps.clone() {
        let counts = &app.counts;
        approved = approved.saturating_add(counts.approved);
        pending = pending.saturating_add(counts.pending);
        held = held.saturating_add(counts.held);
        dead = dead.saturating_add(app.endpoint.dead);
        disabled = disabled.saturating_add(i64::from(app.endpoint.state == EndpointState::Disabled));
        payout.0 = payout.0.saturating_add(counts.approved_micro_usd).saturating_add(counts.reversed_micro_usd);
    }
    json!({
        "apps": apps.count(),
        "approved": approved,
        "pending": pending,
        "held": held,
        "payout_usd": payout,
        "dead_callbacks": dead,
        "disabled_callbacks": disabled,
    })
}
