//! The KV namespace: the keys of the snapshots, and the pointer, the only key that changes. The pointer lists the last
//! three versions of each snapshot, newest first. KV takes about a minute to converge and caches misses, so an isolate
//! that cannot read the newest version falls back to an older one.

use serde::{Deserialize, Serialize};

/// The namespace's binding.
pub const BINDING: &str = "SNAPSHOTS";
/// Number of versions of each snapshot in the pointer.
pub const LISTED_VERSIONS: usize = 3;
/// The pointer's own key.
pub const KEY: &str = "snapshots";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    /// The time when the catalog last confirmed that the newest versions are current, in milliseconds. Every rebuild
    /// sets it, every 5 minutes, even without a change: a snapshot's age counts from here and not from its last change.
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

    /// A version's key. Keys do not contain `/`, which a store on local disk would take for a folder.
    pub fn key(self, version: u64) -> String {
        format!("{}-{version}", self.as_str())
    }
}

pub fn bodies_key(chunk: &str) -> String {
    format!("bodies-{chunk}")
}
