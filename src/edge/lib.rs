//! The edge Worker: HTTP handlers and the memory of one isolate. A handler parses a request, lets the domain decide,
//! and carries out the decision.
//!
//! A click or a page of offers first takes the `fast_path`, one synchronous call from `entry.js`. All other requests,
//! and those that must wait, take the ordinary path in `entry`.

pub mod config;
pub mod limits;
pub mod page_cache;
pub mod postback_queue;
pub mod rate_limit;
pub mod reachability;
pub mod routes;
pub mod shared_loads;
pub mod traffic;

#[cfg(target_arch = "wasm32")]
mod background;
#[cfg(all(target_arch = "wasm32", feature = "bench"))]
mod bench;
#[cfg(target_arch = "wasm32")]
mod click;
#[cfg(target_arch = "wasm32")]
mod click_flush;
#[cfg(target_arch = "wasm32")]
mod click_records;
#[cfg(target_arch = "wasm32")]
mod conversion;
#[cfg(target_arch = "wasm32")]
mod entry;
#[cfg(target_arch = "wasm32")]
mod fast_path;
#[cfg(target_arch = "wasm32")]
mod health;
#[cfg(target_arch = "wasm32")]
mod isolate;
#[cfg(target_arch = "wasm32")]
mod metrics;
#[cfg(target_arch = "wasm32")]
mod offers;
#[cfg(target_arch = "wasm32")]
mod origin;
#[cfg(target_arch = "wasm32")]
mod postbacks;
#[cfg(target_arch = "wasm32")]
mod reports;
#[cfg(target_arch = "wasm32")]
mod shard_loading;
#[cfg(target_arch = "wasm32")]
mod shard_store;
#[cfg(target_arch = "wasm32")]
mod shards;
#[cfg(target_arch = "wasm32")]
mod signing_keys;
#[cfg(target_arch = "wasm32")]
mod snapshots;
#[cfg(target_arch = "wasm32")]
mod tasks;
