//! Finds the shards that requests need (docs/ARCHITECTURE.md, "Snapshots"). A request uses the shard that the isolate holds,
//! also while a newer one is loaded in the background. It waits only for a shard that is not held: for KV, and if that
//! fails for the catalog. Then it is answered 503, and never as if the id were unknown.

use std::rc::Rc;

use worker::Delay;

use crate::{
    isolate::{Isolate, RequestContext},
    limits::Pool,
    published::POLL_INTERVAL,
    shard_loading::{from_catalog, from_kv},
    shard_store::{Held, Load},
    snapshots,
};
use domain::{
    catalog::snapshot::tracking::{AnyShard, Manifest, ShardKind, Slot, slots},
    model::{
        AdvertiserId, AppId,
        api_error::{ApiError, common},
        time::SECOND_MS,
    },
};
use platform::{log, panics::catch_panics, runtime, workers::Workers};

/// The timeout for a shard's load, after which another request may load it.
const LOADING_MS: i64 = 10 * SECOND_MS;
/// The most shards of a kind that are loaded at a time: up to 72 KiB each, in JavaScript and in WebAssembly, are 9 MiB.
const MAX_LOADS: usize = 128;
/// For how long a shard counts as unavailable after neither KV nor the catalog had it.
const UNAVAILABLE_MS: i64 = SECOND_MS;

/// The shard that has an app, if the app is known.
///
/// # Errors
/// See [`of_hash`].
pub async fn of_app(context: &RequestContext, app: AppId) -> Result<Rc<Held>, ApiError> {
    let has = |shard: &AnyShard| shard.app(app).is_some();
    of_hash(context, ShardKind::Apps, slots::hash_of_app(app), &has).await
}

/// The shard that has a goal, if the goal is known.
///
/// # Errors
/// See [`of_hash`].
pub async fn of_goal(context: &RequestContext, goal: &str) -> Result<Rc<Held>, ApiError> {
    let has = |shard: &AnyShard| shard.goal(goal).is_some();
    of_hash(context, ShardKind::Goals, slots::hash(goal), &has).await
}

/// The shard that has the tokens of an advertiser, if it is known.
///
/// # Errors
/// See [`of_hash`].
pub async fn of_advertiser(
    context: &RequestContext,
    advertiser: &AdvertiserId,
) -> Result<Rc<Held>, ApiError> {
    let has = |shard: &AnyShard| shard.advertisers().is_some_and(|shard| shard.has(advertiser));
    of_hash(
        context,
        ShardKind::Advertisers,
        slots::hash(advertiser.as_str()),
        &has,
    )
    .await
}

/// The shard of a hash, loaded first if it is not held. A loaded shard is kept if it has what the request looks for, so
/// that requests for unknown ids push no other shard out.
///
/// # Errors
/// 503 if it cannot be loaded, or if too many requests wait for shards.
async fn of_hash(
    context: &RequestContext,
    kind: ShardKind,
    hash: u16,
    has: &dyn Fn(&AnyShard) -> bool,
) -> Result<Rc<Held>, ApiError> {
    let isolate = &context.isolate;
    let manifest = snapshots::current::<Manifest>(context).await?;
    if let Some(held) = isolate.shards(kind).get(&manifest, hash) {
        return Ok(held);
    }
    let _permit = isolate.pools.get(Pool::Shards).acquire_any(context.now_ms)?;
    let store = isolate.shards(kind);
    let slot = manifest.slot(kind, hash);
    // One request loads a shard, and others poll by timers of their own, since they may not await its future.
    while let Some(load) = store.load_of(slot) {
        if load.has_failed {
            return Err(common::UNAVAILABLE);
        }
        Delay::from(POLL_INTERVAL).await;
        if let Some(held) = store.held.get(&slot) {
            return Ok(held);
        }
    }
    if store.loads() >= MAX_LOADS {
        return Err(common::UNAVAILABLE);
    }
    let load = |for_ms, has_failed| Load {
        until_ms: runtime::now_ms() + for_ms,
        has_failed,
    };
    store.set_load(slot, Some(load(LOADING_MS, false)));
    let loaded = catch_panics(load_missing(&context.workers, isolate, &manifest, kind, hash)).await;
    let loaded = loaded.unwrap_or_else(Err);
    match loaded {
        Ok((slot_now, held)) => {
            store.set_load(slot, None);
            if has(&held.shard) {
                Ok(store.insert(slot_now, held))
            } else {
                Ok(Rc::new(held))
            }
        }
        Err(error) => {
            log::error("snapshots", format_args!("shard {}: {error}", slot.name()));
            store.set_load(slot, Some(load(UNAVAILABLE_MS, true)));
            Err(common::UNAVAILABLE)
        }
    }
}

/// Loads a shard from KV; else the one that the pointer names by now; else from the catalog. A new manifest may have
/// other slots, so the slot is returned, too.
async fn load_missing(
    workers: &Workers,
    isolate: &Isolate,
    manifest: &Manifest,
    kind: ShardKind,
    hash: u16,
) -> Result<(Slot, Held), String> {
    let slot = manifest.slot(kind, hash);
    let confirmed_at_ms = isolate.manifest.confirmed_at_ms.get();
    match from_kv(workers, manifest, slot, confirmed_at_ms).await {
        Ok(held) => return Ok((slot, held)),
        Err(error) => log::warn("snapshots", format_args!("shard {}: {error}", slot.name())),
    }
    snapshots::reread_pointer(workers, isolate).await;
    let newest = isolate.manifest.get().ok_or("no manifest")?;
    let slot = newest.slot(kind, hash);
    if newest.checksum(slot) != manifest.checksum(slot) {
        let confirmed_at_ms = isolate.manifest.confirmed_at_ms.get();
        match from_kv(workers, &newest, slot, confirmed_at_ms).await {
            Ok(held) => return Ok((slot, held)),
            Err(error) => log::warn("snapshots", format_args!("shard {}: {error}", slot.name())),
        }
    }
    Ok((slot, from_catalog(workers, &newest, slot).await?))
}
