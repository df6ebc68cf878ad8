//! Reads callback settings from a row, in the catalog's tables and in the outbox's.

use contract::{catalog::CallbackSettings, operation::Bytes};
use platform::{DbResult, Row};

/// Reads callback settings from three columns: `revision`, the sealed callback in the column after it, and `suspended`
/// with the publisher's [`suspension`](CallbackSettings::suspension).
pub fn read(row: &Row, revision: usize, suspended: usize) -> DbResult<CallbackSettings> {
    let sealed = revision + 1;
    let suspension = row.integer(suspended)?;
    Ok(CallbackSettings {
        is_suspended: suspension > 0,
        is_closed: suspension > 1,
        revision: row.integer(revision)?,
        sealed: row.optional_blob(sealed)?.map(|sealed| Bytes(sealed.to_vec())),
    })
}
