//! The edge: HTTP in and out, and what one isolate keeps in memory. A handler parses, asks the domain, and carries out
//! what it says. What needs no Workers type (the route table, the configuration, the shield) is also built natively,
//! and tested there.

pub mod admission;
pub mod cache;
pub mod config;
pub mod exposition;
pub mod openapi;
pub mod routes;
pub mod shield;
pub mod silence;

#[cfg(target_arch = "wasm32")]
mod answer;
#[cfg(all(target_arch = "wasm32", feature = "bench"))]
mod bench;
#[cfg(target_arch = "wasm32")]
mod body;
#[cfg(target_arch = "wasm32")]
mod click;
#[cfg(target_arch = "wasm32")]
mod conversion;
#[cfg(target_arch = "wasm32")]
mod counting;
#[cfg(target_arch = "wasm32")]
mod entry;
#[cfg(target_arch = "wasm32")]
mod express;
#[cfg(target_arch = "wasm32")]
mod health;
#[cfg(target_arch = "wasm32")]
mod isolate;
#[cfg(target_arch = "wasm32")]
mod ledgers;
#[cfg(target_arch = "wasm32")]
mod metrics;
#[cfg(target_arch = "wasm32")]
mod offers;
#[cfg(target_arch = "wasm32")]
mod operator;
#[cfg(target_arch = "wasm32")]
mod outboxes;
#[cfg(target_arch = "wasm32")]
mod reports;
#[cfg(target_arch = "wasm32")]
mod snapshots;
#[cfg(target_arch = "wasm32")]
mod watching;
