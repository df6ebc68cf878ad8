//! Prepares a cold isolate for the fast path of a click. `entry.js` reads the values that the click needs from KV:
//! first the pointer, then the shards that the pointer's manifest names. If a read fails, the click takes the ordinary
//! path, which can ask the catalog.
//!
//! V8 compiles each WebAssembly function when it is first called. The ordinary path reads KV through futures and
//! promises, and compiling these takes longer than the rest of a first click. The functions here do not wait.

use wasm_bindgen::prelude::wasm_bindgen;
use worker::Env;

use super::{enter, parts};
use crate::{
    isolate::Isolate,
    routes,
    shard_loading::{self, SHARD_TTL_S},
    shard_store::CachedShard,
    snapshots,
};
use contract::kv;
use domain::{
    model::AppId,
    snapshot::tracking::{AnyShard, Manifest, ShardKind, Slot, slots},
    tracking::parameters::ClickParameters,
};
use platform::{
    http::router::Interface,
    log,
    published::POINTER_TTL_S,
    runtime::{self, whole_ms},
    workers::Workers,
};

/// The shards of a click.
struct WantedShards<'p> {
    app: AppId,
    goal: &'p str,
}

impl<'p> WantedShards<'p> {
    fn parse(parameters: &'p ClickParameters<'_>) -> Option<Self> {
        Some(Self { app: AppId::parse(&parameters.app)?, goal: &parameters.rid })
    }

    fn slots(&self, manifest: &Manifest) -> [Slot; 2] {
        [
            manifest.slot(ShardKind::Apps, slots::hash_of_app(self.app)),
            manifest.slot(ShardKind::Goals, slots::hash(self.goal)),
        ]
    }

    /// True if a shard has the click's app or goal. Other shards are not kept, so that made-up ids evict no shard.
    fn is_in(&self, shard: &AnyShard) -> bool {
        shard.app(self.app).is_some() || shard.goal(self.goal).is_some()
    }
}

fn key(manifest: &Manifest, slot: Slot) -> Option<String> {
    Some(kv::shard_key(slot.kind, manifest.checksum(slot)?))
}

/// Lists the KV keys of the values that the isolate lacks to answer a click. The first item is the number of seconds
/// for which KV may serve them from its cache. Returns `None` if the request is not a click, if nothing is missing, or
/// if the ordinary path must load the values.
#[wasm_bindgen]
pub fn list_missing(env: Env, request: &str) -> Option<Vec<String>> {
    if Isolate::existing().is_none() {
        // The ordinary path answers and logs that the configuration is invalid.
        Isolate::current(&Workers::new(env)).ok()?;
    }
    let [.., url] = parts(request)?;
    let (isolate, query) = enter(url, routes::CLICK, Interface::Tracking)?;
    let parameters = ClickParameters::parse(query).ok()?;
    let wanted = WantedShards::parse(&parameters)?;
    let now_ms = runtime::now_ms();
    let Some(manifest) = isolate.manifest.get() else {
        let pointer = vec![POINTER_TTL_S.to_string(), kv::KEY.to_owned()];
        return isolate.manifest.needs_load(now_ms).then_some(pointer);
    };
    let mut missing = vec![SHARD_TTL_S.to_string()];
    for slot in wanted.slots(&manifest) {
        let store = isolate.shards(slot.kind);
        // The ordinary path handles a load that is in progress or has just failed.
        if store.loads.get(slot, now_ms).is_some() {
            return None;
        }
        if store.held.get(&slot).is_none() {
            missing.push(key(&manifest, slot)?);
        }
    }
    (missing.len() > 1).then_some(missing)
}

/// Stores a value from KV for this click. `asked_at_ms` is the time of the request to KV in milliseconds.
#[wasm_bindgen]
pub fn adopt(request: &str, name: &str, value: Vec<u8>, asked_at_ms: f64) {
    if let Err(error) = try_adopt(request, name, value, whole_ms(asked_at_ms)) {
        log::warn("snapshots", format_args!("{name} from KV is not used: {error}"));
    }
}

fn try_adopt(request: &str, name: &str, value: Vec<u8>, asked_at_ms: i64) -> Result<(), String> {
    let isolate = Isolate::existing().ok_or("no isolate")?;
    if name == kv::KEY {
        return snapshots::adopt_first(&isolate, &value, asked_at_ms);
    }
    let [.., url] = parts(request).ok_or("no click")?;
    let (_, query) = enter(url, routes::CLICK, Interface::Tracking).ok_or("no click")?;
    let parameters = ClickParameters::parse(query).map_err(|error| error.message.into_owned())?;
    let wanted = WantedShards::parse(&parameters).ok_or("no app")?;
    let manifest = isolate.manifest.get().ok_or("no manifest")?;
    let mut slots = wanted.slots(&manifest).into_iter();
    // A newer manifest that arrived during the read may name another shard. The ordinary path loads that one.
    let slot = slots.find(|slot| key(&manifest, *slot).as_deref() == Some(name));
    let slot = slot.ok_or("the manifest no longer names it")?;
    let held: CachedShard = shard_loading::open_named(&manifest, slot, value, isolate.manifest.confirmed_at_ms.get())?;
    if wanted.is_in(&held.shard) {
        isolate.shards(slot.kind).insert(slot, held);
    }
    Ok(())
}
