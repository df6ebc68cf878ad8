//! The contract between the edge, the origin and the origin's objects: each object has a module with its name,
//! operations and answers, and one module has the KV keys. The crate is pure.
//!
//! The two Workers are deployed one after the other, so a new origin must understand the old edge. Tests pin the JSON
//! of every operation.

#![cfg_attr(not(test), warn(missing_docs))]

pub mod accounts;
pub mod activity;
pub mod alarms;
pub mod attention;
pub mod catalog;
pub mod clicks;
pub mod counters;
pub mod isolates;
pub mod kv;
pub mod ledger;
pub mod operation;
pub mod origin;
pub mod outbox;
pub mod postbacks;
pub mod recovery;
pub mod register;
pub mod rewards;
mod stored_names;

/// True for a number that JSON may leave out.
pub(crate) fn is_zero(number: &i64) -> bool {
    *number == 0
}
