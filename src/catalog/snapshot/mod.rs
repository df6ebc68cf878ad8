//! Snapshots: what the edge knows of the catalog. They are built in `origin/catalog`, travel through KV as immutable
//! values, and are read in place, with nothing to parse at a cold start.
//!
//! - `tracking`: what a click, a credential check or a conversion needs.
//! - `listing`: the index of the offers that may be listed; `body` holds their texts, in content-addressed chunks.

pub mod envelope;
