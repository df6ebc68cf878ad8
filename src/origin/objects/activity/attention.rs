//! The items that need the operator's attention: held and capped conversions, dead callbacks, endpoints that are disabled or
//! fail, objects that are nearly full, batches that are refused or late, and days that differ. The objects with such items send
//! them ([`attention_feed`](crate::delivery::attention_feed)), so that the operator reads all open items in one call.
//!
//! - [`feed_batches`] applies a batch, [`list`] is the operator's list, [`size`] has the sizes of objects, and
//!   [`restored`] the items of objects that were put back;
//! - [`isolates`] has the figures of isolates and of the last compared day, which are not items.

pub mod feed_batches;
pub mod isolates;
pub mod list;
pub mod restored;
pub mod size;
pub mod sql;
