//! The catalog's marks: how far it has changed and what has been published of it.

use super::sql;
use platform::{
    database::{Database, DatabaseError},
    params,
};

/// Grows with every write of the operator; an offer's is its `revision`.
const CHANGE: &str = "change";
/// Since when the tracking snapshot is behind the catalog.
pub const TRACKING_DIRTY_SINCE: &str = "tracking_dirty_since_ms";
pub const TRACKING_BUILT_AT: &str = "tracking_built_at_ms";
pub const LISTING_BUILT_AT: &str = "listing_built_at_ms";
pub const CONFIRMED_AT: &str = "confirmed_at_ms";
/// The newest snapshot version, of either kind.
pub const VERSION: &str = "version";

/// A mark's value, if it was ever set.
pub fn get(db: &impl Database, name: &str) -> Result<Option<i64>, DatabaseError> {
    match db.query_first(sql::GET_MARK, params![name])? {
        Some(row) => row.integer(0).map(Some),
        None => Ok(None),
    }
}

pub fn set(db: &impl Database, name: &str, value: i64) -> Result<(), DatabaseError> {
    db.execute(sql::SET_MARK, params![name, value])
}

pub fn clear(db: &impl Database, name: &str) -> Result<(), DatabaseError> {
    db.execute(sql::CLEAR_MARK, params![name])
}

/// Adds one to a mark and returns it.
pub fn next(db: &impl Database, name: &str) -> Result<i64, DatabaseError> {
    let row = db.query_first(sql::NEXT_MARK, params![name])?;
    row.ok_or_else(|| DatabaseError("RETURNING gave no row".into()))?
        .integer(0)
}

/// The number of the last change; 0 before the first.
pub fn last(db: &impl Database) -> Result<i64, DatabaseError> {
    get(db, CHANGE).map(Option::unwrap_or_default)
}

/// Notes that the operator changed something that the tracking snapshot shows, and numbers the change.
pub fn record(db: &impl Database, now_ms: i64) -> Result<i64, DatabaseError> {
    db.execute(sql::MARK_IF_NEW, params![TRACKING_DIRTY_SINCE, now_ms])?;
    next(db, CHANGE)
}
