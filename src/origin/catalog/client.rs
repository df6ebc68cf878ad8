//! How the edge asks the catalog's object. Commands go as JSON; what may be large, a snapshot, a chunk or an import, goes
//! as bytes over paths of its own.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use worker::{Env, Request, RequestInit, Response};

use super::{Command, OBJECT_NAME, Reply, publication::Kind};
use crate::origin::{
    call::{self, broken},
    command::CallError,
};

pub const BINDING: &str = "CATALOG";
/// The KV namespace that snapshots are published in.
pub const KV_BINDING: &str = "SNAPSHOTS";

const TIMEOUT: Duration = Duration::from_secs(25);
/// A refresh asks 64 counters and writes snapshots of many MB.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(120);
/// An import brings a body as fast as its sender sends it. One that is cut off here, or by its sender, is not applied: that
/// begins with its last byte.
const IMPORT_TIMEOUT: Duration = Duration::from_secs(900);
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// The versions a refresh published.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Refreshed {
    pub tracking: u64,
    pub listing: u64,
}

pub const COMMAND_PATH: &str = "/command";
pub const IMPORT_PATH: &str = "/import";
pub const REFRESH_PATH: &str = "/refresh";
const SNAPSHOT_PATH: &str = "/snapshot/";
pub const CHUNK_PATH: &str = "/chunk/";

pub fn snapshot_path(kind: Kind) -> String {
    format!("{SNAPSHOT_PATH}{}", kind.as_str())
}

pub fn chunk_path(key: &str) -> String {
    format!("{CHUNK_PATH}{key}")
}

/// Sends the catalog a command.
pub async fn call(env: &Env, command: &Command) -> Result<Reply, CallError> {
    call_within(env, command, TIMEOUT).await
}

/// The same, for who has others waiting.
pub async fn call_within(env: &Env, command: &Command, timeout: Duration) -> Result<Reply, CallError> {
    let namespace = env.durable_object(BINDING).map_err(broken)?;
    call::call_at(&namespace, OBJECT_NAME, &address(COMMAND_PATH), command, timeout).await
}

/// Rebuilds and publishes both snapshots.
pub async fn refresh(env: &Env) -> Result<Refreshed, CallError> {
    let request = Request::new(&address(REFRESH_PATH), worker::Method::Post).map_err(broken)?;
    let reply = reply(send(env, request, REFRESH_TIMEOUT).await?).await?;
    serde_json::from_str(&reply.body).map_err(broken)
}

/// Hands an import's body on as it comes in: it is larger than an isolate should hold.
pub async fn import(env: &Env, request: &Request) -> Result<Reply, CallError> {
    let mut init = RequestInit::new();
    init.with_method(worker::Method::Post);
    if let Some(body) = request.inner().body() {
        init.with_body(Some(body.into()));
    }
    let request = Request::new_with_init(&address(IMPORT_PATH), &init).map_err(broken)?;
    reply(send(env, request, IMPORT_TIMEOUT).await?).await
}

/// Reads a snapshot or a chunk; `None` if the catalog has no such one.
pub async fn read(env: &Env, path: &str) -> Result<Option<Vec<u8>>, String> {
    let request = Request::new(&address(path), worker::Method::Get).map_err(|error| error.to_string())?;
    let mut response = send(env, request, READ_TIMEOUT)
        .await
        .map_err(|error| error.to_string())?;
    match response.status_code() {
        200 => response
            .bytes()
            .await
            .map(Some)
            .map_err(|error| error.to_string()),
        404 => Ok(None),
        status => Err(format!("the catalog answered {status}")),
    }
}

fn address(path: &str) -> String {
    format!("https://catalog{path}")
}

async fn send(env: &Env, request: Request, timeout: Duration) -> Result<Response, CallError> {
    let namespace = env.durable_object(BINDING).map_err(broken)?;
    call::send(&namespace, OBJECT_NAME, request, timeout).await
}

async fn reply(mut response: Response) -> Result<Reply, CallError> {
    let body = response.text().await.map_err(broken)?;
    let status = response.status_code();
    if status < 400 {
        Ok(Reply { status, body })
    } else {
        Err(CallError::of_answer(status, body, None))
    }
}
