//! Schema migrations: an object has an ordered list of them. Each is applied once, in a transaction, and recorded.
//! During a deployment, and after a rollback, older code meets a schema that newer code has changed. The older code
//! goes on if the newer migrations only add tables, columns and indexes. After any other migration it refuses to run,
//! because it could break the newer code's rules.

use std::fmt;

use super::database::{Database, DatabaseError, Row};

/// One version of a schema: groups of statements, so that objects can share a group of tables. Statements are separate
/// texts, since `rusqlite` prepares only the first of several.
///
/// A released migration never changes. A correction is a new migration.
pub type Migration = &'static [&'static [&'static str]];

crate::statements! {
    pub const CREATE = "CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, applied_at_ms INTEGER NOT NULL, only_adds INTEGER NOT NULL) STRICT";
    /// → the newest version, and the newest version that does more than add
    pub const VERSIONS = "SELECT COALESCE(MAX(version), 0), COALESCE(MAX(version) FILTER (WHERE NOT only_adds), 0) FROM migrations";
    /// → whether `make restore` has replaced the object's database with this copy
    pub const IS_COPY = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'put_back')";
    pub const FORGET_COPY = "DROP TABLE put_back";
    pub const RECORD = "INSERT INTO migrations (version, applied_at_ms, only_adds) VALUES (?, ?, ?)";
}

/// The reason why a schema is not up to date.
#[derive(Debug)]
pub enum MigrationError {
    /// The version that newer code has migrated to, with changes that this code does not know.
    Newer(i64),
    Database(DatabaseError),
}

impl fmt::Display for MigrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newer(version) => write!(f, "newer code has migrated the schema to version {version}"),
            Self::Database(error) => error.fmt(f),
        }
    }
}

impl From<DatabaseError> for MigrationError {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

/// True if code that does not know the statement can use the tables as before.
fn only_adds(statement: &str) -> bool {
    statement.starts_with("CREATE TABLE ")
        || statement.starts_with("CREATE INDEX ")
        || statement.starts_with("ALTER TABLE ") && statement.contains(" ADD COLUMN ")
}

/// Applies the missing migrations. The first of `migrations` is version 1. The call may be repeated at any time, even
/// after an error that does not show whether a migration was applied.
///
/// # Errors
/// The schema is newer than `migrations`, or the database failed.
pub fn migrate(db: &impl Database, now_ms: i64, migrations: &[Migration]) -> Result<(), MigrationError> {
    db.execute(CREATE, &[])?;
    let versions = |row: &Row| Ok((row.integer(0)?, row.integer(1)?));
    let (found, changed) = db.read_first(VERSIONS, &[], versions)?.unwrap_or_default();
    let known = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    if changed > known {
        return Err(MigrationError::Newer(found));
    }
    for (version, statements) in (1_i64..).zip(migrations) {
        if version <= found {
            continue;
        }
        let statements = || statements.iter().copied().flatten();
        let only_adds = statements().all(|statement| only_adds(statement));
        db.transaction(|| {
            for statement in statements() {
                db.execute(statement, &[])?;
            }
            db.execute(RECORD, crate::params![version, now_ms, only_adds])
        })?;
    }
    Ok(())
}
