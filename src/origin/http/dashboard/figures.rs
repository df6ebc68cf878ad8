//! A publisher's figures: the overview's fixed batch of reports, and the batches that the reports view sends. The
//! ledger makes both with the code that serves report keys, so the numbers are the same.

use futures_util::future::join3;
use serde::Deserialize;
use serde_json::{Value, json};
use worker::Request;

use super::{switch, visitor::Visit};
use crate::http::{
    HandlerResult, Refusal,
    calls::{TIMEOUT, ask, read_document, read_json, read_resource},
    site::members::{member_json, notices},
};
use contract::{
    catalog::Resource,
    ledger::{self, DASHBOARD, OPERATOR, ReadFreshness, Suggest},
};
use domain::{
    model::{Document, UtcDay},
    reporting::query::MAX_BODY,
};
use platform::{
    http::Answer,
    object_call::{self, broken},
};

/// Number of complete days that the overview shows.
const PERIOD: i32 = 30;
/// The number of days between the starts of the two compared periods. It is a whole number of weeks, as in the page's
/// reports.
const DAYS_BACK: i32 = (PERIOD + 6) / 7 * 7;

/// `GET overview`: the member, the publisher, and the figures, in one call that the page preloads.
pub async fn overview(visit: &Visit<'_>) -> HandlerResult {
    let today = UtcDay::of_ms(visit.context.now_ms);
    let figures = async {
        let last = last_day(visit, today).await?;
        let figures = batch(visit, overview_batch(today, last).to_string()).await?;
        Ok((last, figures))
    };
    let others = switch::others(visit);
    let publisher = read_resource::<Value>(visit.context, Resource::Publisher, visit.publisher.as_str());
    let (publisher, figures, others) = join3(publisher, figures, others).await;
    let (last_day, figures) = match figures {
        Ok((last, figures)) => (last, Ok(figures)),
        Err(refusal) => (today.minus(1), Err(refusal)),
    };
    let publisher = publisher?;
    let figures = figures_of(figures);
    let body = json!({
        "member": member_json(visit),
        "publisher": {
            "publisher_id": visit.publisher,
            "name": publisher.get("name"),
            "approved": publisher.get("approved"),
        },
        "accounts": switch::accounts(visit, &publisher, others),
        "notices": notices(visit),
        "support_contact": visit.config.support_contact,
        "docs_url": visit.config.docs_url,
        "reporting_url": visit.config.reporting_url,
        "today": today.to_string(),
        "last_day": last_day.to_string(),
        "data_through": figures.get("data_through"),
        "data_version": figures.get("data_version"),
        "final_through": figures.get("final_through"),
        "reports": reports_by_name(&figures),
    });
    Ok(Answer::json(200, body.to_string()))
}

const UNREADABLE: &str = "the figures could not be read";

/// The names of the overview's reports, in the order of its batch.
const REPORTS: [&str; 6] = ["days", "current", "previous", "ads_current", "ads_previous", "today"];

/// Returns the last day with complete data. This is yesterday, or the last loaded day if the loaded facts end earlier.
/// Days that are not loaded yet would be compared as if nothing had been earned.
async fn last_day(visit: &Visit<'_>, today: UtcDay) -> Result<UtcDay, Refusal> {
    let ledger = ledger::address(&visit.publisher, OPERATOR);
    let loaded_through_ms = visit.context.call(&ledger, ReadFreshness {}).await?.loaded_through_ms;
    let through = loaded_through_ms.map_or(today, UtcDay::of_ms).min(today);
    Ok(through.minus(1))
}

/// Builds the overview's batch: two periods of complete days up to `last`, and today. Impressions and eCPM leave out
/// the offerwall, which has no impressions.
fn overview_batch(today: UtcDay, last: UtcDay) -> Value {
    let days = |from: i32, to: i32| json!({ "start_date": last.minus(from).to_string(), "end_date": last.minus(to).to_string() });
    let (current, previous) = (days(PERIOD - 1, 0), days(DAYS_BACK + PERIOD - 1, DAYS_BACK));
    let all = |range: &Value| {
        json!({
            "date_range": range, "dimensions": ["date"], "metrics": ["revenue", "clicks"],
            "totals": true,
        })
    };
    let ads = |range: &Value| {
        json!({
            "date_range": range, "dimensions": ["date"], "metrics": ["revenue", "impressions", "ecpm"],
            "totals": true, "without_offerwall": true,
        })
    };
    // Today is shown only if the period ends yesterday.
    let end = if last.minus(-1) == today { today } else { last };
    let everything = json!({
        "date_range": { "start_date": last.minus(DAYS_BACK + PERIOD - 1).to_string(), "end_date": end.to_string() },
        "dimensions": ["date"],
        "metrics": ["revenue", "clicks", "impressions", "ecpm"],
        "order_by": [{ "column": "date", "ascending": true }],
    });
    let today = all(&json!({ "start_date": today.to_string(), "end_date": today.to_string() }));
    json!({ "queries": [
        everything, all(&current), all(&previous), ads(&current), ads(&previous), today,
    ] })
}

/// Parses the answer to the batch. If the batch failed, each report becomes the error, so that the page still shows the
/// rest.
fn figures_of(answered: Result<String, Refusal>) -> Value {
    let failed = |error: Value| {
        let results: Vec<Value> = REPORTS.iter().map(|_| error.clone()).collect();
        json!({ "data_through": null, "data_version": null, "final_through": null, "results": results })
    };
    match answered {
        Ok(text) => serde_json::from_str(&text)
            .unwrap_or_else(|_| failed(json!({ "error": UNREADABLE, "code": "internal_error" }))),
        Err(answer) => failed(json!({
            "error": UNREADABLE,
            "code": answer.code().unwrap_or("internal_error"),
        })),
    }
}

fn reports_by_name(figures: &Value) -> Value {
    let results = figures.get("results").and_then(Value::as_array);
    let named = REPORTS.iter().zip(results.into_iter().flatten());
    named.map(|(name, result)| ((*name).to_owned(), result.clone())).collect::<serde_json::Map<_, _>>().into()
}

/// `POST reports`: a batch of queries as the page sends it.
pub async fn reports(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let body = read_json(&mut request, MAX_BODY).await?;
    Ok(Answer::json(200, batch(visit, body).await?))
}

/// Sends a batch to the visitor's ledger.
async fn batch(visit: &Visit<'_>, body: String) -> Result<String, Refusal> {
    let init = object_call::post(&body.into());
    let to = ledger::address(&visit.publisher, DASHBOARD);
    let mut response = object_call::send(&visit.context.workers.env, &to, &init, TIMEOUT).await?;
    match response.status_code() {
        200 => Ok(response.text().await.map_err(broken)?),
        _ => Err(object_call::refused(response).await.into()),
    }
}

#[derive(Deserialize)]
struct SuggestBody {
    dimension: String,
    text: String,
    date_range: Value,
}

impl Document for SuggestBody {}

/// `POST suggestions`: values of a dimension that occur in the data.
pub async fn suggestions(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let body: SuggestBody = read_document(&mut request, MAX_BODY).await?;
    let suggest = Suggest { dimension: body.dimension, text: body.text, date_range: body.date_range.to_string() };
    Ok(ask(visit.context, &ledger::address(&visit.publisher, OPERATOR), suggest).await)
}
