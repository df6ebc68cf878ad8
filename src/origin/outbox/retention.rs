//! What an outbox forgets: a user at the operator's word, attempts after 90 days, users' identifiers after 400. What
//! keeps a conversion from being paid twice stays for ever. A callback that still waits keeps its user until it has
//! been sent or given up, since without one it could not be sent.

use serde_json::json;

use super::sql;
use contract::operation::Reply;
use domain::model::time::{DAY_MS, SECOND_MS, next_night_ms};
use platform::{
    database::{Database, DatabaseError},
    failure::Failure,
    params,
};

const ATTEMPTS_KEPT_MS: i64 = 90 * DAY_MS;
const IDENTIFIERS_KEPT_MS: i64 = 400 * DAY_MS;
/// Rows of each kind that one alarm looks at: some 50 ms of an object's time, in which it answers nobody.
const ROWS: i64 = 5_000;

/// `DELETE …/users/{user_id}`.
pub fn erase(db: &impl Database, user_id: &str) -> Result<Reply, Failure> {
    let counts = db.query_first(sql::COUNT_OF_USER, params![user_id])?;
    let (ended, waiting) = match counts {
        Some(row) => (row.integer(0)?, row.integer(1)?),
        None => (0, 0),
    };
    let reserved = db.query_first(sql::COUNT_RESERVED, params![user_id])?;
    let reserved = reserved.map_or(Ok(0), |row| row.integer(0))?;
    db.transaction(|| {
        db.execute(sql::MARK_RESERVATIONS, params![user_id])?;
        db.execute(sql::MARK_USER, params![user_id])?;
        forget(db, user_id)
    })?;
    Ok(Reply::ok(
        &json!({ "erased": ended, "waiting": waiting + reserved }),
    ))
}

/// Has the user of an entry forgotten: now, or when its callback has ended. The caller's transaction holds it.
///
/// # Errors
/// What the database says.
pub fn mark(db: &impl Database, transaction_id: &str) -> Result<(), DatabaseError> {
    match db.query_first(sql::MARK_ENTRY, params![transaction_id])? {
        Some(row) => ended(db, row.integer(0)?),
        None => Ok(()),
    }
}

/// Forgets the user of a callback that has ended, if the operator has asked for that meanwhile. The caller's
/// transaction holds it.
///
/// # Errors
/// What the database says.
pub fn ended(db: &impl Database, entry: i64) -> Result<(), DatabaseError> {
    match db.query_first(sql::USER_TO_ERASE, params![entry])? {
        Some(row) => forget(db, row.text(0)?),
        None => Ok(()),
    }
}

fn forget(db: &impl Database, user_id: &str) -> Result<(), DatabaseError> {
    db.execute(sql::BLANK_ATTEMPTS, params![user_id])?;
    db.execute(sql::ERASE_USER, params![user_id])
}

/// One alarm's work. Returns when the next sweep is due: in a second if this one left something.
///
/// # Errors
/// What the database says; the work may then be done again.
pub fn sweep(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let attempts_from = now_ms.saturating_sub(ATTEMPTS_KEPT_MS);
    let identifiers_from = now_ms.saturating_sub(IDENTIFIERS_KEPT_MS);
    let is_more = || {
        let more = db.query_first(sql::MORE_TO_SWEEP, params![attempts_from, identifiers_from])?;
        more.map_or(Ok(false), |row| row.boolean(0))
    };
    // An alarm comes every few seconds, and there is something to sweep once a day.
    if !is_more()? {
        return due_ms(db, now_ms);
    }
    db.execute(sql::SWEEP_ATTEMPTS, params![ROWS, attempts_from])?;
    let last = db.query_first(sql::LAST_TO_CLEAR, params![ROWS, identifiers_from])?;
    if let Some(last) = last.map_or(Ok(None), |row| row.optional_integer(0))? {
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

/// When the next sweep is due; never if nothing is kept.
///
/// # Errors
/// What the database says.
pub fn due_ms(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let kept = db.query_first(sql::ANYTHING_KEPT, &[])?;
    let kept = kept.map_or(Ok(false), |row| row.boolean(0))?;
    Ok(kept.then(|| next_night_ms(now_ms)))
}
