//! Reads callback settings from a row, in the catalog's tables and in the outbox's.

use contract::{catalog::CallbackSettings, operation::Bytes};
use platform::database::{DatabaseError, Row};

/// Reads callback settings from a revision and, in the column after it, a sealed callback.
pub fn read(row: &Row, revision: usize) -> Result<CallbackSettings, DatabaseError> {
    let sealed = revision + 1;
    Ok(CallbackSettings {
        revision: row.integer(revision)?,
        sealed: row.optional_blob(sealed)?.map(|sealed| Bytes(sealed.to_vec())),
    })
}
