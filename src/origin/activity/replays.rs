//! Replays of many callbacks of an app. One is carried out by the alarm, outbox by outbox and [`PACE`] callbacks a second, so
//! that the callbacks of new conversions do not wait behind all of it. A step whose answer was lost is made again, and sends
//! again what it still matches: a receiver gets a callback at least once, as ever.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::json;

use super::sql;
use crate::batches::wait_ms;
use contract::{
    activity::{CancelReplay, CountReplay, Counted, ReadReplay, ReplayFilter, StartReplay},
    operation::{CallError, Reply, Unanswered},
    outbox::{ReplayRewards, Replayed, Shard},
};
use domain::model::{
    PublisherId,
    api_error::{ApiError, common},
    time::SECOND_MS,
};
use platform::{
    CONNECTIONS,
    database::{Database, DatabaseError, MAX_INTEGER, Row, json as as_json},
    failure::Failure,
    log, params,
    traits::{Clock, ObjectCall},
};

use super::overview::app_id;

pub const REPLAY_RUNNING: ApiError = ApiError::new(
    409,
    "replay_running",
    "the app has a replay that is not over; wait for it or cancel it",
);

/// Callbacks that are due in an outbox after a step, of which there is one a second.
pub const PACE: u32 = 100;
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long a count may take, in milliseconds: its caller waits 25 s.
const COUNT_MS: i64 = 20 * SECOND_MS;

fn unknown() -> ApiError {
    common::NOT_FOUND.with_message("there is no such replay")
}

/// Starts a replay. The same key leads to the same replay, with the answer 200.
///
/// # Errors
/// `replay_running`; `not_found` for an app that has not reported.
pub fn start(db: &impl Database, now_ms: i64, start: &StartReplay) -> Result<Reply, Failure> {
    let app = start.app.number();
    let answer = |status, number: i64| Reply {
        status,
        body: json!({ "replay_id": number.to_string() }).to_string(),
    };
    if let Some(known) = db.query_first(sql::FIND_REPLAY, params![app, start.key.as_str()])? {
        return Ok(answer(200, known.integer(0)?));
    }
    if db.query_boolean(sql::HAS_RUNNING, params![app])? {
        return Err(REPLAY_RUNNING.into());
    }
    let number = db.query_integer(
        sql::START_REPLAY,
        params![
            app,
            start.key.as_str(),
            start.publisher.as_str(),
            as_json(&start.filter)?,
            now_ms
        ],
    )?;
    let number = number.ok_or_else(|| Failure::Internal("RETURNING returned no row".into()))?;
    Ok(answer(202, number))
}

/// The number of a replay; none for a text that is no id of one.
fn number(replay_id: &str) -> Result<i64, ApiError> {
    let number = replay_id.parse().ok();
    number
        .filter(|number: &i64| (1..=MAX_INTEGER).contains(number))
        .ok_or_else(unknown)
}

/// How far a replay is.
pub fn read(db: &impl Database, read: &ReadReplay) -> Result<Reply, Failure> {
    let key = params![number(&read.replay_id)?, read.app.number()];
    let row = db.query_first(sql::GET_REPLAY, key)?.ok_or_else(unknown)?;
    let filter: ReplayFilter = row.json(4)?;
    let state = match row.integer(0)? {
        0 => "running",
        1 => "done",
        _ => "cancelled",
    };
    let ended_ms = row.optional_integer(3)?;
    Ok(Reply::ok(&json!({
        "replay_id": read.replay_id,
        "state": state,
        "replayed": row.integer(1)?,
        "filter": { "delivery": filter.delivery, "from": filter.from },
        "until": filter.until,
        "started_ts": row.integer(2)?.div_euclid(SECOND_MS),
        "ended_ts": ended_ms.map(|ms| ms.div_euclid(SECOND_MS)),
    })))
}

/// Ends a replay. One that is over stays as it is.
pub fn cancel(db: &impl Database, now_ms: i64, cancel: &CancelReplay) -> Result<Reply, Failure> {
    let (id, app) = (number(&cancel.replay_id)?, cancel.app.number());
    db.query_first(sql::GET_REPLAY, params![id, app])?
        .ok_or_else(unknown)?;
    db.execute(sql::CANCEL_REPLAY, params![now_ms, id, app])?;
    Ok(Reply::no_content())
}

/// Counts what a replay would send, in all outboxes of the app.
///
/// # Errors
/// `unavailable` if an outbox does not answer, or all of it takes longer than the caller waits.
pub async fn count(
    db: &impl Database,
    runtime: &(impl Clock + ObjectCall),
    count: &CountReplay,
) -> Result<Counted, Failure> {
    let until_ms = runtime.now_ms().saturating_add(COUNT_MS);
    let rows = db.query(sql::LIST_OUTBOXES, params![count.app.number()])?;
    let shards: Vec<u8> = rows.iter().map(|row| row.number(0)).collect::<Result<_, _>>()?;
    let counts: Vec<i64> = stream::iter(shards)
        .map(async |number| {
            let (mut after, mut found) = (0, 0_i64);
            loop {
                let shard = Shard {
                    app: count.app,
                    number,
                };
                if runtime.now_ms() > until_ms {
                    let message = "counting took too long".into();
                    return Err(CallError::from(Unanswered {
                        message,
                        ..Unanswered::default()
                    }));
                }
                let step = ask(runtime, shard, &count.publisher, count.filter, after, 0).await?;
                found = found.saturating_add(step.replayed);
                match step.next {
                    Some(next) => after = next,
                    None => return Ok::<_, CallError>(found),
                }
            }
        })
        .buffer_unordered(CONNECTIONS)
        .try_collect()
        .await
        .map_err(|error| {
            log::warn("activity", format_args!("counting a replay: {error}"));
            Failure::from(common::UNAVAILABLE)
        })?;
    Ok(Counted {
        count: counts.into_iter().sum(),
    })
}

/// Makes a step of each replay that is due.
pub async fn step(db: &impl Database, runtime: &(impl Clock + ObjectCall)) -> Result<(), Failure> {
    let due = db.query(sql::DUE_REPLAYS, params![runtime.now_ms()])?;
    let steps: Vec<_> = stream::iter(&due)
        .map(|row| step_one(db, runtime, row))
        .buffer_unordered(CONNECTIONS)
        .collect()
        .await;
    Ok(steps.into_iter().collect::<Result<(), DatabaseError>>()?)
}

async fn step_one(
    db: &impl Database,
    runtime: &(impl Clock + ObjectCall),
    row: &Row,
) -> Result<(), DatabaseError> {
    let (id, app) = (row.integer(0)?, app_id(row, 1)?);
    let publisher = row.parse(2, PublisherId::parse)?;
    let filter: ReplayFilter = row.json(3)?;
    let (from, after): (i64, i64) = (row.integer(4)?, row.integer(5)?);
    let Some(shard) = db.query_first(sql::NEXT_OUTBOX, params![app.number(), from])? else {
        return Ok(());
    };
    if shard.is_null(0) {
        return db.execute(sql::END_REPLAY, params![runtime.now_ms(), id]);
    }
    let number: u8 = shard.number(0)?;
    let after = if i64::from(number) == from { after } else { 0 };
    let asked = ask(runtime, Shard { app, number }, &publisher, filter, after, PACE).await;
    let now_ms = runtime.now_ms();
    match asked {
        Ok(step) => {
            let (shard, after) = match step.next {
                Some(next) => (u32::from(number), next),
                None => (u32::from(number).saturating_add(1), 0),
            };
            // Where nothing matched, nothing needs a pause. A step that came no further found enough that is due.
            let pauses = step.replayed > 0 || step.next == Some(after);
            let pause_ms = if pauses { SECOND_MS } else { 0 };
            let due_ms = now_ms.saturating_add(pause_ms);
            db.execute(sql::STEP_REPLAY, params![shard, after, step.replayed, due_ms, id])
        }
        Err(error) => {
            log::warn("activity", format_args!("replay {id}: {error}"));
            let due_ms = now_ms.saturating_add(wait_ms(row.number(6)?));
            db.execute(sql::PUT_REPLAY_OFF, params![due_ms, id])
        }
    }
}

async fn ask(
    runtime: &impl ObjectCall,
    shard: Shard,
    publisher: &PublisherId,
    filter: ReplayFilter,
    after: i64,
    limit: u32,
) -> Result<Replayed, CallError> {
    let step = ReplayRewards {
        publisher: publisher.clone(),
        filter,
        after,
        limit,
    };
    runtime.call(&shard.address(), step, TIMEOUT).await
}
