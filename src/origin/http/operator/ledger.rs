//! The operator's calls to a publisher's ledger: report keys and facts.

use std::time::Duration;

use serde::Deserialize;
use worker::{Headers, Request, Response};

use super::{MAX_DOCUMENT, ask, is_dry_run, publisher_in, read_json, read_page, read_reply, segment};
use crate::http::{HandlerResult, RequestContext, routes::LedgerCall, site::gate::Member};
use contract::{
    catalog::MAX_PAGE,
    ledger::{
        self, CreateKey, FACTS, KeyCreator, ListDays, ListKeys, OPERATOR, Restate, RevokeKey, Target, Upload, address,
    },
    operation::{CallError, OperatorReply},
};
use domain::{
    model::{ApiError, FieldError, PublisherId},
    reporting::facts::{self, Format},
};
use platform::{
    http::{Answer, body, header},
    object_call::{self, broken},
};

/// The timeout of an upload: 64 MiB at 0.6 Mbit/s.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(900);
/// The media types of facts.
const CSV: &str = "text/csv";
const NDJSON: &str = "application/x-ndjson";

const MISSING_IDEMPOTENCY_KEY: ApiError = ApiError::new(
    400,
    "missing_field",
    "Idempotency-Key: a header of 1 to 255 printable characters is required, so that a batch sent twice counts once",
);

#[derive(Default, Deserialize)]
struct KeyLabel {
    label: String,
}

#[derive(Deserialize)]
struct NewKey {
    key_id: String,
}

#[derive(Deserialize)]
struct LoadedRows {
    rows: u64,
}

pub async fn call(
    context: &RequestContext,
    call: LedgerCall,
    by: Option<&Member>,
    segments: &[&str],
    mut request: Request,
    query: &str,
) -> HandlerResult {
    let segment = |at| segment(segments, at);
    let day = || facts::day(&segment(1)).map_err(|problem| FieldError::new("date", problem));
    // The publisher must exist, because calling a ledger creates it.
    let publisher = publisher_in(context, segments).await?;
    let ledger = address(&publisher, OPERATOR);
    Ok(match call {
        LedgerCall::CreateReportKey => {
            let body = read_json(&mut request, MAX_DOCUMENT).await?;
            let by = by.map(|member| KeyCreator { member: member.session.member, name: member.session.name.clone() });
            let KeyLabel { label } = serde_json::from_str(&body).unwrap_or_default();
            let created = context.call(&ledger, CreateKey { body, by }).await?;
            let NewKey { key_id } = read_reply(&created)?;
            Answer::from(created).audited(format!("{label}, {key_id}"))
        }
        LedgerCall::ListReportKeys => ask(context, &ledger, ListKeys {}).await,
        LedgerCall::RevokeReportKey => {
            let key_id = segment(1);
            ask(context, &ledger, RevokeKey { key_id }).await
        }
        LedgerCall::ListFacts => {
            let (limit, before) = read_page(query, MAX_PAGE)?;
            ask(context, &ledger, ListDays { limit, before }).await
        }
        LedgerCall::ReplaceFacts => {
            let target = Target::Day(day()?);
            upload(context, by, &publisher, &request, target, is_dry_run(query)?).await?
        }
        LedgerCall::Restate => {
            let day = day()?;
            let is_dry_run = is_dry_run(query)?;
            let answer = ask(context, &ledger, Restate { day, is_dry_run }).await;
            answer.dry_run(is_dry_run)
        }
        LedgerCall::AddFacts => {
            let key = header(&request, "Idempotency-Key")
                .filter(|key| (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()))
                .ok_or(MISSING_IDEMPOTENCY_KEY)?;
            upload(context, by, &publisher, &request, Target::Batch(key), is_dry_run(query)?).await?
        }
    })
}

/// Streams an upload to the ledger.
async fn upload(
    context: &RequestContext,
    by: Option<&Member>,
    publisher: &PublisherId,
    request: &Request,
    target: Target,
    is_dry_run: bool,
) -> HandlerResult {
    body::check_media_type(request, &[CSV, NDJSON], true)?;
    let format = if body::check_media_type(request, &[CSV], true).is_ok() { Format::Csv } else { Format::Ndjson };
    let encoding = header(request, "Content-Encoding");
    let gzip = encoding.is_some_and(|encoding| encoding.eq_ignore_ascii_case("gzip"));
    if !gzip {
        body::check_encoding(request, "gzip, identity")?;
    }
    let by = by.map(|member| member.session.name.clone());
    let upload = Upload { target, format, gzip, by, is_dry_run };
    let mut response = send(context, publisher, request, &upload).await?;
    let status = response.status_code();
    if status >= 400 {
        return Ok(Answer::pass(response).await);
    }
    let body = response.text().await.map_err(broken)?;
    let reply = OperatorReply { status, body };
    let LoadedRows { rows } = read_reply(&reply)?;
    Ok(Answer::from(reply).audited(format!("{rows} rows")).dry_run(is_dry_run))
}

async fn send(
    context: &RequestContext,
    publisher: &PublisherId,
    request: &Request,
    upload: &Upload,
) -> Result<Response, CallError> {
    let headers = Headers::new();
    let description = serde_json::to_string(upload).map_err(broken)?;
    headers.set(Upload::HEADER, &description).map_err(broken)?;
    let init = object_call::post(&request.inner().body().into());
    init.set_headers(headers.as_ref());
    let to = ledger::address(publisher, FACTS);
    object_call::send(&context.workers.env, &to, &init, UPLOAD_TIMEOUT).await
}
