//! Signpost: a publisher reporting and offers service, one WebAssembly module at the edge with its origin in Durable
//! Objects.
//!
//! The domain is pure Rust and knows no Workers type, no clock and no randomness:
//! - [`catalog`]: publishers, apps, advertisers, offers, goals, and the snapshots of them that the edge reads;
//! - [`offers`]: the offers request, its filters, its pages;
//! - [`tracking`]: click parameters, the sealed click, the redirect;
//! - [`conversions`]: the postback, the states of a conversion, what it pays;
//! - [`callbacks`]: what a publisher is told of a reward, and how it is signed;
//! - [`reporting`]: the report query, facts, segments, and the engine that adds them up.
//!
//! The shells carry out what the domain says: [`edge`] (HTTP, the isolate's memory) and [`origin`] (Durable Objects).

pub mod callbacks;
pub mod catalog;
pub mod conversions;
pub mod edge;
pub mod faults;
pub mod lines;
pub mod log;
pub mod offers;
pub mod origin;
pub mod refusal;
pub mod reporting;
pub mod room;
#[cfg(target_arch = "wasm32")]
mod runtime;
pub mod short;
pub mod spread;
pub mod time;
pub mod tracking;
