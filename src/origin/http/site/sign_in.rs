//! Invites and sessions: shows and spends an invite, and opens and ends a session.

use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::{Value, json};
use worker::Request;

use super::gate;
use crate::http::{
    HandlerResult, Refusal, RequestContext,
    calls::{internal, read_document, read_resource},
    config::site::{LocalSignIn, SiteConfig},
};
use contract::{
    accounts::{self, Accept, InviteDetails, ReadInvite, SignOut, SignedIn},
    catalog::Resource,
};
use domain::{
    accounts::{
        account::Account,
        browser_sessions::{BrowserSession, BrowserSessions},
        cookie::Cookie,
        invite::{self, UNKNOWN_INVITE},
        session::{MAX_USER_AGENT, SESSION_OPEN, SessionUse},
    },
    model::{ApiError, Document, common},
};
use platform::{
    http::{Answer, header},
    log,
};

pub const UNSAFE_SIGN_IN: ApiError =
    ApiError::new(503, "sign_in_unavailable", "sign-in is off, because LOCAL_SIGN_IN is set where it is not safe");

/// Maximum body with an invite, in bytes. An invite has at most 140 bytes.
const MAX_INVITE: usize = 1 << 10;

#[derive(Deserialize)]
struct InviteText {
    invite: String,
}

impl Document for InviteText {}

/// Returns the account of an invite. An invite to the other site is unknown here.
pub fn account_of(context: &RequestContext, config: &SiteConfig, invite: &str) -> Result<Account, ApiError> {
    invite::verify(&context.isolate.config.account_keys, invite)
        .filter(|account| account.kind() == config.kind)
        .ok_or(UNKNOWN_INVITE)
}

/// An invite that can be spent, with the account that it is for.
pub struct OpenInvite {
    pub invite: String,
    pub account: Account,
    /// The details from the account's object.
    pub details: InviteDetails,
}

/// Reads the invite in a body.
async fn invite_text(request: &mut Request) -> Result<String, ApiError> {
    let InviteText { invite } = read_document(request, MAX_INVITE).await?;
    Ok(invite)
}

/// Reads the invite in a body without spending it.
pub async fn open_invite(
    context: &RequestContext,
    config: &SiteConfig,
    request: &mut Request,
) -> Result<OpenInvite, Refusal> {
    let invite = invite_text(request).await?;
    let account = account_of(context, config, &invite)?;
    let operation = ReadInvite { invite: invite.clone() };
    let to = accounts::address(account.id());
    let details = context.call(&to, operation).await?;
    Ok(OpenInvite { invite, account, details })
}

/// Returns the browser's `User-Agent`, for the list of sessions.
pub fn user_agent(request: &Request) -> String {
    let agent = header(request, "User-Agent").unwrap_or_default();
    agent.chars().filter(|char| !char.is_control()).take(MAX_USER_AGENT).collect()
}

pub async fn read_invite(context: &RequestContext, config: &SiteConfig, mut request: Request) -> HandlerResult {
    let OpenInvite { account, details, .. } = open_invite(context, config, &mut request).await?;
    let publisher = match account {
        Account::Publisher(publisher) => {
            let known: Value = read_resource(context, Resource::Publisher, publisher.as_str()).await?;
            Some(json!({ "publisher_id": publisher, "name": known.get("name") }))
        }
        Account::Operator => None,
    };
    let body = json!({
        "publisher": publisher,
        "member_name": details.name,
        "role": details.role,
        "expires_at": details.expires_at_ms.div_euclid(1_000),
        "is_recovery": details.is_recovery,
        "local_sign_in": config.local_sign_in == LocalSignIn::On,
    });
    Ok(Answer::json(200, body.to_string()))
}

/// Signs in with an invite alone, if local sign-in is on.
pub async fn sign_in(context: &RequestContext, config: &SiteConfig, mut request: Request) -> HandlerResult {
    if config.local_sign_in != LocalSignIn::On {
        return Err(common::NOT_FOUND.into());
    }
    let user_agent = user_agent(&request);
    let invite = invite_text(&mut request).await?;
    let account = account_of(context, config, &invite)?;
    let sessions = sessions_left(context, config, &request, &account).await?;
    let accept = Accept { invite, passkey: None, user_agent };
    let to = accounts::address(account.id());
    let signed_in: SignedIn = context.call(&to, accept).await?;
    open_session(context, config, sessions, &signed_in).await
}

/// Returns the browser's sessions. Refuses an invite if one of these sessions is live and belongs to the invite's
/// account: the new session would replace that session, although its member has not signed out. A suspended account has
/// no live session.
pub async fn sessions_left(
    context: &RequestContext,
    config: &SiteConfig,
    request: &Request,
    account: &Account,
) -> Result<BrowserSessions, Refusal> {
    let sessions = gate::sessions_of(context, config, request);
    if let Some(session) = sessions.find(account) {
        match gate::read_session(context, config, session, SessionUse::Poll).await {
            Ok(_) => return Err(SESSION_OPEN.into()),
            Err(refused) if gate::has_ended(&refused) => {}
            Err(unknown) => return Err(unknown),
        }
    }
    Ok(sessions)
}

/// Returns the answer that gives a browser a new session, in addition to its sessions of other accounts. A session that
/// the cookie no longer has is ended.
pub async fn open_session(
    context: &RequestContext,
    config: &SiteConfig,
    mut sessions: BrowserSessions,
    signed_in: &SignedIn,
) -> HandlerResult {
    let keys = &context.isolate.config.account_keys;
    let session = BrowserSession::parse(keys, config.kind, &signed_in.session);
    let session = session.ok_or_else(|| internal("site", "an account returned a malformed session"))?;
    for session in &sessions.open(session) {
        end(context, session).await;
    }
    with_sessions(config, &sessions)
}

/// Returns the answer that sets a browser's sessions.
pub fn with_sessions(config: &SiteConfig, sessions: &BrowserSessions) -> HandlerResult {
    let cookie = Cookie::sessions(config.kind, config.site).set(&sessions.value());
    let cookie = cookie.ok_or_else(|| internal("site", "a session's value does not fit a cookie"))?;
    Ok(Answer::new(204).header("Set-Cookie", cookie))
}

/// Ends a session. A session whose account does not answer expires 12 hours after its last use.
async fn end(context: &RequestContext, session: &BrowserSession) {
    let sign_out = SignOut { session: session.token.clone() };
    let to = accounts::address(session.account.id());
    if let Err(error) = context.call(&to, sign_out).await {
        log::warn("site", format_args!("a session was not ended: {error}"));
    }
}

/// Ends all sessions of the browser, so that signing out leaves no account open. The cookie is always cleared, even
/// without live sessions.
pub async fn sign_out(context: &RequestContext, config: &SiteConfig, request: Request) -> HandlerResult {
    let sessions = gate::sessions_of(context, config, &request);
    join_all(sessions.all().iter().map(|session| end(context, session))).await;
    let cookie = Cookie::sessions(config.kind, config.site);
    Ok(Answer::new(204).header("Set-Cookie", cookie.clear()))
}
