//! Sums for ledgers and counters, and their comparison with the log.
//!
//! - [`revenue_batches`] sends them;
//! - [`day`]: a day's payments in the log and in confirmed batches, which the night compares; [`comparisons`] counts the
//!   differences.

pub mod comparisons;
pub mod day;
pub mod revenue_batches;
