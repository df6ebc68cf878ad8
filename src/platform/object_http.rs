//! An object's HTTP requests and answers: a JSON command in, JSON out.

use std::fmt::Display;

use serde::{Serialize, de::DeserializeOwned};
use worker::{Request, Response};

use crate::{Result, failure::Failure, log};
use contract::operation::{COMMAND_HEADER, NEWER_SCHEMA, from_header};
use domain::model::{ApiError, common};

/// The answer to a command that this code does not know: the Workers are deployed one after the other, and a newer
/// Worker sent the command.
const UNKNOWN_COMMAND: ApiError = common::UNAVAILABLE;

/// Reads the command of a request from its header, or else from its body.
///
/// # Errors
/// [`UNKNOWN_COMMAND`], after which the sender may retry. The log says what is unknown.
pub async fn command_in<C: DeserializeOwned>(mut request: Request) -> Result<C> {
    let header = request.headers().get(COMMAND_HEADER)?;
    let json = match header.as_deref().and_then(from_header) {
        Some(json) => json,
        None => request.bytes().await?,
    };
    let invalid = |error: &dyn Display| {
        log::error("objects", format_args!("a command that this release cannot read was refused: {error}"));
        Failure::Refused(UNKNOWN_COMMAND)
    };
    // All JSON is parsed from text. Parsing from bytes as well would add a second copy of the parsers to the module,
    // 100 KB.
    let json = str::from_utf8(&json).map_err(|error| invalid(&error))?;
    serde_json::from_str(json).map_err(|error| invalid(&error))
}

/// Converts a result to an answer. It is never an `Err`, which the caller would see as a broken object.
pub fn respond<R: Serialize>(place: &'static str, reply: Result<R>) -> worker::Result<Response> {
    let json = reply.and_then(|reply| serde_json::to_vec(&reply).map_err(|error| Failure::Internal(error.to_string())));
    match json {
        Ok(json) => answer(200, json),
        Err(failure) => fail(place, failure),
    }
}

pub fn answer(status: u16, json: Vec<u8>) -> worker::Result<Response> {
    Ok(Response::builder()
        .with_status(status)
        .with_header("content-type", "application/json")?
        .with_header("cache-control", "no-store")?
        .fixed(json))
}

/// The answer to a failed request. Logs an internal cause.
pub fn fail(place: &'static str, failure: Failure) -> worker::Result<Response> {
    if let Failure::Internal(cause) = &failure {
        log::error(place, cause);
    }
    refuse(&failure.into_answer())
}

/// An error as an HTTP answer.
pub fn refuse(error: &ApiError) -> worker::Result<Response> {
    let mut answer = answer(error.status, error.body().into_bytes())?;
    if *error == common::NEWER_SCHEMA {
        answer.headers_mut().set(NEWER_SCHEMA, "true")?;
    }
    if let Some(seconds) = error.retry_after_s {
        answer.headers_mut().set("retry-after", &seconds.to_string())?;
    }
    Ok(answer)
}

impl From<worker::Error> for Failure {
    fn from(error: worker::Error) -> Self {
        Self::Internal(error.to_string())
    }
}
