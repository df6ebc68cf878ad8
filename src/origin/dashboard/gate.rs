//! The checks of every call to the dashboard: host, sender, session, role. docs/DECISIONS.md, "Accounts and the dashboard".

use worker::Request;

use super::config::{DashboardConfig, LocalSignIn};
use crate::{isolate::RequestContext, operator::TIMEOUT, refusal::Refusal};
use contract::accounts::{self, Actor, ReadSession, Session};
use domain::{
    accounts::{
        account::{Account, AccountKind},
        cookie::Cookie,
        permission::Permission,
        session::{self, NOT_SIGNED_IN, SessionUse},
    },
    model::{PublisherId, api_error::ApiError, mac::MacKeys},
};
use platform::{
    http::{
        answer::{Answer, JSON},
        body::{self, header},
        hosts::MISDIRECTED,
    },
    traits::ObjectCall,
};

const CROSS_SITE: ApiError = ApiError::new(
    403,
    "cross_site_request",
    "the dashboard answers only requests of its own pages",
);

/// The beginnings of the names of proxies' headers, in lower case. A request that came through one is not a local one.
const PROXY_HEADERS: [&str; 4] = ["forwarded", "x-forwarded-", "via", "cf-ray"];

/// A year of HTTPS only. Browsers ignore it on http://localhost.
pub const STRICT_TRANSPORT: &str = "max-age=31536000";

/// A member with a live session.
pub struct Visitor {
    pub publisher: PublisherId,
    pub account: Account,
    /// The value of the session's cookie.
    pub token: String,
    pub session: Session,
}

impl Visitor {
    pub fn actor(&self) -> Actor {
        Actor::Member(self.session.member)
    }
}

/// Refuses a request that names another host than the dashboard's. A name that someone else made to resolve to this
/// address would otherwise reach it.
pub fn check_host(config: &DashboardConfig, authority: &str) -> Result<(), ApiError> {
    let is_own = authority.eq_ignore_ascii_case(config.host());
    is_own.then_some(()).ok_or(MISDIRECTED)
}

/// Refuses what another site's page sends. `is_write` also wants the exact `Origin` and JSON.
pub fn check_sender(config: &DashboardConfig, request: &Request, is_write: bool) -> Result<(), ApiError> {
    let is_own_page = header(request, "Sec-Fetch-Site").is_some_and(|site| site == "same-origin");
    if !is_own_page {
        return Err(CROSS_SITE);
    }
    if is_write {
        let origin = header(request, "Origin");
        if origin.as_deref() != Some(config.party.origin()) {
            return Err(CROSS_SITE);
        }
        body::check_media_type(request, &[JSON], true)?;
    }
    let is_proxys = |name: String| PROXY_HEADERS.iter().any(|start| name.starts_with(start));
    if config.local_sign_in == LocalSignIn::On && request.headers().keys().any(is_proxys) {
        return Err(CROSS_SITE);
    }
    Ok(())
}

/// The value of the session's cookie. A request with `Authorization` has none: it comes from a program.
pub fn session_token(config: &DashboardConfig, request: &Request) -> Option<String> {
    if header(request, "Authorization").is_some() {
        return None;
    }
    let cookie = Cookie::session(AccountKind::Publisher, config.site);
    header(request, "Cookie").and_then(|cookies| cookie.find(&cookies).map(str::to_owned))
}

/// The account of a session's cookie, if it was issued as one.
pub fn account_of(keys: &MacKeys, token: &str) -> Option<(Account, PublisherId)> {
    match session::verify(keys, AccountKind::Publisher, token)? {
        Account::Publisher(publisher) => Some((Account::Publisher(publisher.clone()), publisher)),
        Account::Operator => None,
    }
}

/// The member who sends a request, if the session is live and the role allows it.
pub async fn admit(
    context: &RequestContext,
    config: &DashboardConfig,
    keys: &MacKeys,
    request: &Request,
    permission: Option<Permission>,
) -> Result<Visitor, Refusal> {
    let token = session_token(config, request).ok_or(NOT_SIGNED_IN)?;
    let (account, publisher) = account_of(keys, &token).ok_or(NOT_SIGNED_IN)?;
    let operation = ReadSession {
        session: token.clone(),
        session_use: SessionUse::Action,
    };
    let session: Session = context
        .workers
        .call(&accounts::address(account.id()), operation, TIMEOUT)
        .await?;
    // Such a session never needs a passkey, so it ends where local sign-in does.
    if session.is_local && config.local_sign_in != LocalSignIn::On {
        return Err(NOT_SIGNED_IN.into());
    }
    if let Some(permission) = permission {
        permission.check(session.role, session.is_verified(context.now_ms))?;
    }
    Ok(Visitor {
        publisher,
        account,
        token,
        session,
    })
}

/// The headers of every answer of a handler. A page and its files bring their own.
pub fn guarded(answer: Answer) -> Answer {
    [
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Strict-Transport-Security", STRICT_TRANSPORT),
    ]
    .into_iter()
    .fold(answer, |answer, (name, value)| answer.header(name, value))
}
