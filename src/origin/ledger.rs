//! Ledgers: one object for each publisher. A ledger owns the publisher's report keys and their rate, keeps its facts in
//! columnar segments, and answers its reports (docs/DECISIONS.md, "Reports").
//!
//! A day has two layers: `loaded` belongs to the facts interface, `offers` to Signpost's own counts. A report adds both.

#[cfg(all(target_arch = "wasm32", feature = "bench"))]
mod bench;
mod days;
mod freshness;
pub mod keys;
pub mod names;
#[cfg(target_arch = "wasm32")]
mod object;
pub mod offers;
mod page_memory;
pub mod report;
#[cfg(target_arch = "wasm32")]
mod response_stream;
pub mod segments;
pub mod service;
pub mod sql;
pub mod upload;
mod uploads;

pub use sql::MIGRATIONS;

use contract::ledger::{AddOffers, Command, CreateKey, ListDays, ListKeys, Reply, RevokeKey};
use domain::{
    model::{PublisherId, time::SECOND_MS},
    reporting::keys::KeyMac,
};
use platform::{
    database::{Database, DatabaseError},
    failure::Failure,
};
use segments::Merged;

/// What a command needs besides the database.
pub struct Context<'a> {
    pub now_ms: i64,
    pub random: &'a dyn Fn() -> Result<[u8; 32], String>,
    /// The keys of `REPORT_KEY_MAC`; asked for only where a key is issued.
    pub mac: &'a dyn Fn() -> Result<KeyMac, Failure>,
    pub publisher: &'a PublisherId,
}

/// Carries out one command.
///
/// # Errors
/// The command is refused, or the database failed.
pub fn handle(db: &impl Database, context: &Context<'_>, command: Command) -> Result<Reply, Failure> {
    match command {
        Command::AddOffers(AddOffers {
            source,
            sequence,
            sums,
        }) => Ok(Reply::Applied(offers::add(
            db,
            context.now_ms,
            &source,
            sequence,
            &sums,
        )?)),
        Command::CreateKey(CreateKey { body }) => keys::create(db, context, &body).map(Reply::Operator),
        Command::ListKeys(ListKeys {}) => keys::list(db).map(Reply::Operator),
        Command::RevokeKey(RevokeKey { key_id }) => keys::revoke(db, &key_id).map(Reply::Operator),
        Command::ListDays(ListDays { limit, before }) => {
            days::list(db, limit, before.as_deref()).map(Reply::Operator)
        }
    }
}

/// Merges of one alarm: some 100 ms of an object's time, in which it answers nobody.
const MERGES: usize = 4;
/// How soon after a change a crowded day is merged.
const MERGE_AFTER_MS: i64 = SECOND_MS;

/// One alarm's work. Returns when the next alarm is due.
///
/// # Errors
/// The database failed, or a segment is corrupt; the work may then be done again.
pub fn alarm(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    offers::sweep(db, now_ms)?;
    for _ in 0..MERGES {
        if segments::merge_next(db)? == Merged::Nothing {
            break;
        }
    }
    next_alarm(db, now_ms)
}

/// When the object has to be woken, given what it holds; none if nothing waits.
pub fn next_alarm(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    if segments::is_crowded(db)? {
        return Ok(Some(now_ms + MERGE_AFTER_MS));
    }
    offers::sweep_due_ms(db)
}
