//! The catalog: publishers and their apps, advertisers and their offers as documents (docs/OPERATING.md, "The
//! operator's API").

pub mod advertiser;
pub mod app;
pub mod changes;
pub mod offer;
pub mod own_app;
pub mod plain_text;
pub mod publisher;

pub use offer::{Goal, Offer};
