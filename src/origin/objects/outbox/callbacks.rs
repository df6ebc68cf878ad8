//! Completion callbacks.
//!
//! - [`deliveries`]: due callbacks and the results of attempts; [`delivery_log`]: counts and log lines of attempts;
//! - [`replay`]: the operator's replays; [`bulk_replay`]: a publisher's replays of many callbacks;
//! - [`tester`]: test callbacks.

pub mod bulk_replay;
pub mod deliveries;
pub mod delivery_log;
pub mod replay;
pub mod tester;
