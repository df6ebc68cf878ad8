//! Finds the shards that requests need (docs/ARCHITECTURE.md, "Snapshots"). A request uses the held shard even while a
//! newer one is loaded in the background. It waits only for a shard that is not held: for KV, and for the catalog if KV
//! fails. If both fail, the request is answered 503, and never as if the id were unknown.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use worker::Delay;

use crate::{
    isolate::{Isolate, RequestContext},
    limits::Pool,
    shard_loading::{from_catalog, from_kv},
    shard_store::CachedShard,
    shared_loads::SharedLoads,
    snapshots,
};
use domain::{
    model::{AdvertiserId, ApiError, AppId, SECOND_MS, common},
    snapshot::tracking::{AnyShard, Manifest, ShardKind, Slot, slots},
};
use platform::{catch_panics, log, published::POLL_INTERVAL, runtime, workers::Workers};

/// The time after which a load counts as lost and another request may load the shard, in milliseconds.
const LOADING_MS: i64 = 10 * SECOND_MS;
/// The time for which a shard counts as unavailable after neither KV nor the catalog had it, in milliseconds.
const UNAVAILABLE_MS: i64 = SECOND_MS;

/// The future of a search. It is boxed, since the module would otherwise contain the search once for each route that
/// uses it.
type Finding<'a> = LocalBoxFuture<'a, Result<Rc<CachedShard>, ApiError>>;

/// The id that a request looks up in a shard.
#[derive(Clone, Copy)]
pub enum ShardQuery<'r> {
    App(AppId),
    Goal(&'r str),
    Advertiser(&'r AdvertiserId),
}

impl ShardQuery<'_> {
    fn kind(self) -> ShardKind {
        match self {
            Self::App(_) => ShardKind::Apps,
            Self::Goal(_) => ShardKind::Goals,
            Self::Advertiser(_) => ShardKind::Advertisers,
        }
    }

    fn hash(self) -> u16 {
        match self {
            Self::App(app) => slots::hash_of_app(app),
            Self::Goal(goal) => slots::hash(goal),
            Self::Advertiser(advertiser) => slots::hash(advertiser.as_str()),
        }
    }

    fn is_in(self, shard: &AnyShard) -> bool {
        match self {
            Self::App(app) => shard.app(app).is_some(),
            Self::Goal(goal) => shard.goal(goal).is_some(),
            Self::Advertiser(advertiser) => shard.advertisers().is_some_and(|shard| shard.has(advertiser)),
        }
    }
}

/// Returns the shard in which an id belongs. The shard may lack the id. Loads the shard if it is not held.
///
/// # Errors
/// 503 if the shard cannot be loaded, or if too many requests wait for shards.
pub fn find<'a>(context: &'a RequestContext, sought: ShardQuery<'a>) -> Finding<'a> {
    Box::pin(async move {
        let isolate = &context.isolate;
        let manifest = snapshots::current::<Manifest>(context).await?;
        let store = isolate.shards(sought.kind());
        if let Some(held) = store.get(&manifest, sought.hash()) {
            return Ok(held);
        }
        let slot = manifest.slot(sought.kind(), sought.hash());
        let load = load_missing(&context.workers, isolate, &manifest, sought);
        load_shared(context, &store.loads, slot, sought, Box::pin(load)).await?.ok_or(common::UNAVAILABLE)
    })
}

/// Finds a shard, and asks the catalog if the shard lacks the id. KV's answer about new ids may be a minute old, or
/// much older in an idle isolate. While too many unknown ids arrive, the catalog is not asked about further ids, which
/// count as unknown.
///
/// # Errors
/// 503 if the shard cannot be loaded, or if too many requests wait for shards.
pub fn find_or_check<'a>(context: &'a RequestContext, sought: ShardQuery<'a>) -> Finding<'a> {
    Box::pin(async move {
        let store = context.isolate.shards(sought.kind());
        let mut found = find(context, sought).await?;
        loop {
            let manifest = snapshots::current::<Manifest>(context).await?;
            let slot = manifest.slot(sought.kind(), sought.hash());
            let is_checked = store.is_checked(slot, found.version.get(), runtime::now_ms());
            if sought.is_in(&found.shard) || is_checked {
                return Ok(found);
            }
            let load = async {
                let held = from_catalog(&context.workers, &manifest, slot).await?;
                store.record_checked(slot, manifest.version(), runtime::now_ms());
                Ok((slot, held))
            };
            match load_shared(context, &store.checks, slot, sought, Box::pin(load)).await? {
                Some(checked) => found = checked,
                None => return Ok(found),
            }
        }
    })
}

/// Loads a shard, or waits for the request that is loading it. A shard without the requested id is stored only where it
/// evicts no other shard, so that requests for unknown ids evict none. Returns `None` if too many loads are in progress.
///
/// # Errors
/// 503 if the shard cannot be loaded, or if too many requests wait for shards.
async fn load_shared(
    context: &RequestContext,
    loads: &SharedLoads<Slot, Rc<CachedShard>>,
    slot: Slot,
    sought: ShardQuery<'_>,
    load: LocalBoxFuture<'_, Result<(Slot, CachedShard), String>>,
) -> Result<Option<Rc<CachedShard>>, ApiError> {
    let isolate = &context.isolate;
    let _permit = isolate.pools.get(Pool::Shards).acquire_any(context.now_ms)?;
    while let Some(other) = loads.get(slot, runtime::now_ms()) {
        if other.outcome().is_none() {
            Delay::from(POLL_INTERVAL).await;
        }
        if let Some(outcome) = other.outcome() {
            return outcome.cloned().map(Some).ok_or(common::UNAVAILABLE);
        }
    }
    let Some(own) = loads.begin(slot, runtime::now_ms(), LOADING_MS) else {
        return Ok(None);
    };
    let outcome = match catch_panics(load).await.unwrap_or_else(Err) {
        Ok((slot_now, held)) => {
            let store = isolate.shards(sought.kind());
            Some(if sought.is_in(&held.shard) {
                store.insert(slot_now, held)
            } else {
                store.insert_if_room(slot_now, held)
            })
        }
        Err(error) => {
            log::error("snapshots", format_args!("shard {} was not loaded: {error}", slot.name()));
            None
        }
    };
    loads.end(slot, &own, outcome.clone(), runtime::now_ms(), UNAVAILABLE_MS);
    outcome.map(Some).ok_or(common::UNAVAILABLE)
}

/// Loads a shard from KV. If that fails, reads the pointer again, and tries the shard that the newest manifest names,
/// if that is a different one. If that also fails, loads the shard from the catalog. Returns the slot as well, since a
/// new manifest may have other slots.
async fn load_missing(
    workers: &Workers,
    isolate: &Isolate,
    manifest: &Manifest,
    sought: ShardQuery<'_>,
) -> Result<(Slot, CachedShard), String> {
    let slot = manifest.slot(sought.kind(), sought.hash());
    let confirmed_at_ms = isolate.manifest.confirmed_at_ms.get();
    if let Some(held) = from_kv(workers, manifest, slot, confirmed_at_ms).await {
        return Ok((slot, held));
    }
    snapshots::reread_pointer(workers, isolate).await;
    let newest = isolate.manifest.get().ok_or("no manifest")?;
    let slot = newest.slot(sought.kind(), sought.hash());
    if newest.checksum(slot) != manifest.checksum(slot) {
        let confirmed_at_ms = isolate.manifest.confirmed_at_ms.get();
        if let Some(held) = from_kv(workers, &newest, slot, confirmed_at_ms).await {
            return Ok((slot, held));
        }
    }
    Ok((slot, from_catalog(workers, &newest, slot).await?))
}
