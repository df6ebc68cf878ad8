//! The offers' figures: clicks from the [log], and conversions and payouts from the outboxes.

use serde_json::value::{RawValue, to_raw_value};

use super::{
    STATS_DAYS,
    caps::TakenCounts,
    daily::{self, NewSums},
    log, sql,
};
use crate::delivery::batches::receive;
use contract::{
    counters::{AddConversions, CapKind, STATS_PAGE, Stats},
    operation::Mark,
    outbox::OutboxShard,
};
use domain::model::OfferId;
use platform::{Database, DatabaseError, DbResult, params};

/// Adds the sums of an outbox's batch, once. A reversal counts on its own day, so the sums of a day, or of all stored
/// days, may be negative.
pub fn add_conversions(db: &impl Database, batch: &AddConversions) -> DbResult<Mark> {
    let marks = [sql::SOURCE, sql::SET_SOURCE];
    receive(db, marks, &batch.source, (batch.after, batch.number), || {
        let app = OutboxShard::of_object(&batch.source).map(|outbox| outbox.app.number());
        let mut sums = NewSums::default();
        for sum in &batch.sums {
            let row = (sum.day.number(), sum.offer.as_str().to_owned());
            sums.add(row, app, [0, sum.conversions, sum.payout_micro_usd]);
        }
        sums.write(db)
    })
}

/// Returns a page of the offers' figures.
pub fn stats(db: &impl Database, counts: &TakenCounts, stats: &Stats) -> DbResult<Box<RawValue>> {
    log::count(db)?;
    let after = stats.after.as_ref().map_or("", OfferId::as_str);
    let page = params![stats.today.minus(STATS_DAYS - 1).number(), stats.today.number(), after, STATS_PAGE];
    // The JSON form of `OfferStats` is an array.
    let figures = db.read_all(sql::STATS, page, |row| {
        let offer =
            OfferId::parse(row.text(0)?).ok_or_else(|| DatabaseError("the figures have an invalid offer id".into()))?;
        let taken = |kind| counts.get(db, (kind, stats.today, offer.clone()));
        let [clicks, conversions] = [taken(CapKind::Click)?, taken(CapKind::Conversion)?];
        Ok((offer, row.integer(1)?, row.integer(2)?, row.integer(3)?, clicks, conversions, daily::add_up(row.json(4)?)))
    })?;
    to_raw_value(&figures).map_err(|error| DatabaseError(error.to_string()))
}
