//! Announced restores. An object without entries in a register cannot notice that it was restored, so the announcement
//! tells it.

use super::{ask, tell};
use contract::{
    attention::Doubt,
    operation::Done,
    register::{Announce, ReadRegister},
};
use platform::{Clock, Database, DbResult, ObjectCall, Result, database::MAX_INTEGER, params};

/// The register's table for the time of the last announced restore of its object.
pub const TABLE: &[&str] =
    &["CREATE TABLE announced (only INTEGER PRIMARY KEY CHECK (only = 1), at_ms INTEGER NOT NULL) STRICT"];

platform::statements! {
    pub const SET = "INSERT INTO announced (only, at_ms) VALUES (1, ?)
        ON CONFLICT (only) DO UPDATE SET at_ms = excluded.at_ms";
    pub const GET = "SELECT at_ms FROM announced";
}

/// For registers: records that the object is about to be restored.
pub fn note(db: &impl Database, announce: Announce) -> DbResult<Done> {
    db.execute(SET, params![announce.at_ms])?;
    Ok(Done {})
}

/// For registers: returns the time of the last announcement of a restore, in milliseconds; 0 for never.
pub fn last_ms(db: &impl Database) -> DbResult<i64> {
    Ok(db.query_integer(GET, &[])?.unwrap_or(0))
}

/// For objects without entries: returns whether a restore was announced after `noticed_ms`, the time when the object
/// last noticed a restore. If so, also tells the operator.
///
/// # Errors
/// `unavailable`: the register or `attention` did not answer.
pub async fn since(runtime: &(impl Clock + ObjectCall), source: &str, noticed_ms: i64, reason: &str) -> Result<bool> {
    let part = ask(runtime, source, ReadRegister { after: MAX_INTEGER }).await?;
    let is_announced = noticed_ms < part.announced_ms;
    if is_announced {
        tell(runtime, source, None, vec![Doubt::new(source, reason)]).await?;
    }
    Ok(is_announced)
}
