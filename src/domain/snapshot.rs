//! Snapshots: the edge's copies of the catalog. The catalog object builds them and publishes them in KV as immutable
//! values. They are read in place, so a cold start parses nothing.
//!
//! - [`tracking`]: the data for clicks, credential checks and conversions, in shards;
//! - [`listing`]: the index of the offers that may be listed; [`bodies`] holds their JSON, in content-addressed chunks;
//! - [`envelope`] and `columns`: the format of all of them.

pub mod bodies;
mod columns;
pub mod envelope;
pub mod listing;
#[cfg(test)]
pub(crate) mod sample;
pub mod tracking;
