//! Copies an object's database in pages, which `src/origin/copy.js` reads, and `src/origin/load.js` loads into an object
//! without data. See docs/guides/OPERATOR.md, "Copy everything" and "Load a copy".

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

const COPY_ENDED: ApiError = ApiError::new(
    409,
    "copy_ended",
    "the copy has ended, or a deployment or a restore has changed the object; begin again without a cursor",
);
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

/// `GET …/objects/{object}/copy`.
pub async fn copy(context: &RequestContext, segments: &[&str], query: &str) -> HandlerResult {
    let cursor = parameter(query, "cursor").unwrap_or_default();
    let page = send(context, segments, "/copy".into(), &cursor).await?;
    match page.status_code() {
        400 => Err(FieldError::new("cursor", "must be the `next` of the previous page").into()),
        409 => Err(COPY_ENDED.into()),
        _ => Ok(Answer::pass(page).await),
    }
}

/// `PUT …/objects/{object}/copy`.
pub async fn load(
    context: &RequestContext,
    segments: &[&str],
    query: &str,
    mut request: Request,
) -> HandlerResult {
    check_id(query)?;
    let page = body::read_text(&mut request, MAX_PAGE).await?;
    let send = || send(context, segments, format!("/load?{query}"), &page);
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
            let problem = format!("the page is damaged: {problem}");
            Err(INVALID_COPY.with_message(problem).into())
        }
        409 => Err(NOT_EMPTY.into()),
        _ => Ok(Answer::pass(answer).await),
    }
}

/// `POST …/objects/{object}/copy`.
pub async fn start(context: &RequestContext, segments: &[&str], query: &str) -> HandlerResult {
    check_id(query)?;
    let answer = send(context, segments, format!("/start?{query}"), "").await?;
    match answer.status_code() {
        200 => Ok(Answer::new(204)),
        409 => Err(COPY_INCOMPLETE.into()),
        _ => Ok(Answer::pass(answer).await),
    }
}

fn check_id(query: &str) -> Result<(), FieldError> {
    let is_id = |id: &String| id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = parameter(query, "id").filter(is_id);
    let problem = || FieldError::new("id", "must be 64 hexadecimal digits that identify the copy");
    id.map(drop).ok_or_else(problem)
}

/// Sends a body to a path that the object's entry answers.
async fn send(
    context: &RequestContext,
    segments: &[&str],
    path: String,
    body: &str,
) -> Result<Response, Refusal> {
    let unknown = || common::NOT_FOUND.with_message("no object has this name");
    let object = recovery::path_address(&segment(segments, 0), path).ok_or_else(unknown)?;
    let init = object_call::post(&body.into());
    Ok(object_call::send(&context.workers.env, &object, &init, TIMEOUT).await?)
}
