//! What the counters counted, handed on to the publishers' ledgers, exactly once whatever fails (`design.md` section 5,
//! "Counting").
//!
//! A batch is written down, under the next number of its publisher, in the transaction that takes its sums out of
//! `traffic`, and stays until the ledger has confirmed it; no other of that publisher is begun before. So it can be sent
//! again after any failure: a ledger applies a number once. This is the book; the shell does the sending.

use super::sql;
use crate::{
    catalog::PublisherId,
    origin::{
        command::CallError,
        database::{Database, DatabaseError, Row},
        ledger,
    },
    params,
    time::{MINUTE_MS, SECOND_MS},
};

/// How long traffic waits for more of it, in milliseconds.
pub const COALESCE_MS: i64 = 2 * SECOND_MS;
/// How long a batch waits after its first failure, and how far doubling that goes, in milliseconds.
pub const FIRST_WAIT_MS: i64 = 5 * SECOND_MS;
pub const LONGEST_WAIT_MS: i64 = 5 * MINUTE_MS;
/// Sums in a batch: of at most 300 bytes each, 300 KB where a value may have 2 MB.
pub const SUMS: i64 = 1_000;
/// Batches that one alarm prepares, and that it sends: at six connections, and with ledgers that never answer for 10 s
/// each, 80 s of the 15 minutes that an alarm may take.
pub const BATCHES: usize = 48;
/// Rows of traffic after which an alarm begins no further batch: some 50 ms of an object's time, in which it answers
/// nobody.
const ROWS: i64 = 10_000;

/// What one ledger is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub publisher: String,
    pub sequence: u64,
    /// How often it failed so far.
    pub attempts: u32,
    /// A JSON list of `OfferSum`.
    pub sums: String,
}

impl Batch {
    /// The ledger's name, and the command for it. `source` is the name of the counters object: a ledger tells batches
    /// apart by it and by their numbers.
    ///
    /// # Errors
    /// What in the batch this code cannot read. It concerns no other batch.
    pub fn to_ledger(&self, source: &str) -> Result<(PublisherId, ledger::Command), String> {
        let publisher = PublisherId::parse(&self.publisher)
            .ok_or_else(|| format!("{:?} is no publisher's id", self.publisher))?;
        let sums = serde_json::from_str(&self.sums).map_err(|error| error.to_string())?;
        let command = ledger::Command::AddOffers {
            source: source.to_owned(),
            sequence: self.sequence,
            sums,
        };
        Ok((publisher, command))
    }
}

/// Begins batches of traffic that waits, of the publishers that have none on its way, the longest unserved first.
/// Returns whether it left some that could be sent at once.
///
/// # Errors
/// What the database says; what was begun until then stands, and the rest can be begun again.
pub fn prepare(db: &impl Database, now_ms: i64) -> Result<bool, DatabaseError> {
    let limit = i64::try_from(BATCHES + 1).unwrap_or(i64::MAX);
    let (mut rows, mut more) = (0, false);
    for (batches, publisher) in db.query(sql::WAITING, params![limit])?.iter().enumerate() {
        if batches == BATCHES || rows >= ROWS {
            return Ok(true);
        }
        let taken = open_batch(db, publisher.text(0)?, now_ms)?;
        rows += taken;
        more |= taken == SUMS;
    }
    Ok(more)
}

/// Returns how many rows it took.
fn open_batch(db: &impl Database, publisher: &str, now_ms: i64) -> Result<i64, DatabaseError> {
    db.transaction(|| {
        let opened = db.query_first(sql::OPEN_BATCH, params![publisher, now_ms, SUMS])?;
        let rows = opened.map_or(Ok(0), |row| row.integer(0))?;
        db.execute(sql::DELETE_TRAFFIC, params![publisher, rows])?;
        Ok(rows)
    })
}

/// The batches that are due, at most [`BATCHES`], the longest due first.
///
/// # Errors
/// What the database says.
pub fn outstanding(db: &impl Database, now_ms: i64) -> Result<Vec<Batch>, DatabaseError> {
    let limit = i64::try_from(BATCHES).unwrap_or(i64::MAX);
    let batch = |row: &Row| {
        Ok(Batch {
            publisher: row.text(0)?.to_owned(),
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

/// The ledger has this batch: whether it applied it now or before makes no difference. Another one is left alone.
///
/// # Errors
/// What the database says; the batch may then be sent again.
pub fn acknowledge(db: &impl Database, batch: &Batch) -> Result<(), DatabaseError> {
    let sequence = integer(batch.sequence)?;
    db.execute(sql::CLOSE_BATCH, params![batch.publisher.as_str(), sequence])
}

/// The ledger may not have this batch, which is sent again after a wait that doubles with each failure. Another one is
/// left alone.
///
/// # Errors
/// What the database says.
pub fn failed(db: &impl Database, batch: &Batch, now_ms: i64) -> Result<(), DatabaseError> {
    put_off(db, batch, now_ms, wait_ms(batch.attempts))
}

/// The ledger will not have this batch, or it cannot be read. Nothing that was counted is thrown away: newer code may
/// do better, so it is tried again, at the longest wait.
///
/// # Errors
/// What the database says.
pub fn refused(db: &impl Database, batch: &Batch, now_ms: i64) -> Result<(), DatabaseError> {
    put_off(db, batch, now_ms, LONGEST_WAIT_MS)
}

/// Whether a ledger that answered so will answer so again; a 503 passes.
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
        params![batch.publisher.as_str(), sequence, attempts, due_ms],
    )
}

/// How long a batch waits that had failed `attempts` times before it failed now.
fn wait_ms(attempts: u32) -> i64 {
    2_i64
        .saturating_pow(attempts)
        .saturating_mul(FIRST_WAIT_MS)
        .min(LONGEST_WAIT_MS)
}

/// When forwarding has to go on; never if nothing waits.
///
/// # Errors
/// What the database says.
pub fn due_ms(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let earliest = db.query_first(sql::EARLIEST_DUE, &[])?;
    let earliest = earliest.map_or(Ok(None), |row| row.optional_integer(0))?;
    Ok([earliest, traffic_due_ms(db, now_ms)?]
        .into_iter()
        .flatten()
        .min())
}

/// When the next batch has to be begun; never if no traffic waits for one.
///
/// # Errors
/// What the database says.
pub fn traffic_due_ms(db: &impl Database, now_ms: i64) -> Result<Option<i64>, DatabaseError> {
    let waits = db.query_first(sql::IS_ANY_WAITING, &[])?;
    let waits = waits.map_or(Ok(false), |row| row.boolean(0))?;
    Ok(waits.then(|| now_ms.saturating_add(COALESCE_MS)))
}

fn number<T: TryFrom<i64>>(column: i64) -> Result<T, DatabaseError> {
    T::try_from(column).map_err(|_| DatabaseError(format!("{column} is not a count")))
}

fn integer(sequence: u64) -> Result<i64, DatabaseError> {
    i64::try_from(sequence).map_err(|_| DatabaseError(format!("{sequence} is no sequence number")))
}
