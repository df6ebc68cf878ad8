//! The KV namespace: keys of the snapshots, and the pointer, the one key that changes. The pointer lists the last three
//! versions of each snapshot, newest first, so that an isolate that cannot read the newest (KV converges in about a
//! minute, and caches misses) still finds one.

use serde::{Deserialize, Serialize};

/// The namespace's binding.
pub const BINDING: &str = "SNAPSHOTS";
/// How many versions the pointer lists.
pub const LISTED_VERSIONS: usize = 3;
/// The pointer's own key.
pub const KEY: &str = "snapshots";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    /// When the catalog last confirmed that the newest versions are current, in milliseconds. It moves with every rebuild,
    /// every 5 minutes, also when nothing changed: a snapshot's age counts from here, not from its last change.
    pub confirmed_at_ms: i64,
    pub tracking: Vec<u64>,
    pub listing: Vec<u64>,
}

/// The two snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotKind {
    Tracking,
    Listing,
}

impl SnapshotKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tracking => "tracking",
            Self::Listing => "listing",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Tracking, Self::Listing]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }

    /// A version's key. KV keys avoid `/`, which a store on local disk would take for a folder.
    pub fn key(self, version: u64) -> String {
        format!("{}-{version}", self.as_str())
    }
}

pub fn bodies_key(chunk: &str) -> String {
    format!("bodies-{chunk}")
}
