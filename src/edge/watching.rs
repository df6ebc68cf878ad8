//! What is counted and logged of a request once its answer is there. Here alone it is decided which requests leave a line:
//! those that matter, and of what anybody can send at will only the first of its kind in a minute.

use worker::web_sys;

use super::{
    answer::Answer,
    isolate::Visit,
    routes::{self, Handler, Method, Routed},
};
use crate::{
    catalog::AppId,
    log::{self, Event, Level, Line},
    refusal::Refusal,
    runtime::now_ms,
};

/// Lines of one kind that an isolate writes in a minute, for each app or publisher that they are known to be about: of what
/// needs no credentials, of what fails for everybody or is refused to one who is known, and of failures that cost someone a
/// conversion or a report.
const OF_ANYBODY: u32 = 1;
const OF_FAILURES: u32 = 10;
const OF_LOSSES: u32 = 60;

/// What became of a postback that was answered 503 before it was known whose it is: its click id is under a key that is not
/// here, or there was no room for its form. Anybody may send such.
const UNREAD: &str = "unread";

/// The kinds of requests, for counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Route {
    Click,
    Conversion,
    Offers,
    Report,
    Operator,
    Health,
    /// Nowhere.
    None,
}

impl Route {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Click => "click",
            Self::Conversion => "conversion",
            Self::Offers => "offers",
            Self::Report => "report",
            Self::Operator => "operator",
            Self::Health => "health",
            Self::None => "none",
        }
    }
}

/// What a handler knows of a request beyond its answer.
#[derive(Default)]
pub struct Noted {
    pub app: Option<String>,
    pub offer: Option<String>,
    pub publisher: Option<String>,
    /// Which report key it was.
    pub key: Option<String>,
    pub transaction_id: Option<String>,
    pub outcome: Option<&'static str>,
    pub duplicate: Option<bool>,
    pub rows: Option<i64>,
}

impl Noted {
    /// The answer with what is noted of it. Whose a failure of ours was is to be seen; a refusal of the edge's may be
    /// anybody's, who has seen a click id or has a key that was revoked, and is to leave few lines.
    pub fn onto(self, answered: Result<Answer, Refusal>) -> Answer {
        match answered {
            Ok(answer) => answer.noting(self),
            Err(refusal) if refusal.status >= 500 => Answer::from(refusal).noting(self),
            Err(refusal) => refusal.into(),
        }
    }

    /// Whether a click id that we sealed, or a report key that we issued, says whose the request is.
    fn is_known(&self) -> bool {
        self.app.is_some() || self.key.is_some()
    }
}

/// A request, as far as it is counted and logged.
pub struct Asked<'r> {
    method: &'r str,
    route: Route,
    handler: Option<Handler>,
    segments: Vec<&'r str>,
}

impl<'r> Asked<'r> {
    pub fn of(method: &'r str, path: &str, routed: &Routed<'r>) -> Self {
        let (handler, segments) = match routed {
            Routed::To(handler, segments) => (Some(*handler), segments.clone()),
            _ => (None, Vec::new()),
        };
        let route = match handler {
            _ if routes::is_operators(path) => Route::Operator,
            None => Route::None,
            Some(Handler::Click) => Route::Click,
            Some(Handler::Conversion) => Route::Conversion,
            Some(Handler::OffersPost | Handler::OffersGet) => Route::Offers,
            Some(Handler::Report) => Route::Report,
            Some(Handler::Health | Handler::Describe) => Route::Health,
            Some(_) => Route::Operator,
        };
        Self {
            method,
            route,
            handler,
            segments,
        }
    }

    fn changes(&self) -> bool {
        self.route == Route::Operator && self.handler.is_some() && !matches!(self.method, "GET" | "HEAD")
    }
}

/// Counts a request, and leaves its line in the log if it matters.
pub fn note(visit: &Visit, asked: &Asked<'_>, request: &web_sys::Request, answer: &Answer) {
    let status = answer.status();
    let traffic = &visit.isolate.traffic;
    traffic.answered(asked.route, status, answer.code());
    let outcome = (asked.route == Route::Conversion).then(|| match (answer.noted().outcome, status) {
        (Some(outcome), _) => outcome,
        (None, 503) if answer.noted().app.is_none() => UNREAD,
        (None, 500..) => "unavailable",
        _ => "refused",
    });
    if let Some(outcome) = outcome {
        let repeats = answer.noted().duplicate == Some(true);
        traffic.conversion(if repeats { "duplicate" } else { outcome });
    }
    let Some((event, most)) = matters(asked, answer) else {
        return;
    };
    let ray = ray(request);
    let noted = answer.noted();
    let told = Told::of(asked, status);
    let line = Line {
        ray: ray.as_deref(),
        method: Method::parse(asked.method).map(Method::as_str),
        route: Some(asked.handler.map_or(asked.route.as_str(), routes::pattern)),
        status: Some(status),
        code: answer.code(),
        outcome,
        duplicate: noted.duplicate,
        app: noted.app.as_deref().or(told.app),
        offer: noted.offer.as_deref().or(told.offer),
        publisher: noted.publisher.as_deref().or(told.publisher),
        advertiser: told.advertiser,
        item: told.item,
        transaction_id: noted.transaction_id.as_deref(),
        key: noted.key.as_deref(),
        rows: noted.rows,
        ms: Some(now_ms().saturating_sub(visit.now_ms)),
        ..Line::new(now_ms(), level(event, status), event)
    };
    match most {
        Some(most) => {
            // What strangers send takes up no line of those who are known. Who has seen one click id counts as known, with
            // whatever token: he takes up the lines of that click's app and of no other.
            let kind = format!(
                "{event:?} {} {} {}",
                asked.route.as_str(),
                answer.code().unwrap_or(""),
                noted.is_known()
            );
            let owner = noted.app.as_deref().or(noted.publisher.as_deref());
            log::write_some(&kind, owner, most, line);
        }
        None => log::write(&line),
    }
}

/// Whether a request leaves a line, and how many of its kind may in a minute.
fn matters(asked: &Asked<'_>, answer: &Answer) -> Option<(Event, Option<u32>)> {
    let (status, noted) = (answer.status(), answer.noted());
    Some(match (asked.route, status) {
        (_, 401) if noted.is_known() => (Event::Refused, Some(OF_FAILURES)),
        (_, 401) => (Event::Refused, Some(OF_ANYBODY)),
        (Route::Conversion, 503) if !noted.is_known() => (Event::Conversion, Some(OF_ANYBODY)),
        (Route::Conversion, 500..) => (Event::Conversion, Some(OF_LOSSES)),
        // Its click id did not open, or it never came to that: anybody may send such a one.
        (Route::Conversion, _) if !noted.is_known() => (Event::Conversion, Some(OF_ANYBODY)),
        (Route::Conversion, _) => (Event::Conversion, None),
        (Route::Report, 500..) => (Event::Report, Some(OF_LOSSES)),
        (Route::Report, 429) => (Event::Report, Some(OF_ANYBODY)),
        (Route::Report, _) if !noted.is_known() => (Event::Report, Some(OF_ANYBODY)),
        (Route::Report, _) => (Event::Report, None),
        (Route::Operator, _) if asked.changes() => (Event::Operator, None),
        (_, 500..) => (Event::Request, Some(OF_FAILURES)),
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

/// Cloudflare's id of a request. A client may send one to a server that is not behind Cloudflare, so it has to look like
/// one.
fn ray(request: &web_sys::Request) -> Option<String> {
    let ray = request.headers().get("cf-ray").ok().flatten()?;
    let (id, place) = ray.split_once('-').unwrap_or((&ray, ""));
    let is_one = id.len() == 16
        && id.bytes().all(|byte| byte.is_ascii_hexdigit())
        && place.len() <= 3
        && place.bytes().all(|byte| byte.is_ascii_uppercase());
    is_one.then_some(ray)
}

/// What an operator's path names. What stands there of a request that found nothing may be anything, a secret in the wrong
/// place too; and a user is never named.
#[derive(Default)]
struct Told<'r> {
    app: Option<&'r str>,
    offer: Option<&'r str>,
    publisher: Option<&'r str>,
    advertiser: Option<&'r str>,
    item: Option<&'r str>,
}

impl<'r> Told<'r> {
    fn of(asked: &Asked<'r>, status: u16) -> Self {
        let mut told = Self::default();
        let (Some(handler), true) = (asked.handler, asked.route == Route::Operator) else {
            return told;
        };
        if status == 401 || status == 404 {
            return told;
        }
        let first = asked.segments.first().copied().filter(|id| is_id(id));
        let kind = routes::pattern(handler)
            .strip_prefix(routes::OPERATORS)
            .unwrap_or("");
        let (kind, _) = kind.split_once('/').unwrap_or((kind, ""));
        match kind {
            "apps" => told.app = first.filter(|id| AppId::parse(id).is_some()),
            "offers" => told.offer = first,
            "publishers" => told.publisher = first,
            "advertisers" => told.advertiser = first,
            _ => {}
        }
        if status < 400 && handler != Handler::EraseUser {
            told.item = asked.segments.get(1).copied().filter(|id| is_id(id));
        }
        told
    }
}

fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_alphanumeric())
}
