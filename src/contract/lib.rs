//! What the edge and the origin say to each other, and the origin's objects among themselves: one module for each object
//! with its name, its operations and their answers, and the KV keys. Everything here is pure.
//!
//! The two Workers are deployed one after the other, so a new origin must understand the old edge. Tests pin the JSON of
//! every operation.

pub mod catalog;
pub mod clicks;
pub mod counters;
pub mod kv;
pub mod ledger;
pub mod operation;
pub mod origin;
pub mod outbox;
