//! Loads snapshots into the isolate (docs/ARCHITECTURE.md, "Snapshots"). A request is served from the current snapshot
//! while a newer one is loaded in the background. Only a cold isolate waits: for KV, and if that fails once for the
//! catalog. Then it answers 503.

use std::{rc::Rc, time::Duration};

use worker::{Delay, Method, Request};

use crate::{
    isolate::{Isolate, RequestContext, SnapshotSlot},
    limits::Pool,
};
use contract::{
    catalog,
    kv::{self, Pointer, SnapshotKind},
};
use domain::{
    catalog::snapshot::{bodies::Chunk, envelope::Damage, listing::Listing, tracking::Tracking},
    model::{
        api_error::{ApiError, common},
        time::{DAY_MS, MINUTE_MS, SECOND_MS},
    },
    offers::selection::Selector,
};
use platform::{
    log, object_call,
    panics::{catch_panics, log_panics},
    runtime::{self, with_timeout},
    workers::Workers,
};

/// The time for which KV may serve the pointer from its cache, in seconds: the documented minimum.
const POINTER_TTL_S: u64 = 60;
/// The timeout of a KV read. It is short, so that a cold isolate falls back to the catalog when KV hangs.
const KV_TIMEOUT: Duration = Duration::from_secs(3);
/// The timeout of the catalog.
const CATALOG_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest time without a request for the pointer after which bodies of the listing may have left KV: they are
/// deleted an hour after the listing left the pointer.
pub const BODIES_IDLE_MS: i64 = 30 * MINUTE_MS;
/// The same for a revoked token, which must end within two minutes: publishing takes up to 10 s, and KV's cache 60 s.
pub const TOKENS_IDLE_MS: i64 = 50 * SECOND_MS;
/// How often a request looks whether another one has loaded what it waits for.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The lease of a load, after which another request may load.
const LOADING_MS: i64 = 10 * SECOND_MS;
/// The time for which a cold isolate answers 503 after KV and the catalog had no snapshot.
const UNAVAILABLE_MS: i64 = SECOND_MS;

/// The longest use of an unconfirmed snapshot to check credentials, since a replaced Pub-Key or a revoked token must stop
/// working.
const CREDENTIALS_VALID_MS: i64 = DAY_MS;

/// A kind of snapshot in an isolate.
pub trait Snapshot: Sized {
    const KIND: SnapshotKind;
    fn open(bytes: Vec<u8>) -> Result<Self, Damage>;
    fn version(&self) -> u64;
    fn built_at_ms(&self) -> i64;
    fn slot(isolate: &Isolate) -> &SnapshotSlot<Self>;
    /// The published versions, newest first.
    fn versions(pointer: &Pointer) -> &[u64];
}

impl Snapshot for Tracking {
    const KIND: SnapshotKind = SnapshotKind::Tracking;

    fn open(bytes: Vec<u8>) -> Result<Self, Damage> {
        Self::open(bytes)
    }

    fn version(&self) -> u64 {
        self.version()
    }

    fn built_at_ms(&self) -> i64 {
        self.built_at_ms()
    }

    fn slot(isolate: &Isolate) -> &SnapshotSlot<Self> {
        &isolate.tracking
    }

    fn versions(pointer: &Pointer) -> &[u64] {
        &pointer.tracking
    }
}

impl Snapshot for Selector {
    const KIND: SnapshotKind = SnapshotKind::Listing;

    fn open(bytes: Vec<u8>) -> Result<Self, Damage> {
        Listing::open(bytes).map(Self::new)
    }

    fn version(&self) -> u64 {
        self.listing().version()
    }

    fn built_at_ms(&self) -> i64 {
        self.listing().built_at_ms()
    }

    fn slot(isolate: &Isolate) -> &SnapshotSlot<Self> {
        &isolate.listing
    }

    fn versions(pointer: &Pointer) -> &[u64] {
        &pointer.listing
    }
}

/// The current snapshot. A cold isolate loads it first.
pub async fn current<S: Snapshot>(context: &RequestContext) -> Result<Rc<S>, ApiError> {
    if let Some(snapshot) = S::slot(&context.isolate).get() {
        revalidate_in_background(context);
        return Ok(snapshot);
    }
    let _permit = context
        .isolate
        .pools
        .get(Pool::Starts)
        .acquire_any(context.now_ms)?;
    let slot = S::slot(&context.isolate);
    // Only one request loads, since several loads of many MB would not fit the isolate. The others poll by timers of
    // their own, since they may not await its future.
    while slot.is_loading(runtime::now_ms()) {
        Delay::from(POLL_INTERVAL).await;
    }
    if let Some(loaded) = slot.get() {
        return Ok(loaded);
    }
    if slot.is_unavailable(runtime::now_ms()) {
        return Err(common::UNAVAILABLE);
    }
    load_first(&context.workers, &context.isolate)
        .await
        .ok_or(common::UNAVAILABLE)
}

/// Loads or revalidates the snapshot in the background, for health checks, which must be answered even if a load hangs.
pub fn keep_current<S: Snapshot + 'static>(context: &RequestContext) {
    let slot = S::slot(&context.isolate);
    if slot.get().is_some() {
        revalidate_in_background(context);
    } else if slot.needs_load(runtime::now_ms()) {
        let (workers, isolate) = (context.workers.clone(), Rc::clone(&context.isolate));
        // Set before another request can run, so that later ones wait for this load.
        slot.loading_until_ms.set(runtime::now_ms() + LOADING_MS);
        context.lifetime.wait_until(async move {
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

/// The current snapshot, revalidated first if the isolate has read no pointer for longer than `max_idle_ms`. Of requests
/// that come together one reads it, and the others wait for it; if its sender gives up, the next one reads it. While KV
/// does not answer, nobody waits again before the same time has passed.
pub async fn recent<S: Snapshot>(context: &RequestContext, max_idle_ms: i64) -> Result<Rc<S>, ApiError> {
    let isolate = &context.isolate;
    let is_longer_ago = |at_ms: i64| context.now_ms.saturating_sub(at_ms) > max_idle_ms;
    let is_stale = || is_longer_ago(isolate.pointer_read_at_ms.get());
    let has_failed = || !isolate.is_pointer_known.get() && !is_longer_ago(isolate.revalidated_at_ms.get());
    while S::slot(isolate).get().is_some() && is_stale() && !has_failed() {
        if isolate.is_revalidating(runtime::now_ms()) {
            Delay::from(POLL_INTERVAL).await;
        } else {
            isolate.revalidated_at_ms.set(context.now_ms);
            revalidate(&context.workers, isolate).await;
        }
    }
    current(context).await
}

async fn load_cold<S: Snapshot>(workers: &Workers, isolate: &Isolate) -> Option<Rc<S>> {
    let started_at_ms = runtime::now_ms();
    let from_kv = match read_pointer(workers).await {
        Ok(Some(pointer)) => {
            let adopted = adopt::<S>(workers, isolate, &pointer).await;
            isolate.pointer_read_at_ms.set(started_at_ms);
            adopted
        }
        Ok(None) => None,
        Err(error) => {
            log::error("kv", format_args!("pointer: {error}"));
            None
        }
    };
    match from_kv {
        Some(snapshot) => Some(snapshot),
        None => match load_from_catalog::<S>(workers, isolate).await {
            Ok(snapshot) => Some(snapshot),
            Err(error) => {
                log::error("snapshots", format_args!("no {}: {error}", S::KIND.as_str()));
                None
            }
        },
    }
}

/// Loads the newest snapshot from the catalog, bypassing KV.
pub async fn load_from_catalog<S: Snapshot>(workers: &Workers, isolate: &Isolate) -> Result<Rc<S>, String> {
    let path = catalog::snapshot_path(S::KIND);
    let bytes = read_object(workers, &path).await?.ok_or("the catalog has none")?;
    let snapshot = S::open(bytes).map_err(|damage| damage.to_string())?;
    let slot = S::slot(isolate);
    slot.confirmed_at_ms.set(runtime::now_ms());
    Ok(store_if_newer(slot, snapshot))
}

/// Stores a snapshot unless the current one is newer: a refresh may have stored one during a read from KV.
fn store_if_newer<S: Snapshot>(slot: &SnapshotSlot<S>, snapshot: S) -> Rc<S> {
    slot.replace_unless(snapshot, |own, other| own.version() >= other.version())
}

/// Whether the tracking snapshot is recent enough to check credentials.
pub fn are_credentials_known(isolate: &Isolate, now_ms: i64) -> bool {
    is_confirmed_within(isolate, now_ms, CREDENTIALS_VALID_MS)
}

/// Whether the tracking snapshot was confirmed as the newest in the last `within_ms` milliseconds.
pub fn is_confirmed_within(isolate: &Isolate, now_ms: i64, within_ms: i64) -> bool {
    now_ms.saturating_sub(isolate.tracking.confirmed_at_ms.get()) <= within_ms
}

/// Whether a request for the pointer is due.
pub fn is_due(isolate: &Isolate, now_ms: i64) -> bool {
    now_ms.saturating_sub(isolate.revalidated_at_ms.get()) >= isolate.config.revalidate_ms
}

/// Requests the pointer in the background, if that is due. If the runtime cuts this off, a later request tries again.
fn revalidate_in_background(context: &RequestContext) {
    let isolate = Rc::clone(&context.isolate);
    if !is_due(&isolate, context.now_ms) {
        return;
    }
    isolate.revalidated_at_ms.set(context.now_ms);
    let workers = context.workers.clone();
    context.lifetime.wait_until(log_panics("snapshots", async move {
        revalidate(&workers, &isolate).await;
    }));
}

async fn revalidate(workers: &Workers, isolate: &Isolate) {
    let started_at_ms = runtime::now_ms();
    isolate.revalidating_until_ms.set(started_at_ms + LOADING_MS);
    // Known only when the snapshots that it names are there: requests that come meanwhile wait for them.
    let is_known = match read_pointer(workers).await {
        Ok(Some(pointer)) => {
            if isolate.tracking.get().is_some() {
                adopt::<Tracking>(workers, isolate, &pointer).await;
            }
            if isolate.listing.get().is_some() {
                adopt::<Selector>(workers, isolate, &pointer).await;
            }
            isolate.pointer_read_at_ms.set(started_at_ms);
            true
        }
        Ok(None) => {
            log::warn("kv", "there is no pointer");
            false
        }
        Err(error) => {
            log::warn("kv", format_args!("pointer: {error}"));
            false
        }
    };
    isolate.is_pointer_known.set(is_known);
    isolate.revalidating_until_ms.set(0);
}

async fn read_pointer(workers: &Workers) -> Result<Option<Pointer>, String> {
    let namespace = workers.env.kv(kv::BINDING).map_err(|error| error.to_string())?;
    let read = namespace.get(kv::KEY).cache_ttl(POINTER_TTL_S).text();
    let text = with_timeout(KV_TIMEOUT, read)
        .await?
        .map_err(|error| error.to_string())?;
    text.map(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
        .transpose()
}

/// Loads the newest usable version in the pointer. Versions that are missing, damaged or of an unknown format are
/// skipped, and the current snapshot stays until a newer one is loaded.
async fn adopt<S: Snapshot>(workers: &Workers, isolate: &Isolate, pointer: &Pointer) -> Option<Rc<S>> {
    let slot = S::slot(isolate);
    let confirm = |at_ms: i64| slot.confirmed_at_ms.set(slot.confirmed_at_ms.get().max(at_ms));
    for &version in S::versions(pointer) {
        let is_newest = S::versions(pointer).first() == Some(&version);
        if let Some(own) = slot.get()
            && own.version() >= version
        {
            // Equal, or newer: after a refresh the isolate may be ahead of KV.
            if is_newest {
                confirm(pointer.confirmed_at_ms);
            }
            return Some(own);
        }
        match read_value(workers, &S::KIND.key(version))
            .await
            .map(|bytes| bytes.map(S::open))
        {
            Ok(Some(Ok(snapshot))) => {
                // A superseded version was current when it was built, and it is unknown for how long.
                confirm(if is_newest {
                    pointer.confirmed_at_ms
                } else {
                    snapshot.built_at_ms()
                });
                return Some(store_if_newer(slot, snapshot));
            }
            Ok(Some(Err(damage))) => log::error(
                "snapshots",
                format_args!("{} {version}: {damage}", S::KIND.as_str()),
            ),
            Ok(None) => log::warn(
                "snapshots",
                format_args!("{} {version} is not in KV", S::KIND.as_str()),
            ),
            Err(error) => log::warn(
                "snapshots",
                format_args!("{} {version}: {error}", S::KIND.as_str()),
            ),
        }
    }
    slot.get()
}

async fn read_value(workers: &Workers, key: &str) -> Result<Option<Vec<u8>>, String> {
    let namespace = workers.env.kv(kv::BINDING).map_err(|error| error.to_string())?;
    with_timeout(KV_TIMEOUT, namespace.get(key).bytes())
        .await?
        .map_err(|error| error.to_string())
}

/// A chunk of offer bodies, from the cache, from KV, or else from the catalog.
pub async fn chunk(workers: &Workers, isolate: &Isolate, key: &str) -> Result<Rc<Chunk>, ApiError> {
    if let Some(chunk) = isolate.chunks.get(&key.to_owned()) {
        return Ok(chunk);
    }
    let from_kv = read_value(workers, &kv::bodies_key(key))
        .await
        .and_then(|bytes| match bytes {
            Some(bytes) => Chunk::open(bytes).map_err(|damage| damage.to_string()),
            None => Err("not in KV".into()),
        });
    let chunk = match from_kv {
        Ok(chunk) => chunk,
        Err(error) => {
            log::warn("snapshots", format_args!("bodies {key}: {error}"));
            let bytes = read_object(workers, &catalog::chunk_path(key)).await;
            let opened = bytes.and_then(|bytes| {
                Chunk::open(bytes.ok_or("the catalog has none")?).map_err(|damage| damage.to_string())
            });
            opened.map_err(|error| {
                log::error("snapshots", format_args!("bodies {key}: {error}"));
                common::UNAVAILABLE
            })?
        }
    };
    let size = chunk.size();
    Ok(isolate.chunks.insert(key.to_owned(), chunk, size))
}

/// Reads a snapshot or a chunk from the catalog; `None` if it does not exist.
async fn read_object(workers: &Workers, path: &str) -> Result<Option<Vec<u8>>, String> {
    let to = catalog::address(path);
    let request = Request::new(&object_call::url(&to), Method::Get).map_err(|error| error.to_string())?;
    let mut response = object_call::send(&workers.env, &to, request, CATALOG_TIMEOUT)
        .await
        .map_err(|error| error.to_string())?;
    match response.status_code() {
        200 => response
            .bytes()
            .await
            .map(Some)
            .map_err(|error| error.to_string()),
        404 => Ok(None),
        status => Err(format!("the catalog answered {status}")),
    }
}
