//! The app that a member's call names. Another publisher's app gets the same answer as an unknown app.

use serde::de::DeserializeOwned;

use super::visitor::Visitor;
use crate::http::{
    Refusal, RequestContext,
    calls::{ask_catalog, none_if_unknown, segment},
};
use contract::{
    catalog::{AppOffering, AppSettings, GetAppOffering, GetAppSettings},
    operation::{Operation, OperatorReply},
};
use domain::model::{ApiError, AppId, PublisherId};

/// The answer for an app that the publisher does not have.
const UNKNOWN_APP: ApiError = ApiError::new(404, "not_found", "no app has this id");

/// A part of an app's data in the catalog, and the operation that reads it.
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

/// Reads the app that the path's first segment names, which must belong to the visitor's publisher.
///
/// # Errors
/// [`UNKNOWN_APP`], or the catalog does not answer.
pub async fn read<K: KnownApp>(
    context: &RequestContext,
    visitor: &Visitor,
    segments: &[&str],
) -> Result<(AppId, K), Refusal> {
    let id = AppId::parse(&segment(segments, 0)).ok_or(UNKNOWN_APP)?;
    let known: Option<K> = none_if_unknown(ask_catalog(context, K::get(id)).await)?;
    let known = known.filter(|known| known.publisher() == &visitor.publisher);
    Ok((id, known.ok_or(UNKNOWN_APP)?))
}
