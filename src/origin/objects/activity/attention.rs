//! The items that need the operator's attention: held and capped conversions, dead callbacks, endpoints that are
//! disabled or fail, objects that are nearly full or restored, batches that are refused or late, lost terms, late
//! facts, and days whose totals differ or are unconfirmed. The objects with such items send them
//! ([`attention_feed`](crate::delivery::attention_feed)), so that the operator reads all open items in one call.
//!
//! - [`feed_batches`]: applies a batch;
//! - [`list`]: the operator's list;
//! - [`size`]: the sizes of objects;
//! - [`restored`]: the items of restored objects;
//! - [`isolates`]: the figures of isolates and of the last compared day, which are not items.

pub mod feed_batches;
pub mod isolates;
pub mod list;
pub mod restored;
pub mod size;
pub mod sql;
