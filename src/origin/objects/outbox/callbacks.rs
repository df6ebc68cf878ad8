//! Completion callbacks.
//!
//! - [`deliveries`]: which are due, and what becomes of an attempt, which [`delivery_log`] counts;
//! - [`replay`]: the operator's replays; [`bulk_replay`]: a publisher's of many;
//! - [`tester`]: test callbacks.

pub mod bulk_replay;
pub mod deliveries;
pub mod delivery_log;
pub mod replay;
pub mod tester;
