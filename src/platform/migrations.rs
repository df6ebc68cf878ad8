//! Schema migrations: an object has an ordered list of them. Each is applied once, in a transaction, and recorded.
//! During a deployment old and new code run at the same time, so a database that newer code has migrated is refused:
//! old code could break the new schema's rules.

use super::database::{Database, DatabaseError, DbResult};

/// One version of a schema: groups of statements, so that objects can share a group of tables. Statements are separate
/// texts, since `rusqlite` prepares only the first of several.
///
/// A released migration never changes. A correction is a new migration.
pub type Migration = &'static [&'static [&'static str]];

crate::statements! {
    pub const CREATE = "CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, applied_at_ms INTEGER NOT NULL) STRICT";
    pub const VERSION = "SELECT COALESCE(MAX(version), 0) FROM migrations";
    /// → whether `make restore` has put this database in the object's place
    pub const IS_COPY = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'put_back')";
    pub const FORGET_COPY = "DROP TABLE put_back";
    pub const RECORD = "INSERT INTO migrations (version, applied_at_ms) VALUES (?, ?)";
}

/// Applies the missing ones of `migrations`, whose first is version 1. It may be repeated at any time, even after an
/// error that leaves open whether a migration was applied.
///
/// # Errors
/// The schema is newer than `migrations`, or the database failed.
pub fn migrate(db: &impl Database, now_ms: i64, migrations: &[Migration]) -> DbResult {
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
