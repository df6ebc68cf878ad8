//! The `offers` layer: clicks and revenue that Signpost counted itself, as facts (docs/DECISIONS.md, "Facts").

use std::collections::BTreeMap;

use super::{
    freshness,
    segments::{self, Layer},
    sql,
};
use crate::delivery::batches;
use contract::{
    ledger::{OfferRevenue, OfferSum},
    operation::Applied,
};
use domain::{
    model::{
        AppId, Country, OfferId,
        time::{MINUTE_MS, UtcDay},
    },
    reporting::{
        Dimension, Measure,
        dimension::OWN_DEMAND_SOURCE,
        metric::{Sums, get},
        segment::Segmenter,
    },
};
use platform::{
    database::{Database, DatabaseError},
    params,
};

const SDK_V: &str = "api";
/// The placement of a click without one.
const DEFAULT_PLACEMENT: &str = "offerwall";
/// The placement that sums up all beyond the first `MAX_PLACEMENTS`.
const OTHER_PLACEMENT: &str = "other";
/// Placements of an app and day that are reported separately; limited, because users choose a click's parameters.
const MAX_PLACEMENTS: i64 = 200;
/// How long a day's placements are stored, in days. Batches that arrive later, after weeks of outage, start afresh.
const PLACEMENTS_DAYS: i32 = 40;

/// Adds the sums of a batch, once.
pub fn add(
    db: &impl Database,
    now_ms: i64,
    source: &str,
    sequence: u64,
    sums: &[OfferSum],
) -> Result<Applied, DatabaseError> {
    if batches::was_applied(db, sql::GET_MARK, source, sequence)? {
        return Ok(Applied { applied: false });
    }
    db.transaction(|| {
        db.execute(sql::SET_MARK, params![source, sequence])?;
        let mut days: BTreeMap<UtcDay, Segmenter> = BTreeMap::new();
        let mut placements = Placements {
            db,
            known: BTreeMap::new(),
        };
        for sum in sums {
            let placement = placements.reported(sum)?;
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
        let changed: Vec<UtcDay> = days.keys().copied().collect();
        for (day, segmenter) in days {
            for segment in segmenter.finish() {
                segments::insert(db, segments::ACTIVE, day, Layer::Offers, &segment)?;
            }
        }
        if let Some(last) = changed.last() {
            freshness::counted(db, now_ms, *last)?;
        }
        if sums.iter().any(|sum| sum.clicks > 0) {
            freshness::clicked(db, now_ms)?;
        }
        segments::mark_crowded(db, &changed, Layer::Offers)?;
        Ok(Applied { applied: true })
    })
}

/// The revenue of an app on a day, by offer.
pub fn revenue(db: &impl Database, app: AppId, day: UtcDay) -> Result<Vec<OfferRevenue>, DatabaseError> {
    let mut sums = BTreeMap::new();
    let app = app.to_string();
    segments::each_row(db, day, Layer::Offers, |key, measures| {
        let &[of_app, _, _, offer, _, _] = key;
        if of_app == app
            && let Some(offer) = OfferId::parse(offer)
        {
            *sums.entry(offer).or_insert(0) += get(measures, Measure::Revenue);
        }
    })?;
    let offers = sums.into_iter().map(|(offer, revenue_micro_usd)| OfferRevenue {
        offer,
        revenue_micro_usd,
    });
    Ok(offers.collect())
}

/// Deletes the placements of days older than 40 days.
pub fn sweep(db: &impl Database, now_ms: i64) -> Result<(), DatabaseError> {
    db.execute(sql::SWEEP_PLACEMENTS, params![first_kept(now_ms).number()])
}

/// When the next sweep is due; none if no placement is stored.
pub fn sweep_due_ms(db: &impl Database) -> Result<Option<i64>, DatabaseError> {
    let Some(row) = db.query_first(sql::FIRST_PLACEMENT, &[])? else {
        return Ok(None);
    };
    let first = row.optional_integer(0)?.and_then(UtcDay::from_number);
    // A minute after midnight UTC, to stay clear of other work at midnight.
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

/// Decides which placements are reported separately. Decisions are cached, as most sums of a batch share a placement.
struct Placements<'d, D> {
    db: &'d D,
    known: BTreeMap<(UtcDay, AppId, String), bool>,
}

impl<D: Database> Placements<'_, D> {
    /// The placement under which a sum is reported.
    fn reported<'s>(&mut self, sum: &'s OfferSum) -> Result<&'s str, DatabaseError> {
        let Some(placement) = sum.placement.as_deref().filter(|placement| !placement.is_empty()) else {
            return Ok(DEFAULT_PLACEMENT);
        };
        let key = (sum.day, sum.app, placement.to_owned());
        let is_separate = match self.known.get(&key) {
            Some(is_separate) => *is_separate,
            None => {
                let is_separate = self.is_separate(sum.day, sum.app, placement)?;
                self.known.insert(key, is_separate);
                is_separate
            }
        };
        Ok(if is_separate { placement } else { OTHER_PLACEMENT })
    }

    fn is_separate(&self, day: UtcDay, app: AppId, placement: &str) -> Result<bool, DatabaseError> {
        let found = self.db.query_first(
            sql::FIND_PLACEMENT,
            params![day.number(), app.number(), placement, MAX_PLACEMENTS],
        )?;
        let (known, below_limit) =
            found.map_or(Ok((false, false)), |row| Ok((row.boolean(0)?, row.boolean(1)?)))?;
        if !known && below_limit {
            self.db
                .execute(sql::ADD_PLACEMENT, params![day.number(), app.number(), placement])?;
        }
        Ok(known || below_limit)
    }
}
