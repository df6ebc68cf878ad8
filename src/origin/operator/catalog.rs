//! The operator's calls to the catalog.

use std::time::Duration;

use serde_json::json;
use worker::{Method, Request, RequestInit, Response};

use super::{MAX_DOCUMENT, ask, parameter, read_page, segment};
use crate::{isolate::RequestContext, routes::CatalogCall};
use contract::{
    catalog::{
        COMMAND_PATH, Get, GetPubKey, IMPORT_CHECK_PATH, IMPORT_PATH, IssuePubKey, IssueToken, List,
        ListPubKeyRequests, MAX_PAGE, Put, REFRESH_PATH, Refreshed, Resource, RevokeToken, address,
    },
    operation::{CallError, ObjectAddress, Reply},
};
use domain::model::{api_error::ApiError, document::FieldError};
use platform::{
    http::{
        answer::{Answer, JSON},
        body,
    },
    object_call::{self, broken},
};

/// The timeout of a refresh, which calls 64 counters and writes snapshots of many MB.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(120);
/// The timeout of an import, which arrives as fast as its sender sends it. An interrupted import is not applied,
/// because that starts after its last byte.
const IMPORT_TIMEOUT: Duration = Duration::from_secs(900);

pub async fn call(
    context: &RequestContext,
    call: CatalogCall,
    segments: &[&str],
    mut request: Request,
    query: &str,
) -> Result<Answer, ApiError> {
    let catalog = address(COMMAND_PATH);
    let segment = |at| segment(segments, at);
    Ok(match call {
        CatalogCall::List(resource) => {
            let (limit, cursor) = read_page(query, MAX_PAGE)?;
            let owner = match resource {
                Resource::App => parameter(query, "publisher_id"),
                Resource::Offer => parameter(query, "advertiser_id"),
                Resource::Publisher | Resource::Advertiser => None,
            };
            let list = List {
                resource,
                limit,
                cursor,
                owner,
            };
            ask(context, &catalog, list).await
        }
        CatalogCall::Read(resource) => {
            let id = segment(0);
            ask(context, &catalog, Get { resource, id }).await
        }
        CatalogCall::Write(resource) => {
            body::check_media_type(&request, &[JSON], false)?;
            let body = body::read_text(&mut request, MAX_DOCUMENT).await?;
            let id = segment(0);
            ask(context, &catalog, Put { resource, id, body }).await
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
            ask(context, &catalog, IssueToken { advertiser_id }).await
        }
        CatalogCall::RevokeToken => {
            let revoke = RevokeToken {
                advertiser_id: segment(0),
                token_id: segment(1),
            };
            ask(context, &catalog, revoke).await
        }
        CatalogCall::Import => {
            body::check_media_type(&request, &["application/x-ndjson"], true)?;
            let is_dry_run = match parameter(query, "dry_run").as_deref() {
                None | Some("false") => false,
                Some("true") => true,
                Some(_) => return Err(FieldError::new("dry_run", "must be true or false").into()),
            };
            let path = if is_dry_run {
                IMPORT_CHECK_PATH
            } else {
                IMPORT_PATH
            };
            import(context, path, &request)
                .await
                .map_or_else(Answer::from, Answer::from)
                .dry_run(is_dry_run)
        }
        CatalogCall::Refresh => refresh(context).await.unwrap_or_else(Answer::from),
    })
}

/// Streams an import's body to the catalog, because it may exceed an isolate's memory.
async fn import(context: &RequestContext, path: &str, request: &Request) -> Result<Reply, CallError> {
    let mut init = RequestInit::new();
    init.with_method(Method::Post);
    if let Some(body) = request.inner().body() {
        init.with_body(Some(body.into()));
    }
    send(context, &address(path), &init, IMPORT_TIMEOUT).await
}

/// Rebuilds and publishes both snapshots. It is answered once both are in KV. After a large import the catalog takes
/// several invocations for it.
async fn refresh(context: &RequestContext) -> Result<Answer, CallError> {
    let mut init = RequestInit::new();
    init.with_method(Method::Post);
    let Refreshed {
        tracking, listing, ..
    } = loop {
        let reply = send(context, &address(REFRESH_PATH), &init, REFRESH_TIMEOUT).await?;
        let refreshed: Refreshed = serde_json::from_str(&reply.body).map_err(broken)?;
        if !refreshed.is_partial {
            break refreshed;
        }
    };
    let body = json!({ "tracking_version": tracking, "listing_version": listing });
    Ok(Answer::json(200, body.to_string()).header("Cache-Control", "no-store"))
}

async fn send(
    context: &RequestContext,
    to: &ObjectAddress,
    init: &RequestInit,
    timeout: Duration,
) -> Result<Reply, CallError> {
    let request = Request::new_with_init(&object_call::url(to), init).map_err(broken)?;
    let mut response: Response = object_call::send(&context.workers.env, to, request, timeout).await?;
    let body = response.text().await.map_err(broken)?;
    let status = response.status_code();
    if status < 400 {
        Ok(Reply { status, body })
    } else {
        Err(CallError::from_answer(status, body, None))
    }
}
