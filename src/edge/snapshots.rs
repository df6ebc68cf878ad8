//! Snapshots in the isolate (docs/ARCHITECTURE.md, "Snapshots"). An isolate serves from the one it has while it asks, in the
//! background, for a newer one; a click never waits for KV once there is one. Only a cold isolate waits: for KV, then for
//! the catalog, once; then it answers 503.

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
        time::{MINUTE_MS, SECOND_MS},
    },
    offers::selection::Selector,
};
use platform::{
    log, object_call,
    panics::{catch_panics, log_panics},
    runtime::{self, with_timeout},
    workers::Workers,
};

/// How long KV may answer for the pointer from its own cache, in seconds; the documentation allows no less.
const POINTER_TTL_S: u64 = 60;
/// How long a read of KV may take: one that hangs must not hold a cold isolate that the catalog could serve.
const KV_TIMEOUT: Duration = Duration::from_secs(3);
/// The catalog's time to answer.
const CATALOG_TIMEOUT: Duration = Duration::from_secs(10);
/// An isolate that has asked for nothing this long has slept.
const SLEPT_MS: i64 = 30 * MINUTE_MS;
/// How long a cold load may take before another request tries one of its own.
const LOADING_MS: i64 = 10 * SECOND_MS;
/// How long requests of a cold isolate are refused after KV and the catalog had nothing.
const NOTHING_FOUND_MS: i64 = SECOND_MS;

/// A kind of snapshot, as the isolate handles it.
pub trait Snapshot: Sized {
    const KIND: SnapshotKind;
    fn open(bytes: Vec<u8>) -> Result<Self, Damage>;
    fn version(&self) -> u64;
    fn built_at_ms(&self) -> i64;
    fn held(isolate: &Isolate) -> &SnapshotSlot<Self>;
    /// Its versions, newest first.
    fn listed(pointer: &Pointer) -> &[u64];
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

    fn held(isolate: &Isolate) -> &SnapshotSlot<Self> {
        &isolate.tracking
    }

    fn listed(pointer: &Pointer) -> &[u64] {
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

    fn held(isolate: &Isolate) -> &SnapshotSlot<Self> {
        &isolate.listing
    }

    fn listed(pointer: &Pointer) -> &[u64] {
        &pointer.listing
    }
}

/// The snapshot to serve from.
pub async fn current<S: Snapshot>(context: &RequestContext) -> Result<Rc<S>, ApiError> {
    if let Some(held) = S::held(&context.isolate).get() {
        revalidate_in_background(context);
        return Ok(held);
    }
    let _permit = context
        .isolate
        .pools
        .of(Pool::Starts)
        .acquire_any(context.now_ms)?;
    let held = S::held(&context.isolate);
    // Others of this cold isolate poll on timers of their own: they may not wait for this request's future, and a
    // snapshot of many MB loaded by each of them would not fit the isolate.
    while held.is_awaited(runtime::now_ms()) {
        Delay::from(Duration::from_millis(5)).await;
    }
    if let Some(loaded) = held.get() {
        return Ok(loaded);
    }
    if held.was_refused(runtime::now_ms()) {
        return Err(common::UNAVAILABLE);
    }
    load_first(&context.workers, &context.isolate)
        .await
        .ok_or(common::UNAVAILABLE)
}

/// Sees to it that the isolate has a snapshot and that it stays the newest, without waiting for it: for who asks how the
/// isolate is, and must be answered whatever hangs.
pub fn keep_current<S: Snapshot + 'static>(context: &RequestContext) {
    let held = S::held(&context.isolate);
    if held.get().is_some() {
        revalidate_in_background(context);
    } else if held.is_wanting(runtime::now_ms()) {
        let (workers, isolate) = (context.workers.clone(), Rc::clone(&context.isolate));
        // Taken before anyone else may run: what comes next waits for this load and begins none.
        held.loading_until_ms.set(runtime::now_ms() + LOADING_MS);
        context.lifetime.wait_until(async move {
            load_first::<S>(&workers, &isolate).await;
        });
    }
}

async fn load_first<S: Snapshot>(workers: &Workers, isolate: &Isolate) -> Option<Rc<S>> {
    let held = S::held(isolate);
    held.loading_until_ms.set(runtime::now_ms() + LOADING_MS);
    let loaded = catch_panics(load_cold::<S>(workers, isolate)).await;
    held.loading_until_ms.set(0);
    let loaded = loaded.unwrap_or_else(|panic| {
        log::error("snapshots", panic);
        None
    });
    if loaded.is_none() {
        held.refused_until_ms.set(runtime::now_ms() + NOTHING_FOUND_MS);
    }
    loaded
}

/// The snapshot to serve from where it matters that it is not long past: the bodies of a listing leave KV an hour after
/// it, so an isolate that slept longer asks before it serves.
pub async fn recent<S: Snapshot>(context: &RequestContext) -> Result<Rc<S>, ApiError> {
    let isolate = &context.isolate;
    let slept_ms = context.now_ms.saturating_sub(isolate.revalidated_at_ms.get());
    if slept_ms > SLEPT_MS && S::held(isolate).get().is_some() {
        isolate.revalidated_at_ms.set(context.now_ms);
        revalidate(&context.workers, isolate).await;
    }
    current(context).await
}

async fn load_cold<S: Snapshot>(workers: &Workers, isolate: &Isolate) -> Option<Rc<S>> {
    let from_kv = match read_pointer(workers).await {
        Ok(Some(pointer)) => adopt::<S>(workers, isolate, &pointer).await,
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

/// Takes the newest snapshot from `origin/catalog` itself, past KV.
pub async fn load_from_catalog<S: Snapshot>(workers: &Workers, isolate: &Isolate) -> Result<Rc<S>, String> {
    let path = catalog::snapshot_path(S::KIND);
    let bytes = read_object(workers, &path).await?.ok_or("the catalog has none")?;
    let snapshot = S::open(bytes).map_err(|damage| damage.to_string())?;
    let held = S::held(isolate);
    held.confirmed_at_ms.set(runtime::now_ms());
    Ok(keep(held, snapshot))
}

/// The newer of the two is served from: while one was read from KV, a refresh may have brought a newer one.
fn keep<S: Snapshot>(held: &SnapshotSlot<S>, snapshot: S) -> Rc<S> {
    held.offer(snapshot, |own, other| own.version() >= other.version())
}

/// Whether the pointer has not been asked for lately.
pub fn is_due(isolate: &Isolate, now_ms: i64) -> bool {
    now_ms.saturating_sub(isolate.revalidated_at_ms.get()) >= isolate.config.revalidate_ms
}

/// Asks for the pointer in the background when it has not been asked for lately. If the runtime cuts the request off
/// in between, the next one that is due asks again.
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
    match read_pointer(workers).await {
        Ok(Some(pointer)) => {
            if isolate.tracking.get().is_some() {
                adopt::<Tracking>(workers, isolate, &pointer).await;
            }
            if isolate.listing.get().is_some() {
                adopt::<Selector>(workers, isolate, &pointer).await;
            }
        }
        Ok(None) => log::warn("kv", "there is no pointer"),
        Err(error) => log::warn("kv", format_args!("pointer: {error}")),
    }
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

/// Brings the isolate to the newest version in the pointer that it can have. One that is missing, damaged or of an
/// unknown format is passed over; what is held stays until there is a better one.
async fn adopt<S: Snapshot>(workers: &Workers, isolate: &Isolate, pointer: &Pointer) -> Option<Rc<S>> {
    let held = S::held(isolate);
    let confirm = |at_ms: i64| held.confirmed_at_ms.set(held.confirmed_at_ms.get().max(at_ms));
    for &version in S::listed(pointer) {
        let is_newest = S::listed(pointer).first() == Some(&version);
        if let Some(own) = held.get()
            && own.version() >= version
        {
            // Equal, or newer: after a refresh the isolate may be ahead of what KV shows it.
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
                // One that has been superseded was the truth when it was built, and nobody knows until when.
                confirm(if is_newest {
                    pointer.confirmed_at_ms
                } else {
                    snapshot.built_at_ms()
                });
                return Some(keep(held, snapshot));
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
    held.get()
}

async fn read_value(workers: &Workers, key: &str) -> Result<Option<Vec<u8>>, String> {
    let namespace = workers.env.kv(kv::BINDING).map_err(|error| error.to_string())?;
    with_timeout(KV_TIMEOUT, namespace.get(key).bytes())
        .await?
        .map_err(|error| error.to_string())
}

/// A chunk of offer bodies: from memory, else from KV, else from the catalog.
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

/// Reads a snapshot or a chunk from the catalog; `None` if it has no such one.
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
