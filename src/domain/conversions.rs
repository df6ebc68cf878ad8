//! Conversions: `GET|POST /v2/tracking/conversion`, as pure functions (docs/DECISIONS.md, "Conversions"). They decide
//! what is written; the outbox in `origin` decides the order of writes.
//!
//! - [`parameters`]: parses a postback, whose fields may have several names;
//! - [`state`]: the states of a conversion, and the reasons for which one is not paid;
//! - [`table`]: what each event does to a conversion in each state, which decides when money moves;
//! - [`terms`]: what an offer and an app promise at a click, and which goal of them a conversion pays;
//! - [`reward`]: how much is paid, and until when;
//! - [`shards`]: which of an app's outboxes keeps a conversion;
//! - [`ids`]: the key of a conversion and its transaction ids.

pub mod ids;
pub mod parameters;
pub mod reward;
pub mod shards;
pub mod state;
pub mod table;
pub mod terms;
pub mod token;
