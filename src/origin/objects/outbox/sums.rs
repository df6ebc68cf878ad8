//! Batches and sums that are made from the log for other objects.
//!
//! - [`revenue_batches`]: batches of sums for ledgers and counters;
//! - [`journal`]: a copy of this outbox's writes in another outbox, from which this outbox is refilled after a restore;
//! - [`day`]: a day's payments; [`night`]: the payments of past days, for which the outbox vouches to its ledger;
//! - [`comparisons`]: counts of the nightly results.

pub mod comparisons;
pub mod day;
pub mod journal;
pub mod night;
pub mod revenue_batches;
pub mod sql;
