//! What the log is made into for other objects.
//!
//! - [`revenue_batches`] sends its sums to ledgers and counters;
//! - [`journal`]: what another outbox keeps of this one, so that it can be put back;
//! - [`day`]: a day's payments; [`night`]: yesterday's, for which the outbox vouches to its ledger; [`comparisons`] counts what
//!   nights found.

pub mod comparisons;
pub mod day;
pub mod journal;
pub mod night;
pub mod revenue_batches;
pub mod sql;
