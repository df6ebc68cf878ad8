//! `origin/clicks`: 256 objects by hash of the click's nonce. They keep the records of clicks whose sealed form is too
//! long for the systems that carry it back, so that a short id can stand for it (`design.md` section 5).

pub mod command;
#[cfg(target_arch = "wasm32")]
mod shell;
pub mod sql;
mod sweep;

pub use command::{Command, Found, Reply};
pub use sql::MIGRATIONS;
pub use sweep::{alarm, next_alarm};

use super::{
    command::{Bytes, shard},
    database::{Database, DatabaseError},
};
use crate::params;

/// The namespace's binding.
pub const BINDING: &str = "CLICKS";

/// How many objects there are.
pub const OBJECTS: u64 = 256;

/// The name of the object that keeps a click's record. A changed name would lose the clicks it keeps.
pub fn object_name(nonce: &[u8]) -> String {
    format!("clicks-{}", shard(nonce, OBJECTS))
}

/// Carries out one command.
///
/// # Errors
/// What the database says; the command may then be sent again.
pub fn handle<D: Database>(db: &D, now_ms: i64, command: Command) -> Result<Reply, DatabaseError> {
    match command {
        Command::Put {
            nonce,
            record,
            expires_at_ms,
        } => {
            db.execute(sql::PUT, params![nonce.0, record.0, expires_at_ms])?;
            Ok(Reply::Done {})
        }
        Command::Get { nonce } => {
            let row = db.query_first(sql::GET, params![nonce.0, now_ms])?;
            let record = row
                .map(|row| row.blob(0).map(|record| Bytes(record.to_vec())))
                .transpose()?;
            Ok(Reply::Found(Found { record }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_objects_never_change() {
        assert_eq!(object_name(b"\x00\x00\x00\x00\x00\x00\x00\x00"), "clicks-187");
        assert_eq!(
            object_name(b"\x01\x23\x45\x67\x89\xab\xcd\xef\x00\x00\x00\x01"),
            "clicks-11"
        );
        assert_eq!(object_name(b"\xff\xff\xff\xff\xff\xff\xff\xff"), "clicks-201");
    }
}
