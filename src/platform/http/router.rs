//! Routing by a table: one row for each path, with its interface, methods and handlers, name in the metrics,
//! concurrency pool, and the kind of resource for the log.

use domain::model::placeholders::{decode_lossy, is_blank};

/// The interface of a route. In production each interface has a host of its own and is served only there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    Reporting,
    Offers,
    Tracking,
    Operator,
    Dashboard,
    /// Served on every host.
    Any,
}

domain::named_values! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Method {
        Get = "GET",
        Head = "HEAD",
        Post = "POST",
        Put = "PUT",
        Patch = "PATCH",
        Delete = "DELETE",
    }
}

domain::named_values! {
    /// A route's name in the metrics and the log.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum RouteName {
        Click = "click",
        Conversion = "conversion",
        Offers = "offers",
        Report = "report",
        Operator = "operator",
        Dashboard = "dashboard",
        Console = "console",
        /// The data of one user, with a publisher's key.
        Users = "users",
        /// The rewards feed, with a publisher's key.
        Rewards = "rewards",
        /// The changes of final days, with a publisher's key.
        Changes = "changes",
        /// The set-up of test apps, with a publisher's key.
        TestApps = "test_apps",
        /// The page on which a click of a test app ends.
        TestPage = "test_page",
        Health = "health",
        /// A request without a route.
        None = "none",
    }
}

/// The kind of resource that the first segment of a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedId {
    Publisher,
    App,
    Advertiser,
    Offer,
}

/// One method of a route. `P` is the Worker's enum of concurrency pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteMethod<H, P> {
    pub method: Method,
    pub handler: H,
    /// The pool from which the entry takes a permit for the handler. The handler itself takes any permit that counts
    /// for an owner.
    pub pool: Option<P>,
}

/// A method whose handler takes its own permits or needs none.
pub const fn on<H: Copy, P: Copy>(method: Method, handler: H) -> RouteMethod<H, P> {
    RouteMethod { method, handler, pool: None }
}

impl<H: Copy, P: Copy> RouteMethod<H, P> {
    /// The same method, in a pool.
    pub const fn within(self, pool: P) -> Self {
        Self { method: self.method, handler: self.handler, pool: Some(pool) }
    }
}

/// One row of a route table.
#[derive(Clone, Copy, Debug)]
pub struct Route<H: 'static, P: 'static> {
    pub interface: Interface,
    /// The path, with `{}` for a variable segment.
    pub pattern: &'static str,
    pub name: RouteName,
    pub subject: Option<LoggedId>,
    pub methods: &'static [RouteMethod<H, P>],
}

impl<H, P> Route<H, P> {
    pub const fn new(
        interface: Interface,
        pattern: &'static str,
        name: RouteName,
        methods: &'static [RouteMethod<H, P>],
    ) -> Self {
        Self { interface, pattern, name, subject: None, methods }
    }

    /// The same route, with this kind of resource in its first variable segment.
    pub const fn about(mut self, subject: LoggedId) -> Self {
        self.subject = Some(subject);
        self
    }
}

/// The result of routing.
#[derive(Debug)]
pub enum Routed<'p, H: 'static, P: 'static> {
    Found(RouteMatch<'p, H, P>),
    /// The path is known, but the method is not. The value is for the `Allow` header.
    MethodNotAllowed(String),
    NotFound,
}

/// The route of a request, and the request's method in that route.
#[derive(Debug)]
pub struct RouteMatch<'p, H: 'static, P: 'static> {
    pub route: &'static Route<H, P>,
    pub method: &'static RouteMethod<H, P>,
    /// The variable segments of the path, in order.
    pub segments: Vec<&'p str>,
}

/// Finds a request's route. `serves` tells whether the request's host serves an interface.
pub fn find<'p, H, P>(
    routes: impl IntoIterator<Item = &'static Route<H, P>>,
    method: &str,
    path: &'p str,
    serves: impl Fn(Interface) -> bool,
) -> Routed<'p, H, P> {
    for route in routes {
        let found = match_pattern(route.pattern, path);
        let Some(segments) = found.or_else(|| differs_by_slashes(route, path).then(Vec::new)) else {
            continue;
        };
        if !serves(route.interface) {
            return Routed::NotFound;
        }
        let asked = Method::parse(method);
        return match route.methods.iter().find(|served| Some(served.method) == asked) {
            Some(method) => Routed::Found(RouteMatch { route, method, segments }),
            None => {
                let methods = route.methods.iter().map(|served| served.method.as_str());
                Routed::MethodNotAllowed(methods.collect::<Vec<_>>().join(", "))
            }
        };
    }
    Routed::NotFound
}

/// True if a path is a public tracking route except for doubled or trailing slashes. Advertisers and apps assemble
/// these URLs from parts, and a user waits for the answer. Other paths must be exact, since a path's prefix decides
/// what it may reach.
fn differs_by_slashes<H, P>(route: &Route<H, P>, path: &str) -> bool {
    fn names(path: &str) -> impl Iterator<Item = &str> {
        path.split('/').filter(|name| !name.is_empty())
    }
    route.interface == Interface::Tracking && names(route.pattern).eq(names(path))
}

/// Removes encoded blanks around a segment, which occur in copied ids.
fn trim(segment: &str) -> &str {
    const ENCODED_BYTE: usize = "%20".len();
    if !segment.contains('%') {
        return segment;
    }
    let decoded = decode_lossy(segment);
    let before = decoded.len() - decoded.trim_start_matches(is_blank).len();
    let after = decoded.len() - decoded.trim_end_matches(is_blank).len();
    let inner = ENCODED_BYTE * before..segment.len().saturating_sub(ENCODED_BYTE * after);
    segment.get(inner).unwrap_or_default()
}

/// Returns the variable segments of a path that matches the pattern.
fn match_pattern<'p>(pattern: &str, path: &'p str) -> Option<Vec<&'p str>> {
    if !pattern.contains('{') {
        return (pattern == path).then(Vec::new);
    }
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    let mut segments = Vec::new();
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return Some(segments),
            (Some("{}"), Some(segment)) if !trim(segment).is_empty() => segments.push(trim(segment)),
            (Some(expected), Some(segment)) if expected == segment => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Route<u8, ()>] = &[
        Route::new(Interface::Tracking, "/click", RouteName::Click, &[on(Method::Get, 1), on(Method::Head, 1)]),
        Route::new(Interface::Any, "/healthz", RouteName::Health, &[on(Method::Get, 2)]),
        Route::new(Interface::Operator, "/apps/{}/token/{}", RouteName::Operator, &[on(Method::Delete, 3).within(())]),
    ];

    fn found<'p>(method: &str, path: &'p str, serves: impl Fn(Interface) -> bool) -> Option<(u8, Vec<&'p str>)> {
        match find(TABLE, method, path, serves) {
            Routed::Found(found) => Some((found.method.handler, found.segments)),
            _ => None,
        }
    }

    #[test]
    fn a_request_is_routed_to_its_handler_with_the_segments_of_its_path() {
        let anywhere = |_| true;
        assert_eq!(found("GET", "/click", anywhere), Some((1, vec![])));
        assert_eq!(found("DELETE", "/apps/a/token/t-1", anywhere), Some((3, vec!["a", "t-1"])));
        assert_eq!(found("DELETE", "/apps/%20a%0D%0a/token/%2520t%20", anywhere), Some((3, vec!["a", "%2520t"])));
        for nowhere in [
            "/",
            "/apps/a/token/",
            "/apps/a/token/%20%0a",
            "/apps%20/a/token/t",
            "/apps/a/token/t/",
            "/apps/a/token/t/2",
            "//healthz",
            "/click%20",
        ] {
            assert!(matches!(find(TABLE, "GET", nowhere, anywhere), Routed::NotFound), "{nowhere}");
        }
    }

    #[test]
    fn a_public_tracking_route_is_found_by_its_path_with_other_slashes() {
        for path in ["/click/", "//click", "///click//"] {
            assert_eq!(found("GET", path, |_| true), Some((1, vec![])), "{path}");
            assert_eq!(found("GET", path, |_| false), None, "{path}");
        }
    }

    #[test]
    fn the_answer_to_a_wrong_method_lists_the_allowed_ones() {
        for method in ["POST", "PATCH"] {
            let Routed::MethodNotAllowed(allowed) = find(TABLE, method, "/click", |_| true) else {
                panic!("{method} is not allowed");
            };
            assert_eq!(allowed, "GET, HEAD");
        }
    }

    #[test]
    fn a_host_serves_only_its_own_interface() {
        let tracking_only = |interface| matches!(interface, Interface::Tracking | Interface::Any);
        assert_eq!(found("DELETE", "/apps/a/token/t", tracking_only), None);
        assert_eq!(found("GET", "/healthz", tracking_only), Some((2, vec![])));
    }
}
