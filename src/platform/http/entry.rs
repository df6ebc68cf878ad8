//! The parts of a Worker's entry that do not depend on its routes: it runs a handler, contains its panics, counts and
//! logs the request, discards an unread body, and makes the response.

use serde_json::{Map, Value};
use worker::{Request, Response, web_sys};

use super::{
    address::Address,
    answer::{Answer, JSON},
    body,
    request_log::{self, RequestInfo},
    router::{RouteMatch, Routed},
    traffic::Traffic,
};
use crate::{
    failure::Failure,
    faults, log,
    panics::{catch_panics, panics_to_failure},
    unreadable,
};
use contract::origin::HEALTH;
use domain::model::{ApiError, common};

/// The error for a missing or wrong token.
pub const INVALID_OPERATOR_TOKEN: ApiError =
    ApiError::new(401, "invalid_operator_token", "the operator's token is missing or wrong");

/// The answer to a call without the operator's token.
pub fn unauthorized() -> Answer {
    Answer::from(INVALID_OPERATOR_TOKEN).header("WWW-Authenticate", "Bearer")
}

/// Makes the response to a request. `answer` also gets a second handle to the request, for its method and headers.
pub async fn serve(
    request: Request,
    answer: impl AsyncFnOnce(Request, &web_sys::Request) -> Answer,
) -> worker::Result<Response> {
    // Clones the handle. The request's own method `clone` would duplicate the body.
    let sent = Clone::clone(request.inner());
    // Catches panics outside handlers. `handle` catches a handler's panic itself, so that it is counted.
    let answered = catch_panics(answer(request, &sent)).await;
    let answer = answered.unwrap_or_else(|panic| {
        log::error("entry", panic);
        common::INTERNAL_ERROR.into()
    });
    let status = answer.status;
    if status >= 400 && !matches!(sent.method().as_str(), "GET" | "HEAD") {
        body::discard(sent, status).await;
    }
    respond(answer)
}

/// Converts an answer to a response.
pub fn respond(answer: Answer) -> worker::Result<Response> {
    // The runtime may refuse a header value that comes from a document. The caller then receives a proper error.
    answer.into_response().or_else(|error| {
        log::error("entry", format_args!("an answer could not be sent, so 500 was sent instead: {error}"));
        Answer::from(common::INTERNAL_ERROR).into_response()
    })
}

/// The answer to every request while the configuration is invalid: 500, but 503 on the health route for load balancers.
pub fn unconfigured(url: &str) -> Answer {
    match Address::parse(url) {
        Some(Address { path: HEALTH, .. }) => common::UNAVAILABLE.with_message("the configuration is invalid").into(),
        _ => common::INTERNAL_ERROR.into(),
    }
}

/// The answer of the health route: 200, or 503 with the reason why the host is unavailable.
pub fn health(mut body: Map<String, Value>, why: Option<&str>) -> Answer {
    body.insert("version".into(), env!("CARGO_PKG_VERSION").into());
    let unreadable = unreadable::kinds();
    if !unreadable.is_empty() {
        body.insert("unreadable".into(), unreadable.into());
    }
    let Some(why) = why else {
        body.insert("status".into(), "ok".into());
        return Answer::json(200, Value::Object(body).to_string()).header("Cache-Control", "no-store");
    };
    let error = common::UNAVAILABLE.with_message(format!("unavailable at this location: {why}"));
    body.insert("status".into(), "unavailable".into());
    body.insert("error".into(), error.message.as_ref().into());
    body.insert("code".into(), error.code.into());
    Answer::from(error).body(JSON, Value::Object(body).to_string())
}

/// Runs a request's handler, counts and logs the request, and drops the answer's body for HEAD. `worker` and `path`
/// name the points at which tests inject panics; `began_ms` is the request's time of arrival.
pub async fn answer(
    traffic: &Traffic,
    info: &RequestInfo<'_>,
    sent: &web_sys::Request,
    began_ms: i64,
    (worker, path): (&'static str, &str),
    handler: impl Future<Output = Result<Answer, ApiError>>,
) -> Answer {
    let answer = handle(async {
        faults::inject(worker, path);
        let answered = handler.await;
        faults::inject("answered", path);
        answered
    })
    .await;
    request_log::record(traffic, info, sent, &answer, began_ms);
    if info.method == "HEAD" { answer.without_body() } else { answer }
}

/// Returns a request's route, or else the answer 404 or 405.
pub fn require_route<H, P>(routed: Routed<'_, H, P>) -> Result<RouteMatch<'_, H, P>, Box<Answer>> {
    let refusal = match routed {
        Routed::Found(found) => return Ok(found),
        Routed::MethodNotAllowed(allowed) => Answer::from(common::METHOD_NOT_ALLOWED).header("Allow", allowed),
        Routed::NotFound => common::NOT_FOUND.into(),
    };
    Err(Box::new(refusal))
}

/// Runs a handler. A panic in it fails only this request, and is logged.
pub async fn handle(handler: impl Future<Output = Result<Answer, ApiError>>) -> Answer {
    let handled = panics_to_failure(async { Ok(handler.await?) }).await;
    handled.unwrap_or_else(|failure| {
        if let Failure::Internal(cause) = &failure {
            log::error("entry", cause);
        }
        failure.into_answer().into()
    })
}
