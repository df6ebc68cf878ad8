//! The Workers runtime behind small traits, and the parts that both Workers share: objects' storage and alarms, calls
//! to objects, HTTP requests and answers, the log, concurrency limits, and containment of panics.
//!
//! Modules that need the runtime exist only in Wasm. The others are built and tested natively.

pub mod byte_cache;
pub mod concurrency_limit;
pub mod concurrent;
pub mod database;
#[cfg(target_arch = "wasm32")]
pub mod durable;
pub mod failure;
pub mod faults;
pub mod http;
pub mod http_call;
#[cfg(target_arch = "wasm32")]
pub mod isolate_metrics;
pub mod keyed_flights;
pub mod log;
pub mod migrations;
#[cfg(target_arch = "wasm32")]
pub mod object_call;
#[cfg(target_arch = "wasm32")]
pub mod object_http;
pub mod object_shell;
pub mod panics;
pub mod prometheus;
#[cfg(target_arch = "wasm32")]
pub mod published;
#[cfg(target_arch = "wasm32")]
pub mod runtime;
pub mod single_flight;
pub mod traits;
pub mod unreadable;
#[cfg(target_arch = "wasm32")]
pub mod workers;

pub use database::{Database, DatabaseError, DbResult, Row, Value};
pub use failure::{Failure, Result};
pub use panics::{catch_panics, log_panics, panic_to_failure, panics_to_failure};
pub use traits::{Clock, Kv, ObjectCall, ObjectStorage, Random, Sleep};

/// Cloudflare's limit of concurrent connections for one invocation. Further connections queue.
pub const CONNECTIONS: usize = 6;

const _: () = assert!(domain::callbacks::health::MAX_IN_FLIGHT <= CONNECTIONS);
