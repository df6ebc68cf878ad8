//! Adds up the isolates' clicks: by offer and day for the catalog's figures, and by all reported dimensions for the
//! publishers' ledgers. Adds up the outboxes' conversions and payouts for the catalog's figures alone.

use serde_json::value::RawValue;

use super::sql;
use crate::delivery::batches;
use contract::{
    counters::{ConversionSum, STATS_PAGE, Stats},
    operation::Applied,
};
use domain::{
    model::{Country, OfferId, time::UtcDay},
    tracking::click_counts::ClickSum,
};
use platform::{
    database::{Database, DatabaseError, json},
    params,
};

/// Sums passed to the database as one JSON text: at most 300 bytes each make 600 KB, and a value may have 2 MB.
const SUMS_PER_STATEMENT: usize = 2_000;

/// The number of UTC days that `Stats` covers, today included.
const STATS_DAYS: i32 = 30;

pub fn flush(
    db: &impl Database,
    now_ms: i64,
    isolate: &str,
    sequence: u64,
    sums: &[ClickSum],
) -> Result<Applied, DatabaseError> {
    if batches::was_applied(db, sql::MARK, isolate, sequence)? {
        return Ok(Applied { applied: false });
    }
    db.transaction(|| {
        let today = UtcDay::of_ms(now_ms).number();
        db.execute(sql::SET_MARK, params![isolate, sequence, today])?;
        db.execute(sql::SET_MARKS_DAY, params![isolate, today])?;
        for sums in sums.chunks(SUMS_PER_STATEMENT) {
            let rows = rows(sums)?;
            db.execute(sql::ADD_CLICKS, params![rows.as_str()])?;
            db.execute(sql::ADD_TRAFFIC, params![rows])?;
        }
        Ok(Applied { applied: true })
    })
}

/// Adds the sums of an outbox's batch, once. A reversal counts on its own day, so the sums of a day, or of all stored
/// days, may be negative.
pub fn add_conversions(
    db: &impl Database,
    source: &str,
    sequence: u64,
    sums: &[ConversionSum],
) -> Result<Applied, DatabaseError> {
    if batches::was_applied(db, sql::SOURCE, source, sequence)? {
        return Ok(Applied { applied: false });
    }
    db.transaction(|| {
        db.execute(sql::SET_SOURCE, params![source, sequence])?;
        for sums in sums.chunks(SUMS_PER_STATEMENT) {
            let row = |sum: &ConversionSum| {
                (
                    sum.day.number(),
                    sum.offer.as_str().to_owned(),
                    sum.conversions,
                    sum.payout_micro_usd,
                )
            };
            let rows: Vec<_> = sums.iter().map(row).collect();
            db.execute(sql::ADD_CONVERSIONS, params![json(&rows)?])?;
        }
        Ok(Applied { applied: true })
    })
}

/// The sums as JSON for `sql::ADD_CLICKS` and `sql::ADD_TRAFFIC`.
fn rows(sums: &[ClickSum]) -> Result<String, DatabaseError> {
    let rows: Vec<_> = sums
        .iter()
        .map(|sum| {
            (
                sum.publisher.as_str(),
                sum.day.number(),
                sum.app.number(),
                sum.offer.as_str(),
                sum.country.map_or("", Country::as_str),
                sum.placement.as_deref().unwrap_or(""),
                sum.clicks,
            )
        })
        .collect();
    json(&rows)
}

pub fn stats(db: &impl Database, stats: &Stats) -> Result<Box<RawValue>, DatabaseError> {
    let after = stats.after.as_ref().map_or("", OfferId::as_str);
    let page = params![
        stats.today.minus(STATS_DAYS - 1).number(),
        stats.today.number(),
        after,
        STATS_PAGE
    ];
    let row = db.query_first(sql::STATS, page)?;
    let json = row.as_ref().map_or(Ok("[]"), |row| row.text(0))?;
    RawValue::from_string(json.to_owned()).map_err(|error| DatabaseError(error.to_string()))
}
