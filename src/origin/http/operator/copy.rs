//! Copies an object's database in pages, which `src/origin/copy.js` reads, and `src/origin/load.js` loads into an object
//! without data. See docs/guides/OPERATOR.md, "Copy everything" and "Load a copy".

use std::time::Duration;

use url::form_urlencoded::byte_serialize;
use wasm_bindgen::JsValue;
use worker::{Request, Response};

use super::{TIMEOUT, parameter, segment};
use crate::http::{HandlerResult, Refusal, RequestContext};
use contract::recovery::{self, Restart};
use domain::model::{ApiError, FieldError, common};
use platform::{
    http::{Answer, body},
    object_call::{self, broken},
};

/// Maximum length of a page, in bytes. A page has about 1 MB of text and one row of up to 2 MB. In JSON, one byte takes
/// at most 6.
const MAX_PAGE: usize = 20 << 20;
/// The timeout of a page, which takes as long as its sender does.
const PAGE_TIMEOUT: Duration = Duration::from_secs(120);

const COPY_ENDED: ApiError = ApiError::new(
    409,
    "copy_ended",
    "the copy has ended, or a deployment or a restore has changed the object; begin again without a cursor",
);
const INVALID_COPY: ApiError = ApiError::new(400, "invalid_copy", "the page is damaged");
const NOT_EMPTY: ApiError =
    ApiError::new(409, "not_empty", "the object has data of its own; load the copy into a deployment that has none");
const COPY_INCOMPLETE: ApiError =
    ApiError::new(409, "copy_incomplete", "the object has not loaded this copy; load all of its pages first");

/// `GET …/objects/{object}/copy`.
pub async fn copy(context: &RequestContext, segments: &[&str], query: &str) -> HandlerResult {
    let cursor = parameter(query, "cursor").unwrap_or_default();
    let page = send(context, segments, "/copy".into(), &cursor.into(), TIMEOUT).await?;
    match page.status_code() {
        400 => Err(FieldError::new("cursor", "must be the `next` of the previous page").into()),
        409 => Err(COPY_ENDED.into()),
        _ => Ok(Answer::pass(page).await),
    }
}

/// `PUT …/objects/{object}/copy`. The page is streamed to the object, because this module's memory never shrinks.
pub async fn load(context: &RequestContext, segments: &[&str], query: &str, mut request: Request) -> HandlerResult {
    let id = id_of(query)?;
    body::check_encoding(&request, "identity")?;
    let length = body::header(&request, "Content-Length").and_then(|length| length.parse::<usize>().ok());
    let page = match length {
        Some(length) if length > MAX_PAGE => return Err(common::PAYLOAD_TOO_LARGE.into()),
        Some(_) => request.inner().body().into(),
        // A page without a length could be too long for the object's memory. An empty body may have none.
        None => {
            body::measure(&mut request, 0).await?;
            JsValue::UNDEFINED
        }
    };
    let cursor = parameter(query, "cursor").unwrap_or_default();
    let cursor: String = byte_serialize(cursor.as_bytes()).collect();
    let path = format!("/load?id={id}&cursor={cursor}");
    let mut answer = send(context, segments, path, &page, PAGE_TIMEOUT).await?;
    match answer.status_code() {
        202 => {
            // Otherwise the object could go on with its earlier work among the rows of the copy. The restart also ends
            // this call of it.
            if let Some((object, _)) = recovery::address(&segment(segments, 0)) {
                drop(context.call(&object, Restart {}).await);
            }
            Err(common::UNAVAILABLE.into())
        }
        400 => {
            let problem = answer.text().await.map_err(broken)?;
            let problem = format!("the page is damaged: {problem}");
            Err(INVALID_COPY.with_message(problem).into())
        }
        409 => Err(NOT_EMPTY.into()),
        _ => Ok(Answer::pass(answer).await),
    }
}

/// `DELETE …/objects/{object}/copy`.
pub async fn give_up(context: &RequestContext, segments: &[&str]) -> HandlerResult {
    let answer = send(context, segments, "/give_up".into(), &JsValue::UNDEFINED, TIMEOUT).await?;
    match answer.status_code() {
        200 => Ok(Answer::new(204)),
        _ => Ok(Answer::pass(answer).await),
    }
}

/// `POST …/objects/{object}/copy`.
pub async fn start(context: &RequestContext, segments: &[&str], query: &str) -> HandlerResult {
    let path = format!("/start?id={}", id_of(query)?);
    let answer = send(context, segments, path, &JsValue::UNDEFINED, TIMEOUT).await?;
    match answer.status_code() {
        200 => Ok(Answer::new(204)),
        409 => Err(COPY_INCOMPLETE.into()),
        _ => Ok(Answer::pass(answer).await),
    }
}

/// The copy's id in a query.
fn id_of(query: &str) -> Result<String, FieldError> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let id = parameter(query, "id").filter(|id| id.len() == 64 && id.bytes().all(is_digit));
    let problem = || FieldError::new("id", "must be 64 hexadecimal digits, in lower case, that identify the copy");
    id.ok_or_else(problem)
}

/// Sends a body to a path that the object's entry answers.
async fn send(
    context: &RequestContext,
    segments: &[&str],
    path: String,
    body: &JsValue,
    timeout: Duration,
) -> Result<Response, Refusal> {
    let unknown = || common::NOT_FOUND.with_message("no object has this name");
    let object = recovery::path_address(&segment(segments, 0), path).ok_or_else(unknown)?;
    let init = object_call::post(body);
    Ok(object_call::send(&context.workers.env, &object, &init, timeout).await?)
}
