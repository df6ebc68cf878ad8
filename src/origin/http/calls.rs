//! Helpers for the handlers of the operator, the dashboard and the console. They call objects, and parse paths and
//! queries.

use std::fmt::Display;

use serde_json::Value;
use url::form_urlencoded;
use worker::Request;

pub use crate::http::limits::{SPARE_TIMEOUT, TIMEOUT};
use crate::http::{HandlerResult, Refusal, RequestContext};
use contract::{
    catalog::{COMMAND_PATH, Get, Resource, address},
    operation::{ObjectAddress, Operation, OperatorReply},
};
use domain::model::{ApiError, Document, FieldError, INVALID_FIELD, PublisherId, common};
use platform::{
    database::MAX_INTEGER,
    http::{Answer, answer::JSON, body},
    log,
    runtime::now_ms,
};
use serde::{
    Serialize,
    de::{DeserializeOwned, IgnoredAny},
};

/// The default `limit` of a list.
pub const DEFAULT_PAGE: u32 = 100;

/// Sends an operation to an object, and passes on its answer.
pub async fn ask<O: Operation<Answer = OperatorReply>>(
    context: &RequestContext,
    to: &ObjectAddress,
    operation: O,
) -> Answer {
    let reply = context.call(to, operation).await;
    reply.map_or_else(Answer::from, Answer::from)
}

/// Sends an operation to the catalog, and reads the JSON of its answer.
pub async fn ask_catalog<O: Operation<Answer = OperatorReply>, T: DeserializeOwned>(
    context: &RequestContext,
    operation: O,
) -> Result<T, Refusal> {
    let catalog = address(COMMAND_PATH);
    read_reply(&context.call(&catalog, operation).await?)
}

/// Parses the JSON of an object's answer.
pub fn read_reply<T: DeserializeOwned>(reply: &OperatorReply) -> Result<T, Refusal> {
    serde_json::from_str(&reply.body).map_err(|error| internal("objects", error).into())
}

/// Returns a text in an object's answer, such as the id of the created thing.
pub fn text_in(reply: &OperatorReply, name: &str) -> Option<String> {
    let body: Value = serde_json::from_str(&reply.body).ok()?;
    Some(body.get(name)?.as_str()?.to_owned())
}

/// Returns a 200 answer with this document as JSON.
pub fn answer(body: &impl Serialize) -> HandlerResult {
    let body = serde_json::to_string(body).map_err(|error| internal("calls", error))?;
    Ok(OperatorReply::new(200, body).into())
}

/// Logs an internal error, and returns the error that the caller receives.
pub fn internal(place: &str, what: impl Display) -> ApiError {
    log::error(place, what);
    common::INTERNAL_ERROR
}

/// Reads a JSON body of at most `most` bytes as text.
pub async fn read_json(request: &mut Request, most: usize) -> Result<String, ApiError> {
    body::check_media_type(request, &[JSON], false)?;
    body::read_text(request, most).await
}

/// Parses a JSON body of at most `most` bytes as a document.
pub async fn read_document<D: Document>(request: &mut Request, most: usize) -> Result<D, ApiError> {
    D::from_json(&read_json(request, most).await?)
}

/// Reads a resource from the catalog.
pub async fn read_resource<T: DeserializeOwned>(
    context: &RequestContext,
    resource: Resource,
    id: &str,
) -> Result<T, Refusal> {
    let id = id.to_owned();
    ask_catalog(context, Get { resource, id }).await
}

/// Refuses a call about an unknown resource with 404.
pub async fn require(context: &RequestContext, resource: Resource, id: &str) -> Result<(), Refusal> {
    let IgnoredAny = read_resource(context, resource, id).await?;
    Ok(())
}

/// Turns a refusal with 404 into `None`.
pub fn none_if_unknown<T>(asked: Result<T, Refusal>) -> Result<Option<T>, Refusal> {
    match asked {
        Ok(found) => Ok(Some(found)),
        Err(refusal) if refusal.status() == 404 => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// Returns the publisher that the first `{}` of the path names, or 404 if it does not exist.
pub async fn publisher_in(context: &RequestContext, segments: &[&str]) -> Result<PublisherId, Refusal> {
    let id = segment(segments, 0);
    let publisher = PublisherId::parse(&id).ok_or_else(unknown_publisher)?;
    require(context, Resource::Publisher, &id).await?;
    Ok(publisher)
}

pub fn unknown_publisher() -> ApiError {
    common::NOT_FOUND.with_message("no publisher has this id")
}

/// Returns the path's segment at the `{}` with this index in the route's pattern, or an empty text.
pub fn segment(segments: &[&str], at: usize) -> String {
    segments.get(at).map(|segment| (*segment).to_owned()).unwrap_or_default()
}

/// Returns the first parameter of a query with this name, trimmed.
pub fn parameter(query: &str, name: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find(|(found, _)| found == name).map(|(_, value)| value.trim().to_owned())
}

/// True if a call is a dry run, which only reports its changes.
pub fn is_dry_run(query: &str) -> Result<bool, ApiError> {
    match parameter(query, "dry_run").as_deref() {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(FieldError::new("dry_run", "must be true or false").into()),
    }
}

/// Parses the `limit` of a list. It may be at most `most`.
pub fn read_limit(query: &str, most: u32) -> Result<u32, ApiError> {
    parameter(query, "limit").map_or(Ok(DEFAULT_PAGE), |text| parse_limit(&text, most))
}

fn parse_limit(text: &str, most: u32) -> Result<u32, ApiError> {
    let limit = text.parse().ok().filter(|limit| (1..=most).contains(limit));
    limit.ok_or_else(|| INVALID_FIELD.with_message(format!("limit: must be an integer from 1 to {most}")))
}

/// Parses the `limit` of a list, which may be at most `most`, and its `cursor`.
pub fn read_page(query: &str, most: u32) -> Result<(u32, Option<String>), ApiError> {
    let (mut limit, mut cursor) = (DEFAULT_PAGE, None);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match name.as_ref() {
            "limit" => limit = parse_limit(&value, most)?,
            "cursor" => cursor = Some(value.into_owned()),
            _ => {}
        }
    }
    Ok((limit, cursor))
}

/// Parses the cursor of a list that is paged by number.
pub fn read_place(cursor: Option<String>) -> Result<Option<i64>, ApiError> {
    let place = |cursor: &str| cursor.parse().ok().filter(|place| (1..=MAX_INTEGER).contains(place));
    parse(cursor, place, "cursor: must be the cursor of an earlier page")
}

/// Parses a parameter, if it was given. `problem` is the error message if `value` returns `None`.
pub fn parse<T>(
    given: Option<String>,
    value: impl Fn(&str) -> Option<T>,
    problem: impl Into<String>,
) -> Result<Option<T>, ApiError> {
    let parsed = |text: String| value(&text).ok_or_else(|| INVALID_FIELD.with_message(problem));
    given.map(parsed).transpose()
}

/// The time limit of a search that finds nothing, in milliseconds.
const SEARCH_MS: i64 = 20_000;
/// Refuses a search that found nothing in time but has not examined everything. An empty page would look like the last
/// page.
const SEARCH_TOO_LONG: ApiError =
    ApiError::new(400, "search_too_long", "no match within 20 seconds; use a broader filter");

/// Calls `ask` until it returns an answer.
///
/// # Errors
/// `ask` refuses, or nothing was found in time.
pub async fn until_found<T>(mut ask: impl AsyncFnMut() -> Result<Option<T>, Refusal>) -> Result<T, Refusal> {
    let until_ms = now_ms().saturating_add(SEARCH_MS);
    loop {
        if let Some(found) = ask().await? {
            return Ok(found);
        }
        if now_ms() >= until_ms {
            return Err(SEARCH_TOO_LONG.into());
        }
    }
}
