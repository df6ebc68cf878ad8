//! An object's register: entries for the changes that must survive if the object is restored from an earlier copy.
//!
//! The transaction of a change writes its entry, and the call that made the change is answered once the register also
//! has the entry. The first command of a process reads the register. If the register has entries that the object lacks,
//! the object was restored. Then the missing entries are applied, and the operator is told what is in doubt. Both
//! objects keep entries for 31 days, and at most a million entries.

pub mod announced;

use std::{cell::Cell, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

use contract::{
    attention::{self, Doubt, Restored},
    operation::{Mark, ObjectAddress, Operation},
    register::{AddEntries, ReadRegister, RegisterEntry, RegisterPart, address},
};
use domain::model::{DAY_MS, PublisherId, SECOND_MS, common};
use platform::{
    Clock, Database, DbResult, Failure, ObjectCall, ObjectStorage, Result, Row, database::json, log,
    object_shell::ObjectShell, params, single_flight::SingleFlight,
};

/// The timeout of each call to the register or to `attention`, for which a command waits.
const TIMEOUT: Duration = Duration::from_secs(3);
/// The time until an object's alarm retries a call to the register, in milliseconds.
const RETRY_MS: i64 = 5 * SECOND_MS;
const KEPT_MS: i64 = 31 * DAY_MS;
/// Maximum entries that are kept. Without this limit, an operator that puts 100,000 offers per day would make 3 million
/// entries in 31 days, of 1 KB and more each.
const KEPT: i64 = 1_000_000;
/// Maximum entries that are deleted when one entry is added.
const SWEPT_BY_ADDING: i64 = 64;
/// Maximum entries that are deleted in a sweep.
const SWEPT: i64 = 2_000;
/// Maximum entries of a part. A call could carry more, but a turn of the object should be short.
const PART: u32 = 1_000;
/// The size in bytes after which a part takes no further entry.
const PART_BYTES: u32 = 1 << 20;

/// The table of an object that has a register, and of the register itself.
pub const TABLES: &[&str] =
    &["CREATE TABLE register (number INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, entry TEXT NOT NULL) STRICT"];

platform::statements! {
    pub const LAST = "SELECT MAX(number) FROM register";
    pub const APPEND = "INSERT INTO register (number, at_ms, entry) SELECT COALESCE(MAX(number), 0) + 1, ?, ? FROM register";
    pub const PUT = "INSERT OR IGNORE INTO register (number, at_ms, entry) VALUES (?, ?, ?)";
    /// number, maximum entries, bytes → number, time, entry of the entries after that number, up to and including the
    /// entry that reaches the bytes
    pub const LIST = "SELECT number, at_ms, entry FROM (
          SELECT *, SUM(LENGTH(entry)) OVER (ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
          FROM (SELECT * FROM register WHERE number > ? ORDER BY number LIMIT ?))
        WHERE COALESCE(before, 0) < ?";
    pub const BOUNDS = "SELECT (SELECT MIN(number) FROM register), (SELECT MAX(number) FROM register)";
    /// upper number, cutoff time, cutoff number, all exclusive: deletes the entries below the upper number that are
    /// older than the cutoff time or below the cutoff number
    pub const SWEEP = "DELETE FROM register WHERE number < ? AND (at_ms < ? OR number < ?)";
    /// cutoff time: blanks the last entry if it is older
    pub const BLANK_LAST = "UPDATE register SET entry = '' WHERE number = (SELECT MAX(number) FROM register) AND at_ms < ? AND entry <> ''";
    pub const FIRST_MS = "SELECT MIN(at_ms) FROM (SELECT at_ms, entry FROM register ORDER BY number LIMIT 1) WHERE entry <> ''";
}

/// The way in which a restored object applies the entries that it lost.
pub trait Restore {
    type Entry: DeserializeOwned;

    /// Makes the changes that every restore needs, within the caller's transaction.
    fn begin(&self, _db: &impl Database, _now_ms: i64) -> DbResult {
        Ok(())
    }

    /// The time of the last `begin`, with which the time of an announcement is compared. The default is later than any
    /// announcement, so announcements are ignored.
    fn begun_ms(&self, _db: &impl Database) -> DbResult<i64> {
        Ok(i64::MAX)
    }

    /// Applies a missing entry that was made at `at_ms`, within the caller's transaction. A refused entry is left out.
    fn apply(&self, db: &impl Database, at_ms: i64, entry: Self::Entry) -> Result;

    /// Returns the object's publisher, and the doubts that a person must check.
    fn doubts(&self, db: &impl Database, lost: &[&Self::Entry]) -> DbResult<(Option<PublisherId>, Vec<Doubt>)>;
}

/// Adds an entry, within the transaction of its change.
pub fn add(db: &impl Database, now_ms: i64, entry: &impl Serialize) -> DbResult {
    delete_old(db, now_ms, SWEPT_BY_ADDING)?;
    db.execute(APPEND, params![now_ms, json(entry)?])
}

fn put(db: &impl Database, entry: &RegisterEntry) -> DbResult {
    db.execute(PUT, params![entry.number, entry.at_ms, entry.entry.as_str()])
}

/// The number of the last entry.
pub fn last(db: &impl Database) -> DbResult<i64> {
    Ok(db.query_integer(LAST, &[])?.unwrap_or(0))
}

fn list(db: &impl Database, after: i64) -> DbResult<Vec<RegisterEntry>> {
    db.read_all(LIST, params![after, PART, PART_BYTES], |row| {
        Ok(RegisterEntry { number: row.integer(0)?, at_ms: row.integer(1)?, entry: row.text(2)?.to_owned() })
    })
}

/// For registers: adds entries of the register's object.
pub fn receive(db: &impl Database, now_ms: i64, add: &AddEntries) -> DbResult<Mark> {
    if add.after <= last(db)? {
        delete_old(db, now_ms, SWEPT)?;
        db.transaction(|| add.entries.iter().try_for_each(|entry| put(db, entry)))?;
    }
    Ok(Mark { mark: last(db)? })
}

/// For registers: returns a part of the entries.
pub fn read(db: &impl Database, read: ReadRegister) -> DbResult<RegisterPart> {
    Ok(RegisterPart { mark: last(db)?, entries: list(db, read.after)?, announced_ms: announced::last_ms(db)? })
}

/// Deletes entries that are too old or too many.
pub fn sweep(db: &impl Database, now_ms: i64) -> DbResult {
    delete_old(db, now_ms, SWEPT)?;
    db.execute(BLANK_LAST, params![now_ms.saturating_sub(KEPT_MS)])
}

/// Returns the time of the next sweep; `None` without entries.
pub fn sweep_due_ms(db: &impl Database) -> DbResult<Option<i64>> {
    let first_ms = db.query_integer(FIRST_MS, &[])?;
    Ok(first_ms.map(|first_ms| first_ms.saturating_add(KEPT_MS + 1)))
}

fn delete_old(db: &impl Database, now_ms: i64, most: i64) -> DbResult {
    let row = db.query_first(BOUNDS, &[])?.unwrap_or(Row(vec![]));
    let (Some(first), Some(last)) = (row.optional_integer(0)?, row.optional_integer(1)?) else {
        return Ok(());
    };
    // The last entry stays, because its number shows up to which number the register has entries.
    let below = last.min(first.saturating_add(most));
    let (before_ms, kept_from) = (now_ms.saturating_sub(KEPT_MS), last.saturating_sub(KEPT - 1));
    db.execute(SWEEP, params![below, before_ms, kept_from])
}

/// The state of an object's register, as far as this process of the object knows it.
#[derive(Default)]
pub struct Register {
    is_read: Cell<bool>,
    /// The number up to which the register has the entries.
    mark: Cell<i64>,
    reading: SingleFlight<()>,
    sending: SingleFlight<()>,
}

impl Register {
    /// Reads the register, once in a process, and applies what the object has lost.
    ///
    /// # Errors
    /// `unavailable`: the register or `attention` did not answer, so the object may lack changes.
    pub async fn start(
        &self,
        db: &impl Database,
        runtime: &(impl Clock + ObjectCall),
        source: &str,
        restore: &impl Restore,
    ) -> Result {
        if self.is_read.get() {
            return Ok(());
        }
        let _leader = self.reading.lead().await;
        let mut has_begun = false;
        while !self.is_read.get() {
            let after = last(db)?;
            let part = ask(runtime, source, ReadRegister { after }).await?;
            let is_announced = !has_begun && restore.begun_ms(db)? < part.announced_ms;
            if part.entries.is_empty() && !is_announced {
                self.mark.set(part.mark);
                self.is_read.set(true);
                // If the register was lost, it receives all entries again. If it does not answer, the next change sends
                // them.
                drop(self.keep(db, runtime, source).await);
                return Ok(());
            }
            log::error(
                "register",
                format_args!("{source} lost the changes after {after} up to {}, and replays them", part.mark),
            );
            put_back(db, runtime, source, restore, part.entries, !has_begun).await?;
            has_begun = true;
        }
        Ok(())
    }

    /// Sends the entries that the register lacks. Must be called before the call that made a change is answered.
    ///
    /// # Errors
    /// `unavailable`: the change is made but not registered. The next change also registers this one.
    pub async fn keep(&self, db: &impl Database, runtime: &impl ObjectCall, source: &str) -> Result {
        let last = last(db)?;
        if last <= self.mark.get() {
            return Ok(());
        }
        let _leader = self.sending.lead().await;
        while self.mark.get() < last {
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

    /// Like [`keep`](Self::keep). If it fails, arms the object's alarm, whose run must send the entries.
    ///
    /// # Errors
    /// The errors of [`keep`](Self::keep).
    pub async fn keep_or_retry<D: ObjectStorage, R: Clock + ObjectCall>(
        &self,
        shell: &ObjectShell<D, R>,
        source: &str,
    ) -> Result {
        let kept = self.keep(shell.storage(), shell.runtime(), source).await;
        if kept.is_err() {
            shell.wake_by(shell.runtime().now_ms().saturating_add(RETRY_MS))?;
        }
        kept
    }

    /// Sends entries during a series of many changes, once a whole part has gathered. If the call fails, the entries
    /// are sent later.
    pub async fn keep_up(&self, db: &impl Database, runtime: &impl ObjectCall, source: &str) {
        if last(db).is_ok_and(|last| last - self.mark.get() >= i64::from(PART)) {
            drop(self.keep(db, runtime, source).await);
        }
    }

    /// Checks that the register answers. Called before a change whose answer must not be lost.
    ///
    /// # Errors
    /// `unavailable`: the change should not be made.
    pub async fn ready(&self, db: &impl Database, runtime: &impl ObjectCall, source: &str) -> Result {
        self.keep(db, runtime, source).await?;
        let after = self.mark.get();
        ask(runtime, source, ReadRegister { after }).await.map(drop)
    }
}

/// Applies a part of the lost entries.
async fn put_back<R: Restore>(
    db: &impl Database,
    runtime: &(impl Clock + ObjectCall),
    source: &str,
    restore: &R,
    lost: Vec<RegisterEntry>,
    is_first: bool,
) -> Result {
    let known = last(db)?;
    let is_gap = lost.first().is_some_and(|first| first.number > known + 1);
    let left_out = |number: i64, cause: &str| {
        log::error("register", format_args!("{source} cannot replay change {number}, and skips it: {cause}"));
        Doubt::new(format!("{source}: change {number}"), "not_made_again")
    };
    let (mut entries, mut unread) = (vec![], vec![]);
    // A newer release may have written entries that this release cannot read. A blank entry was too old to keep.
    for lost in lost.iter().filter(|lost| !lost.entry.is_empty()) {
        match serde_json::from_str::<R::Entry>(&lost.entry) {
            Ok(entry) => entries.push((lost, entry)),
            Err(error) => unread.push(left_out(lost.number, &error.to_string())),
        }
    }
    let read: Vec<&R::Entry> = entries.iter().map(|(_, entry)| entry).collect();
    let (publisher, mut doubts) = restore.doubts(db, &read)?;
    doubts.append(&mut unread);
    if is_gap {
        doubts.push(Doubt::new(format!("{source}: older changes"), "not_made_again"));
    }
    // The operator is told before the entries are applied, because the doubts are not known afterwards.
    if !doubts.is_empty() {
        tell(runtime, source, publisher.clone(), doubts).await?;
    }
    let refused = db.transaction(|| {
        if is_first {
            restore.begin(db, runtime.now_ms())?;
        }
        let mut refused = vec![];
        for (lost, entry) in entries {
            match restore.apply(db, lost.at_ms, entry) {
                Err(Failure::Refused(error)) => refused.push(left_out(lost.number, &error.message)),
                applied => applied?,
            }
        }
        lost.iter().try_for_each(|lost| put(db, lost))?;
        Ok::<_, Failure>(refused)
    })?;
    if !refused.is_empty() {
        // If this call fails, the refused entries are still in the service's log.
        drop(tell(runtime, source, publisher, refused).await);
    }
    Ok(())
}

/// Tells the operator's `attention` what is in doubt because an object was restored.
///
/// # Errors
/// `unavailable`: nobody was told.
pub async fn tell(
    runtime: &(impl Clock + ObjectCall),
    source: &str,
    publisher: Option<PublisherId>,
    doubts: Vec<Doubt>,
) -> Result {
    let restored = Restored { source: source.to_owned(), publisher, at_ms: runtime.now_ms(), doubts };
    call(runtime, &attention::address(), restored).await.map(drop)
}

/// For receivers of batches: if a batch begins after this object's mark, tells the operator that this object was
/// restored.
///
/// # Errors
/// `unavailable`: nobody was told. The sender resends the batch, and the operator is told then.
pub async fn tell_if_behind(
    runtime: &(impl Clock + ObjectCall),
    source: Option<&str>,
    publisher: Option<&PublisherId>,
    (after, mark): (i64, i64),
    reason: &str,
) -> Result {
    let Some(source) = source.filter(|_| mark < after) else {
        return Ok(());
    };
    let doubts = vec![Doubt::new(source, reason)];
    tell(runtime, source, publisher.cloned(), doubts).await
}

async fn ask<O: Operation>(runtime: &impl ObjectCall, source: &str, operation: O) -> Result<O::Answer> {
    call(runtime, &address(source), operation).await
}

async fn call<O: Operation>(runtime: &impl ObjectCall, to: &ObjectAddress, operation: O) -> Result<O::Answer> {
    let answer = runtime.call(to, operation, TIMEOUT).await;
    answer.map_err(|error| {
        log::warn("register", format_args!("a call to {} failed: {error}", to.name));
        common::UNAVAILABLE.into()
    })
}
