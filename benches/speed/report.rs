//! Reports over a million facts, against DuckDB on the same facts.

use crate::{bench::Bench, table::Row};

/// None yet: the route that runs the engine by itself comes with them.
pub fn rows(_bench: &Bench) -> Vec<Row> {
    Vec::new()
}
