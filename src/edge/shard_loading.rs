//! Loads shards of the tracking snapshot from KV and from the catalog, and keeps the shards in memory up to date.

use std::cell::Cell;

use crate::{
    isolate::Isolate,
    shard_store::{CachedShard, ShardStore},
};
use contract::{catalog, kv};
use domain::snapshot::{
    envelope::checksum,
    tracking::{AnyShard, Manifest, ShardKind, Slot},
};
use platform::{concurrent::each, log, published, runtime, unreadable, workers::Workers};

/// The time for which KV may serve a shard from its cache, in seconds. A key's value never changes. The time is not
/// longer because KV may cache a miss for the same time.
pub const SHARD_TTL_S: u64 = 3_600;

/// Loads the shard of a slot that a manifest names. Logs a failure.
pub async fn from_kv(workers: &Workers, manifest: &Manifest, slot: Slot, confirmed_at_ms: i64) -> Option<CachedShard> {
    let read = async {
        let named = manifest.checksum(slot).ok_or("not in the manifest")?;
        let key = kv::shard_key(slot.kind, named);
        let bytes = published::read_value(workers, &key, SHARD_TTL_S).await?;
        open_named(manifest, slot, bytes.ok_or("not in KV")?, confirmed_at_ms)
    };
    let log = |error: &String| {
        log::warn("snapshots", format_args!("shard {} was not loaded from KV: {error}", slot.name()));
    };
    read.await.inspect_err(log).ok()
}

/// Opens the shard of a slot. The shard must have the checksum in the manifest.
pub fn open_named(
    manifest: &Manifest,
    slot: Slot,
    bytes: Vec<u8>,
    confirmed_at_ms: i64,
) -> Result<CachedShard, String> {
    if checksum(&bytes) != manifest.checksum(slot) {
        return Err("checksum differs from the manifest's".into());
    }
    held(manifest, slot, bytes, confirmed_at_ms)
}

/// Loads a shard from the catalog, bypassing KV. It may be newer than the manifest.
pub async fn from_catalog(workers: &Workers, manifest: &Manifest, slot: Slot) -> Result<CachedShard, String> {
    let confirmed_at_ms = runtime::now_ms();
    let bytes = published::read_object(workers, &catalog::shard_path(slot)).await?;
    let bytes = bytes.ok_or("not in the catalog")?;
    held(manifest, slot, bytes, confirmed_at_ms)
}

fn held(manifest: &Manifest, slot: Slot, bytes: Vec<u8>, confirmed_at_ms: i64) -> Result<CachedShard, String> {
    Ok(CachedShard {
        checksum: checksum(&bytes),
        shard: AnyShard::open(slot, bytes).map_err(unreadable::text("shard"))?,
        version: Cell::new(manifest.version()),
        as_of_ms: Cell::new(manifest.built_at_ms()),
        confirmed_at_ms: Cell::new(confirmed_at_ms),
    })
}

/// Confirms the held shards that a manifest names, and reloads the others. If a shard cannot be reloaded, the held one
/// stays.
pub async fn follow(workers: &Workers, isolate: &Isolate, manifest: &Manifest, confirmed_at_ms: i64) {
    for kind in ShardKind::ALL {
        follow_kind(workers, isolate.shards(kind), manifest, confirmed_at_ms).await;
    }
}

async fn follow_kind(workers: &Workers, store: &ShardStore, manifest: &Manifest, confirmed_at_ms: i64) {
    let mut outdated = Vec::new();
    store.held.for_each(|slot, held| {
        let named = manifest.checksum(*slot);
        if named.is_some() && named == held.checksum {
            let newer = held.confirmed_at_ms.get().max(confirmed_at_ms);
            held.confirmed_at_ms.set(newer);
            if manifest.version() > held.version.get() {
                held.version.set(manifest.version());
                held.as_of_ms.set(manifest.built_at_ms());
            }
        } else if named.is_some() && manifest.version() > held.version.get() {
            outdated.push(*slot);
        }
    });
    let load = |slot: Slot| async move {
        let loaded = match from_kv(workers, manifest, slot, confirmed_at_ms).await {
            Some(held) => Ok(held),
            None => from_catalog(workers, manifest, slot).await,
        };
        match loaded {
            Ok(held) => drop(store.insert(slot, held)),
            Err(error) => log::error("snapshots", format_args!("shard {} was not loaded: {error}", slot.name())),
        }
    };
    each(outdated, load).await;
}
