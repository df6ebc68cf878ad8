//! The offers' figures: clicks of the [log], and the outboxes' conversions and payouts.

use serde_json::value::RawValue;

use super::{STATS_DAYS, log, sql};
use crate::delivery::batches::receive;
use contract::{
    counters::{AddConversions, ConversionSum, STATS_PAGE, Stats},
    operation::Mark,
};
use domain::model::OfferId;
use platform::{
    database::{Database, DatabaseError, json},
    params,
};

/// Sums passed to the database as one JSON text: at most 300 bytes each make 600 KB, and a value may have 2 MB.
const SUMS_PER_STATEMENT: usize = 2_000;

/// Adds the sums of an outbox's batch, once. A reversal counts on its own day, so the sums of a day, or of all stored
/// days, may be negative.
pub fn add_conversions(db: &impl Database, batch: &AddConversions) -> Result<Mark, DatabaseError> {
    let marks = [sql::SOURCE, sql::SET_SOURCE];
    receive(db, marks, &batch.source, (batch.after, batch.number), || {
        for sums in batch.sums.chunks(SUMS_PER_STATEMENT) {
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
        Ok(())
    })
}

/// The offers' figures.
pub fn stats(db: &impl Database, stats: &Stats) -> Result<Box<RawValue>, DatabaseError> {
    log::count(db)?;
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
