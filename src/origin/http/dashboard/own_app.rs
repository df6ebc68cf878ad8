//! The app that a member's call names. One of another publisher is answered like one that does not exist.

use serde::de::DeserializeOwned;

use super::visitor::Visitor;
use crate::http::{calls::segment, isolate::RequestContext, refusal::Refusal};
use contract::{
    catalog::{self, AppOffering, AppSettings, COMMAND_PATH, GetAppOffering, GetAppSettings},
    operation::{CallError, Operation, OperatorReply},
};
use domain::model::{
    AppId, PublisherId,
    api_error::{ApiError, common},
};
use platform::log;

/// The answer for an app that the publisher does not have.
pub const UNKNOWN_APP: ApiError = ApiError::new(404, "not_found", "there is no such app");

/// A part of the catalog's knowledge of an app, with the operation that reads it.
pub trait KnownApp: DeserializeOwned {
    fn get(app: AppId) -> impl Operation<Answer = OperatorReply>;
    fn publisher(&self) -> &PublisherId;
}

impl KnownApp for AppSettings {
    fn get(app_id: AppId) -> impl Operation<Answer = OperatorReply> {
        GetAppSettings { app_id }
    }

    fn publisher(&self) -> &PublisherId {
        &self.publisher_id
    }
}

impl KnownApp for AppOffering {
    fn get(app_id: AppId) -> impl Operation<Answer = OperatorReply> {
        GetAppOffering { app_id }
    }

    fn publisher(&self) -> &PublisherId {
        &self.publisher_id
    }
}

/// Reads the app of the path's first segment, which is one of the visitor's publisher.
///
/// # Errors
/// [`UNKNOWN_APP`], or the catalog does not answer.
pub async fn read<K: KnownApp>(
    context: &RequestContext,
    visitor: &Visitor,
    segments: &[&str],
) -> Result<(AppId, K), Refusal> {
    let id = AppId::parse(&segment(segments, 0)).ok_or(UNKNOWN_APP)?;
    let catalog = catalog::address(COMMAND_PATH);
    let reply = match context.call(&catalog, K::get(id)).await {
        Ok(reply) => reply,
        Err(CallError::Refused { status: 404, .. }) => return Err(UNKNOWN_APP.into()),
        Err(error) => return Err(error.into()),
    };
    let known: K = serde_json::from_str(&reply.body).map_err(|error| {
        log::error("catalog", error);
        common::INTERNAL_ERROR
    })?;
    if known.publisher() != &visitor.publisher {
        return Err(UNKNOWN_APP.into());
    }
    Ok((id, known))
}
