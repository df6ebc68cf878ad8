//! The Durable Objects: eight kinds, each with its own SQLite database. None uses another's modules; they call each other by
//! the operations of [`contract`].
//!
//! Each kind is a module of the same shape:
//! - `object.rs`, the shell: parses a request, calls the service and answers; it exists only in Wasm;
//! - `service.rs`: orchestration over the [platform's traits](platform::traits), also run by the simulation;
//! - `sql.rs`: schema and statements;
//! - the rules beside them, each a function of the database, the time and a command.

pub mod accounts;
pub mod activity;
pub mod catalog;
pub mod clicks;
pub mod counters;
pub mod ledger;
pub mod outbox;
pub mod postbacks;
