//! The handlers of the origin's routes, by the object or the site that each calls.

use crate::http::site::SiteCall;
use contract::catalog::{Resource, SecretChange};
use domain::{
    accounts::{permission::Permission, session::SessionUse},
    conversions::table::Action,
};

/// A route's handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handler {
    Health,
    Describe,
    /// A call of the operator, and what a member of the console needs for it. `None` if only the operator's token may
    /// make the call.
    Operator(OperatorCall, Option<Access>),
    Dashboard(DashboardCall),
    Console(SiteCall),
    /// A call with a publisher's key.
    Keyed(KeyedCall),
    /// A call to the page of test clicks, by anybody.
    TestPage(TestPageCall),
}

/// The permission that a member of the console needs for an operator's call, and the call's name in the audit. A call
/// that leaves no audit entry has no name. A call with the operator's token needs no permission. It has no audit entry,
/// but the log records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub permission: Permission,
    pub action: Option<&'static str>,
}

/// A call of the operator. Most are calls to one kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorCall {
    Metrics,
    ListCallbacks,
    Reconcile,
    /// The newest postbacks of an advertiser.
    ListPostbacks,
    /// The newest refused postbacks of all advertisers.
    ListRefusedPostbacks,
    /// Dry-runs a postback.
    CheckPostback,
    ListAttention,
    EndAttentionItem,
    /// The URL that receives the operator's alarms.
    Alarms(AlarmCall),
    /// Reads a page of a copy of an object. A copy has all data, so only the operator's token may read it.
    CopyObject,
    /// Loads a page of a copy into an object without data, which waits until it is started.
    LoadObject,
    /// Empties an object that is loaded but not started.
    GiveUpLoad,
    /// Starts a loaded object.
    StartLoaded,
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
    /// A call of a member about its publisher, the permission that it needs besides a session, and how it uses the
    /// session.
    Member(MemberCall, Option<Permission>, SessionUse),
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
