//! Calls to objects through the runtime: from the edge, or from another object.

use std::{fmt::Display, time::Duration};

use js_sys::{Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use worker::{
    AbortController, Env, Request,
    web_sys::{RequestInit, Response},
};

use crate::{durable::thrown, runtime::with_timeout};
use contract::operation::{
    COMMAND_HEADER, CallError, Command, ObjectAddress, Operation, Unanswered, to_header,
};

#[wasm_bindgen]
extern "C" {
    type ObjectStub;

    #[wasm_bindgen(method, catch)]
    fn fetch(this: &ObjectStub, url: &str, init: &RequestInit) -> Result<Promise, JsValue>;
}

/// Sends an operation to an object and reads its answer. One that may be repeated and fails in a way that is likely to
/// pass is sent once more, within the same `timeout`.
///
/// # Errors
/// The object's refusal, or that there was no answer in time; then the operation may or may not have been carried out.
pub async fn call<O: Operation>(
    env: &Env,
    to: &ObjectAddress,
    operation: O,
    timeout: Duration,
) -> Result<O::Answer, CallError> {
    let text = send_command(env, to, &operation.into(), timeout).await?;
    serde_json::from_str(&text).map_err(broken)
}

async fn send_command<C: Command>(
    env: &Env,
    to: &ObjectAddress,
    command: &C,
    timeout: Duration,
) -> Result<String, CallError> {
    let json = serde_json::to_string(command).map_err(broken)?;
    let init = RequestInit::new();
    let in_header = to_header(&json).filter(|_| command.fits_header());
    // The most frequent commands do without an abort signal: it costs two objects of the runtime's, and such a request ends
    // with its visitor's.
    let abort = in_header.is_none().then(AbortController::default);
    match in_header {
        Some(value) => init.set_headers(&headers(&value)?),
        None => {
            init.set_method("POST");
            init.set_body(&JsValue::from_str(&json));
            init.set_signal(abort.as_ref().map(AbortController::signal).as_deref());
        }
    }
    let attempt = async || text_of(&attempt(env, to, &init).await?).await;
    let answer = async {
        match attempt().await {
            Err(error) if error.invites_repeat(command) => attempt().await,
            outcome => outcome,
        }
    };
    with_timeout(timeout, answer).await.unwrap_or_else(|_| {
        if let Some(abort) = abort {
            abort.abort();
        }
        Err(Unanswered {
            overloaded: false,
            retryable: true,
            message: format!("{} did not answer within {timeout:?}", to.name),
        }
        .into())
    })
}

/// An address as a URL. Only its path is read.
pub fn url(to: &ObjectAddress) -> String {
    format!("https://object{}", to.path)
}

/// Sends a request whose body or answer is a stream; once, since a stream cannot be sent again.
///
/// # Errors
/// There was no answer in time.
pub async fn send(
    env: &Env,
    to: &ObjectAddress,
    request: Request,
    timeout: Duration,
) -> Result<worker::Response, CallError> {
    let namespace = env.durable_object(to.binding).map_err(broken)?;
    let stub = namespace.get_by_name(&to.name).map_err(broken)?;
    let answer = with_timeout(timeout, stub.fetch_with_request(request))
        .await
        .map_err(broken)?;
    answer.map_err(broken)
}

/// One attempt. A stub that has thrown stays broken, so each attempt has its own.
async fn attempt(env: &Env, to: &ObjectAddress, init: &RequestInit) -> Result<Response, CallError> {
    let namespace = env.durable_object(to.binding).map_err(broken)?;
    let stub = namespace
        .get_by_name(&to.name)
        .map_err(|error| unanswered(&error.into()))?;
    let promise = stub
        .into_rpc::<ObjectStub>()
        .fetch(&url(to), init)
        .map_err(|error| unanswered(&error))?;
    let response: Response = JsFuture::from(promise)
        .await
        .and_then(JsCast::dyn_into)
        .map_err(|error| unanswered(&error))?;
    if response.status() == 200 {
        return Ok(response);
    }
    let retry_after = response.headers().get("retry-after").ok().flatten();
    Err(CallError::of_answer(
        response.status(),
        text_of(&response).await?,
        retry_after.and_then(|seconds| seconds.parse().ok()),
    ))
}

/// The headers of a command that travels in one.
fn headers(command: &str) -> Result<JsValue, CallError> {
    let headers = Object::new();
    Reflect::set(&headers, &COMMAND_HEADER.into(), &command.into()).map_err(|error| unanswered(&error))?;
    Ok(headers.into())
}

async fn text_of(response: &Response) -> Result<String, CallError> {
    let text = JsFuture::from(response.text().map_err(|error| unanswered(&error))?)
        .await
        .map_err(|error| unanswered(&error))?;
    Ok(text.as_string().unwrap_or_default())
}

/// The error that Workers threw, with the two marks that it sets on its errors.
fn unanswered(error: &JsValue) -> CallError {
    let marked = |mark: &str| {
        error.is_object()
            && Reflect::get(error, &JsValue::from_str(mark)).is_ok_and(|value| value.is_truthy())
    };
    let (overloaded, retryable) = (marked("overloaded"), marked("retryable"));
    Unanswered {
        overloaded,
        retryable,
        message: thrown(error.clone()).0,
    }
    .into()
}

/// An error that a repeat does not mend: a missing binding, an answer of other code in the moments of a deployment.
pub fn broken(error: impl Display) -> CallError {
    Unanswered {
        message: error.to_string(),
        ..Unanswered::default()
    }
    .into()
}
