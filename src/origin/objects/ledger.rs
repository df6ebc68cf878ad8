//! Ledgers: one object for each publisher. A ledger owns the publisher's report keys and their rate limit, stores its
//! facts in columnar segments, and makes its reports (docs/DECISIONS.md, "Reports").
//!
//! A day has two layers: the operator uploads `loaded`, and `offers` holds Signpost's own counts. A report adds both.

pub mod alarms;
#[cfg(all(target_arch = "wasm32", feature = "bench"))]
mod bench;
pub mod column_cache;
pub mod day_changes;
mod days;
mod export_slots;
pub mod exports;
pub mod final_days;
mod freshness;
pub mod keys;
pub mod lasting;
pub mod names;
#[cfg(target_arch = "wasm32")]
mod object;
pub mod offers;
mod page_memory;
pub mod report;
mod report_budget;
#[cfg(target_arch = "wasm32")]
mod response_stream;
pub mod restate;
mod restored;
pub mod retention;
pub mod segments;
pub mod service;
pub mod sql;
mod suggestions;
pub mod upload;
mod uploads;

pub use sql::MIGRATIONS;

use crate::delivery::{attention_feed, register};
use contract::ledger::{Command, FindKey, ListDays, ListKeys, ReadFreshness, ReadMark, Reply, RevokeKey};
use domain::model::{MacKeys, PublisherId, SECOND_MS, common};
use platform::{Database, DbResult, Result};

/// The values that a command uses in addition to the database.
pub struct Context<'a> {
    pub now_ms: i64,
    pub random: &'a dyn Fn() -> Result<[u8; 32], String>,
    /// Parses the keys of `REPORT_KEY_MAC`; called only where a report key is issued.
    pub mac: &'a dyn Fn() -> Result<MacKeys>,
    pub publisher: &'a PublisherId,
}

/// Carries out one command.
pub fn handle(db: &impl Database, context: &Context<'_>, command: Command) -> Result<Reply> {
    match command {
        Command::AddOffers(batch) => Ok(Reply::Mark(offers::add(db, context.now_ms, &batch)?)),
        Command::ReadMark(ReadMark { source, .. }) => Ok(Reply::Mark(offers::mark(db, &source)?)),
        Command::Vouch(vouch) => Ok(Reply::Vouched(offers::vouch(db, context.now_ms, &vouch)?)),
        Command::CreateKey(create) => keys::create(db, context, &create).map(Reply::Operator),
        Command::FindKey(FindKey { hash }) => keys::find(db, &hash.0).map(Reply::Operator),
        Command::UseKey(used) => keys::use_key(db, context.now_ms, used).map(Reply::UsedKey),
        Command::ListKeys(ListKeys {}) => keys::list(db).map(Reply::Operator),
        Command::RevokeKey(RevokeKey { key_id }) => keys::revoke(db, context.now_ms, &key_id).map(Reply::Operator),
        Command::ListDays(ListDays { limit, before }) => days::list(db, limit, before.as_deref()).map(Reply::Operator),
        Command::ListDayChanges(list) => Ok(Reply::DayChanges(day_changes::list(db, list)?)),
        Command::ReadFreshness(ReadFreshness {}) => Ok(Reply::Freshness(freshness::read(db)?)),
        Command::Suggest(suggest) => {
            let query = suggestions::query(&suggest)?;
            suggestions::suggest(db, &suggest.text, &query).map(Reply::Operator)
        }
        Command::CreateExport(create) => exports::create(db, context, &create).map(Reply::Operator),
        Command::OpenExport(open) => exports::open(db, context.now_ms, &open).map(Reply::Export),
        Command::SuspendKeys(suspend) => keys::suspend(db, context.now_ms, suspend).map(|()| Reply::Done {}),
        Command::ReadOffers(read) => Ok(Reply::Offers(offers::counted(db, &read)?)),
        // The service carries out this command, because only the service can call the sources.
        Command::Restate(_) => Err(common::NOT_FOUND.into()),
    }
}

/// Maximum merges in one alarm. They take about 100 ms, during which the object answers no request.
const MERGES: usize = 4;
/// The delay before a day with many segments is merged, in milliseconds.
const MERGE_AFTER_MS: i64 = SECOND_MS;

/// Does one alarm's work. Returns when the next alarm is due.
///
/// # Errors
/// The database failed, or a segment is corrupt. The work may be retried.
pub fn alarm(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    offers::sweep(db, now_ms)?;
    register::sweep(db, now_ms)?;
    final_days::judge(db, now_ms)?;
    for _ in 0..MERGES {
        if !segments::merge_next(db)? {
            break;
        }
    }
    next_alarm(db, now_ms)
}

/// Returns when the alarm must fire next; none if no work waits.
pub fn next_alarm(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    if segments::is_crowded(db)? {
        return Ok(Some(now_ms + MERGE_AFTER_MS));
    }
    let due_times = [
        offers::sweep_due_ms(db)?,
        register::sweep_due_ms(db)?,
        final_days::due_ms(db)?,
        attention_feed::due_ms(db, now_ms)?,
        alarms::due_ms(db, now_ms)?,
    ];
    Ok(due_times.into_iter().flatten().min())
}
