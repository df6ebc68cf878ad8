//! A publisher's apps, which its members set up and change. The catalog owns the documents and generates the secrets.

use serde::Deserialize;
use worker::Request;

use super::visitor::Visit;
use crate::http::{
    HandlerResult, Refusal,
    calls::{ask, read_json, read_page, read_reply, text_in},
    site::idempotency_key,
};
use contract::{
    accounts::AnnouncedChange,
    catalog::{
        self, COMMAND_PATH, ChangeOwnApp, CreateOwnApp, GetOwnApp, ListOwnApps, OWN_APPS_PAGE, OwnAppChange,
        SecretChange, UNKNOWN_RESOURCE,
    },
    operation::{ObjectAddress, OperatorReply},
};
use domain::{
    catalog::own_app::{AppChange, NewApp},
    model::{ApiError, AppId, Document},
};
use platform::http::{Answer, etag, header};

/// Maximum body in bytes: 1,000 blocked offers of 64 characters, and the other fields.
const MAX_BODY: usize = 128 << 10;

pub const NO_REVISION: ApiError =
    ApiError::new(428, "precondition_required", "send If-Match with the ETag of the app that you read");

fn to_catalog() -> ObjectAddress {
    catalog::address(COMMAND_PATH)
}

/// Parses the app's id. A malformed id gets the same answer as an unknown app.
fn app_id(visit: &Visit<'_>) -> Result<AppId, ApiError> {
    AppId::parse(&visit.segment(0)).ok_or(UNKNOWN_RESOURCE)
}

pub async fn list(visit: &Visit<'_>) -> HandlerResult {
    let most = u32::try_from(OWN_APPS_PAGE).unwrap_or(u32::MAX);
    let (_, cursor) = read_page(visit.query, most)?;
    let list = ListOwnApps { publisher_id: visit.publisher.clone(), cursor };
    Ok(ask(visit.context, &to_catalog(), list).await)
}

pub async fn read(visit: &Visit<'_>) -> HandlerResult {
    let get = GetOwnApp { publisher_id: visit.publisher.clone(), app_id: app_id(visit)? };
    let reply = visit.context.call(&to_catalog(), get).await?;
    app_answer(200, reply)
}

/// Answers with an app and its revision as the entity tag.
fn app_answer(status: u16, reply: OperatorReply) -> HandlerResult {
    #[derive(Deserialize)]
    struct Revised {
        revision: i64,
    }
    let Revised { revision } = read_reply(&reply)?;
    Ok(Answer::json(status, reply.body).header("ETag", format!("\"{revision}\"")))
}

/// Sets up an app. `Idempotency-Key` is required, because a second app could not be deleted.
pub async fn create(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let key = idempotency_key::read(&request)?;
    let body = read_json(&mut request, MAX_BODY).await?;
    let name = NewApp::from_json(&body)?.name().to_owned();
    let create = CreateOwnApp { publisher_id: visit.publisher.clone(), key, body };
    let subject = |created: &_| text_in(created, "app_id");
    let announced = AnnouncedChange::CreateApp { name };
    let reply = visit.create(announced, to_catalog(), create, subject).await?;
    app_answer(201, reply)
}

/// Changes the fields of an app that are in the body.
pub async fn change(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let app_id = app_id(visit)?;
    let revision = header(&request, "If-Match").ok_or(NO_REVISION)?;
    // A tag that is not a number becomes 0, which matches no revision.
    let revision = etag::value(&revision).parse().unwrap_or_default();
    let body = read_json(&mut request, MAX_BODY).await?;
    let fields = AppChange::from_json(&body)?.fields();
    let announced = AnnouncedChange::ChangeApp { app_id, fields };
    let change = OwnAppChange::Document { revision, body };
    let reply = changed(visit, app_id, announced, change).await?;
    app_answer(200, reply)
}

/// Generates a secret, which only this answer shows, or ends a secret.
pub async fn change_secret(visit: &Visit<'_>, change: SecretChange) -> HandlerResult {
    let app_id = app_id(visit)?;
    let announced = AnnouncedChange::ChangeSecret { app_id, change };
    let reply = changed(visit, app_id, announced, OwnAppChange::Secret(change)).await?;
    Ok(match change {
        SecretChange::RenewCallback | SecretChange::RenewClick => reply.into(),
        SecretChange::EndPreviousCallback | SecretChange::EndPreviousClick | SecretChange::EndClick => Answer::new(204),
    })
}

async fn changed(
    visit: &Visit<'_>,
    app_id: AppId,
    change: AnnouncedChange,
    own: OwnAppChange,
) -> Result<OperatorReply, Refusal> {
    let command = ChangeOwnApp { publisher_id: visit.publisher.clone(), app_id, change: own };
    Ok(visit.change(change, to_catalog(), command).await?)
}
