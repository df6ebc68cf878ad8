//! The origin's route table: the operator's interface, its description, the dashboard, the console, and health.

pub use crate::http::handlers::*;
use crate::http::{
    access::{member, needs, poll, read, write},
    handlers::{
        DashboardCall::Member,
        MemberCall::{
            CancelReplay, ChangeApp, ChangeSecret, CreateApp, CreateExport, ListApps, ListPayments, ListRewards,
            Overview, ReadApp, ReadAppDay, ReadExport, ReadPubKeyRequest, ReadReplay, ReadReward, ReplayReward,
            ReplayRewards, Reports, RequestPubKey, Suggestions, Switch, User,
        },
    },
    limits::Pool::{self, *},
    site::{
        AccountCall::{
            self, AddPasskey, ChangeRole, EndSession, ListMembers, ListPasskeys, ListSessions, PasskeyAddition,
            ReadAudit, Recover, RemoveMember, RemovePasskey, Verify, VerifyRequest, WithdrawInvite,
        },
        PublicCall::{CreatePasskey, PasskeyCreation, PasskeyRequest, ReadInvite, SignIn, SignInByPasskey, SignOut},
        SiteCall::{self, Account, Asset, Page, Public},
    },
};
use contract::catalog::{Resource, SecretChange};
use domain::{
    accounts::{permission::Permission, session::SessionUse},
    conversions::table::Action,
};
use platform::http::router::{Interface, LoggedId, Method::*, Route, RouteMethod, RouteName, on};

use CatalogCall::*;
use Handler::{Console, Dashboard, Describe, Health, Keyed, TestPage};
use LedgerCall::*;
use OperatorCall::*;
use OutboxCall::*;
use Permission::*;

type Row = Route<Handler, Pool>;

/// The prefix of the operator's paths. The token is checked first, so that strangers cannot learn which paths exist.
pub const OPERATOR: &str = contract::origin::OPERATOR_PREFIX;

type Methods = &'static [RouteMethod<Handler, Pool>];

const fn operator(pattern: &'static str, methods: Methods) -> Row {
    Route::new(Interface::Operator, pattern, RouteName::Operator, methods)
}

const fn dashboard(pattern: &'static str, methods: Methods) -> Row {
    Route::new(Interface::Dashboard, pattern, RouteName::Dashboard, methods)
}

/// A call with a publisher's key.
const fn keyed(pattern: &'static str, name: RouteName, methods: Methods) -> Row {
    Route::new(Interface::Reporting, pattern, name, methods)
}

const fn console(pattern: &'static str, methods: Methods) -> Row {
    Route::new(Interface::Operator, pattern, RouteName::Console, methods)
}

const fn of_dashboard(call: SiteCall) -> Handler {
    Dashboard(DashboardCall::Site(call))
}

const fn publishers(pattern: &'static str, methods: Methods) -> Row {
    operator(pattern, methods).about(LoggedId::Publisher)
}

const fn apps(pattern: &'static str, methods: Methods) -> Row {
    operator(pattern, methods).about(LoggedId::App)
}

const fn advertisers(pattern: &'static str, methods: Methods) -> Row {
    operator(pattern, methods).about(LoggedId::Advertiser)
}

const fn offers(pattern: &'static str, methods: Methods) -> Row {
    operator(pattern, methods).about(LoggedId::Offer)
}

/// The calls for signing in and managing an account, the same for publishers and the operator. A row has the end of the
/// path, and the methods with their calls, permissions and pools. `$row` makes a route, and `$of` makes a handler.
macro_rules! account_routes {
    ($root:literal, $row:ident, $of:path) => {
        account_routes! { $root, $row, $of;
            "/invite" => Post Public(ReadInvite) within SignIns;
            "/sign_in" => Post Public(SignIn) within SignIns;
            "/sign_in/passkey" => Post Public(SignInByPasskey) within SignIns;
            "/sign_out" => Post Public(SignOut) within SignIns;
            "/passkeys" => Get Account(ListPasskeys, Some(ViewOwnPasskeys)), Post Public(CreatePasskey) within SignIns;
            "/passkeys/creation" => Post Public(PasskeyCreation) within SignIns;
            "/passkeys/request" => Post Public(PasskeyRequest) within SignIns;
            "/passkeys/another" => Post Account(AddPasskey, Some(ManageOwnPasskeys));
            "/passkeys/another/creation" => Post Account(PasskeyAddition, Some(ManageOwnPasskeys));
            "/passkeys/{}" => Delete Account(RemovePasskey, Some(ManageOwnPasskeys));
            "/verify" => Post Account(Verify, None);
            "/verify/request" => Post Account(VerifyRequest, None);
            "/members" => Get Account(ListMembers, Some(ViewMembers));
            "/members/{}" => Patch Account(ChangeRole, Some(ManageMembers)),
                Delete Account(RemoveMember, Some(ManageMembers));
            "/members/{}/recovery" => Post Account(Recover, Some(ManageMembers));
            "/invites" => Post Account(AccountCall::Invite, Some(ManageMembers));
            "/invites/{}" => Delete Account(WithdrawInvite, Some(ManageMembers));
            "/sessions" => Get Account(ListSessions, Some(ViewOwnSessions));
            "/sessions/{}" => Delete Account(EndSession, Some(EndOwnSessions));
            "/audit" => Get Account(ReadAudit, Some(ViewAudit));
        }
    };
    ($root:literal, $row:ident, $of:path;
     $($path:literal => $($method:ident $kind:ident $call:tt $(within $pool:ident)?),+;)+) => {
        &[$($row(concat!("/v1", $root, $path), &[$(on($method, $of($kind $call))$(.within($pool))?),+])),+]
    };
}

/// Returns all routes. If two of them match, the first counts.
pub fn routes() -> impl Iterator<Item = &'static Row> {
    const OF_PUBLISHERS: &[Row] = account_routes!("/dashboard", dashboard, of_dashboard);
    const OF_THE_OPERATOR: &[Row] = account_routes!("/console", console, Console);
    [ROUTES, OF_PUBLISHERS, OF_THE_OPERATOR].into_iter().flatten()
}

#[rustfmt::skip]
const ROUTES: &[Row] = &[
    Route::new(Interface::Any, contract::origin::HEALTH, RouteName::Health, &[on(Get, Health), on(Head, Health)]),
    Route::new(Interface::Any, contract::origin::DESCRIPTION, RouteName::Health, &[on(Get, Describe), on(Head, Describe)]),

    publishers("/v1/operator/publishers", &[read(Get, Catalog(List(Resource::Publisher))).within(Operator)]),
    publishers("/v1/operator/publishers/{}", &[
        read(Get, Catalog(Read(Resource::Publisher))).within(Operator),
        write(Put, "publisher_put", Catalog(Write(Resource::Publisher))).within(Documents),
    ]),
    publishers("/v1/operator/publishers/{}/pub_key", &[
        needs(Get, ViewPublisherKeys, None, Catalog(ReadPubKey)).within(Operator),
        write(Post, "pub_key_issued", Catalog(IssuePubKey)).within(Operator),
    ]),
    publishers("/v1/operator/pub_key_requests", &[read(Get, Catalog(ListPubKeyRequests)).within(Operator)]),
    publishers("/v1/operator/publishers/{}/report_keys", &[
        read(Get, Ledger(ListReportKeys)).within(Operator),
        write(Post, "report_key_created", Ledger(CreateReportKey)).within(Documents),
    ]),
    publishers("/v1/operator/publishers/{}/report_keys/{}", &[
        write(Delete, "report_key_revoked", Ledger(RevokeReportKey)).within(Operator),
    ]),
    publishers("/v1/operator/publishers/{}/invites", &[write(Post, "publisher_invited", Invite).within(Documents)]),
    publishers("/v1/operator/publishers/{}/invites/{}", &[
        write(Delete, "publisher_invite_withdrawn", PublisherAccount(PublisherAccountCall::WithdrawInvite))
            .within(Operator),
    ]),
    publishers("/v1/operator/publishers/{}/members", &[
        read(Get, PublisherAccount(PublisherAccountCall::ListMembers)).within(Operator),
    ]),
    publishers("/v1/operator/publishers/{}/members/{}/recovery", &[
        write(Post, "publisher_recovery_issued", PublisherAccount(PublisherAccountCall::Recover)).within(Operator),
    ]),
    publishers("/v1/operator/publishers/{}/audit", &[
        read(Get, PublisherAccount(PublisherAccountCall::ReadAudit)).within(Operator),
    ]),
    publishers("/v1/operator/publishers/{}/activity", &[read(Get, ReadActivity).within(Operator)]),
    publishers("/v1/operator/publishers/{}/facts", &[
        read(Get, Ledger(ListFacts)).within(Operator),
        write(Post, "facts_added", Ledger(AddFacts)).within(Uploads),
    ]),
    publishers("/v1/operator/publishers/{}/facts/{}", &[
        write(Put, "facts_replaced", Ledger(ReplaceFacts)).within(Uploads),
    ]),
    publishers("/v1/operator/publishers/{}/days/{}/restate", &[
        write(Post, "day_restated", Ledger(Restate)).within(Operator),
    ]),

    apps("/v1/operator/apps", &[read(Get, Catalog(List(Resource::App))).within(Operator)]),
    apps("/v1/operator/apps/{}", &[
        read(Get, Catalog(Read(Resource::App))).within(Operator),
        write(Put, "app_put", Catalog(Write(Resource::App))).within(Documents),
    ]),
    apps("/v1/operator/apps/{}/conversions", &[
        read(Get, Outbox(ListConversions)).within(Operator),
        read(Post, Outbox(FindConversions)).within(Documents),
    ]),
    apps("/v1/operator/apps/{}/conversions/approve", &[
        write(Post, "rewards_approved", Outbox(SettleMany(Action::Approve))).within(Documents),
    ]),
    apps("/v1/operator/apps/{}/conversions/reject", &[
        write(Post, "rewards_rejected", Outbox(SettleMany(Action::Reject))).within(Documents),
    ]),
    apps("/v1/operator/apps/{}/conversions/reverse", &[
        write(Post, "rewards_reversed", Outbox(SettleMany(Action::Reverse))).within(Documents),
    ]),
    apps("/v1/operator/apps/{}/conversions/{}", &[read(Get, Outbox(ReadConversion)).within(Operator)]),
    apps("/v1/operator/apps/{}/conversions/{}/story", &[read(Get, Outbox(ReadStory)).within(Operator)]),
    apps("/v1/operator/apps/{}/conversions/{}/replay", &[
        needs(Post, ReplayAnyReward, Some("reward_replayed"), Outbox(ReplayConversion)).within(Operator),
    ]),
    apps("/v1/operator/apps/{}/conversions/{}/approve", &[
        write(Post, "reward_approved", Outbox(Settle(Action::Approve))).within(Documents),
    ]),
    apps("/v1/operator/apps/{}/conversions/{}/reject", &[
        write(Post, "reward_rejected", Outbox(Settle(Action::Reject))).within(Documents),
    ]),
    apps("/v1/operator/apps/{}/conversions/{}/reverse", &[
        write(Post, "reward_reversed", Outbox(Settle(Action::Reverse))).within(Documents),
    ]),
    apps("/v1/operator/apps/{}/replays", &[
        needs(Post, ReplayManyOfAnyApp, Some("rewards_replayed"), Replay(ReplayCall::Start)).within(Documents),
    ]),
    apps("/v1/operator/apps/{}/replays/{}", &[
        read(Get, Replay(ReplayCall::Read)).within(Operator),
        write(Delete, "replay_cancelled", Replay(ReplayCall::Cancel)).within(Operator),
    ]),
    apps("/v1/operator/apps/{}/terms/{}", &[
        write(Put, "terms_entered", Catalog(EnterTerms(Resource::App))).within(Documents),
    ]),
    apps("/v1/operator/apps/{}/callback", &[read(Get, Outbox(ReadCallback)).within(Operator)]),
    apps("/v1/operator/apps/{}/callback/enable", &[
        write(Post, "callback_enabled", Outbox(EnableCallback)).within(Operator),
    ]),
    apps("/v1/operator/apps/{}/callback_test", &[
        write(Post, "callback_tested", Outbox(TestCallback)).within(Operator),
    ]),
    apps("/v1/operator/apps/{}/erase_user", &[write(Post, "user_erased", Outbox(EraseUser)).within(Documents)]),

    advertisers("/v1/operator/advertisers", &[read(Get, Catalog(List(Resource::Advertiser))).within(Operator)]),
    advertisers("/v1/operator/advertisers/{}", &[
        read(Get, Catalog(Read(Resource::Advertiser))).within(Operator),
        write(Put, "advertiser_put", Catalog(Write(Resource::Advertiser))).within(Documents),
    ]),
    advertisers("/v1/operator/advertisers/{}/token", &[
        write(Post, "token_issued", Catalog(IssueToken)).within(Operator),
    ]),
    advertisers("/v1/operator/advertisers/{}/token/{}", &[
        write(Delete, "token_revoked", Catalog(RevokeToken)).within(Operator),
    ]),
    advertisers("/v1/operator/advertisers/{}/postbacks", &[read(Get, ListPostbacks).within(Operator)]),
    advertisers("/v1/operator/refused_postbacks", &[read(Get, ListRefusedPostbacks).within(Operator)]),

    offers("/v1/operator/offers", &[read(Get, Catalog(List(Resource::Offer))).within(Operator)]),
    offers("/v1/operator/offers/{}", &[
        read(Get, Catalog(Read(Resource::Offer))).within(Operator),
        write(Put, "offer_put", Catalog(Write(Resource::Offer))).within(Documents),
    ]),
    offers("/v1/operator/offers/{}/terms", &[read(Get, Offer(OfferCall::ListTerms)).within(Operator)]),
    offers("/v1/operator/offers/{}/terms/{}", &[
        write(Put, "terms_entered", Catalog(EnterTerms(Resource::Offer))).within(Documents),
    ]),
    offers("/v1/operator/offers/{}/preview", &[read(Post, Offer(OfferCall::Preview)).within(Documents)]),
    operator("/v1/operator/publisher_figures", &[read(Post, ReadPublisherFigures).within(Operator)]),
    operator("/v1/operator/offer_figures", &[read(Post, Offer(OfferCall::ReadFigures)).within(Documents)]),
    operator("/v1/operator/caps", &[read(Get, Offer(OfferCall::ListNearCaps)).within(Operator)]),
    operator("/v1/operator/search", &[read(Post, Search).within(Documents)]),
    operator("/v1/operator/service", &[read(Get, ReadService).within(Operator)]),
    // The accounts object writes the audit entry.
    operator("/v1/operator/members/invites", &[needs(Post, ManageMembers, None, InviteMember).within(Documents)]),

    operator("/v1/operator/import", &[write(Post, "imported", Catalog(Import)).within(Uploads)]),
    operator("/v1/operator/refresh", &[write(Post, "published", Catalog(Refresh)).within(Operator)]),
    // Metrics need no permit, because they report how full the pools are.
    operator("/v1/operator/metrics", &[read(Get, Metrics)]),
    operator("/v1/operator/callbacks", &[read(Get, ListCallbacks).within(Operator)]),
    operator("/v1/operator/attention", &[read(Get, ListAttention).within(Operator)]),
    operator("/v1/operator/alarms", &[
        read(Get, Alarms(AlarmCall::Read)).within(Operator),
        write(Put, "alarm_address_set", Alarms(AlarmCall::Set)).within(Documents),
        write(Delete, "alarm_address_ended", Alarms(AlarmCall::End)).within(Operator),
    ]),
    operator("/v1/operator/alarms/test", &[write(Post, "alarms_tested", Alarms(AlarmCall::Test)).within(Operator)]),
    operator("/v1/operator/attention/{}", &[write(Delete, "attention_ended", EndAttentionItem).within(Operator)]),
    // These calls need the operator's token.
    operator("/v1/operator/objects/{}/copy", &[
        on(Get, Handler::Operator(CopyObject, None)).within(Operator),
        on(Put, Handler::Operator(LoadObject, None)).within(Uploads),
        on(Post, Handler::Operator(StartLoaded, None)).within(Operator),
        on(Delete, Handler::Operator(GiveUpLoad, None)).within(Operator),
    ]),
    operator("/v1/operator/objects/{}/restore", &[write(Post, "object_restored", RestoreObject).within(Documents)]),
    operator("/v1/operator/reconcile", &[read(Get, Reconcile).within(Operator)]),
    operator("/v1/operator/postback_check", &[read(Post, CheckPostback).within(Operator)]),

    // Every view is the same page, which needs no object and no permit.
    dashboard("/dashboard", &[on(Get, of_dashboard(Page)), on(Head, of_dashboard(Page))]),
    dashboard("/dashboard/{}", &[on(Get, of_dashboard(Page)), on(Head, of_dashboard(Page))]),
    dashboard("/dashboard/assets/{}", &[on(Get, of_dashboard(Asset)), on(Head, of_dashboard(Asset))]),
    dashboard("/dashboard/apps/{}", &[on(Get, of_dashboard(Page)), on(Head, of_dashboard(Page))]),
    dashboard("/dashboard/apps/{}/offers", &[on(Get, of_dashboard(Page)), on(Head, of_dashboard(Page))]),
    dashboard("/dashboard/apps/{}/rewards/{}", &[on(Get, of_dashboard(Page)), on(Head, of_dashboard(Page))]),
    dashboard("/dashboard/days/{}", &[on(Get, of_dashboard(Page)), on(Head, of_dashboard(Page))]),
    dashboard("/dashboard/settings/{}", &[on(Get, of_dashboard(Page)), on(Head, of_dashboard(Page))]),

    dashboard("/v1/dashboard/switch", &[on(Post, Dashboard(Member(Switch, None, SessionUse::Action)))]),
    dashboard("/v1/dashboard/overview", &[member(Get, Overview, ViewFigures)]),
    dashboard("/v1/dashboard/reports", &[member(Post, Reports, ViewFigures)]),
    dashboard("/v1/dashboard/suggestions", &[member(Post, Suggestions, ViewFigures)]),
    dashboard("/v1/dashboard/changes", &[member(Get, MemberCall::ListDayChanges, ViewFigures)]),
    dashboard("/v1/dashboard/apps/{}/days/{}", &[member(Get, ReadAppDay, ViewActivity)]),
    dashboard("/v1/dashboard/apps/{}/days/{}/offers/{}", &[member(Get, ListPayments, ViewActivity)]),
    dashboard("/v1/dashboard/activity", &[poll(Get, MemberCall::ReadActivity, ViewActivity)]),
    dashboard("/v1/dashboard/rewards", &[poll(Post, ListRewards, ViewActivity)]),
    dashboard("/v1/dashboard/apps/{}/rewards/{}", &[poll(Get, ReadReward, ViewActivity)]),
    dashboard("/v1/dashboard/apps/{}/rewards/{}/replay", &[member(Post, ReplayReward, Permission::ReplayReward)]),
    dashboard("/v1/dashboard/apps/{}/replays", &[member(Post, ReplayRewards, ReplayManyRewards)]),
    dashboard("/v1/dashboard/apps/{}/replays/{}", &[
        poll(Get, ReadReplay, FollowReplays),
        member(Delete, CancelReplay, FollowReplays),
    ]),
    dashboard("/v1/dashboard/exports", &[member(Post, CreateExport, ViewFigures)]),
    dashboard("/v1/dashboard/exports/{}", &[member(Get, ReadExport, ViewFigures)]),
    dashboard("/v1/dashboard/report_keys", &[
        member(Get, MemberCall::ListReportKeys, ViewReportKeys),
        member(Post, MemberCall::CreateReportKey, ManageReportKeys),
    ]),
    dashboard("/v1/dashboard/report_keys/{}", &[member(Delete, MemberCall::RevokeReportKey, ManageReportKeys)]),
    dashboard("/v1/dashboard/pub_key", &[member(Get, MemberCall::ReadPubKey, ViewPubKey)]),
    dashboard("/v1/dashboard/pub_key/request", &[
        member(Get, ReadPubKeyRequest, Permission::RequestPubKey),
        member(Post, RequestPubKey, Permission::RequestPubKey),
    ]),
    dashboard("/v1/dashboard/apps", &[
        member(Get, ListApps, Permission::ListApps),
        member(Post, CreateApp, ManageApps),
    ]),
    dashboard("/v1/dashboard/apps/{}", &[
        member(Get, ReadApp, ViewApps),
        member(Patch, ChangeApp, ManageApps),
    ]),
    dashboard("/v1/dashboard/apps/{}/callback/secret", &[
        member(Post, ChangeSecret(SecretChange::RenewCallback), ManageApps),
    ]),
    dashboard("/v1/dashboard/apps/{}/callback/previous_secret", &[
        member(Delete, ChangeSecret(SecretChange::EndPreviousCallback), ManageApps),
    ]),
    dashboard("/v1/dashboard/apps/{}/click_secret", &[
        member(Post, ChangeSecret(SecretChange::RenewClick), ManageApps),
        member(Delete, ChangeSecret(SecretChange::EndClick), ManageApps),
    ]),
    dashboard("/v1/dashboard/apps/{}/previous_click_secret", &[
        member(Delete, ChangeSecret(SecretChange::EndPreviousClick), ManageApps),
    ]),
    dashboard("/v1/dashboard/apps/{}/callback/enable", &[member(Post, MemberCall::EnableCallback, ManageApps)]),
    dashboard("/v1/dashboard/apps/{}/callback/test", &[member(Post, MemberCall::TestCallback, TestCallbacks)]),
    dashboard("/v1/dashboard/apps/{}/callback/preview", &[member(Post, MemberCall::PreviewCallback, PreviewCallbacks)]),
    dashboard("/v1/dashboard/apps/{}/offers", &[member(Post, MemberCall::ListOffers, ViewOffers)]),
    // The builder of tracking URLs checks for a fresh passkey itself, since only a signed URL needs one.
    dashboard("/v1/dashboard/apps/{}/tracking_url", &[member(Post, MemberCall::MakeTrackingUrl, ViewOffers)]),
    dashboard("/v1/dashboard/alarms", &[
        member(Get, MemberCall::Alarms(AlarmCall::Read), ViewApps),
        member(Put, MemberCall::Alarms(AlarmCall::Set), ManageApps),
        member(Delete, MemberCall::Alarms(AlarmCall::End), ManageApps),
    ]),
    dashboard("/v1/dashboard/alarms/test", &[member(Post, MemberCall::Alarms(AlarmCall::Test), TestCallbacks)]),
    dashboard("/v1/dashboard/users/erase", &[member(Post, User(UserCall::Erase), ManageUsers)]),
    dashboard("/v1/dashboard/users/export", &[member(Post, User(UserCall::Export), ManageUsers)]),

    // These calls read their bodies first. Then they take a permit of the publisher that the key's MAC names.
    keyed("/v1/core/users/erase", RouteName::Users, &[on(Post, Keyed(KeyedCall::User(UserCall::Erase)))]),
    keyed("/v1/core/users/export", RouteName::Users, &[on(Post, Keyed(KeyedCall::User(UserCall::Export)))]),
    keyed("/v1/core/rewards", RouteName::Rewards, &[on(Get, Keyed(KeyedCall::ReadRewards))]),
    keyed("/v1/core/reporting/public/signal/report/changes", RouteName::Changes, &[on(Get, Keyed(KeyedCall::ListDayChanges))]),
    keyed(contract::origin::TEST_APPS, RouteName::TestApps, &[on(Post, Keyed(KeyedCall::PutTestApp))]),
    Route::new(Interface::Tracking, contract::origin::TEST_PAGE, RouteName::TestPage, &[
        on(Get, TestPage(TestPageCall::Show)),
        on(Post, TestPage(TestPageCall::Report)),
    ]),
    Route::new(Interface::Tracking, "/v2/tracking/test.svg", RouteName::TestPage, &[on(Get, TestPage(TestPageCall::Icon))]),

    console("/console", &[on(Get, Console(Page)), on(Head, Console(Page))]),
    console("/console/{}", &[on(Get, Console(Page)), on(Head, Console(Page))]),
    console("/console/assets/{}", &[on(Get, Console(Asset)), on(Head, Console(Asset))]),
    console("/console/{}/{}", &[on(Get, Console(Page)), on(Head, Console(Page))]),
    console("/console/{}/{}/{}", &[on(Get, Console(Page)), on(Head, Console(Page))]),
    console("/console/{}/{}/{}/{}", &[on(Get, Console(Page)), on(Head, Console(Page))]),
    console("/v1/console/session", &[on(Get, Console(Account(AccountCall::ReadSession, None)))]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use platform::http::router::{Routed, find};

    #[test]
    fn a_call_finds_its_handler_and_the_segments_of_its_path() {
        let found = |method, path| match find(routes(), method, path, |_| true) {
            Routed::Found(found) => match found.method.handler {
                Handler::Operator(call, _) => Some((call, found.segments)),
                _ => None,
            },
            _ => None,
        };
        assert_eq!(
            found("DELETE", "/v1/operator/advertisers/acme/token/t-1"),
            Some((Catalog(RevokeToken), vec!["acme", "t-1"]))
        );
        assert_eq!(found("PUT", "/v1/operator/apps/10000001"), Some((Catalog(Write(Resource::App)), vec!["10000001"])));
        assert_eq!(found("POST", "/v1/operator/apps/10000001/erase_user"), Some((Outbox(EraseUser), vec!["10000001"])));
        assert_eq!(found("GET", "/v1/operator/apps/"), None);
    }
}
