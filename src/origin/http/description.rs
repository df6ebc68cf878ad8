//! The description of the API, `openapi.yaml`, as JSON. `build.rs` converts it.

pub const DESCRIPTION: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));
