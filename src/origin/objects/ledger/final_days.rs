//! Decides which days are final. A day is final if the operator has loaded it after its end and every source has
//! vouched for it. Seven days after its end, a loaded day is final even if sources have not vouched for it. It is then
//! `unconfirmed`, and an attention item says so until the sources vouch.

use super::{day_changes, segments, sql};
use crate::delivery::attention_feed;
use contract::{attention::Kind, ledger::DayState};
use domain::model::{DAY_MS, HOUR_MS, PublisherId, SECOND_MS, UtcDay};
use platform::{Database, DbResult, params};

/// How long a loaded day waits for its sources, in days after its end.
const WAIT_DAYS: i64 = 7;
/// The decision does not wait for a source without sums on a day and on this many previous days, because such a source
/// may have nothing left to vouch for.
const IDLE_DAYS: i32 = 3;
/// The time after a day's end within which its last sums arrive, in milliseconds.
const ARRIVE_MS: i64 = 2 * HOUR_MS;
/// The delay before the days' states are decided, in milliseconds. Sources vouch shortly after each other, so one
/// decision considers all of them.
const GATHER_MS: i64 = 10 * SECOND_MS;
/// The row of `state` with the time of the next decision.
const DUE: &str = "final_days_due_ms";

/// Stores the publisher that the ledger belongs to, for the attention items about the ledger's days.
pub fn store_publisher(db: &impl Database, publisher: &PublisherId) -> DbResult {
    match self::publisher(db)? {
        Some(_) => Ok(()),
        None => db.execute(sql::SET_PUBLISHER, params![publisher.as_str()]),
    }
}

/// Returns the publisher that the ledger belongs to; none before the first load.
pub fn publisher(db: &impl Database) -> DbResult<Option<PublisherId>> {
    let row = db.query_first(sql::GET_PUBLISHER, &[])?;
    row.map(|row| row.parse(0, PublisherId::parse)).transpose()
}

/// Schedules the decision on which days are final, because a day was loaded or restated. Runs in the caller's
/// transaction.
pub fn changed(db: &impl Database, now_ms: i64) -> DbResult {
    db.execute(sql::LOWER_STATE, params![DUE, now_ms.saturating_add(GATHER_MS)])
}

/// Reopens a final day, because Signpost's own sums of the day have changed. Runs in the caller's transaction.
pub fn reopen(db: &impl Database, now_ms: i64, day: UtcDay) -> DbResult {
    if !db.query(sql::REOPEN_DAY, params![day.number()])?.is_empty() {
        changed(db, now_ms)?;
    }
    Ok(())
}

/// Schedules the decision on which days are final, because a source has vouched for a day. Runs in the caller's
/// transaction.
pub fn vouched(db: &impl Database, now_ms: i64, day: UtcDay) -> DbResult {
    if db.query_boolean(sql::HAS_OPEN_DAY, params![day.number()])? {
        changed(db, now_ms)?;
    }
    Ok(())
}

/// Returns when the next decision is due; none if no day waits.
pub fn due_ms(db: &impl Database) -> DbResult<Option<i64>> {
    db.query_integer(sql::GET_STATE, params![DUE])
}

/// Decides the state of each loaded day that is open or unconfirmed, if a decision is due.
///
/// # Errors
/// The database failed, and nothing has changed.
pub fn judge(db: &impl Database, now_ms: i64) -> DbResult {
    if due_ms(db)?.is_none_or(|due_ms| now_ms < due_ms) {
        return Ok(());
    }
    db.transaction(|| {
        let mut due_times = Vec::new();
        for row in db.query(sql::LIST_OPEN_DAYS, &[])? {
            let (day, was) = (segments::day(row.integer(0)?)?, row.decode(1, DayState::from_number)?);
            let end_ms = day.start_ms().saturating_add(DAY_MS);
            if row.integer(2)? < end_ms {
                // The day was loaded before its end, so more facts are still to be loaded.
                continue;
            }
            let arrived_ms = end_ms.saturating_add(ARRIVE_MS);
            if now_ms < arrived_ms {
                due_times.push(arrived_ms);
                continue;
            }
            let latest_ms = end_ms.saturating_add(WAIT_DAYS * DAY_MS);
            let since = day.minus(IDLE_DAYS).number();
            let state = match db.query_first(sql::FIND_UNCONFIRMED, params![day.number(), since])? {
                None => {
                    attention_feed::end_item(db, Kind::Unconfirmed, &day.to_string())?;
                    DayState::Final
                }
                Some(_) if now_ms < latest_ms => {
                    due_times.push(latest_ms);
                    DayState::Open
                }
                Some(source) => {
                    let reason = if source.boolean(0)? { "differs" } else { "silent" };
                    attention_feed::open_day(db, now_ms, Kind::Unconfirmed, day, reason)?;
                    DayState::Unconfirmed
                }
            };
            if state != was {
                db.execute(sql::SET_DAY_STATE, params![state.number(), day.number()])?;
            }
        }
        day_changes::judged(db, now_ms)?;
        db.execute(sql::DELETE_STATE, params![DUE])?;
        match due_times.into_iter().min() {
            Some(next_ms) => db.execute(sql::LOWER_STATE, params![DUE, next_ms]),
            None => Ok(()),
        }
    })
}
