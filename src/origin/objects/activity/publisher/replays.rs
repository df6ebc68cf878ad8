//! Replays of many callbacks of an app. The alarm carries out a replay outbox by outbox, at most [`PACE`] callbacks per
//! second, so that the callbacks of new conversions do not wait behind the whole replay. A step whose answer was lost
//! is retried under the same name, and the outbox returns the same answer.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::sql;
use crate::delivery::backoff::wait_ms;
use contract::{
    activity::{CancelReplay, CountReplay, Counted, EndReplaysOf, ReadReplay, StartReplay},
    operation::{Done, OperatorReply},
    outbox::{OutboxShard, ReplayRewards},
    rewards::RewardFilter,
};
use domain::model::{ApiError, AppId, PublisherId, SECOND_MS, common, credentials};
use platform::{
    Clock, Database, DbResult, Failure, ObjectCall, Result, Row,
    concurrent::{each, try_each},
    database::{MAX_INTEGER, json as as_json},
    log, params,
};

use super::overview::app_id;

pub const REPLAY_RUNNING: ApiError =
    ApiError::new(409, "replay_running", "the app has a replay that is not finished; wait for the replay or cancel it");
pub const KEY_REUSED: ApiError = ApiError::new(
    409,
    "idempotency_key_reused",
    "this Idempotency-Key was used for a replay with another filter; use a new key",
);
pub const COUNT_TOO_LONG: ApiError =
    ApiError::new(400, "count_too_long", "counting takes longer than 20 seconds; narrow the dates");

/// Maximum callbacks that are due in an outbox after a step. A replay makes one step per second.
pub const PACE: u32 = 100;
const TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit of a count, including its wait for an earlier count, in milliseconds. The caller waits 25 s.
const COUNT_MS: i64 = 20 * SECOND_MS;

/// A stored filter. When the replay is over, a hash replaces the user id, because the user may be erased. With the
/// hash, a repeated start is still recognized.
#[derive(PartialEq, Serialize, Deserialize)]
struct StoredFilter {
    #[serde(flatten)]
    filter: RewardFilter,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_hash: Option<String>,
}

impl StoredFilter {
    fn without_user(mut filter: RewardFilter, key: &str) -> Self {
        let user = filter.user_id.take();
        Self { filter, user_hash: user.map(|user| hex::encode(credentials::hash(&format!("{key} {user}")))) }
    }

    /// True if a start with `filter` and `key` has stored `self`.
    fn is_of(&self, filter: &RewardFilter, key: &str) -> bool {
        match self.user_hash {
            None => self.filter == *filter,
            Some(_) => *self == Self::without_user(filter.clone(), key),
        }
    }
}

fn unknown() -> ApiError {
    common::NOT_FOUND.with_message("no replay has this id")
}

/// Starts a replay. A retry with the same key returns the same replay and 200.
///
/// # Errors
/// `replay_running`; `idempotency_key_reused` if the key has started a replay with another filter.
pub fn start(db: &impl Database, now_ms: i64, start: &StartReplay) -> Result<OperatorReply> {
    let app = start.app.number();
    let answer = |status, number: i64| {
        let body = json!({ "replay_id": number.to_string() });
        OperatorReply::new(status, body.to_string())
    };
    if let Some(known) = db.query_first(sql::FIND_REPLAY, params![app, start.key.as_str()])? {
        if !known.json::<StoredFilter>(1)?.is_of(&start.filter, &start.key) {
            return Err(KEY_REUSED.into());
        }
        return Ok(answer(200, known.integer(0)?));
    }
    if db.query_boolean(sql::HAS_RUNNING, params![app])? {
        return Err(REPLAY_RUNNING.into());
    }
    let number = db.query_integer(
        sql::START_REPLAY,
        params![app, start.key.as_str(), start.publisher.as_str(), as_json(&start.filter)?, now_ms, start.most],
    )?;
    let number = number.ok_or_else(|| Failure::Internal("RETURNING returned no row".into()))?;
    Ok(answer(202, number))
}

/// Parses the id of a replay.
fn number(replay_id: &str) -> Result<i64, ApiError> {
    let number = replay_id.parse().ok();
    number.filter(|number: &i64| (1..=MAX_INTEGER).contains(number)).ok_or_else(unknown)
}

/// Reads the progress of a replay.
pub fn read(db: &impl Database, read: &ReadReplay) -> Result<OperatorReply> {
    let key = params![number(&read.replay_id)?, read.app.number()];
    let row = db.query_first(sql::GET_REPLAY, key)?.ok_or_else(unknown)?;
    let filter: RewardFilter = row.json(4)?;
    let state = match row.integer(0)? {
        0 => "running",
        1 => "done",
        _ => "cancelled",
    };
    let ended_ms = row.optional_integer(3)?;
    Ok(OperatorReply::ok(&json!({
        "replay_id": read.replay_id,
        "state": state,
        "replayed": row.integer(1)?,
        "filter": filter,
        "started_ts": row.integer(2)?.div_euclid(SECOND_MS),
        "ended_ts": ended_ms.map(|ms| ms.div_euclid(SECOND_MS)),
    })))
}

/// Cancels a replay. If the replay is already over, nothing changes and the answer is 200.
pub fn cancel(db: &impl Database, now_ms: i64, cancel: &CancelReplay) -> Result<OperatorReply> {
    let (id, app) = (number(&cancel.replay_id)?, cancel.app.number());
    let row = db.query_first(sql::GET_REPLAY, params![id, app])?.ok_or_else(unknown)?;
    let filter = as_json(&StoredFilter::without_user(row.json(4)?, row.text(5)?))?;
    match db.query_first(sql::CANCEL_REPLAY, params![now_ms, filter, id, app])? {
        Some(_) => Ok(OperatorReply::no_content()),
        None => Ok(OperatorReply::ok(&json!({}))),
    }
}

/// Ends the replays whose filters name an erased user.
pub fn end_of_user(db: &impl Database, now_ms: i64, end: &EndReplaysOf) -> Result<Done> {
    let app = end.app.map(AppId::number);
    for row in db.query(sql::RUNNING_OF_USER, params![end.user_id.as_str(), app])? {
        let replay_id = row.integer(0)?.to_string();
        let app = app_id(&row, 1)?;
        cancel(db, now_ms, &CancelReplay { app, replay_id })?;
    }
    Ok(Done {})
}

/// Counts the callbacks that a replay would send in all outboxes of the app, for a caller that asked at `asked_ms`.
///
/// # Errors
/// `count_too_long`; `unavailable` if an outbox does not answer, or if earlier counts used up the caller's time.
pub async fn count(
    db: &impl Database,
    runtime: &(impl Clock + ObjectCall),
    count: &CountReplay,
    asked_ms: i64,
) -> Result<Counted> {
    let until_ms = asked_ms.saturating_add(COUNT_MS);
    if left(runtime, until_ms).is_none() {
        return Err(common::BUSY.into());
    }
    let shards: Vec<u8> = db.read_all(sql::LIST_OUTBOXES, params![count.app.number()], |row| row.number(0))?;
    let counts = try_each(shards, |number| {
        let shard = OutboxShard::new(count.app, number);
        count_one(runtime, shard, count, until_ms)
    })
    .await?;
    Ok(Counted { count: counts.into_iter().sum() })
}

async fn count_one(
    runtime: &(impl Clock + ObjectCall),
    shard: OutboxShard,
    count: &CountReplay,
    until_ms: i64,
) -> Result<i64> {
    let mut step = ReplayRewards {
        publisher: count.publisher.clone(),
        filter: count.filter.clone(),
        after: 0,
        limit: 0,
        step: None,
    };
    let mut found = 0_i64;
    loop {
        let timeout = left(runtime, until_ms).ok_or(COUNT_TOO_LONG)?;
        let counted = match runtime.call(&shard.address(), step.clone(), timeout).await {
            Ok(counted) => counted,
            Err(_) if left(runtime, until_ms).is_none() => return Err(COUNT_TOO_LONG.into()),
            Err(error) => {
                log::warn("activity", format_args!("a replay could not be counted: {error}"));
                return Err(common::UNAVAILABLE.into());
            }
        };
        found = found.saturating_add(counted.replayed);
        match counted.next {
            Some(next) => step.after = next,
            None => return Ok(found),
        }
    }
}

/// Returns the timeout of a call to an outbox, so that the call ends by `until_ms`; `None` after `until_ms`.
fn left(clock: &impl Clock, until_ms: i64) -> Option<Duration> {
    let left_ms = until_ms.saturating_sub(clock.now_ms());
    let left_ms = u64::try_from(left_ms).ok().filter(|left_ms| *left_ms > 0)?;
    Some(TIMEOUT.min(Duration::from_millis(left_ms)))
}

/// True if a replay is running.
pub fn any(db: &impl Database) -> DbResult<bool> {
    Ok(db.query_integer(sql::FIRST_REPLAY, &[])?.is_some())
}

/// Makes one step of each due replay.
pub async fn step(db: &impl Database, runtime: &(impl Clock + ObjectCall)) -> Result {
    let due = db.query(sql::DUE_REPLAYS, params![runtime.now_ms()])?;
    let steps = each(&due, |row| step_one(db, runtime, row)).await;
    Ok(steps.into_iter().collect::<DbResult>()?)
}

async fn step_one(db: &impl Database, runtime: &(impl Clock + ObjectCall), row: &Row) -> DbResult {
    let (id, app) = (row.integer(0)?, app_id(row, 1)?);
    let publisher = row.parse(2, PublisherId::parse)?;
    let filter: RewardFilter = row.json(3)?;
    let (from, after): (i64, i64) = (row.integer(4)?, row.integer(5)?);
    let Some(shard) = db.query_first(sql::NEXT_OUTBOX, params![app.number(), from])? else {
        return Ok(());
    };
    let left: Option<u32> = row.optional_integer(8)?.map(|left| u32::try_from(left).unwrap_or(0));
    let limit = left.map_or(PACE, |left| left.min(PACE));
    if shard.is_null(0) || limit == 0 {
        let filter = as_json(&StoredFilter::without_user(filter, row.text(7)?))?;
        return db.execute(sql::END_REPLAY, params![runtime.now_ms(), filter, id]);
    }
    let number: u8 = shard.number(0)?;
    let after = if i64::from(number) == from { after } else { 0 };
    let (started_ms, replayed) = (row.integer(9)?, row.integer(10)?);
    let step = ReplayRewards {
        publisher,
        filter,
        after,
        limit,
        // A retry of the step has the same name. If this object was lost, a later replay may have the same id, but it
        // has another start time and therefore other names.
        step: Some(format!("{id}-{started_ms}-{number}-{after}-{replayed}")),
    };
    let asked = runtime.call(&OutboxShard { app, number }.address(), step, TIMEOUT).await;
    let now_ms = runtime.now_ms();
    match asked {
        Ok(step) => {
            // A step without matches needs no pause. A step that did not advance needs a pause, because enough
            // callbacks were already due.
            let pauses = step.replayed > 0 || step.next == Some(after);
            let (shard, after) = match step.next {
                Some(next) => (u32::from(number), next),
                None => (u32::from(number).saturating_add(1), 0),
            };
            let pause_ms = if pauses { SECOND_MS } else { 0 };
            let due_ms = now_ms.saturating_add(pause_ms);
            db.execute(sql::STEP_REPLAY, params![shard, after, step.replayed, due_ms, id])
        }
        Err(error) => {
            log::warn("activity", format_args!("replay {id} waits for its next try: {error}"));
            let due_ms = now_ms.saturating_add(wait_ms(row.number(6)?));
            db.execute(sql::PUT_REPLAY_OFF, params![due_ms, id])
        }
    }
}
