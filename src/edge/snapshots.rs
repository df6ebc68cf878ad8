//! Loads the listing and the manifest of the tracking snapshot into the isolate (docs/ARCHITECTURE.md, "Snapshots"). A
//! request uses the current snapshot while a newer one is loaded in the background. Only a cold isolate waits: for KV
//! and, after one failure of KV, for the catalog. If both fail, it answers 503. [`shards`](crate::shards) finds the
//! shards.

use std::rc::Rc;

use worker::Delay;

use crate::{
    isolate::{Isolate, RequestContext, SnapshotSlot},
    limits::Pool,
    shard_loading,
};
use contract::{
    catalog,
    kv::{self, Pointer, SnapshotKind},
};
use domain::{
    model::{ApiError, DAY_MS, MINUTE_MS, SECOND_MS, common},
    offers::selection::Selector,
    snapshot::{bodies::Chunk, listing::Listing, tracking::Manifest},
};
use platform::{
    catch_panics, isolate_metrics, log, log_panics,
    published::{self, VALUE_TTL_S},
    runtime, unreadable,
    workers::Workers,
};

/// Maximum time since the pointer was last read, in milliseconds, for which the listing's bodies are certainly in KV.
/// Bodies are deleted an hour after their listing leaves the pointer.
pub const BODIES_IDLE_MS: i64 = 30 * MINUTE_MS;
/// Maximum time since the pointer was last read, in milliseconds, for which credentials may be checked. A replaced
/// Pub-Key or a revoked token must stop working within two minutes. Publishing takes seconds, and KV may answer from
/// its cache for 60 s.
pub const CREDENTIALS_IDLE_MS: i64 = 50 * SECOND_MS;
/// The lease of a load, in milliseconds. After the lease, another request may load.
const LOADING_MS: i64 = 10 * SECOND_MS;
/// The time for which a cold isolate answers 503 after neither KV nor the catalog had a snapshot, in milliseconds.
const UNAVAILABLE_MS: i64 = SECOND_MS;

/// Maximum time since a shard's last confirmation for which it may check credentials, in milliseconds. After that time,
/// replaced Pub-Keys and revoked tokens must have stopped working.
pub const CREDENTIALS_VALID_MS: i64 = DAY_MS;

/// A kind of snapshot that the pointer names.
pub trait Snapshot: Sized {
    const KIND: SnapshotKind;
    fn open(bytes: Vec<u8>) -> Result<Self, String>;
    fn version(&self) -> u64;
    fn slot(isolate: &Isolate) -> &SnapshotSlot<Self>;

    /// Loads and stores the newest readable snapshot that the pointer names, unless the isolate has it.
    async fn adopt(workers: &Workers, isolate: &Isolate, pointer: &Pointer) -> Option<Rc<Self>>;

    /// Loads the data that a stored snapshot refers to.
    async fn follow(workers: &Workers, isolate: &Isolate, stored: &Self);
}

impl Snapshot for Manifest {
    const KIND: SnapshotKind = SnapshotKind::Tracking;

    fn open(bytes: Vec<u8>) -> Result<Self, String> {
        Self::open(bytes).map_err(unreadable::text("manifest"))
    }

    fn version(&self) -> u64 {
        self.version()
    }

    fn slot(isolate: &Isolate) -> &SnapshotSlot<Self> {
        &isolate.manifest
    }

    async fn adopt(workers: &Workers, isolate: &Isolate, pointer: &Pointer) -> Option<Rc<Self>> {
        match store_manifest(isolate, pointer) {
            Ok((current, is_of_pointer)) => {
                if is_of_pointer && isolate.holds_shards() {
                    Self::follow(workers, isolate, &current).await;
                }
                Some(current)
            }
            Err(damage) => {
                log::error("snapshots", format_args!("the manifest is not used: {damage}"));
                isolate.manifest.get()
            }
        }
    }

    async fn follow(workers: &Workers, isolate: &Isolate, stored: &Self) {
        shard_loading::follow(workers, isolate, stored, isolate.manifest.confirmed_at_ms.get()).await;
    }
}

impl Snapshot for Selector {
    const KIND: SnapshotKind = SnapshotKind::Listing;

    fn open(bytes: Vec<u8>) -> Result<Self, String> {
        Listing::open(bytes).map(Self::new).map_err(unreadable::text("listing"))
    }

    fn version(&self) -> u64 {
        self.listing().version()
    }

    fn slot(isolate: &Isolate) -> &SnapshotSlot<Self> {
        &isolate.listing
    }

    /// Skips versions that are missing, damaged or in an unknown format. The current listing stays until a newer one is
    /// loaded.
    async fn adopt(workers: &Workers, isolate: &Isolate, pointer: &Pointer) -> Option<Rc<Self>> {
        let slot = &isolate.listing;
        for &version in &pointer.listing {
            if let Some(own) = slot.get()
                && own.version() >= version
            {
                return Some(own);
            }
            let read = published::read_value(workers, &kv::listing_key(version), VALUE_TTL_S).await;
            match read.map(|bytes| bytes.map(Self::open)) {
                Ok(Some(Ok(listing))) => return Some(store_if_newer(slot, listing)),
                Ok(Some(Err(damage))) => {
                    log::error("snapshots", format_args!("listing {version} is not used: {damage}"))
                }
                Ok(None) => log::warn("snapshots", format_args!("listing {version} is not in KV")),
                Err(error) => log::warn("snapshots", format_args!("listing {version} was not loaded from KV: {error}")),
            }
        }
        slot.get()
    }

    async fn follow(_: &Workers, _: &Isolate, _: &Self) {}
}

/// Stores a pointer's manifest, unless the isolate has a newer one: after a refresh the isolate may be ahead of KV.
/// Returns the current manifest, and whether it is the pointer's.
fn store_manifest(isolate: &Isolate, pointer: &Pointer) -> Result<(Rc<Manifest>, bool), String> {
    let slot = &isolate.manifest;
    let newest = <Manifest as Snapshot>::open(pointer.manifest.clone())?;
    let version = newest.version();
    let current = store_if_newer(slot, newest);
    let is_of_pointer = current.version() == version;
    if is_of_pointer {
        slot.confirm(pointer.confirmed_at_ms);
    }
    Ok((current, is_of_pointer))
}

/// Stores the manifest of the pointer that a click of a cold isolate has read, unless another request has stored one.
///
/// # Errors
/// The value is not a pointer with a valid manifest.
pub fn adopt_first(isolate: &Isolate, value: &[u8], asked_at_ms: i64) -> Result<(), String> {
    if isolate.manifest.get().is_some() {
        return Ok(());
    }
    let pointer = Pointer::parse(value)?;
    store_manifest(isolate, &pointer)?;
    isolate.revalidated_at_ms.set(asked_at_ms);
    isolate.pointer_read_at_ms.set(asked_at_ms);
    Ok(())
}

/// Returns the current snapshot. A cold isolate loads it first.
pub async fn current<S: Snapshot>(context: &RequestContext) -> Result<Rc<S>, ApiError> {
    if let Some(snapshot) = S::slot(&context.isolate).get() {
        revalidate_in_background(context);
        return Ok(snapshot);
    }
    let starts = context.isolate.pools.get(Pool::Starts);
    let _permit = starts.acquire_any(context.now_ms)?;
    let slot = S::slot(&context.isolate);
    // Only one request loads, since several loads of many MB would not fit the isolate. The other requests poll with
    // their own timers, since they may not await that request's future.
    while slot.is_loading(runtime::now_ms()) {
        Delay::from(published::POLL_INTERVAL).await;
    }
    if let Some(loaded) = slot.get() {
        return Ok(loaded);
    }
    if slot.is_unavailable(runtime::now_ms()) {
        return Err(common::UNAVAILABLE);
    }
    load_first(&context.workers, &context.isolate).await.ok_or(common::UNAVAILABLE)
}

/// Loads or revalidates the snapshot in the background, for health checks, which must be answered even if a load hangs.
pub fn keep_current<S: Snapshot + 'static>(context: &RequestContext) {
    let slot = S::slot(&context.isolate);
    if slot.get().is_some() {
        revalidate_in_background(context);
    } else if slot.needs_load(runtime::now_ms()) {
        let (workers, isolate) = (context.workers.clone(), Rc::clone(&context.isolate));
        // Set before another request can run, so that later requests wait for this load.
        slot.loading_until_ms.set(runtime::now_ms() + LOADING_MS);
        context.go_on(async move {
            load_first::<S>(&workers, &isolate).await;
        });
    }
}

async fn load_first<S: Snapshot>(workers: &Workers, isolate: &Isolate) -> Option<Rc<S>> {
    let slot = S::slot(isolate);
    slot.loading_until_ms.set(runtime::now_ms() + LOADING_MS);
    let loaded = catch_panics(load_cold::<S>(workers, isolate)).await;
    slot.loading_until_ms.set(0);
    let loaded = loaded.unwrap_or_else(|panic| {
        log::error("snapshots", panic);
        None
    });
    if loaded.is_none() {
        slot.unavailable_until_ms.set(runtime::now_ms() + UNAVAILABLE_MS);
    }
    loaded
}

/// Returns the current snapshot, after a revalidation if the isolate has read no pointer for longer than `max_idle_ms`.
/// One request reads the pointer while concurrent requests wait. If the sender of the reading request gives up, the
/// next request reads the pointer. After a failed read, no request waits again before `max_idle_ms` has passed.
pub async fn recent<S: Snapshot>(context: &RequestContext, max_idle_ms: i64) -> Result<Rc<S>, ApiError> {
    let isolate = &context.isolate;
    while S::slot(isolate).get().is_some() && must_read_first(isolate, context.now_ms, max_idle_ms) {
        if isolate.revalidating_until_ms.get() > runtime::now_ms() {
            Delay::from(published::POLL_INTERVAL).await;
        } else {
            isolate.revalidated_at_ms.set(context.now_ms);
            revalidate(&context.workers, isolate).await;
        }
    }
    current(context).await
}

/// True if a request must wait for the pointer, because no read has ended for longer than `max_idle_ms`, and none has
/// failed since.
pub fn must_read_first(isolate: &Isolate, now_ms: i64, max_idle_ms: i64) -> bool {
    let is_longer_ago = |at_ms: i64| now_ms.saturating_sub(at_ms) > max_idle_ms;
    let has_failed = !isolate.is_pointer_known.get() && !is_longer_ago(isolate.revalidated_at_ms.get());
    is_longer_ago(isolate.pointer_read_at_ms.get()) && !has_failed
}

async fn load_cold<S: Snapshot>(workers: &Workers, isolate: &Isolate) -> Option<Rc<S>> {
    let started_at_ms = runtime::now_ms();
    let from_kv = match published::read_pointer(workers).await {
        Ok(Some(pointer)) => {
            isolate.revalidated_at_ms.set(started_at_ms);
            let adopted = S::adopt(workers, isolate, &pointer).await;
            isolate.pointer_read_at_ms.set(started_at_ms);
            adopted
        }
        Ok(None) => None,
        Err(error) => {
            log::error("kv", format_args!("the pointer was not read: {error}"));
            None
        }
    };
    if from_kv.is_some() {
        return from_kv;
    }
    let loaded = load_from_catalog::<S>(workers, isolate).await;
    loaded
        .inspect_err(|error| log::error("snapshots", format_args!("no {} was loaded: {error}", S::KIND.as_str())))
        .ok()
}

/// Loads the newest snapshot from the catalog, bypassing KV.
pub async fn load_from_catalog<S: Snapshot>(workers: &Workers, isolate: &Isolate) -> Result<Rc<S>, String> {
    let path = catalog::snapshot_path(S::KIND);
    let bytes = published::read_object(workers, &path).await?.ok_or("the catalog does not have it")?;
    let snapshot = S::open(bytes)?;
    let slot = S::slot(isolate);
    slot.confirm(runtime::now_ms());
    let stored = store_if_newer(slot, snapshot);
    S::follow(workers, isolate, &stored).await;
    Ok(stored)
}

/// Stores a snapshot unless the current one is at least as new: a refresh may have stored one during a read from KV.
fn store_if_newer<S: Snapshot>(slot: &SnapshotSlot<S>, snapshot: S) -> Rc<S> {
    slot.replace_unless(snapshot, |own, other| own.version() >= other.version())
}

/// True if the manifest was confirmed recently enough to check credentials with its shards.
pub fn are_credentials_known(isolate: &Isolate, now_ms: i64) -> bool {
    now_ms.saturating_sub(isolate.manifest.confirmed_at_ms.get()) <= CREDENTIALS_VALID_MS
}

/// True if a request for the pointer is due.
pub fn is_due(isolate: &Isolate, now_ms: i64) -> bool {
    now_ms.saturating_sub(isolate.revalidated_at_ms.get()) >= isolate.config.revalidate_ms
}

/// Reads the pointer in the background, if a read is due. If the runtime ends this early, a later request tries again.
fn revalidate_in_background(context: &RequestContext) {
    let isolate = Rc::clone(&context.isolate);
    if !is_due(&isolate, context.now_ms) {
        return;
    }
    isolate.revalidated_at_ms.set(context.now_ms);
    let workers = context.workers.clone();
    context.go_on(log_panics("snapshots", async move {
        revalidate_and_tell(&workers, &isolate).await;
    }));
}

/// Reads the pointer, and loads the newer snapshots and shards that the isolate should hold.
pub async fn revalidate(workers: &Workers, isolate: &Isolate) {
    let started_at_ms = runtime::now_ms();
    isolate.revalidating_until_ms.set(started_at_ms + LOADING_MS);
    // `pointer_read_at_ms` is set only after the named snapshots are loaded, so that requests wait for them until then.
    let pointer = read_pointer(workers).await;
    if let Some(pointer) = &pointer {
        if isolate.manifest.get().is_some() {
            Manifest::adopt(workers, isolate, pointer).await;
        }
        if isolate.listing.get().is_some() {
            Selector::adopt(workers, isolate, pointer).await;
        }
        isolate.pointer_read_at_ms.set(started_at_ms);
    }
    isolate.is_pointer_known.set(pointer.is_some());
    isolate.revalidating_until_ms.set(0);
}

/// Reads the pointer, and then reports the isolate's counts, which are less urgent.
pub async fn revalidate_and_tell(workers: &Workers, isolate: &Isolate) {
    revalidate(workers, isolate).await;
    isolate_metrics::tell_if_due(workers).await;
}

/// Reads the pointer again, for a request that could not load a shard that the manifest names.
pub async fn reread_pointer(workers: &Workers, isolate: &Isolate) {
    if let Some(pointer) = read_pointer(workers).await {
        Manifest::adopt(workers, isolate, &pointer).await;
    }
}

/// Reads the pointer. Logs the reason if there is none.
async fn read_pointer(workers: &Workers) -> Option<Pointer> {
    match published::read_pointer(workers).await {
        Ok(Some(pointer)) => return Some(pointer),
        Ok(None) => log::warn("kv", "KV has no pointer"),
        Err(error) => log::warn("kv", format_args!("the pointer was not read: {error}")),
    }
    None
}

/// Returns a chunk of offer bodies from the cache, from KV, or else from the catalog.
pub async fn chunk(workers: &Workers, isolate: &Isolate, key: &str) -> Result<Rc<Chunk>, ApiError> {
    if let Some(chunk) = isolate.chunks.get(&key.to_owned()) {
        return Ok(chunk);
    }
    let from_kv =
        published::read_value(workers, &kv::bodies_key(key), VALUE_TTL_S).await.and_then(|bytes| match bytes {
            Some(bytes) => Chunk::open(bytes).map_err(unreadable::text("bodies")),
            None => Err("not in KV".into()),
        });
    let chunk = match from_kv {
        Ok(chunk) => chunk,
        Err(error) => {
            log::warn("snapshots", format_args!("chunk {key} was not loaded from KV: {error}"));
            let bytes = published::read_object(workers, &catalog::chunk_path(key)).await;
            let opened = bytes.and_then(|bytes| {
                Chunk::open(bytes.ok_or("the catalog does not have it")?).map_err(unreadable::text("bodies"))
            });
            opened.map_err(|error| {
                log::error("snapshots", format_args!("chunk {key} was not loaded: {error}"));
                common::UNAVAILABLE
            })?
        }
    };
    let size = chunk.size();
    Ok(isolate.chunks.insert(key.to_owned(), chunk, size))
}
