//! The request log: counts each answered request, and decides which requests have a line. Of the requests that anybody
//! can send without credentials, only the first of each kind per minute has a line.

use worker::web_sys;

use super::{
    answer::Answer,
    router::{LoggedId, Method, RouteMatch, RouteName, Routed},
    traffic::{Traffic, UNAVAILABLE, UNREAD},
};
use crate::{
    log::{self, Event, Level, Line},
    runtime::now_ms,
};
use domain::model::{AppId, ids::is_id};

/// Maximum lines of one kind that an isolate writes per minute, for each app or publisher if it is known. This limit is
/// for requests without valid credentials.
const MAX_ANONYMOUS: u32 = 1;
/// The limit for failures that affect everybody, and for refusals of a known caller.
const MAX_FAILURES: u32 = 10;
/// The limit for failures that cost a conversion or a report.
const MAX_LOSSES: u32 = 60;

/// The data about a request that its count and its line in the log need.
pub struct RequestInfo<'r> {
    pub method: &'r str,
    /// The request's id in the log; `None` to read it from the request's headers.
    id: Option<String>,
    name: RouteName,
    pattern: Option<&'static str>,
    subject: Option<LoggedId>,
    segments: Vec<&'r str>,
}

impl<'r> RequestInfo<'r> {
    /// `unrouted` is the name for a request without a route.
    pub fn new<H, P>(method: &'r str, routed: &Routed<'r, H, P>, unrouted: RouteName) -> Self {
        let (route, segments) = match routed {
            Routed::Found(RouteMatch { route, segments, .. }) => (Some(route), segments.clone()),
            _ => (None, Vec::new()),
        };
        Self {
            method,
            id: None,
            name: route.map_or(unrouted, |route| route.name),
            pattern: route.map(|route| route.pattern),
            subject: route.and_then(|route| route.subject),
            segments,
        }
    }

    /// Logs the request under this id.
    pub fn with_id(self, id: Option<String>) -> Self {
        Self { id, ..self }
    }

    /// True for a change by the operator.
    fn is_change(&self) -> bool {
        self.name == RouteName::Operator && self.pattern.is_some() && !matches!(self.method, "GET" | "HEAD")
    }

    /// The id of a resource in the path, if the route has this subject. After 401 and 404 it is omitted, since the path
    /// may contain anything, even a misplaced secret.
    fn subject_id(&self, subject: LoggedId, status: u16) -> Option<&'r str> {
        let is_about = self.subject == Some(subject) && !matches!(status, 401 | 404);
        let first = self.segments.first().copied().filter(|id| is_about && is_id(id));
        first.filter(|id| subject != LoggedId::App || AppId::parse(id).is_some())
    }

    /// The second id in the path.
    fn item(&self, status: u16) -> Option<&'r str> {
        let is_shown = self.name == RouteName::Operator && status < 400;
        self.segments.get(1).copied().filter(|id| is_shown && is_id(id))
    }
}

/// Counts a request, and writes its line if it has one. `began_ms` is its time of arrival.
pub fn record(traffic: &Traffic, info: &RequestInfo<'_>, request: &web_sys::Request, answer: &Answer, began_ms: i64) {
    let (status, fields) = (answer.status, &answer.log_fields);
    traffic.answered(info.name, status, answer.code.as_deref());
    let outcome = (info.name == RouteName::Conversion).then(|| match (fields.outcome, status) {
        (Some(outcome), _) => outcome,
        (None, 503) if fields.app.is_none() => UNREAD,
        (None, 500..) => UNAVAILABLE,
        _ => "refused",
    });
    if let Some(outcome) = outcome {
        let repeats = fields.duplicate == Some(true);
        traffic.conversion(if repeats { "duplicate" } else { outcome });
    }
    if let Some((event, most)) = event(info, answer) {
        write_line(info, request, answer, began_ms, (event, most), outcome);
    }
}

/// Writes a request's line. It is a separate function, so that V8 does not compile it for requests without a line.
#[inline(never)]
fn write_line(
    info: &RequestInfo<'_>,
    request: &web_sys::Request,
    answer: &Answer,
    began_ms: i64,
    (event, most): (Event, Option<u32>),
    outcome: Option<&'static str>,
) {
    let (status, fields) = (answer.status, &answer.log_fields);
    let ray = info.id.clone().or_else(|| ray(request));
    let subject = |id| info.subject_id(id, status);
    let line = Line {
        ray: ray.as_deref(),
        method: Method::parse(info.method).map(Method::as_str),
        route: Some(info.pattern.unwrap_or(info.name.as_str())),
        status: Some(status),
        code: answer.code.as_deref(),
        outcome,
        duplicate: fields.duplicate,
        app: fields.app.as_deref().or(subject(LoggedId::App)),
        offer: fields.offer.as_deref().or(subject(LoggedId::Offer)),
        publisher: fields.publisher.as_deref().or(subject(LoggedId::Publisher)),
        advertiser: fields.advertiser.as_deref().or(subject(LoggedId::Advertiser)),
        item: info.item(status),
        transaction_id: fields.transaction_id.as_deref(),
        key: fields.key.as_deref(),
        rows: fields.rows,
        ms: Some(now_ms().saturating_sub(began_ms)),
        ..Line::new(now_ms(), level(event, status), event)
    };
    match most {
        Some(most) => {
            // Unknown callers do not use up the lines of known callers. A caller with any token and somebody's click id
            // counts as known, but uses up only the lines of the click's app.
            let kind = format!(
                "{event:?} {} {} {}",
                info.name.as_str(),
                answer.code.as_deref().unwrap_or(""),
                fields.is_known()
            );
            let owner = fields.app.as_deref().or(fields.publisher.as_deref());
            log::write_some(&kind, owner, most, line);
        }
        None => log::write(&line),
    }
}

/// The event of a request's line, and the maximum lines of its kind per minute, if any. `None` if the request has no
/// line.
fn event(info: &RequestInfo<'_>, answer: &Answer) -> Option<(Event, Option<u32>)> {
    let (status, fields) = (answer.status, &answer.log_fields);
    Some(match (info.name, status) {
        (_, 401) if fields.is_known() => (Event::Refused, Some(MAX_FAILURES)),
        (_, 401) => (Event::Refused, Some(MAX_ANONYMOUS)),
        (RouteName::Conversion, 503) if !fields.is_known() => (Event::Conversion, Some(MAX_ANONYMOUS)),
        (RouteName::Conversion, 500..) => (Event::Conversion, Some(MAX_LOSSES)),
        // The click id did not open or was not read: anybody can send such a postback.
        (RouteName::Conversion, _) if !fields.is_known() => (Event::Conversion, Some(MAX_ANONYMOUS)),
        (RouteName::Conversion, _) => (Event::Conversion, None),
        (RouteName::Report, 500..) => (Event::Report, Some(MAX_LOSSES)),
        (RouteName::Report, 429) => (Event::Report, Some(MAX_ANONYMOUS)),
        (RouteName::Report, _) if !fields.is_known() => (Event::Report, Some(MAX_ANONYMOUS)),
        (RouteName::Report, _) => (Event::Report, None),
        (RouteName::Operator, _) if info.is_change() => (Event::Operator, None),
        (_, 500..) => (Event::Request, Some(MAX_FAILURES)),
        _ => return None,
    })
}

fn level(event: Event, status: u16) -> Level {
    match (event, status) {
        (_, 500..) => Level::Error,
        (Event::Refused, _) => Level::Warn,
        _ => Level::Info,
    }
}

/// Cloudflare's id of a request. Its format is checked, since without Cloudflare in front a client may send it.
pub fn ray(request: &web_sys::Request) -> Option<String> {
    let ray = request.headers().get("cf-ray").ok().flatten()?;
    let (id, location) = ray.split_once('-').unwrap_or((&ray, ""));
    let is_ray = id.len() == 16
        && id.bytes().all(|byte| byte.is_ascii_hexdigit())
        && location.len() <= 3
        && location.bytes().all(|byte| byte.is_ascii_uppercase());
    is_ray.then_some(ray)
}
