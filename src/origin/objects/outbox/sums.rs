//! Sums for ledgers and counters, and their comparison with the log.
//!
//! - [`revenue_batches`] sends them;
//! - [`day`]: a day's payments in the log and in confirmed batches; [`reconcile`] compares them with the ledger's facts,
//!   [`comparisons`] counts what was found.

pub mod comparisons;
pub mod day;
pub mod reconcile;
pub mod revenue_batches;
