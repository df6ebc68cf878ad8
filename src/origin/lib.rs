//! The origin Worker: one Durable Object kind a module, each over its own SQLite, and the operator's interface.
//!
//! All objects have one shape:
//! - `object.rs`, the shell: it parses a request, calls the service and answers; it exists only in Wasm;
//! - `service.rs`: the orchestration over the [platform's traits](platform::traits); production and simulation run the same;
//! - `sql.rs`: schema and statements;
//! - the rules beside them, each a function of the database, the time and a command.
//!
//! An object's operations and its name are in [`contract`].

pub mod batches;
mod callback_settings;
pub mod catalog;
pub mod clicks;
pub mod counters;
pub mod ledger;
pub mod outbox;

pub mod config;
pub mod description;
#[cfg(target_arch = "wasm32")]
mod entry;
pub mod limits;
#[cfg(target_arch = "wasm32")]
mod metrics;
#[cfg(target_arch = "wasm32")]
mod operator;
pub mod routes;
