//! One report, from a checked query to the rows of its page.

use std::collections::HashMap;

use super::{freshness, names, segments::Segments};
use domain::{
    model::api_error::ApiError,
    reporting::{
        Dimension,
        engine::{self, Budget, EngineError, PAGE_TOO_LARGE, RESULT_TOO_LARGE},
        page::Page,
        query::Query,
    },
};
use platform::{database::Database, failure::Failure};

/// Rather no report than one that reads damaged facts wrong. Which segment it is goes to the log.
pub const DAMAGED_FACTS: ApiError = ApiError::new(
    500,
    "damaged_facts",
    "some of the stored facts are damaged, and no report is made of them",
);

/// A page, and what is sent along with it.
#[derive(Debug)]
pub struct Report {
    pub page: Page,
    /// Names of the page's apps, by app.
    pub names: HashMap<String, String>,
    pub through_ms: Option<i64>,
}

/// What kept a report from being made.
#[derive(Debug)]
pub enum Unmade {
    Failure(Failure),
    /// For the log; the caller reads [`DAMAGED_FACTS`].
    Damaged(String),
}

impl<E: Into<Failure>> From<E> for Unmade {
    fn from(failure: E) -> Self {
        Self::Failure(failure.into())
    }
}

/// Makes a report. Nothing in here waits, so that an isolate holds the groups of one query at a time.
pub fn make(db: &impl Database, query: &Query, budget: &Budget) -> Result<Report, Unmade> {
    let page = engine::run(&Segments(db), query, budget).map_err(|error| match error {
        EngineError::Source(error) => Unmade::from(error),
        EngineError::TooLarge => Unmade::from(RESULT_TOO_LARGE),
        EngineError::PageTooLarge => Unmade::from(PAGE_TOO_LARGE),
        EngineError::Corrupt { segment, cause } => Unmade::Damaged(format!("segment {segment}: {cause}")),
    })?;
    let names = names::of(db, page.column(Dimension::App))?;
    Ok(Report {
        page,
        names,
        through_ms: freshness::through_ms(db)?,
    })
}
