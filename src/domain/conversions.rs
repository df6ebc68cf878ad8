//! Conversions: `GET|POST /v2/tracking/conversion`, as pure functions (docs/DECISIONS.md, "Conversions"). They decide
//! what is written; the outbox in `origin` decides the order of writes.
//!
//! - [`parameters`]: parses a postback, whose fields may have several names;
//! - [`state`]: the table of a conversion's states, which decides when money moves;
//! - [`reward`]: which goal is paid, how much, and until when;
//! - [`ids`]: the key of a conversion and its transaction ids.

pub mod ids;
pub mod parameters;
pub mod reward;
pub mod state;
pub mod token;
