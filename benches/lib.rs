//! Benches have no library of their own; see the `[[bench]]` targets in `Cargo.toml`.
