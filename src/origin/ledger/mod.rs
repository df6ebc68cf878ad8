//! `origin/ledger`: one object for each publisher. It owns the publisher's report keys and their rate, keeps its facts in
//! columnar segments, and answers its reports (`design.md` section 8).
//!
//! A day has two layers: `loaded` is the facts interface's, `offers` is what Signpost itself counted. A report adds both.

#[cfg(all(target_arch = "wasm32", feature = "bench"))]
mod bench;
#[cfg(target_arch = "wasm32")]
pub mod client;
pub mod command;
mod days;
mod freshness;
pub mod keys;
pub mod names;
#[cfg(target_arch = "wasm32")]
mod object;
pub mod offers;
#[cfg(target_arch = "wasm32")]
mod receiving;
pub mod report;
pub mod segments;
#[cfg(target_arch = "wasm32")]
mod sending;
pub mod sql;
pub mod upload;

pub use command::{Applied, Command, OfferSum, Reply};
pub use sql::MIGRATIONS;

use super::{
    command::Failure,
    database::{Database, DatabaseError},
};
use crate::{catalog::PublisherId, reporting::keys::KeyMac, time::SECOND_MS};
use segments::Merged;

/// The namespace's binding.
pub const BINDING: &str = "LEDGERS";

/// The name of a publisher's object. A changed name would lose the publisher's numbers.
pub fn object_name(publisher: &PublisherId) -> String {
    format!("ledger-{publisher}")
}

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
/// What is refused, or what the database says.
pub fn handle(db: &impl Database, context: &Context<'_>, command: Command) -> Result<Reply, Failure> {
    match command {
        Command::AddOffers {
            source,
            sequence,
            sums,
        } => Ok(Reply::Applied(offers::add(
            db,
            context.now_ms,
            &source,
            sequence,
            &sums,
        )?)),
        Command::CreateKey { body } => keys::create(db, context, &body).map(Reply::Operator),
        Command::ListKeys {} => keys::list(db).map(Reply::Operator),
        Command::RevokeKey { key_id } => keys::revoke(db, &key_id).map(Reply::Operator),
        Command::ListDays { limit, before } => days::list(db, limit, before.as_deref()).map(Reply::Operator),
    }
}

/// Merges of one alarm: some 100 ms of an object's time, in which it answers nobody.
const MERGES: usize = 4;
/// How soon after a change a crowded day is merged.
const MERGE_AFTER_MS: i64 = SECOND_MS;

/// One alarm's work. Returns when the next alarm is due.
///
/// # Errors
/// What the database says, or that a segment is corrupt; the work may then be done again.
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
///
/// # Errors
/// What the database says.
pub fn next_alarm(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    if segments::is_crowded(db)? {
        return Ok(Some(now_ms + MERGE_AFTER_MS));
    }
    offers::sweep_due_ms(db)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_objects_never_change() {
        let publisher = PublisherId::parse("lumen-arcade").unwrap();
        assert_eq!(object_name(&publisher), "ledger-lumen-arcade");
    }
}
