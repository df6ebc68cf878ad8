//! The origin Worker: eight kinds of Durable Objects, each with its own SQLite database, the operator's interface,
//! and those of the dashboard and the console.
//!
//! Each kind is a module of the same shape:
//! - `object.rs`, the shell: parses a request, calls the service and answers; it exists only in Wasm;
//! - `service.rs`: orchestration over the [platform's traits](platform::traits), also run by the simulation;
//! - `sql.rs`: schema and statements;
//! - the rules beside them, each a function of the database, the time and a command.
//!
//! [`contract`] defines each object's name and operations.

pub mod accounts;
pub mod activity;
pub mod attention;
pub mod batches;
mod callback_settings;
pub mod catalog;
pub mod clicks;
pub mod counters;
pub mod ledger;
pub mod outbox;
pub mod postbacks;

pub mod access;
#[cfg(target_arch = "wasm32")]
mod calls;
pub mod config;
#[cfg(target_arch = "wasm32")]
mod console;
pub mod dashboard;
pub mod description;
#[cfg(target_arch = "wasm32")]
mod entry;
pub mod handlers;
#[cfg(target_arch = "wasm32")]
mod health;
#[cfg(target_arch = "wasm32")]
mod isolate;
pub mod limits;
#[cfg(target_arch = "wasm32")]
mod metrics;
#[cfg(target_arch = "wasm32")]
mod operator;
#[cfg(target_arch = "wasm32")]
mod refusal;
#[cfg(target_arch = "wasm32")]
mod replays;
pub mod routes;
pub mod site;
