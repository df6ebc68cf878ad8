//! The checks of every call to the dashboard: host, sender, session, role. docs/DECISIONS.md, "Accounts and the dashboard".

use worker::Request;

use super::{
    MemberCall,
    config::{DashboardConfig, LocalSignIn},
};
use crate::{isolate::RequestContext, limits::Pool, operator::TIMEOUT, refusal::Refusal};
use contract::accounts::{self, Actor, Announce, AnnouncedChange, ReadSession, Session};
use domain::{
    accounts::{
        account::{ACCOUNT_SUSPENDED, Account, AccountKind},
        browser_sessions::{BrowserSession, BrowserSessions},
        cookie::Cookie,
        session::{ACCOUNT_SWITCHED, NOT_SIGNED_IN, SessionUse},
    },
    model::{PublisherId, api_error::ApiError},
};
use platform::{
    concurrency_limit::Permit,
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

/// The header with the publisher that a page shows. The cookie is of all tabs, and one of them may have changed to another
/// account, so it keeps what a tab sends from landing in an account that the tab does not show.
const PUBLISHER: &str = "X-Publisher";

/// A member with a live session.
pub struct Visitor {
    pub publisher: PublisherId,
    pub account: Account,
    /// The session's text.
    pub token: String,
    pub session: Session,
    /// The browser's sessions, of which this is the current one.
    pub sessions: BrowserSessions,
    /// One of the publisher's share, held until the call is answered.
    _permit: Permit,
}

impl Visitor {
    pub fn actor(&self) -> Actor {
        Actor::Member(self.session.member)
    }

    /// Announces a change that this member has another object make.
    pub fn announce(&self, change: AnnouncedChange) -> Announce {
        Announce {
            by: self.actor(),
            change,
        }
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

/// The sessions of the browser. A request with `Authorization` has none: it comes from a program.
pub fn sessions_of(context: &RequestContext, config: &DashboardConfig, request: &Request) -> BrowserSessions {
    if header(request, "Authorization").is_some() {
        return BrowserSessions::default();
    }
    let cookie = Cookie::sessions(AccountKind::Publisher, config.site);
    let cookies = header(request, "Cookie").unwrap_or_default();
    let keys = &context.isolate.config.account_keys;
    cookie
        .find(&cookies)
        .map(|value| BrowserSessions::parse(keys, AccountKind::Publisher, value))
        .unwrap_or_default()
}

/// Reads a live session.
///
/// # Errors
/// [`NOT_SIGNED_IN`] if it has ended.
pub async fn read_session(
    context: &RequestContext,
    config: &DashboardConfig,
    session: &BrowserSession,
    session_use: SessionUse,
) -> Result<Session, Refusal> {
    let operation = ReadSession {
        session: session.token.clone(),
        session_use,
    };
    let to = accounts::address(session.account.id());
    let read: Session = context.workers.call(&to, operation, TIMEOUT).await?;
    // Such a session never needs a passkey, so it ends where local sign-in does.
    if read.is_local && config.local_sign_in != LocalSignIn::On {
        return Err(NOT_SIGNED_IN.into());
    }
    Ok(read)
}

/// Whether a session is refused because it has ended, and not because of what it asks for.
pub fn has_ended(refused: &Refusal) -> bool {
    refused.status() == 401 || refused.code() == Some(ACCOUNT_SUSPENDED.code)
}

/// Refuses what is meant for another account than the browser's current one. A write has to name its own.
fn check_publisher(request: &Request, publisher: &PublisherId, is_write: bool) -> Result<(), ApiError> {
    let is_meant = match header(request, PUBLISHER) {
        Some(named) => named == publisher.as_str(),
        None => !is_write,
    };
    is_meant.then_some(()).ok_or(ACCOUNT_SWITCHED)
}

/// The member who sends a request, if a session is live and the role allows it. Where the current session has ended, the one
/// before it takes its place, so that a browser that looks signed out is.
pub async fn admit(
    context: &RequestContext,
    config: &DashboardConfig,
    request: &Request,
    call: MemberCall,
    is_write: bool,
) -> Result<Visitor, Refusal> {
    let mut sessions = sessions_of(context, config, request);
    let mut ended = None;
    while let Some(current) = sessions.current() {
        let Account::Publisher(publisher) = &current.account else {
            return Err(NOT_SIGNED_IN.into());
        };
        // Before the account is asked: the session's MAC names the publisher, whose account may hang.
        let permits = context.isolate.pools.get(Pool::Publishers);
        let permit = permits.acquire(publisher.as_str(), context.now_ms)?;
        let session = match read_session(context, config, current, call.session_use()).await {
            Ok(session) => session,
            Err(refused) if has_ended(&refused) => {
                ended.get_or_insert(refused);
                sessions.leave_current();
                continue;
            }
            Err(unknown) => return Err(unknown),
        };
        check_publisher(request, publisher, is_write)?;
        if let Some(permission) = call.permission() {
            permission.check(session.role, session.is_verified(context.now_ms))?;
        }
        return Ok(Visitor {
            publisher: publisher.clone(),
            account: current.account.clone(),
            token: current.token.clone(),
            session,
            sessions,
            _permit: permit,
        });
    }
    Err(ended.unwrap_or_else(|| NOT_SIGNED_IN.into()))
}

/// The headers of every answer of a handler. A page and its files bring their own.
pub fn add_guard_headers(answer: Answer) -> Answer {
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
