//! The operator's calls to the catalog.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use wasm_bindgen::JsValue;
use worker::{Request, Response};

use super::{MAX_DOCUMENT, ask, is_dry_run, lists, none_if_unknown, read_json, read_reply, read_resource, segment};
use crate::{
    http::{HandlerResult, RequestContext, routes::CatalogCall, site::gate::Member},
    objects::accounts::audit::MAX_TEXT,
};
use contract::{
    catalog::{
        COMMAND_PATH, EnterTerms, Get, GetPubKey, IMPORT_CHECK_PATH, IMPORT_PATH, IssuePubKey, IssueToken,
        ListPubKeyRequests, Put, PutCondition, REFRESH_PATH, Refreshed, RevokeToken, address,
    },
    operation::{CallError, ObjectAddress, OperatorReply},
};
use domain::{
    catalog::changes,
    model::{ApiError, INVALID_FIELD, document::tag},
};
use platform::{
    http::{Answer, body, etag, header},
    object_call::{self, broken},
};

/// The timeout of a refresh, which calls 64 counters and writes snapshots of many MB.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(120);
/// The timeout of an import. It is long, because the sender decides the speed. An interrupted import is not applied,
/// because applying starts after the last byte.
const IMPORT_TIMEOUT: Duration = Duration::from_secs(900);

#[derive(Deserialize)]
struct IssuedToken {
    token_id: String,
}

#[derive(Deserialize)]
struct Counted {
    #[serde(alias = "would_import")]
    imported: u64,
}

pub async fn call(
    context: &RequestContext,
    call: CatalogCall,
    by: Option<&Member>,
    segments: &[&str],
    mut request: Request,
    query: &str,
) -> HandlerResult {
    let catalog = address(COMMAND_PATH);
    let segment = |at| segment(segments, at);
    Ok(match call {
        CatalogCall::List(resource) => lists::list(context, resource, query).await?,
        CatalogCall::Read(resource) => {
            let id = segment(0);
            let reply = context.call(&catalog, Get { resource, id }).await?;
            tagged(reply)
        }
        CatalogCall::Write(resource) => {
            let body = read_json(&mut request, MAX_DOCUMENT).await?;
            let put = Put { resource, id: segment(0), body, condition: condition(&request)? };
            write(context, by.is_some(), put).await?
        }
        CatalogCall::IssuePubKey => {
            let publisher_id = segment(0);
            ask(context, &catalog, IssuePubKey { publisher_id }).await
        }
        CatalogCall::ReadPubKey => {
            let publisher_id = segment(0);
            ask(context, &catalog, GetPubKey { publisher_id }).await
        }
        CatalogCall::ListPubKeyRequests => ask(context, &catalog, ListPubKeyRequests {}).await,
        CatalogCall::IssueToken => {
            let advertiser_id = segment(0);
            let issue = IssueToken { advertiser_id };
            let issued = context.call(&catalog, issue).await?;
            let IssuedToken { token_id } = read_reply(&issued)?;
            Answer::from(issued).audited(token_id)
        }
        CatalogCall::RevokeToken => {
            let revoke = RevokeToken { advertiser_id: segment(0), token_id: segment(1) };
            ask(context, &catalog, revoke).await
        }
        CatalogCall::EnterTerms(resource) => {
            let enter = EnterTerms {
                resource,
                id: segment(0),
                revision: segment(1),
                body: read_json(&mut request, MAX_DOCUMENT).await?,
            };
            let answer = ask(context, &catalog, enter).await;
            answer.audited(format!("revision {}", segment(1)))
        }
        CatalogCall::Import => {
            body::check_media_type(&request, &["application/x-ndjson"], true)?;
            body::check_encoding(&request, "identity")?;
            let is_dry_run = is_dry_run(query)?;
            let path = if is_dry_run { IMPORT_CHECK_PATH } else { IMPORT_PATH };
            let reply = import(context, path, &request).await?;
            let detail = match read_reply(&reply)? {
                Counted { imported: 1 } => "1 line".to_owned(),
                Counted { imported } => format!("{imported} lines"),
            };
            Answer::from(reply).audited(detail).dry_run(is_dry_run)
        }
        CatalogCall::Refresh => refresh(context).await?,
    })
}

/// Returns the condition of a PUT, if its sender gave one.
fn condition(request: &Request) -> Result<Option<PutCondition>, ApiError> {
    let problem = |text| Err(INVALID_FIELD.with_message(text));
    match (header(request, "If-Match"), header(request, "If-None-Match")) {
        (None, None) => Ok(None),
        (None, Some(all)) if all == "*" => Ok(Some(PutCondition::New)),
        (Some(tag), None) => Ok(Some(PutCondition::Read(etag::value(&tag).to_owned()))),
        (None, Some(_)) => problem("If-None-Match: must be *"),
        (Some(_), Some(_)) => problem("If-Match: must not come with If-None-Match"),
    }
}

/// Writes a document. If `is_audited`, the answer carries the changed fields for the audit.
async fn write(context: &RequestContext, is_audited: bool, put: Put) -> HandlerResult {
    let before: Option<Map<String, Value>> =
        if is_audited { none_if_unknown(read_resource(context, put.resource, &put.id).await)? } else { None };
    let reply = context.call(&address(COMMAND_PATH), put).await?;
    let answer = tagged(reply.clone());
    if !is_audited {
        return Ok(answer);
    }
    let detail = match before {
        None => "created".to_owned(),
        Some(before) => changes::detail(&before, &read_reply(&reply)?, MAX_TEXT),
    };
    Ok(answer.audited(detail))
}

/// Returns a resource with its entity tag, which a conditional PUT names.
fn tagged(reply: OperatorReply) -> Answer {
    let tag = format!("\"{}\"", tag(&reply.body));
    Answer::from(reply).header("ETag", tag)
}

/// Streams an import's body to the catalog. The body may exceed an isolate's memory.
async fn import(context: &RequestContext, path: &str, request: &Request) -> Result<OperatorReply, CallError> {
    let body = request.inner().body().into();
    send(context, &address(path), &body, IMPORT_TIMEOUT).await
}

/// Rebuilds and publishes both snapshots. Returns once both are in KV. After a large import the catalog needs several
/// invocations, so it is called until the refresh is complete.
async fn refresh(context: &RequestContext) -> Result<Answer, CallError> {
    let refreshed = loop {
        let reply = send(context, &address(REFRESH_PATH), &JsValue::UNDEFINED, REFRESH_TIMEOUT).await?;
        let refreshed: Refreshed = serde_json::from_str(&reply.body).map_err(broken)?;
        if !refreshed.is_partial {
            break refreshed;
        }
    };
    let body = json!({ "tracking_version": refreshed.tracking, "listing_version": refreshed.listing });
    Ok(Answer::json(200, body.to_string()))
}

async fn send(
    context: &RequestContext,
    to: &ObjectAddress,
    body: &JsValue,
    timeout: Duration,
) -> Result<OperatorReply, CallError> {
    let init = object_call::post(body);
    let mut response: Response = object_call::send(&context.workers.env, to, &init, timeout).await?;
    let status = response.status_code();
    if status >= 400 {
        return Err(object_call::refused(response).await);
    }
    let body = response.text().await.map_err(broken)?;
    Ok(OperatorReply { status, body })
}
