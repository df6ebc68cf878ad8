//! Reports: report keys (`keys`) and their rate limit (`rate`), the report query (`query`), uploaded facts (`facts`),
//! columnar storage (`segment`), aggregation (`engine`), and output (`page`, `format`, `numbers`, `render`, `export`).
//! docs/DECISIONS.md, "Reports".

pub mod dimension;
pub mod engine;
pub mod export;
pub mod facts;
pub mod format;
pub mod keys;
pub mod metric;
pub mod numbers;
pub mod page;
pub mod placements;
pub mod query;
pub mod rate;
pub mod render;
pub mod segment;
#[cfg(test)]
mod testing;

pub use dimension::Dimension;
pub use metric::{Measure, Metric, Sums};
