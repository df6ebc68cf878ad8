//! The handlers of the origin's routes, by the object or the site that each calls.

use crate::http::{dashboard::DashboardCall, site::SiteCall};
use contract::catalog::Resource;
use domain::conversions::table::Action;

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
    /// What a postback would be answered.
    CheckPostback,
    ListAttention,
    /// Invites somebody to a publisher's account.
    Invite,
    /// Invites somebody to the operator's account.
    InviteMember,
    PublisherAccount(PublisherAccountCall),
    /// A publisher's counts of rewards.
    ReadActivity,
    /// The sums of several publishers.
    ReadPublisherFigures,
    /// Replays of many callbacks.
    Replay(ReplayCall),
    /// Finds what a text is.
    Search,
    /// The state of the service.
    ReadService,
    Offer(OfferCall),
    Dashboard(DashboardCall),
    Console(SiteCall),
    Catalog(CatalogCall),
    Ledger(LedgerCall),
    Outbox(OutboxCall),
}

/// A call to the account of a publisher.
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

/// A question about offers, beside their documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferCall {
    ListTerms,
    ReadFigures,
    ListNearCaps,
    Preview,
}

/// A call to the catalog.
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
}

/// A call to an app's outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutboxCall {
    ListConversions,
    /// The same for a user.
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
