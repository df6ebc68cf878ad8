//! The handlers of the origin's routes, by the object or the site that each calls.

use crate::http::site::SiteCall;
use contract::catalog::{Resource, SecretChange};
use domain::{
    accounts::{permission::Permission, session::SessionUse},
    conversions::table::Action,
};

/// A route's handler. Most are calls of the operator to one kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handler {
    Health,
    Describe,
    Metrics,
    ListCallbacks,
    Reconcile,
    /// The newest postbacks of an advertiser.
    ListPostbacks,
    /// Dry-runs a postback.
    CheckPostback,
    ListAttention,
    EndAttentionItem,
    /// The URL that receives the operator's alarms.
    Alarms(AlarmCall),
    /// Reads a page of a copy of an object. A copy has all data, so only the operator's token may read it.
    CopyObject,
    /// Restores an object to an earlier time.
    RestoreObject,
    /// Invites somebody to a publisher's account.
    Invite,
    /// Invites somebody to the operator's account.
    InviteMember,
    PublisherAccount(PublisherAccountCall),
    /// A publisher's counts of rewards.
    ReadActivity,
    /// The sums of several publishers' rewards.
    ReadPublisherFigures,
    /// Replays of many callbacks.
    Replay(ReplayCall),
    /// Finds the records that a pasted text refers to.
    Search,
    /// The state of the service.
    ReadService,
    Offer(OfferCall),
    Dashboard(DashboardCall),
    Console(SiteCall),
    /// A call with a publisher's key.
    Keyed(KeyedCall),
    /// A call to the page of test clicks, by anybody.
    TestPage(TestPageCall),
    Catalog(CatalogCall),
    Ledger(LedgerCall),
    Outbox(OutboxCall),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublisherAccountCall {
    ListMembers,
    Recover,
    WithdrawInvite,
    ReadAudit,
}

/// A call about replays of many callbacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayCall {
    Start,
    Read,
    Cancel,
}

/// A call about offers, apart from their stored documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferCall {
    ListTerms,
    ReadFigures,
    ListNearCaps,
    Preview,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogCall {
    List(Resource),
    Read(Resource),
    Write(Resource),
    IssuePubKey,
    ReadPubKey,
    ListPubKeyRequests,
    IssueToken,
    RevokeToken,
    EnterTerms(Resource),
    Import,
    Refresh,
}

/// A call to a publisher's ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerCall {
    ListReportKeys,
    CreateReportKey,
    RevokeReportKey,
    ListFacts,
    AddFacts,
    ReplaceFacts,
    Restate,
}

/// A call to an app's outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutboxCall {
    ListConversions,
    /// Lists one user's conversions. The body names the user.
    FindConversions,
    ReadConversion,
    ReadStory,
    ReplayConversion,
    Settle(Action),
    SettleMany(Action),
    ReadCallback,
    EnableCallback,
    TestCallback,
    EraseUser,
}

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
    /// Changes of final days.
    ListDayChanges,
    /// An app's revenue and rewards of a day, by offer.
    ReadAppDay,
    /// The payments of an offer on a day.
    ListPayments,
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
    User(UserCall),
    Alarms(AlarmCall),
}

/// A call about the URL that receives alarms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlarmCall {
    Read,
    Set,
    End,
    Test,
}

/// A call with a publisher's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyedCall {
    User(UserCall),
    ReadRewards,
    ListDayChanges,
    PutTestApp,
}

/// A call to the page of test clicks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestPageCall {
    Show,
    Report,
    Icon,
}

/// A call about one user's data over all apps of a publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserCall {
    Erase,
    Export,
}

impl MemberCall {
    /// Returns how a call uses its session. Pages make some calls again and again without the member, so those calls do
    /// not extend the session.
    pub fn session_use(self) -> SessionUse {
        match self {
            Self::ReadActivity | Self::ListRewards | Self::ReadReward | Self::ReadReplay => SessionUse::Poll,
            _ => SessionUse::Action,
        }
    }

    /// Returns the permission that a call needs in addition to a session.
    pub fn permission(self) -> Option<Permission> {
        match self {
            Self::Switch => None,
            Self::Overview
            | Self::Reports
            | Self::Suggestions
            | Self::ListDayChanges
            | Self::CreateExport
            | Self::ReadExport => Some(Permission::ViewFigures),
            Self::ReadActivity
            | Self::ListRewards
            | Self::ReadReward
            | Self::ReadAppDay
            | Self::ListPayments => Some(Permission::ViewActivity),
            Self::ReplayReward => Some(Permission::ReplayReward),
            Self::ReadReplay | Self::CancelReplay => Some(Permission::FollowReplays),
            Self::ReplayRewards => Some(Permission::ReplayManyRewards),
            Self::ListReportKeys => Some(Permission::ViewReportKeys),
            Self::CreateReportKey | Self::RevokeReportKey => Some(Permission::ManageReportKeys),
            Self::ReadPubKey => Some(Permission::ViewPubKey),
            Self::ReadPubKeyRequest | Self::RequestPubKey => Some(Permission::RequestPubKey),
            Self::ListApps => Some(Permission::ListApps),
            Self::ReadApp | Self::Alarms(AlarmCall::Read) => Some(Permission::ViewApps),
            Self::CreateApp
            | Self::ChangeApp
            | Self::ChangeSecret(_)
            | Self::EnableCallback
            | Self::Alarms(AlarmCall::Set | AlarmCall::End) => Some(Permission::ManageApps),
            Self::TestCallback | Self::Alarms(AlarmCall::Test) => Some(Permission::TestCallbacks),
            Self::PreviewCallback => Some(Permission::PreviewCallbacks),
            // The builder of tracking URLs checks for a fresh passkey itself, since only a signed URL needs one.
            Self::ListOffers | Self::MakeTrackingUrl => Some(Permission::ViewOffers),
            Self::User(_) => Some(Permission::ManageUsers),
        }
    }
}
