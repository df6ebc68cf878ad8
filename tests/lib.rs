//! Tests have no library of their own; see the `[[test]]` targets in `Cargo.toml`.
