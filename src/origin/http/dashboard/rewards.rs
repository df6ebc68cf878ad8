//! A publisher's rewards: the activity object has the counts and the list, and the app's outbox has the story and the
//! replay of one reward.

use std::time::Duration;

use futures_util::future::join;
use serde_json::Value;
use worker::Request;

use super::visitor::Visit;
use crate::{
    http::{
        HandlerResult, Refusal,
        calls::{answer, read_json},
        offer_names,
        site::reward_query,
    },
    objects::outbox::story::unknown_reward,
};
use contract::{
    accounts::AnnouncedChange,
    activity::{self, FindOutbox, Found, ReadActivity},
    ledger::{self, OPERATOR, ReadFreshness},
    operation::CallError,
    outbox::{OutboxShard, ReadReward, ReplayReward},
};
use domain::{
    accounts::role::Role,
    conversions::ids,
    model::{AppId, UtcDay},
};
use platform::{ObjectCall, http::Answer};

const MAX_BODY: usize = 16 << 10;
/// The timeout is short, because the page polls, and shows a failure instead of waiting.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// `GET activity`.
pub async fn activity(visit: &Visit<'_>) -> HandlerResult {
    let from = UtcDay::of_ms(visit.context.now_ms).minus(reward_query::DAYS - 1);
    let to = activity::address(&visit.publisher);
    let ledger = ledger::address(&visit.publisher, OPERATOR);
    let workers = &visit.context.workers;
    let (read, freshness) = join(
        workers.call(&to, ReadActivity { from }, READ_TIMEOUT),
        workers.call(&ledger, ReadFreshness {}, READ_TIMEOUT),
    )
    .await;
    // Without the ledger's answer, two steps of the checklist stay open; the rest is shown.
    let body = reward_query::activity(&read?, freshness.ok());
    Ok(Answer::json(200, body.to_string()))
}

/// `POST rewards`: a page of the newest rewards, or the changes since an earlier page.
pub async fn list(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let body = read_json(&mut request, MAX_BODY).await?;
    let list = reward_query::parse(&body, is_analyst(visit))?;
    let to = activity::address(&visit.publisher);
    let page = visit.context.workers.call(&to, Box::new(list), READ_TIMEOUT).await?;
    let mut body = reward_query::page(&page, is_analyst(visit));
    if let Some(rows) = body.get_mut("rows").and_then(Value::as_array_mut) {
        offer_names::add(visit.context, rows).await;
    }
    Ok(Answer::json(200, body.to_string()))
}

fn is_analyst(visit: &Visit<'_>) -> bool {
    visit.session.role == Role::Analyst
}

/// `GET apps/{app_id}/rewards/{transaction_id}`.
pub async fn story(visit: &Visit<'_>) -> HandlerResult {
    let (outbox, transaction_id) = own_outbox(visit).await?;
    let read = ReadReward { publisher: visit.publisher.clone(), transaction_id, is_analyst: is_analyst(visit) };
    let reply = visit.context.call(&outbox.address(), read).await?;
    answer(&offer_names::add_to_one(visit.context, &reply).await?)
}

/// `POST apps/{app_id}/rewards/{transaction_id}/replay`.
pub async fn replay(visit: &Visit<'_>) -> HandlerResult {
    let (outbox, transaction_id) = own_outbox(visit).await?;
    let announced = AnnouncedChange::ReplayReward { app_id: outbox.app, transaction_id: transaction_id.clone() };
    let replay = ReplayReward { publisher: visit.publisher.clone(), transaction_id };
    Ok(visit.change(announced, outbox.address(), replay).await?.into())
}

/// Returns the outbox that keeps a transaction of an app, and the transaction's id. The activity object knows which
/// outboxes the publisher has. So another publisher's app gets the same answer as an unknown app, and the call creates
/// no outbox.
async fn own_outbox(visit: &Visit<'_>) -> Result<(OutboxShard, String), Refusal> {
    let transaction_id = visit.segment(1);
    let app = AppId::parse(&visit.segment(0)).ok_or_else(unknown_reward)?;
    let number = ids::shard_of(&transaction_id).ok_or_else(unknown_reward)?;
    let to = activity::address(&visit.publisher);
    let find = FindOutbox { app, shard: Some(number) };
    let found: Result<Found, CallError> = visit.context.workers.call(&to, find, READ_TIMEOUT).await;
    if found?.found { Ok((OutboxShard { app, number }, transaction_id)) } else { Err(unknown_reward().into()) }
}
