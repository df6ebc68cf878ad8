//! Snapshots in the isolate (`design.md` section 3). An isolate serves from the one it has while it asks, in the
//! background, whether there is a newer one; a click never waits for KV once there is one. Only a cold isolate waits:
//! for KV, then for `origin/catalog`, once; then it answers 503.

use std::{rc::Rc, time::Duration};

use worker::{Delay, Env};

use super::isolate::{Held, Isolate, Visit};
use crate::{
    catalog::snapshot::{
        bodies::Chunk,
        envelope::Damage,
        listing::Listing,
        pointer::{self, Pointer},
        tracking::Tracking,
    },
    log,
    offers::selection::Selector,
    origin::catalog::{
        client::{self, KV_BINDING},
        publication::Kind,
    },
    refusal::{Refusal, common},
    runtime::{self, within},
    time::{MINUTE_MS, SECOND_MS},
};

/// How long KV may answer for the pointer from its own cache, in seconds; the documentation allows no less.
const POINTER_TTL_S: u64 = 60;
/// How long a read of KV may take: one that hangs must not hold a cold isolate that the catalog could serve.
const KV_TIMEOUT: Duration = Duration::from_secs(3);
/// An isolate that has asked for nothing this long has slept.
const SLEPT_MS: i64 = 30 * MINUTE_MS;
/// How long a cold load may take before another request tries one of its own.
const LOADING_MS: i64 = 10 * SECOND_MS;
/// How long requests of a cold isolate are refused after KV and the catalog had nothing.
const NOTHING_FOUND_MS: i64 = SECOND_MS;

/// A kind of snapshot, as the isolate handles it.
pub trait Snapshot: Sized {
    const KIND: Kind;
    fn open(bytes: Vec<u8>) -> Result<Self, Damage>;
    fn version(&self) -> u64;
    fn built_at_ms(&self) -> i64;
    fn held(isolate: &Isolate) -> &Held<Self>;
    /// Its versions, newest first.
    fn listed(pointer: &Pointer) -> &[u64];
    fn key(version: u64) -> String;
}

impl Snapshot for Tracking {
    const KIND: Kind = Kind::Tracking;

    fn open(bytes: Vec<u8>) -> Result<Self, Damage> {
        Self::open(bytes)
    }

    fn version(&self) -> u64 {
        self.version()
    }

    fn built_at_ms(&self) -> i64 {
        self.built_at_ms()
    }

    fn held(isolate: &Isolate) -> &Held<Self> {
        &isolate.tracking
    }

    fn listed(pointer: &Pointer) -> &[u64] {
        &pointer.tracking
    }

    fn key(version: u64) -> String {
        pointer::tracking_key(version)
    }
}

impl Snapshot for Selector {
    const KIND: Kind = Kind::Listing;

    fn open(bytes: Vec<u8>) -> Result<Self, Damage> {
        Listing::open(bytes).map(Self::new)
    }

    fn version(&self) -> u64 {
        self.listing().version()
    }

    fn built_at_ms(&self) -> i64 {
        self.listing().built_at_ms()
    }

    fn held(isolate: &Isolate) -> &Held<Self> {
        &isolate.listing
    }

    fn listed(pointer: &Pointer) -> &[u64] {
        &pointer.listing
    }

    fn key(version: u64) -> String {
        pointer::listing_key(version)
    }
}

/// The snapshot to serve from.
pub async fn current<S: Snapshot>(visit: &Visit) -> Result<Rc<S>, Refusal> {
    if let Some(held) = S::held(&visit.isolate).get() {
        revalidate_in_background(visit);
        return Ok(held);
    }
    let _place = visit.isolate.rooms.starts.enter_any(visit.now_ms)?;
    let held = S::held(&visit.isolate);
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
    load_first(&visit.env, &visit.isolate)
        .await
        .ok_or(common::UNAVAILABLE)
}

/// Sees to it that the isolate has a snapshot and that it stays the newest, without waiting for it: for who asks how the
/// isolate is, and must be answered whatever hangs.
pub fn keep_current<S: Snapshot + 'static>(visit: &Visit) {
    let held = S::held(&visit.isolate);
    if held.get().is_some() {
        revalidate_in_background(visit);
    } else if held.is_wanting(runtime::now_ms()) {
        let (env, isolate) = (visit.env.clone(), Rc::clone(&visit.isolate));
        // Taken before anyone else may run: what comes next waits for this load and begins none.
        held.loading_until_ms.set(runtime::now_ms() + LOADING_MS);
        visit.context.wait_until(async move {
            load_first::<S>(&env, &isolate).await;
        });
    }
}

async fn load_first<S: Snapshot>(env: &Env, isolate: &Isolate) -> Option<Rc<S>> {
    let held = S::held(isolate);
    held.loading_until_ms.set(runtime::now_ms() + LOADING_MS);
    let loaded = runtime::caught_async(load_cold::<S>(env, isolate)).await;
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
pub async fn recent<S: Snapshot>(visit: &Visit) -> Result<Rc<S>, Refusal> {
    let isolate = &visit.isolate;
    let slept_ms = visit.now_ms.saturating_sub(isolate.revalidated_at_ms.get());
    if slept_ms > SLEPT_MS && S::held(isolate).get().is_some() {
        isolate.revalidated_at_ms.set(visit.now_ms);
        revalidate(&visit.env, isolate).await;
    }
    current(visit).await
}

async fn load_cold<S: Snapshot>(env: &Env, isolate: &Isolate) -> Option<Rc<S>> {
    let from_kv = match read_pointer(env).await {
        Ok(Some(pointer)) => adopt::<S>(env, isolate, &pointer).await,
        Ok(None) => None,
        Err(error) => {
            log::error("kv", format_args!("pointer: {error}"));
            None
        }
    };
    match from_kv {
        Some(snapshot) => Some(snapshot),
        None => match load_from_catalog::<S>(env, isolate).await {
            Ok(snapshot) => Some(snapshot),
            Err(error) => {
                log::error("snapshots", format_args!("no {}: {error}", S::KIND.as_str()));
                None
            }
        },
    }
}

/// Takes the newest snapshot from `origin/catalog` itself, past KV.
pub async fn load_from_catalog<S: Snapshot>(env: &Env, isolate: &Isolate) -> Result<Rc<S>, String> {
    let path = client::snapshot_path(S::KIND);
    let bytes = client::read(env, &path).await?.ok_or("the catalog has none")?;
    let snapshot = S::open(bytes).map_err(|damage| damage.to_string())?;
    let held = S::held(isolate);
    held.confirmed_at_ms.set(runtime::now_ms());
    Ok(keep(held, snapshot))
}

/// The newer of the two is served from: while one was read from KV, a refresh may have brought a newer one.
fn keep<S: Snapshot>(held: &Held<S>, snapshot: S) -> Rc<S> {
    held.offer(snapshot, |own, other| own.version() >= other.version())
}

/// Whether the pointer has not been asked for lately.
pub fn is_due(isolate: &Isolate, now_ms: i64) -> bool {
    now_ms.saturating_sub(isolate.revalidated_at_ms.get()) >= isolate.config.revalidate_ms
}

/// Asks for the pointer in the background when it has not been asked for lately. If the runtime cuts the request off
/// in between, the next one that is due asks again.
fn revalidate_in_background(visit: &Visit) {
    let isolate = Rc::clone(&visit.isolate);
    if !is_due(&isolate, visit.now_ms) {
        return;
    }
    isolate.revalidated_at_ms.set(visit.now_ms);
    let env = visit.env.clone();
    visit
        .context
        .wait_until(runtime::looked_after("snapshots", async move {
            revalidate(&env, &isolate).await;
        }));
}

async fn revalidate(env: &Env, isolate: &Isolate) {
    match read_pointer(env).await {
        Ok(Some(pointer)) => {
            if isolate.tracking.get().is_some() {
                adopt::<Tracking>(env, isolate, &pointer).await;
            }
            if isolate.listing.get().is_some() {
                adopt::<Selector>(env, isolate, &pointer).await;
            }
        }
        Ok(None) => log::warn("kv", "there is no pointer"),
        Err(error) => log::warn("kv", format_args!("pointer: {error}")),
    }
}

async fn read_pointer(env: &Env) -> Result<Option<Pointer>, String> {
    let kv = env.kv(KV_BINDING).map_err(|error| error.to_string())?;
    let read = kv.get(pointer::KEY).cache_ttl(POINTER_TTL_S).text();
    let text = within(KV_TIMEOUT, read)
        .await?
        .map_err(|error| error.to_string())?;
    text.map(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
        .transpose()
}

/// Brings the isolate to the newest version in the pointer that it can have. One that is missing, damaged or of an
/// unknown format is passed over; what is held stays until there is a better one.
async fn adopt<S: Snapshot>(env: &Env, isolate: &Isolate, pointer: &Pointer) -> Option<Rc<S>> {
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
        match read_value(env, &S::key(version))
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

async fn read_value(env: &Env, key: &str) -> Result<Option<Vec<u8>>, String> {
    let kv = env.kv(KV_BINDING).map_err(|error| error.to_string())?;
    within(KV_TIMEOUT, kv.get(key).bytes())
        .await?
        .map_err(|error| error.to_string())
}

/// A chunk of offer bodies: from memory, else from KV, else from the catalog.
pub async fn chunk(env: &Env, isolate: &Isolate, key: &str) -> Result<Rc<Chunk>, Refusal> {
    if let Some(chunk) = isolate.chunks.get(&key.to_owned()) {
        return Ok(chunk);
    }
    let from_kv = read_value(env, &pointer::bodies_key(key))
        .await
        .and_then(|bytes| match bytes {
            Some(bytes) => Chunk::open(bytes).map_err(|damage| damage.to_string()),
            None => Err("not in KV".into()),
        });
    let chunk = match from_kv {
        Ok(chunk) => chunk,
        Err(error) => {
            log::warn("snapshots", format_args!("bodies {key}: {error}"));
            let bytes = client::read(env, &client::chunk_path(key)).await;
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
