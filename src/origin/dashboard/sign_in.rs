//! Invites and sessions: an invite is shown and then spent, a session is opened and ended.

use serde::Deserialize;
use serde_json::json;
use worker::Request;

use super::{
    config::{DashboardConfig, LocalSignIn},
    gate,
};
use crate::{
    isolate::RequestContext,
    operator::{TIMEOUT, ask_catalog},
    refusal::Refusal,
};
use contract::{
    accounts::{self, Accept, InviteDetails, ReadInvite, SignOut, SignedIn},
    catalog::{Get, Resource},
};
use domain::{
    accounts::{
        account::{ACCOUNT_SUSPENDED, Account, AccountKind},
        cookie::Cookie,
        invite::{self, UNKNOWN_INVITE},
        session::SESSION_OPEN,
    },
    model::{
        PublisherId,
        api_error::{ApiError, common},
        document::{Document, FieldError},
    },
};
use platform::{
    http::{
        answer::Answer,
        body::{self, header},
    },
    log,
    traits::ObjectCall,
};

pub const UNSAFE_SIGN_IN: ApiError = ApiError::new(
    503,
    "sign_in_unavailable",
    "sign-in is off, because LOCAL_SIGN_IN is set where it is not safe",
);

/// The longest body with an invite, in bytes: an invite has at most 140.
pub const MAX_INVITE: usize = 1 << 10;
/// The most of a browser's name that a session keeps, in characters.
const MAX_USER_AGENT: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InviteText {
    pub invite: String,
}

impl Document for InviteText {
    fn check(&self) -> Result<(), FieldError> {
        Ok(())
    }
}

/// The publisher's account that an invite is for.
pub fn account_of(context: &RequestContext, invite: &str) -> Result<(Account, PublisherId), ApiError> {
    match invite::verify(&context.isolate.config.account_keys, invite) {
        Some(Account::Publisher(publisher)) => Ok((Account::Publisher(publisher.clone()), publisher)),
        _ => Err(UNKNOWN_INVITE),
    }
}

/// An invite that can be spent, as its account's object knows it.
pub async fn details_of(
    context: &RequestContext,
    account: &Account,
    invite: &str,
) -> Result<InviteDetails, Refusal> {
    let operation = ReadInvite {
        invite: invite.to_owned(),
    };
    let to = accounts::address(account.id());
    Ok(context.workers.call(&to, operation, TIMEOUT).await?)
}

/// The browser's name, for the list of sessions.
pub fn user_agent(request: &Request) -> String {
    let agent = header(request, "User-Agent").unwrap_or_default();
    agent
        .chars()
        .filter(|char| !char.is_control())
        .take(MAX_USER_AGENT)
        .collect()
}

pub async fn read_invite(
    context: &RequestContext,
    config: &DashboardConfig,
    mut request: Request,
) -> Result<Answer, Refusal> {
    let InviteText { invite } = InviteText::from_json(&body::read_text(&mut request, MAX_INVITE).await?)?;
    let (account, publisher) = account_of(context, &invite)?;
    let details = details_of(context, &account, &invite).await?;
    let get = Get {
        resource: Resource::Publisher,
        id: publisher.to_string(),
    };
    let known: serde_json::Value = ask_catalog(context, get).await?;
    let body = json!({
        "publisher": { "publisher_id": publisher, "name": known.get("name") },
        "member_name": details.name,
        "role": details.role,
        "expires_at": details.expires_at_ms.div_euclid(1_000),
        "is_recovery": details.is_recovery,
        "local_sign_in": config.local_sign_in == LocalSignIn::On,
    });
    Ok(Answer::json(200, body.to_string()))
}

/// Signs in by an invite alone, where that is configured.
pub async fn sign_in(
    context: &RequestContext,
    config: &DashboardConfig,
    mut request: Request,
) -> Result<Answer, Refusal> {
    if config.local_sign_in != LocalSignIn::On {
        return Err(common::NOT_FOUND.into());
    }
    check_signed_out(context, config, &request).await?;
    let user_agent = user_agent(&request);
    let InviteText { invite } = InviteText::from_json(&body::read_text(&mut request, MAX_INVITE).await?)?;
    let (account, _) = account_of(context, &invite)?;
    let accept = Accept {
        invite,
        passkey: None,
        user_agent,
    };
    let to = accounts::address(account.id());
    let signed_in: SignedIn = context.workers.call(&to, accept, TIMEOUT).await?;
    open_session(config, &signed_in)
}

/// Refuses to open a second session in a browser that has a live one. A suspended account has none.
pub async fn check_signed_out(
    context: &RequestContext,
    config: &DashboardConfig,
    request: &Request,
) -> Result<(), Refusal> {
    let keys = &context.isolate.config.account_keys;
    match gate::admit(context, config, keys, request, None).await {
        Ok(_) => Err(SESSION_OPEN.into()),
        Err(refused) if refused.status() == 401 || refused.code() == Some(ACCOUNT_SUSPENDED.code) => Ok(()),
        Err(unknown) => Err(unknown),
    }
}

/// The answer that gives a browser its session.
pub fn open_session(config: &DashboardConfig, signed_in: &SignedIn) -> Result<Answer, Refusal> {
    let cookie = Cookie::session(AccountKind::Publisher, config.site).set(&signed_in.session);
    let cookie = cookie.ok_or_else(|| {
        log::error("dashboard", "a session's value does not fit a cookie");
        common::INTERNAL_ERROR
    })?;
    Ok(Answer::new(204).header("Set-Cookie", cookie))
}

/// Ends the session. A cookie without a live session is cleared, too.
pub async fn sign_out(
    context: &RequestContext,
    config: &DashboardConfig,
    request: Request,
) -> Result<Answer, Refusal> {
    let keys = &context.isolate.config.account_keys;
    let token = gate::session_token(config, &request);
    if let Some((token, (account, _))) = token.and_then(|token| {
        let found = gate::account_of(keys, &token)?;
        Some((token, found))
    }) {
        let sign_out = SignOut { session: token };
        let to = accounts::address(account.id());
        context.workers.call(&to, sign_out, TIMEOUT).await?;
    }
    let cookie = Cookie::session(AccountKind::Publisher, config.site);
    Ok(Answer::new(204).header("Set-Cookie", cookie.clear()))
}
