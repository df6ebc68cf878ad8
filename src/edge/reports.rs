//! `POST …/report/generate`: refuses forged keys and oversized queries, and asks the publisher's ledger for the report.

use std::time::Duration;

use worker::{Headers, Request, Response};

use crate::{
    isolate::RequestContext,
    limits::{Pool, QUERIES_OF_KEY},
};
use contract::{ledger, operation::CallError};
use domain::{
    model::{ApiError, PublisherId, credentials},
    reporting::{
        keys::{self, INVALID_API_KEY},
        query::MAX_BODY,
    },
};
use platform::{
    http::{
        Answer,
        answer::{JSON, LogFields},
        body, header,
    },
    object_call::{self, broken},
    runtime,
};

/// The timeout of a ledger.
const TIMEOUT: Duration = Duration::from_secs(25);

pub async fn report(context: &RequestContext, request: Request) -> Answer {
    let mut log_fields = LogFields::default();
    let answered = generate(context, request, &mut log_fields).await;
    log_fields.attach_to(answered)
}

async fn generate(
    context: &RequestContext,
    mut request: Request,
    log_fields: &mut LogFields,
) -> Result<Answer, ApiError> {
    let RequestContext { isolate, now_ms, .. } = context;
    body::check_media_type(&request, &[JSON], true)?;
    let api_key = header(&request, "X-Api-Key").unwrap_or_default();
    let Some(publisher) = keys::publisher(&isolate.config.report_keys, &api_key) else {
        // A query that is too large is refused as such, even if its key is invalid. So the body of an unauthenticated
        // sender is measured, but not stored.
        body::measure(&mut request, MAX_BODY).await?;
        return Err(INVALID_API_KEY);
    };
    log_fields.publisher = Some(publisher.to_string());
    log_fields.key = Some(credentials::fingerprint(&api_key));
    let body = {
        // Only the ledger knows whether the key was revoked. Until the ledger answers, queries with a revoked key take
        // permits only from the shares of that key and its publisher.
        let key = (api_key.as_str(), QUERIES_OF_KEY);
        let queries = isolate.pools.get(Pool::Queries);
        let _permit = queries.acquire_part(publisher.as_str(), key, *now_ms)?;
        body::read(&mut request, MAX_BODY).await?
    };
    // The ledger checks the key and its rate before the JSON, so bytes that are not UTF-8 are passed on as invalid
    // JSON.
    let body = String::from_utf8(body).unwrap_or_else(|_| char::REPLACEMENT_CHARACTER.into());
    let reports = isolate.pools.get(Pool::Reports);
    let _permit = reports.acquire(publisher.as_str(), *now_ms)?;
    let headers = ["Accept", "If-Match"].into_iter().filter_map(|name| Some((name, header(&request, name)?)));
    let headers = headers.chain([("X-Api-Key", api_key)]);
    let answered = ask_ledger(context, &publisher, ledger::REPORT, headers, &body, TIMEOUT).await;
    let was_answered = CallError::was_answered(&answered);
    isolate.reach.ledgers.borrow_mut().note(publisher.as_str(), was_answered, runtime::now_ms());
    let answer = match answered {
        Ok(response) => Answer::pass(response).await,
        Err(error) => error.into(),
    };
    log_fields.rows = match answer.status {
        204 => Some(0),
        _ => answer.passed_header("X-Total-Count").and_then(|rows| rows.parse().ok()),
    };
    Ok(answer)
}

/// Posts a query to a publisher's ledger. Its answer, even a refusal, is returned unchanged.
pub async fn ask_ledger(
    context: &RequestContext,
    publisher: &PublisherId,
    path: &str,
    headers: impl IntoIterator<Item = (&str, String)>,
    body: &str,
    timeout: Duration,
) -> Result<Response, CallError> {
    let sent = Headers::new();
    for (name, value) in headers {
        sent.set(name, &value).map_err(broken)?;
    }
    let init = object_call::post(&body.into());
    init.set_headers(sent.as_ref());
    object_call::send(&context.workers.env, &ledger::address(publisher, path), &init, timeout).await
}
