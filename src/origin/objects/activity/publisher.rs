//! The activity of a publisher, as its dashboard reads it.
//!
//! - [`feed_batches`]: applies an outbox's batch;
//! - [`rewards`]: the list of entries;
//! - [`overview`]: counts, endpoints, and the object's lag behind its outboxes;
//! - [`replays`]: replays of many callbacks in the background.

pub mod feed_batches;
pub mod overview;
pub mod replays;
pub mod rewards;
pub mod sql;
