//! A publisher's credentials: report keys, which its ledger owns, and the Pub-Key, which the catalog owns.

use serde::Deserialize;
use serde_json::json;
use worker::Request;

use super::visitor::Visit;
use crate::http::{
    HandlerResult,
    calls::{ask, read_document, text_in},
};
use contract::{
    accounts::AnnouncedChange,
    catalog::{self, COMMAND_PATH, GetPubKey, GetPubKeyRequest, RequestPubKey},
    ledger::{self, CreateKey, KeyCreator, ListKeys, OPERATOR, RevokeKey},
    operation::{CallError, ObjectAddress},
};
use domain::{
    accounts::{
        member::{parse_line, parse_name},
        permission::Permission,
    },
    model::{ApiError, Document},
    reporting::keys::Scope,
};
use platform::http::Answer;

const MAX_BODY: usize = 4 << 10;
/// Maximum length of the reason for a new Pub-Key, in characters: two or three sentences.
const MAX_REASON: usize = 256;

#[derive(Deserialize)]
struct KeyBody {
    label: String,
    #[serde(default)]
    scope: Scope,
}

impl Document for KeyBody {}

#[derive(Deserialize)]
struct RequestBody {
    reason: String,
}

impl Document for RequestBody {}

fn ledger_of(visit: &Visit<'_>) -> ObjectAddress {
    ledger::address(&visit.publisher, OPERATOR)
}

pub async fn list_report_keys(visit: &Visit<'_>) -> HandlerResult {
    Ok(ask(visit.context, &ledger_of(visit), ListKeys {}).await)
}

pub async fn create_report_key(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let KeyBody { label, scope } = read_document(&mut request, MAX_BODY).await?;
    if scope.reaches_users() {
        let session = &visit.session;
        Permission::ManageUsers.check(session.role, session.is_verified(visit.context.now_ms))?;
    }
    let label = parse_name("label", &label).map_err(ApiError::from)?;
    let body = json!({ "label": label, "scope": scope }).to_string();
    let announced = AnnouncedChange::CreateReportKey { label, scope };
    let key_id = |created: &_| text_in(created, "key_id");
    let create =
        CreateKey { body, by: Some(KeyCreator { member: visit.session.member, name: visit.session.name.clone() }) };
    let created = visit.create(announced, ledger_of(visit), create, key_id).await?;
    Ok(created.into())
}

pub async fn revoke_report_key(visit: &Visit<'_>) -> HandlerResult {
    let key_id = visit.segment(0);
    let announced = AnnouncedChange::RevokeReportKey { key_id: key_id.clone() };
    let revoke = RevokeKey { key_id };
    Ok(visit.change(announced, ledger_of(visit), revoke).await?.into())
}

/// Returns the Pub-Key, or null if the operator has not issued one.
pub async fn read_pub_key(visit: &Visit<'_>) -> HandlerResult {
    let get = GetPubKey { publisher_id: visit.publisher.to_string() };
    match visit.context.call(&catalog::address(COMMAND_PATH), get).await {
        Ok(reply) => Ok(reply.into()),
        Err(CallError::Refused { status: 404, .. }) => Ok(Answer::json(200, json!({ "pub_key": null }).to_string())),
        Err(error) => Err(error.into()),
    }
}

/// Returns the open request for a new Pub-Key, or null.
pub async fn read_pub_key_request(visit: &Visit<'_>) -> HandlerResult {
    let get = GetPubKeyRequest { publisher_id: visit.publisher.to_string() };
    Ok(ask(visit.context, &catalog::address(COMMAND_PATH), get).await)
}

/// Asks the operator for a new Pub-Key. If a request is open, the answer shows it and nothing changes.
pub async fn request_pub_key(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let RequestBody { reason } = read_document(&mut request, MAX_BODY).await?;
    let reason = parse_line("reason", &reason, MAX_REASON).map_err(ApiError::from)?;
    let announced = AnnouncedChange::RequestPubKey { reason: reason.clone() };
    let request = RequestPubKey { publisher_id: visit.publisher.to_string(), by: visit.session.name.clone(), reason };
    let catalog = catalog::address(COMMAND_PATH);
    Ok(visit.change(announced, catalog, request).await?.into())
}
