//! Erasure of a user's identifiers, on request. A callback that waits needs them, so they leave once it has ended.

use serde_json::json;

use super::{endpoint, sql};
use contract::operation::OperatorReply;
use domain::conversions::log_number::{SHARDS, lowest_number};
use platform::{
    database::{Database, DatabaseError},
    failure::Failure,
    params,
};

platform::statements! {
    /// user → entries that can be erased now, entries whose callback waits
    pub const COUNT_OF_USER = "SELECT COUNT(*) FILTER (WHERE delivery IS NOT 0), COUNT(*) FILTER (WHERE delivery = 0)
        FROM entries WHERE user_id = ?";
    /// user
    pub const MARK_USER = "UPDATE entries SET erase = 1 WHERE user_id = ?";
    /// user: response bodies may name the user
    pub const BLANK_ATTEMPTS = "UPDATE attempts SET body = '' WHERE entry IN
        (SELECT entry FROM entries WHERE user_id = ? AND erase = 1 AND delivery IS NOT 0)";
    /// user
    pub const ERASE_USER = concat!("UPDATE entries SET ", forgotten!(), " WHERE user_id = ? AND erase = 1 AND delivery IS NOT 0");
    /// user: in the journals that this outbox keeps for others
    pub const ERASE_JOURNAL = "UPDATE journal SET users = (SELECT json_group_array(IIF(value ->> '$.user_id' = ?1, NULL, json(value)))
          FROM json_each(users))
        WHERE users IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(users) WHERE value ->> '$.user_id' = ?1)";
    /// entry → its user, if it must be erased
    pub const USER_TO_ERASE = "SELECT user_id FROM entries WHERE entry = ? AND erase = 1 AND user_id IS NOT NULL";
}

/// `DELETE …/users/{user_id}`: erases the user's identifiers now, or once the callbacks that need them have ended.
pub fn erase(db: &impl Database, now_ms: i64, user_id: &str) -> Result<OperatorReply, Failure> {
    let counts = db.query_first(COUNT_OF_USER, params![user_id])?;
    let (ended, waiting) = match counts {
        Some(row) => (row.integer(0)?, row.integer(1)?),
        None => (0, 0),
    };
    let reserved = db.transaction(|| {
        let shard = endpoint::read(db)?.map_or(0, |state| state.shard.number);
        let change = params![lowest_number(now_ms, shard), SHARDS, user_id];
        db.execute(sql::CHANGE_USER, change)?;
        erase_here(db, user_id)
    })?;
    Ok(OperatorReply::ok(
        &json!({ "erased": ended, "waiting": waiting + reserved }),
    ))
}

/// Erases a user in this outbox, within the caller's transaction. Returns how many reservations need the user.
pub fn erase_here(db: &impl Database, user_id: &str) -> Result<i64, DatabaseError> {
    db.execute(sql::DROP_KEPT_OF_USER, params![user_id])?;
    let reserved = db.query(sql::MARK_RESERVATIONS, params![user_id])?.len();
    db.execute(MARK_USER, params![user_id])?;
    db.execute(ERASE_JOURNAL, params![user_id])?;
    erase_ended(db, user_id)?;
    Ok(reserved as i64)
}

/// Erases the user of an entry, now or when its callback has ended, within the caller's transaction.
pub fn mark(db: &impl Database, transaction_id: &str) -> Result<(), DatabaseError> {
    match db.query_first(sql::MARK_ENTRY, params![transaction_id])? {
        Some(row) => erase_if_marked(db, row.integer(0)?),
        None => Ok(()),
    }
}

/// Erases the user of an ended callback if that was requested meanwhile, within the caller's transaction.
pub fn erase_if_marked(db: &impl Database, entry: i64) -> Result<(), DatabaseError> {
    match db.query_first(USER_TO_ERASE, params![entry])? {
        Some(row) => erase_ended(db, row.text(0)?),
        None => Ok(()),
    }
}

fn erase_ended(db: &impl Database, user_id: &str) -> Result<(), DatabaseError> {
    db.execute(BLANK_ATTEMPTS, params![user_id])?;
    db.execute(ERASE_USER, params![user_id])
}
