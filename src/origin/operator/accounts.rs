//! The operator's invites: to the accounts of publishers, and to its own.

use worker::Request;

use super::{MAX_DOCUMENT, TIMEOUT, ask_catalog, segment};
use crate::{
    isolate::RequestContext,
    refusal::Refusal,
    routes::PublisherAccountCall,
    site::{
        config::SiteConfig,
        members::{InviteBody, audit_page, invite_answer, members_json},
    },
};
use contract::{
    accounts::{self, Actor, Invite, Invited, Invitee, Owner, ReadMembers, WithdrawInvite},
    catalog::{Get, Resource},
    operation::Done,
};
use domain::{
    accounts::{
        account::{Account, AccountKind},
        ids::MemberId,
    },
    model::{
        PublisherId,
        api_error::{ApiError, common},
        document::Document,
    },
};
use platform::{
    http::{
        answer::{Answer, JSON},
        body,
    },
    traits::ObjectCall,
};

const NO_DASHBOARD: ApiError = ApiError::new(
    409,
    "no_dashboard",
    "this deployment has no dashboard: DASHBOARD_URL is not set",
);
const NO_CONSOLE: ApiError = ApiError::new(
    409,
    "no_console",
    "this deployment has no console: CONSOLE_URL is not set",
);

fn unknown_publisher() -> ApiError {
    common::NOT_FOUND.with_message("there is no such publisher")
}

/// `POST publishers/{publisher_id}/invites`: the publisher must exist.
pub async fn invite(
    context: &RequestContext,
    segments: &[&str],
    mut request: Request,
) -> Result<Answer, ApiError> {
    let config = context.isolate.config.site(AccountKind::Publisher);
    let config = config.ok_or(NO_DASHBOARD)?;
    let id = segment(segments, 0);
    let publisher = PublisherId::parse(&id).ok_or_else(unknown_publisher)?;
    body::check_media_type(&request, &[JSON], false)?;
    let InviteBody { name, role } = Document::from_json(&body::read_text(&mut request, MAX_DOCUMENT).await?)?;
    let resource = Resource::Publisher;
    let known = ask_catalog::<_, serde_json::Value>(context, Get { resource, id }).await;
    if let Err(refused) = known {
        return Ok(refused.into_answer());
    }
    let to = Invitee::New { name, role };
    Ok(send(context, config, &Account::Publisher(publisher), to).await)
}

/// A call to a publisher's account.
pub async fn of_publisher(
    context: &RequestContext,
    call: PublisherAccountCall,
    segments: &[&str],
    query: &str,
) -> Result<Answer, ApiError> {
    let config = context.isolate.config.site(AccountKind::Publisher);
    let config = config.ok_or(NO_DASHBOARD)?;
    let id = segment(segments, 0);
    let publisher = PublisherId::parse(&id).ok_or_else(unknown_publisher)?;
    let resource = Resource::Publisher;
    // So that no account is made by asking it.
    let known = ask_catalog::<_, serde_json::Value>(context, Get { resource, id }).await;
    if let Err(refused) = known {
        return Ok(refused.into_answer());
    }
    let account = Account::Publisher(publisher);
    let to = accounts::address(account.id());
    let by = Actor::Operator;
    let answered: Result<Answer, Refusal> = async {
        Ok(match call {
            PublisherAccountCall::ListMembers => {
                let members = context.workers.call(&to, ReadMembers {}, TIMEOUT).await?;
                Answer::json(200, members_json(members, None).to_string())
            }
            PublisherAccountCall::Recover => {
                let member = MemberId::parse(&segment(segments, 1)).ok_or(common::NOT_FOUND)?;
                send(context, config, &account, Invitee::Recovery(member)).await
            }
            PublisherAccountCall::WithdrawInvite => {
                let invite_id = segment(segments, 1);
                let withdraw = WithdrawInvite { by, invite_id };
                let Done {} = context.workers.call(&to, withdraw, TIMEOUT).await?;
                Answer::new(204)
            }
            PublisherAccountCall::ReadAudit => audit_page(context, &to, query).await?,
        })
    }
    .await;
    Ok(answered.unwrap_or_else(Refusal::into_answer))
}

/// `POST members/invites`: an admin or support. The operator's token makes the first admin.
pub async fn invite_member(context: &RequestContext, mut request: Request) -> Result<Answer, ApiError> {
    let config = context.isolate.config.site(AccountKind::Operator);
    let config = config.ok_or(NO_CONSOLE)?;
    body::check_media_type(&request, &[JSON], false)?;
    let InviteBody { name, role } = Document::from_json(&body::read_text(&mut request, MAX_DOCUMENT).await?)?;
    Ok(send(context, config, &Account::Operator, Invitee::New { name, role }).await)
}

async fn send(context: &RequestContext, config: &SiteConfig, account: &Account, to: Invitee) -> Answer {
    let invite = Invite {
        owner: Owner::of(account),
        by: Actor::Operator,
        to,
    };
    let to = accounts::address(account.id());
    let made: Result<Invited, _> = context.workers.call(&to, invite, TIMEOUT).await;
    made.map_or_else(Answer::from, |made| {
        invite_answer(config, &made).header("Cache-Control", "no-store")
    })
}
