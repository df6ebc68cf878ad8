//! A checked report query. docs/SPEC.md, "Report query".

mod errors;
mod filters;
pub mod parsing;

pub use errors::INVALID_PAGINATION;

use super::{Dimension, Measure, Metric};
use crate::model::UtcDay;

/// A checked query. Each list is in the order of the request, without repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The first day, inclusive.
    pub start: UtcDay,
    /// The last day, inclusive; at most 90 days after `start`.
    pub end: UtcDay,
    /// At least one.
    pub dimensions: Vec<Dimension>,
    /// At least one.
    pub metrics: Vec<Metric>,
    /// A fact counts if it passes every filter. There is at most one filter per dimension.
    pub filters: Vec<Filter>,
    /// The request's order, or the default. Rows that it leaves equal are ordered by the requested dimensions,
    /// ascending, in the order of the request, so that every row has one position.
    pub order: Vec<Order>,
    /// The number of the page, from 1.
    pub page: u64,
    /// Maximum rows on the page, 1 to [`MAX_COUNT`].
    pub count: u32,
}

/// Passes facts whose value of a dimension is one of `values`, which are sorted and distinct. Without values no fact
/// passes. A country is in upper case, a date is `YYYY-MM-DD`, and an app is its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The dimension whose values are compared.
    pub dimension: Dimension,
    /// The accepted values.
    pub values: Vec<String>,
}

/// One sort key of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The column that is compared.
    pub column: Column,
    /// False for descending.
    pub ascending: bool,
}

/// A column by which rows can be ordered: a requested dimension, or any metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Compared bytewise.
    Dimension(Dimension),
    /// Compared exactly, before rounding.
    Metric(Metric),
}

/// Maximum length of a body, in bytes.
pub const MAX_BODY: usize = 262_144;
/// Maximum days from the first day to the last day.
pub const MAX_SPAN_DAYS: i64 = 90;
/// The highest page number: 2^53, up to which every JSON reader is exact.
pub const MAX_PAGE: u64 = 1 << 53;
/// Maximum rows on a page.
pub const MAX_COUNT: u32 = 50_000;
/// Rows on a page when the query has no count.
pub const DEFAULT_COUNT: u32 = 10_000;
/// Maximum filters in a query.
pub const MAX_FILTERS: usize = 64;
/// Maximum values in a filter.
pub const MAX_VALUES: usize = 1_000;
/// Maximum columns in `order_by`.
pub const MAX_ORDER: usize = 16;

impl Query {
    /// The measures that the rows and their order need, in the order of [`Measure::ALL`].
    pub fn measures(&self) -> Vec<Measure> {
        let ordered = self.order.iter().filter_map(|order| match order.column {
            Column::Metric(metric) => Some(metric),
            Column::Dimension(_) => None,
        });
        let metrics: Vec<_> = self.metrics.iter().copied().chain(ordered).collect();
        Measure::ALL
            .into_iter()
            .filter(|measure| metrics.iter().any(|metric| metric.measures().any(|needed| needed == *measure)))
            .collect()
    }

    /// The number of rows before the page.
    pub fn offset(&self) -> u64 {
        self.page.saturating_sub(1).saturating_mul(u64::from(self.count))
    }
}

#[cfg(test)]
mod tests;
