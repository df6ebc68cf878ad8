//! An object's register: entries of what must stay as it is, also if the object is put back to an earlier copy.
//!
//! An entry is written in the transaction of its change, and the change is answered once the register has the entry, too. The
//! first command of a process reads the register. If it goes further than the object's own entries, the object was put back:
//! the missing entries are applied, and the operator is told what is in doubt. Both sides keep entries for 31 days.

use std::{cell::Cell, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

use contract::{
    attention::{self, Doubt, Restored},
    operation::{Mark, ObjectAddress, Operation},
    register::{AddEntries, ReadRegister, RegisterEntry, RegisterPart, address},
};
use domain::model::{PublisherId, api_error::common, time::DAY_MS};
use platform::{
    database::{Database, DatabaseError, json},
    failure::Failure,
    log, params,
    traits::{Clock, ObjectCall},
};

/// How long a command waits for the register, for each part of it.
const TIMEOUT: Duration = Duration::from_secs(3);
const KEPT_MS: i64 = 31 * DAY_MS;
/// The most entries of a part, and the bytes after which it takes no other: a call may carry more, and a turn should be short.
const PART: u32 = 1_000;
const PART_BYTES: u32 = 1 << 20;

/// The table of an object with a register, and of the register.
pub const TABLES: &[&str] = &[
    "CREATE TABLE register (number INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, entry TEXT NOT NULL) STRICT",
    "CREATE INDEX register_by_time ON register (at_ms)",
];

platform::statements! {
    /// → the number of the last entry
    pub const LAST = "SELECT MAX(number) FROM register";
    /// time, entry
    pub const APPEND = "INSERT INTO register (number, at_ms, entry) SELECT COALESCE(MAX(number), 0) + 1, ?, ? FROM register";
    /// number, time, entry
    pub const PUT = "INSERT OR IGNORE INTO register (number, at_ms, entry) VALUES (?, ?, ?)";
    /// after this number, entries at most, bytes before the last one at most → number, time, entry
    pub const LIST = "SELECT number, at_ms, entry FROM (
          SELECT *, SUM(LENGTH(entry)) OVER (ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
          FROM (SELECT * FROM register WHERE number > ? ORDER BY number LIMIT ?))
        WHERE COALESCE(before, 0) < ?";
    /// before this time. The last entry stays: it tells how far the register goes.
    pub const SWEEP = "DELETE FROM register WHERE at_ms < ? AND number < (SELECT MAX(number) FROM register)";
}

/// How an object that was put back takes its entries.
pub trait Restore {
    type Entry: DeserializeOwned;

    /// Does what being put back asks for in any case, within the caller's transaction.
    fn begin(&self, _db: &impl Database, _now_ms: i64) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// Applies a missing entry that was made at a time, within the caller's transaction. One that is refused is left out.
    fn apply(&self, db: &impl Database, at_ms: i64, entry: Self::Entry) -> Result<(), Failure>;

    /// Whose object it is, and what a person has to look at.
    fn doubts(
        &self,
        db: &impl Database,
        lost: &[Self::Entry],
    ) -> Result<(Option<PublisherId>, Vec<Doubt>), DatabaseError>;
}

/// Adds an entry, within the transaction of its change.
pub fn add(db: &impl Database, now_ms: i64, entry: &impl Serialize) -> Result<(), DatabaseError> {
    sweep(db, now_ms)?;
    db.execute(APPEND, params![now_ms, json(entry)?])
}

fn put(db: &impl Database, entry: &RegisterEntry) -> Result<(), DatabaseError> {
    db.execute(PUT, params![entry.number, entry.at_ms, entry.entry.as_str()])
}

fn last(db: &impl Database) -> Result<i64, DatabaseError> {
    Ok(db.query_integer(LAST, &[])?.unwrap_or(0))
}

fn list(db: &impl Database, after: i64) -> Result<Vec<RegisterEntry>, DatabaseError> {
    db.read_all(LIST, params![after, PART, PART_BYTES], |row| {
        Ok(RegisterEntry {
            number: row.integer(0)?,
            at_ms: row.integer(1)?,
            entry: row.text(2)?.to_owned(),
        })
    })
}

/// For registers: adds entries of the object that this is the register of.
pub fn receive(db: &impl Database, now_ms: i64, add: &AddEntries) -> Result<Mark, DatabaseError> {
    if add.after <= last(db)? {
        sweep(db, now_ms)?;
        db.transaction(|| add.entries.iter().try_for_each(|entry| put(db, entry)))?;
    }
    Ok(Mark { mark: last(db)? })
}

/// For registers: a part of the entries.
pub fn read(db: &impl Database, read: ReadRegister) -> Result<RegisterPart, DatabaseError> {
    Ok(RegisterPart {
        mark: last(db)?,
        entries: list(db, read.after)?,
    })
}

/// Deletes old entries.
fn sweep(db: &impl Database, now_ms: i64) -> Result<(), DatabaseError> {
    db.execute(SWEEP, params![now_ms.saturating_sub(KEPT_MS)])
}

/// How far an object's register is, in one process.
#[derive(Default)]
pub struct Register {
    is_read: Cell<bool>,
    /// The number up to which the register has the entries.
    mark: Cell<i64>,
}

impl Register {
    /// Reads the register, once in a process, and applies what the object has lost.
    ///
    /// # Errors
    /// `unavailable`: the register or `attention` did not answer, and what has ended is not known.
    pub async fn start(
        &self,
        db: &impl Database,
        runtime: &(impl Clock + ObjectCall),
        source: Option<&str>,
        restore: &impl Restore,
    ) -> Result<(), Failure> {
        let Some(source) = source.filter(|_| !self.is_read.get()) else {
            return Ok(());
        };
        loop {
            let after = last(db)?;
            let part = ask(runtime, source, ReadRegister { after }).await?;
            if part.entries.is_empty() {
                self.mark.set(part.mark);
                self.is_read.set(true);
                // A register that was lost gets everything again. If it does not answer, the next change tries it, too.
                drop(self.keep(db, runtime, Some(source)).await);
                return Ok(());
            }
            log::error(
                "register",
                format_args!("{source}: {after} to {} were lost", part.mark),
            );
            put_back(db, runtime, source, restore, part.entries).await?;
        }
    }

    /// Sends the register what it does not have, before a change is answered.
    ///
    /// # Errors
    /// `unavailable`: the change is made and not registered. The next change registers it, too.
    pub async fn keep(
        &self,
        db: &impl Database,
        runtime: &impl ObjectCall,
        source: Option<&str>,
    ) -> Result<(), Failure> {
        let Some(source) = source else { return Ok(()) };
        while self.mark.get() < last(db)? {
            let after = self.mark.get();
            let entries = list(db, after)?;
            let Mark { mark } = ask(runtime, source, AddEntries { after, entries }).await?;
            self.mark.set(mark);
            if mark == after {
                return Err(Failure::Internal(format!("the register of {source} is full")));
            }
        }
        Ok(())
    }
}

/// Applies a part of what was lost.
async fn put_back<R: Restore>(
    db: &impl Database,
    runtime: &(impl Clock + ObjectCall),
    source: &str,
    restore: &R,
    lost: Vec<RegisterEntry>,
) -> Result<(), Failure> {
    let read = lost.iter().map(|lost| serde_json::from_str(&lost.entry));
    let entries: Vec<R::Entry> = read
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::Internal(format!("the register of {source}: {error}")))?;
    let (publisher, doubts) = restore.doubts(db, &entries)?;
    // Before they are applied: afterwards nobody would know what is in doubt.
    tell(runtime, source, publisher, doubts).await?;
    db.transaction(|| {
        let known = last(db)?;
        restore.begin(db, runtime.now_ms())?;
        for (entry, lost) in entries
            .into_iter()
            .zip(lost)
            .filter(|(_, lost)| lost.number > known)
        {
            match restore.apply(db, lost.at_ms, entry) {
                Err(Failure::Refused(error)) => {
                    log::error(
                        "register",
                        format_args!("{source}: {} is left out: {}", lost.number, error.message),
                    );
                }
                applied => applied?,
            }
            put(db, &lost)?;
        }
        Ok(())
    })
}

/// Tells the operator what is in doubt because an object was put back.
///
/// # Errors
/// `unavailable`: nobody was told.
pub async fn tell(
    runtime: &(impl Clock + ObjectCall),
    source: &str,
    publisher: Option<PublisherId>,
    doubts: Vec<Doubt>,
) -> Result<(), Failure> {
    let restored = Restored {
        source: source.to_owned(),
        publisher,
        at_ms: runtime.now_ms(),
        doubts,
    };
    call(runtime, &attention::address(), restored).await.map(drop)
}

/// For receivers of batches: tells the operator that this object was put back if a batch begins after its mark.
///
/// # Errors
/// `unavailable`: the sender sends the batch again, and the operator is told then.
pub async fn tell_if_behind(
    runtime: &(impl Clock + ObjectCall),
    source: Option<&str>,
    publisher: Option<&PublisherId>,
    (after, mark): (i64, i64),
    reason: &str,
) -> Result<(), Failure> {
    let Some(source) = source.filter(|_| mark < after) else {
        return Ok(());
    };
    let doubts = vec![Doubt::new(source, reason)];
    tell(runtime, source, publisher.cloned(), doubts).await
}

async fn ask<O: Operation>(
    runtime: &impl ObjectCall,
    source: &str,
    operation: O,
) -> Result<O::Answer, Failure> {
    call(runtime, &address(source), operation).await
}

async fn call<O: Operation>(
    runtime: &impl ObjectCall,
    to: &ObjectAddress,
    operation: O,
) -> Result<O::Answer, Failure> {
    let answer = runtime.call(to, operation, TIMEOUT).await;
    answer.map_err(|error| {
        log::warn("register", format_args!("{}: {error}", to.name));
        common::UNAVAILABLE.into()
    })
}
