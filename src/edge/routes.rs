//! The route table: every address Signpost answers, by interface, with the handler of each method.

use crate::origin::catalog::Resource;

/// Which of Signpost's addresses a route belongs to. In production each has a host of its own and answers only there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    Reporting,
    Offers,
    Tracking,
    Operator,
    /// On every host.
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Delete,
}

impl Method {
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Get, Self::Head, Self::Post, Self::Put, Self::Delete]
            .into_iter()
            .find(|method| method.as_str() == name)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

/// What answers. Parts of the path that vary come with it, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handler {
    Click,
    Conversion,
    OffersPost,
    OffersGet,
    Report,
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

type Methods = &'static [(Method, Handler)];

use Handler::*;
use Interface::*;
use Method::*;
use Resource::{Advertiser, App, Offer, Publisher};

/// `{}` stands for one segment of the path.
const ROUTES: &[(Interface, &str, Methods)] = &[
    (Tracking, "/v2/tracking/click", &[(Get, Click), (Head, Click)]),
    (
        Tracking,
        "/v2/tracking/conversion",
        &[(Get, Conversion), (Post, Conversion)],
    ),
    (
        Offers,
        "/v1/offer/api",
        &[(Post, OffersPost), (Get, OffersGet), (Head, OffersGet)],
    ),
    (
        Reporting,
        "/v1/core/reporting/public/signal/report/generate",
        &[(Post, Report)],
    ),
    (Any, HEALTH, &[(Get, Health), (Head, Health)]),
    (Any, "/openapi.json", &[(Get, Describe), (Head, Describe)]),
    (Operator, "/v1/operator/publishers", &[(Get, List(Publisher))]),
    (
        Operator,
        "/v1/operator/publishers/{}",
        &[(Get, Read(Publisher)), (Put, Write(Publisher))],
    ),
    (
        Operator,
        "/v1/operator/publishers/{}/pub_key",
        &[(Get, ReadPubKey), (Post, IssuePubKey)],
    ),
    (
        Operator,
        "/v1/operator/publishers/{}/report_keys",
        &[(Get, ListReportKeys), (Post, CreateReportKey)],
    ),
    (
        Operator,
        "/v1/operator/publishers/{}/report_keys/{}",
        &[(Delete, RevokeReportKey)],
    ),
    (
        Operator,
        "/v1/operator/publishers/{}/facts",
        &[(Get, ListFacts), (Post, AddFacts)],
    ),
    (
        Operator,
        "/v1/operator/publishers/{}/facts/{}",
        &[(Put, ReplaceFacts)],
    ),
    (Operator, "/v1/operator/apps", &[(Get, List(App))]),
    (
        Operator,
        "/v1/operator/apps/{}",
        &[(Get, Read(App)), (Put, Write(App))],
    ),
    (
        Operator,
        "/v1/operator/apps/{}/conversions",
        &[(Get, ListConversions)],
    ),
    (
        Operator,
        "/v1/operator/apps/{}/conversions/replay",
        &[(Post, ReplayConversions)],
    ),
    (
        Operator,
        "/v1/operator/apps/{}/conversions/{}",
        &[(Get, ReadConversion)],
    ),
    (
        Operator,
        "/v1/operator/apps/{}/conversions/{}/replay",
        &[(Post, ReplayConversion)],
    ),
    (Operator, "/v1/operator/apps/{}/callback", &[(Get, ReadCallback)]),
    (
        Operator,
        "/v1/operator/apps/{}/callback/enable",
        &[(Post, EnableCallback)],
    ),
    (
        Operator,
        "/v1/operator/apps/{}/callback_test",
        &[(Post, TestCallback)],
    ),
    (Operator, "/v1/operator/apps/{}/users/{}", &[(Delete, EraseUser)]),
    (Operator, "/v1/operator/advertisers", &[(Get, List(Advertiser))]),
    (
        Operator,
        "/v1/operator/advertisers/{}",
        &[(Get, Read(Advertiser)), (Put, Write(Advertiser))],
    ),
    (
        Operator,
        "/v1/operator/advertisers/{}/token",
        &[(Post, IssueToken)],
    ),
    (
        Operator,
        "/v1/operator/advertisers/{}/token/{}",
        &[(Delete, RevokeToken)],
    ),
    (Operator, "/v1/operator/offers", &[(Get, List(Offer))]),
    (
        Operator,
        "/v1/operator/offers/{}",
        &[(Get, Read(Offer)), (Put, Write(Offer))],
    ),
    (Operator, "/v1/operator/import", &[(Post, Import)]),
    (Operator, "/v1/operator/refresh", &[(Post, Refresh)]),
    (Operator, "/v1/operator/metrics", &[(Get, Metrics)]),
    (Operator, "/v1/operator/callbacks", &[(Get, ListCallbacks)]),
];

/// Every path, `{}` for each segment that varies, with the methods that it answers.
pub fn routes() -> impl Iterator<Item = (&'static str, impl Iterator<Item = Method>)> {
    let methods = |methods: Methods| methods.iter().map(|(method, _)| *method);
    ROUTES
        .iter()
        .map(move |(_, path, answered)| (*path, methods(answered)))
}

/// Where a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routed<'p> {
    To(Handler, Vec<&'p str>),
    /// The path is known and the method is not: what `Allow` says.
    Methods(String),
    Nowhere,
}

pub const HEALTH: &str = "/healthz";
/// What the operator's addresses begin with.
pub const OPERATORS: &str = "/v1/operator/";

/// Whether a path is under the operator's prefix, where the token is asked for before a word is said about what is there.
pub fn is_operators(path: &str) -> bool {
    path.starts_with(OPERATORS)
}

/// The pattern of a handler's address, which is what may be said of a path that has ids of users in it.
pub fn pattern(handler: Handler) -> &'static str {
    let has = |methods: Methods| methods.iter().any(|(_, known)| *known == handler);
    ROUTES
        .iter()
        .find(|(_, _, methods)| has(methods))
        .map_or("", |(_, pattern, _)| pattern)
}

/// Finds a request's handler. `serves` says whether the host it came to serves an interface.
pub fn route<'p>(method: &str, path: &'p str, serves: impl Fn(Interface) -> bool) -> Routed<'p> {
    for (interface, pattern, methods) in ROUTES {
        let Some(segments) = matched(pattern, path) else {
            continue;
        };
        if !serves(*interface) {
            return Routed::Nowhere;
        }
        let method = Method::parse(method);
        return match methods.iter().find(|(known, _)| Some(*known) == method) {
            Some((_, handler)) => Routed::To(*handler, segments),
            None => {
                let allowed: Vec<_> = methods.iter().map(|(method, _)| method.as_str()).collect();
                Routed::Methods(allowed.join(", "))
            }
        };
    }
    Routed::Nowhere
}

/// The segments that stand where the pattern has `{}`.
fn matched<'p>(pattern: &str, path: &'p str) -> Option<Vec<&'p str>> {
    if !pattern.contains('{') {
        return (pattern == path).then(Vec::new);
    }
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    let mut segments = Vec::new();
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return Some(segments),
            (Some("{}"), Some(segment)) if !segment.is_empty() => segments.push(segment),
            (Some(expected), Some(segment)) if expected == segment => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_finds_its_handler_and_the_parts_of_its_path() {
        let anywhere = |_| true;
        assert_eq!(
            route("GET", "/v2/tracking/click", anywhere),
            Routed::To(Click, vec![])
        );
        assert_eq!(
            route("DELETE", "/v1/operator/advertisers/acme/token/t-1", anywhere),
            Routed::To(RevokeToken, vec!["acme", "t-1"])
        );
        assert_eq!(
            route("PUT", "/v1/operator/apps/10000001", anywhere),
            Routed::To(Write(App), vec!["10000001"])
        );
        for nowhere in [
            "/",
            "/v1/operator/apps/",
            "/v1/offer/api/",
            "/v1/operator/apps/1/2",
            "//healthz",
        ] {
            assert_eq!(route("GET", nowhere, anywhere), Routed::Nowhere, "{nowhere}");
        }
    }

    #[test]
    fn a_handler_is_told_by_its_pattern() {
        assert_eq!(pattern(EraseUser), "/v1/operator/apps/{}/users/{}");
        assert_eq!(pattern(Write(Offer)), "/v1/operator/offers/{}");
    }

    #[test]
    fn a_wrong_method_is_told_the_right_ones() {
        let anywhere = |_| true;
        assert_eq!(
            route("POST", "/v2/tracking/click", anywhere),
            Routed::Methods("GET, HEAD".into())
        );
        assert_eq!(
            route("PATCH", "/v1/offer/api", anywhere),
            Routed::Methods("POST, GET, HEAD".into())
        );
    }

    #[test]
    fn a_host_serves_only_its_own_interface() {
        let tracking_only = |interface| matches!(interface, Tracking | Any);
        assert_eq!(route("POST", "/v1/offer/api", tracking_only), Routed::Nowhere);
        assert_eq!(
            route("GET", "/healthz", tracking_only),
            Routed::To(Health, vec![])
        );
    }
}
