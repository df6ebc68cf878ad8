//! The runtime as small traits. A service takes only those it uses; production passes [`Workers`](crate::workers::Workers),
//! and tests pass mocks, so that both run the same service.

use std::time::Duration;

use crate::database::{Database, DatabaseError};
use crate::http_call::HttpCall;
use contract::operation::{CallError, ObjectAddress, Operation};
use domain::callbacks::request::Request;

pub trait Clock {
    /// Milliseconds since the Unix epoch. In production it stands still between two I/O events.
    fn now_ms(&self) -> i64;
}

pub trait Random {
    /// 32 random bytes.
    ///
    /// # Errors
    /// In Workers, outside of a request or an alarm: nothing may be issued or sealed then.
    fn random(&self) -> Result<[u8; 32], String>;
}

pub trait Sleep {
    fn sleep(&self, time: Duration) -> impl Future<Output = ()>;
}

pub trait Spawn {
    /// Runs a task to its end beside the request that started it. A panic in it is logged under `place`.
    fn spawn(&self, place: &'static str, task: impl Future<Output = ()> + 'static);
}

/// An object's own storage: its database, and the one alarm that is stored in it.
pub trait ObjectStorage: Database {
    /// When the alarm is due, in milliseconds; none if it is not set.
    fn alarm(&self) -> impl Future<Output = Result<Option<i64>, DatabaseError>>;

    /// Sets the alarm in place of any other, or removes it. Without an await after a write, it commits together with that
    /// write.
    ///
    /// # Errors
    /// The storage refused it; the alarm is then as it was.
    fn set_alarm(&self, at_ms: Option<i64>) -> Result<(), DatabaseError>;

    /// The database's size in bytes.
    ///
    /// # Errors
    /// The object has no database.
    fn size(&self) -> Result<i64, DatabaseError>;
}

pub trait ObjectCall {
    /// Calls an object and reads its answer. An idempotent operation that fails in a way that is likely to pass is sent
    /// once more, within the same `timeout`.
    ///
    /// # Errors
    /// The object's refusal, or that there was no answer in time; then the operation may or may not have been carried out.
    fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        timeout: Duration,
    ) -> impl Future<Output = Result<O::Answer, CallError>>;
}

/// The KV namespace that snapshots are published in.
pub trait Kv {
    /// Errors are for the log, as all of these traits' texts are.
    fn put(&self, key: &str, bytes: &[u8]) -> impl Future<Output = Result<(), String>>;

    fn delete(&self, key: &str) -> impl Future<Output = Result<(), String>>;
}

pub trait Http {
    /// Sends a callback and reads the beginning of its answer. Redirects are not followed, and without a whole answer
    /// within `timeout` there is none.
    fn send(&self, request: &Request, timeout: Duration) -> impl Future<Output = HttpCall>;
}
