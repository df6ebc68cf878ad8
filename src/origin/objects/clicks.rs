//! Click records: 256 objects, chosen by a hash of the click's nonce. A short click id refers to a record here; it is
//! used where the sealed click id is too long for the systems that send it back (docs/DECISIONS.md, "Clicks").

pub mod service;
pub mod sql;
mod sweep;

pub use sql::MIGRATIONS;
pub use sweep::{alarm, next_alarm};

use contract::{
    clicks::{Command, Found, Get, Put, Reply},
    operation::Bytes,
};
use platform::{
    database::{Database, DatabaseError},
    params,
};

/// Carries out one command.
///
/// # Errors
/// The database failed; the command may then be sent again.
pub fn handle<D: Database>(db: &D, now_ms: i64, command: Command) -> Result<Reply, DatabaseError> {
    match command {
        Command::Put(Put {
            nonce,
            record,
            expires_at_ms,
        }) => {
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
