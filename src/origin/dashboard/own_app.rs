//! The app that a member's call names. One of another publisher is answered like one that does not exist.

use super::gate::Visitor;
use crate::{
    isolate::RequestContext,
    operator::{TIMEOUT, segment},
    refusal::Refusal,
};
use contract::{
    catalog::{self, AppSettings, COMMAND_PATH, GetAppSettings},
    operation::CallError,
};
use domain::model::{
    AppId,
    api_error::{ApiError, common},
};
use platform::{log, traits::ObjectCall};

/// The answer for an app that the publisher does not have.
pub const UNKNOWN_APP: ApiError = ApiError::new(404, "not_found", "there is no such app");

/// An app of the visitor's publisher.
pub struct OwnApp {
    pub id: AppId,
    pub settings: AppSettings,
}

/// Reads the app of the path's first segment.
///
/// # Errors
/// [`UNKNOWN_APP`], or the catalog does not answer.
pub async fn read(context: &RequestContext, visitor: &Visitor, segments: &[&str]) -> Result<OwnApp, Refusal> {
    let id = AppId::parse(&segment(segments, 0)).ok_or(UNKNOWN_APP)?;
    let get = GetAppSettings { app_id: id };
    let reply = match context
        .workers
        .call(&catalog::address(COMMAND_PATH), get, TIMEOUT)
        .await
    {
        Ok(reply) => reply,
        Err(CallError::Refused { status: 404, .. }) => return Err(UNKNOWN_APP.into()),
        Err(error) => return Err(error.into()),
    };
    let settings: AppSettings = serde_json::from_str(&reply.body).map_err(|error| {
        log::error("catalog", error);
        common::INTERNAL_ERROR
    })?;
    if settings.publisher_id != visitor.publisher {
        return Err(UNKNOWN_APP.into());
    }
    Ok(OwnApp { id, settings })
}
