//! Loads a copy into an object without data, page by page, and starts the object once all objects are loaded.
//! `src/origin/load.js` carries it out. See docs/guides/OPERATOR.md, "Load a copy".

use worker::{Method, Request, RequestInit, Response};

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

const INVALID_COPY: ApiError = ApiError::new(400, "invalid_copy", "the page is damaged");
const NOT_EMPTY: ApiError = ApiError::new(
    409,
    "not_empty",
    "the object has data of its own; load the copy into a deployment that has none",
);
const COPY_INCOMPLETE: ApiError = ApiError::new(
    409,
    "copy_incomplete",
    "the object has not loaded this copy; load all of its pages first",
);

/// `PUT …/objects/{object}/copy`.
pub async fn load(
    context: &RequestContext,
    segments: &[&str],
    query: &str,
    mut request: Request,
) -> HandlerResult {
    let page = body::read_text(&mut request, MAX_PAGE).await?;
    let send = || send(context, segments, query, Method::Put, &page);
    let mut answer = send().await?;
    if answer.status_code() == 202 {
        // What the object was doing must not go on among the rows of the copy. The restart ends this call to it.
        if let Some((object, _)) = recovery::address(&segment(segments, 0)) {
            drop(context.call(&object, Restart {}).await);
        }
        answer = send().await?;
    }
    match answer.status_code() {
        202 => Err(common::UNAVAILABLE.into()),
        400 => {
            let problem = answer.text().await.map_err(broken)?;
            Err(INVALID_COPY
                .with_message(format!("the page is damaged: {problem}"))
                .into())
        }
        409 => Err(NOT_EMPTY.into()),
        _ => Ok(Answer::pass(answer).await),
    }
}

/// `POST …/objects/{object}/copy`.
pub async fn start(context: &RequestContext, segments: &[&str], query: &str) -> HandlerResult {
    let answer = send(context, segments, query, Method::Post, "").await?;
    match answer.status_code() {
        200 => Ok(Answer::new(204)),
        409 => Err(COPY_INCOMPLETE.into()),
        _ => Ok(Answer::pass(answer).await),
    }
}

async fn send(
    context: &RequestContext,
    segments: &[&str],
    query: &str,
    method: Method,
    page: &str,
) -> Result<Response, Refusal> {
    let is_id = |id: &String| id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if parameter(query, "id").filter(is_id).is_none() {
        return Err(FieldError::new("id", "must be 64 hexadecimal digits that identify the copy").into());
    }
    let unknown = || common::NOT_FOUND.with_message("no object has this name");
    let object = recovery::load_address(&segment(segments, 0), query).ok_or_else(unknown)?;
    let mut init = RequestInit::new();
    init.with_method(method).with_body(Some(page.into()));
    let request = Request::new_with_init(&object_call::url(&object), &init).map_err(broken)?;
    Ok(object_call::send(&context.workers.env, &object, request, TIMEOUT).await?)
}
