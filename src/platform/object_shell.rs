//! The shell of all objects: their schema, their commands, and an alarm. The alarm is set in the same commit as the
//! writes that need it, and no failure cancels it.
//!
//! The caller always gets an answer: errors and panics are logged and answered (docs/PLATFORM.md, "Panics and errors").

use std::cell::Cell;

use crate::{
    DbResult, Result,
    failure::Failure,
    faults, log,
    migrations::{FORGET_COPY, IS_COPY, Migration, MigrationError, migrate},
    panics::{panic_to_failure, panics_to_failure},
    traits::{Clock, ObjectStorage},
};
use domain::model::{MINUTE_MS, SECOND_MS, common};

/// The delay before a failed alarm is retried. Cloudflare's own retries stop after six.
pub const FAILED_ALARM_RETRY_MS: i64 = if cfg!(feature = "faults") { 2 * SECOND_MS } else { MINUTE_MS };

/// The time by which an alarm must be late to count as lost, in milliseconds. The database of a restored object may
/// name an alarm that the runtime does not have.
const LATE_ALARM_MS: i64 = MINUTE_MS;

/// The size in bytes from which an object logs that it is nearly full. The maximum is 10 GB.
pub const NEARLY_FULL: i64 = 8_000_000_000;
/// The size in bytes from which an object reports its size. It is below [`NEARLY_FULL`], so that an object that has
/// shrunk reports that as well.
const TELLS_SIZE: i64 = 7_000_000_000;
/// Minimum time between two reports of an object's size, in milliseconds.
const SIZE_EVERY_MS: i64 = 60 * MINUTE_MS;

/// An object's storage with its schema and its alarm.
///
/// After a panic the object stays consistent: the cells are set in single steps that cannot panic, and the database
/// rolls a panicking transaction back.
pub struct ObjectShell<D, R> {
    /// The object's kind, which is `where` in the log.
    place: &'static str,
    /// The object's own name, if the runtime provides it.
    name: Option<String>,
    storage: D,
    runtime: R,
    migrations: &'static [Migration],
    migrated: Cell<bool>,
    /// Runs once after somebody deliberately replaced the database with an earlier copy, in the transaction that drops
    /// the table `put_back`, which marks such a copy.
    put_back: fn(&D, i64) -> DbResult,
    /// The delay before a failed alarm is retried, in milliseconds.
    alarm_retry_ms: i64,
    /// The current alarm, once it is known.
    alarm: Cell<Option<KnownAlarm>>,
    /// True if the alarm's last run in this process ended without a failure.
    has_run: Cell<bool>,
    /// The latest time for an alarm that a command sets. During a run of the alarm, this is the time of the run's
    /// retry, since the alarm itself has fired.
    latest_ms: Cell<i64>,
    /// The time when this process last reported the object's size.
    size_told_ms: Cell<i64>,
}

#[derive(Clone, Copy)]
struct KnownAlarm {
    at_ms: Option<i64>,
}

impl<D: ObjectStorage, R: Clock> ObjectShell<D, R> {
    pub fn new(
        place: &'static str,
        name: Option<String>,
        storage: D,
        runtime: R,
        migrations: &'static [Migration],
    ) -> Self {
        Self {
            place,
            name,
            storage,
            runtime,
            migrations,
            migrated: Cell::new(false),
            put_back: |_, _| Ok(()),
            alarm_retry_ms: FAILED_ALARM_RETRY_MS,
            alarm: Cell::new(None),
            has_run: Cell::new(false),
            latest_ms: Cell::new(i64::MAX),
            size_told_ms: Cell::new(i64::MIN),
        }
    }

    /// Replaces the delay before a failed alarm is retried.
    pub fn with_alarm_retry(self, alarm_retry_ms: i64) -> Self {
        Self { alarm_retry_ms, ..self }
    }

    /// Sets the work to do once the object finds that its database was replaced with a copy on purpose.
    pub fn when_put_back(self, put_back: fn(&D, i64) -> DbResult) -> Self {
        Self { put_back, ..self }
    }

    /// The runtime's traits.
    pub fn runtime(&self) -> &R {
        &self.runtime
    }

    /// The object's own name. The runtime provides it only if a call started the object, and not if its alarm did.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Carries out a command with `handle`, and then arms the alarm for the time from `next_alarm`.
    ///
    /// # Errors
    /// The refusal or failure of `handle`, or a failure to set the alarm that its writes need.
    pub async fn command<T, E: Into<Failure>>(
        &self,
        handle: impl FnOnce(&D, i64) -> Result<T, E>,
        next_alarm: impl FnOnce(&D, i64) -> DbResult<Option<i64>>,
    ) -> Result<T> {
        self.ready().await?;
        let now_ms = self.runtime.now_ms();
        // There is no await until the alarm is set: the writes and the alarm are one commit, and no other command runs
        // between a read and a write that depends on it.
        let reply = panic_to_failure(|| handle(&self.storage, now_ms).map_err(Into::into));
        if let Err(refused @ Failure::Refused(_)) = reply {
            return Err(refused);
        }
        // A failed command may have written before it failed, and those writes need their alarm.
        let armed = panic_to_failure(|| self.wake_for(next_alarm(&self.storage, now_ms)));
        let reply = reply?;
        armed.map(|()| reply)
    }

    /// Handles an alarm: `work` does the due work and returns the time of the next alarm. This never fails. Commands
    /// are served while `work` waits, so its last step must read the database again.
    ///
    /// If a process ends during a run, the runtime runs the alarm again, but only six times. So the first run of a
    /// process, and a run after a failed run, sets another alarm before its work. Other runs do not, because setting an
    /// alarm is billed.
    pub async fn wake(&self, work: impl AsyncFnOnce(&D) -> Result<Option<i64>>) {
        let retry_ms = self.runtime.now_ms().saturating_add(self.alarm_retry_ms);
        // The alarm has fired. If it still counted as set, no later write would set a new one.
        self.alarm.set(Some(KnownAlarm { at_ms: None }));
        self.latest_ms.set(retry_ms);
        let worked = async {
            if !self.has_run.replace(false) {
                self.set_alarm(Some(retry_ms))?;
            }
            faults::inject("alarm", self.place);
            self.migrate(self.runtime.now_ms())?;
            let next = work(&self.storage).await?;
            self.set_alarm(next)
        };
        let done = panics_to_failure(worked).await;
        self.has_run.set(done.is_ok());
        self.latest_ms.set(i64::MAX);
        if let Err(failure) = done {
            log::error(self.place, format_args!("an alarm failed and runs again: {failure}"));
            if let Err(failure) = self.wake_by(retry_ms) {
                log::error(self.place, format_args!("the next alarm could not be set: {failure}"));
            }
        }
        if self.storage.size().is_ok_and(|bytes| bytes > NEARLY_FULL) {
            let name = self.name().unwrap_or("an object");
            log::error(self.place, format_args!("{name} is nearly full"));
        }
    }

    /// Returns the size in bytes if the object is large and this process has not reported its size within the last
    /// hour.
    pub fn size_to_tell(&self) -> Option<i64> {
        let now_ms = self.runtime.now_ms();
        let is_due = now_ms.saturating_sub(self.size_told_ms.get()) >= SIZE_EVERY_MS;
        let bytes = self.storage.size().ok().filter(|bytes| is_due && *bytes > TELLS_SIZE)?;
        self.size_told_ms.set(now_ms);
        Some(bytes)
    }

    /// Returns the storage with its schema up to date. If the alarm was due before this process began, sets it again.
    ///
    /// # Errors
    /// Newer code has migrated the database, or the database failed.
    pub async fn ready(&self) -> Result<&D> {
        self.migrate(self.runtime.now_ms())?;
        if self.alarm.get().is_none() {
            let at_ms = self.storage.alarm().await?;
            // Another request may have set the alarm during the await.
            if self.alarm.get().is_none() {
                self.alarm.set(Some(KnownAlarm { at_ms }));
                // The database may be a copy that is only seconds old, so the alarm need not be late by a minute.
                let now_ms = self.runtime.now_ms();
                if at_ms.is_some_and(|at_ms| at_ms < now_ms) {
                    self.set_alarm(Some(now_ms))?;
                }
            }
        }
        Ok(&self.storage)
    }

    /// The storage, for a caller that has already called [`ready`](Self::ready).
    pub fn storage(&self) -> &D {
        &self.storage
    }

    pub fn is_ready(&self) -> bool {
        self.migrated.get()
    }

    /// True if the current alarm fires at `at_ms` or earlier.
    pub fn wakes_by(&self, at_ms: i64) -> bool {
        let set_ms = self.alarm.get().and_then(|alarm| alarm.at_ms);
        set_ms.is_some_and(|set_ms| set_ms <= at_ms) && !self.is_late()
    }

    /// True if the alarm should have fired more than a minute ago. Then the runtime does not have it, or has given up
    /// on it.
    fn is_late(&self) -> bool {
        let lost_ms = self.runtime.now_ms().saturating_sub(LATE_ALARM_MS);
        let set_ms = self.alarm.get().and_then(|alarm| alarm.at_ms);
        set_ms.is_some_and(|set_ms| set_ms <= lost_ms)
    }

    /// Arms the alarm for `next`, the time when the database has due work, if any.
    pub fn wake_for(&self, next: DbResult<Option<i64>>) -> Result {
        match next? {
            Some(at_ms) => self.wake_by(at_ms),
            None => Ok(()),
        }
    }

    /// Arms the alarm for `at_ms` or earlier. An earlier alarm stays, since only its own run may move it.
    pub fn wake_by(&self, at_ms: i64) -> Result {
        let at_ms = at_ms.min(self.latest_ms.get());
        if self.wakes_by(at_ms) {
            return Ok(());
        }
        self.set_alarm(Some(if self.is_late() { self.runtime.now_ms() } else { at_ms }))
    }

    /// Arms the alarm for exactly `at_ms`; `None` disarms it.
    pub fn set_alarm(&self, at_ms: Option<i64>) -> Result {
        if self.alarm.get().is_some_and(|alarm| alarm.at_ms == at_ms) {
            return Ok(());
        }
        self.storage.set_alarm(at_ms)?;
        self.alarm.set(Some(KnownAlarm { at_ms }));
        Ok(())
    }

    fn migrate(&self, now_ms: i64) -> Result {
        if !self.migrated.get() {
            migrate(&self.storage, now_ms, self.migrations).map_err(|error| match error {
                MigrationError::Newer(_) => {
                    log::error(self.place, error);
                    common::NEWER_SCHEMA.into()
                }
                MigrationError::Database(error) => Failure::from(error),
            })?;
            if self.storage.query_boolean(IS_COPY, &[])? {
                log::error(self.place, "the object was restored from an earlier copy");
                self.storage.transaction(|| {
                    (self.put_back)(&self.storage, now_ms)?;
                    self.storage.execute(FORGET_COPY, &[])
                })?;
            }
            self.migrated.set(true);
        }
        Ok(())
    }
}
