//! Numbered batches: one object sends sums to others exactly once, whatever fails (docs/DECISIONS.md, "Clicks").
//! Counters send clicks, and outboxes send revenue and conversions.
//!
//! The transaction that takes sums out of `traffic` stores them as a batch under the next number of their destination.
//! A destination has one batch at a time, which stays until its receiver confirms it. It can be sent again after any
//! failure, because a receiver applies each number once. The caller of [`sender`] maps destinations to objects.

pub mod sender;
pub mod sql;

use serde::de::DeserializeOwned;

use super::backoff::{MAX_WAIT_MS, is_refusal, wait_ms};
use contract::{counters::AddConversions, ledger::AddOffers, operation::CallError};
use domain::model::{AppId, Country, OfferId, time::UtcDay};
use platform::{
    database::{Database, DatabaseError, Row},
    params,
};

/// Sums in a batch: at most 300 bytes each make 300 KB, and a SQLite value may have 2 MB.
pub const SUMS: i64 = 1_000;
/// Batches that one alarm opens and sends at most. If no receiver answers, their timeouts, 10 s each on six
/// connections, add up to 80 s of the 15 minutes that an alarm may run.
pub const BATCHES: usize = 48;
/// Rows of traffic after which an alarm opens no further batch: about 50 ms, in which the object answers no request.
const ROWS: i64 = 10_000;

/// Sums to be added to a destination's waiting traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchRow {
    pub destination: String,
    pub day: UtcDay,
    pub app: AppId,
    pub offer: OfferId,
    pub country: Option<Country>,
    pub placement: Option<String>,
    /// Unsigned, because a ledger refuses negative clicks.
    pub clicks: u32,
    /// Negative for reversals, as is the revenue.
    pub conversions: i64,
    pub revenue_micro_usd: i64,
}

/// A batch of sums for one receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub destination: String,
    pub sequence: u64,
    /// Failed attempts so far.
    pub attempts: u32,
    /// A JSON list of objects with the members of [`BatchRow`] except the destination. A batch of older code has
    /// neither conversions nor revenue.
    pub sums: String,
}

impl Batch {
    /// Parses the sums as a receiver's type, which ignores unknown members.
    ///
    /// # Errors
    /// This code cannot parse the batch. Other batches are not affected.
    pub fn read<T: DeserializeOwned>(&self) -> Result<Vec<T>, String> {
        serde_json::from_str(&self.sums).map_err(|error| error.to_string())
    }

    /// The operation for the batch's ledger. It deduplicates by `source`, the sending object's name, and the number.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn to_ledger(&self, source: &str) -> Result<AddOffers, String> {
        Ok(AddOffers {
            source: source.to_owned(),
            sequence: self.sequence,
            sums: self.read()?,
        })
    }

    /// The operation for the batch's counters object, likewise.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn to_counters(&self, source: &str) -> Result<AddConversions, String> {
        Ok(AddConversions {
            source: source.to_owned(),
            sequence: self.sequence,
            sums: self.read()?,
        })
    }
}

/// The reason that a batch was not confirmed. The text is for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryError {
    /// The receiver refused the batch, or this code cannot parse it.
    Refused(String),
    /// The receiver did not answer, or its error is temporary; a retry may succeed.
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

/// Adds to the waiting traffic, within the transaction that writes the rows that it sums up.
pub fn add(db: &impl Database, row: &BatchRow) -> Result<(), DatabaseError> {
    add_to(db, row, None)
}

/// The same, also for a further destination, without country and placement. It is one statement, because each statement
/// costs a call out of Wasm and back.
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

/// Opens batches for waiting traffic of destinations without an open batch, the longest unserved first. Returns whether
/// more could be opened at once. After an error, the batches opened so far stay, and the call may be repeated.
pub fn prepare(db: &impl Database, now_ms: i64) -> Result<bool, DatabaseError> {
    let (mut rows, mut more) = (0, false);
    for (batches, destination) in db.query(sql::WAITING, params![BATCHES + 1])?.iter().enumerate() {
        if batches == BATCHES || rows >= ROWS {
            return Ok(true);
        }
        let rows_taken = open_batch(db, destination.text(0)?, now_ms)?;
        rows += rows_taken;
        more |= rows_taken == SUMS;
    }
    Ok(more)
}

/// Opens one batch. Returns the number of rows that it took.
fn open_batch(db: &impl Database, destination: &str, now_ms: i64) -> Result<i64, DatabaseError> {
    db.transaction(|| {
        let rows = db.query_integer(sql::OPEN_BATCH, params![destination, now_ms, SUMS])?;
        let rows = rows.unwrap_or(0);
        db.execute(sql::DELETE_TRAFFIC, params![destination, rows])?;
        Ok(rows)
    })
}

/// The due batches, at most [`BATCHES`], the longest due first.
pub fn outstanding(db: &impl Database, now_ms: i64) -> Result<Vec<Batch>, DatabaseError> {
    let batch = |row: &Row| {
        Ok(Batch {
            destination: row.text(0)?.to_owned(),
            sequence: row.number(1)?,
            attempts: row.number(2)?,
            sums: row.text(3)?.to_owned(),
        })
    };
    db.query(sql::OUTSTANDING, params![now_ms, BATCHES])?
        .iter()
        .map(batch)
        .collect()
}

/// Closes exactly this batch, which the receiver has applied now or before. After an error it may be sent again.
pub fn acknowledge(db: &impl Database, batch: &Batch) -> Result<(), DatabaseError> {
    db.execute(
        sql::CLOSE_BATCH,
        params![batch.destination.as_str(), batch.sequence],
    )
}

/// Schedules exactly this batch for a retry, with a backoff that doubles with each failure: it was not answered.
pub fn failed(db: &impl Database, batch: &Batch, now_ms: i64) -> Result<(), DatabaseError> {
    put_off(db, batch, now_ms, wait_ms(batch.attempts))
}

/// Schedules exactly this batch for a retry after the longest backoff: it was refused, or cannot be parsed. Its sums
/// are kept, because newer code may send or accept them.
pub fn refused(db: &impl Database, batch: &Batch, now_ms: i64) -> Result<(), DatabaseError> {
    put_off(db, batch, now_ms, MAX_WAIT_MS)
}

fn put_off(db: &impl Database, batch: &Batch, now_ms: i64, wait_ms: i64) -> Result<(), DatabaseError> {
    let attempts = batch.attempts.saturating_add(1);
    let due_ms = now_ms.saturating_add(wait_ms);
    db.execute(
        sql::PUT_BATCH_OFF,
        params![batch.destination.as_str(), batch.sequence, attempts, due_ms],
    )
}

/// When the next batch is due to be opened, which is at `opens_ms`, or to be sent; never if nothing waits.
pub fn due_ms(db: &impl Database, opens_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let earliest = db.query_integer(sql::EARLIEST_DUE, &[])?;
    Ok([earliest, traffic_due_ms(db, opens_ms)?]
        .into_iter()
        .flatten()
        .min())
}

/// `opens_ms` if traffic waits for a batch.
pub fn traffic_due_ms(db: &impl Database, opens_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let waits = db.query_boolean(sql::IS_ANY_WAITING, &[])?;
    Ok(waits.then_some(opens_ms))
}

/// For receivers: whether a sender's batch was applied before. A sender has one batch in flight to a receiver and
/// numbers increase, so a number not above the last applied one is a repeat. `mark` is the receiver's statement that
/// reads the last applied number by the sender's name.
pub fn was_applied(
    db: &impl Database,
    mark: &str,
    sender: &str,
    sequence: u64,
) -> Result<bool, DatabaseError> {
    let highest = db.query_integer(mark, params![sender])?;
    Ok(highest.is_some_and(|highest| u64::try_from(highest).is_ok_and(|highest| sequence <= highest)))
}
