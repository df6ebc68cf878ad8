//! What every object's shell shares: a JSON command in, the object's own `handle`, JSON out; and alarms that are set
//! with the writes they belong to and re-arm themselves before they work.
//!
//! Whatever happens inside, the caller gets an answer: an error is logged and answered, and a panic is caught where a
//! build unwinds (a build that aborts leaves its caller hanging; see `platform.md`).

use std::{cell::Cell, panic::RefUnwindSafe};

use futures_util::FutureExt;
use serde::{Serialize, de::DeserializeOwned};
use worker::{Request, Response, State};

use super::{
    command::{BRIEF_HEADER, Failure, of_brief},
    database::DatabaseError,
    durable::DurableDatabase,
    migrations::{Migration, migrate},
};
use crate::{
    faults, log,
    refusal::{Refusal, common},
    runtime::{self, now_ms},
    time::{MINUTE_MS, SECOND_MS},
};

/// When an alarm whose work broke is tried again. Cloudflare's own retries end after six.
const BROKEN_ALARM_RETRY_MS: i64 = if cfg!(feature = "faults") {
    2 * SECOND_MS
} else {
    MINUTE_MS
};

/// From what size on an object says that it is filling up, in bytes: it may hold 10 GB.
const NEARLY_FULL: i64 = 8_000_000_000;

/// The half of an object that is the same for all.
pub struct Shell {
    /// Where its lines in the log are from.
    name: &'static str,
    /// What it is called, if the runtime says so.
    own_name: Option<String>,
    database: DurableDatabase,
    migrations: &'static [Migration],
    migrated: Cell<bool>,
    /// The alarm as it is set, once that is known.
    alarm: Cell<Option<Alarm>>,
}

#[derive(Clone, Copy)]
struct Alarm {
    at_ms: Option<i64>,
}

/// The cells are set in single steps that cannot panic, and the database undoes a transaction that panics: after a
/// panic both are what they were. (`#[durable_object]` asks for this under `--panic-unwind`.)
impl RefUnwindSafe for Shell {}

impl Shell {
    pub fn new(name: &'static str, state: &State, migrations: &'static [Migration]) -> Self {
        runtime::draw_seed();
        Self {
            name,
            own_name: state.id().name(),
            database: DurableDatabase::new(state),
            migrations,
            migrated: Cell::new(false),
            alarm: Cell::new(None),
        }
    }

    /// Answers a request whose body is a command: `handle` carries it out and `next_alarm` says when the object has to
    /// be woken after it. Never an `Err`.
    pub async fn serve<C: DeserializeOwned, R: Serialize, E: Into<Failure>>(
        &self,
        request: Request,
        handle: impl FnOnce(&DurableDatabase, i64, C) -> Result<R, E>,
        next_alarm: impl FnOnce(&DurableDatabase, i64) -> Result<Option<i64>, DatabaseError>,
    ) -> worker::Result<Response> {
        match caught_async(self.carry_out(request, handle, next_alarm)).await {
            Ok(json) => Ok(Response::builder()
                .with_header("content-type", "application/json")?
                .fixed(json)),
            Err(failure) => self.fail(failure),
        }
    }

    /// The answer to a request that was not carried out; what broke goes to the log.
    pub fn fail(&self, failure: Failure) -> worker::Result<Response> {
        if let Failure::Broken(cause) = &failure {
            log::error(self.name, cause);
        }
        refused(&failure.into_answer())
    }

    async fn carry_out<C: DeserializeOwned, R: Serialize, E: Into<Failure>>(
        &self,
        request: Request,
        handle: impl FnOnce(&DurableDatabase, i64, C) -> Result<R, E>,
        next_alarm: impl FnOnce(&DurableDatabase, i64) -> Result<Option<i64>, DatabaseError>,
    ) -> Result<Vec<u8>, Failure> {
        let command = command_in(request).await?;
        self.ready().await?;
        let now_ms = now_ms();
        // From here to the alarm nothing awaits: the writes and the alarm are one commit, and no other command runs
        // between a read and the write that rests on it.
        let reply = caught(|| handle(&self.database, now_ms, command).map_err(Into::into));
        if let Err(refused @ Failure::Refused(_)) = reply {
            return Err(refused);
        }
        // Also after what broke: it may have written before, and what was written needs its alarm.
        let armed = caught(|| self.wake_for(next_alarm(&self.database, now_ms)));
        let json = serde_json::to_vec(&reply?).map_err(|error| Failure::Broken(error.to_string()))?;
        armed.map(|()| json)
    }

    /// Answers an alarm: `work` does what is due and says when the next alarm is. Never an `Err`, since an alarm that
    /// throws six times is dropped.
    pub async fn wake(
        &self,
        work: impl FnOnce(&DurableDatabase, i64) -> Result<Option<i64>, DatabaseError>,
    ) -> worker::Result<Response> {
        self.wake_async(async |db| work(db, now_ms()).map_err(Failure::from))
            .await
    }

    /// The same for work that waits for others. Commands are served meanwhile, and have the object woken as they need
    /// it; so what the last step of `work` says must rest on the database as it is then.
    pub async fn wake_async(
        &self,
        work: impl AsyncFnOnce(&DurableDatabase) -> Result<Option<i64>, Failure>,
    ) -> worker::Result<Response> {
        let now_ms = now_ms();
        // The one that was set has gone off. Were it still taken to be set, nothing that comes would set another.
        self.alarm.set(Some(Alarm { at_ms: None }));
        // First of all, so that an alarm follows whatever becomes of this one.
        let mut done = self.set_alarm(Some(now_ms + BROKEN_ALARM_RETRY_MS));
        if done.is_ok() {
            let worked = async {
                faults::pass("alarm", self.name);
                self.migrate(now_ms)?;
                let next = work(&self.database).await?;
                self.set_alarm(next)
            };
            done = caught_async(worked).await;
        }
        if let Err(failure) = done {
            log::error(self.name, format_args!("alarm: {failure}"));
        }
        if self.database.size().is_ok_and(|bytes| bytes > NEARLY_FULL) {
            let own_name = self.own_name.as_deref().unwrap_or("an object");
            log::error(self.name, format_args!("{own_name} is nearly full"));
        }
        Response::empty()
    }

    /// The database, its schema up to date, for an object that does more than one command in one step.
    ///
    /// # Errors
    /// What the database says, or that newer code has migrated it.
    pub async fn ready(&self) -> Result<&DurableDatabase, Failure> {
        self.migrate(now_ms())?;
        if self.alarm.get().is_none() {
            let at_ms = self.database.alarm().await?;
            // Another request may have set it while this one waited.
            if self.alarm.get().is_none() {
                self.alarm.set(Some(Alarm { at_ms }));
            }
        }
        Ok(&self.database)
    }

    /// The database, for an object that has been [`ready`](Self::ready) before.
    pub fn database(&self) -> &DurableDatabase {
        &self.database
    }

    pub fn is_ready(&self) -> bool {
        self.migrated.get()
    }

    /// Whether the object is woken at `at_ms` or before as it is.
    pub fn wakes_by(&self, at_ms: i64) -> bool {
        let set_ms = self.alarm.get().and_then(|alarm| alarm.at_ms);
        set_ms.is_some_and(|set_ms| set_ms <= at_ms)
    }

    /// Has the object woken by when its database says that something will be due, if it does.
    ///
    /// # Errors
    /// What the database said, or what the storage says.
    pub fn wake_for(&self, next: Result<Option<i64>, DatabaseError>) -> Result<(), Failure> {
        match next? {
            Some(at_ms) => self.wake_by(at_ms),
            None => Ok(()),
        }
    }

    /// Has the object woken at `at_ms` or before. An alarm that is due earlier stays: only its own work may move it.
    ///
    /// # Errors
    /// What the storage says.
    pub fn wake_by(&self, at_ms: i64) -> Result<(), Failure> {
        if self.wakes_by(at_ms) {
            Ok(())
        } else {
            self.set_alarm(Some(at_ms))
        }
    }

    /// Has the object woken at `at_ms` and not before; `None`: not at all.
    ///
    /// # Errors
    /// What the storage says.
    pub fn set_alarm(&self, at_ms: Option<i64>) -> Result<(), Failure> {
        self.database.set_alarm(at_ms)?;
        self.alarm.set(Some(Alarm { at_ms }));
        Ok(())
    }

    fn migrate(&self, now_ms: i64) -> Result<(), DatabaseError> {
        if !self.migrated.get() {
            migrate(&self.database, now_ms, self.migrations)?;
            self.migrated.set(true);
        }
        Ok(())
    }
}

impl From<worker::Error> for Failure {
    fn from(error: worker::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

/// The command in a request: in a header if it is brief, else in its body.
///
/// # Errors
/// What is no such command.
pub async fn command_in<C: DeserializeOwned>(mut request: Request) -> Result<C, Failure> {
    let brief = request.headers().get(BRIEF_HEADER)?;
    let json = match brief.as_deref().and_then(of_brief) {
        Some(json) => json,
        None => request.bytes().await?,
    };
    serde_json::from_slice(&json)
        .map_err(|error| Failure::Refused(common::INVALID_JSON.because(error.to_string())))
}

/// A refusal as an HTTP answer.
pub fn refused(refusal: &Refusal) -> worker::Result<Response> {
    let mut answer = Response::builder()
        .with_status(refusal.status)
        .with_header("content-type", "application/json")?
        .with_header("cache-control", "no-store")?;
    if let Some(seconds) = refusal.retry_after_s {
        answer = answer.with_header("retry-after", &seconds.to_string())?;
    }
    Ok(answer.fixed(refusal.body().into_bytes()))
}

/// Runs what may panic, so that a panic costs this one request.
pub fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    runtime::caught(work).unwrap_or_else(|panic| Err(Failure::Broken(panic)))
}

/// The same for what waits: each of its steps is caught.
pub fn caught_async<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> impl Future<Output = Result<T, Failure>> {
    runtime::caught_async(work).map(|done| done.unwrap_or_else(|panic| Err(Failure::Broken(panic))))
}
