//! Reports: who may ask (`keys`) and how often (`rate`), what is asked (`query`), what there is to count (`facts`, kept
//! in columnar `segment`s), how it is added up (`engine`), and how rows are written (`page`, `format`, `numbers`,
//! `render`). docs/DECISIONS.md, "Reports".

pub mod dimension;
pub mod engine;
pub mod facts;
pub mod format;
pub mod keys;
pub mod metric;
pub mod numbers;
pub mod page;
pub mod query;
pub mod rate;
pub mod render;
pub mod segment;

pub use dimension::Dimension;
pub use metric::{Measure, Metric, Sums};
