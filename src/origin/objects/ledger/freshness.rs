//! `X-Data-Through`: the time up to which there is data. It is the end of the latest loaded day, or the time of the
//! load if that day is not over. Loading an earlier day again does not lower this time. Signpost's own counts arrive
//! all the time and would hide a missing upload, so they count only if nothing was ever loaded.

use super::{day_changes, sql};
use contract::ledger::Freshness;
use domain::model::{DAY_MS, UtcDay};
use platform::{Database, DbResult, params};

const LOADED: &str = "loaded_through_ms";
const COUNTED: &str = "counted_through_ms";
const FIRST_CLICK: &str = "first_click_ms";
const FIRST_REPORT: &str = "first_report_ms";
/// The row of `state` with the version of the facts: the time of the last change, or the previous version plus one.
const FACTS: &str = "facts";

/// Records that days were loaded, within the transaction that activates their facts.
pub fn loaded(db: &impl Database, now_ms: i64, days: &[UtcDay]) -> DbResult {
    changed(db, now_ms, days)?;
    // A day in the future says nothing about the days before it, so it does not raise the time.
    let today = UtcDay::of_ms(now_ms);
    match days.iter().filter(|day| **day <= today).max() {
        Some(last) => raise(db, LOADED, now_ms, *last),
        None => Ok(()),
    }
}

/// Records that facts of these days have changed.
pub fn changed(db: &impl Database, now_ms: i64, days: &[UtcDay]) -> DbResult {
    let version = db.query_integer(sql::COUNT_CHANGE, params![now_ms])?;
    day_changes::set_versions(db, days, version.unwrap_or(now_ms))
}

/// Records that Signpost's own counts of these days were added.
pub fn counted(db: &impl Database, now_ms: i64, days: &[UtcDay]) -> DbResult {
    let Some(last) = days.last() else {
        return Ok(());
    };
    changed(db, now_ms, days)?;
    raise(db, COUNTED, now_ms, *last)
}

fn raise(db: &impl Database, name: &str, now_ms: i64, day: UtcDay) -> DbResult {
    let through_ms = now_ms.min(day.start_ms().saturating_add(DAY_MS));
    db.execute(sql::RAISE_STATE, params![name, through_ms])
}

/// Returns the version of all facts; 0 before the first facts.
pub fn version(db: &impl Database) -> DbResult<i64> {
    Ok(db.query_integer(sql::GET_STATE, params![FACTS])?.unwrap_or(0))
}

/// Returns the time up to which facts were loaded, in milliseconds; none before the first load.
pub fn loaded_through_ms(db: &impl Database) -> DbResult<Option<i64>> {
    db.query_integer(sql::GET_STATE, params![LOADED])
}

/// Reads the times that the dashboard shows.
pub fn read(db: &impl Database) -> DbResult<Freshness> {
    let state = |name| db.query_integer(sql::GET_STATE, params![name]);
    Ok(Freshness {
        loaded_through_ms: loaded_through_ms(db)?,
        first_click_ms: state(FIRST_CLICK)?,
        first_report_ms: state(FIRST_REPORT)?,
    })
}

/// Records the time at which the first clicks were counted.
pub fn clicked(db: &impl Database, now_ms: i64) -> DbResult {
    db.execute(sql::FIRST_STATE, params![FIRST_CLICK, now_ms])
}

/// Records the time at which the first report was made with a report key.
pub fn reported(db: &impl Database, now_ms: i64) -> DbResult {
    db.execute(sql::FIRST_STATE, params![FIRST_REPORT, now_ms])
}

/// Returns the time for the header, in milliseconds; none before the first data.
pub fn through_ms(db: &impl Database) -> DbResult<Option<i64>> {
    for name in [LOADED, COUNTED] {
        if let Some(row) = db.query_first(sql::GET_STATE, params![name])? {
            return row.integer(0).map(Some);
        }
    }
    Ok(None)
}
