//! The journal: another outbox of the app, the witness, keeps a copy of an outbox's writes for 31 days. A restored
//! outbox reads its lost writes from the witness, and writes them again under the same numbers.
//!
//! A batch of the journal is one row. It is sent to the witness in the same way as sums are sent to the ledger. After a
//! refill, a callback that was not delivered when its batch was made is resent, as after any lost answer. Users'
//! identifiers are deleted from the journal after three days, or when the user is erased. A refilled callback without
//! its user's identifiers becomes a dead letter.

pub mod sql;

use std::{cell::Cell, time::Duration};

use serde_json::{Map, Value as Json};

use super::sql::{HAS_NUMBER, LAST_NUMBER, RESTART_NIGHT};
use crate::delivery::{
    batches::{self, Batch, DeliveryError},
    register,
};
use crate::objects::outbox::{endpoint, erasure};
use contract::{
    attention::Doubt,
    operation::Mark,
    outbox::{AddJournal, Journal, JournalBatch, OutboxShard, ReadJournal},
};
use domain::{
    conversions::log_number::first_number,
    model::{DAY_MS, SECOND_MS, common},
};
use platform::{Clock, Database, DatabaseError, DbResult, Failure, ObjectCall, Result, Row, log, params};

/// The destination of the journal's batches.
pub const TO_WITNESS: &str = "witness";
/// The destination whose stored mark is the number at which a refill ends. A batch may have an entry that was paid long
/// after its creation, so the log's numbers do not show how far the refill has come.
const REFILL: &str = "refill";

/// Maximum numbers of the log in a batch. A number takes at most 8 KB, so a batch takes at most 1.6 MB. A row may have
/// 2 MB.
const NUMBERS: i64 = 200;
const KEPT_MS: i64 = 31 * DAY_MS;
const USERS_KEPT_MS: i64 = 3 * DAY_MS;

const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout of each call to the witness, for which the first command of a process waits.
const READ_TIMEOUT: Duration = Duration::from_secs(1);
const REFILL_MS: i64 = SECOND_MS;

/// Returns the outbox that keeps the journal of `of`: the next outbox of the app. If the app has only one outbox, the
/// witness is a second outbox that keeps nothing else.
pub fn witness(of: OutboxShard, outboxes: u8) -> OutboxShard {
    OutboxShard { number: of.number.saturating_add(1).checked_rem(outboxes.max(2)).unwrap_or(0), ..of }
}

/// Sends the first part of a batch. The next part begins at the witness's mark. Sets `is_lost` if the witness has a
/// number that the log lacks. Then the outbox was restored, and must be [refilled](refill) first.
pub async fn send(
    db: &impl Database,
    runtime: &impl ObjectCall,
    (own, outboxes): (OutboxShard, u8),
    batch: &Batch,
    is_lost: &Cell<bool>,
) -> Result<Mark, DeliveryError> {
    let failed = |error: DatabaseError| DeliveryError::Unanswered(error.to_string());
    let journal = AddJournal {
        source: own.object_name(),
        after: batch.after,
        batch: written(db, batch.after, batch.number).map_err(failed)?,
    };
    let witness = witness(own, outboxes).address();
    let Mark { mark } = runtime.call(&witness, journal, SEND_TIMEOUT).await?;
    if goes_beyond(db, batch.after, mark).map_err(failed)? {
        is_lost.set(true);
        return Err(DeliveryError::Unanswered("the outbox was restored".into()));
    }
    Ok(Mark { mark })
}

/// Returns what was written after the number `after`, up to `through` or to the last number for which a batch has room.
fn written(db: &impl Database, after: i64, through: i64) -> DbResult<JournalBatch> {
    let number = db.query_integer(sql::END_OF_BATCH, params![after, through, NUMBERS])?;
    let number = number.unwrap_or(through);
    let row = db.query_first(sql::BATCH, params![after, number])?.unwrap_or(Row(vec![]));
    let txns = db.query_first(sql::CLAIMS, params![after, number])?.unwrap_or(Row(vec![]));
    Ok(JournalBatch {
        number,
        salt: row.text(0)?.to_owned(),
        entries: row.text(1)?.to_owned(),
        users: Some(row.text(2)?.to_owned()),
        txns: txns.text(0)?.to_owned(),
    })
}

/// Asks the witness whether it has all writes of this outbox.
///
/// # Errors
/// The database failed, or the witness does not answer.
pub async fn is_complete(db: &impl Database, runtime: &impl ObjectCall, own: OutboxShard) -> Result<bool> {
    let outboxes = endpoint::read(db)?.and_then(|state| state.current);
    let outboxes = outboxes.map_or(likely_count(own), |app| app.outbox_shards);
    let last = db.query_integer(LAST_NUMBER, &[])?.unwrap_or(0);
    let question = ReadJournal { source: own.object_name(), after: last };
    let witness = witness(own, outboxes).address();
    let answer = runtime.call(&witness, question, SEND_TIMEOUT).await;
    Ok(last <= answer.map_err(|_| common::UNAVAILABLE)?.mark)
}

/// Adds a batch to the journal that this outbox keeps for another. If the batch says that a user was erased, the earlier
/// batches forget the user, too. Usually they did when the user was erased, but this outbox may have been restored since.
pub fn add(db: &impl Database, journal: &AddJournal) -> DbResult<Mark> {
    let mark = mark(db, &journal.source)?;
    let batch = &journal.batch;
    if mark != journal.after || batch.number <= mark {
        return Ok(Mark { mark });
    }
    db.execute(
        sql::ADD,
        params![
            batch.number,
            journal.source.as_str(),
            batch.salt.as_str(),
            batch.users.as_deref(),
            batch.txns.as_str(),
            batch.entries.as_str()
        ],
    )?;
    let erased = params![journal.source.as_str(), batch.entries.as_str()];
    db.execute(sql::FORGET_ERASED, erased)?;
    Ok(Mark { mark: batch.number })
}

/// Reads a batch of the journal that this outbox keeps for another.
pub fn read(db: &impl Database, read: &ReadJournal) -> DbResult<Journal> {
    let row = db.query_first(sql::NEXT, params![read.source.as_str(), read.after])?;
    let batch = |row: Row| {
        Ok(JournalBatch {
            number: row.integer(0)?,
            salt: row.text(1)?.to_owned(),
            users: row.optional_text(2)?.map(str::to_owned),
            txns: row.text(3)?.to_owned(),
            entries: row.text(4)?.to_owned(),
        })
    };
    Ok(Journal { mark: mark(db, &read.source)?, next: row.map(batch).transpose()? })
}

fn mark(db: &impl Database, source: &str) -> DbResult<i64> {
    Ok(db.query_integer(sql::GET_MARK, params![source])?.unwrap_or(0))
}

/// Forgets the users of batches after three days, and deletes batches and claims after 31 days.
pub fn sweep(db: &impl Database, now_ms: i64, rows_from_ms: i64) -> DbResult {
    for (sql, kept_ms) in [(sql::FORGET_USERS, USERS_KEPT_MS), (sql::SWEEP, KEPT_MS)] {
        db.execute(sql, params![first_number(now_ms.saturating_sub(kept_ms))])?;
    }
    let before = first_number(now_ms.saturating_sub(KEPT_MS)).min(batches::settled_through(db)?);
    // Changes of entries stay as long as the log, because rewards are read in the order of their changes.
    db.execute(sql::SWEEP_CHANGES, params![before, first_number(rows_from_ms)])
}

/// Writes again what the outbox has lost, if its journal goes beyond its log. Returns false if the witness does not
/// answer; an outbox that was not restored can continue without the answer.
///
/// # Errors
/// `unavailable` if more is lost than can be read in a second, or if the witness stops answering. The next call
/// continues.
pub async fn refill(
    db: &impl Database,
    runtime: &(impl Clock + ObjectCall),
    own: OutboxShard,
    outboxes: Option<u8>,
) -> Result<bool> {
    let source = own.object_name();
    let witness = witness(own, outboxes.unwrap_or(likely_count(own))).address();
    let ask = async |after| {
        let question = ReadJournal { source: source.clone(), after };
        runtime.call(&witness, question, READ_TIMEOUT).await
    };
    let last = db.query_integer(LAST_NUMBER, &[])?.unwrap_or(0);
    let mut journal = match ask(last).await {
        Ok(journal) => journal,
        Err(error) => {
            log::warn(
                "journal",
                format_args!("a call to the witness of {source} failed, so the outbox waits: {error}"),
            );
            return Ok(false);
        }
    };
    let (mark, now_ms) = (journal.mark, runtime.now_ms());
    // `heard` was restored with the log, so it is the last mark that the outbox knew when the restored copy was made.
    // If an earlier refill was interrupted, `heard` is the last number of that refill.
    let heard = batches::mark_of(db, TO_WITNESS)?;
    let is_open = batches::mark_of(db, REFILL)? > heard;
    if !is_open && !goes_beyond(db, heard, mark)? {
        return Ok(true);
    }
    log::error("journal", format_args!("{source} was restored, and lost its log entries after {heard} up to {mark}"));
    // The refill continues even if the operator cannot be told.
    let mut doubts = vec![Doubt::new(source.as_str(), "outbox_restored")];
    if last > mark {
        doubts.push(Doubt::new(format!("{source}: new rewards"), "paid_unknowing"));
    }
    drop(register::tell(runtime, &source, None, doubts).await);
    let until_ms = runtime.now_ms().saturating_add(REFILL_MS);
    batches::learn_mark(db, now_ms, REFILL, Mark { mark })?;
    db.transaction(|| endpoint::forget_current(db))?;
    if heard < last {
        journal = ask(heard).await.map_err(|_| common::UNAVAILABLE)?;
    }
    while let Some(batch) = journal.next {
        let number = batch.number;
        put_back(db, now_ms, (own, outboxes), heard, batch)?;
        batches::learn_mark(db, now_ms, TO_WITNESS, Mark { mark: number })?;
        if number >= mark {
            break;
        }
        if runtime.now_ms() > until_ms {
            return Err(common::UNAVAILABLE.into());
        }
        journal = ask(number).await.map_err(|_| common::UNAVAILABLE)?;
    }
    Ok(true)
}

/// True if a journal that ends at `mark` goes beyond the log, whose last known mark is `heard`.
fn goes_beyond(db: &impl Database, heard: i64, mark: i64) -> DbResult<bool> {
    Ok(mark > heard && !db.query_boolean(HAS_NUMBER, params![mark])?)
}

/// Guesses the app's number of outboxes, for an outbox that was restored to an empty copy and does not get the number
/// from its caller. All numbers give the same witness, except for the last outbox of eight.
fn likely_count(own: OutboxShard) -> u8 {
    if own.number == 7 { 8 } else { 64 }
}

/// Writes again the part of a batch after the number `lost_after`.
fn put_back(
    db: &impl Database,
    now_ms: i64,
    (own, outboxes): (OutboxShard, Option<u8>),
    lost_after: i64,
    batch: JournalBatch,
) -> Result {
    let entries = identified(&batch).map_err(|error| {
        Failure::Internal(format!("the journal batch up to {} cannot be read: {error}", batch.number))
    })?;
    let salt = params![own.app.number(), own.number, outboxes.map(u32::from), batch.salt, now_ms];
    db.transaction(|| {
        db.execute(sql::PUT_OUTBOX, salt)?;
        erasure::erase_again(db, &batch.txns)?;
        for row in db.query(sql::ERASED_USERS, params![entries.as_str()])? {
            erasure::erase_here(db, row.text(0)?)?;
        }
        db.execute(sql::PUT_ENTRIES, params![entries.as_str(), lost_after, now_ms])?;
        for sql in [sql::BLANK_ATTEMPTS, sql::BLANK_FIRSTS] {
            db.execute(sql, params![entries.as_str()])?;
        }
        db.execute(sql::END_RESERVATIONS, params![entries.as_str()])?;
        db.execute(sql::PUT_CONVERSIONS, params![entries.as_str(), lost_after])?;
        db.execute(sql::PUT_CLAIMS, params![batch.txns])?;
        db.execute(sql::PUT_CHANGES, params![entries.as_str(), lost_after])?;
        // The day that is being added up may now have more payments.
        db.execute(RESTART_NIGHT, &[])?;
        Ok(())
    })
}

/// Returns the entries of a batch as JSON, each with its user's identifiers.
fn identified(batch: &JournalBatch) -> Result<String, String> {
    let read = |text: &str| serde_json::from_str::<Vec<Option<Map<String, Json>>>>(text);
    let failed = |error: serde_json::Error| error.to_string();
    let mut entries = read(&batch.entries).map_err(failed)?;
    let users = batch.users.as_deref().map_or(Ok(Vec::new()), read).map_err(failed)?;
    for (entry, user) in entries.iter_mut().flatten().zip(users) {
        entry.extend(user.unwrap_or_default());
    }
    serde_json::to_string(&entries).map_err(failed)
}
