//! How a ledger is asked. Commands go as JSON; a report's answer and an upload's body are streams, over paths of their own.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use worker::{Env, Headers, Method, ObjectNamespace, Request, RequestInit, Response};

use super::{Applied, BINDING, Command, object_name};
use crate::{
    catalog::PublisherId,
    origin::{
        call,
        command::{CallError, Reply},
    },
    reporting::facts::Format,
    time::UtcDay,
};

/// An object that tells ledgers has others to tell.
const BATCH_TIMEOUT: Duration = Duration::from_secs(10);
const TIMEOUT: Duration = Duration::from_secs(25);
/// A body of 64 MiB comes in as fast as its sender sends it, which is 0.6 Mbit/s at least.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(900);

/// Another object's batch.
pub const BATCH: &str = "batch";
/// The operator's commands, for which the publisher has to be in the catalog.
pub const OPERATOR: &str = "operator";
pub const REPORT: &str = "report";
pub const FACTS: &str = "facts";

/// What is asked, and whose ledger it is: an object that its alarm has started is not told its name.
fn address(publisher: &PublisherId, what: &str) -> String {
    format!("https://ledger/{publisher}/{what}")
}

/// Tells a ledger what another object counted.
pub async fn add(
    ledgers: &ObjectNamespace,
    publisher: &PublisherId,
    batch: &Command,
) -> Result<Applied, CallError> {
    let address = address(publisher, BATCH);
    call::call_at(ledgers, &object_name(publisher), &address, batch, BATCH_TIMEOUT).await
}

/// Carries out an operator's command.
pub async fn call(env: &Env, publisher: &PublisherId, command: &Command) -> Result<Reply, CallError> {
    let namespace = env.durable_object(BINDING).map_err(call::broken)?;
    let address = address(publisher, OPERATOR);
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
    send(env, publisher, REPORT, &init, TIMEOUT).await
}

/// Has the same report made so many times, and answers the last.
#[cfg(feature = "bench")]
pub async fn bench(
    env: &Env,
    publisher: &PublisherId,
    times: &str,
    body: &str,
) -> Result<Response, CallError> {
    let headers = Headers::new();
    headers.set(super::bench::TIMES, times).map_err(call::broken)?;
    let mut init = RequestInit::new();
    init.with_method(Method::Post)
        .with_headers(headers)
        .with_body(Some(body.into()));
    send(env, publisher, super::bench::REPORT, &init, UPLOAD_TIMEOUT).await
}

/// An upload, as the edge has checked it. What the sender says besides stays at the edge.
#[derive(Debug, Serialize, Deserialize)]
pub struct Upload {
    pub target: Target,
    pub format: Format,
    /// Not as `Content-Encoding`, which the runtime might take for its own business.
    pub gzip: bool,
}

/// What the facts are for.
#[derive(Debug, Serialize, Deserialize)]
pub enum Target {
    /// They take the place of what was loaded for a day.
    Day(UtcDay),
    /// They are added, once for this key.
    Batch(String),
}

impl Upload {
    const HEADER: &str = "x-upload";

    /// What [`facts`] was told.
    pub fn of(request: &Request) -> Option<Self> {
        let header = request.headers().get(Self::HEADER).ok().flatten()?;
        serde_json::from_str(&header).ok()
    }
}

/// Hands an upload's body on as it comes in.
pub async fn facts(
    env: &Env,
    publisher: &PublisherId,
    request: &Request,
    upload: &Upload,
) -> Result<Response, CallError> {
    let headers = Headers::new();
    let described = serde_json::to_string(upload).map_err(call::broken)?;
    headers.set(Upload::HEADER, &described).map_err(call::broken)?;
    let mut init = RequestInit::new();
    init.with_method(Method::Post).with_headers(headers);
    if let Some(body) = request.inner().body() {
        init.with_body(Some(body.into()));
    }
    send(env, publisher, FACTS, &init, UPLOAD_TIMEOUT).await
}

async fn send(
    env: &Env,
    publisher: &PublisherId,
    what: &str,
    init: &RequestInit,
    timeout: Duration,
) -> Result<Response, CallError> {
    let request = Request::new_with_init(&address(publisher, what), init).map_err(call::broken)?;
    let namespace = env.durable_object(BINDING).map_err(call::broken)?;
    call::send(&namespace, &object_name(publisher), request, timeout).await
}
