//! Facts on their way in. A body may be larger than an isolate's memory has room for, and a transaction cannot wait for
//! the next bytes of one: so facts are built into segments as they arrive, staged under the upload's number, and made to
//! count in one transaction at the end. What is staged counts for nobody, and does not outlive the object's process.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::Xxh3;

use super::{
    freshness,
    segments::{self, Layer},
    sql,
};
use domain::{
    model::{api_error::ApiError, time::UtcDay},
    reporting::{
        Measure,
        facts::{Fact, INVALID_FACTS},
        metric::MAX_OF_A_DAY,
        segment::Segmenter,
    },
};
use platform::{
    database::{Database, DatabaseError, json},
    failure::Failure,
    params,
};

/// What facts may take in memory over all uploads of an object before one of them has to stage its own, in bytes.
pub const BUFFERED: usize = 12 << 20;
/// What a fact takes besides its texts, generously; and what a day takes before it has one.
const FACT: usize = 96;
const DAY: usize = 2 << 10;

pub const IDEMPOTENCY_KEY_REUSED: ApiError = ApiError::new(
    409,
    "idempotency_key_reused",
    "this Idempotency-Key was spent on other facts",
);

/// An upload that is being received.
pub struct Upload {
    /// Above 0; no other upload in progress has it.
    number: i64,
    days: BTreeMap<UtcDay, Segmenter>,
    /// In bytes.
    buffered: usize,
    names: BTreeMap<String, String>,
    digest: Xxh3,
}

/// What became of a batch of increments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// As received, the first time.
    pub rows: u64,
    /// It had been applied before, and counts once.
    pub duplicate: bool,
}

impl Upload {
    pub fn new(number: i64) -> Self {
        Self {
            number,
            days: BTreeMap::new(),
            buffered: 0,
            names: BTreeMap::new(),
            digest: Xxh3::new(),
        }
    }

    /// The bytes, unpacked, for telling a repeat from another batch under the same key.
    pub fn note(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
    }

    /// Takes a fact in. Cannot fail: where it says it may, it suits a [`Reader`](domain::reporting::facts::Reader).
    pub fn add(&mut self, fact: &Fact<'_>) -> Result<(), DatabaseError> {
        let day = self.days.entry(fact.day).or_insert_with(|| {
            self.buffered += DAY;
            Segmenter::default()
        });
        day.add(&fact.key, &fact.sums);
        self.buffered += FACT + fact.key.iter().map(|value| value.len()).sum::<usize>();
        let [app, ..] = fact.key;
        if let Some(name) = fact.app_name
            && self.names.get(app).is_none_or(|known| known != name)
        {
            self.names.insert(app.to_owned(), name.to_owned());
        }
        Ok(())
    }

    /// Stages what is in memory if that is more than `most` bytes.
    pub fn stage_above(&mut self, db: &impl Database, most: usize) -> Result<(), DatabaseError> {
        if self.buffered > most {
            self.stage(db)
        } else {
            Ok(())
        }
    }

    fn stage(&mut self, db: &impl Database) -> Result<(), DatabaseError> {
        self.buffered = 0;
        for (day, segmenter) in std::mem::take(&mut self.days) {
            for segment in segmenter.finish() {
                segments::insert(db, self.number, day, Layer::Loaded, &segment)?;
            }
        }
        let names: Vec<_> = std::mem::take(&mut self.names).into_iter().collect();
        // 3,000 names of at most 128 bytes each stay below what SQLite takes as one value.
        for names in names.chunks(3_000) {
            db.execute(sql::STAGE_NAMES, params![self.number, json(&names)?])?;
        }
        Ok(())
    }

    /// Has the facts take the place of all that the facts interface brought for their day, in one step.
    pub fn replace(mut self, db: &impl Database, now_ms: i64, day: UtcDay) -> Result<(), DatabaseError> {
        self.stage(db)?;
        db.transaction(|| {
            segments::delete_day(db, day, Layer::Loaded)?;
            self.activate(db, now_ms, &[day])
        })
    }

    /// Adds the facts to what there is, once for a key.
    ///
    /// # Errors
    /// [`IDEMPOTENCY_KEY_REUSED`], [`INVALID_FACTS`] where a day would pass what it may have, or what the database says.
    pub fn apply(mut self, db: &impl Database, now_ms: i64, key: &str, rows: u64) -> Result<Added, Failure> {
        self.stage(db)?;
        let digest = self.digest.digest128().to_le_bytes();
        db.transaction(|| {
            if let Some(spent) = db.query_first(sql::GET_BATCH, params![key])? {
                if spent.blob(0)? != digest {
                    return Err(IDEMPOTENCY_KEY_REUSED.into());
                }
                let rows = u64::try_from(spent.integer(1)?).unwrap_or(0);
                return Ok(Added {
                    rows,
                    duplicate: true,
                });
            }
            if let Some(problem) = overflow(db, self.number)? {
                return Err(INVALID_FACTS.with_message(problem).into());
            }
            let count = i64::try_from(rows).unwrap_or(i64::MAX);
            db.execute(sql::SPEND_KEY, params![key, digest.to_vec(), count, now_ms])?;
            let days = db.query(sql::LIST_STAGED_DAYS, params![self.number])?;
            let days = days
                .iter()
                .map(|row| segments::day(row.integer(0)?))
                .collect::<Result<Vec<_>, _>>()?;
            self.activate(db, now_ms, &days)?;
            Ok(Added {
                rows,
                duplicate: false,
            })
        })
    }

    fn activate(&self, db: &impl Database, now_ms: i64, days: &[UtcDay]) -> Result<(), DatabaseError> {
        db.execute(sql::ACTIVATE, params![self.number])?;
        db.execute(sql::KEEP_STAGED_NAMES, params![self.number])?;
        freshness::loaded(db, now_ms, days)?;
        segments::mark_crowded(db, days, Layer::Loaded)
    }
}

/// Forgets what an upload staged and did not make count; nothing if all of it counts.
pub fn discard(db: &impl Database, number: i64) -> Result<(), DatabaseError> {
    for row in db.query(sql::LIST_STAGED, params![number])? {
        let day = segments::day(row.integer(0)?)?;
        segments::delete(db, number, day, Layer::Loaded, row.integer(2)?)?;
    }
    db.execute(sql::DISCARD_NAMES, params![number])
}

/// Forgets what uploads of an earlier process staged.
pub fn discard_all(db: &impl Database) -> Result<(), DatabaseError> {
    for row in db.query(sql::LIST_ALL_STAGED, &[])? {
        discard(db, row.integer(0)?)?;
    }
    db.execute(sql::DISCARD_ALL_NAMES, &[])
}

/// Where an upload would bring a day over what it may have of a measure.
fn overflow(db: &impl Database, number: i64) -> Result<Option<String>, DatabaseError> {
    let found = db.query_first(
        sql::FIND_OVERFLOW,
        params![Layer::Loaded.number(), number, MAX_OF_A_DAY],
    )?;
    let Some(row) = found else {
        return Ok(None);
    };
    let day = segments::day(row.integer(0)?)?;
    let over = Measure::ALL
        .into_iter()
        .zip(1..)
        .find(|(_, column)| row.boolean(*column) == Ok(true));
    let measure = over.map_or("a measure", |(measure, _)| measure.name());
    Ok(Some(format!(
        "{day}: with these facts {measure} would pass 2^53, which no day has"
    )))
}
