//! What the handlers of the operator, the dashboard and the console share: calls to objects, and the parts of a path and
//! a query.

use url::form_urlencoded;

pub use crate::limits::TIMEOUT;
use crate::{isolate::RequestContext, refusal::Refusal};
use contract::{
    catalog::{COMMAND_PATH, address},
    operation::{ObjectAddress, Operation, Reply},
};
use domain::model::{
    api_error::{ApiError, common},
    document::INVALID_FIELD,
};
use platform::{http::answer::Answer, log, traits::ObjectCall};
use serde::de::DeserializeOwned;

/// Resources on a page of a list unless `limit` says otherwise.
pub const DEFAULT_PAGE: u32 = 100;

/// Sends an operation to an object, whose answer is passed on.
pub async fn ask<O: Operation<Answer = Reply>>(
    context: &RequestContext,
    to: &ObjectAddress,
    operation: O,
) -> Answer {
    let reply = context.workers.call(to, operation, TIMEOUT).await;
    reply.map_or_else(Answer::from, Answer::from)
}

/// Sends an operation to the catalog, and reads the JSON of its answer.
pub async fn ask_catalog<O: Operation<Answer = Reply>, T: DeserializeOwned>(
    context: &RequestContext,
    operation: O,
) -> Result<T, Refusal> {
    let catalog = address(COMMAND_PATH);
    let reply = context.workers.call(&catalog, operation, TIMEOUT).await?;
    serde_json::from_str(&reply.body).map_err(|error| {
        log::error("catalog", error);
        common::INTERNAL_ERROR.into()
    })
}

/// A segment of the path, by the number of its `{}` in the route's pattern.
pub fn segment(segments: &[&str], at: usize) -> String {
    segments
        .get(at)
        .map(|segment| (*segment).to_owned())
        .unwrap_or_default()
}

/// The first parameter of a query with this name.
pub fn parameter(query: &str, name: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs
        .find(|(found, _)| found == name)
        .map(|(_, value)| value.into_owned())
}

/// The `limit`, of at most `most`, and the `cursor` of a list.
pub fn read_page(query: &str, most: u32) -> Result<(u32, Option<String>), ApiError> {
    let (mut limit, mut cursor) = (DEFAULT_PAGE, None);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match name.as_ref() {
            "limit" => {
                limit = value
                    .parse()
                    .ok()
                    .filter(|limit| (1..=most).contains(limit))
                    .ok_or_else(|| {
                        INVALID_FIELD.with_message(format!("limit: must be an integer from 1 to {most}"))
                    })?;
            }
            "cursor" => cursor = Some(value.into_owned()),
            _ => {}
        }
    }
    Ok((limit, cursor))
}
