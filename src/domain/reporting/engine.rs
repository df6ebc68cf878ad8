//! The report engine: aggregates the facts of segments and finds the rows of one page. It is pure, and the same code
//! runs natively and in Wasm. docs/DECISIONS.md, "Reports".
//!
//! `scan` reads the segments one at a time, each once. `dictionary` numbers distinct values as they are first seen,
//! `layout` packs a row's numbers into the key of its group, and `batch` finds runs of rows with one key and adds them
//! to the group's sums in `table`. If the date is requested, the groups of a day are complete once the day was read.
//! Otherwise, groups are complete only once all days were read. Complete groups go to `top_rows`, which keeps the rows
//! that come first in the order of the query. If memory is short, `execution` splits the groups into parts by a hash of
//! their values, or makes several sweeps over all facts. Each sweep finds the rows that follow those of the previous
//! sweep.

mod batch;
mod dictionary;
mod execution;
mod layout;
mod metered_vec;
mod order;
mod plan;
mod scan;
mod table;
#[cfg(test)]
pub mod testing;
#[cfg(test)]
mod tests;
mod texts;
mod top_rows;

use std::rc::Rc;

use super::{
    metric::Sums,
    page::Page,
    query::Query,
    segment::{Column, Corrupt, to_usize},
};
use crate::model::{ApiError, UtcDay, seeded_hash};

/// The answer to [`EngineError::TooLarge`].
pub const RESULT_TOO_LARGE: ApiError = ApiError::new(
    400,
    "result_too_large",
    "the query has more than 2000000 groups; ask for fewer days or dimensions, or add a filter",
);

/// The answer to [`EngineError::PageTooLarge`].
pub const PAGE_TOO_LARGE: ApiError =
    ApiError::new(400, "result_too_large", "the texts on this page exceed 16 MiB; ask for fewer rows per page");

/// A stored segment, described without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentRef {
    /// Identifies the segment to its [`Source`].
    pub id: i64,
    /// The day of all its facts.
    pub day: UtcDay,
    /// The number of rows, which every column of the segment must have.
    pub rows: u32,
}

/// The storage of segments.
pub trait Source {
    /// The reason why the storage failed.
    type Error;

    /// The segments of both layers from the day `first` to the day `last`, inclusive.
    ///
    /// # Errors
    /// The storage failed.
    fn segments(&self, first: UtcDay, last: UtcDay) -> Result<Vec<SegmentRef>, Self::Error>;

    /// The bytes of these columns of one segment, in the order of `wanted`, shared with the source's cache. The bytes
    /// must not change while a query runs.
    ///
    /// # Errors
    /// The storage failed. A missing column is not an error: it is returned as empty bytes, which the engine reports as
    /// corrupt.
    fn columns(&self, segment: &SegmentRef, wanted: &[Column]) -> Result<Vec<Rc<Vec<u8>>>, Self::Error>;
}

/// The limits of one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Memory for the state of groups, in bytes. It does not include the columns of the segment being read (at most 12
    /// MB), the memory for sorting a dictionary (at most 2 MiB), and the rows of the page.
    pub bytes: usize,
    /// The part of `bytes` for the rows kept for the page.
    pub kept: usize,
    /// Maximum groups on all pages together.
    pub groups: u64,
    /// Maximum size of an array with a slot for every possible key, in groups.
    pub dense: usize,
    /// The hash seed for values and groups. The answer does not depend on it.
    pub seed: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { bytes: 48 << 20, kept: 16 << 20, groups: 2_000_000, dense: 1 << 20, seed: seeded_hash::seed() }
    }
}

/// The reason why a query has no page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError<E> {
    /// The storage failed.
    Source(E),
    /// A segment is damaged. It is never skipped, because the numbers would be wrong.
    Corrupt {
        /// The [`SegmentRef::id`].
        segment: i64,
        /// The damaged column, and what is wrong with it.
        cause: Corrupt,
    },
    /// There are more groups than the budget allows, or even the smallest part does not fit in memory:
    /// [`RESULT_TOO_LARGE`].
    TooLarge,
    /// The page has more text than is allowed: [`PAGE_TOO_LARGE`].
    PageTooLarge,
}

/// Counters of one query. Tests read them to see which code paths the query took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunStats {
    /// Segments read.
    pub segments: u64,
    /// Finished parts. Each group belongs to one part.
    pub parts: u64,
    /// Finished parts with an array of all possible keys.
    pub dense: u64,
    /// Finished parts with keys of two words.
    pub wide: u64,
    /// Parts that did not fit in memory and were split.
    pub splits: u64,
    /// Number of times that groups were moved, because new values needed more bits in the keys.
    pub moves: u64,
    /// Number of times that kept rows beyond the page were dropped.
    pub prunes: u64,
    /// Number of times that values without a kept row were dropped.
    pub compactions: u64,
    /// Number of times that all facts were aggregated.
    pub sweeps: u64,
}

/// Visits a group: the values of the requested dimensions in order, and the sums.
pub type Visit<'v> = dyn FnMut(&[&str], &Sums) + 'v;

/// Runs a query. Returns its page, with the number of rows on all pages, and its counters. Shows each group of all pages
/// to `visitor`, in no particular order.
pub fn run<S: Source>(
    source: &S,
    query: &Query,
    budget: &Budget,
    visitor: Option<&mut Visit<'_>>,
) -> Result<(Page, RunStats), EngineError<S::Error>> {
    let plan = plan::Plan::new(query);
    let segments = source.segments(query.start, query.end).map_err(EngineError::Source)?;
    let segments = plan.matching_segments(segments);
    let meter = metered_vec::Meter::new(budget.bytes.saturating_sub(budget.kept));
    // The execution borrows the visitor for less time than the caller.
    let visitor = visitor.map(|visitor| visitor as &mut Visit<'_>);
    execution::Execution::new(source, &plan, budget, &segments, &meter, visitor).page()
}
