//! A publisher's credentials: report keys, which its ledger owns, and the Pub-Key, which the catalog owns.

use serde::Deserialize;
use serde_json::json;
use worker::Request;

use super::visitor::Visitor;
use crate::http::{
    calls::{ask, read_document, segment},
    isolate::RequestContext,
    refusal::HandlerResult,
    site::audited,
};
use contract::{
    accounts::AnnouncedChange,
    catalog::{self, COMMAND_PATH, GetPubKey, GetPubKeyRequest, RequestPubKey},
    ledger::{self, CreateKey, KeyCreator, ListKeys, OPERATOR, RevokeKey},
    operation::{CallError, ObjectAddress, OperatorReply},
};
use domain::{
    accounts::{
        member::{parse_line, parse_name},
        permission::Permission,
    },
    model::{api_error::ApiError, document::Document},
    reporting::keys::Scope,
};
use platform::http::answer::Answer;

const MAX_BODY: usize = 4 << 10;
/// The longest reason for a new Pub-Key, in characters: two or three sentences.
const MAX_REASON: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyBody {
    label: String,
    #[serde(default)]
    scope: Scope,
}

impl Document for KeyBody {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestBody {
    reason: String,
}

impl Document for RequestBody {}

fn ledger_of(visitor: &Visitor) -> ObjectAddress {
    ledger::address(&visitor.publisher, OPERATOR)
}

pub async fn list_report_keys(context: &RequestContext, visitor: &Visitor) -> HandlerResult {
    Ok(ask(context, &ledger_of(visitor), ListKeys {}).await)
}

pub async fn create_report_key(
    context: &RequestContext,
    visitor: &Visitor,
    mut request: Request,
) -> HandlerResult {
    let KeyBody { label, scope } = read_document(&mut request, MAX_BODY).await?;
    if scope != Scope::Reporting {
        let session = &visitor.session;
        Permission::ManageUsers.check(session.role, session.is_verified(context.now_ms))?;
    }
    let label = parse_name("label", &label).map_err(ApiError::from)?;
    let body = json!({ "label": label, "scope": scope }).to_string();
    let announce = visitor.announce(AnnouncedChange::CreateReportKey { label, scope });
    let key_id = |created: &OperatorReply| {
        let body: serde_json::Value = serde_json::from_str(&created.body).ok()?;
        Some(body.get("key_id")?.as_str()?.to_owned())
    };
    let (account, ledger) = (visitor.account.id(), ledger_of(visitor));
    let create = CreateKey {
        body,
        by: Some(KeyCreator {
            member: visitor.session.member,
            name: visitor.session.name.clone(),
        }),
    };
    let created = audited::change(&context.workers, account, announce, &ledger, create, key_id).await?;
    Ok(created.into())
}

pub async fn revoke_report_key(
    context: &RequestContext,
    visitor: &Visitor,
    segments: &[&str],
) -> HandlerResult {
    let key_id = segment(segments, 0);
    let announce = visitor.announce(AnnouncedChange::RevokeReportKey {
        key_id: key_id.clone(),
    });
    let (account, ledger) = (visitor.account.id(), ledger_of(visitor));
    let revoke = RevokeKey { key_id };
    let revoked = audited::change(&context.workers, account, announce, &ledger, revoke, |_| None).await?;
    Ok(revoked.into())
}

/// The Pub-Key, or null before the operator has issued one.
pub async fn read_pub_key(context: &RequestContext, visitor: &Visitor) -> HandlerResult {
    let get = GetPubKey {
        publisher_id: visitor.publisher.to_string(),
    };
    match context.call(&catalog::address(COMMAND_PATH), get).await {
        Ok(reply) => Ok(reply.into()),
        Err(CallError::Refused { status: 404, .. }) => {
            Ok(Answer::json(200, json!({ "pub_key": null }).to_string()))
        }
        Err(error) => Err(error.into()),
    }
}

/// The open request for a new Pub-Key, or null.
pub async fn read_pub_key_request(context: &RequestContext, visitor: &Visitor) -> HandlerResult {
    let get = GetPubKeyRequest {
        publisher_id: visitor.publisher.to_string(),
    };
    Ok(ask(context, &catalog::address(COMMAND_PATH), get).await)
}

/// Asks the operator for a new Pub-Key. Who finds an open request is shown that one, and changes nothing.
pub async fn request_pub_key(
    context: &RequestContext,
    visitor: &Visitor,
    mut request: Request,
) -> HandlerResult {
    let RequestBody { reason } = read_document(&mut request, MAX_BODY).await?;
    let reason = parse_line("reason", &reason, MAX_REASON).map_err(ApiError::from)?;
    let announce = visitor.announce(AnnouncedChange::RequestPubKey {
        reason: reason.clone(),
    });
    let request = RequestPubKey {
        publisher_id: visitor.publisher.to_string(),
        by: visitor.session.name.clone(),
        reason,
    };
    let (account, to) = (visitor.account.id(), catalog::address(COMMAND_PATH));
    let asked = audited::change(&context.workers, account, announce, &to, request, |_| None).await?;
    Ok(asked.into())
}
