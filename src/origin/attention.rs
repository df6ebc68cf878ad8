//! What wants the operator's attention: held and capped conversions, dead callbacks, endpoints that are disabled or fail,
//! objects that are nearly full, batches that are refused or late, and days that differ. One [`activity`](crate::activity)
//! object of the name `attention` has all that is open, so that the operator reads it in one call.
//!
//! - [`feed`]: in an object that has such items, their table and the reports about it;
//! - [`reports`] applies a report, [`list`] is the operator's list, and [`size`] has the sizes of objects;
//! - [`reported`] has the figures of isolates and of the last compared day, which want no attention by themselves.

pub mod feed;
pub mod list;
pub mod reported;
pub mod reports;
pub mod size;
pub mod sql;
