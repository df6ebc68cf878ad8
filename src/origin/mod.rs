//! The origin: one Durable Object a file, each over its own SQLite. What an object does is a pure function of its
//! database, the time and a command, so that it runs under `cargo test` on the same SQL; the shells that Workers
//! needs exist only in Wasm.

pub mod database;
