//! Outboxes: one or several objects for each app, its shards. An outbox makes conversions durable, pays each once, and
//! delivers their callbacks to the publisher (docs/DECISIONS.md, "Conversions" and "Completion callbacks").
//!
//! - [`conversions`] and [`commit`]: the decision about a postback or an action of the operator, and the order of writes;
//!   [`settlement`]: the conversion of an action;
//! - [`approval`], [`rows`], `goals` and [`reservations`]: what a decision needs, reads and writes;
//! - [`entries`], [`numbers`] and [`log`]: the log's entries, one for each transaction id, and the operator's view of them;
//! - [`deliveries`], [`callback_sender`] and [`endpoint`]: attempts of callbacks, and the state of their endpoint;
//!   [`tester`]: test callbacks;
//! - [`terms`] and `terms_cache`: the terms that pay a click; [`txns`]: the senders' own ids; [`rewarded`]: one
//!   reward for a user and a goal;
//! - `revenue_batches`, [`day`] and [`comparisons`]: sums for ledgers and counters, and their comparison with the log;
//! - [`feed`]: reports to the publisher's activity object; [`attention`]: what the operator is told of;
//! - `calls`: calls to other objects; `commands`: those that need none;
//! - [`story`]: a reward as its publisher reads it;
//! - [`merge`] and [`reconcile`]: one log and one day from all outboxes of an app;
//! - [`replay`], [`bulk_replay`] and [`retention`]: the operator's replays, a publisher's of many, and deletion.

pub mod approval;
pub mod attention;
pub mod bulk_replay;
pub mod callback_sender;
mod calls;
pub mod check;
mod commands;
pub mod commit;
pub mod comparisons;
pub mod conversions;
pub mod day;
pub mod deliveries;
pub mod delivery_log;
pub mod endpoint;
pub mod entries;
pub mod feed;
mod goals;
pub mod log;
pub mod merge;
pub mod numbers;
#[cfg(target_arch = "wasm32")]
mod object;
pub mod peers;
pub mod reconcile;
pub mod replay;
pub mod reservations;
pub mod retention;
mod revenue_batches;
pub mod rewarded;
pub mod rows;
mod schema;
pub mod service;
pub mod settlement;
pub mod sql;
pub mod states;
pub mod story;
pub mod terms;
mod terms_cache;
pub mod tester;
pub mod txns;

pub use schema::MIGRATIONS;

use std::ops::Range;

use crate::{attention::feed as attention_feed, batches};
use domain::model::time::SECOND_MS;
use endpoint::OutboxState;
use platform::{
    database::{Database, DatabaseError},
    params,
};

/// How long the alarm leaves due work to the request or task that should do it, in milliseconds.
pub const NET_MS: i64 = 15 * SECOND_MS;

/// How long sums are collected before a batch is opened, in milliseconds. A batch takes several commits of three objects,
/// and delays the conversions that arrive meanwhile: once in 5 s, it delays less than 1 % of them.
pub const COALESCE_MS: i64 = 5 * SECOND_MS;

/// The time for the alarm, given the object's rows; never if no work waits. Work that is due already is in flight or
/// waits for a free connection, so for it the alarm is only a safety net.
pub fn next_alarm(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let state = endpoint::read(db)?;
    let state = state.as_ref();
    let due_times = [
        db.query_integer(sql::FIRST_RESERVATION, params![])?,
        db.query_integer(sql::FIRST_FREE, params![])?,
        deliveries::due_ms(db, state)?,
        batches::due_ms(db, period(state, now_ms).end)?,
        feed::due_ms(db, now_ms)?,
        attention_due_ms(db, state, now_ms)?,
        retention::due_ms(db, now_ms)?,
    ];
    let alarms = due_times.into_iter().flatten().map(|due_ms| {
        if due_ms <= now_ms {
            now_ms.saturating_add(NET_MS)
        } else {
            due_ms
        }
    });
    Ok(alarms.min())
}

/// When the next report to the operator's attention is due. It waits until the publisher is known.
fn attention_due_ms(
    db: &impl Database,
    state: Option<&OutboxState>,
    now_ms: i64,
) -> Result<Option<i64>, DatabaseError> {
    match state.and_then(|state| state.current.as_ref()) {
        Some(_) => attention_feed::due_ms(db, now_ms),
        None => Ok(None),
    }
}

/// The period of [`COALESCE_MS`] in which an outbox opens batches of sums once. Each of an app's outboxes has other periods,
/// because 64 that open batches at once would hold up conversions.
fn period(state: Option<&OutboxState>, now_ms: i64) -> Range<i64> {
    let offset_ms = state.and_then(|state| {
        let outboxes = state.current.as_ref()?.outbox_shards;
        COALESCE_MS
            .saturating_mul(state.shard.number.into())
            .checked_div(outboxes.into())
    });
    let since_ms = now_ms
        .saturating_sub(offset_ms.unwrap_or(0))
        .rem_euclid(COALESCE_MS);
    let start_ms = now_ms.saturating_sub(since_ms);
    start_ms..start_ms.saturating_add(COALESCE_MS)
}
