//! Batches and sums that are made from the log for other objects.
//!
//! - [`revenue_batches`] sends its sums to ledgers and counters;
//! - [`journal`]: a copy of this outbox's writes in another outbox, from which it is refilled after a restore;
//! - [`day`]: a day's payments; [`night`]: yesterday's payments, for which the outbox vouches to its ledger;
//!   [`comparisons`] counts the nights' results.

pub mod comparisons;
pub mod day;
pub mod journal;
pub mod night;
pub mod revenue_batches;
pub mod sql;
