//! The schema and statements of received postbacks.

use platform::migrations::Migration;

pub const MIGRATIONS: &[Migration] = &[&[TABLES]];

const TABLES: &[&str] = &[
    // One row. `not_shown` is the number of postbacks that were only counted, since `since_ms`. `written_ms` is when a
    // postback with an issued token was last written, and `unsigned_written_ms` when one without an issued token was.
    "CREATE TABLE counts (
       only INTEGER PRIMARY KEY CHECK (only = 1), not_shown INTEGER NOT NULL DEFAULT 0,
       since_ms INTEGER, written_ms INTEGER, unsigned_written_ms INTEGER
     ) STRICT",
    "INSERT INTO counts (only) VALUES (1)",
    // The newest postbacks by their numbers, which rise by one. `details` is JSON. `is_unsigned` is 1 for a postback
    // without an issued token.
    "CREATE TABLE postbacks (
       number INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, code TEXT NOT NULL, details TEXT NOT NULL,
       is_unsigned INTEGER NOT NULL DEFAULT 0
     ) STRICT",
    // When each token was last used, even after it was revoked.
    "CREATE TABLE tokens (serial INTEGER PRIMARY KEY, used_ms INTEGER NOT NULL) STRICT",
];

platform::statements! {
    /// → time of the last write of postbacks with a token, time of the last write of postbacks without one, time since
    /// which postbacks are counted
    pub const LAST_WRITES = "SELECT written_ms, unsigned_written_ms, since_ms FROM counts";
    /// number of postbacks that are only counted, current time, whether a kept one has a token, whether a kept one has
    /// none
    pub const COUNT = "UPDATE counts SET not_shown = MIN(not_shown + ?1, 9007199254740991),
          since_ms = COALESCE(since_ms, ?2), written_ms = IIF(?3, ?2, written_ms),
          unsigned_written_ms = IIF(?4, ?2, unsigned_written_ms)";
    /// JSON list of [time, code, details, whether without a token]
    pub const INSERT = "INSERT INTO postbacks (number, at_ms, code, details, is_unsigned)
        SELECT (SELECT COALESCE(MAX(number), 0) FROM postbacks) + key + 1,
          value ->> 0, value ->> 1, value ->> 2, value ->> 3
        FROM json_each(?)";
    /// whether without a token, maximum that stay: deletes the older postbacks
    pub const TRIM = "DELETE FROM postbacks WHERE is_unsigned = ?1 AND number <= (SELECT number FROM postbacks
        WHERE is_unsigned = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)";
    /// whether without a token, code, advertiser, maximum that stay: deletes the advertiser's older postbacks with the code
    pub const TRIM_ADVERTISER = "DELETE FROM postbacks WHERE number IN (SELECT number FROM postbacks
        WHERE is_unsigned = ? AND code = ? AND details ->> '$.advertiser' = ? ORDER BY number DESC LIMIT -1 OFFSET ?)";
    /// exclusive upper number, code or NULL for all, maximum postbacks → number, details; newest first
    pub const LIST = "SELECT number, details FROM postbacks WHERE number < ?1 AND (?2 IS NULL OR code = ?2)
        ORDER BY number DESC LIMIT ?3";
    /// → number of postbacks that were only counted, time since which they are counted
    pub const GET_COUNTS = "SELECT not_shown, since_ms FROM counts";
    /// JSON object of the last use's time by the token's serial
    pub const USE_TOKENS = "INSERT INTO tokens (serial, used_ms) SELECT CAST(key AS INTEGER), value FROM json_each(?)
        WHERE true ON CONFLICT (serial) DO UPDATE SET used_ms = MAX(used_ms, excluded.used_ms)";
    pub const LIST_TOKENS = "SELECT serial, used_ms FROM tokens ORDER BY serial";
    /// cutoff time: deletes earlier rows
    pub const SWEEP = "DELETE FROM postbacks WHERE at_ms < ?";
    /// cutoff time: deletes earlier rows
    pub const SWEEP_TOKENS = "DELETE FROM tokens WHERE used_ms < ?";
    pub const ANYTHING_KEPT = "SELECT EXISTS (SELECT 1 FROM postbacks) OR EXISTS (SELECT 1 FROM tokens)";
}
