//! Retention and erasure: a user's identifiers on the operator's request, attempts after 90 days, and all identifiers
//! after 400 days. Rows that prevent a second payment stay for ever. A waiting callback keeps its user's identifiers
//! until it has been delivered or has become a dead letter, because it cannot be sent without them.

use serde_json::json;

use super::sql;
use contract::operation::Reply;
use domain::model::time::{DAY_MS, SECOND_MS, next_night_ms};
use platform::{
    database::{Database, DatabaseError},
    failure::Failure,
    params,
};

const ATTEMPT_RETENTION_MS: i64 = 90 * DAY_MS;
const IDENTIFIER_RETENTION_MS: i64 = 400 * DAY_MS;
/// Rows of each kind that one alarm examines: about 50 ms, during which the object answers no request.
const ROWS: i64 = 5_000;

/// `DELETE …/users/{user_id}`: erases the user's identifiers now, or once the callbacks that need them have ended.
pub fn erase(db: &impl Database, user_id: &str) -> Result<Reply, Failure> {
    let counts = db.query_first(sql::COUNT_OF_USER, params![user_id])?;
    let (ended, waiting) = match counts {
        Some(row) => (row.integer(0)?, row.integer(1)?),
        None => (0, 0),
    };
    let reserved = db
        .query_integer(sql::COUNT_RESERVED, params![user_id])?
        .unwrap_or(0);
    db.transaction(|| {
        db.execute(sql::MARK_RESERVATIONS, params![user_id])?;
        db.execute(sql::MARK_USER, params![user_id])?;
        erase_ended(db, user_id)
    })?;
    Ok(Reply::ok(
        &json!({ "erased": ended, "waiting": waiting + reserved }),
    ))
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
    match db.query_first(sql::USER_TO_ERASE, params![entry])? {
        Some(row) => erase_ended(db, row.text(0)?),
        None => Ok(()),
    }
}

fn erase_ended(db: &impl Database, user_id: &str) -> Result<(), DatabaseError> {
    db.execute(sql::BLANK_ATTEMPTS, params![user_id])?;
    db.execute(sql::ERASE_USER, params![user_id])
}

/// Does one alarm's sweep. Returns when the next one is due: in a second if expired rows are left. After an error it
/// may be repeated.
pub fn sweep(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let attempts_from = now_ms.saturating_sub(ATTEMPT_RETENTION_MS);
    let identifiers_from = now_ms.saturating_sub(IDENTIFIER_RETENTION_MS);
    let is_more = || db.query_boolean(sql::MORE_TO_SWEEP, params![attempts_from, identifiers_from]);
    // An alarm runs every few seconds, but rows expire once a day.
    if !is_more()? {
        return due_ms(db, now_ms);
    }
    db.execute(sql::SWEEP_ATTEMPTS, params![ROWS, attempts_from])?;
    if let Some(last) = db.query_integer(sql::LAST_TO_CLEAR, params![ROWS, identifiers_from])? {
        db.transaction(|| {
            db.execute(sql::MARK_OLD, params![last])?;
            db.execute(sql::BLANK_OLD_ATTEMPTS, params![last])?;
            db.execute(sql::CLEAR_OLD, params![last])?;
            db.execute(sql::SET_CLEARED, params![last])
        })?;
    }
    if is_more()? {
        Ok(Some(now_ms.saturating_add(SECOND_MS)))
    } else {
        due_ms(db, now_ms)
    }
}

/// When the next sweep is due; never if there are no entries.
pub fn due_ms(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let has_entries = db.query_boolean(sql::ANYTHING_KEPT, &[])?;
    Ok(has_entries.then(|| next_night_ms(now_ms)))
}
