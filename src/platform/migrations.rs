//! Schemas over time: an object's ordered list of migrations, each applied once, in a transaction, and recorded. A
//! deployment restarts every object, and for a while old and new code run side by side; so a database that newer code
//! has already migrated is refused rather than written to by rules it no longer keeps.

use super::database::{Database, DatabaseError};

/// One version of a schema: groups of statements, so that objects can share a group of tables. Each statement is a text of
/// its own, since `rusqlite` prepares only the first of several.
///
/// A released migration never changes; a correction is a further one.
pub type Migration = &'static [&'static [&'static str]];

crate::statements! {
    pub const CREATE = "CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, applied_at_ms INTEGER NOT NULL) STRICT";
    pub const VERSION = "SELECT COALESCE(MAX(version), 0) FROM migrations";
    pub const RECORD = "INSERT INTO migrations (version, applied_at_ms) VALUES (?, ?)";
}

/// Brings the database to the last of `migrations`, the first of which is version 1. May be repeated at any time, also
/// after an error that hides whether a migration was applied.
///
/// # Errors
/// What the database says, or that it is newer than `migrations`; then nothing was changed.
pub fn migrate(db: &impl Database, now_ms: i64, migrations: &[Migration]) -> Result<(), DatabaseError> {
    db.execute(CREATE, &[])?;
    let found = db
        .query_first(VERSION, &[])?
        .map_or(Ok(0), |row| row.integer(0))?;
    let applied = usize::try_from(found)
        .ok()
        .filter(|&applied| applied <= migrations.len());
    let Some(applied) = applied else {
        return Err(DatabaseError(format!(
            "the schema is at version {found}, newer than this code's {}",
            migrations.len()
        )));
    };
    for (version, statements) in (1_i64..).zip(migrations).skip(applied) {
        db.transaction(|| {
            for statement in statements.iter().copied().flatten() {
                db.execute(statement, &[])?;
            }
            db.execute(RECORD, crate::params![version, now_ms])
        })?;
    }
    Ok(())
}
