//! Calls to objects through the runtime: from the edge, or from another object.

use std::{fmt::Display, time::Duration};

use js_sys::{Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use worker::{
    AbortController, Env,
    web_sys::{RequestInit, Response},
};

use crate::{durable::from_exception, runtime::with_timeout, unreadable};
use contract::operation::{
    COMMAND_HEADER, CallError, NEWER_SCHEMA, ObjectAddress, Operation, Repeat, Unanswered, command_json, to_header,
};

#[wasm_bindgen]
extern "C" {
    type ObjectStub;

    #[wasm_bindgen(method, catch)]
    fn fetch(this: &ObjectStub, url: &str, init: &RequestInit) -> Result<Promise, JsValue>;
}

/// Sends an operation to an object and reads its answer. An idempotent operation is retried once after an error that is
/// likely to be temporary, within the same `timeout`.
///
/// # Errors
/// The object's refusal, or a missing answer. If the answer is missing, the operation may or may not have been carried
/// out.
pub async fn call<O: Operation>(
    env: &Env,
    to: &ObjectAddress,
    operation: O,
    timeout: Duration,
) -> Result<O::Answer, CallError> {
    let json = command_json(&operation).map_err(broken)?;
    let text = send_command(env, to, json, O::REPEAT, timeout).await?;
    serde_json::from_str(&text).map_err(broken)
}

async fn send_command(
    env: &Env,
    to: &ObjectAddress,
    json: String,
    repeat: Repeat,
    timeout: Duration,
) -> Result<String, CallError> {
    let init = RequestInit::new();
    let is_frequent = repeat == Repeat::IdempotentInHeader;
    let in_header = is_frequent.then(|| to_header(&json)).flatten();
    // The most frequent commands have no abort signal: a signal costs two objects of the runtime, and such a call ends
    // with the visitor's request anyway.
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
            Err(error) if error.is_retryable(repeat) => attempt().await,
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

/// A `POST` for [`send`]. A body that is undefined is none.
///
/// `worker::RequestInit` would do the same, but it brings all options of image resizing into the module, 7 KiB.
pub fn post(body: &JsValue) -> RequestInit {
    let init = RequestInit::new();
    init.set_method("POST");
    init.set_body(body);
    init
}

/// The URL of an object's address. No object reads its host.
fn url(to: &ObjectAddress) -> String {
    format!("https://object{}", to.path)
}

/// Sends a request with a streamed body or answer. The request is not retried, since a stream cannot be resent.
pub async fn send(
    env: &Env,
    to: &ObjectAddress,
    init: &RequestInit,
    timeout: Duration,
) -> Result<worker::Response, CallError> {
    let namespace = env.durable_object(to.binding).map_err(broken)?;
    let stub = namespace.get_by_name(&to.name).map_err(broken)?;
    let stub = stub.into_rpc::<ObjectStub>();
    let exchange = async {
        let response: Response = JsFuture::from(stub.fetch(&url(to), init)?).await?.dyn_into()?;
        Ok(worker::Response::from(response))
    };
    let answer = with_timeout(timeout, exchange)
        .await
        .map_err(broken)?
        .map_err(|error: JsValue| broken(worker::Error::from(error)))?;
    if answer.headers().has(NEWER_SCHEMA).unwrap_or(false) {
        unreadable::record(to.binding);
    }
    Ok(answer)
}

/// Makes one attempt with a new stub, since a stub that has thrown stays broken.
async fn attempt(env: &Env, to: &ObjectAddress, init: &RequestInit) -> Result<Response, CallError> {
    let namespace = env.durable_object(to.binding).map_err(broken)?;
    let stub = namespace.get_by_name(&to.name).map_err(|error| unanswered(&error.into()))?;
    let promise = stub.into_rpc::<ObjectStub>().fetch(&url(to), init).map_err(|error| unanswered(&error))?;
    let response: Response =
        JsFuture::from(promise).await.and_then(JsCast::dyn_into).map_err(|error| unanswered(&error))?;
    if response.status() == 200 {
        return Ok(response);
    }
    let retry_after = response.headers().get("retry-after").ok().flatten();
    let body = text_of(&response).await?;
    if response.headers().has(NEWER_SCHEMA).unwrap_or(false) {
        unreadable::record(to.binding);
    }
    let retry_after = retry_after.and_then(|seconds| seconds.parse().ok());
    Err(CallError::from_answer(response.status(), body, retry_after))
}

/// Reads an object's refusal, with its `Retry-After`.
pub async fn refused(mut response: worker::Response) -> CallError {
    let retry_after = response.headers().get("Retry-After").ok().flatten();
    let retry_after = retry_after.and_then(|seconds| seconds.parse().ok());
    match response.text().await {
        Ok(text) => CallError::from_answer(response.status_code(), text, retry_after),
        Err(error) => broken(error),
    }
}

/// The headers of a request with its command in a header.
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

/// Converts an exception of Workers, with the two properties that Workers sets on its errors.
fn unanswered(error: &JsValue) -> CallError {
    let has = |property: &str| {
        error.is_object() && Reflect::get(error, &JsValue::from_str(property)).is_ok_and(|value| value.is_truthy())
    };
    let (overloaded, retryable) = (has("overloaded"), has("retryable"));
    Unanswered { overloaded, retryable, message: from_exception(error.clone()).0 }.into()
}

/// An error that a retry does not fix: a missing binding, or an answer of another version during a deployment.
pub fn broken(error: impl Display) -> CallError {
    Unanswered { message: error.to_string(), ..Unanswered::default() }.into()
}
