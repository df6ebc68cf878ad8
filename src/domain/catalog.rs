//! The catalog: publishers and their apps, advertisers and their offers as documents (docs/OPERATING.md, "The
//! operator's API"), and the snapshots of them that the edge reads.

pub mod advertiser;
pub mod app;
pub mod offer;
pub mod own_app;
pub mod plain_text;
pub mod publisher;
pub mod snapshot;

pub use offer::{Goal, Offer};
