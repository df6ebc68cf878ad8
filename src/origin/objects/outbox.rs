//! Outboxes: each app has one or several of these objects, its outbox shards. An outbox makes conversions durable, pays
//! each one once, and delivers their callbacks to the publisher (docs/DECISIONS.md, "Conversions" and "Completion
//! callbacks").
//!
//! - [`conversions`]: the decision about a postback or an action of the operator, and the order of writes;
//! - [`log`]: an entry for each transaction id, and the operator's view of them;
//! - [`callbacks`]: attempts, replays and tests;
//! - [`sums`]: batches of the log for ledgers, counters and the journal, and the nightly totals;
//! - [`approval`]: the data of a payment; [`terms`] and `terms_cache`: the terms by which clicks are paid;
//! - [`endpoint`]: the app's settings and the health of its endpoint; [`story`]: a reward as its publisher reads it;
//!   [`changes`]: rewards in the order of their changes;
//! - [`feed`]: batches for the publisher's activity object; [`attention`]: items for the operator;
//! - `calls`: calls to other objects; `commands`: commands that need no call;
//! - [`retention`]: deletion by age; [`erasure`]: deletion of a user's identifiers;
//! - [`gap`]: payments that a restore has lost for good.

/// The callback fields that identify a user.
macro_rules! identifiers {
    () => {
        "'$.user_id', '$.gaid', '$.idfa', '$.c1', '$.c2', '$.c3', '$.c4', '$.c5', '$.reason'"
    };
}

/// The columns of a reward's story: entry, transaction id, state, delivery, due time, callback fields, user, txn,
/// reason, time, revisions of the offer's and the app's terms at the click, revision of the offer's terms under which
/// the reward is paid, placement, whether newer terms had superseded the terms under which the reward is paid.
macro_rules! story_columns {
    () => {
        concat!(
            "e.entry, e.transaction_id, c.state, e.delivery, e.due_ms,
            IIF(e.erase, json_remove(e.fields, ",
            identifiers!(),
            "), e.fields), IIF(e.erase, NULL, e.user_id), e.txn, IIF(e.erase, NULL, e.reason),
            e.at_ms, e.offer_terms, e.app_terms, c.offer_terms, e.placement, e.superseded"
        )
    };
}

/// The text of an error before its first colon. The rest comes from the runtime or a parser and may contain a URL.
macro_rules! first_words {
    ($error:literal) => {
        concat!("substr(", $error, ", 1, instr(", $error, " || ':', ':') - 1)")
    };
}

/// True if the user of an entry is erased, or will be once the entry's callback has ended.
macro_rules! is_erased {
    () => {
        "erase OR user_id IS NULL"
    };
}

/// Blanks the body of an attempt and shortens its error, because both may name the user.
macro_rules! blank_attempt {
    () => {
        concat!("body = '', error = ", first_words!("error"))
    };
}

/// Blanks the body of a first attempt and shortens its error. First attempts are stored in their entries.
macro_rules! blank_first_attempt {
    () => {
        concat!("first_body = '', first_error = ", first_words!("first_error"))
    };
}

/// Removes the user's identifiers from an entry, and the reason, whose words may name the user.
macro_rules! forgotten {
    () => {
        concat!(
            "user_id = NULL, erase = 0, reason = NULL,
            fields = json_remove(fields, ",
            identifiers!(),
            ")"
        )
    };
}

pub mod approval;
pub mod attention;
pub mod callbacks;
mod calls;
pub mod changes;
mod commands;
pub mod conversions;
pub mod endpoint;
pub mod erasure;
pub mod feed;
pub mod gap;
pub mod log;
#[cfg(target_arch = "wasm32")]
mod object;
pub mod peers;
pub mod retention;
mod schema;
pub mod service;
pub mod sql;
pub mod story;
pub mod sums;
pub mod terms;
mod terms_cache;

pub use schema::MIGRATIONS;

use std::ops::Range;

use crate::delivery::{attention_feed, batches};
use callbacks::deliveries;
use domain::model::SECOND_MS;
use endpoint::OutboxState;
use platform::{Database, DbResult, params};
use sums::{night, revenue_batches::OutboxLog};

/// The delay of the alarm for work that is already due, in milliseconds. A request or a task normally does this work
/// first.
pub const NET_MS: i64 = 15 * SECOND_MS;

/// How long sums are collected before batches are made, in milliseconds. Batches take several commits in three objects
/// and delay conversions that arrive during the commits. With one round of batches per 10 s, less than 1 % of the
/// conversions are delayed.
pub const COALESCE_MS: i64 = 10 * SECOND_MS;

/// Returns when the alarm must fire, from the object's rows; `None` if no work waits. Work that is already due is in
/// flight or waits for a free connection, so for this work the alarm is only a safety net.
pub fn next_alarm(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    let state = endpoint::read(db)?;
    let state = state.as_ref();
    let due_times = [
        db.query_integer(sql::FIRST_WAITING, params![])?,
        db.query_integer(sql::GET_RELEASED, params![])?.map(|_| now_ms),
        deliveries::due_ms(db, state)?,
        batches::due_ms(db, &OutboxLog::of(db, state), period(state, now_ms).end)?,
        night::due_ms(db)?,
        feed::due_ms(db, now_ms)?,
        attention_due_ms(db, state, now_ms)?,
        retention::due_ms(db, now_ms)?,
    ];
    let alarms = due_times
        .into_iter()
        .flatten()
        .map(|due_ms| if due_ms <= now_ms { now_ms.saturating_add(NET_MS) } else { due_ms });
    Ok(alarms.min())
}

/// Returns when the next batch for the operator's attention is due; `None` until the publisher is known.
fn attention_due_ms(db: &impl Database, state: Option<&OutboxState>, now_ms: i64) -> DbResult<Option<i64>> {
    match state.and_then(|state| state.current.as_ref()) {
        Some(_) => attention_feed::due_ms(db, now_ms),
        None => Ok(None),
    }
}

/// Returns the current period of [`COALESCE_MS`]. An outbox opens batches of sums once per period. The periods of an
/// app's outboxes are shifted, because 64 outboxes that open batches at once would hold up conversions.
fn period(state: Option<&OutboxState>, now_ms: i64) -> Range<i64> {
    let offset_ms = state.and_then(|state| {
        let outboxes = state.current.as_ref()?.outbox_shards;
        COALESCE_MS.saturating_mul(state.shard.number.into()).checked_div(outboxes.into())
    });
    let since_ms = now_ms.saturating_sub(offset_ms.unwrap_or(0)).rem_euclid(COALESCE_MS);
    let start_ms = now_ms.saturating_sub(since_ms);
    start_ms..start_ms.saturating_add(COALESCE_MS)
}
