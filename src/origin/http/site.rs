//! The pages, sign-in, sessions and members that the dashboard and the console share
//! (docs/DECISIONS.md, "Accounts and the dashboard").

pub mod audited;
#[cfg(target_arch = "wasm32")]
pub mod idempotency_key;
pub mod merge;
#[cfg(target_arch = "wasm32")]
pub mod outboxes;
pub mod replay_query;
#[cfg(target_arch = "wasm32")]
pub mod replays;
pub mod reward_filter;
pub mod reward_query;

#[cfg(target_arch = "wasm32")]
pub mod gate;
#[cfg(target_arch = "wasm32")]
pub mod members;
#[cfg(target_arch = "wasm32")]
mod own_passkeys;
#[cfg(target_arch = "wasm32")]
mod pages;
#[cfg(target_arch = "wasm32")]
mod passkeys;
#[cfg(target_arch = "wasm32")]
pub mod sign_in;
#[cfg(target_arch = "wasm32")]
mod web_crypto;

#[cfg(target_arch = "wasm32")]
pub use handlers::{Call, call, guarded};

use domain::accounts::permission::Permission;

/// A call that both sites answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteCall {
    Page,
    Asset,
    /// A call that needs no session.
    Public(PublicCall),
    /// A call of a member to its own account, and the permission that it needs in addition to a session.
    Account(AccountCall, Option<Permission>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublicCall {
    ReadInvite,
    SignIn,
    SignOut,
    PasskeyCreation,
    CreatePasskey,
    PasskeyRequest,
    SignInByPasskey,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountCall {
    /// Returns the signed-in member to the console. The dashboard does not need this call, because its overview has the
    /// member.
    ReadSession,
    VerifyRequest,
    Verify,
    ListMembers,
    Invite,
    WithdrawInvite,
    ChangeRole,
    RemoveMember,
    Recover,
    ListSessions,
    EndSession,
    ListPasskeys,
    PasskeyAddition,
    AddPasskey,
    RemovePasskey,
    ReadAudit,
}

#[cfg(target_arch = "wasm32")]
mod handlers {
    use worker::Request;

    use super::{
        AccountCall, PublicCall, SiteCall,
        gate::{self, Access},
        members, own_passkeys, pages, passkeys, sign_in,
    };
    use crate::http::{
        config::site::{LocalSignIn, SiteConfig},
        isolate::RequestContext,
        refusal::{HandlerResult, Refusal},
    };
    use domain::{
        accounts::{
            account::{ACCOUNT_SUSPENDED, AccountKind},
            permission::Permission,
            session::SessionUse,
        },
        model::api_error::{ApiError, common},
    };
    use platform::http::{address::Address, answer::Answer};

    /// A request to a site, and the data with which the request is checked.
    pub struct Call<'c> {
        pub context: &'c RequestContext,
        /// The kind of account that the site is for.
        pub kind: AccountKind,
        pub segments: &'c [&'c str],
        pub address: &'c Address<'c>,
        /// False for GET and HEAD, which change nothing.
        pub is_write: bool,
        pub request: Request,
    }

    impl<'c> Call<'c> {
        /// # Errors
        /// The deployment has no such site.
        pub fn config(&self) -> Result<&'c SiteConfig, ApiError> {
            self.context.isolate.config.site(self.kind).ok_or(common::NOT_FOUND)
        }
    }

    /// Runs the handler of a routed request.
    pub async fn call(call: SiteCall, request: Call<'_>) -> Answer {
        let (context, kind) = (request.context, request.kind);
        let answered = match call {
            SiteCall::Page => pages::page(&request),
            SiteCall::Asset => pages::asset(&request),
            SiteCall::Public(call) => public(call, request).await.map(gate::add_guard_headers),
            SiteCall::Account(call, permission) => {
                account(call, permission, request).await.map(gate::add_guard_headers)
            }
        };
        answered.unwrap_or_else(|refusal| refusal_answer(context, kind, refusal))
    }

    /// Completes the answer to a member's call.
    pub fn guarded(context: &RequestContext, kind: AccountKind, answered: HandlerResult) -> Answer {
        let refused = |refusal| refusal_answer(context, kind, refusal);
        answered.map_or_else(refused, gate::add_guard_headers)
    }

    /// Returns the answer to a refused call. The answer to a suspended account links to the operator's support.
    fn refusal_answer(context: &RequestContext, kind: AccountKind, refusal: Refusal) -> Answer {
        let is_suspended = refusal.code() == Some(ACCOUNT_SUSPENDED.code);
        let answer = gate::add_guard_headers(refusal.into_answer());
        let config = context.isolate.config.site(kind);
        match config.and_then(|config| config.support_contact.as_deref()) {
            Some(contact) if is_suspended => answer.header("Link", format!("<{contact}>; rel=\"help\"")),
            _ => answer,
        }
    }

    async fn public(call: PublicCall, request: Call<'_>) -> HandlerResult {
        let context = request.context;
        let config = request.config()?;
        gate::check_host(config, request.address.authority)?;
        gate::check_sender(config, &request.request, true, gate::JSON_ONLY)?;
        if config.local_sign_in == LocalSignIn::Unsafe && call != PublicCall::SignOut {
            return Err(sign_in::UNSAFE_SIGN_IN.into());
        }
        match call {
            PublicCall::ReadInvite => sign_in::read_invite(context, config, request.request).await,
            PublicCall::SignIn => sign_in::sign_in(context, config, request.request).await,
            PublicCall::SignOut => sign_in::sign_out(context, config, request.request).await,
            PublicCall::PasskeyCreation => passkeys::creation(context, config, request.request).await,
            PublicCall::CreatePasskey => passkeys::create(context, config, request.request).await,
            PublicCall::PasskeyRequest => passkeys::sign_in_request(context, config),
            PublicCall::SignInByPasskey => passkeys::sign_in(context, config, request.request).await,
        }
    }

    async fn account(call: AccountCall, permission: Option<Permission>, mut request: Call<'_>) -> HandlerResult {
        let access = Access { session_use: SessionUse::Action, permission, max_body: Some(passkeys::MAX_BODY) };
        let visit = gate::enter(&mut request, access, gate::JSON_ONLY).await?;
        let request = request.request;
        match call {
            AccountCall::ReadSession => Ok(members::session(&visit)),
            AccountCall::VerifyRequest => passkeys::verify_request(&visit),
            AccountCall::Verify => passkeys::verify(&visit, request).await,
            AccountCall::ListMembers => members::list(&visit).await,
            AccountCall::Invite => members::invite(&visit, request).await,
            AccountCall::WithdrawInvite => members::withdraw_invite(&visit).await,
            AccountCall::ChangeRole => members::change_role(&visit, request).await,
            AccountCall::RemoveMember => members::remove(&visit).await,
            AccountCall::Recover => members::recover(&visit).await,
            AccountCall::ListSessions => members::sessions(&visit).await,
            AccountCall::EndSession => members::end_session(&visit).await,
            AccountCall::ListPasskeys => own_passkeys::list(&visit).await,
            AccountCall::PasskeyAddition => own_passkeys::creation(&visit).await,
            AccountCall::AddPasskey => own_passkeys::add(&visit, request).await,
            AccountCall::RemovePasskey => own_passkeys::remove(&visit).await,
            AccountCall::ReadAudit => members::audit(&visit).await,
        }
    }
}
