//! `GET …/report/changes`: which final days have changed, for a publisher's own copy of its reports.

use serde_json::{Value, json};
use worker::Request;

use crate::{
    http::{
        api_key::{self, ApiKey},
        calls::{parameter, parse},
        isolate::RequestContext,
        refusal::HandlerResult,
    },
    objects::ledger::day_changes::shown,
};
use contract::ledger::{self, ChangeCause, DayChange, DayChanges, ListDayChanges};
use domain::{
    model::{api_error::ApiError, time::SECOND_MS},
    reporting::keys::Scope,
};
use platform::{
    database::MAX_INTEGER,
    http::answer::{Answer, LogFields},
};

const MAX_LIMIT: u32 = 1_000;
const DEFAULT_LIMIT: u32 = 100;

pub async fn read(context: &RequestContext, request: &Request, query: &str) -> Answer {
    api_key::answer(async |log_fields| with_key(context, request, query, log_fields).await).await
}

async fn with_key(
    context: &RequestContext,
    request: &Request,
    query: &str,
    log_fields: &mut LogFields,
) -> HandlerResult {
    let key = ApiKey::of(context, request)?;
    let _permit = key.enter(context)?;
    key.use_for(context, Scope::Reporting, log_fields).await?;
    let list = list(query)?;
    let ledger = ledger::address(&key.publisher, ledger::OPERATOR);
    let DayChanges {
        changes,
        has_more,
        final_through,
    } = context.call(&ledger, list).await?;
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
    let limit = |text: &str| text.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
    let limit_problem = format!("limit: must be an integer from 1 to {MAX_LIMIT}");
    let number = |text: &str| {
        let is_number = (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        let number: Option<i64> = is_number.then(|| text.parse().ok()).flatten();
        number.map(|number| number.min(MAX_INTEGER))
    };
    let after_problem = "after: must be the cursor of an answer before this one";
    Ok(ListDayChanges {
        after: parse(parameter(query, "after"), number, after_problem)?.unwrap_or(0),
        limit: parse(parameter(query, "limit"), limit, limit_problem)?.unwrap_or(DEFAULT_LIMIT),
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
