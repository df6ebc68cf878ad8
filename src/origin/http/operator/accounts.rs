//! The operator's calls to publishers' accounts, and invites to its own account.

use worker::Request;

use super::{publisher_in, require, segment, unknown_publisher};
use crate::http::{
    HandlerResult, RequestContext,
    config::site::SiteConfig,
    routes::PublisherAccountCall,
    site::{
        gate::Member,
        members::{InviteBody, audit_page, invite_answer, members_json},
    },
};
use contract::{
    accounts::{self, Actor, Invite, Invitee, NewInvite, Owner, ReadMembers, WithdrawInvite},
    catalog::Resource,
    operation::{CallError, Done, OperatorReply},
};
use domain::{
    accounts::{
        account::{Account, AccountKind},
        ids::MemberId,
    },
    model::{ApiError, PublisherId, common},
};
use platform::http::Answer;

const NO_DASHBOARD: ApiError =
    ApiError::new(409, "no_dashboard", "this deployment has no dashboard: DASHBOARD_URL is not set");
const NO_CONSOLE: ApiError = ApiError::new(409, "no_console", "this deployment has no console: CONSOLE_URL is not set");

/// `POST publishers/{publisher_id}/invites`. The publisher must exist.
pub async fn invite(
    context: &RequestContext,
    by: Option<&Member>,
    segments: &[&str],
    mut request: Request,
) -> HandlerResult {
    let config = dashboard(context)?;
    let publisher = PublisherId::parse(&segment(segments, 0)).ok_or_else(unknown_publisher)?;
    let body = InviteBody::read(&mut request).await?;
    require(context, Resource::Publisher, publisher.as_str()).await?;
    send(context, config, &Account::Publisher(publisher), operator(by), body).await
}

/// The author of a change of a publisher's account. An invite names the console's member who sent it, because the invite
/// ends when that member is removed.
fn operator(by: Option<&Member>) -> Actor {
    by.map_or(Actor::Operator, |member| Actor::Console(member.session.member))
}

/// Carries out a call to a publisher's account.
pub async fn of_publisher(
    context: &RequestContext,
    call: PublisherAccountCall,
    by: Option<&Member>,
    segments: &[&str],
    query: &str,
) -> HandlerResult {
    let config = dashboard(context)?;
    // The publisher must exist, because calling an account's object creates it.
    let account = Account::Publisher(publisher_in(context, segments).await?);
    let to = accounts::address(account.id());
    let by = operator(by);
    Ok(match call {
        PublisherAccountCall::ListMembers => {
            let members = context.call(&to, ReadMembers {}).await?;
            OperatorReply::ok(&members_json(members, None)).into()
        }
        PublisherAccountCall::Recover => {
            let member = MemberId::parse(&segment(segments, 1)).ok_or(common::NOT_FOUND)?;
            let invited = make(context, &account, by, Invitee::Recovery(member)).await?;
            invite_answer(config, &invited)
        }
        PublisherAccountCall::WithdrawInvite => {
            let invite_id = segment(segments, 1);
            let withdraw = WithdrawInvite { by, invite_id };
            let Done {} = context.call(&to, withdraw).await?;
            Answer::new(204)
        }
        PublisherAccountCall::ReadAudit => audit_page(context, &to, query).await?,
    })
}

/// `POST members/invites`: invites an admin or a support member. The first admin is invited with the operator's token.
pub async fn invite_member(context: &RequestContext, by: Option<&Member>, mut request: Request) -> HandlerResult {
    let config = context.isolate.config.site(AccountKind::Operator);
    let config = config.ok_or(NO_CONSOLE)?;
    let body = InviteBody::read(&mut request).await?;
    // The invite names the member who sent it, because the invite ends when that member is removed.
    let by = by.map_or(Actor::Operator, Member::actor);
    send(context, config, &Account::Operator, by, body).await
}

fn dashboard(context: &RequestContext) -> Result<&SiteConfig, ApiError> {
    let config = context.isolate.config.site(AccountKind::Publisher);
    config.ok_or(NO_DASHBOARD)
}

async fn send(
    context: &RequestContext,
    config: &SiteConfig,
    account: &Account,
    by: Actor,
    InviteBody { name, role }: InviteBody,
) -> HandlerResult {
    let detail = format!("{name}, {}", role.as_str());
    let invited = make(context, account, by, Invitee::New { name, role }).await?;
    Ok(invite_answer(config, &invited).audited(detail))
}

async fn make(context: &RequestContext, account: &Account, by: Actor, to: Invitee) -> Result<NewInvite, CallError> {
    let owner = Owner::of(account);
    let invite = Invite { owner, by, to };
    let to = accounts::address(account.id());
    context.call(&to, invite).await
}
