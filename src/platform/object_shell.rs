//! The part that all objects share: schema, commands, and an alarm that is set with the writes it belongs to and re-arms
//! itself before it works.
//!
//! The caller always gets an answer: an error is logged and answered, and a panic is caught where a build unwinds (a build
//! that aborts leaves its caller hanging; see docs/PLATFORM.md, "Panics and errors").

use std::cell::Cell;

use crate::{
    database::DatabaseError,
    failure::Failure,
    faults, log,
    migrations::{Migration, migrate},
    panics::{panic_to_failure, panics_to_failure},
    traits::{Clock, ObjectStorage},
};
use domain::model::time::{MINUTE_MS, SECOND_MS};

/// When an alarm whose work failed is tried again. Cloudflare's own retries end after six.
pub const FAILED_ALARM_RETRY_MS: i64 = if cfg!(feature = "faults") {
    2 * SECOND_MS
} else {
    MINUTE_MS
};

/// The size at which an object reports that it is filling up, in bytes: it may hold 10 GB.
const NEARLY_FULL: i64 = 8_000_000_000;

/// An object's storage with its schema and its alarm.
///
/// The cells are set in single steps that cannot panic, and the database rolls a panicking transaction back: after a panic
/// both are as they were.
pub struct ObjectShell<D, R> {
    /// Where its lines in the log are from.
    place: &'static str,
    /// The object's own name, if the runtime tells it.
    name: Option<String>,
    storage: D,
    runtime: R,
    migrations: &'static [Migration],
    migrated: Cell<bool>,
    /// How soon an alarm whose work failed is tried again, in milliseconds.
    alarm_retry_ms: i64,
    /// The alarm as it is set, once that is known.
    alarm: Cell<Option<KnownAlarm>>,
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
            alarm_retry_ms: FAILED_ALARM_RETRY_MS,
            alarm: Cell::new(None),
        }
    }

    /// Another time after which an alarm whose work failed is tried again.
    pub fn with_alarm_retry(self, alarm_retry_ms: i64) -> Self {
        Self {
            alarm_retry_ms,
            ..self
        }
    }

    /// The traits that the object runs on.
    pub fn runtime(&self) -> &R {
        &self.runtime
    }

    /// The object's own name. The runtime tells it to an object that a call started, and not to one that its alarm started.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Carries a command out: `handle` does it and `next_alarm` says when the object must wake after it.
    ///
    /// # Errors
    /// The refusal or failure of `handle`, or of the alarm that its writes need.
    pub async fn command<T, E: Into<Failure>>(
        &self,
        handle: impl FnOnce(&D, i64) -> Result<T, E>,
        next_alarm: impl FnOnce(&D, i64) -> Result<Option<i64>, DatabaseError>,
    ) -> Result<T, Failure> {
        self.ready().await?;
        let now_ms = self.runtime.now_ms();
        // From here to the alarm nothing awaits: the writes and the alarm are one commit, and no other command runs
        // between a read and the write that rests on it.
        let reply = panic_to_failure(|| handle(&self.storage, now_ms).map_err(Into::into));
        if let Err(refused @ Failure::Refused(_)) = reply {
            return Err(refused);
        }
        // Also after a failure: it may have written before, and these writes need their alarm.
        let armed = panic_to_failure(|| self.wake_for(next_alarm(&self.storage, now_ms)));
        let reply = reply?;
        armed.map(|()| reply)
    }

    /// Answers an alarm: `work` does the due work and says when the next alarm is. It never fails, since the runtime drops
    /// an alarm that throws six times. Commands are served while `work` waits, so its last step must rest on the database
    /// as it is then.
    pub async fn wake(&self, work: impl AsyncFnOnce(&D) -> Result<Option<i64>, Failure>) {
        let now_ms = self.runtime.now_ms();
        // The alarm that was set has gone off. If it still counted as set, no later write would set another.
        self.alarm.set(Some(KnownAlarm { at_ms: None }));
        // First of all, so that an alarm follows whatever becomes of this one.
        let mut done = self.set_alarm(Some(now_ms.saturating_add(self.alarm_retry_ms)));
        if done.is_ok() {
            let worked = async {
                faults::pass("alarm", self.place);
                self.migrate(now_ms)?;
                let next = work(&self.storage).await?;
                self.set_alarm(next)
            };
            done = panics_to_failure(worked).await;
        }
        if let Err(failure) = done {
            log::error(self.place, format_args!("alarm: {failure}"));
        }
        if self.storage.size().is_ok_and(|bytes| bytes > NEARLY_FULL) {
            let name = self.name().unwrap_or("an object");
            log::error(self.place, format_args!("{name} is nearly full"));
        }
    }

    /// The storage, its schema up to date.
    ///
    /// # Errors
    /// Newer code has migrated the database, or it does not work.
    pub async fn ready(&self) -> Result<&D, Failure> {
        self.migrate(self.runtime.now_ms())?;
        if self.alarm.get().is_none() {
            let at_ms = self.storage.alarm().await?;
            // Another request may have set it while this one waited.
            if self.alarm.get().is_none() {
                self.alarm.set(Some(KnownAlarm { at_ms }));
            }
        }
        Ok(&self.storage)
    }

    /// The storage of an object that has been [`ready`](Self::ready) before.
    pub fn storage(&self) -> &D {
        &self.storage
    }

    pub fn is_ready(&self) -> bool {
        self.migrated.get()
    }

    /// Whether the alarm that is set goes off at `at_ms` or before.
    pub fn wakes_by(&self, at_ms: i64) -> bool {
        let set_ms = self.alarm.get().and_then(|alarm| alarm.at_ms);
        set_ms.is_some_and(|set_ms| set_ms <= at_ms)
    }

    /// Arms the alarm for the time at which the database has something due, if it has.
    ///
    /// # Errors
    /// The database's error in `next`, or the storage's.
    pub fn wake_for(&self, next: Result<Option<i64>, DatabaseError>) -> Result<(), Failure> {
        match next? {
            Some(at_ms) => self.wake_by(at_ms),
            None => Ok(()),
        }
    }

    /// Arms the alarm for `at_ms` or before. An alarm that is due earlier stays: only its own work may move it.
    ///
    /// # Errors
    /// The storage's.
    pub fn wake_by(&self, at_ms: i64) -> Result<(), Failure> {
        if self.wakes_by(at_ms) {
            Ok(())
        } else {
            self.set_alarm(Some(at_ms))
        }
    }

    /// Arms the alarm for `at_ms` and not before; `None` disarms it.
    ///
    /// # Errors
    /// The storage's.
    pub fn set_alarm(&self, at_ms: Option<i64>) -> Result<(), Failure> {
        self.storage.set_alarm(at_ms)?;
        self.alarm.set(Some(KnownAlarm { at_ms }));
        Ok(())
    }

    fn migrate(&self, now_ms: i64) -> Result<(), DatabaseError> {
        if !self.migrated.get() {
            migrate(&self.storage, now_ms, self.migrations)?;
            self.migrated.set(true);
        }
        Ok(())
    }
}
