//! Members, invites, sessions and the audit of a visitor's account.

use serde::Deserialize;
use serde_json::{Value, json};
use worker::Request;

use super::{config::DashboardConfig, gate::Visitor};
use crate::{
    isolate::RequestContext,
    operator::{TIMEOUT, read_page, segment},
    refusal::Refusal,
};
use contract::{
    accounts::{
        self, AuditPage, ChangeMember, EndSession, Invite, Invited, Invitee, Members, Owner, ReadAudit,
        ReadMembers, ReadSessions, SessionRow, WithdrawInvite,
    },
    operation::{Done, Operation},
};
use domain::{
    accounts::{ids::MemberId, role::Role},
    model::{
        api_error::{ApiError, common},
        document::{Document, FieldError, INVALID_FIELD},
    },
};
use platform::{
    http::{answer::Answer, body},
    traits::ObjectCall,
};

const MAX_BODY: usize = 4 << 10;
const MAX_AUDIT_PAGE: u32 = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InviteBody {
    pub name: String,
    pub role: Role,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleBody {
    role: Role,
}

impl Document for InviteBody {
    /// The object checks the name.
    fn check(&self) -> Result<(), FieldError> {
        Ok(())
    }
}

impl Document for RoleBody {
    fn check(&self) -> Result<(), FieldError> {
        Ok(())
    }
}

pub fn seconds(ms: i64) -> i64 {
    ms.div_euclid(1_000)
}

/// Sends an operation to the visitor's account.
pub async fn ask<O: Operation>(
    context: &RequestContext,
    visitor: &Visitor,
    operation: O,
) -> Result<O::Answer, Refusal> {
    let to = accounts::address(visitor.account.id());
    Ok(context.workers.call(&to, operation, TIMEOUT).await?)
}

fn member_in(segments: &[&str]) -> Result<MemberId, ApiError> {
    MemberId::parse(&segment(segments, 0)).ok_or(common::NOT_FOUND)
}

pub async fn list(context: &RequestContext, visitor: &Visitor) -> Result<Answer, Refusal> {
    let Members { members, invites } = ask(context, visitor, ReadMembers {}).await?;
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
                "is_self": member.member == visitor.session.member,
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
    let body = json!({ "members": members, "invites": invites });
    Ok(Answer::json(200, body.to_string()))
}

/// The answer to an invite, with the link that is shown this once.
pub fn invite_answer(config: &DashboardConfig, invited: &Invited) -> Answer {
    let url = format!("{}/dashboard#invite={}", config.party.origin(), invited.invite);
    let body = json!({
        "invite_id": invited.invite_id,
        "invite": invited.invite,
        "url": url,
        "expires_at": seconds(invited.expires_at_ms),
    });
    Answer::json(201, body.to_string())
}

pub async fn invite(
    context: &RequestContext,
    config: &DashboardConfig,
    visitor: &Visitor,
    mut request: Request,
) -> Result<Answer, Refusal> {
    let InviteBody { name, role } = Document::from_json(&body::read_text(&mut request, MAX_BODY).await?)?;
    let invite = Invite {
        owner: Owner::of(&visitor.account),
        by: visitor.actor(),
        to: Invitee::New { name, role },
    };
    Ok(invite_answer(config, &ask(context, visitor, invite).await?))
}

pub async fn withdraw_invite(
    context: &RequestContext,
    visitor: &Visitor,
    segments: &[&str],
) -> Result<Answer, Refusal> {
    let withdraw = WithdrawInvite {
        by: visitor.actor(),
        invite_id: segment(segments, 0),
    };
    let Done {} = ask(context, visitor, withdraw).await?;
    Ok(Answer::new(204))
}

pub async fn change_role(
    context: &RequestContext,
    visitor: &Visitor,
    segments: &[&str],
    mut request: Request,
) -> Result<Answer, Refusal> {
    let member = member_in(segments)?;
    let RoleBody { role } = Document::from_json(&body::read_text(&mut request, MAX_BODY).await?)?;
    change(context, visitor, member, Some(role)).await
}

pub async fn remove(
    context: &RequestContext,
    visitor: &Visitor,
    segments: &[&str],
) -> Result<Answer, Refusal> {
    change(context, visitor, member_in(segments)?, None).await
}

async fn change(
    context: &RequestContext,
    visitor: &Visitor,
    member: MemberId,
    role: Option<Role>,
) -> Result<Answer, Refusal> {
    let change = ChangeMember {
        by: visitor.actor(),
        member,
        role,
    };
    let Done {} = ask(context, visitor, change).await?;
    Ok(Answer::new(204))
}

/// Invites a member anew who has lost every passkey. The object refuses to recover oneself.
pub async fn recover(
    context: &RequestContext,
    config: &DashboardConfig,
    visitor: &Visitor,
    segments: &[&str],
) -> Result<Answer, Refusal> {
    let member = member_in(segments)?;
    let invite = Invite {
        owner: Owner::of(&visitor.account),
        by: visitor.actor(),
        to: Invitee::Recovery(member),
    };
    Ok(invite_answer(config, &ask(context, visitor, invite).await?))
}

pub async fn sessions(context: &RequestContext, visitor: &Visitor) -> Result<Answer, Refusal> {
    let read = ReadSessions {
        member: visitor.session.member,
    };
    let sessions: Vec<SessionRow> = ask(context, visitor, read).await?;
    let sessions: Vec<Value> = sessions
        .into_iter()
        .map(|row| {
            json!({
                "session_id": row.session_id,
                "created_at": seconds(row.times.created_at_ms),
                "last_seen_at": seconds(row.times.last_seen_at_ms),
                "user_agent": row.user_agent,
                "is_current": row.session_id == visitor.session.session_id,
            })
        })
        .collect();
    Ok(Answer::json(200, json!({ "sessions": sessions }).to_string()))
}

pub async fn end_session(
    context: &RequestContext,
    visitor: &Visitor,
    segments: &[&str],
) -> Result<Answer, Refusal> {
    let end = EndSession {
        member: visitor.session.member,
        session_id: segment(segments, 0),
    };
    let Done {} = ask(context, visitor, end).await?;
    Ok(Answer::new(204))
}

pub async fn audit(context: &RequestContext, visitor: &Visitor, query: &str) -> Result<Answer, Refusal> {
    let (limit, cursor) = read_page(query, MAX_AUDIT_PAGE)?;
    let before = cursor
        .map(|cursor| cursor.parse())
        .transpose()
        .map_err(|_| INVALID_FIELD.with_message("cursor: must be one that an answer has given"))?;
    let AuditPage { entries, before } = ask(context, visitor, ReadAudit { limit, before }).await?;
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
    Ok(Answer::json(
        200,
        json!({ "entries": entries, "cursor": cursor }).to_string(),
    ))
}
