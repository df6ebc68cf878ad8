//! The story of a reward as its publisher reads it: the click, the terms, the amounts, the reasons, and each callback
//! with its attempts. An analyst's answer is a separate type.

pub mod reward;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    callbacks::{bulk_replay, replay},
    endpoint::{self, OutboxState},
    erasure,
    feed::reward_state,
    log::{delivery_name, newest_attempts, states::state_of},
    sql,
};
use contract::{
    operation::OperatorReply,
    outbox::{ClickOutcome, ClickReward, ReadClick, ReadReward, ReplayReward, ReplayRewards, Replayed},
};
use domain::{
    callbacks::{diagnosis::shown_error, fields::Status},
    model::{ApiError, PublisherId, SECOND_MS, common},
};
use platform::{Database, DatabaseError, DbResult, Result, Row, database::json, params};
use reward::{Fields, Reward, RewardSummary, number};

/// Returns the error for an unknown reward, and for a reward of another publisher.
pub fn unknown_reward() -> ApiError {
    common::NOT_FOUND.with_message("no reward has this transaction_id")
}

/// Maximum attempts of a callback in a story. Replays may add any number of attempts.
const ATTEMPTS: u32 = 50;

/// The answer to an analyst: `AnalystReward` of openapi-dashboard.yaml. A test compares the keys.
#[derive(Serialize)]
struct AnalystReward<'r> {
    #[serde(flatten)]
    summary: RewardSummary<'r>,
    callbacks: Vec<AnalystCallback<'r>>,
}

/// The answer to everybody else: `RewardStory` of openapi.yaml.
#[derive(Serialize)]
struct RewardStory<'r> {
    #[serde(flatten)]
    reward: Reward<'r>,
    callbacks: Vec<CallbackStory<'r>>,
}

/// The fields of a callback that every member sees.
#[derive(Serialize)]
struct CallbackSummary<'r> {
    transaction_id: &'r str,
    event: Status,
    delivery: &'static str,
    value: Option<Box<RawValue>>,
    payout: Option<Box<RawValue>>,
    conversion_ts: i64,
    next_try_ts: Option<i64>,
    /// The number of stored attempts. `attempts` has only the newest [`ATTEMPTS`].
    attempts_total: i64,
}

#[derive(Serialize)]
struct AnalystCallback<'r> {
    #[serde(flatten)]
    summary: CallbackSummary<'r>,
    attempts: Vec<AnalystAttempt>,
}

#[derive(Serialize, Deserialize)]
struct AnalystAttempt {
    at: i64,
    ms: i64,
    http_status: Option<u16>,
}

#[derive(Serialize)]
struct CallbackStory<'r> {
    #[serde(flatten)]
    summary: CallbackSummary<'r>,
    attempts: Vec<serde_json::Value>,
    /// The fields that each attempt sends, by their names.
    fields: Option<Box<RawValue>>,
}

/// Answers `GET …/rewards/{transaction_id}`.
///
/// # Errors
/// `not_found` for an unknown reward, or a reward of another publisher's app.
pub fn read(db: &impl Database, read: &ReadReward) -> Result<OperatorReply> {
    let outbox = own_outbox(db, &read.publisher)?;
    let rows = db.query(sql::GET_STORY, params![read.transaction_id.as_str()])?;
    let Some(reward) = rows.first() else {
        return Err(unknown_reward().into());
    };
    let entries: Vec<i64> = rows.iter().map(|row| row.integer(0)).collect::<Result<_, _>>()?;
    let mut attempts = newest_attempts(db, &entries, ATTEMPTS)?;
    let with_callback = rows.iter().filter(|row| !row.is_null(3));
    let reward = Reward::read(reward, outbox.shard.app)?;
    if read.is_analyst {
        let callbacks = with_callback.map(|row| {
            let attempts = attempts.remove(&row.integer(0)?).unwrap_or_default();
            Ok(AnalystCallback {
                summary: callback_summary(row, &outbox)?,
                attempts: attempts.into_iter().map(analyst_attempt).collect::<Result<_, _>>()?,
            })
        });
        let callbacks = callbacks.collect::<DbResult<_>>()?;
        return Ok(answer(&AnalystReward { summary: reward.summary, callbacks })?);
    }
    let callbacks = with_callback.map(|row| {
        let attempts = attempts.remove(&row.integer(0)?).unwrap_or_default();
        Ok(CallbackStory {
            summary: callback_summary(row, &outbox)?,
            attempts: attempts.into_iter().map(shown_attempt).collect(),
            fields: RawValue::from_string(row.text(5)?.to_owned()).ok(),
        })
    });
    let callbacks = callbacks.collect::<DbResult<_>>()?;
    Ok(answer(&RewardStory { reward, callbacks })?)
}

fn answer(story: &impl Serialize) -> DbResult<OperatorReply> {
    Ok(OperatorReply::new(200, json(story)?))
}

fn callback_summary<'r>(row: &'r Row, outbox: &OutboxState) -> DbResult<CallbackSummary<'r>> {
    let fields: Fields = row.json(5)?;
    let delivery = row.integer(3)?;
    let waits = delivery == super::log::entries::WAITING && outbox.has_endpoint();
    let due_ms = row.optional_integer(4)?.filter(|_| waits);
    Ok(CallbackSummary {
        transaction_id: row.text(1)?,
        event: fields.status,
        delivery: delivery_name(delivery, outbox.has_callback()),
        value: number(&fields.value),
        payout: number(&fields.payout),
        conversion_ts: fields.conversion_ts,
        next_try_ts: due_ms.map(|ms| ms.div_euclid(SECOND_MS)),
        attempts_total: row.integer(15)?,
    })
}

fn analyst_attempt(attempt: serde_json::Value) -> DbResult<AnalystAttempt> {
    serde_json::from_value(attempt)
        .map_err(|error| DatabaseError(format!("a stored attempt cannot be parsed: {error}")))
}

fn shown_attempt(mut attempt: serde_json::Value) -> serde_json::Value {
    if let Some(serde_json::Value::String(error)) = attempt.get_mut("error") {
        *error = shown_error(error).to_owned();
    }
    attempt
}

/// Returns the rewards of a click, and whether its user was erased. A click without a postback has no rewards.
pub fn of_click(db: &impl Database, read: &ReadClick) -> Result<ClickOutcome> {
    let rewards = db.read_all(sql::LIST_OF_CLICK, params![read.nonce.0.clone()], |row| {
        Ok(ClickReward {
            transaction_id: row.text(0)?.to_owned(),
            goal_id: row.text(1)?.to_owned(),
            state: reward_state(state_of(row.integer(2)?)?),
        })
    })?;
    let is_erased = match &read.of {
        Some((user_id, clicked_at_ms)) => erasure::is_erased(db, user_id, *clicked_at_ms)?,
        None => false,
    };
    Ok(ClickOutcome { rewards, is_erased })
}

/// Answers `POST …/rewards/{transaction_id}/replay`.
///
/// # Errors
/// `not_found` for an unknown reward, or a reward of another publisher's app; `nothing_to_send` if the reward has no
/// callback; `erased` if its user was erased.
pub fn replay_one(db: &impl Database, now_ms: i64, replay: &ReplayReward, claim_ms: i64) -> Result<OperatorReply> {
    own_outbox(db, &replay.publisher)?;
    let known = db.query_first(sql::GET_STORY, params![replay.transaction_id.as_str()])?;
    known.ok_or_else(unknown_reward)?;
    replay::replay(db, now_ms, &replay.transaction_id, claim_ms)?;
    let body = serde_json::json!({ "transaction_id": replay.transaction_id });
    Ok(OperatorReply::new(202, body.to_string()))
}

/// Does one step of a replay of many callbacks. If the app has no callback or the publisher is closed, nothing is sent.
///
/// # Errors
/// `not_found` if the app belongs to another publisher.
pub fn replay_some(db: &impl Database, now_ms: i64, step: &ReplayRewards, claim_ms: i64) -> Result<Replayed> {
    let outbox = own_outbox(db, &step.publisher)?;
    if outbox.has_callback() && !outbox.callback.is_closed {
        return Ok(bulk_replay::step(db, now_ms, step, claim_ms, bulk_replay::STEP)?);
    }
    Ok(Replayed { replayed: 0, next: None, until: step.filter.end_s() })
}

/// Returns the state of this outbox, if its app belongs to the publisher.
fn own_outbox(db: &impl Database, publisher: &PublisherId) -> Result<OutboxState> {
    let own = endpoint::read(db)?.filter(|outbox| {
        let current = outbox.current.as_ref();
        current.is_some_and(|current| current.publisher_id == *publisher)
    });
    own.ok_or_else(|| unknown_reward().into())
}
