//! The log of clicks, from which the [batches] to the ledgers are made. New clicks are rows. After five minutes, rows
//! are folded. Folds stay for 31 days. A fold adds up the clicks that the publishers' ledgers have received. Clicks
//! that a ledger lacks keep their log numbers.

use std::collections::BTreeMap;

use super::{STATS_DAYS, daily::NewSums, sql};
use crate::delivery::batches::{self, Amounts, Log, LogPage, Movement, SumKey, positions::Positions};
use contract::{counters::SumDay, ledger::DaySums};
use domain::{
    conversions::log_number::first_number,
    model::{AppId, Country, MINUTE_MS, OfferId, PublisherId, UtcDay},
    reporting::{
        Measure,
        metric::{Sums, get},
        segment::{self, EncodedSegment, Image, Segmenter},
    },
};
use platform::{Database, DatabaseError, DbResult, Row, database::json, params};

/// The age at which rows are folded, in milliseconds.
pub const FOLD_MS: i64 = 5 * MINUTE_MS;
/// How long folded clicks stay, in days.
pub const KEPT_DAYS: i32 = STATS_DAYS + 1;
/// How far an isolate's clock may be ahead of the object's, in milliseconds.
pub const CLOCKS_DIFFER_MS: i64 = 5 * MINUTE_MS;
/// Maximum rows and folds of a page. Reading a page takes about 50 ms, during which the object answers no request.
const ROWS: i64 = 200;
const FOLDS: i64 = 4;
/// Maximum folds of a page when a publisher's day is read: a day has 288 folds, and only some of them have clicks of
/// the publisher.
const FOLDS_OF_A_DAY: i64 = 12;
/// Maximum rows that one step folds.
const FOLDED_ROWS: i64 = 2_000;
/// Maximum sums in one fold, so that its value stays below SQLite's 2 MB.
const SUMS: usize = 4_000;

/// A sum of clicks in the log.
pub struct LoggedSum {
    /// The first and the last number of the clicks in the log.
    pub first: i64,
    pub last: i64,
    pub publisher: String,
    pub key: SumKey,
    pub clicks: i64,
}

/// A sum in a row, as JSON: publisher, day, app, offer, country, placement, clicks.
type StoredSum = ((String, i64, u32, String, String, String), i64);
/// Sums that the publishers' ledgers lacked when the rows were folded, as JSON. Each sum has its log number.
type LateSums = Vec<(i64, StoredSum)>;

/// The log, or only one publisher's clicks of one day.
pub struct ClickLog<'a, D>(pub &'a D, pub Option<(UtcDay, &'a str)>);

impl<D: Database> Log for ClickLog<'_, D> {
    fn read(&self, after: i64, each: &mut dyn FnMut(Movement<'_>)) -> DbResult<LogPage> {
        page(self.0, after, self.1.unzip(), &mut |sum| {
            each(Movement {
                first: sum.first,
                number: sum.last,
                destination: &sum.publisher,
                key: &sum.key,
                amounts: Amounts { clicks: sum.clicks, ..Amounts::default() },
            });
        })
    }

    fn last(&self) -> DbResult<i64> {
        last(self.0)
    }

    fn has(&self, number: i64) -> DbResult<bool> {
        self.0.query_boolean(sql::HAS_NUMBER, params![number])
    }
}

/// Returns the last number of the log; 0 if the log is empty.
pub fn last(db: &impl Database) -> DbResult<i64> {
    Ok(db.query_integer(sql::LAST_NUMBER, &[])?.unwrap_or(0))
}

/// Calls `each` with all clicks after a number. If a day is given, folds of other days are skipped.
pub fn each(db: &impl Database, after: i64, day: Option<UtcDay>, each: &mut dyn FnMut(LoggedSum)) -> DbResult {
    let mut after = after;
    loop {
        let page = page(db, after, (day, None), each)?;
        if page.is_last {
            return Ok(());
        }
        after = page.end;
    }
}

/// Reads a page. Folds come before rows, both in the order of their numbers.
fn page(
    db: &impl Database,
    after: i64,
    (day, publisher): (Option<UtcDay>, Option<&str>),
    each: &mut dyn FnMut(LoggedSum),
) -> DbResult<LogPage> {
    let most = if day.is_some() { FOLDS_OF_A_DAY } else { FOLDS };
    let folds = db.query(sql::FOLDS_AFTER, params![after, most, day.map(UtcDay::number)])?;
    if let Some(fold) = folds.last() {
        let end = fold.integer(0)?;
        for of_number in folds.chunk_by(|one, next| one.integer(0) == next.integer(0)) {
            let mut late = vec![];
            for fold in of_number {
                read_fold(fold, publisher, each, &mut late)?;
            }
            // The late sums of one number may be in folds of several days, so they are sorted.
            late.sort_unstable_by_key(|sum| sum.last);
            late.into_iter().for_each(&mut *each);
        }
        return Ok(LogPage { end, is_last: false });
    }
    let rows = db.query(sql::ROWS_AFTER, params![after, ROWS])?;
    for row in &rows {
        let number = row.integer(0)?;
        for sum in row.json::<Vec<StoredSum>>(1)? {
            each(logged(number, sum)?);
        }
    }
    let is_last = i64::try_from(rows.len()).is_ok_and(|rows| rows < ROWS);
    Ok(LogPage { end: rows.last().map_or(Ok(after), |row| row.integer(0))?, is_last })
}

fn logged(number: i64, (key, clicks): StoredSum) -> DbResult<LoggedSum> {
    let (publisher, day, app, offer, country, placement) = key;
    let key = sum_key(UtcDay::from_number(day), app, &offer, &country, &placement);
    Ok(LoggedSum {
        first: number,
        last: number,
        publisher,
        key: key.ok_or_else(|| DatabaseError(format!("entry {number} is damaged")))?,
        clicks,
    })
}

fn sum_key(day: Option<UtcDay>, app: u32, offer: &str, country: &str, placement: &str) -> Option<SumKey> {
    Some(SumKey {
        day: day?,
        app: AppId::from_number(app)?,
        offer: OfferId::parse(offer)?,
        country: Country::parse(country),
        placement: (!placement.is_empty()).then(|| placement.to_owned()),
    })
}

/// A publisher, and the first and the last log number of its clicks in a fold.
type Span = (String, i64, i64);

/// Reads a fold: its last number, day, rows, spans and image. A fold with 0 rows has late sums, which are added to
/// `late`.
fn read_fold(
    fold: &Row,
    publisher: Option<&str>,
    each: &mut dyn FnMut(LoggedSum),
    late: &mut Vec<LoggedSum>,
) -> DbResult {
    let last = fold.integer(0)?;
    if fold.integer(2)? == 0 {
        for (number, sum) in fold.json::<LateSums>(3)? {
            let sum = logged(number, sum)?;
            late.extend(publisher.is_none_or(|publisher| publisher == sum.publisher).then_some(sum));
        }
        return Ok(());
    }
    let damaged = |cause: &str| DatabaseError(format!("the fold up to {last} is damaged: {cause}"));
    let day = UtcDay::from_number(fold.integer(1)?);
    let spans: Vec<Span> = fold.json(3)?;
    let spans: BTreeMap<&str, (i64, i64)> =
        spans.iter().map(|(publisher, first, last)| (publisher.as_str(), (*first, *last))).collect();
    if publisher.is_some_and(|publisher| !spans.contains_key(publisher)) {
        return Ok(());
    }
    let image = Image(fold.blob(4)?);
    let mut outcome = Ok(());
    segment::each_row(
        |column| image.column(column),
        fold.number(2)?,
        |key, sums| {
            let [app, country, placement, offer, publisher, _] = *key;
            let app = app.parse().unwrap_or(0);
            match (spans.get(publisher), sum_key(day, app, offer, country, placement)) {
                (Some((first, last)), Some(key)) => each(LoggedSum {
                    first: *first,
                    last: *last,
                    publisher: publisher.to_owned(),
                    key,
                    clicks: get(sums, Measure::Clicks),
                }),
                _ => outcome = Err(damaged("a row is damaged")),
            }
        },
    )
    .map_err(|error| damaged(&error.to_string()))?;
    outcome
}

/// Adds the clicks of new rows to the offers' figures. The figures store the number of the last row that they include.
pub fn count(db: &impl Database) -> DbResult {
    loop {
        let counted = db.query_integer(sql::GET_COUNTED, &[])?.unwrap_or(0);
        let rows = db.query(sql::ROWS_AFTER, params![counted, ROWS])?;
        let Some(last) = rows.last() else {
            return Ok(());
        };
        let mut sums = NewSums::default();
        for row in &rows {
            for ((_, day, app, offer, _, _), clicks) in row.json::<Vec<StoredSum>>(1)? {
                sums.add((day, offer), Some(app), [clicks, 0, 0]);
            }
        }
        db.transaction(|| {
            sums.write(db)?;
            db.execute(sql::SET_COUNTED, params![last.integer(0)?])
        })?;
    }
}

/// Reads the next part of a publisher's clicks on a day.
pub fn sums_of_day(db: &impl Database, now_ms: i64, sum: &SumDay) -> DbResult<DaySums> {
    let before = first_number(sum.day.start_ms().saturating_sub(CLOCKS_DIFFER_MS));
    let publisher = sum.publisher.as_str();
    let log = ClickLog(db, Some((sum.day, publisher)));
    let bounds = (sum.after, sum.through);
    let sums = batches::sums_of_day(&log, publisher, sum.day, before, bounds)?;
    Ok(DaySums {
        // The sweep may already have deleted folds of the oldest day.
        is_kept: sum.day > UtcDay::of_ms(now_ms).minus(KEPT_DAYS),
        ..sums
    })
}

/// Returns when rows must be folded next; none if there are no rows.
pub fn fold_due_ms(db: &impl Database) -> DbResult<Option<i64>> {
    let first = db.query_integer(sql::FIRST_ROW, &[])?;
    Ok(first.map(|number| number.div_euclid(first_number(1)).saturating_add(FOLD_MS)))
}

/// Folds the rows that were in a batch, and moves the isolates' marks to the table `marks`.
///
/// # Errors
/// The database failed, and no row was folded.
pub fn fold(db: &impl Database, now_ms: i64, positions: &Positions) -> DbResult {
    count(db)?;
    // Sums that a ledger lacks are not added up, so a fold that may have such sums must be as short as a page.
    let is_any_behind = positions.due_ms().is_some();
    let most = if is_any_behind { ROWS } else { FOLDED_ROWS };
    let rows = db.query(sql::ROWS_UP_TO, params![positions.seen, most])?;
    let Some(last) = rows.last() else {
        return Ok(());
    };
    let last = last.integer(0)?;
    let mut isolates: BTreeMap<String, u64> = BTreeMap::new();
    let mut spans: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    let mut days: BTreeMap<UtcDay, Fold> = BTreeMap::new();
    let mut late: BTreeMap<i64, LateSums> = BTreeMap::new();
    for row in &rows {
        let number = row.integer(0)?;
        for sum in row.json::<Vec<StoredSum>>(1)? {
            let ((publisher, day, ..), _) = &sum;
            // The ledger's mark may later be between the numbers of these rows, so this sum keeps its number.
            if number > positions.seen_by(publisher) {
                late.entry(*day).or_default().push((number, sum));
                continue;
            }
            let sum = logged(number, sum)?;
            days.entry(sum.key.day).or_default().add(&sum);
            spans.entry(sum.publisher).or_insert((number, number)).1 = number;
        }
        isolates.extend(row.json::<Vec<(String, u64)>>(2)?);
    }
    let spans: Vec<Span> = spans.into_iter().map(|(name, (first, last))| (name, first, last)).collect();
    let (spans, today) = (json(&spans)?, UtcDay::of_ms(now_ms).number());
    db.transaction(|| {
        for (day, fold) in days {
            for segment in fold.segments() {
                db.execute(sql::ADD_FOLD, params![last, day.number(), segment.rows, spans.as_str(), segment.image()])?;
            }
        }
        for (day, sums) in late {
            for sums in sums.chunks(SUMS) {
                db.execute(sql::ADD_FOLD, params![last, day, 0_i64, json(&sums)?, vec![]])?;
            }
        }
        for (isolate, sequence) in isolates {
            db.execute(sql::SET_MARK, params![isolate.as_str(), sequence, today])?;
            db.execute(sql::SET_MARKS_DAY, params![isolate, today])?;
        }
        db.execute(sql::DELETE_ROWS, params![last])
    })
}

/// The clicks of a day that are being folded.
#[derive(Default)]
struct Fold {
    full: Vec<EncodedSegment>,
    segmenter: Segmenter,
    sums: usize,
}

impl Fold {
    fn add(&mut self, sum: &LoggedSum) {
        if self.sums == SUMS {
            self.full.extend(std::mem::take(&mut self.segmenter).finish());
            self.sums = 0;
        }
        self.sums += 1;
        let mut sums = Sums::default();
        if let Some(clicks) = sums.get_mut(Measure::Clicks.index()) {
            *clicks = sum.clicks;
        }
        let app = sum.key.app.number().to_string();
        let key = [
            app.as_str(),
            sum.key.country.map_or("", Country::as_str),
            sum.key.placement.as_deref().unwrap_or(""),
            sum.key.offer.as_str(),
            sum.publisher.as_str(),
            "",
        ];
        self.segmenter.add(&key, &sums);
    }

    fn segments(mut self) -> Vec<EncodedSegment> {
        self.full.extend(self.segmenter.finish());
        self.full
    }
}

/// Returns the publisher whose ledger receives a batch.
///
/// # Errors
/// The destination is not a publisher id. Other batches are not affected.
pub fn publisher(destination: &str) -> Result<PublisherId, String> {
    PublisherId::parse(destination).ok_or_else(|| format!("{destination:?} is not a publisher id"))
}
