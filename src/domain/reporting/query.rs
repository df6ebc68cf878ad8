//! A report query, checked: the specification's 2.1.

mod filters;
pub mod parsing;

use super::{Dimension, Measure, Metric};
use crate::model::time::UtcDay;

/// A checked query. Each list is without repeats, in the order of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    pub start: UtcDay,
    /// Included; at most 90 days after `start`.
    pub end: UtcDay,
    /// At least one.
    pub dimensions: Vec<Dimension>,
    /// At least one.
    pub metrics: Vec<Metric>,
    /// All of them hold for a fact that counts. At most one for a dimension.
    pub filters: Vec<Filter>,
    /// The request's order, or the default where it has none. What it leaves equal is ordered by the requested
    /// dimensions, ascending, in the order of the request, so that rows have one order.
    pub order: Vec<Order>,
    /// From 1.
    pub page: u64,
    /// Rows on a page, 1 to [`MAX_COUNT`].
    pub count: u32,
}

/// The fact's value of a dimension is one of these. Sorted, none twice; possibly none, and then no fact counts.
/// Countries are upper case; a date is `YYYY-MM-DD`; an app is its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    pub dimension: Dimension,
    pub values: Vec<String>,
}

/// One key of the order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    pub column: Column,
    pub ascending: bool,
}

/// What rows may be ordered by: a requested dimension, or any metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Dimension(Dimension),
    Metric(Metric),
}

/// The longest body that is read, in bytes.
pub const MAX_BODY: usize = 262_144;
/// The most days from the first to the last.
pub const MAX_SPAN_DAYS: i64 = 90;
/// The last page that can be asked for: 2^53, as far as every JSON reader counts exactly.
pub const MAX_PAGE: u64 = 1 << 53;
/// The most rows on a page.
pub const MAX_COUNT: u32 = 50_000;
/// Rows on a page unless the query says otherwise.
pub const DEFAULT_COUNT: u32 = 10_000;
/// The most filters in a query, and values in a filter.
pub const MAX_FILTERS: usize = 64;
pub const MAX_VALUES: usize = 1_000;
/// The most columns in `order_by`.
pub const MAX_ORDER: usize = 16;

impl Query {
    /// The measures that the rows and their order are made of, in the order of [`Measure::ALL`].
    pub fn measures(&self) -> Vec<Measure> {
        let ordered = self.order.iter().filter_map(|order| match order.column {
            Column::Metric(metric) => Some(metric),
            Column::Dimension(_) => None,
        });
        let metrics: Vec<_> = self.metrics.iter().copied().chain(ordered).collect();
        Measure::ALL
            .into_iter()
            .filter(|measure| {
                metrics
                    .iter()
                    .any(|metric| metric.measures().any(|of| of == *measure))
            })
            .collect()
    }

    /// Rows before the page.
    pub fn offset(&self) -> u64 {
        self.page.saturating_sub(1).saturating_mul(u64::from(self.count))
    }
}

#[cfg(test)]
mod tests;
