//! The parts of a click: its parameters, its sealed record, and the template of its target. [`clicks`](crate::clicks)
//! combines them into the answer to the click. See docs/DECISIONS.md, "Clicks".
//!
//! Reading the request:
//! - [`parameters`]: parses and checks the click parameters;
//! - [`user_agent`]: the device's platform, and whether the click is confirmed;
//! - [`alphabet`]: the characters allowed in identifiers and custom parameters.
//!
//! Answering it:
//! - [`signature`]: checks a click's signature, if its app signs clicks;
//! - [`link`]: makes a tracking URL, as an app would;
//! - [`click`]: the record of a click that is sealed into its click id;
//! - [`click_id`]: seals and opens click ids, with the encoding of [`click_codec`] and the service's [`keys`];
//! - [`target`]: checks redirect templates and fills in their macros;
//! - [`click_counts`]: adds up clicks after they were answered, and numbers the batches sent to the counters.

pub mod alphabet;
pub mod click;
pub mod click_codec;
pub mod click_counts;
pub mod click_id;
pub mod keys;
pub mod link;
pub mod parameters;
pub mod signature;
pub mod target;
pub mod user_agent;

pub use click::Click;
pub use click_id::{Nonce, OpenError, Opened, Sealed};
