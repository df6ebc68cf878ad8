//! The permission that a member needs for an operator's call, and the call's name in the audit. A call with the
//! operator's token needs no permission. It has no audit entry, but the log records it.

use crate::http::handlers::{
    AlarmCall, CatalogCall, Handler, LedgerCall, OfferCall, OutboxCall, PublisherAccountCall, ReplayCall,
};
use contract::catalog::Resource;
use domain::{accounts::permission::Permission, conversions::table::Action};

/// The permission of a member's call and its name in the audit. A call that leaves no audit entry has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub permission: Permission,
    pub action: Option<&'static str>,
}

const READ: Access = Access {
    permission: Permission::ViewStore,
    action: None,
};

const fn write(action: &'static str) -> Access {
    Access {
        permission: Permission::ManageStore,
        action: Some(action),
    }
}

/// Returns `None` for a handler that is not the operator's, or that needs the operator's token.
pub const fn of(handler: Handler) -> Option<Access> {
    Some(match handler {
        Handler::Health
        | Handler::Describe
        | Handler::CopyObject
        | Handler::Dashboard(_)
        | Handler::Console(_)
        | Handler::Keyed(_)
        | Handler::TestPage(_) => {
            return None;
        }
        Handler::Metrics
        | Handler::ListCallbacks
        | Handler::Reconcile
        | Handler::ListAttention
        | Handler::Alarms(AlarmCall::Read)
        | Handler::ReadActivity
        | Handler::ReadPublisherFigures
        | Handler::ReadService
        | Handler::ListPostbacks
        | Handler::CheckPostback
        | Handler::Search
        | Handler::Offer(
            OfferCall::ListTerms | OfferCall::ReadFigures | OfferCall::ListNearCaps | OfferCall::Preview,
        )
        | Handler::PublisherAccount(PublisherAccountCall::ListMembers | PublisherAccountCall::ReadAudit) => {
            READ
        }
        Handler::PublisherAccount(PublisherAccountCall::Recover) => write("publisher_recovery_issued"),
        Handler::PublisherAccount(PublisherAccountCall::WithdrawInvite) => {
            write("publisher_invite_withdrawn")
        }
        Handler::Invite => write("publisher_invited"),
        // The accounts object writes the audit entry.
        Handler::InviteMember => Access {
            permission: Permission::ManageMembers,
            action: None,
        },
        Handler::Replay(ReplayCall::Read) => READ,
        Handler::Replay(ReplayCall::Start) => Access {
            permission: Permission::ReplayManyOfAnyApp,
            action: Some("rewards_replayed"),
        },
        Handler::Replay(ReplayCall::Cancel) => write("replay_cancelled"),
        Handler::EndAttentionItem => write("attention_ended"),
        Handler::Alarms(AlarmCall::Set) => write("alarm_address_set"),
        Handler::Alarms(AlarmCall::End) => write("alarm_address_ended"),
        Handler::Alarms(AlarmCall::Test) => write("alarms_tested"),
        Handler::RestoreObject => write("object_restored"),
        Handler::Catalog(call) => of_catalog(call),
        Handler::Ledger(call) => of_ledger(call),
        Handler::Outbox(call) => of_outbox(call),
    })
}

const fn of_catalog(call: CatalogCall) -> Access {
    match call {
        CatalogCall::List(_) | CatalogCall::Read(_) | CatalogCall::ListPubKeyRequests => READ,
        CatalogCall::ReadPubKey => Access {
            permission: Permission::ViewPublisherKeys,
            action: None,
        },
        CatalogCall::Write(Resource::Publisher) => write("publisher_put"),
        CatalogCall::Write(Resource::App) => write("app_put"),
        CatalogCall::Write(Resource::Advertiser) => write("advertiser_put"),
        CatalogCall::Write(Resource::Offer) => write("offer_put"),
        CatalogCall::IssuePubKey => write("pub_key_issued"),
        CatalogCall::IssueToken => write("token_issued"),
        CatalogCall::RevokeToken => write("token_revoked"),
        CatalogCall::EnterTerms(_) => write("terms_entered"),
        CatalogCall::Import => write("imported"),
        CatalogCall::Refresh => write("published"),
    }
}

const fn of_ledger(call: LedgerCall) -> Access {
    match call {
        LedgerCall::ListReportKeys | LedgerCall::ListFacts => READ,
        LedgerCall::CreateReportKey => write("report_key_created"),
        LedgerCall::RevokeReportKey => write("report_key_revoked"),
        LedgerCall::AddFacts => write("facts_added"),
        LedgerCall::ReplaceFacts => write("facts_replaced"),
        LedgerCall::Restate => write("day_restated"),
    }
}

const fn of_outbox(call: OutboxCall) -> Access {
    match call {
        OutboxCall::ListConversions
        | OutboxCall::FindConversions
        | OutboxCall::ReadConversion
        | OutboxCall::ReadStory
        | OutboxCall::ReadCallback => READ,
        OutboxCall::ReplayConversion => Access {
            permission: Permission::ReplayAnyReward,
            action: Some("reward_replayed"),
        },
        OutboxCall::Settle(Action::Approve) => write("reward_approved"),
        OutboxCall::Settle(Action::Reject) => write("reward_rejected"),
        OutboxCall::Settle(Action::Reverse) => write("reward_reversed"),
        OutboxCall::SettleMany(Action::Approve) => write("rewards_approved"),
        OutboxCall::SettleMany(Action::Reject) => write("rewards_rejected"),
        OutboxCall::SettleMany(Action::Reverse) => write("rewards_reversed"),
        OutboxCall::EnableCallback => write("callback_enabled"),
        OutboxCall::TestCallback => write("callback_tested"),
        OutboxCall::EraseUser => write("user_erased"),
    }
}
