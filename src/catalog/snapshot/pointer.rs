//! The pointer: the one KV key that changes. It lists the last three versions of each snapshot, newest first, so that
//! an isolate which cannot read the newest (KV converges in about a minute, and caches misses) still finds one.

use serde::{Deserialize, Serialize};

/// How many versions the pointer lists.
pub const LISTED_VERSIONS: usize = 3;
/// The pointer's own key.
pub const KEY: &str = "snapshots";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    /// When the catalog last said that the newest versions are the truth, in milliseconds. It moves with every rebuild,
    /// every 5 minutes, also when nothing changed: a snapshot is as old as this, not as its last change.
    pub confirmed_at_ms: i64,
    pub tracking: Vec<u64>,
    pub listing: Vec<u64>,
}

/// KV keys avoid `/`, which a store on local disk would take for a folder.
pub fn tracking_key(version: u64) -> String {
    format!("tracking-{version}")
}

pub fn listing_key(version: u64) -> String {
    format!("listing-{version}")
}

pub fn bodies_key(chunk: &str) -> String {
    format!("bodies-{chunk}")
}
