//! The origin: one Durable Object a module, each over its own SQLite. What an object does is a pure function of its
//! database, the time and a command, so that it runs under `cargo test` on the same SQL; the shells that Workers
//! needs exist only in Wasm.
//!
//! An object is: its commands and replies ([`command`]), its schema ([`migrations`]) and SQL, `handle` for a command,
//! `alarm` and `next_alarm` for what time does to it, a pinned `object_name`, and a shell of a dozen lines.

/// An invocation has six connections; what asks for more waits.
pub const CONNECTIONS: usize = 6;

#[cfg(target_arch = "wasm32")]
pub mod call;
pub mod catalog;
pub mod clicks;
pub mod command;
pub mod counters;
pub mod database;
#[cfg(target_arch = "wasm32")]
pub mod durable;
pub mod forward;
#[cfg(target_arch = "wasm32")]
pub mod forwarding;
pub mod ledger;
pub mod migrations;
pub mod outbox;
pub mod sharing;
#[cfg(target_arch = "wasm32")]
pub mod shell;
