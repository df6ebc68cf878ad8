//! `X-Data-Through`: the instant up to which there is data. A day that was loaded stands for its end, or for the time of
//! loading while it is not over; the latest counts, also when an earlier day is restated. Clicks that Signpost counts
//! come in all the time and would hide that nothing was loaded, so they say it only where nothing ever was.

use super::sql;
use domain::model::time::{DAY_MS, UtcDay};
use platform::{
    database::{Database, DatabaseError},
    params,
};

const LOADED: &str = "loaded_through_ms";
const COUNTED: &str = "counted_through_ms";

/// Notes that days were loaded. For within the transaction that makes them count.
pub fn loaded(db: &impl Database, now_ms: i64, days: &[UtcDay]) -> Result<(), DatabaseError> {
    // A day that is yet to come says nothing of the days until then.
    let today = UtcDay::of_ms(now_ms);
    match days.iter().filter(|day| **day <= today).max() {
        Some(last) => raise(db, LOADED, now_ms, *last),
        None => Ok(()),
    }
}

/// Notes that clicks of a day were counted.
pub fn counted(db: &impl Database, now_ms: i64, last: UtcDay) -> Result<(), DatabaseError> {
    raise(db, COUNTED, now_ms, last)
}

fn raise(db: &impl Database, name: &str, now_ms: i64, day: UtcDay) -> Result<(), DatabaseError> {
    let through_ms = now_ms.min(day.start_ms().saturating_add(DAY_MS));
    db.execute(sql::RAISE_STATE, params![name, through_ms])
}

/// In milliseconds; none before there was any data.
pub fn through_ms(db: &impl Database) -> Result<Option<i64>, DatabaseError> {
    for name in [LOADED, COUNTED] {
        if let Some(row) = db.query_first(sql::GET_STATE, params![name])? {
            return row.integer(0).map(Some);
        }
    }
    Ok(None)
}
