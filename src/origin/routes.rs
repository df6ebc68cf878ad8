//! The origin's route table: the operator's interface, its description, and health.

use crate::limits::Pool::{self, *};
use contract::catalog::Resource;
use platform::http::router::{Endpoint, Interface, Method::*, Route, RouteName, Subject, on};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handler {
    Health,
    Describe,
    ListReportKeys,
    CreateReportKey,
    RevokeReportKey,
    ListFacts,
    AddFacts,
    ReplaceFacts,
    ListConversions,
    ReadConversion,
    ReplayConversion,
    ReplayConversions,
    ReadCallback,
    EnableCallback,
    TestCallback,
    EraseUser,
    List(Resource),
    Read(Resource),
    Write(Resource),
    IssuePubKey,
    ReadPubKey,
    IssueToken,
    RevokeToken,
    Import,
    Refresh,
    Metrics,
    ListCallbacks,
}

use Handler::*;

type Row = Route<Handler, Pool>;

/// The prefix of the operator's paths. The token is checked first, so that strangers cannot learn which paths exist.
pub const OPERATOR: &str = contract::origin::OPERATOR_PREFIX;

type Endpoints = &'static [Endpoint<Handler, Pool>];

const fn operator(pattern: &'static str, endpoints: Endpoints) -> Row {
    Route::new(Interface::Operator, pattern, RouteName::Operator, endpoints)
}

const fn publishers(pattern: &'static str, endpoints: Endpoints) -> Row {
    operator(pattern, endpoints).about(Subject::Publisher)
}

const fn apps(pattern: &'static str, endpoints: Endpoints) -> Row {
    operator(pattern, endpoints).about(Subject::App)
}

const fn advertisers(pattern: &'static str, endpoints: Endpoints) -> Row {
    operator(pattern, endpoints).about(Subject::Advertiser)
}

const fn offers(pattern: &'static str, endpoints: Endpoints) -> Row {
    operator(pattern, endpoints).about(Subject::Offer)
}

#[rustfmt::skip]
pub const ROUTES: &[Row] = &[
    Route::new(Interface::Any, contract::origin::HEALTH, RouteName::Health, &[on(Get, Health), on(Head, Health)]),
    Route::new(Interface::Any, contract::origin::DESCRIPTION, RouteName::Health, &[on(Get, Describe), on(Head, Describe)]),

    publishers("/v1/operator/publishers", &[on(Get, List(Resource::Publisher)).within(Operator)]),
    publishers("/v1/operator/publishers/{}", &[
        on(Get, Read(Resource::Publisher)).within(Operator),
        on(Put, Write(Resource::Publisher)).within(Documents),
    ]),
    publishers("/v1/operator/publishers/{}/pub_key", &[
        on(Get, ReadPubKey).within(Operator),
        on(Post, IssuePubKey).within(Operator),
    ]),
    publishers("/v1/operator/publishers/{}/report_keys", &[
        on(Get, ListReportKeys).within(Operator),
        on(Post, CreateReportKey).within(Documents),
    ]),
    publishers("/v1/operator/publishers/{}/report_keys/{}", &[on(Delete, RevokeReportKey).within(Operator)]),
    publishers("/v1/operator/publishers/{}/facts", &[
        on(Get, ListFacts).within(Operator),
        on(Post, AddFacts).within(Uploads),
    ]),
    publishers("/v1/operator/publishers/{}/facts/{}", &[on(Put, ReplaceFacts).within(Uploads)]),

    apps("/v1/operator/apps", &[on(Get, List(Resource::App)).within(Operator)]),
    apps("/v1/operator/apps/{}", &[
        on(Get, Read(Resource::App)).within(Operator),
        on(Put, Write(Resource::App)).within(Documents),
    ]),
    apps("/v1/operator/apps/{}/conversions", &[on(Get, ListConversions).within(Operator)]),
    apps("/v1/operator/apps/{}/conversions/replay", &[on(Post, ReplayConversions).within(Documents)]),
    apps("/v1/operator/apps/{}/conversions/{}", &[on(Get, ReadConversion).within(Operator)]),
    apps("/v1/operator/apps/{}/conversions/{}/replay", &[on(Post, ReplayConversion).within(Operator)]),
    apps("/v1/operator/apps/{}/callback", &[on(Get, ReadCallback).within(Operator)]),
    apps("/v1/operator/apps/{}/callback/enable", &[on(Post, EnableCallback).within(Operator)]),
    apps("/v1/operator/apps/{}/callback_test", &[on(Post, TestCallback).within(Operator)]),
    apps("/v1/operator/apps/{}/users/{}", &[on(Delete, EraseUser).within(Operator)]).hides_item(),

    advertisers("/v1/operator/advertisers", &[on(Get, List(Resource::Advertiser)).within(Operator)]),
    advertisers("/v1/operator/advertisers/{}", &[
        on(Get, Read(Resource::Advertiser)).within(Operator),
        on(Put, Write(Resource::Advertiser)).within(Documents),
    ]),
    advertisers("/v1/operator/advertisers/{}/token", &[on(Post, IssueToken).within(Operator)]),
    advertisers("/v1/operator/advertisers/{}/token/{}", &[on(Delete, RevokeToken).within(Operator)]),

    offers("/v1/operator/offers", &[on(Get, List(Resource::Offer)).within(Operator)]),
    offers("/v1/operator/offers/{}", &[
        on(Get, Read(Resource::Offer)).within(Operator),
        on(Put, Write(Resource::Offer)).within(Documents),
    ]),

    operator("/v1/operator/import", &[on(Post, Import).within(Uploads)]),
    operator("/v1/operator/refresh", &[on(Post, Refresh).within(Operator)]),
    // Without a permit, because it reports how full the pools are.
    operator("/v1/operator/metrics", &[on(Get, Metrics)]),
    operator("/v1/operator/callbacks", &[on(Get, ListCallbacks).within(Operator)]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use platform::http::router::{Routed, find};

    #[test]
    fn a_call_finds_its_handler_and_the_segments_of_its_path() {
        let found = |method, path| match find(ROUTES, method, path, |_| true) {
            Routed::To {
                endpoint, segments, ..
            } => Some((endpoint.handler, segments)),
            _ => None,
        };
        assert_eq!(
            found("DELETE", "/v1/operator/advertisers/acme/token/t-1"),
            Some((RevokeToken, vec!["acme", "t-1"]))
        );
        assert_eq!(
            found("PUT", "/v1/operator/apps/10000001"),
            Some((Write(Resource::App), vec!["10000001"]))
        );
        assert_eq!(
            found("POST", "/v1/operator/apps/10000001/conversions/replay"),
            Some((ReplayConversions, vec!["10000001"]))
        );
        assert_eq!(found("GET", "/v1/operator/apps/"), None);
    }
}
