//! Reads published snapshots from KV, and from the catalog itself. The edge uses this module, and so does the dashboard
//! for the offers that an app's users see.

use std::time::Duration;

use worker::web_sys::RequestInit;

use crate::{object_call, runtime::with_timeout, unreadable, workers::Workers};
use contract::{
    catalog,
    kv::{self, Pointer},
};

/// The time for which KV may serve the pointer from its cache, in seconds: KV's minimum.
pub const POINTER_TTL_S: u64 = 30;
/// The time for which KV may serve a listing or a chunk from its cache, in seconds. Neither ever changes, but KV caches
/// a miss for the same time.
pub const VALUE_TTL_S: u64 = 60;
/// The timeout of a KV read. It is short, so that a cold isolate turns to the catalog when KV hangs.
const KV_TIMEOUT: Duration = Duration::from_secs(3);
const CATALOG_TIMEOUT: Duration = Duration::from_secs(10);
/// The interval at which a request checks whether another request has loaded the value that both need.
pub const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Reads the pointer; `None` before the first publication.
pub async fn read_pointer(workers: &Workers) -> Result<Option<Pointer>, String> {
    let value = read_value(workers, kv::KEY, POINTER_TTL_S).await?;
    let parsed = value.map(|value| Pointer::parse(&value)).transpose();
    parsed.inspect_err(|_| unreadable::record("pointer"))
}

/// Reads a value from KV, which may serve it from its cache for `ttl_s` seconds.
pub async fn read_value(workers: &Workers, key: &str, ttl_s: u64) -> Result<Option<Vec<u8>>, String> {
    let namespace = workers.env.kv(kv::BINDING).map_err(|error| error.to_string())?;
    with_timeout(KV_TIMEOUT, namespace.get(key).cache_ttl(ttl_s).bytes()).await?.map_err(|error| error.to_string())
}

/// Reads a snapshot, a shard or a chunk from the catalog; `None` if it does not exist.
pub async fn read_object(workers: &Workers, path: &str) -> Result<Option<Vec<u8>>, String> {
    let to = catalog::address(path);
    let mut response = object_call::send(&workers.env, &to, &RequestInit::new(), CATALOG_TIMEOUT)
        .await
        .map_err(|error| error.to_string())?;
    match response.status_code() {
        200 => response.bytes().await.map(Some).map_err(|error| error.to_string()),
        404 => Ok(None),
        status => Err(format!("the catalog answered {status}")),
    }
}
