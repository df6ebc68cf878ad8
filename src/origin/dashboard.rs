//! The dashboard's interface: pages, sign-in, and the API that the pages call (docs/DECISIONS.md, "Accounts and the
//! dashboard"). The figures are the ledger's own, by the code that serves report keys.

pub mod audited;
pub mod config;
pub mod reward_query;

#[cfg(target_arch = "wasm32")]
mod apps;
#[cfg(target_arch = "wasm32")]
mod exports;
#[cfg(target_arch = "wasm32")]
mod figures;
#[cfg(target_arch = "wasm32")]
mod gate;
#[cfg(target_arch = "wasm32")]
mod idempotency_key;
#[cfg(target_arch = "wasm32")]
mod listing;
#[cfg(target_arch = "wasm32")]
mod members;
#[cfg(target_arch = "wasm32")]
mod offers;
#[cfg(target_arch = "wasm32")]
mod own_app;
#[cfg(target_arch = "wasm32")]
mod own_passkeys;
#[cfg(target_arch = "wasm32")]
mod pages;
#[cfg(target_arch = "wasm32")]
mod passkeys;
#[cfg(target_arch = "wasm32")]
mod replays;
#[cfg(target_arch = "wasm32")]
mod rewards;
#[cfg(target_arch = "wasm32")]
mod settings;
#[cfg(target_arch = "wasm32")]
mod sign_in;
#[cfg(target_arch = "wasm32")]
mod switch;
#[cfg(target_arch = "wasm32")]
mod tester;
#[cfg(target_arch = "wasm32")]
mod web_crypto;

#[cfg(target_arch = "wasm32")]
pub use {
    handlers::{Call, call},
    members::{InviteBody, invite_answer},
};

use contract::catalog::SecretChange;
use domain::accounts::{permission::Permission, session::SessionUse};

/// A call to the dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DashboardCall {
    Page,
    Asset,
    /// A call that needs no session.
    Public(PublicCall),
    /// A call of a member.
    Member(MemberCall),
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
pub enum MemberCall {
    VerifyRequest,
    Verify,
    Switch,
    Overview,
    Reports,
    Suggestions,
    ReadActivity,
    ListRewards,
    ReadReward,
    ReplayReward,
    ReplayRewards,
    ReadReplay,
    CancelReplay,
    CreateExport,
    ReadExport,
    ListReportKeys,
    CreateReportKey,
    RevokeReportKey,
    ReadPubKey,
    ReadPubKeyRequest,
    RequestPubKey,
    ListApps,
    CreateApp,
    ReadApp,
    ChangeApp,
    ChangeSecret(SecretChange),
    TestCallback,
    EnableCallback,
    PreviewCallback,
    ListOffers,
    MakeTrackingUrl,
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

impl MemberCall {
    /// A page repeats these by itself, so they do not keep a session alive.
    pub fn session_use(self) -> SessionUse {
        match self {
            Self::ReadActivity | Self::ListRewards | Self::ReadReward | Self::ReadReplay => SessionUse::Poll,
            _ => SessionUse::Action,
        }
    }

    /// The permission that a call needs besides a session.
    pub fn permission(self) -> Option<Permission> {
        match self {
            Self::VerifyRequest | Self::Verify | Self::Switch => None,
            Self::Overview | Self::Reports | Self::Suggestions | Self::CreateExport | Self::ReadExport => {
                Some(Permission::ViewFigures)
            }
            Self::ReadActivity | Self::ListRewards | Self::ReadReward => Some(Permission::ViewActivity),
            Self::ReplayReward | Self::ReadReplay | Self::CancelReplay => Some(Permission::ReplayRewards),
            Self::ReplayRewards => Some(Permission::ReplayManyRewards),
            Self::ListReportKeys => Some(Permission::ViewReportKeys),
            Self::CreateReportKey | Self::RevokeReportKey => Some(Permission::ManageReportKeys),
            Self::ReadPubKey => Some(Permission::ViewPubKey),
            Self::ReadPubKeyRequest | Self::RequestPubKey => Some(Permission::RequestPubKey),
            Self::ListApps => Some(Permission::ListApps),
            Self::ReadApp => Some(Permission::ViewApps),
            Self::CreateApp | Self::ChangeApp | Self::ChangeSecret(_) | Self::EnableCallback => {
                Some(Permission::ManageApps)
            }
            Self::TestCallback => Some(Permission::TestCallbacks),
            Self::PreviewCallback => Some(Permission::PreviewCallbacks),
            // The builder of a signed link checks for a fresh passkey by itself.
            Self::ListOffers | Self::MakeTrackingUrl => Some(Permission::ViewOffers),
            Self::ListMembers => Some(Permission::ViewMembers),
            Self::Invite | Self::WithdrawInvite | Self::ChangeRole | Self::RemoveMember | Self::Recover => {
                Some(Permission::ManageMembers)
            }
            Self::ListSessions => Some(Permission::ViewOwnSessions),
            Self::EndSession => Some(Permission::EndOwnSessions),
            Self::ListPasskeys => Some(Permission::ViewOwnPasskeys),
            Self::PasskeyAddition | Self::AddPasskey | Self::RemovePasskey => {
                Some(Permission::ManageOwnPasskeys)
            }
            Self::ReadAudit => Some(Permission::ViewAudit),
        }
    }
}

#[cfg(target_arch = "wasm32")]
mod handlers {
    use worker::Request;

    use super::{
        DashboardCall, MemberCall, PublicCall, apps,
        config::{DashboardConfig, LocalSignIn},
        exports, figures, gate, members, offers, own_passkeys, pages, passkeys, replays, rewards, settings,
        sign_in, switch, tester,
    };
    use crate::{isolate::RequestContext, refusal::Refusal};
    use domain::{
        accounts::account::ACCOUNT_SUSPENDED,
        model::api_error::{ApiError, common},
    };
    use platform::http::{address::Address, answer::Answer};

    /// A request of the dashboard and what it is checked by.
    pub struct Call<'c> {
        pub context: &'c RequestContext,
        pub segments: &'c [&'c str],
        pub address: &'c Address<'c>,
        /// Whether the method is another than GET and HEAD, which change nothing.
        pub is_write: bool,
        pub request: Request,
    }

    impl<'c> Call<'c> {
        /// # Errors
        /// There is no dashboard.
        pub fn config(&self) -> Result<&'c DashboardConfig, ApiError> {
            let config = self.context.isolate.config.dashboard.as_ref();
            config.ok_or(common::NOT_FOUND)
        }
    }

    /// Runs the handler of a routed request.
    pub async fn call(call: DashboardCall, request: Call<'_>) -> Answer {
        let context = request.context;
        let answered = match call {
            DashboardCall::Page => pages::page(&request),
            DashboardCall::Asset => pages::asset(&request),
            DashboardCall::Public(call) => public(call, request).await.map(gate::add_guard_headers),
            DashboardCall::Member(call) => member(call, request).await.map(gate::add_guard_headers),
        };
        answered.unwrap_or_else(|refusal| gate::add_guard_headers(refusal_answer(context, refusal)))
    }

    /// The answer to a refused call. One of a suspended account links to the operator's support.
    fn refusal_answer(context: &RequestContext, refusal: Refusal) -> Answer {
        let is_suspended = refusal.code() == Some(ACCOUNT_SUSPENDED.code);
        let answer = refusal.into_answer();
        let config = context.isolate.config.dashboard.as_ref();
        match config.and_then(|config| config.support_contact.as_deref()) {
            Some(contact) if is_suspended => answer.header("Link", format!("<{contact}>; rel=\"help\"")),
            _ => answer,
        }
    }

    async fn public(call: PublicCall, request: Call<'_>) -> Result<Answer, Refusal> {
        let context = request.context;
        let config = request.config()?;
        gate::check_host(config, request.address.authority)?;
        gate::check_sender(config, &request.request, true)?;
        if config.local_sign_in == LocalSignIn::Unsafe && call != PublicCall::SignOut {
            return Err(sign_in::UNSAFE_SIGN_IN.into());
        }
        match call {
            PublicCall::ReadInvite => sign_in::read_invite(context, config, request.request).await,
            PublicCall::SignIn => sign_in::sign_in(context, config, request.request).await,
            PublicCall::SignOut => sign_in::sign_out(context, config, request.request).await,
            PublicCall::PasskeyCreation => passkeys::creation(context, config, request.request).await,
            PublicCall::CreatePasskey => passkeys::create(context, config, request.request).await,
            PublicCall::PasskeyRequest => passkeys::sign_in_request(context, config, &request.request),
            PublicCall::SignInByPasskey => passkeys::sign_in(context, config, request.request).await,
        }
    }

    async fn member(call: MemberCall, request: Call<'_>) -> Result<Answer, Refusal> {
        let config = request.config()?;
        let Call {
            context,
            segments,
            address,
            is_write,
            request,
        } = request;
        gate::check_host(config, address.authority)?;
        gate::check_sender(config, &request, is_write)?;
        let visitor = gate::admit(context, config, &request, call, is_write).await?;
        match call {
            MemberCall::VerifyRequest => passkeys::verify_request(context, config, &visitor),
            MemberCall::Verify => passkeys::verify(context, config, &visitor, request).await,
            MemberCall::Switch => switch::switch(context, config, &visitor, request).await,
            MemberCall::Overview => figures::overview(context, config, &visitor).await,
            MemberCall::Reports => figures::reports(context, &visitor, request).await,
            MemberCall::Suggestions => figures::suggestions(context, &visitor, request).await,
            MemberCall::ReadActivity => rewards::activity(context, &visitor).await,
            MemberCall::ListRewards => rewards::list(context, &visitor, request).await,
            MemberCall::ReadReward => rewards::story(context, &visitor, segments).await,
            MemberCall::ReplayReward => rewards::replay(context, &visitor, segments).await,
            MemberCall::ReplayRewards => replays::start(context, &visitor, segments, request).await,
            MemberCall::ReadReplay => replays::read(context, &visitor, segments).await,
            MemberCall::CancelReplay => replays::cancel(context, &visitor, segments).await,
            MemberCall::CreateExport => exports::create(context, &visitor, request).await,
            MemberCall::ReadExport => exports::read(context, &visitor, segments).await,
            MemberCall::ListReportKeys => settings::list_report_keys(context, &visitor).await,
            MemberCall::CreateReportKey => settings::create_report_key(context, &visitor, request).await,
            MemberCall::RevokeReportKey => settings::revoke_report_key(context, &visitor, segments).await,
            MemberCall::ReadPubKey => settings::read_pub_key(context, &visitor).await,
            MemberCall::ReadPubKeyRequest => settings::read_pub_key_request(context, &visitor).await,
            MemberCall::RequestPubKey => settings::request_pub_key(context, &visitor, request).await,
            MemberCall::ListApps => apps::list(context, &visitor, address.query).await,
            MemberCall::CreateApp => apps::create(context, &visitor, request).await,
            MemberCall::ReadApp => apps::read(context, &visitor, segments).await,
            MemberCall::ChangeApp => apps::change(context, &visitor, segments, request).await,
            MemberCall::ChangeSecret(change) => {
                apps::change_secret(context, &visitor, segments, change).await
            }
            MemberCall::EnableCallback => tester::enable(context, &visitor, segments).await,
            MemberCall::TestCallback => tester::test(context, &visitor, segments, request).await,
            MemberCall::PreviewCallback => tester::preview(context, &visitor, segments, request).await,
            MemberCall::ListOffers => offers::list(context, &visitor, segments, request).await,
            MemberCall::MakeTrackingUrl => offers::tracking_url(context, &visitor, segments, request).await,
            MemberCall::ListMembers => members::list(context, &visitor).await,
            MemberCall::Invite => members::invite(context, config, &visitor, request).await,
            MemberCall::WithdrawInvite => members::withdraw_invite(context, &visitor, segments).await,
            MemberCall::ChangeRole => members::change_role(context, &visitor, segments, request).await,
            MemberCall::RemoveMember => members::remove(context, &visitor, segments).await,
            MemberCall::Recover => members::recover(context, config, &visitor, segments).await,
            MemberCall::ListSessions => members::sessions(context, &visitor).await,
            MemberCall::EndSession => members::end_session(context, &visitor, segments).await,
            MemberCall::ListPasskeys => own_passkeys::list(context, &visitor).await,
            MemberCall::PasskeyAddition => own_passkeys::creation(context, config, &visitor).await,
            MemberCall::AddPasskey => own_passkeys::add(context, config, &visitor, request).await,
            MemberCall::RemovePasskey => own_passkeys::remove(context, &visitor, segments).await,
            MemberCall::ReadAudit => members::audit(context, &visitor, address.query).await,
        }
    }
}
