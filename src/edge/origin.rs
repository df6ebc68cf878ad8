//! Forwards requests to the origin Worker if one host serves both Workers: requests for the operator's interface, the
//! dashboard, the console, calls with a publisher's key, the test page and the API's description.

#[cfg(feature = "faults")]
use serde_json::Value;
use worker::{Request, Response, web_sys};

use crate::{isolate::RequestContext, snapshots};
use contract::origin::{BINDING, REFRESH};
use domain::{
    model::{ApiError, common},
    offers::selection::Selector,
    snapshot::tracking::Manifest,
};
use platform::{http::Answer, log};

/// Forwards a request and returns its answer unchanged. A refresh is answered after this isolate has loaded the new
/// snapshots, so that the operator's next call sees them, even if KV does not show them yet.
pub async fn pass_on(context: &RequestContext, request: Request, path: &str) -> Result<Answer, ApiError> {
    let response = send(context, request).await.map_err(unavailable)?;
    if path == REFRESH && response.status_code() == 200 {
        let adopted = async {
            snapshots::load_from_catalog::<Manifest>(&context.workers, &context.isolate).await?;
            snapshots::load_from_catalog::<Selector>(&context.workers, &context.isolate).await
        };
        adopted.await.map_err(unavailable)?;
    }
    Ok(Answer::pass_unread(response))
}

async fn send(context: &RequestContext, request: Request) -> Result<Response, String> {
    let origin = context.workers.env.service(BINDING).map_err(|error| error.to_string())?;
    // Clones the handle. The request's own method `clone` would duplicate the body.
    let request: web_sys::Request = Clone::clone(request.inner());
    origin.fetch_request(request).await.map_err(|error| error.to_string())
}

fn unavailable(error: impl std::fmt::Display) -> ApiError {
    log::error("origin", error);
    common::UNAVAILABLE
}

/// Sends a test's command to the faults of both Workers and adds their counts.
#[cfg(feature = "faults")]
#[allow(clippy::indexing_slicing, reason = "both are objects, and no deployment has this")]
pub async fn command_faults(context: &RequestContext, request: Request, query: &str) -> Answer {
    let mut own = platform::faults::armed::command(query);
    let other: Value = match send(context, request).await {
        Ok(mut response) => response.json().await.unwrap_or_default(),
        Err(_) => Value::Null,
    };
    let fired = own["fired"].as_u64().unwrap_or(0) + other["fired"].as_u64().unwrap_or(0);
    own["fired"] = fired.into();
    if let (Some(passed), Some(others)) = (own["passed"].as_array_mut(), other["passed"].as_array()) {
        passed.extend(others.iter().filter(|place| !passed.contains(place)).cloned().collect::<Vec<_>>());
    }
    Answer::json(200, own.to_string())
}
