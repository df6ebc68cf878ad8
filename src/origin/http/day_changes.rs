//! `GET …/report/changes`: lists the changes of final days, so that a publisher can update its own copy of its reports.

use serde_json::{Value, json};
use worker::Request;

use crate::{
    http::{
        HandlerResult, RequestContext, api_key,
        calls::{parameter, parse, read_limit},
    },
    objects::ledger::day_changes::{MAX_LIMIT, shown},
};
use contract::ledger::{self, ChangeCause, DayChange, DayChanges, ListDayChanges};
use domain::{
    conversions::log_number,
    model::{ApiError, PublisherId, SECOND_MS},
    reporting::keys::Scope,
};
use platform::{database::MAX_INTEGER, http::Answer};

pub async fn read(context: &RequestContext, request: &Request, query: &str) -> Answer {
    api_key::answer_for(context, request, Scope::Reporting, async |publisher| {
        page(context, &publisher, list(query)?).await
    })
    .await
}

/// Returns a page of changes, with the cursor of the next page.
pub async fn page(context: &RequestContext, publisher: &PublisherId, list: ListDayChanges) -> HandlerResult {
    let ledger = ledger::address(publisher, ledger::OPERATOR);
    let DayChanges { changes, has_more, final_through } = context.call(&ledger, list).await?;
    let cursor = changes.last().map_or(list.after, |last| last.number);
    let body = json!({
        "changes": changes.iter().map(listed).collect::<Value>(),
        "cursor": cursor.to_string(),
        "has_more": has_more,
        "final_through": final_through.map(|day| day.to_string()),
    });
    Ok(Answer::json(200, body.to_string()))
}

fn list(query: &str) -> Result<ListDayChanges, ApiError> {
    let problem = "after: must be the cursor of an earlier answer";
    let after = parse(parameter(query, "after"), log_number::parse, problem)?;
    Ok(ListDayChanges {
        after: after.unwrap_or(0).min(MAX_INTEGER),
        limit: read_limit(query, MAX_LIMIT)?,
        before: None,
    })
}

fn listed(change: &DayChange) -> Value {
    let author = match change.cause {
        ChangeCause::FactsReplaced | ChangeCause::FactsAdded | ChangeCause::Restated => "operator",
        ChangeCause::LateBatch | ChangeCause::Restored => "signpost",
    };
    json!({
        "date": change.day.to_string(),
        "app_id": change.app,
        "cause": change.cause,
        "changed_ts": change.at_ms.div_euclid(SECOND_MS),
        "author": author,
        "before": shown(&change.before),
        "after": shown(&change.after),
    })
}
