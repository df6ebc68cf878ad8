//! The `offers` layer: what Signpost itself counted, as facts (docs/DECISIONS.md, "Conversions", last point).

use std::collections::BTreeMap;

use super::{
    freshness,
    segments::{self, Layer},
    sql,
};
use crate::batches;
use contract::{ledger::OfferSum, operation::Applied};
use domain::{
    model::{
        AppId, Country,
        time::{MINUTE_MS, UtcDay},
    },
    reporting::{Dimension, Measure, dimension::OWN_DEMAND_SOURCE, metric::Sums, segment::Segmenter},
};
use platform::{
    database::{Database, DatabaseError},
    params,
};

const SDK_V: &str = "api";
/// The placement of a click that named none.
const DEFAULT_PLACEMENT: &str = "offerwall";
/// The placement of those that an app's day does not keep apart.
const OTHER_PLACEMENT: &str = "other";
/// How many it keeps apart: users choose what a click carries, and a dimension must not grow by that.
const PLACEMENTS: i64 = 200;
/// For how long an app's day knows its placements. Batches that come later than this, after an outage of weeks, begin anew.
const PLACEMENTS_DAYS: i32 = 40;

/// Adds a batch, once.
pub fn add(
    db: &impl Database,
    now_ms: i64,
    source: &str,
    sequence: u64,
    sums: &[OfferSum],
) -> Result<Applied, DatabaseError> {
    let Some(sequence) = batches::unless_applied(db, sql::GET_MARK, source, sequence)? else {
        return Ok(Applied { applied: false });
    };
    db.transaction(|| {
        db.execute(sql::SET_MARK, params![source, sequence])?;
        let mut days: BTreeMap<UtcDay, Segmenter> = BTreeMap::new();
        let mut placements = Placements {
            db,
            known: BTreeMap::new(),
        };
        for sum in sums {
            let placement = placements.of(sum)?;
            let app = sum.app.to_string();
            let country = sum.country.map_or(Dimension::Country.unknown(), Country::as_str);
            let key = [
                app.as_str(),
                country,
                placement,
                sum.offer.as_str(),
                OWN_DEMAND_SOURCE,
                SDK_V,
            ];
            days.entry(sum.day).or_default().add(&key, &measures(sum));
        }
        let written: Vec<UtcDay> = days.keys().copied().collect();
        for (day, segmenter) in days {
            for segment in segmenter.finish() {
                segments::insert(db, segments::STANDING, day, Layer::Offers, &segment)?;
            }
        }
        if let Some(last) = written.last() {
            freshness::counted(db, now_ms, *last)?;
        }
        segments::mark_crowded(db, &written, Layer::Offers)?;
        Ok(Applied { applied: true })
    })
}

/// Forgets placements of days that are long over.
pub fn sweep(db: &impl Database, now_ms: i64) -> Result<(), DatabaseError> {
    db.execute(sql::SWEEP_PLACEMENTS, params![first_kept(now_ms).number()])
}

/// When there is something to sweep; none if no placement is known.
pub fn sweep_due_ms(db: &impl Database) -> Result<Option<i64>, DatabaseError> {
    let Some(row) = db.query_first(sql::FIRST_PLACEMENT, &[])? else {
        return Ok(None);
    };
    let first = row.optional_integer(0)?.and_then(UtcDay::from_number);
    // A minute after midnight, clear of what begins anew then.
    Ok(first.map(|day| day.minus(-PLACEMENTS_DAYS).start_ms() + MINUTE_MS))
}

fn first_kept(now_ms: i64) -> UtcDay {
    UtcDay::of_ms(now_ms).minus(PLACEMENTS_DAYS - 1)
}

fn measures(sum: &OfferSum) -> Sums {
    let mut sums = Sums::default();
    let clicks = i64::try_from(sum.clicks).unwrap_or(i64::MAX);
    for (measure, value) in [
        (Measure::Clicks, clicks),
        (Measure::Revenue, sum.revenue_micro_usd),
    ] {
        if let Some(to) = sums.get_mut(measure.index()) {
            *to = value;
        }
    }
    sums
}

/// Which placements are kept apart. What was found is remembered within the batch, of which most share one.
struct Placements<'d, D> {
    db: &'d D,
    known: BTreeMap<(UtcDay, AppId, String), bool>,
}

impl<D: Database> Placements<'_, D> {
    fn of<'s>(&mut self, sum: &'s OfferSum) -> Result<&'s str, DatabaseError> {
        let Some(placement) = sum.placement.as_deref().filter(|placement| !placement.is_empty()) else {
            return Ok(DEFAULT_PLACEMENT);
        };
        let key = (sum.day, sum.app, placement.to_owned());
        let apart = match self.known.get(&key) {
            Some(apart) => *apart,
            None => {
                let apart = self.is_kept_apart(sum.day, sum.app, placement)?;
                self.known.insert(key, apart);
                apart
            }
        };
        Ok(if apart { placement } else { OTHER_PLACEMENT })
    }

    fn is_kept_apart(&self, day: UtcDay, app: AppId, placement: &str) -> Result<bool, DatabaseError> {
        let found = self.db.query_first(
            sql::FIND_PLACEMENT,
            params![day.number(), app.number(), placement, PLACEMENTS],
        )?;
        let (known, room) = found.map_or(Ok((false, false)), |row| Ok((row.boolean(0)?, row.boolean(1)?)))?;
        if !known && room {
            self.db
                .execute(sql::ADD_PLACEMENT, params![day.number(), app.number(), placement])?;
        }
        Ok(known || room)
    }
}
