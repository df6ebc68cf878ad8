//! The catalog's name, and the paths of its commands and of data sent as bytes.

use crate::{kv::SnapshotKind, operation::ObjectAddress};
use domain::snapshot::tracking::Slot;

/// The namespace's binding.
pub const BINDING: &str = "CATALOG";
/// The name of the only catalog object. With another name, the catalog would be lost.
pub const OBJECT_NAME: &str = "catalog";

/// The path of commands.
pub const COMMAND_PATH: &str = "/command";
/// The path of an import, whose body is the operator's file.
pub const IMPORT_PATH: &str = "/import";
/// The path that checks an import without applying it.
pub const IMPORT_CHECK_PATH: &str = "/import/check";
/// The path that rebuilds and publishes both snapshots.
pub const REFRESH_PATH: &str = "/refresh";
const SNAPSHOT_PATH: &str = "/snapshot/";
/// The prefix of the paths of chunks of offer bodies.
pub const CHUNK_PATH: &str = "/chunk/";
/// The prefix of the paths of shards of the tracking snapshot.
pub const SHARD_PATH: &str = "/shard/";

/// The catalog's address with this path.
pub fn address(path: impl Into<String>) -> ObjectAddress {
    ObjectAddress { binding: BINDING, name: OBJECT_NAME.into(), path: path.into() }
}

/// The path of the newest snapshot of a kind.
pub fn snapshot_path(kind: SnapshotKind) -> String {
    format!("{SNAPSHOT_PATH}{}", kind.as_str())
}

/// The path of a chunk of offer bodies, by its name in the listing.
pub fn chunk_path(key: &str) -> String {
    format!("{CHUNK_PATH}{key}")
}

/// The path of the newest shard in a slot of the tracking snapshot.
pub fn shard_path(slot: Slot) -> String {
    format!("{SHARD_PATH}{}", slot.name())
}
