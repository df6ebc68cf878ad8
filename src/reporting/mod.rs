//! Reports: what a publisher asks (`query`), what there is to count (`facts`, kept in columnar `segment`s), how it is
//! added up (`engine`), and how rows are written (`page`, `render`). `design.md` section 8.

pub mod dimension;
pub mod metric;
pub mod page;
pub mod query;
pub mod segment;

pub use dimension::Dimension;
pub use metric::{Measure, Metric, Sums};
