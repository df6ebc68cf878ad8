//! Numbered batches, by which one object hands sums to others, exactly once whatever fails (docs/DECISIONS.md, "Clicks"): the
//! counters their clicks, an outbox its revenue.
//!
//! A batch is written down, under the next number of its destination, in the transaction that takes its sums out of
//! `traffic`, and stays until its receiver has confirmed it; no other batch to that destination is opened before. So it
//! can be sent again after any failure: a receiver applies a number once. The [`sender`] does the sending; its caller
//! decides where a destination is.

pub mod sender;
pub mod sql;

use serde::de::DeserializeOwned;

use contract::{counters::AddConversions, ledger::AddOffers, operation::CallError};
use domain::model::{
    AppId, Country, OfferId,
    time::{MINUTE_MS, SECOND_MS, UtcDay},
};
use platform::{
    database::{Database, DatabaseError, Row},
    params,
};

/// How long traffic waits for more of it, in milliseconds.
pub const COALESCE_MS: i64 = 2 * SECOND_MS;
/// How long a batch waits after its first failure, and how far doubling that goes, in milliseconds.
pub const FIRST_WAIT_MS: i64 = 5 * SECOND_MS;
pub const LONGEST_WAIT_MS: i64 = 5 * MINUTE_MS;
/// Sums in a batch: of at most 300 bytes each, 300 KB where a value may have 2 MB.
pub const SUMS: i64 = 1_000;
/// Batches that one alarm prepares, and that it sends: at six connections, and with receivers that never answer for 10 s
/// each, 80 s of the 15 minutes that an alarm may take.
pub const BATCHES: usize = 48;
/// Rows of traffic after which an alarm begins no further batch: some 50 ms of an object's time, in which it answers
/// nobody.
const ROWS: i64 = 10_000;

/// What is added to what waits for a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchRow {
    pub destination: String,
    pub day: UtcDay,
    pub app: AppId,
    pub offer: OfferId,
    pub country: Option<Country>,
    pub placement: Option<String>,
    /// Never negative, since a ledger reads no such number.
    pub clicks: u32,
    /// Negative for reversals, as is the revenue.
    pub conversions: i64,
    pub revenue_micro_usd: i64,
}

/// What one receiver is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub destination: String,
    pub sequence: u64,
    /// How often it failed so far.
    pub attempts: u32,
    /// A JSON list of objects with all that [`BatchRow`] has but the destination; one that older code wrote has neither
    /// conversions nor revenue.
    pub sums: String,
}

impl Batch {
    /// The sums as their receiver reads them, who ignores what does not concern it.
    ///
    /// # Errors
    /// What in the batch this code cannot read. It concerns no other batch.
    pub fn read<T: DeserializeOwned>(&self) -> Result<Vec<T>, String> {
        serde_json::from_str(&self.sums).map_err(|error| error.to_string())
    }

    /// The operation for the ledger that the batch is for. `source` is the sending object's name: a ledger tells batches
    /// apart by it and by their numbers.
    ///
    /// # Errors
    /// This code cannot read the batch. It concerns no other batch.
    pub fn to_ledger(&self, source: &str) -> Result<AddOffers, String> {
        Ok(AddOffers {
            source: source.to_owned(),
            sequence: self.sequence,
            sums: self.read()?,
        })
    }

    /// The operation for the counters object that the batch is for, by the same rules.
    ///
    /// # Errors
    /// This code cannot read the batch. It concerns no other batch.
    pub fn to_counters(&self, source: &str) -> Result<AddConversions, String> {
        Ok(AddConversions {
            source: source.to_owned(),
            sequence: self.sequence,
            sums: self.read()?,
        })
    }
}

/// Why a receiver does not have a batch, or may not have it. The text is for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryError {
    /// It will not have it, or the batch cannot be read.
    Refused(String),
    /// It may do better the next time.
    Unanswered(String),
}

impl From<CallError> for DeliveryError {
    fn from(error: CallError) -> Self {
        let text = error.to_string();
        if is_refusal(&error) {
            Self::Refused(text)
        } else {
            Self::Unanswered(text)
        }
    }
}

/// Adds to what waits. It belongs in the transaction in which what it tells of is written.
pub fn add(db: &impl Database, row: &BatchRow) -> Result<(), DatabaseError> {
    add_to(db, row, None)
}

/// The same, for a further destination too, which knows neither country nor placement. It is one statement, since each
/// costs a crossing out of Wasm and back.
pub fn add_to(db: &impl Database, row: &BatchRow, further: Option<&str>) -> Result<(), DatabaseError> {
    db.execute(
        sql::ADD,
        params![
            row.destination.as_str(),
            row.day.number(),
            row.app.number(),
            row.offer.as_str(),
            row.country.map_or("", Country::as_str),
            row.placement.as_deref().unwrap_or(""),
            row.clicks,
            row.conversions,
            row.revenue_micro_usd,
            further,
        ],
    )
}

/// Begins batches of traffic that waits, of the destinations that have none on its way, the longest unserved first.
/// Returns whether it left some that could be sent at once.
///
/// # Errors
/// What the database says; what was begun until then stands, and the rest can be begun again.
pub fn prepare(db: &impl Database, now_ms: i64) -> Result<bool, DatabaseError> {
    let limit = i64::try_from(BATCHES + 1).unwrap_or(i64::MAX);
    let (mut rows, mut more) = (0, false);
    for (batches, destination) in db.query(sql::WAITING, params![limit])?.iter().enumerate() {
        if batches == BATCHES || rows >= ROWS {
            return Ok(true);
        }
        let taken = open_batch(db, destination.text(0)?, now_ms)?;
        rows += taken;
        more |= taken == SUMS;
    }
    Ok(more)
}

/// Returns how many rows it took.
fn open_batch(db: &impl Database, destination: &str, now_ms: i64) -> Result<i64, DatabaseError> {
    db.transaction(|| {
        let opened = db.query_first(sql::OPEN_BATCH, params![destination, now_ms, SUMS])?;
        let rows = opened.map_or(Ok(0), |row| row.integer(0))?;
        db.execute(sql::DELETE_TRAFFIC, params![destination, rows])?;
        Ok(rows)
    })
}

/// The batches that are due, at most [`BATCHES`], the longest due first.
pub fn outstanding(db: &impl Database, now_ms: i64) -> Result<Vec<Batch>, DatabaseError> {
    let limit = i64::try_from(BATCHES).unwrap_or(i64::MAX);
    let batch = |row: &Row| {
        Ok(Batch {
            destination: row.text(0)?.to_owned(),
            sequence: number(row.integer(1)?)?,
            attempts: number(row.integer(2)?)?,
            sums: row.text(3)?.to_owned(),
        })
    };
    db.query(sql::OUTSTANDING, params![now_ms, limit])?
        .iter()
        .map(batch)
        .collect()
}

/// The receiver has this batch: whether it applied it now or before makes no difference. Another one is left alone.
///
/// # Errors
/// What the database says; the batch may then be sent again.
pub fn acknowledge(db: &impl Database, batch: &Batch) -> Result<(), DatabaseError> {
    let sequence = integer(batch.sequence)?;
    db.execute(sql::CLOSE_BATCH, params![batch.destination.as_str(), sequence])
}

/// The receiver may not have this batch, which is sent again after a wait that doubles with each failure. Another one is
/// left alone.
pub fn failed(db: &impl Database, batch: &Batch, now_ms: i64) -> Result<(), DatabaseError> {
    put_off(db, batch, now_ms, wait_ms(batch.attempts))
}

/// The receiver will not have this batch, or it cannot be read. Nothing that was counted is thrown away: newer code may
/// do better, so it is tried again, at the longest wait.
pub fn refused(db: &impl Database, batch: &Batch, now_ms: i64) -> Result<(), DatabaseError> {
    put_off(db, batch, now_ms, LONGEST_WAIT_MS)
}

/// Whether a receiver that answered so will answer so again; a 503 passes.
pub fn is_refusal(error: &CallError) -> bool {
    matches!(
        error,
        CallError::Refused {
            status: 400..=499,
            ..
        }
    )
}

fn put_off(db: &impl Database, batch: &Batch, now_ms: i64, wait_ms: i64) -> Result<(), DatabaseError> {
    let sequence = integer(batch.sequence)?;
    let attempts = batch.attempts.saturating_add(1);
    let due_ms = now_ms.saturating_add(wait_ms);
    db.execute(
        sql::PUT_BATCH_OFF,
        params![batch.destination.as_str(), sequence, attempts, due_ms],
    )
}

/// How long a batch waits that had failed `attempts` times before it failed now, in milliseconds.
pub fn wait_ms(attempts: u32) -> i64 {
    2_i64
        .saturating_pow(attempts)
        .saturating_mul(FIRST_WAIT_MS)
        .min(LONGEST_WAIT_MS)
}

/// When forwarding has to go on; never if nothing waits.
pub fn due_ms(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let earliest = db.query_first(sql::EARLIEST_DUE, &[])?;
    let earliest = earliest.map_or(Ok(None), |row| row.optional_integer(0))?;
    Ok([earliest, traffic_due_ms(db, now_ms)?]
        .into_iter()
        .flatten()
        .min())
}

/// When the next batch has to be begun; never if no traffic waits for one.
pub fn traffic_due_ms(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let waits = db.query_first(sql::IS_ANY_WAITING, &[])?;
    let waits = waits.map_or(Ok(false), |row| row.boolean(0))?;
    Ok(waits.then(|| now_ms.saturating_add(COALESCE_MS)))
}

/// The receiver's end: the sequence of a sender's batch as tables have it, and none if the batch is a repeat. A sender has
/// one batch in flight to a receiver and its sequences increase, so whatever is not above the highest that was applied
/// is one. `mark` is the receiver's statement that reads the highest by the sender's name.
pub fn unless_applied(
    db: &impl Database,
    mark: &str,
    sender: &str,
    sequence: u64,
) -> Result<Option<i64>, DatabaseError> {
    let sequence = integer(sequence)?;
    let highest = db
        .query_first(mark, params![sender])?
        .map(|row| row.integer(0))
        .transpose()?;
    Ok(highest
        .is_none_or(|highest| sequence > highest)
        .then_some(sequence))
}

fn number<T: TryFrom<i64>>(column: i64) -> Result<T, DatabaseError> {
    T::try_from(column).map_err(|_| DatabaseError(format!("{column} is not a count")))
}

fn integer(sequence: u64) -> Result<i64, DatabaseError> {
    i64::try_from(sequence).map_err(|_| DatabaseError(format!("{sequence} is no sequence number")))
}
