//! Receives an upload of facts. A body may exceed an isolate's memory, and a transaction cannot wait for more bytes. So
//! facts are built into segments as they arrive, staged under the upload's number, and activated in one transaction at
//! the end. Reports do not read staged segments. If the process ends, the object's next process deletes them.

use std::{collections::BTreeMap, convert::Infallible};

use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::Xxh3;

use super::{
    day_changes::{Difference, Watch, shown},
    final_days, freshness,
    lasting::Lasting,
    segments::{self, Layer},
    sql,
};
use crate::delivery::{attention_feed, register};
use contract::{
    attention::Kind,
    ledger::{ChangeCause, Target},
};
use domain::{
    model::{ApiError, UtcDay},
    reporting::{
        Measure,
        facts::{Fact, INVALID_FACTS},
        metric::MAX_OF_A_DAY,
        segment::Segmenter,
    },
};
use platform::{Database, DatabaseError, DbResult, Result, database::json as as_json, params};

/// Maximum memory for the facts of all uploads of an object, in bytes. An upload that exceeds its share stages its
/// facts.
pub const BUFFERED: usize = 12 << 20;
/// Upper estimates of the memory of a fact without its texts, and of an empty day, in bytes.
const FACT_BYTES: usize = 96;
const DAY_BYTES: usize = 2 << 10;
/// Maximum days in an entry of the register, so that the entry has less than 2 KB.
const REGISTERED_DAYS: usize = 100;

/// Maximum changes that a preview lists, each of one app on one day.
const PREVIEWED: usize = 1_000;

pub const IDEMPOTENCY_KEY_REUSED: ApiError =
    ApiError::new(409, "idempotency_key_reused", "this Idempotency-Key was used for other facts; use a new key");

/// An upload that is being received.
pub struct Upload {
    /// A number above 0, unique among the uploads in progress.
    number: i64,
    days: BTreeMap<UtcDay, Segmenter>,
    /// Memory of the facts that are not staged yet, in bytes.
    buffered: usize,
    names: BTreeMap<String, String>,
    digest: Xxh3,
    /// The first day of the facts that were added.
    pub first_day: Option<UtcDay>,
    /// The operator's member who uploads.
    by: Option<String>,
}

/// The error that ends a preview's transaction, so that nothing is stored.
enum Previewed {
    Differences(Vec<Difference>),
    Failed(DatabaseError),
}

impl From<DatabaseError> for Previewed {
    fn from(error: DatabaseError) -> Self {
        Self::Failed(error)
    }
}

impl Upload {
    pub fn new(number: i64) -> Self {
        Self {
            number,
            days: BTreeMap::new(),
            buffered: 0,
            names: BTreeMap::new(),
            digest: Xxh3::new(),
            first_day: None,
            by: None,
        }
    }

    /// Sets the operator's member who uploads.
    pub fn by(self, by: Option<String>) -> Self {
        Self { by, ..self }
    }

    /// Adds decompressed bytes to the digest, which distinguishes a retry from other facts under the same key.
    pub fn note(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
    }

    /// Adds a fact. It never fails, but a [`Reader`](domain::reporting::facts::Reader) expects a `Result`.
    pub fn add(&mut self, fact: &Fact<'_>) -> DbResult {
        let day = self.days.entry(fact.day).or_insert_with(|| {
            self.buffered += DAY_BYTES;
            self.first_day = self.first_day.into_iter().chain([fact.day]).min();
            Segmenter::default()
        });
        day.add(&fact.key, &fact.sums);
        self.buffered += FACT_BYTES + fact.key.iter().map(|value| value.len()).sum::<usize>();
        let [app, ..] = fact.key;
        if let Some(name) = fact.app_name
            && self.names.get(app).is_none_or(|known| known != name)
        {
            self.names.insert(app.to_owned(), name.to_owned());
        }
        Ok(())
    }

    /// Stages the facts that are in memory, if they take more than `limit` bytes.
    pub fn stage_above(&mut self, db: &impl Database, limit: usize) -> DbResult {
        if self.buffered > limit { self.stage(db) } else { Ok(()) }
    }

    fn stage(&mut self, db: &impl Database) -> DbResult {
        self.buffered = 0;
        for (day, segmenter) in std::mem::take(&mut self.days) {
            for segment in segmenter.finish() {
                segments::insert(db, self.number, day, Layer::Loaded, &segment)?;
            }
        }
        let names: Vec<_> = std::mem::take(&mut self.names).into_iter().collect();
        // 3,000 names of at most 128 bytes each stay below the 2 MB of a SQLite value.
        for names in names.chunks(3_000) {
            db.execute(sql::STAGE_NAMES, params![self.number, as_json(&names)?])?;
        }
        Ok(())
    }

    /// Replaces the day's loaded layer with these facts, in one transaction.
    pub fn replace(mut self, db: &impl Database, now_ms: i64, day: UtcDay) -> DbResult {
        self.stage(db)?;
        db.transaction(|| {
            let watch = Watch::begin(db, &[day])?;
            segments::delete_day(db, day, Layer::Loaded)?;
            self.activate(db, now_ms, &[day])?;
            watch.end(db, now_ms, ChangeCause::FactsReplaced).map(drop)
        })
    }

    /// Adds the facts to the loaded layer, once for each idempotency key. Returns the number of rows in the first upload
    /// with this key, and whether that upload was an earlier one.
    ///
    /// # Errors
    /// [`IDEMPOTENCY_KEY_REUSED`] for other facts under the key; [`INVALID_FACTS`] if a day would exceed its limits.
    pub fn apply(mut self, db: &impl Database, now_ms: i64, key: &str, rows: u64) -> Result<Value> {
        self.stage(db)?;
        let digest = self.digest.digest128().to_le_bytes();
        db.transaction(|| {
            if let Some(rows) = self.spent(db, key)? {
                return Ok(json!({ "rows": rows, "duplicate": true }));
            }
            self.check_overflow(db)?;
            db.execute(sql::SPEND_KEY, params![key, digest.to_vec(), rows, now_ms])?;
            let days = self.staged_days(db)?;
            let watch = Watch::begin(db, &days)?;
            self.activate(db, now_ms, &days)?;
            watch.end(db, now_ms, ChangeCause::FactsAdded)?;
            Ok(json!({ "rows": rows, "duplicate": false }))
        })
    }

    /// Returns the first 1,000 changes that these facts would make, each of one app on one day. Nothing is changed.
    ///
    /// # Errors
    /// The errors of [`Self::apply`].
    pub fn preview(mut self, db: &impl Database, target: &Target, rows: u64) -> Result<Value> {
        self.stage(db)?;
        let mut body = Map::from_iter([("rows".to_owned(), rows.into()), ("dry_run".into(), true.into())]);
        let differences = match target {
            Target::Day(day) => self.differences(db, &[*day], true)?,
            Target::Batch(key) => {
                let is_duplicate = self.spent(db, key)?.is_some();
                body.insert("duplicate".into(), is_duplicate.into());
                if is_duplicate {
                    Vec::new()
                } else {
                    self.check_overflow(db)?;
                    self.differences(db, &self.staged_days(db)?, false)?
                }
            }
        };
        body.insert("changed".into(), differences.len().into());
        let listed = differences.iter().take(PREVIEWED).map(|difference| {
            let [before, after] = difference.sums.each_ref().map(shown);
            json!({ "date": difference.day.to_string(), "app_id": difference.app, "before": before, "after": after })
        });
        body.insert("changes".into(), listed.collect());
        Ok(body.into())
    }

    /// Returns how these days would differ if the staged facts replaced the loaded ones or were added to them.
    fn differences(&self, db: &impl Database, days: &[UtcDay], replaces: bool) -> DbResult<Vec<Difference>> {
        let previewed: Result<Infallible, _> = db.transaction(|| {
            let watch = Watch::of_all(db, days)?;
            if replaces {
                days.iter().try_for_each(|day| segments::delete_day(db, *day, Layer::Loaded))?;
            }
            db.execute(sql::ACTIVATE, params![self.number])?;
            // The error rolls back the transaction.
            Err(Previewed::Differences(watch.differences(db)?))
        });
        match previewed {
            Ok(never) => match never {},
            Err(Previewed::Differences(differences)) => Ok(differences),
            Err(Previewed::Failed(error)) => Err(error),
        }
    }

    /// Returns the number of rows in the upload that used a key; none if the key is new.
    fn spent(&self, db: &impl Database, key: &str) -> Result<Option<u64>> {
        let Some(applied) = db.query_first(sql::GET_BATCH, params![key])? else {
            return Ok(None);
        };
        if applied.blob(0)? != self.digest.digest128().to_le_bytes() {
            return Err(IDEMPOTENCY_KEY_REUSED.into());
        }
        Ok(Some(u64::try_from(applied.integer(1)?).unwrap_or(0)))
    }

    fn check_overflow(&self, db: &impl Database) -> Result {
        match overflow(db, self.number)? {
            Some(problem) => Err(INVALID_FACTS.with_message(problem).into()),
            None => Ok(()),
        }
    }

    fn staged_days(&self, db: &impl Database) -> DbResult<Vec<UtcDay>> {
        db.read_all(sql::LIST_STAGED_DAYS, params![self.number], |row| segments::day(row.integer(0)?))
    }

    fn activate(&self, db: &impl Database, now_ms: i64, days: &[UtcDay]) -> DbResult {
        db.execute(sql::ACTIVATE, params![self.number])?;
        db.execute(sql::KEEP_STAGED_NAMES, params![self.number])?;
        freshness::loaded(db, now_ms, days)?;
        for day in days {
            db.execute(sql::NOTE_LOAD, params![day.number(), now_ms, self.by.as_deref()])?;
            attention_feed::end_item(db, Kind::FactsLate, &day.to_string())?;
        }
        for days in days.chunks(REGISTERED_DAYS) {
            register::add(db, now_ms, &Lasting::Loaded(days.to_vec()))?;
        }
        final_days::changed(db, now_ms)?;
        segments::mark_crowded(db, days, Layer::Loaded)
    }
}

/// Deletes the facts that an upload staged and did not activate.
pub fn discard(db: &impl Database, number: i64) -> DbResult {
    for row in db.query(sql::LIST_STAGED, params![number])? {
        let day = segments::day(row.integer(0)?)?;
        segments::delete(db, number, day, Layer::Loaded, row.integer(2)?)?;
    }
    db.execute(sql::DISCARD_NAMES, params![number])
}

/// Deletes the facts that uploads of an earlier process staged.
pub fn discard_all(db: &impl Database) -> DbResult {
    for row in db.query(sql::LIST_ALL_STAGED, &[])? {
        discard(db, row.integer(0)?)?;
    }
    db.execute(sql::DISCARD_ALL_NAMES, &[])
}

/// Returns the problem if an upload would exceed a day's limit of a measure.
fn overflow(db: &impl Database, number: i64) -> DbResult<Option<String>> {
    let found = db.query_first(sql::FIND_OVERFLOW, params![Layer::Loaded.number(), number, MAX_OF_A_DAY])?;
    let Some(row) = found else {
        return Ok(None);
    };
    let day = segments::day(row.integer(0)?)?;
    let over = Measure::ALL.into_iter().zip(1..).find(|(_, column)| row.boolean(*column) == Ok(true));
    let measure = over.map_or("a measure", |(measure, _)| measure.as_str());
    Ok(Some(format!("{day}: with these facts {measure} would exceed 2^53")))
}
