//! Restores that are announced. An object may have lost what no register has; by the announcement it knows.

use super::{ask, tell};
use contract::{
    attention::Doubt,
    operation::Done,
    register::{Announce, ReadRegister},
};
use platform::{Clock, Database, DbResult, ObjectCall, Result, database::MAX_INTEGER, params};

/// A table of the register: when it was last announced that its object is put back.
pub const TABLE: &[&str] =
    &["CREATE TABLE announced (only INTEGER PRIMARY KEY CHECK (only = 1), at_ms INTEGER NOT NULL) STRICT"];

platform::statements! {
    pub const SET = "INSERT INTO announced (only, at_ms) VALUES (1, ?)
        ON CONFLICT (only) DO UPDATE SET at_ms = excluded.at_ms";
    pub const GET = "SELECT at_ms FROM announced";
}

/// For registers: their object is about to be put back.
pub fn note(db: &impl Database, announce: Announce) -> DbResult<Done> {
    db.execute(SET, params![announce.at_ms])?;
    Ok(Done {})
}

/// For registers: when that was announced last; 0 for never.
pub fn last_ms(db: &impl Database) -> DbResult<i64> {
    Ok(db.query_integer(GET, &[])?.unwrap_or(0))
}

/// For objects without entries: whether it was announced that the object is put back, since it last noticed it at `noticed_ms`.
/// The operator is told.
///
/// # Errors
/// `unavailable`: it is not known.
pub async fn since(
    runtime: &(impl Clock + ObjectCall),
    source: &str,
    noticed_ms: i64,
    reason: &str,
) -> Result<bool> {
    let part = ask(runtime, source, ReadRegister { after: MAX_INTEGER }).await?;
    let is_announced = noticed_ms < part.announced_ms;
    if is_announced {
        tell(runtime, source, None, vec![Doubt::new(source, reason)]).await?;
    }
    Ok(is_announced)
}
