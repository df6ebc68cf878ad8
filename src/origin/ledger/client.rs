//! How a ledger is asked. Commands go as JSON; a report's answer and an upload's body are streams, over paths of their own.

use std::time::Duration;

use worker::{Env, Headers, Method, Request, RequestInit, Response};

use super::{BINDING, Command, object_name};
use crate::{
    catalog::PublisherId,
    origin::{
        call,
        command::{CallError, Reply},
    },
};

const TIMEOUT: Duration = Duration::from_secs(25);
/// A body of 64 MiB comes in as fast as its sender sends it.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(300);

/// The operator's commands, for which the publisher has to be in the catalog. Other objects' come over [`call`]'s own path.
pub const OPERATOR_PATH: &str = "/operator";
pub const REPORT_PATH: &str = "/report";
pub const FACTS_PATH: &str = "/facts";

/// Carries out an operator's command.
pub async fn call(env: &Env, publisher: &PublisherId, command: &Command) -> Result<Reply, CallError> {
    let namespace = env.durable_object(BINDING).map_err(call::broken)?;
    let address = format!("https://ledger{OPERATOR_PATH}");
    call::call_at(&namespace, &object_name(publisher), &address, command, TIMEOUT).await
}

/// Asks for a report. The answer is the caller's, refusals included, and is passed on as it comes.
pub async fn report(
    env: &Env,
    publisher: &PublisherId,
    api_key: &str,
    accept: Option<&str>,
    body: &str,
) -> Result<Response, CallError> {
    let headers = Headers::new();
    headers.set("X-Api-Key", api_key).map_err(call::broken)?;
    if let Some(accept) = accept {
        headers.set("Accept", accept).map_err(call::broken)?;
    }
    let mut init = RequestInit::new();
    init.with_method(Method::Post)
        .with_headers(headers)
        .with_body(Some(body.into()));
    send(env, publisher, REPORT_PATH, &init, TIMEOUT).await
}

/// Hands an upload's body on as it comes in; `headers` say what it is.
pub async fn facts(
    env: &Env,
    publisher: &PublisherId,
    request: &Request,
    headers: Headers,
) -> Result<Response, CallError> {
    let mut init = RequestInit::new();
    init.with_method(Method::Post).with_headers(headers);
    if let Some(body) = request.inner().body() {
        init.with_body(Some(body.into()));
    }
    send(env, publisher, FACTS_PATH, &init, UPLOAD_TIMEOUT).await
}

async fn send(
    env: &Env,
    publisher: &PublisherId,
    path: &str,
    init: &RequestInit,
    timeout: Duration,
) -> Result<Response, CallError> {
    let request = Request::new_with_init(&format!("https://ledger{path}"), init).map_err(call::broken)?;
    let namespace = env.durable_object(BINDING).map_err(call::broken)?;
    call::send(&namespace, &object_name(publisher), request, timeout).await
}
