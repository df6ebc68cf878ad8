//! A publisher's rewards: counts and the list, which its activity object has; and the story and the replay of one, which the
//! app's outbox has.

use std::time::Duration;

use futures_util::future::join;
use worker::Request;

use super::visitor::Visitor;
use crate::{
    http::{
        calls::{read_json, segment},
        isolate::RequestContext,
        refusal::{HandlerResult, Refusal},
        site::{
            audited,
            reward_query::{self, Firsts},
        },
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
    model::{AppId, time::UtcDay},
};
use platform::{http::answer::Answer, traits::ObjectCall};

const MAX_BODY: usize = 16 << 10;
/// A page polls these calls, so it rather shows that one failed than waits.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// `GET activity`.
pub async fn activity(context: &RequestContext, visitor: &Visitor) -> HandlerResult {
    let from = UtcDay::of_ms(context.now_ms).minus(reward_query::DAYS - 1);
    let to = activity::address(&visitor.publisher);
    let ledger = ledger::address(&visitor.publisher, OPERATOR);
    let (read, freshness) = join(
        context.workers.call(&to, ReadActivity { from }, READ_TIMEOUT),
        context.workers.call(&ledger, ReadFreshness {}, READ_TIMEOUT),
    )
    .await;
    // Without the ledger, two steps of the checklist are not ticked, and the rest is there.
    let firsts = freshness.map_or(Firsts::default(), |freshness| Firsts {
        click_ms: freshness.first_click_ms,
        report_ms: freshness.first_report_ms,
    });
    let body = reward_query::activity(&read?, firsts);
    Ok(Answer::json(200, body.to_string()))
}

/// `POST rewards`: a page of the newest rewards, or what has changed since one.
pub async fn list(context: &RequestContext, visitor: &Visitor, mut request: Request) -> HandlerResult {
    let body = read_json(&mut request, MAX_BODY).await?;
    let list = reward_query::parse(&body, is_analyst(visitor))?;
    let to = activity::address(&visitor.publisher);
    let page = context.workers.call(&to, Box::new(list), READ_TIMEOUT).await?;
    let body = reward_query::page(&page, is_analyst(visitor));
    Ok(Answer::json(200, body.to_string()))
}

fn is_analyst(visitor: &Visitor) -> bool {
    visitor.session.role == Role::Analyst
}

/// `GET apps/{app_id}/rewards/{transaction_id}`.
pub async fn story(context: &RequestContext, visitor: &Visitor, segments: &[&str]) -> HandlerResult {
    let (outbox, transaction_id) = own_outbox(context, visitor, segments).await?;
    let read = ReadReward {
        publisher: visitor.publisher.clone(),
        transaction_id,
        is_analyst: is_analyst(visitor),
    };
    let reply = context.call(&outbox.address(), read).await?;
    Ok(reply.into())
}

/// `POST apps/{app_id}/rewards/{transaction_id}/replay`.
pub async fn replay(context: &RequestContext, visitor: &Visitor, segments: &[&str]) -> HandlerResult {
    let (outbox, transaction_id) = own_outbox(context, visitor, segments).await?;
    let announce = visitor.announce(AnnouncedChange::ReplayReward {
        app_id: outbox.app,
        transaction_id: transaction_id.clone(),
    });
    let replay = ReplayReward {
        publisher: visitor.publisher.clone(),
        transaction_id,
    };
    let (account, to) = (visitor.account.id(), outbox.address());
    let replayed = audited::change(&context.workers, account, announce, &to, replay, |_| None).await?;
    Ok(replayed.into())
}

/// The outbox that keeps a transaction of an app, and the transaction. The activity knows the publisher's outboxes: an app of
/// another publisher and one that does not exist are told apart by nothing, and no outbox is made by asking it.
async fn own_outbox(
    context: &RequestContext,
    visitor: &Visitor,
    segments: &[&str],
) -> Result<(OutboxShard, String), Refusal> {
    let transaction_id = segment(segments, 1);
    let app = AppId::parse(&segment(segments, 0)).ok_or_else(unknown_reward)?;
    let number = ids::shard_of(&transaction_id).ok_or_else(unknown_reward)?;
    let to = activity::address(&visitor.publisher);
    let find = FindOutbox {
        app,
        shard: Some(number),
    };
    let found: Result<Found, CallError> = context.workers.call(&to, find, READ_TIMEOUT).await;
    if found?.found {
        Ok((OutboxShard { app, number }, transaction_id))
    } else {
        Err(unknown_reward().into())
    }
}
