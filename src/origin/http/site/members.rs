//! Members, invites, sessions and the audit of a member's own account.

use serde::Deserialize;
use serde_json::{Value, json};
use worker::Request;

use super::gate::{Member, Visit};
use crate::http::{
    HandlerResult, Refusal, RequestContext,
    calls::{read_document, read_page, read_place},
    config::site::SiteConfig,
};
use contract::{
    accounts::{
        self, AuditPage, ChangeMember, EndSession, Invite, Invitee, Members, NewInvite, Owner, ReadAudit, ReadMembers,
        ReadSessions, SessionRow, WithdrawInvite,
    },
    operation::{Done, ObjectAddress, Operation, OperatorReply},
};
use domain::{
    accounts::{account::AccountKind, ids::MemberId, role::Role},
    model::{ApiError, Document, UtcDay, common},
};
use platform::http::Answer;

const MAX_BODY: usize = 4 << 10;
const MAX_AUDIT_PAGE: u32 = 200;

#[derive(Deserialize)]
pub struct InviteBody {
    pub name: String,
    pub role: Role,
}

#[derive(Deserialize)]
struct RoleBody {
    role: Role,
}

// The accounts object checks the name.
impl Document for InviteBody {}

impl InviteBody {
    pub async fn read(request: &mut Request) -> Result<Self, ApiError> {
        read_document(request, MAX_BODY).await
    }
}

impl Document for RoleBody {}

pub fn seconds(ms: i64) -> i64 {
    ms.div_euclid(1_000)
}

/// Sends an operation to the account of a member.
pub async fn ask<O: Operation>(visit: &Visit<'_>, operation: O) -> Result<O::Answer, Refusal> {
    let to = accounts::address(visit.account.id());
    Ok(visit.context.call(&to, operation).await?)
}

/// Returns the member that the path names.
fn member_in(visit: &Visit<'_>) -> Result<MemberId, ApiError> {
    MemberId::parse(&visit.segment(0)).ok_or(common::NOT_FOUND)
}

/// Returns the signed-in member, for the first answer that a page reads.
pub fn member_json(member: &Member) -> Value {
    let session = &member.session;
    json!({
        "member_id": session.member,
        "name": session.name,
        "role": session.role,
        "verified_until": member.verified_until(),
    })
}

/// Returns the notices of a page: that the account was restored from an earlier copy, and which members were recovered.
pub fn notices(member: &Member) -> Vec<Value> {
    let restored = member.session.restored_at_ms.into_iter();
    let restored = restored.map(|at_ms| json!({ "kind": "restored", "at": seconds(at_ms) }));
    let recoveries = member.session.recoveries.iter();
    restored
        .chain(recoveries.map(|recovery| {
            json!({
                "kind": "recovery",
                "member_name": recovery.member_name,
                "by": recovery.by,
                "at": seconds(recovery.at_ms),
            })
        }))
        .collect()
}

/// `GET session`: the first answer that a page of the console reads.
pub fn session(visit: &Visit<'_>) -> Answer {
    let context = visit.context;
    let dashboard = context.isolate.config.site(AccountKind::Publisher);
    let body = json!({
        "member": member_json(visit),
        "notices": notices(visit),
        "now": seconds(context.now_ms),
        "today": UtcDay::of_ms(context.now_ms).to_string(),
        "has_dashboard": dashboard.is_some(),
        "docs_url": visit.config.docs_url,
    });
    Answer::json(200, body.to_string())
}

pub async fn list(visit: &Visit<'_>) -> HandlerResult {
    let members = ask(visit, ReadMembers {}).await?;
    let body = members_json(members, Some(visit.session.member));
    Ok(Answer::json(200, body.to_string()))
}

/// Returns the members and the open invites of an account. `own` is the calling member, if it belongs to the account.
pub fn members_json(Members { members, invites }: Members, own: Option<MemberId>) -> Value {
    let members: Vec<Value> = members
        .into_iter()
        .map(|member| {
            json!({
                "member_id": member.member,
                "name": member.name,
                "role": member.role,
                "created_at": seconds(member.created_at_ms),
                "last_seen_at": member.last_seen_at_ms.map(seconds),
                "passkeys": member.passkeys,
                "is_self": Some(member.member) == own,
            })
        })
        .collect();
    let invites: Vec<Value> = invites
        .into_iter()
        .map(|invite| {
            json!({
                "invite_id": invite.invite_id,
                "name": invite.name,
                "role": invite.role,
                "expires_at": seconds(invite.expires_at_ms),
                "by": invite.by,
                "is_recovery": invite.is_recovery,
            })
        })
        .collect();
    json!({ "members": members, "invites": invites })
}

/// Returns the answer to an invite. Only this answer shows the link.
pub fn invite_answer(config: &SiteConfig, invited: &NewInvite) -> Answer {
    let url = format!("{}{}#invite={}", config.party.origin(), config.root(), invited.invite);
    let body = json!({
        "invite_id": invited.invite_id,
        "invite": invited.invite,
        "url": url,
        "expires_at": seconds(invited.expires_at_ms),
    });
    OperatorReply::created(&body).into()
}

pub async fn invite(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let InviteBody { name, role } = InviteBody::read(&mut request).await?;
    let invite = Invite { owner: Owner::of(&visit.account), by: visit.actor(), to: Invitee::New { name, role } };
    Ok(invite_answer(visit.config, &ask(visit, invite).await?))
}

pub async fn withdraw_invite(visit: &Visit<'_>) -> HandlerResult {
    let withdraw = WithdrawInvite { by: visit.actor(), invite_id: visit.segment(0) };
    let Done {} = ask(visit, withdraw).await?;
    Ok(Answer::new(204))
}

pub async fn change_role(visit: &Visit<'_>, mut request: Request) -> HandlerResult {
    let member = member_in(visit)?;
    let RoleBody { role } = read_document(&mut request, MAX_BODY).await?;
    change(visit, member, Some(role)).await
}

pub async fn remove(visit: &Visit<'_>) -> HandlerResult {
    change(visit, member_in(visit)?, None).await
}

async fn change(visit: &Visit<'_>, member: MemberId, role: Option<Role>) -> HandlerResult {
    let change = ChangeMember { by: visit.actor(), member, role };
    let Done {} = ask(visit, change).await?;
    Ok(Answer::new(204))
}

/// Creates a recovery for a member who has lost every passkey. The accounts object refuses it if members try to recover
/// themselves.
pub async fn recover(visit: &Visit<'_>) -> HandlerResult {
    let member = member_in(visit)?;
    let invite = Invite { owner: Owner::of(&visit.account), by: visit.actor(), to: Invitee::Recovery(member) };
    Ok(invite_answer(visit.config, &ask(visit, invite).await?))
}

pub async fn sessions(visit: &Visit<'_>) -> HandlerResult {
    let read = ReadSessions { member: visit.session.member };
    let sessions: Vec<SessionRow> = ask(visit, read).await?;
    let sessions: Vec<Value> = sessions
        .into_iter()
        .map(|row| {
            json!({
                "session_id": row.session_id,
                "created_at": seconds(row.times.created_at_ms),
                "last_seen_at": seconds(row.times.last_seen_at_ms),
                "user_agent": row.user_agent,
                "is_current": row.session_id == visit.session.session_id,
            })
        })
        .collect();
    Ok(Answer::json(200, json!({ "sessions": sessions }).to_string()))
}

pub async fn end_session(visit: &Visit<'_>) -> HandlerResult {
    let end = EndSession { member: visit.session.member, session_id: visit.segment(0) };
    let Done {} = ask(visit, end).await?;
    Ok(Answer::new(204))
}

pub async fn audit(visit: &Visit<'_>) -> HandlerResult {
    let account = accounts::address(visit.account.id());
    audit_page(visit.context, &account, visit.query).await
}

/// Returns a page of an account's audit.
pub async fn audit_page(context: &RequestContext, account: &ObjectAddress, query: &str) -> HandlerResult {
    let (limit, cursor) = read_page(query, MAX_AUDIT_PAGE)?;
    let before = read_place(cursor)?;
    let AuditPage { entries, before } = context.call(account, ReadAudit { limit, before }).await?;
    let entries: Vec<Value> = entries
        .into_iter()
        .map(|entry| {
            json!({
                "at": seconds(entry.at_ms),
                "by": entry.by,
                "action": entry.action,
                "subject": entry.subject,
                "detail": entry.detail,
                "actor_id": entry.actor,
                "subject_id": entry.subject_member,
                "is_unconfirmed": entry.is_unconfirmed,
            })
        })
        .collect();
    let cursor = before.map(|before| before.to_string());
    let body = json!({ "entries": entries, "cursor": cursor });
    Ok(Answer::json(200, body.to_string()))
}
