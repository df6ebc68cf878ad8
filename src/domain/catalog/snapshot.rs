//! Snapshots: what the edge knows of the catalog. They are built in `origin/catalog`, travel through KV as immutable
//! values, and are read in place, with nothing to parse at a cold start.
//!
//! - [`tracking`]: what a click, a credential check or a conversion needs;
//! - [`listing`]: the index of the offers that may be listed; [`bodies`] holds their texts, in content-addressed chunks;
//! - [`envelope`] and [`columns`]: what all of them are made of.

pub mod bodies;
pub mod columns;
pub mod envelope;
pub mod listing;
#[cfg(test)]
pub(crate) mod sample;
pub mod tracking;
