//! The engine: adds up facts in their segments, and finds the rows of one page. Pure, and the same code natively and in
//! Wasm. docs/DECISIONS.md, "Reports", "Engine".
//!
//! Each segment is read once, and one at a time. Its distinct values are numbered as they are first seen
//! (`dictionary`), a row's group is those numbers packed into a key (`layout`), and runs of rows with one key (`batch`)
//! are added to the group's sums (`table`). When the date is asked for, a day's groups are complete at the day's end;
//! else at the end of all days. Then they are offered to the rows kept for the page (`kept`), which drops what the order
//! puts behind it. What memory does not hold is done in parts, each with the values of a part of a hash, or in sweeps
//! over all facts, each for rows after the ones before (`work`).

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
mod top_rows;

use super::{
    page::Page,
    query::Query,
    segment::{Column, Corrupt},
};
use crate::model::{api_error::ApiError, seeded_hash, time::UtcDay};

/// What [`EngineError::TooLarge`] is told as.
pub const RESULT_TOO_LARGE: ApiError = ApiError::new(
    400,
    "result_too_large",
    "the query has more than 2000000 groups; ask for fewer days or dimensions, or filter",
);

/// What [`EngineError::PageTooLarge`] is told as.
pub const PAGE_TOO_LARGE: ApiError = ApiError::new(
    400,
    "result_too_large",
    "the texts of this page are more than 16 MiB; ask for fewer rows on a page",
);

/// A segment, before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentRef {
    pub id: i64,
    pub day: UtcDay,
    pub rows: u32,
}

/// Where segments are kept.
pub trait Source {
    type Error;

    /// The segments of these days, both included, of both layers.
    ///
    /// # Errors
    /// Whatever keeps the source from answering.
    fn segments(&self, first: UtcDay, last: UtcDay) -> Result<Vec<SegmentRef>, Self::Error>;

    /// The bytes of these columns of one segment, in the order asked. They must not change while a query runs.
    ///
    /// # Errors
    /// Whatever keeps the source from answering. A column that is not there is empty bytes, which no column is.
    fn columns(&self, segment: &SegmentRef, wanted: &[Column]) -> Result<Vec<Vec<u8>>, Self::Error>;
}

/// What a query may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// All state of groups, in bytes. On top come the columns of the one segment that is read (at most 12 MB), what sorting
    /// a dictionary takes (at most 2 MiB), and the page's own rows.
    pub bytes: usize,
    /// Of these, for the rows kept for the page.
    pub kept: usize,
    /// The most groups, on all pages together.
    pub groups: u64,
    /// The most groups that are kept in an array of all possible keys.
    pub dense: usize,
    /// What values and groups are spread by. The answer does not depend on it.
    pub seed: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            bytes: 48 << 20,
            kept: 16 << 20,
            groups: 2_000_000,
            dense: 1 << 20,
            seed: seeded_hash::seed(),
        }
    }
}

/// Why there is no page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError<E> {
    Source(E),
    /// A segment is not what was written. It is never skipped: the numbers would be wrong.
    Corrupt {
        segment: i64,
        cause: Corrupt,
    },
    /// More groups than the budget has, or no memory for the smallest part: [`RESULT_TOO_LARGE`].
    TooLarge,
    /// More text on the page than it holds: [`PAGE_TOO_LARGE`].
    PageTooLarge,
}

/// What a query took: for the log, and for tests to know which ways they went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Segments read.
    pub segments: u64,
    /// Parts that were finished, each with groups of its own.
    pub parts: u64,
    /// Of these, with groups in an array of all possible keys.
    pub dense: u64,
    /// Of these, with keys of two words.
    pub wide: u64,
    /// Parts that did not fit, and were split.
    pub splits: u64,
    /// Times that groups moved, since there were more values than their keys had room for.
    pub moves: u64,
    /// Times that kept rows behind the page were dropped.
    pub prunes: u64,
    /// Times that values no kept row has were dropped.
    pub compactions: u64,
    /// Times that all facts were added up.
    pub sweeps: u64,
}

/// The page that a query asks for, and how many rows there are on all.
///
/// # Errors
/// [`EngineError`].
pub fn run<S: Source>(source: &S, query: &Query, budget: &Budget) -> Result<Page, EngineError<S::Error>> {
    run_measured(source, query, budget).map(|(page, _)| page)
}

/// As [`run`], with what it took.
///
/// # Errors
/// [`EngineError`].
pub fn run_measured<S: Source>(
    source: &S,
    query: &Query,
    budget: &Budget,
) -> Result<(Page, Effort), EngineError<S::Error>> {
    let plan = plan::Plan::of(query);
    let segments = source
        .segments(query.start, query.end)
        .map_err(EngineError::Source)?;
    let segments = plan.counted(segments);
    let meter = metered_vec::Meter::new(budget.bytes.saturating_sub(budget.kept));
    execution::Execution::new(source, &plan, budget, &segments, &meter).page()
}

/// A number of 32 bits as a place in memory, which has 32 bits in Wasm and 64 natively.
fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
