//! Sums of the log.
//!
//! - [`revenue_batches`] sends them to ledgers and counters;
//! - [`day`]: a day's payments; [`night`]: yesterday's, for which the outbox vouches to its ledger; [`comparisons`] counts what
//!   nights found.

pub mod comparisons;
pub mod day;
pub mod night;
pub mod revenue_batches;
pub mod sql;
