//! Click records: 256 objects, chosen by a hash of the click's nonce. A short click id refers to a record in one of
//! them. Clicks get a short id where the sealed click id is too long for the systems that send it back
//! (docs/DECISIONS.md, "Clicks").

pub mod service;
pub mod sql;
mod sweep;

pub use sql::MIGRATIONS;
pub use sweep::{alarm, next_alarm};

use contract::{
    clicks::{Command, Found, Get, Put, Reply},
    operation::Bytes,
};
use domain::model::DAY_MS;
use platform::{Database, DbResult, params};

/// For this long after a restore, a missing record counts as lost rather than expired, because the operator may still
/// restore a newer copy.
pub const DOUBTED_MS: i64 = 31 * DAY_MS;

/// Records that the object was restored from a copy, within the caller's transaction.
pub fn put_back(db: &impl Database, now_ms: i64) -> DbResult {
    db.execute(sql::SET_RESTORED, params![now_ms])
}

/// Returns when the object was last restored from a copy; 0 if never.
pub fn restored_ms(db: &impl Database) -> DbResult<i64> {
    Ok(db.query_integer(sql::GET_RESTORED, &[])?.unwrap_or(0))
}

/// Carries out one command.
///
/// # Errors
/// The database failed; the command may be retried.
pub fn handle<D: Database>(db: &D, now_ms: i64, command: Command) -> DbResult<Reply> {
    match command {
        Command::Put(Put { nonce, record, expires_at_ms }) => {
            db.execute(sql::PUT, params![nonce.0, record.0, expires_at_ms])?;
            Ok(Reply::Done {})
        }
        Command::Get(Get { nonce }) => {
            let record = db.read_first(sql::GET, params![nonce.0, now_ms], |row| {
                row.blob(0).map(|record| Bytes(record.to_vec()))
            })?;
            Ok(Reply::Found(Found { record }))
        }
    }
}
