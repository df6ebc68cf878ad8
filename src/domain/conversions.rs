//! Conversions: `GET|POST /v2/tracking/conversion` (docs/DECISIONS.md, "Conversions"), as pure functions. The order of writes is
//! the shell's; what is written, and what follows from it, is decided here.
//!
//! - [`parameters`]: what the advertiser's side sent, under all the names it may have;
//! - [`state`]: what a conversion becomes by it, and whether money moves;
//! - [`reward`]: which goal is paid, how much, and until when;
//! - [`ids`]: what a conversion is known by.

pub mod ids;
pub mod parameters;
pub mod reward;
pub mod state;
