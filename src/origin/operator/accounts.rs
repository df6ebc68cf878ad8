//! The operator's calls to the accounts of publishers.

use worker::Request;

use super::{MAX_DOCUMENT, TIMEOUT, ask_catalog, segment};
use crate::{
    dashboard::{InviteBody, invite_answer},
    isolate::RequestContext,
};
use contract::{
    accounts::{self, Actor, Invite, Invited, Invitee, Owner},
    catalog::{Get, Resource},
};
use domain::{
    accounts::account::Account,
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

/// `POST publishers/{publisher_id}/invites`: the publisher must exist.
pub async fn invite(
    context: &RequestContext,
    segments: &[&str],
    mut request: Request,
) -> Result<Answer, ApiError> {
    let config = context.isolate.config.dashboard.as_ref().ok_or(NO_DASHBOARD)?;
    let id = segment(segments, 0);
    let publisher = PublisherId::parse(&id)
        .ok_or_else(|| common::NOT_FOUND.with_message("there is no such publisher"))?;
    body::check_media_type(&request, &[JSON], false)?;
    let InviteBody { name, role } = Document::from_json(&body::read_text(&mut request, MAX_DOCUMENT).await?)?;
    let resource = Resource::Publisher;
    let known = ask_catalog::<_, serde_json::Value>(context, Get { resource, id }).await;
    if let Err(refused) = known {
        return Ok(refused.into_answer());
    }
    let account = Account::Publisher(publisher);
    let invite = Invite {
        owner: Owner::of(&account),
        by: Actor::Operator,
        to: Invitee::New { name, role },
    };
    let to = accounts::address(account.id());
    let made: Result<Invited, _> = context.workers.call(&to, invite, TIMEOUT).await;
    Ok(made.map_or_else(Answer::from, |made| {
        invite_answer(config, &made).header("Cache-Control", "no-store")
    }))
}
