//! Batches of reports under a session. They use the same parser, engine and renderer as reports with a key. `totals`
//! adds the sums over all pages.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::{LedgerService, answer_to};
use crate::objects::ledger::{
    day_changes, freshness,
    report::{self, Report},
    segments::{Layer, Segments},
    suggestions,
};
use contract::{ledger::Suggest, operation};
use domain::{
    model::{ApiError, PublisherId, common, time::rfc_3339},
    reporting::{
        Dimension, Sums,
        engine::Budget,
        format::Format,
        page::Page,
        query::{Column, INVALID_PAGINATION, Order, Query},
        render::Renderer,
    },
};
use platform::{Clock, ObjectCall, ObjectStorage, Random, Result, Sleep};

/// Maximum queries of a batch.
const MAX_QUERIES: usize = 12;
/// Maximum rows on a page, and the default.
const MAX_COUNT: u32 = 1_000;
/// Maximum attempts to make a batch from one version of the facts. New facts in between require another attempt.
const ATTEMPTS: u32 = 2;

/// Minimum cost of a query, in facts, because part of its work is fixed.
pub(super) const LEAST_COST: u64 = 10_000;

const INVALID_BATCH: ApiError =
    ApiError::new(400, "invalid_batch", "queries must be an array of 1 to 12 report queries");

#[derive(Deserialize)]
struct Batch<'b> {
    #[serde(borrow)]
    queries: Vec<&'b RawValue>,
}

/// The fields of a query that exist only in batches.
#[derive(Deserialize)]
struct Extras {
    /// Also returns the metrics over all rows.
    #[serde(default)]
    totals: bool,
    /// Leaves out Signpost's own counts, which have no impressions.
    #[serde(default)]
    without_offerwall: bool,
    pagination: Option<serde_json::Value>,
}

struct BatchQuery {
    query: Query,
    with_totals: bool,
    layer: Option<Layer>,
}

impl BatchQuery {
    fn parse(text: &str) -> Result<Self, ApiError> {
        let mut query = Query::parse(text)?;
        let extras: Extras =
            serde_json::from_str(text).map_err(|error| common::INVALID_JSON.with_message(error.to_string()))?;
        let has_count = extras.pagination.is_some_and(|pagination| pagination.get("count").is_some());
        if !has_count {
            query.count = MAX_COUNT;
        } else if query.count > MAX_COUNT {
            let message = format!("pagination.count must be at most {MAX_COUNT} here");
            return Err(INVALID_PAGINATION.with_message(message));
        }
        Ok(Self { query, with_totals: extras.totals, layer: extras.without_offerwall.then_some(Layer::Loaded) })
    }

    fn is_by_day(&self) -> bool {
        self.query.dimensions == [Dimension::Date] && self.query.page == 1
    }

    /// Returns the query for the totals: the same facts by day, at most 91 rows.
    fn by_day(&self) -> Query {
        Query {
            dimensions: vec![Dimension::Date],
            order: vec![Order { column: Column::Dimension(Dimension::Date), ascending: true }],
            page: 1,
            count: MAX_COUNT,
            ..self.query.clone()
        }
    }
}

impl<D: ObjectStorage, R: Clock + Random + ObjectCall + Sleep> LedgerService<D, R> {
    /// Makes a batch of reports from one version of the facts: `{data_through, data_version, final_through, results}`.
    /// Other callers are answered between two reports, so that batches of clicks and rewards do not wait for a page of
    /// figures.
    ///
    /// # Errors
    /// The body is not a batch, the batch costs more than the budget has left, or facts kept arriving.
    pub async fn dashboard(&self, publisher: &PublisherId, body: &str) -> Result<String> {
        let _permit = self.reports.acquire_any(self.now_ms())?;
        let Batch { queries } = serde_json::from_str(body).map_err(|_| INVALID_BATCH)?;
        if queries.is_empty() || queries.len() > MAX_QUERIES {
            return Err(INVALID_BATCH.into());
        }
        let queries: Vec<_> = queries.into_iter().map(|query| BatchQuery::parse(query.get())).collect();
        let has_apps = |query: &BatchQuery| query.query.dimensions.contains(&Dimension::App);
        let db = self.shell.ready().await?;
        if queries.iter().flatten().any(has_apps) {
            self.refresh_names(db, publisher).await;
        }
        let facts = self.cost(db, queries.iter().flatten())?;
        self.budget.take(facts, self.now_ms())?;
        for _ in 0..ATTEMPTS {
            if let Some(batch) = self.try_batch(db, &queries).await? {
                return Ok(batch);
            }
        }
        Err(common::UNAVAILABLE.into())
    }

    /// Suggests values of a dimension, within the permits and the budget of reports.
    ///
    /// # Errors
    /// The query is wrong, or there is no permit or budget.
    pub async fn suggest(&self, suggest: &Suggest) -> Result<operation::OperatorReply> {
        let _permit = self.reports.acquire_any(self.now_ms())?;
        let query = suggestions::query(suggest)?;
        let db = self.shell.ready().await?;
        let facts = Segments::new(db, None).facts(query.start, query.end)?;
        self.budget.take(facts.max(LEAST_COST), self.now_ms())?;
        suggestions::suggest(db, &suggest.text, &query)
    }

    /// Returns the cost of a batch: the facts that it reads, at least 10,000 for each query.
    fn cost<'q>(&self, db: &D, queries: impl Iterator<Item = &'q BatchQuery>) -> Result<u64> {
        let mut cost = 0_u64;
        for query in queries {
            let facts = Segments::new(db, query.layer).facts(query.query.start, query.query.end)?;
            let scans = if query.with_totals && !query.is_by_day() { 2 } else { 1 };
            cost = cost.saturating_add((facts * scans).max(LEAST_COST));
        }
        Ok(cost)
    }

    /// Makes a batch; none if the facts change between two reports.
    async fn try_batch(&self, db: &D, queries: &[Result<BatchQuery, ApiError>]) -> Result<Option<String>> {
        let version = freshness::version(db)?;
        let mut results = Vec::new();
        for query in queries {
            if !results.is_empty() {
                self.shell.runtime().sleep(Duration::ZERO).await;
                if freshness::version(db)? != version {
                    return Ok(None);
                }
            }
            let result = match query {
                Ok(query) => self.result(db, query),
                Err(error) => Err(error.clone()),
            };
            results.push(result.unwrap_or_else(|error| error.body()));
        }
        let head = json!({
            "data_through": freshness::through_ms(db)?.map(rfc_3339),
            "data_version": version,
            "final_through": day_changes::final_through(db)?.map(|day| day.to_string()),
        });
        let head = head.to_string();
        let head = head.trim_end_matches('}');
        Ok(Some(format!("{head},\"results\":[{}]}}", results.join(","))))
    }

    /// Makes one report as JSON: `{total_count, rows, totals?}`.
    fn result(&self, db: &D, query: &BatchQuery) -> Result<String, ApiError> {
        let segments = Segments::new(db, query.layer).with_cache(&self.columns);
        let build = |query: &Query| report::build_of(&segments, db, query, &Budget::default()).map_err(answer_to);
        let Report { page, names, .. } = build(&query.query)?;
        let total = page.total;
        let totals = match query.with_totals {
            // If the query is by day and fits one page, the totals are made from this page.
            true if query.is_by_day() && page.rows() as u64 == total => Some(totals(&page, &query.query)?),
            true => Some(totals(&build(&query.by_day())?.page, &query.query)?),
            false => None,
        };
        let rows = match page.rows() {
            0 => "{\"rows\":[]}".to_owned(),
            _ => text(Renderer::new(page, Format::Json, names).whole())?,
        };
        let rows = rows.trim_start_matches('{').trim_end_matches('}');
        let mut result = format!("{{\"total_count\":{total},{rows}");
        if let Some(totals) = totals {
            result.push_str(",\"totals\":");
            result.push_str(&totals);
        }
        result.push('}');
        Ok(result)
    }
}

/// Returns the metrics over all days, as a row without dimensions. Rates are computed from the sums.
fn totals(by_day: &Page, query: &Query) -> Result<String, ApiError> {
    let mut sums = Sums::default();
    for row in (0..by_day.rows()).filter_map(|at| by_day.row(at)) {
        for (sum, more) in sums.iter_mut().zip(row.sums) {
            *sum = sum.saturating_add(*more);
        }
    }
    let mut page = Page::new(Vec::new(), query.metrics.clone());
    page.push(std::iter::empty(), sums).ok_or(common::INTERNAL_ERROR)?;
    let row = text(Renderer::new(page, Format::Ndjson, Default::default()).whole())?;
    Ok(row.trim_end().to_owned())
}

fn text(bytes: Vec<u8>) -> Result<String, ApiError> {
    String::from_utf8(bytes).map_err(|_| common::INTERNAL_ERROR)
}
