//! The dashboard's API, which its pages call (docs/DECISIONS.md, "Accounts and the dashboard"). The figures are the
//! ledger's own, by the code that serves report keys.

#[cfg(target_arch = "wasm32")]
mod apps;
#[cfg(target_arch = "wasm32")]
mod exports;
#[cfg(target_arch = "wasm32")]
mod figures;
#[cfg(target_arch = "wasm32")]
mod listing;
#[cfg(target_arch = "wasm32")]
mod offers;
#[cfg(target_arch = "wasm32")]
mod own_app;
#[cfg(target_arch = "wasm32")]
mod replays;
#[cfg(target_arch = "wasm32")]
mod rewards;
#[cfg(target_arch = "wasm32")]
mod settings;
#[cfg(target_arch = "wasm32")]
mod switch;
#[cfg(target_arch = "wasm32")]
mod tester;
#[cfg(target_arch = "wasm32")]
mod visitor;

#[cfg(target_arch = "wasm32")]
pub use handlers::call;

use contract::catalog::SecretChange;
use domain::accounts::{permission::Permission, session::SessionUse};

use crate::http::site::SiteCall;

/// A call to the dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DashboardCall {
    Site(SiteCall),
    /// A call of a member about its publisher.
    Member(MemberCall),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberCall {
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
            Self::Switch => None,
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
        }
    }
}

#[cfg(target_arch = "wasm32")]
mod handlers {
    use super::{
        DashboardCall, MemberCall, apps, exports, figures, offers, replays, rewards, settings, switch,
        tester, visitor,
    };
    use crate::http::{
        refusal::Refusal,
        site::{self, Call, gate},
    };
    use domain::accounts::account::AccountKind;
    use platform::http::answer::Answer;

    /// Runs the handler of a routed request.
    pub async fn call(call: DashboardCall, request: Call<'_>) -> Answer {
        let context = request.context;
        match call {
            DashboardCall::Site(call) => site::call(call, request).await,
            DashboardCall::Member(call) => match member(call, request).await {
                Ok(answer) => gate::add_guard_headers(answer),
                Err(refusal) => site::refusal_answer(context, AccountKind::Publisher, refusal),
            },
        }
    }

    async fn member(call: MemberCall, request: Call<'_>) -> Result<Answer, Refusal> {
        let config = request.config()?;
        let access = gate::Access {
            session_use: call.session_use(),
            permission: call.permission(),
        };
        let visitor = visitor::admit(&request, config, access).await?;
        let Call {
            context,
            segments,
            address,
            request,
            ..
        } = request;
        match call {
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
        }
    }
}
