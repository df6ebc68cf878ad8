//! The edge Worker: HTTP in and out, and the memory of one isolate. A handler parses, asks the domain, and carries out its
//! decision.
//!
//! A click and a page of offers first take the [`fast_path`], one synchronous call from `entry.js`; every other request, and
//! each that needs to wait, comes in at [`entry`].

pub mod byte_cache;
pub mod config;
pub mod limits;
pub mod rate_limit;
pub mod reachability;
pub mod routes;

#[cfg(all(target_arch = "wasm32", feature = "bench"))]
mod bench;
#[cfg(target_arch = "wasm32")]
mod click;
#[cfg(target_arch = "wasm32")]
mod click_flush;
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
mod reports;
#[cfg(target_arch = "wasm32")]
mod snapshots;
