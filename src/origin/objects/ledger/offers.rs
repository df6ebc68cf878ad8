//! The `offers` layer: clicks and revenue that Signpost counted itself, as facts (docs/DECISIONS.md, "Facts").

use std::collections::BTreeMap;

use super::{
    day_changes::Watch,
    final_days, freshness,
    segments::{self, Layer},
    sql,
};
use crate::delivery::batches;
use contract::{
    ledger::{AddOffers, ChangeCause, CountedDay, OfferRevenue, OfferSum, ReadOffers, SourceDay, Vouch, Vouched},
    operation::Mark,
};
use domain::{
    model::{AppId, Country, MINUTE_MS, OfferId, UtcDay},
    reporting::{
        Dimension, Measure,
        dimension::{Key, OWN_DEMAND_SOURCE},
        metric::{Sums, get},
        placements::{MAX_PLACEMENTS, OTHER_PLACEMENT},
        segment::Segmenter,
    },
};
use platform::{Database, DbResult, params};

const SDK_V: &str = "api";
/// The placement of a click that names none.
const DEFAULT_PLACEMENT: &str = "offerwall";
/// The number of days for which counters keep clicks. Counters cannot vouch for earlier days.
const KEPT_DAYS: i32 = 30;
/// How long a day's placements are stored, in days. If a batch arrives later, after weeks of outage, the count of the
/// day's placements starts at zero again.
const PLACEMENTS_DAYS: i32 = 40;

/// Adds the sums of a batch, once.
pub fn add(db: &impl Database, now_ms: i64, batch: &AddOffers) -> DbResult<Mark> {
    let marks = [sql::GET_MARK, sql::SET_MARK];
    batches::receive(db, marks, &batch.source, (batch.after, batch.number), || {
        let mut days: BTreeMap<UtcDay, (Segmenter, Sums)> = BTreeMap::new();
        let mut placements = Placements { db, known: BTreeMap::new() };
        for sum in &batch.sums {
            let placement = placements.reported(sum)?;
            let app = sum.app.to_string();
            let key = row_key([&app, country_of(sum), placement, sum.offer.as_str()]);
            let (segmenter, total) = days.entry(sum.day).or_default();
            let measures = measures(sum);
            segmenter.add(&key, &measures);
            for (total, more) in total.iter_mut().zip(measures) {
                *total = total.saturating_add(more);
            }
        }
        let changed: Vec<UtcDay> = days.keys().copied().collect();
        let watch = Watch::begin(db, &changed)?;
        for (day, (segmenter, total)) in days {
            for segment in segmenter.finish() {
                segments::insert(db, segments::ACTIVE, day, Layer::Offers, &segment)?;
            }
            let [clicks, revenue] = [Measure::Clicks, Measure::Revenue].map(|measure| get(&total, measure));
            db.execute(sql::ADD_TOTAL, params![batch.source.as_str(), day.number(), clicks, revenue, batch.number])?;
            if clicks > 0 {
                db.execute(sql::VOUCH_AGAIN, params![batch.source.as_str(), day.number()])?;
            }
            final_days::reopen(db, now_ms, day)?;
        }
        freshness::counted(db, now_ms, &changed)?;
        watch.end(db, now_ms, ChangeCause::LateBatch)?;
        if batch.sums.iter().any(|sum| sum.clicks > 0) {
            freshness::clicked(db, now_ms)?;
        }
        segments::mark_crowded(db, &changed, Layer::Offers)
    })
}

/// Returns the key of a row: app, country, placement and offer, and the values that all rows of the layer share.
pub fn row_key<'k>([app, country, placement, offer]: [&'k str; 4]) -> Key<'k> {
    [app, country, placement, offer, OWN_DEMAND_SOURCE, SDK_V]
}

pub fn country_of(sum: &OfferSum) -> &'static str {
    sum.country.map_or(Dimension::Country.unknown(), Country::as_str)
}

/// Returns the placement of a sum, before the day's limit applies.
pub fn placement_of(sum: &OfferSum) -> &str {
    let placement = sum.placement.as_deref().filter(|placement| !placement.is_empty());
    placement.unwrap_or(DEFAULT_PLACEMENT)
}

/// True if a placement is always reported separately: the default placement, and the placement under which counters sum
/// up all others.
pub fn is_always_reported(placement: &str) -> bool {
    [DEFAULT_PLACEMENT, OTHER_PLACEMENT].contains(&placement)
}

/// Returns the number of the last batch that was applied from a source.
pub fn mark(db: &impl Database, source: &str) -> DbResult<Mark> {
    let mark = db.query_integer(sql::GET_MARK, params![source])?;
    Ok(Mark { mark: mark.unwrap_or(0) })
}

/// Returns the applied clicks and revenue of a source on a day.
fn total(db: &impl Database, source: &str, day: UtcDay) -> DbResult<(i64, i64)> {
    let row = db.query_first(sql::GET_TOTAL, params![source, day.number()])?;
    row.map_or(Ok((0, 0)), |row| Ok((row.integer(0)?, row.integer(1)?)))
}

/// True if the applied total of a source on a day differs from `sums`, if the source has vouched for another total, or
/// if it must still vouch for the day.
pub fn differs(db: &impl Database, source: &str, day: UtcDay, sums: [i64; 2]) -> DbResult<bool> {
    let (clicks, revenue) = total(db, source, day)?;
    Ok([clicks, revenue] != sums || db.query_boolean(sql::HAS_DIFFERED, params![source, day.number()])?)
}

/// Compares a source's total of a day with the applied total. Stores the result if both totals go up to the same batch
/// number.
pub fn vouch(db: &impl Database, now_ms: i64, vouch: &Vouch) -> DbResult<Vouched> {
    let (source, day) = (vouch.source.as_str(), vouch.day);
    let Mark { mark } = mark(db, source)?;
    let (clicks, revenue) = total(db, source, day)?;
    let mut vouched = Vouched {
        mark,
        missing_clicks: vouch.clicks.saturating_sub(clicks),
        missing_micro_usd: vouch.revenue_micro_usd.saturating_sub(revenue),
        go_back_to: None,
    };
    if mark == vouch.number {
        let differs = vouched.differs();
        db.transaction(|| {
            db.execute(sql::PASS_OVER, params![source, day.number()])?;
            if differs {
                db.execute(sql::ADD_TOTAL, params![source, day.number(), 0_i64, 0_i64, 0_i64])?;
            }
            db.execute(sql::SET_DIFFERS, params![differs, source, day.number()])?;
            db.execute(sql::SET_VOUCHED, params![source, day.number()])?;
            final_days::vouched(db, now_ms, day)
        })?;
        let oldest = UtcDay::of_ms(now_ms).minus(KEPT_DAYS);
        let first = db.query_integer(sql::FIRST_TO_VOUCH, params![source, oldest.number()])?;
        vouched.go_back_to = first.map(segments::day).transpose()?;
    }
    Ok(vouched)
}

/// Returns the revenue of an app on a day by offer, and for each of the app's outboxes the applied revenue and the
/// mark.
pub fn counted(db: &impl Database, read: &ReadOffers) -> DbResult<CountedDay> {
    let (mut sums, day) = (BTreeMap::new(), read.day);
    let app = read.app.to_string();
    segments::each_row(db, day, Layer::Offers, |key, measures| {
        let &[of_app, _, _, offer, _, _] = key;
        if of_app == app
            && let Some(offer) = OfferId::parse(offer)
        {
            *sums.entry(offer).or_insert(0) += get(measures, Measure::Revenue);
        }
    })?;
    let offers = sums.into_iter().map(|(offer, revenue_micro_usd)| OfferRevenue { offer, revenue_micro_usd });
    let source =
        |source: &String| Ok(SourceDay { mark: mark(db, source)?.mark, revenue_micro_usd: total(db, source, day)?.1 });
    Ok(CountedDay { offers: offers.collect(), sources: read.sources.iter().map(source).collect::<DbResult<_>>()? })
}

/// Deletes the placements of days that are older than 40 days.
pub fn sweep(db: &impl Database, now_ms: i64) -> DbResult {
    db.execute(sql::SWEEP_PLACEMENTS, params![first_kept(now_ms).number()])
}

/// Returns when the next sweep is due; none if no placement is stored.
pub fn sweep_due_ms(db: &impl Database) -> DbResult<Option<i64>> {
    let Some(row) = db.query_first(sql::FIRST_PLACEMENT, &[])? else {
        return Ok(None);
    };
    let first = row.optional_integer(0)?.and_then(UtcDay::from_number);
    // A minute after midnight UTC, to avoid other work at midnight.
    Ok(first.map(|day| day.minus(-PLACEMENTS_DAYS).start_ms() + MINUTE_MS))
}

fn first_kept(now_ms: i64) -> UtcDay {
    UtcDay::of_ms(now_ms).minus(PLACEMENTS_DAYS - 1)
}

fn measures(sum: &OfferSum) -> Sums {
    let mut sums = Sums::default();
    let clicks = i64::try_from(sum.clicks).unwrap_or(i64::MAX);
    for (measure, value) in [(Measure::Clicks, clicks), (Measure::Revenue, sum.revenue_micro_usd)] {
        if let Some(to) = sums.get_mut(measure.index()) {
            *to = value;
        }
    }
    sums
}

/// Decides which placements are reported separately. Decisions are cached, because most sums of a batch share a
/// placement.
struct Placements<'d, D> {
    db: &'d D,
    known: BTreeMap<(UtcDay, AppId, String), bool>,
}

impl<D: Database> Placements<'_, D> {
    /// Returns the placement under which a sum is reported.
    fn reported<'s>(&mut self, sum: &'s OfferSum) -> DbResult<&'s str> {
        let placement = placement_of(sum);
        if is_always_reported(placement) {
            return Ok(placement);
        }
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

    fn is_separate(&self, day: UtcDay, app: AppId, placement: &str) -> DbResult<bool> {
        let found =
            self.db.query_first(sql::FIND_PLACEMENT, params![day.number(), app.number(), placement, MAX_PLACEMENTS])?;
        let (known, below_limit) = found.map_or(Ok((false, false)), |row| Ok((row.boolean(0)?, row.boolean(1)?)))?;
        if !known && below_limit {
            self.db.execute(sql::ADD_PLACEMENT, params![day.number(), app.number(), placement])?;
        }
        Ok(known || below_limit)
    }
}
