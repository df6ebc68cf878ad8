//! The checks of every call of a page: host, sender, session, role (docs/DECISIONS.md, "Accounts and the dashboard").

use std::ops::Deref;

use worker::Request;

use super::Call;
use crate::http::{
    Refusal, RequestContext,
    calls::segment,
    config::site::{LocalSignIn, SiteConfig},
    limits::{PER_MEMBER, Pool},
};
use contract::accounts::{self, Actor, Announce, AnnouncedChange, ReadSession, Session};
use domain::{
    accounts::{
        account::{ACCOUNT_SUSPENDED, Account},
        browser_sessions::{BrowserSession, BrowserSessions},
        cookie::Cookie,
        permission::Permission,
        session::{ACCOUNT_SWITCHED, NOT_SIGNED_IN, SessionUse},
    },
    model::{ApiError, PublisherId},
};
use platform::{
    concurrency_limit::Permit,
    http::{Answer, answer::JSON, body, header, hosts::MISDIRECTED},
};

const CROSS_SITE: ApiError =
    ApiError::new(403, "cross_site_request", "a session is valid only for requests from this site's own pages");

/// Prefixes of proxies' headers, in lower case. A request through a proxy is not local.
const PROXY_HEADERS: [&str; 4] = ["forwarded", "x-forwarded-", "via", "cf-ray"];

/// The value of `Strict-Transport-Security`, which requires HTTPS for a year. Browsers ignore the header on
/// http://localhost.
pub const STRICT_TRANSPORT: &str = "max-age=31536000";

/// The header with the publisher that a page shows. All tabs share one cookie, and another tab may have switched the
/// account; this header keeps a tab's call from reaching an account that the tab does not show.
const PUBLISHER: &str = "X-Publisher";

/// The media types that a page sends.
pub const JSON_ONLY: &[&str] = &[JSON];

/// A member with a live session.
pub struct Member {
    pub account: Account,
    /// The session's text.
    pub token: String,
    pub session: Session,
    /// The browser's sessions. `session` is the current one.
    pub sessions: BrowserSessions,
    /// A permit from the member's share of its pool, held until the call is answered.
    _permit: Permit,
}

impl Member {
    pub fn actor(&self) -> Actor {
        Actor::Member(self.session.member)
    }

    /// Returns the announcement of a change that another object makes for this member.
    pub fn announce(&self, change: AnnouncedChange) -> Announce {
        Announce { by: self.actor(), change }
    }

    /// The time until which the session counts as verified, in UNIX seconds.
    pub fn verified_until(&self) -> Option<i64> {
        let times = &self.session.times;
        let until_ms = match self.session.is_local {
            true => Some(times.ends_at_ms()),
            false => times.verified_until_ms(),
        };
        until_ms.map(|ms| ms.div_euclid(1_000))
    }
}

/// A member's call that has passed all checks.
pub struct Visit<'c, M = Member> {
    pub context: &'c RequestContext,
    pub config: &'c SiteConfig,
    pub segments: &'c [&'c str],
    pub query: &'c str,
    pub member: M,
}

impl<M> Visit<'_, M> {
    /// Returns the path's segment at the `{}` with this index in the route's pattern, or an empty text.
    pub fn segment(&self, at: usize) -> String {
        segment(self.segments, at)
    }
}

impl<M> Deref for Visit<'_, M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.member
    }
}

/// The requirements of a call.
#[derive(Clone, Copy)]
pub struct Access {
    pub session_use: SessionUse,
    pub permission: Option<Permission>,
    /// Maximum bytes of the body, which is read before a permit is taken. `None` for a streamed body.
    pub max_body: Option<usize>,
}

/// Refuses a request whose host is not the site's. Otherwise anybody could point their own host name at this service
/// (DNS rebinding).
pub fn check_host(config: &SiteConfig, authority: &str) -> Result<(), ApiError> {
    let is_own = authority.eq_ignore_ascii_case(config.host());
    is_own.then_some(()).ok_or(MISDIRECTED)
}

/// Refuses requests from another site's page. A write must also have the exact `Origin` and one of `media_types`. An
/// HTML form can send none of them. While local sign-in is on, requests through a proxy are refused.
pub fn check_sender(
    config: &SiteConfig,
    request: &Request,
    is_write: bool,
    media_types: &[&str],
) -> Result<(), ApiError> {
    let is_own_page = header(request, "Sec-Fetch-Site").is_some_and(|site| site == "same-origin");
    if !is_own_page {
        return Err(CROSS_SITE);
    }
    if is_write {
        let origin = header(request, "Origin");
        if origin.as_deref() != Some(config.party.origin()) {
            return Err(CROSS_SITE);
        }
        body::check_media_type(request, media_types, true)?;
    }
    let is_proxys = |name: String| PROXY_HEADERS.iter().any(|start| name.starts_with(start));
    if config.local_sign_in == LocalSignIn::On && request.headers().keys().any(is_proxys) {
        return Err(CROSS_SITE);
    }
    Ok(())
}

/// Returns the browser's sessions. A request with `Authorization` comes from a program, so it has no sessions.
pub fn sessions_of(context: &RequestContext, config: &SiteConfig, request: &Request) -> BrowserSessions {
    if header(request, "Authorization").is_some() {
        return BrowserSessions::default();
    }
    let cookie = Cookie::sessions(config.kind, config.site);
    let cookies = header(request, "Cookie").unwrap_or_default();
    let keys = &context.isolate.config.account_keys;
    cookie.find(&cookies).map(|value| BrowserSessions::parse(keys, config.kind, value)).unwrap_or_default()
}

/// Reads a live session.
///
/// # Errors
/// [`NOT_SIGNED_IN`] if it has ended.
pub async fn read_session(
    context: &RequestContext,
    config: &SiteConfig,
    session: &BrowserSession,
    session_use: SessionUse,
) -> Result<Session, Refusal> {
    let operation = ReadSession { session: session.token.clone(), session_use };
    let to = accounts::address(session.account.id());
    let read: Session = context.call(&to, operation).await?;
    // A local session needs no passkey, so it ends when local sign-in is switched off.
    if read.is_local && config.local_sign_in != LocalSignIn::On {
        return Err(NOT_SIGNED_IN.into());
    }
    Ok(read)
}

/// True if a request was refused because its session has ended, and not for another reason.
pub fn has_ended(refused: &Refusal) -> bool {
    refused.status() == 401 || refused.code() == Some(ACCOUNT_SUSPENDED.code)
}

/// Refuses a request that names an account other than the browser's current one. A write must name its account.
fn check_publisher(request: &Request, publisher: &PublisherId, is_write: bool) -> Result<(), ApiError> {
    let is_meant = match header(request, PUBLISHER) {
        Some(named) => named == publisher.as_str(),
        None => !is_write,
    };
    is_meant.then_some(()).ok_or(ACCOUNT_SWITCHED)
}

/// Checks a request of a page, finds the member who sends it, and reads its body.
pub async fn enter<'c>(call: &mut Call<'c>, access: Access, media_types: &[&str]) -> Result<Visit<'c>, Refusal> {
    let config = call.config()?;
    check_host(config, call.address.authority)?;
    check_sender(config, &call.request, call.is_write, media_types)?;
    let context = call.context;
    let (current, session, sessions) = admit(context, config, &call.request, access, call.is_write).await?;
    let member = session.member.to_string();
    let BrowserSession { token, account } = current;
    if let Some(most) = access.max_body
        && call.is_write
        && body::exists(&call.request)
    {
        let owner = account.id().to_string();
        let bodies = context.isolate.pools.get(Pool::MemberBodies);
        let _arriving = bodies.acquire_part(&owner, (&member, PER_MEMBER), context.now_ms)?;
        body::receive(&mut call.request, most).await?;
    }
    let permit = acquire(context, &account, &member)?;
    let member = Member { account, token, session, sessions, _permit: permit };
    Ok(Visit { context, config, segments: call.segments, query: call.address.query, member })
}

/// Takes a permit from the share that a member or a session has of its account's permits.
fn acquire(context: &RequestContext, account: &Account, owner: &str) -> Result<Permit, ApiError> {
    let pools = &context.isolate.pools;
    match account {
        Account::Publisher(publisher) => {
            let calls = pools.get(Pool::Publishers);
            calls.acquire_part(publisher.as_str(), (owner, PER_MEMBER), context.now_ms)
        }
        Account::Operator => pools.get(Pool::Operators).acquire(owner, context.now_ms),
    }
}

/// Returns the current session, if it is live and its role allows the call, and all sessions of the browser. If the
/// current session has ended, the session that was current before it becomes current again. So a browser looks signed
/// out only if all its sessions have ended.
async fn admit(
    context: &RequestContext,
    config: &SiteConfig,
    request: &Request,
    access: Access,
    is_write: bool,
) -> Result<(BrowserSession, Session, BrowserSessions), Refusal> {
    let mut sessions = sessions_of(context, config, request);
    let mut ended = None;
    while let Some(current) = sessions.current().cloned() {
        // The permit is taken before the account's object is called, because that call may hang. The session's MAC
        // proves which publisher it belongs to. Each session has its own share of permits, so that its burst shuts out
        // no other session.
        let _asking = acquire(context, &current.account, &current.token)?;
        let session = match read_session(context, config, &current, access.session_use).await {
            Ok(session) => session,
            Err(refused) if has_ended(&refused) => {
                ended.get_or_insert(refused);
                sessions.leave_current();
                continue;
            }
            Err(unknown) => return Err(unknown),
        };
        if let Account::Publisher(publisher) = &current.account {
            check_publisher(request, publisher, is_write)?;
        }
        if let Some(permission) = access.permission {
            permission.check(session.role, session.is_verified(context.now_ms))?;
        }
        return Ok((current, session, sessions));
    }
    Err(ended.unwrap_or_else(|| NOT_SIGNED_IN.into()))
}

/// Adds the headers that every handler's answer has. A page and its files set their own headers.
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
