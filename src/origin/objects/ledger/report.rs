//! Makes one report: from a checked query to the rows of its page.

use std::collections::HashMap;

use super::{freshness, names, segments::Segments};
use domain::{
    model::{ApiError, common},
    reporting::{
        Dimension,
        engine::{self, Budget, EngineError, PAGE_TOO_LARGE, RESULT_TOO_LARGE, RunStats, Visit},
        page::Page,
        query::Query,
        segment::UNKNOWN_VERSION,
    },
};
use platform::{Database, DatabaseError, Failure, Result, log, unreadable};

/// The error of a report that needs a damaged segment, because its figures would be wrong. The log names the segment.
pub const DAMAGED_FACTS: ApiError =
    ApiError::new(500, "damaged_facts", "some stored facts are damaged, so no report can be made");

/// A page, and the values for its headers.
#[derive(Debug)]
pub struct Report {
    pub page: Page,
    /// Names of the page's apps, by app id.
    pub names: HashMap<String, String>,
    /// The time up to which there is data, in milliseconds.
    pub through_ms: Option<i64>,
}

/// Builds a report from all facts. It is synchronous, so that an isolate holds the groups of only one query at a time.
pub fn build(db: &impl Database, query: &Query, budget: &Budget) -> Result<Report> {
    build_of(&Segments::new(db, None), db, query, budget)
}

/// Builds a report from these segments.
pub fn build_of<D: Database>(segments: &Segments<'_, D>, db: &D, query: &Query, budget: &Budget) -> Result<Report> {
    with_names(db, engine::run(segments, query, budget, None))
}

/// Builds a report from these segments, and calls `visitor` with the rows of all pages in no particular order.
pub fn build_visited<D: Database>(
    segments: &Segments<'_, D>,
    db: &D,
    query: &Query,
    budget: &Budget,
    visitor: &mut Visit<'_>,
) -> Result<Report> {
    with_names(db, engine::run(segments, query, budget, Some(visitor)))
}

fn with_names(db: &impl Database, ran: Result<(Page, RunStats), EngineError<DatabaseError>>) -> Result<Report> {
    let (page, _) = ran.map_err(|error| match error {
        EngineError::Source(error) => Failure::from(error),
        EngineError::TooLarge => RESULT_TOO_LARGE.into(),
        EngineError::PageTooLarge => PAGE_TOO_LARGE.into(),
        EngineError::Corrupt { segment, cause } => {
            unreadable::record("segment");
            log::error("ledger", format_args!("segment {segment}: {cause}"));
            if cause.reason == UNKNOWN_VERSION { common::UNAVAILABLE } else { DAMAGED_FACTS }.into()
        }
    })?;
    let names = names::look_up(db, page.column(Dimension::App))?;
    Ok(Report { page, names, through_ms: freshness::through_ms(db)? })
}
