//! `X-Data-Through`: the instant up to which there is data. A day that was written stands for its end, or for the time of
//! the writing while it is not over; the latest counts, also when an earlier day is restated.

use super::sql;
use crate::{
    origin::database::{Database, DatabaseError},
    params,
    time::{DAY_MS, UtcDay},
};

const THROUGH_MS: &str = "through_ms";

/// Notes that days were written, the last of them this one. For within the transaction that wrote them.
pub fn wrote(db: &impl Database, now_ms: i64, last: UtcDay) -> Result<(), DatabaseError> {
    let through_ms = now_ms.min(last.start_ms().saturating_add(DAY_MS));
    db.execute(sql::RAISE_STATE, params![THROUGH_MS, through_ms])
}

/// In milliseconds; none before there was any data.
pub fn through_ms(db: &impl Database) -> Result<Option<i64>, DatabaseError> {
    let row = db.query_first(sql::GET_STATE, params![THROUGH_MS])?;
    row.map(|row| row.integer(0)).transpose()
}
