//! The offers' figures: clicks of the [log], and the outboxes' conversions and payouts.

use serde_json::value::{RawValue, to_raw_value};

use super::{STATS_DAYS, caps::TakenCounts, log, sql};
use crate::delivery::batches::receive;
use contract::{
    counters::{AddConversions, CapKind, ConversionSum, STATS_PAGE, Stats},
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
pub fn stats(
    db: &impl Database,
    counts: &TakenCounts,
    stats: &Stats,
) -> Result<Box<RawValue>, DatabaseError> {
    log::count(db)?;
    let after = stats.after.as_ref().map_or("", OfferId::as_str);
    let page = params![
        stats.today.minus(STATS_DAYS - 1).number(),
        stats.today.number(),
        after,
        STATS_PAGE
    ];
    // The arrays that `OfferStats` is in JSON.
    let figures = db.read_all(sql::STATS, page, |row| {
        let offer =
            OfferId::parse(row.text(0)?).ok_or_else(|| DatabaseError("figures of no offer".into()))?;
        let taken = |kind| counts.get(db, (kind, stats.today, offer.clone()));
        let [clicks, conversions] = [taken(CapKind::Click)?, taken(CapKind::Conversion)?];
        Ok((
            offer,
            row.integer(1)?,
            row.integer(2)?,
            row.integer(3)?,
            clicks,
            conversions,
        ))
    })?;
    to_raw_value(&figures).map_err(|error| DatabaseError(error.to_string()))
}
