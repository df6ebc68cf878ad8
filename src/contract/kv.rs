//! The KV namespace: the keys of its values, and the pointer, the only key that changes. The pointer's value includes
//! the manifest of the tracking snapshot, so that a cold isolate needs no second read for the manifest. It also lists
//! the last three versions of the listing, newest first. KV takes about a minute to converge and caches misses, so an
//! isolate that cannot read the newest listing falls back to an older one.

use domain::snapshot::tracking::ShardKind;
use serde::{Deserialize, Serialize};

/// The namespace's binding.
pub const BINDING: &str = "SNAPSHOTS";
/// The number of listing versions in the pointer.
pub const LISTED_VERSIONS: usize = 3;
/// The pointer's own key.
pub const KEY: &str = "snapshots";

/// The value of the pointer's key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    /// The time when the catalog last confirmed that the newest versions are current, in milliseconds. The catalog
    /// rebuilds every 5 minutes and sets this time even if nothing changed. So a snapshot's age counts from the last
    /// confirmation and not from the last change.
    pub confirmed_at_ms: i64,
    /// The versions of the listing, newest first, at most [`LISTED_VERSIONS`].
    pub listing: Vec<u64>,
    /// The manifest's bytes; empty before the first manifest.
    #[serde(skip)]
    pub manifest: Vec<u8>,
}

impl Pointer {
    /// Returns the value for KV: a line of JSON, followed by the manifest.
    ///
    /// # Errors
    /// The pointer cannot be written as JSON.
    pub fn to_value(&self) -> Result<Vec<u8>, String> {
        let mut value = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        value.push(b'\n');
        value.extend_from_slice(&self.manifest);
        Ok(value)
    }

    /// Parses the value from KV.
    ///
    /// # Errors
    /// The value is not a pointer.
    pub fn parse(value: &[u8]) -> Result<Self, String> {
        let end = value.iter().position(|byte| *byte == b'\n');
        let (json, manifest) = end.and_then(|end| value.split_at_checked(end)).ok_or("no line")?;
        let json = str::from_utf8(json).map_err(|error| error.to_string())?;
        let pointer: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        Ok(Self { manifest: manifest.get(1..).unwrap_or_default().to_vec(), ..pointer })
    }
}

/// The two snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotKind {
    /// The tracking snapshot: its manifest names its shards.
    Tracking,
    /// The listing: the pointer lists its versions.
    Listing,
}

impl SnapshotKind {
    /// The name in paths and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tracking => "tracking",
            Self::Listing => "listing",
        }
    }
}

// Keys do not contain `/`, since a store on a local disk would treat the part before it as a folder.

/// The key of a version of the listing.
pub fn listing_key(version: u64) -> String {
    format!("listing-{version}")
}

/// The key of a chunk of offer bodies.
pub fn bodies_key(chunk: &str) -> String {
    format!("bodies-{chunk}")
}

/// The key of a shard of the tracking snapshot.
pub fn shard_key(kind: ShardKind, checksum: u64) -> String {
    format!("{}-{checksum:016x}", kind.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_read_as_it_was_written() {
        for manifest in [vec![], b"\n\x00{}\n".to_vec()] {
            let pointer = Pointer { confirmed_at_ms: 1_768_478_400_123, listing: vec![9, 8], manifest };
            assert_eq!(Pointer::parse(&pointer.to_value().unwrap()), Ok(pointer));
        }
    }

    #[test]
    fn other_values_are_not_parsed_as_a_pointer() {
        for value in [&b""[..], b"{}", b"{}\n", b"\n{\"confirmed_at_ms\":1,\"listing\":[]}"] {
            assert!(Pointer::parse(value).is_err(), "{value:?}");
        }
    }
}
