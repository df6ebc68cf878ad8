//! Bench builds only: makes a report several times, from the bytes of its query to the bytes of its answer. The runs
//! share the cached columns, as reports do.

use worker::{Request, Response};

use super::{column_cache::ColumnCache, report, segments::Segments};
use contract::ledger;
use domain::reporting::{engine::Budget, format::Format, query::Query, render::Renderer};
use platform::{Database, Result};

pub async fn report(db: &impl Database, columns: &ColumnCache, mut request: Request) -> Result<Response> {
    let times = request.headers().get(ledger::BENCH_TIMES)?.and_then(|times| times.parse().ok());
    let body = request.text().await?;
    let mut answer = Vec::new();
    for _ in 0..times.unwrap_or(1) {
        let query = Query::parse(&body)?;
        let segments = Segments::new(db, None).with_cache(columns);
        let report = report::build_of(&segments, db, &query, &Budget::default())?;
        answer = Renderer::new(report.page, Format::Json, report.names).whole();
    }
    Ok(Response::from_bytes(answer)?)
}
