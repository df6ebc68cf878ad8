//! `POST …/days/{date}/restate`: makes the clicks and the revenue of a day equal to the sums that the sources report.
//! Differences are written as an additional segment, in which clicks may be negative. Damaged segments are replaced. Sums
//! that a source no longer has stay as they are.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};

use super::{
    day_changes::Watch,
    final_days, freshness,
    offers::{self, country_of, is_always_reported, placement_of, row_key},
    segments::{self, Layer},
    sql,
};
use contract::{
    ledger::{ChangeCause, DaySums, Restate},
    operation::OperatorReply,
    outbox::OutboxShard,
};
use domain::{
    conversions::log_number::first_number,
    model::{ApiError, DAY_MS, MicroUsd, UtcDay},
    reporting::{
        Measure,
        metric::{Sums, get},
        placements::{MAX_PLACEMENTS, OTHER_PLACEMENT},
        segment::Segmenter,
    },
};
use platform::{Database, DbResult, Result, params};

/// Maximum rows of a day in the reports of all sources, and in the ledger. Each of the two takes about 20 MB.
const MAX_ROWS: usize = 100_000;

const DAY_NOT_OVER: ApiError = ApiError::new(409, "day_not_over", "the day is not over (UTC)");
const DAY_TOO_LARGE: ApiError = ApiError::new(
    409,
    "day_too_large",
    "the day has more than 100,000 combinations of app, country, placement and offer",
);
const DAY_NOT_KEPT: ApiError = ApiError::new(
    409,
    "day_not_kept",
    "a segment of the day is damaged, and a source no longer has the day to replace it: restore the ledger",
);

/// A row's app, country, placement and offer.
type RowKey = [String; 4];
/// The measures of a row that sources report.
const MEASURES: [Measure; 2] = [Measure::Clicks, Measure::Revenue];
/// Clicks, and revenue in micro-USD.
type Amounts = [i64; 2];

/// The reports of a day's sources.
#[derive(Default)]
pub struct ReportedDay {
    sources: BTreeMap<String, SourceReport>,
}

/// A source's report of a day.
#[derive(Default)]
pub struct SourceReport {
    /// The log number up to which the report includes the source's sums.
    through: i64,
    rows: BTreeMap<RowKey, Amounts>,
    /// True if the source no longer has all sums of the day.
    is_lost: bool,
}

/// A source that must be asked for its sums up to the ledger's mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub source: String,
    pub through: i64,
}

impl SourceReport {
    pub fn new(question: &Question) -> Self {
        Self { through: question.through, ..Self::default() }
    }

    /// Adds the sums of one step of the source's answer.
    ///
    /// # Errors
    /// The report has too many rows.
    pub fn add(&mut self, part: &DaySums) -> Result<(), ApiError> {
        self.is_lost |= !part.is_kept;
        for sum in &part.sums {
            let app = sum.app.to_string();
            let row = [&app, country_of(sum), placement_of(sum), sum.offer.as_str()].map(str::to_owned);
            let clicks = i64::try_from(sum.clicks).unwrap_or(i64::MAX);
            add(self.rows.entry(row).or_default(), [clicks, sum.revenue_micro_usd]);
        }
        check_rows(self.rows.len())
    }

    fn sums(&self) -> Amounts {
        let mut sums = Amounts::default();
        for amounts in self.rows.values() {
            add(&mut sums, *amounts);
        }
        sums
    }
}

fn check_rows(rows: usize) -> Result<(), ApiError> {
    if rows > MAX_ROWS { Err(DAY_TOO_LARGE) } else { Ok(()) }
}

/// Refuses a day that is not over.
pub fn check(now_ms: i64, day: UtcDay) -> Result<(), ApiError> {
    if day < UtcDay::of_ms(now_ms) { Ok(()) } else { Err(DAY_NOT_OVER) }
}

impl ReportedDay {
    /// Returns the sources that must be asked. A source is asked if it has sums of the day or has sent a batch since
    /// the previous day. It is asked again if the ledger has applied further sums of the day since the source's report.
    pub fn missing(&self, db: &impl Database, day: UtcDay) -> DbResult<Vec<Question>> {
        let first = first_number(day.start_ms().saturating_sub(DAY_MS));
        let mut missing = Vec::new();
        for row in db.query(sql::LIST_SOURCES, params![day.number(), first])? {
            let (source, through, changed) = (row.text(0)?.to_owned(), row.integer(1)?, row.integer(2)?);
            let reported = self.sources.get(&source);
            if reported.is_none_or(|reported| reported.through < changed) {
                missing.push(Question { source, through });
            }
        }
        Ok(missing)
    }

    /// Stores a source's report in place of an earlier report.
    ///
    /// # Errors
    /// The reports have too many rows.
    pub fn put(&mut self, source: String, report: SourceReport) -> Result<(), ApiError> {
        self.sources.insert(source, report);
        check_rows(self.sources.values().map(|report| report.rows.len()).sum())
    }

    /// Returns the sources that no longer have the whole day.
    fn not_kept(&self) -> Vec<&str> {
        let lost = self.sources.iter().filter(|(_, report)| report.is_lost);
        lost.map(|(source, _)| source.as_str()).collect()
    }

    /// Returns the rows that the day must have. At most 200 placements of an app are reported separately; placements
    /// that the day already has take precedence.
    fn wanted<'a>(&'a self, stored: &'a BTreeMap<RowKey, Amounts>) -> BTreeMap<RowKey, Amounts> {
        let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for [app, _, placement, _] in stored.keys() {
            if !is_always_reported(placement) {
                known.entry(app).or_default().insert(placement);
            }
        }
        let mut wanted: BTreeMap<RowKey, Amounts> = BTreeMap::new();
        let rows = self.sources.values().flat_map(|report| &report.rows);
        for ([app, country, placement, offer], amounts) in rows {
            let of_app = known.entry(app).or_default();
            let mut reported = placement.as_str();
            if !is_always_reported(placement) && !of_app.contains(reported) {
                if of_app.len() < MAX_PLACEMENTS {
                    of_app.insert(placement);
                } else {
                    reported = OTHER_PLACEMENT;
                }
            }
            let row = [app, country, reported, offer].map(String::from);
            add(wanted.entry(row).or_default(), *amounts);
        }
        wanted
    }
}

/// The outcome of a restatement or of its dry run.
pub struct Restatement {
    pub reply: OperatorReply,
    /// The sources that were asked.
    pub sources: Vec<String>,
}

/// Writes the differences, unless it is a dry run. The caller must call this in the same turn of the event loop in
/// which it found no source missing, so that no batch comes in between.
///
/// # Errors
/// A damaged segment cannot be replaced, or the database failed.
pub fn apply(
    db: &impl Database,
    now_ms: i64,
    Restate { day, is_dry_run }: Restate,
    reported: &ReportedDay,
) -> Result<Restatement> {
    let mut stored: BTreeMap<RowKey, Amounts> = BTreeMap::new();
    let damaged = segments::each_intact_row(db, day, Layer::Offers, |key, sums| {
        let [app, country, placement, offer, _, _] = *key;
        let amounts = MEASURES.map(|measure| get(sums, measure));
        let row = [app, country, placement, offer].map(str::to_owned);
        // One row above the maximum is stored, so that the check below refuses the day.
        if stored.len() <= MAX_ROWS || stored.contains_key(&row) {
            add(stored.entry(row).or_default(), amounts);
        }
    })?;
    check_rows(stored.len())?;
    let not_kept = reported.not_kept();
    if !damaged.is_empty() && !not_kept.is_empty() && !is_dry_run {
        return Err(DAY_NOT_KEPT.into());
    }
    let outboxes: Vec<_> = not_kept.iter().filter_map(|name| OutboxShard::of_object(name)).collect();
    let keeps_clicks = outboxes.len() == not_kept.len();
    let apps: BTreeSet<String> = outboxes.iter().map(|outbox| outbox.app.to_string()).collect();

    let wanted = reported.wanted(&stored);
    let rows: BTreeSet<&RowKey> = stored.keys().chain(wanted.keys()).collect();
    let mut segmenter = Segmenter::default();
    let mut changes: BTreeMap<&str, Change> = BTreeMap::new();
    let mut total = Change::default();
    for row in rows {
        let of = |rows: &BTreeMap<RowKey, Amounts>| rows.get(row).copied().unwrap_or_default();
        let [app, country, placement, offer] = row;
        let (before, mut after) = (of(&stored), of(&wanted));
        if !keeps_clicks {
            after[0] = before[0];
        }
        if apps.contains(app) {
            after[1] = before[1];
        }
        total.add(before, after);
        if before == after {
            continue;
        }
        changes.entry(app).or_default().add(before, after);
        let mut sums = Sums::default();
        for ((measure, before), after) in MEASURES.into_iter().zip(before).zip(after) {
            if let Some(sum) = sums.get_mut(measure.index()) {
                *sum = after.saturating_sub(before);
            }
        }
        segmenter.add(&row_key([app, country, placement, offer]), &sums);
    }
    let mut differing = Vec::new();
    for (source, report) in reported.sources.iter().filter(|(_, report)| !report.is_lost) {
        let sums = report.sums();
        if offers::differs(db, source, day, sums)? {
            differing.push((source.as_str(), report.through, sums));
        }
    }
    if !is_dry_run {
        db.transaction(|| {
            let watch = Watch::begin(db, &[day])?;
            for id in &damaged {
                segments::delete(db, segments::ACTIVE, day, Layer::Offers, *id)?;
            }
            for segment in segmenter.finish() {
                segments::insert(db, segments::ACTIVE, day, Layer::Offers, &segment)?;
            }
            for (source, through, [clicks, revenue]) in &differing {
                db.execute(sql::SET_TOTAL, params![*source, day.number(), *clicks, *revenue, *through])?;
            }
            if !changes.is_empty() || !damaged.is_empty() {
                freshness::changed(db, now_ms, &[day])?;
                final_days::reopen(db, now_ms, day)?;
                watch.end(db, now_ms, ChangeCause::Restated)?;
            }
            segments::mark_crowded(db, &[day], Layer::Offers)?;
            final_days::changed(db, now_ms)
        })?;
    }
    let apps = changes.iter().map(|(app, change)| {
        let mut listed = change.to_json();
        listed.insert("app_id".into(), (*app).into());
        Json::from(listed)
    });
    let mut body = total.to_json();
    body.insert("date".into(), day.to_string().into());
    body.insert("dry_run".into(), is_dry_run.into());
    body.insert("apps".into(), apps.collect());
    body.insert("damaged_segments".into(), damaged.len().into());
    body.insert("not_kept".into(), json!(not_kept));
    Ok(Restatement { reply: OperatorReply::ok(&body.into()), sources: reported.sources.keys().cloned().collect() })
}

fn add(to: &mut Amounts, more: Amounts) {
    for (to, more) in to.iter_mut().zip(more) {
        *to = to.saturating_add(more);
    }
}

/// Clicks and revenue before and after the restatement.
#[derive(Default)]
struct Change {
    before: Amounts,
    after: Amounts,
}

impl Change {
    fn add(&mut self, before: Amounts, after: Amounts) {
        add(&mut self.before, before);
        add(&mut self.after, after);
    }

    fn to_json(&self) -> Map<String, Json> {
        let amounts = |[clicks, revenue]: Amounts| json!({ "clicks": clicks, "revenue": MicroUsd(revenue) });
        let mut json = Map::new();
        json.insert("before".into(), amounts(self.before));
        json.insert("after".into(), amounts(self.after));
        json
    }
}
