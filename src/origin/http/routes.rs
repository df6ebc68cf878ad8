//! The origin's route table: the operator's interface, its description, the dashboard, the console, and health.

pub use crate::http::handlers::*;
use crate::http::{
    handlers::{
        DashboardCall::Member,
        MemberCall::{
            CancelReplay, ChangeApp, ChangeSecret, CreateApp, CreateExport, ListApps, ListPayments,
            ListRewards, Overview, ReadApp, ReadAppDay, ReadExport, ReadPubKeyRequest, ReadReplay,
            ReadReward, ReplayReward, ReplayRewards, Reports, RequestPubKey, Suggestions, Switch, User,
        },
    },
    limits::Pool::{self, *},
    site::{
        AccountCall::{
            self, AddPasskey, ChangeRole, EndSession, ListMembers, ListPasskeys, ListSessions,
            PasskeyAddition, ReadAudit, Recover, RemoveMember, RemovePasskey, Verify, VerifyRequest,
            WithdrawInvite,
        },
        PublicCall::{
            CreatePasskey, PasskeyCreation, PasskeyRequest, ReadInvite, SignIn, SignInByPasskey, SignOut,
        },
        SiteCall::{self, Account, Asset, Page, Public},
    },
};
use contract::catalog::{Resource, SecretChange};
use domain::conversions::table::Action;
use platform::http::router::{Interface, LoggedId, Method::*, Route, RouteMethod, RouteName, on};

use CatalogCall::*;
use Handler::*;
use LedgerCall::*;
use OutboxCall::*;

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

/// The calls for signing in and managing an account, which are the same for publishers and the operator. Each row gives
/// the end of the path, and the methods with their calls and pools. `$row` makes a route, and `$of` makes a handler.
macro_rules! account_routes {
    ($root:literal, $row:ident, $of:path) => {
        account_routes! { $root, $row, $of;
            "/invite" => Post Public(ReadInvite) within SignIns;
            "/sign_in" => Post Public(SignIn) within SignIns;
            "/sign_in/passkey" => Post Public(SignInByPasskey) within SignIns;
            "/sign_out" => Post Public(SignOut) within SignIns;
            "/passkeys" => Get Account(ListPasskeys), Post Public(CreatePasskey) within SignIns;
            "/passkeys/creation" => Post Public(PasskeyCreation) within SignIns;
            "/passkeys/request" => Post Public(PasskeyRequest) within SignIns;
            "/passkeys/another" => Post Account(AddPasskey);
            "/passkeys/another/creation" => Post Account(PasskeyAddition);
            "/passkeys/{}" => Delete Account(RemovePasskey);
            "/verify" => Post Account(Verify);
            "/verify/request" => Post Account(VerifyRequest);
            "/members" => Get Account(ListMembers);
            "/members/{}" => Patch Account(ChangeRole), Delete Account(RemoveMember);
            "/members/{}/recovery" => Post Account(Recover);
            "/invites" => Post Account(AccountCall::Invite);
            "/invites/{}" => Delete Account(WithdrawInvite);
            "/sessions" => Get Account(ListSessions);
            "/sessions/{}" => Delete Account(EndSession);
            "/audit" => Get Account(ReadAudit);
        }
    };
    ($root:literal, $row:ident, $of:path;
     $($path:literal => $($method:ident $kind:ident($call:path) $(within $pool:ident)?),+;)+) => {
        &[$($row(concat!("/v1", $root, $path), &[$(on($method, $of($kind($call)))$(.within($pool))?),+])),+]
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

    publishers("/v1/operator/publishers", &[on(Get, Catalog(List(Resource::Publisher))).within(Operator)]),
    publishers("/v1/operator/publishers/{}", &[
        on(Get, Catalog(Read(Resource::Publisher))).within(Operator),
        on(Put, Catalog(Write(Resource::Publisher))).within(Documents),
    ]),
    publishers("/v1/operator/publishers/{}/pub_key", &[
        on(Get, Catalog(ReadPubKey)).within(Operator),
        on(Post, Catalog(IssuePubKey)).within(Operator),
    ]),
    publishers("/v1/operator/pub_key_requests", &[on(Get, Catalog(ListPubKeyRequests)).within(Operator)]),
    publishers("/v1/operator/publishers/{}/report_keys", &[
        on(Get, Ledger(ListReportKeys)).within(Operator),
        on(Post, Ledger(CreateReportKey)).within(Documents),
    ]),
    publishers("/v1/operator/publishers/{}/report_keys/{}", &[on(Delete, Ledger(RevokeReportKey)).within(Operator)]),
    publishers("/v1/operator/publishers/{}/invites", &[on(Post, Handler::Invite).within(Documents)]),
    publishers("/v1/operator/publishers/{}/invites/{}", &[
        on(Delete, PublisherAccount(PublisherAccountCall::WithdrawInvite)).within(Operator),
    ]),
    publishers("/v1/operator/publishers/{}/members", &[
        on(Get, PublisherAccount(PublisherAccountCall::ListMembers)).within(Operator),
    ]),
    publishers("/v1/operator/publishers/{}/members/{}/recovery", &[
        on(Post, PublisherAccount(PublisherAccountCall::Recover)).within(Operator),
    ]),
    publishers("/v1/operator/publishers/{}/audit", &[
        on(Get, PublisherAccount(PublisherAccountCall::ReadAudit)).within(Operator),
    ]),
    publishers("/v1/operator/publishers/{}/activity", &[on(Get, Handler::ReadActivity).within(Operator)]),
    publishers("/v1/operator/publishers/{}/facts", &[
        on(Get, Ledger(ListFacts)).within(Operator),
        on(Post, Ledger(AddFacts)).within(Uploads),
    ]),
    publishers("/v1/operator/publishers/{}/facts/{}", &[on(Put, Ledger(ReplaceFacts)).within(Uploads)]),
    publishers("/v1/operator/publishers/{}/days/{}/restate", &[on(Post, Ledger(Restate)).within(Operator)]),

    apps("/v1/operator/apps", &[on(Get, Catalog(List(Resource::App))).within(Operator)]),
    apps("/v1/operator/apps/{}", &[
        on(Get, Catalog(Read(Resource::App))).within(Operator),
        on(Put, Catalog(Write(Resource::App))).within(Documents),
    ]),
    apps("/v1/operator/apps/{}/conversions", &[
        on(Get, Outbox(ListConversions)).within(Operator),
        on(Post, Outbox(FindConversions)).within(Documents),
    ]),
    apps("/v1/operator/apps/{}/conversions/approve", &[on(Post, Outbox(SettleMany(Action::Approve))).within(Documents)]),
    apps("/v1/operator/apps/{}/conversions/reject", &[on(Post, Outbox(SettleMany(Action::Reject))).within(Documents)]),
    apps("/v1/operator/apps/{}/conversions/reverse", &[on(Post, Outbox(SettleMany(Action::Reverse))).within(Documents)]),
    apps("/v1/operator/apps/{}/conversions/{}", &[on(Get, Outbox(ReadConversion)).within(Operator)]),
    apps("/v1/operator/apps/{}/conversions/{}/story", &[on(Get, Outbox(ReadStory)).within(Operator)]),
    apps("/v1/operator/apps/{}/conversions/{}/replay", &[on(Post, Outbox(ReplayConversion)).within(Operator)]),
    apps("/v1/operator/apps/{}/conversions/{}/approve", &[on(Post, Outbox(Settle(Action::Approve))).within(Documents)]),
    apps("/v1/operator/apps/{}/conversions/{}/reject", &[on(Post, Outbox(Settle(Action::Reject))).within(Documents)]),
    apps("/v1/operator/apps/{}/conversions/{}/reverse", &[on(Post, Outbox(Settle(Action::Reverse))).within(Documents)]),
    apps("/v1/operator/apps/{}/replays", &[on(Post, Replay(ReplayCall::Start)).within(Documents)]),
    apps("/v1/operator/apps/{}/replays/{}", &[
        on(Get, Replay(ReplayCall::Read)).within(Operator),
        on(Delete, Replay(ReplayCall::Cancel)).within(Operator),
    ]),
    apps("/v1/operator/apps/{}/terms/{}", &[on(Put, Catalog(EnterTerms(Resource::App))).within(Documents)]),
    apps("/v1/operator/apps/{}/callback", &[on(Get, Outbox(ReadCallback)).within(Operator)]),
    apps("/v1/operator/apps/{}/callback/enable", &[on(Post, Outbox(EnableCallback)).within(Operator)]),
    apps("/v1/operator/apps/{}/callback_test", &[on(Post, Outbox(TestCallback)).within(Operator)]),
    apps("/v1/operator/apps/{}/erase_user", &[on(Post, Outbox(EraseUser)).within(Documents)]),

    advertisers("/v1/operator/advertisers", &[on(Get, Catalog(List(Resource::Advertiser))).within(Operator)]),
    advertisers("/v1/operator/advertisers/{}", &[
        on(Get, Catalog(Read(Resource::Advertiser))).within(Operator),
        on(Put, Catalog(Write(Resource::Advertiser))).within(Documents),
    ]),
    advertisers("/v1/operator/advertisers/{}/token", &[on(Post, Catalog(IssueToken)).within(Operator)]),
    advertisers("/v1/operator/advertisers/{}/token/{}", &[on(Delete, Catalog(RevokeToken)).within(Operator)]),
    advertisers("/v1/operator/advertisers/{}/postbacks", &[on(Get, ListPostbacks).within(Operator)]),

    offers("/v1/operator/offers", &[on(Get, Catalog(List(Resource::Offer))).within(Operator)]),
    offers("/v1/operator/offers/{}", &[
        on(Get, Catalog(Read(Resource::Offer))).within(Operator),
        on(Put, Catalog(Write(Resource::Offer))).within(Documents),
    ]),

    offers("/v1/operator/offers/{}/terms", &[on(Get, Offer(OfferCall::ListTerms)).within(Operator)]),
    offers("/v1/operator/offers/{}/terms/{}", &[on(Put, Catalog(EnterTerms(Resource::Offer))).within(Documents)]),
    offers("/v1/operator/offers/{}/preview", &[on(Post, Offer(OfferCall::Preview)).within(Documents)]),
    operator("/v1/operator/publisher_figures", &[on(Post, ReadPublisherFigures).within(Operator)]),
    operator("/v1/operator/offer_figures", &[on(Post, Offer(OfferCall::ReadFigures)).within(Documents)]),
    operator("/v1/operator/caps", &[on(Get, Offer(OfferCall::ListNearCaps)).within(Operator)]),
    operator("/v1/operator/search", &[on(Post, Search).within(Documents)]),
    operator("/v1/operator/service", &[on(Get, ReadService).within(Operator)]),
    operator("/v1/operator/members/invites", &[on(Post, InviteMember).within(Documents)]),

    operator("/v1/operator/import", &[on(Post, Catalog(Import)).within(Uploads)]),
    operator("/v1/operator/refresh", &[on(Post, Catalog(Refresh)).within(Operator)]),
    // Metrics need no permit, because they report how full the pools are.
    operator("/v1/operator/metrics", &[on(Get, Metrics)]),
    operator("/v1/operator/callbacks", &[on(Get, ListCallbacks).within(Operator)]),
    operator("/v1/operator/attention", &[on(Get, Handler::ListAttention).within(Operator)]),
    operator("/v1/operator/alarms", &[
        on(Get, Handler::Alarms(AlarmCall::Read)).within(Operator),
        on(Put, Handler::Alarms(AlarmCall::Set)).within(Documents),
        on(Delete, Handler::Alarms(AlarmCall::End)).within(Operator),
    ]),
    operator("/v1/operator/alarms/test", &[on(Post, Handler::Alarms(AlarmCall::Test)).within(Operator)]),
    operator("/v1/operator/attention/{}", &[on(Delete, Handler::EndAttentionItem).within(Operator)]),
    operator("/v1/operator/objects/{}/copy", &[on(Get, Handler::CopyObject).within(Operator)]),
    operator("/v1/operator/objects/{}/restore", &[on(Post, Handler::RestoreObject).within(Documents)]),
    operator("/v1/operator/reconcile", &[on(Get, Reconcile).within(Operator)]),

    operator("/v1/operator/postback_check", &[on(Post, CheckPostback).within(Operator)]),

    // Every view is the same page, which needs no object and no permit.
    dashboard("/dashboard", &[on(Get, of_dashboard(Page)), on(Head, of_dashboard(Page))]),
    dashboard("/dashboard/{}", &[on(Get, of_dashboard(Page)), on(Head, of_dashboard(Page))]),
    dashboard("/dashboard/assets/{}", &[on(Get, of_dashboard(Asset)), on(Head, of_dashboard(Asset))]),
    dashboard("/dashboard/apps/{}", &[on(Get, of_dashboard(Page)), on(Head, of_dashboard(Page))]),
    dashboard("/dashboard/apps/{}/offers", &[on(Get, of_dashboard(Page)), on(Head, of_dashboard(Page))]),
    dashboard("/dashboard/apps/{}/rewards/{}", &[on(Get, of_dashboard(Page)), on(Head, of_dashboard(Page))]),
    dashboard("/dashboard/days/{}", &[on(Get, of_dashboard(Page)), on(Head, of_dashboard(Page))]),
    dashboard("/dashboard/settings/{}", &[on(Get, of_dashboard(Page)), on(Head, of_dashboard(Page))]),

    dashboard("/v1/dashboard/switch", &[on(Post, Dashboard(Member(Switch)))]),
    dashboard("/v1/dashboard/overview", &[on(Get, Dashboard(Member(Overview)))]),
    dashboard("/v1/dashboard/reports", &[on(Post, Dashboard(Member(Reports)))]),
    dashboard("/v1/dashboard/suggestions", &[on(Post, Dashboard(Member(Suggestions)))]),
    dashboard("/v1/dashboard/changes", &[on(Get, Dashboard(Member(MemberCall::ListDayChanges)))]),
    dashboard("/v1/dashboard/apps/{}/days/{}", &[on(Get, Dashboard(Member(ReadAppDay)))]),
    dashboard("/v1/dashboard/apps/{}/days/{}/offers/{}", &[on(Get, Dashboard(Member(ListPayments)))]),
    dashboard("/v1/dashboard/activity", &[on(Get, Dashboard(Member(MemberCall::ReadActivity)))]),
    dashboard("/v1/dashboard/rewards", &[on(Post, Dashboard(Member(ListRewards)))]),
    dashboard("/v1/dashboard/apps/{}/rewards/{}", &[on(Get, Dashboard(Member(ReadReward)))]),
    dashboard("/v1/dashboard/apps/{}/rewards/{}/replay", &[on(Post, Dashboard(Member(ReplayReward)))]),
    dashboard("/v1/dashboard/apps/{}/replays", &[on(Post, Dashboard(Member(ReplayRewards)))]),
    dashboard("/v1/dashboard/apps/{}/replays/{}", &[
        on(Get, Dashboard(Member(ReadReplay))),
        on(Delete, Dashboard(Member(CancelReplay))),
    ]),
    dashboard("/v1/dashboard/exports", &[on(Post, Dashboard(Member(CreateExport)))]),
    dashboard("/v1/dashboard/exports/{}", &[on(Get, Dashboard(Member(ReadExport)))]),
    dashboard("/v1/dashboard/report_keys", &[
        on(Get, Dashboard(Member(MemberCall::ListReportKeys))),
        on(Post, Dashboard(Member(MemberCall::CreateReportKey))),
    ]),
    dashboard("/v1/dashboard/report_keys/{}", &[
        on(Delete, Dashboard(Member(MemberCall::RevokeReportKey))),
    ]),
    dashboard("/v1/dashboard/pub_key", &[on(Get, Dashboard(Member(MemberCall::ReadPubKey)))]),
    dashboard("/v1/dashboard/pub_key/request", &[
        on(Get, Dashboard(Member(ReadPubKeyRequest))),
        on(Post, Dashboard(Member(RequestPubKey))),
    ]),
    dashboard("/v1/dashboard/apps", &[
        on(Get, Dashboard(Member(ListApps))),
        on(Post, Dashboard(Member(CreateApp))),
    ]),
    dashboard("/v1/dashboard/apps/{}", &[
        on(Get, Dashboard(Member(ReadApp))),
        on(Patch, Dashboard(Member(ChangeApp))),
    ]),
    dashboard("/v1/dashboard/apps/{}/callback/secret", &[
        on(Post, Dashboard(Member(ChangeSecret(SecretChange::RenewCallback)))),
    ]),
    dashboard("/v1/dashboard/apps/{}/callback/previous_secret", &[
        on(Delete, Dashboard(Member(ChangeSecret(SecretChange::EndPreviousCallback)))),
    ]),
    dashboard("/v1/dashboard/apps/{}/click_secret", &[
        on(Post, Dashboard(Member(ChangeSecret(SecretChange::RenewClick)))),
        on(Delete, Dashboard(Member(ChangeSecret(SecretChange::EndClick)))),
    ]),
    dashboard("/v1/dashboard/apps/{}/previous_click_secret", &[
        on(Delete, Dashboard(Member(ChangeSecret(SecretChange::EndPreviousClick)))),
    ]),
    dashboard("/v1/dashboard/apps/{}/callback/enable", &[on(Post, Dashboard(Member(MemberCall::EnableCallback)))]),
    dashboard("/v1/dashboard/apps/{}/callback/test", &[on(Post, Dashboard(Member(MemberCall::TestCallback)))]),
    dashboard("/v1/dashboard/apps/{}/callback/preview", &[on(Post, Dashboard(Member(MemberCall::PreviewCallback)))]),
    dashboard("/v1/dashboard/apps/{}/offers", &[on(Post, Dashboard(Member(MemberCall::ListOffers)))]),
    dashboard("/v1/dashboard/apps/{}/tracking_url", &[on(Post, Dashboard(Member(MemberCall::MakeTrackingUrl)))]),

    dashboard("/v1/dashboard/alarms", &[
        on(Get, Dashboard(Member(MemberCall::Alarms(AlarmCall::Read)))),
        on(Put, Dashboard(Member(MemberCall::Alarms(AlarmCall::Set)))),
        on(Delete, Dashboard(Member(MemberCall::Alarms(AlarmCall::End)))),
    ]),
    dashboard("/v1/dashboard/alarms/test", &[on(Post, Dashboard(Member(MemberCall::Alarms(AlarmCall::Test))))]),
    dashboard("/v1/dashboard/users/erase", &[on(Post, Dashboard(Member(User(UserCall::Erase))))]),
    dashboard("/v1/dashboard/users/export", &[on(Post, Dashboard(Member(User(UserCall::Export))))]),

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
    console("/v1/console/session", &[on(Get, Console(Account(AccountCall::ReadSession)))]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use platform::http::router::{Routed, find};

    #[test]
    fn a_call_finds_its_handler_and_the_segments_of_its_path() {
        let found = |method, path| match find(routes(), method, path, |_| true) {
            Routed::Found(found) => Some((found.method.handler, found.segments)),
            _ => None,
        };
        assert_eq!(
            found("DELETE", "/v1/operator/advertisers/acme/token/t-1"),
            Some((Catalog(RevokeToken), vec!["acme", "t-1"]))
        );
        assert_eq!(
            found("PUT", "/v1/operator/apps/10000001"),
            Some((Catalog(Write(Resource::App)), vec!["10000001"]))
        );
        assert_eq!(
            found("POST", "/v1/operator/apps/10000001/erase_user"),
            Some((Outbox(EraseUser), vec!["10000001"]))
        );
        assert_eq!(found("GET", "/v1/operator/apps/"), None);
    }
}
