//! Copies an object's database in pages, which `src/origin/copy.js` reads. See docs/guides/OPERATOR.md, "Copy
//! everything".

use worker::{Method, Request, RequestInit};

use super::{TIMEOUT, parameter, segment};
use crate::http::{HandlerResult, RequestContext};
use contract::recovery;
use domain::model::{ApiError, FieldError, common};
use platform::{
    http::Answer,
    object_call::{self, broken},
};

const COPY_ENDED: ApiError = ApiError::new(
    409,
    "copy_ended",
    "the copy has ended, or a deployment or a restore has changed the object; begin again without a cursor",
);

/// `GET …/objects/{object}/copy`.
pub async fn copy(context: &RequestContext, segments: &[&str], query: &str) -> HandlerResult {
    let unknown = || common::NOT_FOUND.with_message("no object has this name");
    let object = recovery::copy_address(&segment(segments, 0)).ok_or_else(unknown)?;
    let mut init = RequestInit::new();
    let cursor = parameter(query, "cursor").unwrap_or_default();
    init.with_method(Method::Post).with_body(Some(cursor.into()));
    let request = Request::new_with_init(&object_call::url(&object), &init).map_err(broken)?;
    let page = object_call::send(&context.workers.env, &object, request, TIMEOUT).await?;
    match page.status_code() {
        400 => Err(FieldError::new("cursor", "must be the `next` of the previous page").into()),
        409 => Err(COPY_ENDED.into()),
        _ => Ok(Answer::pass(page).await),
    }
}
