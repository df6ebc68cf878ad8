//! Conversions: `GET|POST /v2/tracking/conversion`, as pure functions (docs/DECISIONS.md, "Conversions"). They decide
//! what is written; the outbox in `origin` decides the order of writes.
//!
//! - [`parameters`]: parses a postback, whose fields may have several names;
//! - [`received`]: reads a postback for display, even an invalid one, with its secrets masked;
//! - [`verdict`]: explains an answer in words, and how to fix its cause;
//! - [`state`]: the states of a conversion, and the reasons for which one is not paid;
//! - [`table`]: the effect of each event on a conversion in each state, which decides when money moves;
//! - [`terms`]: what an offer and an app promise for a click, and which of the offer's goals a conversion pays;
//! - [`reward`]: how much is paid, and until when;
//! - [`ids`]: the key of a conversion and its transaction ids; [`log_number`]: the numbers of the log's entries.

pub mod ids;
pub mod log_number;
pub mod parameters;
pub mod received;
pub mod reward;
pub mod state;
pub mod table;
pub mod terms;
pub mod token;
pub mod verdict;
