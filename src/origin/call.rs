//! Asking an object: from the edge, or from another object.

use std::{fmt::Display, time::Duration};

use js_sys::{Object, Promise, Reflect};
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue, prelude::wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use worker::{
    AbortController, ObjectNamespace, Request,
    web_sys::{RequestInit, Response},
};

use super::{
    command::{BRIEF_HEADER, CallError, Command, Unanswered, brief},
    durable::thrown,
};
use crate::runtime::within;

#[wasm_bindgen]
extern "C" {
    type ObjectStub;

    #[wasm_bindgen(method, catch)]
    fn fetch(this: &ObjectStub, url: &str, init: &RequestInit) -> Result<Promise, JsValue>;
}

/// An object takes its command from the body; the address only has to be one.
const ADDRESS: &str = "https://object/";

/// Sends a command to the object of this name and reads its reply. An idempotent command that fails in a way that is
/// likely to pass is sent once more, within the same `timeout`.
///
/// # Errors
/// The object's refusal, or that there was no answer in time; then the command may or may not have been carried out.
pub async fn call<C: Command, R: DeserializeOwned>(
    namespace: &ObjectNamespace,
    name: &str,
    command: &C,
    timeout: Duration,
) -> Result<R, CallError> {
    call_at(namespace, name, ADDRESS, command, timeout).await
}

/// The same, to an object that takes more than commands and tells them apart by `address`.
///
/// # Errors
/// As [`call`].
pub async fn call_at<C: Command, R: DeserializeOwned>(
    namespace: &ObjectNamespace,
    name: &str,
    address: &str,
    command: &C,
    timeout: Duration,
) -> Result<R, CallError> {
    let text = asked(namespace, name, address, command, timeout).await?;
    serde_json::from_str(&text).map_err(broken)
}

/// The answer to a command, asked for at most twice.
async fn asked<C: Command>(
    namespace: &ObjectNamespace,
    name: &str,
    address: &str,
    command: &C,
    timeout: Duration,
) -> Result<String, CallError> {
    let json = serde_json::to_string(command).map_err(broken)?;
    let init = RequestInit::new();
    let brief = brief(&json).filter(|_| command.may_be_seen());
    // What is sent most often does without: it costs two objects of the runtime's, and such a request ends with its
    // visitor's, or is one at a time.
    let abort = brief.is_none().then(AbortController::default);
    match brief {
        Some(value) => init.set_headers(&headers(&value)?),
        None => {
            init.set_method("POST");
            init.set_body(&JsValue::from_str(&json));
            init.set_signal(abort.as_ref().map(AbortController::signal).as_deref());
        }
    }
    let ask = async || text_of(&ask(namespace, name, address, &init).await?).await;
    let answer = async {
        match ask().await {
            Err(error) if error.invites_repeat(command) => ask().await,
            outcome => outcome,
        }
    };
    within(timeout, answer).await.unwrap_or_else(|_| {
        if let Some(abort) = abort {
            abort.abort();
        }
        Err(Unanswered {
            overloaded: false,
            retryable: true,
            message: format!("{name} did not answer within {timeout:?}"),
        }
        .into())
    })
}

/// Sends a request whose body or answer is a stream; once, since a stream cannot be sent again.
///
/// # Errors
/// That there was no answer in time.
pub async fn send(
    namespace: &ObjectNamespace,
    name: &str,
    request: Request,
    timeout: Duration,
) -> Result<worker::Response, CallError> {
    let stub = namespace.get_by_name(name).map_err(broken)?;
    let answer = within(timeout, stub.fetch_with_request(request))
        .await
        .map_err(broken)?;
    answer.map_err(broken)
}

/// One attempt. A stub that has thrown stays broken, so each attempt has its own.
async fn ask(
    namespace: &ObjectNamespace,
    name: &str,
    address: &str,
    init: &RequestInit,
) -> Result<Response, CallError> {
    let stub = namespace
        .get_by_name(name)
        .map_err(|error| unanswered(&error.into()))?;
    let promise = stub
        .into_rpc::<ObjectStub>()
        .fetch(address, init)
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

/// The headers of a brief command.
fn headers(brief: &str) -> Result<JsValue, CallError> {
    let headers = Object::new();
    Reflect::set(&headers, &BRIEF_HEADER.into(), &brief.into()).map_err(|error| unanswered(&error))?;
    Ok(headers.into())
}

async fn text_of(response: &Response) -> Result<String, CallError> {
    let text = JsFuture::from(response.text().map_err(|error| unanswered(&error))?)
        .await
        .map_err(|error| unanswered(&error))?;
    Ok(text.as_string().unwrap_or_default())
}

/// What Workers threw, with the two marks that it sets on its errors.
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

/// What is not worth asking again: a binding that is missing, an answer of other code in the moments of a deployment.
pub fn broken(error: impl Display) -> CallError {
    Unanswered {
        message: error.to_string(),
        ..Unanswered::default()
    }
    .into()
}
