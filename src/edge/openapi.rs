//! `GET /openapi.json`: `openapi.yaml`, which says of every address what it takes and what it answers, as JSON. `build.rs`
//! converts it.

/// The document.
pub const DOCUMENT: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));

/// It changes with a deployment and never in between.
pub const CACHE_CONTROL: &str = "public, max-age=3600";
