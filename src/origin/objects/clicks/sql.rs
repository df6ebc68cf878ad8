//! The schema and statements of click records. Storing a record writes one row. An index on the expiry would cost a
//! second row, so the sweep walks the primary key instead, one slice at a time.

use platform::migrations::Migration;

pub const MIGRATIONS: &[Migration] = &[&[TABLES]];

const TABLES: &[&str] = &[
    "CREATE TABLE records (
       nonce BLOB NOT NULL PRIMARY KEY, record BLOB NOT NULL, expires_at_ms INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
    // One row during a sweep: the last nonce that it has passed.
    "CREATE TABLE sweep (only INTEGER PRIMARY KEY CHECK (only = 1), reached BLOB NOT NULL) STRICT",
    // One row: when the object was last restored from a copy.
    "CREATE TABLE restored (only INTEGER PRIMARY KEY CHECK (only = 1), at_ms INTEGER NOT NULL) STRICT",
];

platform::statements! {
    pub const PUT = "INSERT INTO records (nonce, record, expires_at_ms) VALUES (?, ?, ?) ON CONFLICT (nonce) DO NOTHING";
    pub const GET = "SELECT record FROM records WHERE nonce = ? AND expires_at_ms > ?";
    /// maximum rows → last nonce of the slice, number of its rows
    pub const SLICE = "SELECT MAX(nonce), COUNT(*) FROM (
        SELECT nonce FROM records WHERE nonce > COALESCE((SELECT reached FROM sweep), x'') ORDER BY nonce LIMIT ?)";
    /// last nonce of the slice, current time
    pub const SWEEP_SLICE = "DELETE FROM records
        WHERE nonce > COALESCE((SELECT reached FROM sweep), x'') AND nonce <= ? AND expires_at_ms <= ?";
    /// last nonce of the slice
    pub const REACHED = "INSERT INTO sweep (only, reached) VALUES (1, ?)
        ON CONFLICT (only) DO UPDATE SET reached = excluded.reached";
    pub const GET_RESTORED = "SELECT at_ms FROM restored";
    pub const SET_RESTORED = "INSERT INTO restored (only, at_ms) VALUES (1, ?)
        ON CONFLICT (only) DO UPDATE SET at_ms = excluded.at_ms";
    pub const SWEPT = "DELETE FROM sweep";
    pub const ANYTHING_KEPT = "SELECT EXISTS (SELECT 1 FROM records)";
}
