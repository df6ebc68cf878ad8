//! Retention: attempts are deleted after 90 days, and all other rows after 401 days. A postback is refused once its
//! click is 400 days old, so older rows are not needed to prevent a second payment. A waiting callback keeps its rows
//! until it is delivered or becomes a dead letter, because it cannot be sent without them. Notices are deleted with
//! their conversion, sent or not, because they pay nothing.

use crate::{
    delivery::batches,
    objects::outbox::{endpoint, erasure, feed::sql::PROMISE_BATCH, sql, sums::journal},
};
use domain::{
    conversions::{
        log_number::{SHARDS, first_number, lowest_number},
        reward::{CLICK_LIFE_DAYS, TERMS_KEPT_DAYS},
    },
    model::{DAY_MS, HOUR_MS, SECOND_MS, UtcDay, time::next_night_ms},
};
use platform::{Database, DatabaseError, DbResult, Row, params};

const ATTEMPT_RETENTION_MS: i64 = 90 * DAY_MS;
pub const ROW_RETENTION_MS: i64 = (CLICK_LIFE_DAYS + 1) * DAY_MS;
/// Maximum rows of each kind that one alarm examines. They take about 50 ms, during which the object answers no
/// request.
const ROWS: i64 = 5_000;

/// Does the next part of the nightly sweep. Returns when the following part is due: in a second or, once the sweep is
/// complete, the next night. After an error the part may be retried.
pub fn sweep(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    if erasure::erase_next(db)? {
        return Ok(Some(now_ms.saturating_add(SECOND_MS)));
    }
    let night = UtcDay::of_ms(now_ms.saturating_sub(HOUR_MS)).number();
    let row = db.query_first(sql::GET_SWEEP, &[])?;
    let (day, after) = match row {
        Some(row) => (row.integer(0)?, row.integer(1)?),
        None => return Err(DatabaseError("the table nights has no row".into())),
    };
    if day == night {
        return due_ms(db, now_ms);
    }
    let attempts_from = now_ms.saturating_sub(ATTEMPT_RETENTION_MS);
    let rows_from = now_ms.saturating_sub(ROW_RETENTION_MS);
    db.execute(sql::SWEEP_ATTEMPTS, params![ROWS, attempts_from])?;
    let has_more_firsts = sweep_firsts(db, attempts_from)?;
    db.execute(sql::SWEEP_TXNS, params![rows_from, ROWS])?;
    db.execute(sql::SWEEP_KEPT, params![ROWS, rows_from])?;
    db.execute(erasure::SWEEP_ERASED, params![rows_from])?;
    let terms_from = now_ms.saturating_sub(TERMS_KEPT_DAYS * DAY_MS);
    db.execute(sql::SWEEP_TERMS, params![terms_from, ROWS])?;

    let expired_to = first_number(now_ms.saturating_sub(CLICK_LIFE_DAYS * DAY_MS));
    let last = db.query_integer(sql::LAST_TO_SWEEP, params![after, expired_to, ROWS])?;
    if let Some(last) = last {
        // Entries stay until all receivers have applied the batches that contain them.
        let settled = batches::settled_through(db)?;
        let swept_to = first_number(rows_from).min(settled.saturating_add(1));
        let shard = endpoint::read(db)?.map_or(0, |state| state.shard.number);
        let lowest = lowest_number(now_ms, shard);
        db.transaction(|| {
            db.execute(sql::CHANGE_EXPIRED, params![after, last, lowest, SHARDS])?;
            for sql in [sql::GIVE_EXPIRED, sql::EXPIRE] {
                db.execute(sql, params![after, last])?;
            }
            for sql in [
                sql::SWEEP_CONVERSIONS,
                sql::SWEEP_THEIR_ATTEMPTS,
                sql::SWEEP_NOTICES,
                sql::SWEEP_REVERSED,
                sql::SWEEP_ENTRIES,
            ] {
                db.execute(sql, params![after, swept_to.min(last.saturating_add(1)), swept_to, settled])?;
            }
            db.execute(sql::SET_SWEEP, params![day, last])
        })?;
    }
    let first_day = UtcDay::of_ms(rows_from).number();
    db.execute(sql::SWEEP_REWARD_COUNTS, params![first_day])?;
    if last.is_some() || has_more_firsts || db.query_boolean(sql::MORE_TO_SWEEP, params![attempts_from, rows_from])? {
        return Ok(Some(now_ms.saturating_add(SECOND_MS)));
    }
    journal::sweep(db, now_ms, rows_from)?;
    db.execute(PROMISE_BATCH, &[])?;
    db.execute(sql::SET_SWEEP, params![night, 0_i64])?;
    due_ms(db, now_ms)
}

/// Deletes the first attempts of the next entries, at most [`ROWS`]. An entry stores its first attempt only if the
/// attempt ended within a day of the entry's creation. So the sweep covers entries that were created more than a day
/// before `before_ms`: all their first attempts are older than `before_ms`. Returns whether more entries follow.
fn sweep_firsts(db: &impl Database, before_ms: i64) -> DbResult<bool> {
    let after = db.query_integer(sql::GET_FIRSTS_SWEPT, &[])?.unwrap_or(0);
    let end = first_number(before_ms.saturating_sub(DAY_MS));
    let row = db.query_first(sql::FIRSTS_TO_SWEEP, params![after, end, ROWS])?;
    let row = row.unwrap_or(Row(vec![]));
    let Some(last) = row.optional_integer(0)? else {
        return Ok(false);
    };
    db.transaction(|| {
        db.execute(sql::SWEEP_FIRSTS, params![after, last])?;
        db.execute(sql::SET_FIRSTS_SWEPT, params![last])
    })?;
    Ok(row.integer(1)? == ROWS)
}

/// Returns when the next sweep is due; `None` if the outbox has no rows.
pub fn due_ms(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    let keeps_rows = db.query_boolean(sql::ANYTHING_KEPT, &[])?;
    Ok(keeps_rows.then(|| next_night_ms(now_ms)))
}
