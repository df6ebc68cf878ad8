//! Erasure of a user's identifiers, on request. A waiting callback needs the identifiers, so they are deleted once the
//! callback has ended. Until then no answer shows them.
//!
//! When a publisher is closed, all its users are erased, in steps.
//!
//! A postback for a click from before the erasure may arrive later and name the user again. So an outbox stores a
//! salted hash of each erased user, and the time of the erasure, for as long as such postbacks are accepted.

use serde_json::json;

use super::sql;
use contract::{operation::OperatorReply, outbox::OutboxShard};
use domain::{
    conversions::{
        ids::erased_key,
        log_number::{SHARDS, lowest_number},
    },
    tracking::Click,
};
use platform::{Database, DatabaseError, DbResult, Failure, Result, params};

/// Erased users by [`erased_key`], with the time of the erasure. An empty key means all users.
pub const TABLES: &[&str] = &[
    "CREATE TABLE erased (user BLOB PRIMARY KEY, at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE INDEX erased_by_time ON erased (at_ms)",
];

/// Maximum entries of a step while all users are erased. A step takes about 10 ms.
const ENTRIES: u32 = 200;
/// Maximum steps per alarm.
const STEPS: usize = 5;

platform::statements! {
    /// app, shard: creates the outbox's row, and with it the salt, if there is no row yet
    pub const MAKE_SALT = "INSERT INTO outbox (only, app, shard) VALUES (1, ?, ?) ON CONFLICT (only) DO NOTHING";
    /// key of a user, time of the erasure
    pub const REMEMBER = "INSERT INTO erased (user, at_ms) VALUES (?, ?) ON CONFLICT (user) DO UPDATE SET at_ms = MAX(at_ms, excluded.at_ms)";
    /// JSON list of claims on txns and of erasures: adds the erased users. An erasure is [hexadecimal key, time]
    pub const REMEMBER_AGAIN = "INSERT INTO erased (user, at_ms) SELECT unhex(value ->> 0), value ->> 1 FROM json_each(?)
        WHERE json_array_length(value) = 2 ON CONFLICT (user) DO UPDATE SET at_ms = MAX(at_ms, excluded.at_ms)";
    /// key of a user, time of a click → whether the user was erased at that time or later, or all users were erased at
    /// any time. If all users were erased, the time of the click does not matter, because users of a closed publisher
    /// may still click for minutes
    pub const IS_ERASED = "SELECT EXISTS (SELECT 1 FROM erased WHERE user = x'' OR user = ? AND at_ms >= ?)";
    /// the list of `REMEMBER_AGAIN`: restarts the walk over the log if the list says that all users were erased
    pub const ERASE_EVERYBODY_AGAIN = "UPDATE outbox SET erasing = 0 WHERE EXISTS
        (SELECT 1 FROM json_each(?) WHERE json_array_length(value) = 2 AND value ->> 0 = '')";
    /// → one row, unless all users were already erased
    pub const BEGIN_EVERYBODY = "UPDATE outbox SET erasing = 0 WHERE NOT EXISTS (SELECT 1 FROM erased WHERE user = x'') RETURNING app";
    pub const DROP_KEPT = "DELETE FROM kept";
    pub const MARK_ALL_RESERVATIONS = "UPDATE reservations SET erase = 1";
    /// → last examined entry while all users are being erased; NULL otherwise
    pub const GET_ERASING = "SELECT erasing FROM outbox";
    /// entry (exclusive), maximum entries → next entries: entry, user or NULL
    pub const NEXT_OF_EVERYBODY = "SELECT entry, user_id FROM entries WHERE entry > ? ORDER BY entry LIMIT ?";
    pub const MARK_NEXT = "UPDATE entries SET erase = 1 WHERE entry > ? AND entry <= ? AND user_id IS NOT NULL";
    /// last examined entry, or NULL at the end
    pub const SET_ERASING = "UPDATE outbox SET erasing = ?";
    /// cutoff time, exclusive
    pub const SWEEP_ERASED = "DELETE FROM erased WHERE at_ms < ?";
    /// → users of kept postbacks and reservations
    pub const USERS_BESIDE_LOG = "SELECT user_id FROM kept UNION SELECT user_id FROM reservations WHERE erase = 0";
    /// user → number of entries, number of entries whose callback waits
    pub const COUNT_OF_USER = "SELECT COUNT(*), COUNT(*) FILTER (WHERE delivery = 0) FROM entries WHERE user_id = ?";
    pub const MARK_USER = "UPDATE entries SET erase = 1 WHERE user_id = ?";
    /// user: ends waiting callbacks that will never be sent, because the app has no callback, or the publisher is
    /// closed and its endpoint disabled
    pub const END_UNSENDABLE = "UPDATE entries SET delivery = 3, due_ms = NULL WHERE user_id = ? AND erase = 1 AND delivery = 0
        AND EXISTS (SELECT 1 FROM outbox WHERE callback_revision >= MAX(callback_wanted, 0)
          AND (callback_sealed IS NULL OR suspended = 2 AND disabled_ms IS NOT NULL))";
    /// → users who must be erased and whose callback waits
    pub const WAITING_USERS = "SELECT DISTINCT user_id FROM entries WHERE delivery = 0 AND erase = 1";
    /// user: blanks the receivers' answers and all but the first words of errors, because they may name the user
    pub const BLANK_ATTEMPTS = concat!("UPDATE attempts SET ", blank_attempt!(), " WHERE entry IN
        (SELECT entry FROM entries WHERE user_id = ? AND erase = 1)");
    /// the same for first attempts, which are stored in their entries
    pub const BLANK_FIRST_ATTEMPTS = concat!("UPDATE entries SET ", blank_first_attempt!(), "
        WHERE user_id = ? AND erase = 1 AND first_at_ms IS NOT NULL");
    /// user: removes the identifiers, except from entries whose callback waits
    pub const ERASE_USER = concat!("UPDATE entries SET ", forgotten!(), " WHERE user_id = ? AND erase = 1 AND delivery IS NOT 0");
    /// user: erases the user in the journals that this outbox keeps for others
    pub const ERASE_JOURNAL = "UPDATE journal SET users = (SELECT json_group_array(IIF(value ->> '$.user_id' = ?1, NULL, json(value)))
          FROM json_each(users))
        WHERE users IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(users) WHERE value ->> '$.user_id' = ?1)";
    /// entry → user of the entry, if the user must be erased
    pub const USER_TO_ERASE = "SELECT user_id FROM entries WHERE entry = ? AND erase = 1 AND user_id IS NOT NULL";
}

/// Answers `POST …/erase_user`: erases the user's identifiers now, or once the callbacks that need them have ended.
pub fn erase(db: &impl Database, now_ms: i64, shard: OutboxShard, user_id: &str) -> Result<OperatorReply> {
    let count = || match db.query_first(COUNT_OF_USER, params![user_id])? {
        Some(row) => Ok((row.integer(0)?, row.integer(1)?)),
        None => Ok::<_, DatabaseError>((0, 0)),
    };
    let (erased, waiting) = db.transaction(|| {
        let (all, _) = count()?;
        let lowest = lowest_number(now_ms, shard.number);
        db.execute(MAKE_SALT, params![shard.app.number(), shard.number])?;
        if let Some(key) = key(db, user_id)? {
            remember(db, now_ms, shard, key)?;
        }
        db.execute(sql::CHANGE_USER, params![lowest, SHARDS, user_id])?;
        let reserved = erase_here(db, user_id)?;
        let (left, waiting) = count()?;
        Ok::<_, Failure>((all.saturating_sub(left), waiting.saturating_add(reserved)))
    })?;
    Ok(OperatorReply::ok(&json!({ "erased": erased, "waiting": waiting })))
}

fn remember(db: &impl Database, now_ms: i64, shard: OutboxShard, key: Vec<u8>) -> DbResult {
    let claim = json!([hex::encode(&key), now_ms]).to_string();
    db.execute(REMEMBER, params![key, now_ms])?;
    let lowest = lowest_number(now_ms, shard.number);
    db.execute(sql::CHANGE, params![lowest, SHARDS, None::<i64>, claim])
}

/// Begins to erase all users, within the caller's transaction. Kept postbacks and reservations are handled at once, and
/// the log later, by [`erase_next`]. The witness needs no request, because it deletes all users from this outbox's
/// journal after three days.
pub fn erase_everybody(db: &impl Database, now_ms: i64, shard: OutboxShard) -> DbResult {
    if db.query(BEGIN_EVERYBODY, &[])?.is_empty() {
        return Ok(());
    }
    remember(db, now_ms, shard, Vec::new())?;
    db.execute(DROP_KEPT, &[])?;
    db.execute(MARK_ALL_RESERVATIONS, &[])
}

/// Continues the erasure of all users over the next entries of the log, at most `STEPS` steps. Returns whether more
/// entries may follow.
pub fn erase_next(db: &impl Database) -> DbResult<bool> {
    let Some(mut after) = db.query_integer(GET_ERASING, &[])? else {
        return Ok(false);
    };
    for _ in 0..STEPS {
        let rows = db.query(NEXT_OF_EVERYBODY, params![after, ENTRIES])?;
        let Some(last) = rows.last() else {
            db.execute(SET_ERASING, params![None::<i64>])?;
            return Ok(false);
        };
        let last = last.integer(0)?;
        db.transaction(|| {
            db.execute(MARK_NEXT, params![after, last])?;
            for row in &rows {
                if let Some(user_id) = row.optional_text(1)? {
                    erase_ended(db, user_id)?;
                }
            }
            db.execute(SET_ERASING, params![last])
        })?;
        after = last;
    }
    Ok(true)
}

/// Erases a user from the journals that this outbox keeps for others.
pub fn erase_journal(db: &impl Database, user_id: &str) -> Result<OperatorReply> {
    db.execute(ERASE_JOURNAL, params![user_id])?;
    Ok(OperatorReply::ok(&json!({})))
}

/// Erases a user in this outbox, within the caller's transaction. Returns the number of reservations that still need
/// the user.
pub fn erase_here(db: &impl Database, user_id: &str) -> DbResult<i64> {
    db.execute(sql::DROP_KEPT_OF_USER, params![user_id])?;
    let reserved = db.query(sql::MARK_RESERVATIONS, params![user_id])?.len();
    db.execute(MARK_USER, params![user_id])?;
    db.execute(ERASE_JOURNAL, params![user_id])?;
    erase_ended(db, user_id)?;
    Ok(reserved as i64)
}

/// Stores the erasures of a journal's batch, and erases these users from kept postbacks and reservations, within the
/// caller's transaction. The log needs no erasure here, because the batch's entries already lack erased users.
pub fn erase_again(db: &impl Database, claims: &str) -> DbResult {
    db.execute(REMEMBER_AGAIN, params![claims])?;
    db.execute(ERASE_EVERYBODY_AGAIN, params![claims])?;
    for row in db.query(USERS_BESIDE_LOG, &[])? {
        if is_erased(db, row.text(0)?, 0)? {
            erase_here(db, row.text(0)?)?;
        }
    }
    Ok(())
}

/// True if the user of a click was erased after the click.
pub fn is_erased(db: &impl Database, user_id: &str, clicked_at_ms: i64) -> DbResult<bool> {
    match key(db, user_id)? {
        Some(key) => db.query_boolean(IS_ERASED, params![key, clicked_at_ms]),
        None => Ok(false),
    }
}

pub fn is_of_erased(db: &impl Database, click: &Click<'_>) -> DbResult<bool> {
    is_erased(db, &click.user_id, click.clicked_at_ms)
}

fn key(db: &impl Database, user_id: &str) -> DbResult<Option<Vec<u8>>> {
    let row = db.query_first(sql::GET_SALT, &[])?;
    row.map(|row| Ok(erased_key(row.blob(0)?, user_id).to_vec())).transpose()
}

/// Erases the user of an entry, now or once the entry's callback has ended, within the caller's transaction.
pub fn mark(db: &impl Database, transaction_id: &str) -> DbResult {
    match db.query_first(sql::MARK_ENTRY, params![transaction_id])? {
        Some(row) => erase_if_marked(db, row.integer(0)?),
        None => Ok(()),
    }
}

/// Erases the user of an entry whose callback has ended, if the erasure was requested, within the caller's transaction.
pub fn erase_if_marked(db: &impl Database, entry: i64) -> DbResult {
    match db.query_first(USER_TO_ERASE, params![entry])? {
        Some(row) => erase_ended(db, row.text(0)?),
        None => Ok(()),
    }
}

/// Erases the users whose erasure waited for callbacks that can no longer be sent, within the caller's transaction.
pub fn erase_waiting(db: &impl Database) -> DbResult {
    for row in db.query(WAITING_USERS, &[])? {
        erase_ended(db, row.text(0)?)?;
    }
    Ok(())
}

fn erase_ended(db: &impl Database, user_id: &str) -> DbResult {
    for sql in [END_UNSENDABLE, BLANK_ATTEMPTS, BLANK_FIRST_ATTEMPTS, ERASE_USER] {
        db.execute(sql, params![user_id])?;
    }
    Ok(())
}
