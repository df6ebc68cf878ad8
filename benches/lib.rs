//! This package has no library; see the `[[bench]]` targets in `Cargo.toml`.
