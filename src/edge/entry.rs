//! The ordinary way of a request: every one that did not take an express way comes in here and goes to its handler.

use worker::{Context, Env, Request, Response, event, web_sys};

use super::{
    answer::Answer,
    body::{self, header},
    click, conversion, health,
    isolate::Visit,
    ledgers, offers, openapi, operator, outboxes, reports,
    routes::{self, Handler, Interface, Routed, is_operators, route},
    watching::{self, Asked},
};
use crate::{
    faults, log,
    origin::{command::Failure, shell::caught_async},
    refusal::{Refusal, common},
    runtime,
    short::split,
};

/// Not the operator: the same for a token that is missing and one that is wrong.
const INVALID_OPERATOR_TOKEN: Refusal = Refusal::new(
    401,
    "invalid_operator_token",
    "the operator's token is missing or wrong",
);

#[event(fetch)]
async fn fetch(request: Request, env: Env, context: Context) -> worker::Result<Response> {
    let answer = match Visit::new(env, context) {
        Ok(visit) => {
            // Another handle to it; the method of that name would make a second body.
            let sent = Clone::clone(request.inner());
            // What is around a handler may panic, too; what is in it is caught there, to be counted and logged.
            let answered = runtime::caught_async(answer(&visit, request, &sent)).await;
            let answer = answered.unwrap_or_else(|panic| {
                log::error("entry", panic);
                common::INTERNAL_ERROR.into()
            });
            let status = answer.status();
            if status >= 400 && !matches!(sent.method().as_str(), "GET" | "HEAD") {
                body::discard(sent, status).await;
            }
            answer
        }
        Err(error) => {
            log::error("configuration", error);
            unconfigured(&request.inner().url())
        }
    };
    // An answer that the runtime does not take, because of a header that came in with a document, is ours to explain.
    answer.into_response().or_else(|error| {
        log::error("entry", format_args!("the answer was not taken: {error}"));
        Answer::from(common::INTERNAL_ERROR).into_response()
    })
}

/// Every request fails then, and a load balancer is to know it by the one status that it understands.
fn unconfigured(url: &str) -> Answer {
    match Address::parse(url) {
        Some(Address {
            path: routes::HEALTH, ..
        }) => common::UNAVAILABLE.because("the configuration is broken").into(),
        _ => common::INTERNAL_ERROR.into(),
    }
}

async fn answer(visit: &Visit, request: Request, sent: &web_sys::Request) -> Answer {
    let url = sent.url();
    let Some(address) = Address::parse(&url) else {
        return common::NOT_FOUND.into();
    };
    #[cfg(feature = "bench")]
    if address.path == super::bench::REPORT {
        return super::bench::report(visit, request, address.query).await;
    }
    // As it was sent: `worker` takes every method that it does not know for a GET.
    let method = sent.method();
    #[cfg(feature = "faults")]
    if address.path == faults::armed::PATH {
        return faulty(address.query);
    }
    let serves = |interface| visit.isolate.config.serves(address.host, interface);
    let routed = route(&method, address.path, serves);
    let asked = Asked::of(&method, address.path, &routed);
    let is_barred = is_operators(address.path)
        && serves(Interface::Operator)
        && !visit
            .isolate
            .config
            .is_operator(header(&request, "Authorization").as_deref());
    let answer = if is_barred {
        Answer::from(INVALID_OPERATOR_TOKEN).header("WWW-Authenticate", "Bearer")
    } else {
        // A panic is this request's alone, and is told like anything else that broke.
        let handled = caught_async(async {
            faults::pass("edge", address.path);
            let answered = handle(visit, routed, request, &address).await;
            faults::pass("answered", address.path);
            Ok(answered?)
        });
        handled.await.unwrap_or_else(|failure| {
            if let Failure::Broken(cause) = &failure {
                log::error("entry", cause);
            }
            failure.into_answer().into()
        })
    };
    watching::note(visit, &asked, sent, &answer);
    if method == "HEAD" {
        answer.without_body()
    } else {
        answer
    }
}

async fn handle(
    visit: &Visit,
    routed: Routed<'_>,
    request: Request,
    address: &Address<'_>,
) -> Result<Answer, Refusal> {
    let room = match &routed {
        Routed::To(handler, _) if is_operators(address.path) => visit.isolate.rooms.of_operator(*handler),
        _ => None,
    };
    let _place = room.map(|room| room.enter_any(visit.now_ms)).transpose()?;
    match routed {
        Routed::To(Handler::Click, _) => Ok(click::click(visit, &request, address.query).await),
        Routed::To(Handler::Conversion, _) => Ok(conversion::conversion(visit, request, address.query).await),
        Routed::To(Handler::OffersPost, _) => offers::post(visit, request).await,
        Routed::To(Handler::OffersGet, _) => offers::get(visit, request, address.query).await,
        Routed::To(Handler::Report, _) => Ok(reports::report(visit, request).await),
        Routed::To(Handler::Health, _) => Ok(health::health(visit, address.host).await),
        Routed::To(Handler::Describe, _) => {
            Ok(Answer::json(200, openapi::DOCUMENT).header("Cache-Control", openapi::CACHE_CONTROL))
        }
        Routed::To(
            handler @ (Handler::ListReportKeys
            | Handler::CreateReportKey
            | Handler::RevokeReportKey
            | Handler::ListFacts
            | Handler::AddFacts
            | Handler::ReplaceFacts),
            segments,
        ) => ledgers::operate(visit, handler, &segments, request, address.query).await,
        Routed::To(Handler::ListCallbacks, _) => outboxes::callbacks(visit, address.query).await,
        Routed::To(
            handler @ (Handler::ListConversions
            | Handler::ReadConversion
            | Handler::ReplayConversion
            | Handler::ReplayConversions
            | Handler::ReadCallback
            | Handler::EnableCallback
            | Handler::TestCallback
            | Handler::EraseUser),
            segments,
        ) => outboxes::operate(visit, handler, &segments, request, address.query).await,
        Routed::To(handler, segments) => {
            operator::operate(visit, handler, &segments, request, address.query).await
        }
        Routed::Methods(allowed) => Ok(Answer::from(common::METHOD_NOT_ALLOWED).header("Allow", allowed)),
        Routed::Nowhere => Err(common::NOT_FOUND),
    }
}

/// Has a place panic, as a test's query says.
#[cfg(feature = "faults")]
fn faulty(query: &str) -> Answer {
    if query == "look" {
        return Answer::json(200, faults::armed::look().to_string());
    }
    let (mut when, mut what, mut times) = (String::new(), String::new(), 0);
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        match name.as_ref() {
            "when" => when = value.into_owned(),
            "what" => what = value.into_owned(),
            _ => times = value.parse().unwrap_or(0),
        }
    }
    Answer::json(200, faults::armed::set(when, what, times).to_string())
}

/// The parts of a request's URL, which the runtime has parsed already, as they were sent.
pub struct Address<'u> {
    pub host: &'u str,
    pub path: &'u str,
    pub query: &'u str,
}

impl<'u> Address<'u> {
    pub fn parse(url: &'u str) -> Option<Self> {
        let (_, rest) = split(url, b':')?;
        let rest = rest.strip_prefix("//")?;
        let rest = split(rest, b'#').map_or(rest, |(rest, _)| rest);
        let (rest, query) = split(rest, b'?').unwrap_or((rest, ""));
        let slash = rest.bytes().position(|byte| byte == b'/');
        let (authority, path) = rest.split_at_checked(slash.unwrap_or(rest.len()))?;
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        Some(Self { host, path, query })
    }
}
