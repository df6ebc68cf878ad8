//! The runtime as small traits. A service takes only the traits that it uses. Production passes `Workers` and tests
//! pass mocks, so both run the same service.

use std::time::Duration;

use crate::{DbResult, database::Database, http_call::HttpCall};
use contract::operation::{CallError, ObjectAddress, Operation};
use domain::callbacks::request::Request;
use url::Url;

pub trait Clock {
    /// Milliseconds since the Unix epoch. In production the clock stands still between two I/O events.
    fn now_ms(&self) -> i64;
}

pub trait Random {
    /// 32 random bytes.
    ///
    /// # Errors
    /// The runtime provides randomness only while it serves a request or an alarm.
    fn random(&self) -> Result<[u8; 32], String>;
}

pub trait Sleep {
    fn sleep(&self, time: Duration) -> impl Future<Output = ()>;
}

pub trait Spawn {
    /// Runs a task in the background of the request that started it. A panic in it is logged under `place`.
    fn spawn(&self, place: &'static str, task: impl Future<Output = ()> + 'static);
}

/// An object's own storage: its database, and the alarm stored in it.
pub trait ObjectStorage: Database {
    /// The time of the alarm in milliseconds; `None` if it is not set.
    fn alarm(&self) -> impl Future<Output = DbResult<Option<i64>>>;

    /// Replaces or removes the alarm. If there is no await between a write and this call, both commit together. After
    /// an error the alarm is unchanged.
    fn set_alarm(&self, at_ms: Option<i64>) -> DbResult;

    /// Waits until the writes so far are durable.
    fn sync(&self) -> impl Future<Output = DbResult>;

    /// The database's size in bytes.
    fn size(&self) -> DbResult<i64>;
}

pub trait ObjectCall {
    /// Calls an object and reads its answer. An idempotent operation is retried once after an error that is likely to
    /// be temporary, within the same `timeout`.
    ///
    /// # Errors
    /// The object's refusal, or a missing answer. If the answer is missing, the operation may or may not have been
    /// carried out.
    fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        timeout: Duration,
    ) -> impl Future<Output = Result<O::Answer, CallError>>;
}

/// The KV namespace of the published snapshots.
pub trait Kv {
    /// Reads a value; `None` if the key has none. The value may be a minute old. The error is a text for the log.
    fn get(&self, key: &str) -> impl Future<Output = Result<Option<Vec<u8>>, String>>;

    /// Stores a value. The error is a text for the log.
    fn put(&self, key: &str, bytes: &[u8]) -> impl Future<Output = Result<(), String>>;

    fn delete(&self, key: &str) -> impl Future<Output = Result<(), String>>;
}

pub trait Http {
    /// Sends a callback and reads the beginning of its answer, within `timeout`. Redirects are not followed.
    fn send(&self, request: &Request, timeout: Duration) -> impl Future<Output = HttpCall>;

    /// True if a TCP connection to the host of a URL opens within `timeout`. Sends nothing.
    fn opens(&self, url: &Url, timeout: Duration) -> impl Future<Output = bool>;
}
