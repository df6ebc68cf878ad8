//! The origin Worker's entry: routes a request, and checks the operator's token and the concurrency limit.

use worker::{Context, Env, Request, Response, event, web_sys};

use crate::http::{
    Refusal, RequestContext, console, dashboard, day_changes, health,
    limits::Pool,
    operator, rewards,
    routes::{self, Handler, KeyedCall, OperatorCall, TestPageCall, routes},
    site::{self, Call},
    test_apps, test_page, users,
};
use contract::origin::{is_console, is_dashboard};
use domain::{
    accounts::account::AccountKind,
    model::{ApiError, common},
};
use platform::{
    Random,
    http::{
        Answer,
        address::Address,
        entry, header,
        hosts::BearerToken,
        request_log::{self, RequestInfo},
        router::{Interface, Method, RouteMatch, RouteName, Routed, find},
    },
    isolate_metrics, log, log_panics,
};

#[event(fetch)]
async fn fetch(request: Request, env: Env, lifetime: Context) -> worker::Result<Response> {
    match RequestContext::new(env) {
        Ok(context) => {
            if let Some(figures) = isolate_metrics::due(context.now_ms) {
                let workers = context.workers.clone();
                lifetime.wait_until(log_panics("attention", async move {
                    isolate_metrics::tell(&workers, figures).await;
                }));
            }
            entry::serve(request, async |request, sent| answer(&context, request, sent).await).await
        }
        Err(error) => {
            log::error("configuration", error);
            entry::respond(entry::unconfigured(&request.inner().url()))
        }
    }
}

async fn answer(context: &RequestContext, request: Request, sent: &web_sys::Request) -> Answer {
    let url = sent.url();
    let Some(address) = Address::parse(&url) else {
        return common::NOT_FOUND.into();
    };
    #[cfg(feature = "faults")]
    if address.path == platform::faults::armed::PATH {
        return Answer::json(200, platform::faults::armed::command(address.query).to_string());
    }
    // The method as it was sent: `worker` reads an unknown method as GET.
    let method = sent.method();
    let config = &context.isolate.config;
    let serves = |interface| config.hosts.serves(address.host, interface);
    let routed = find(routes(), &method, address.path, serves);
    let is_operators = address.path.starts_with(routes::OPERATOR);
    let unrouted = if is_operators {
        RouteName::Operator
    } else if is_dashboard(address.path) {
        RouteName::Dashboard
    } else if is_console(address.path) {
        RouteName::Console
    } else {
        RouteName::None
    };
    let is_operators = is_operators && serves(Interface::Operator);
    let is_visited = is_operators && console::is_visited(context, &request);
    let is_page = is_dashboard(address.path) || is_console(address.path) || is_visited;
    let id = if is_page && matches!(routed, Routed::Found(_)) { request_id(context, sent) } else { None };
    let info = RequestInfo::new(&method, &routed, unrouted).with_id(id.clone());
    let is_scrape = matches!(
        &routed,
        Routed::Found(found) if matches!(found.method.handler, Handler::Operator(OperatorCall::Metrics, _))
    );
    let is_barred = is_operators && !is_visited && {
        let authorization = header(&request, "Authorization");
        let is_authorized = |token: &BearerToken| token.authorizes(authorization.as_deref());
        !is_authorized(&config.operator_token) && !(is_scrape && is_authorized(&config.metrics_token))
    };
    let handler = async {
        if is_operators {
            config.hosts.check_operators(address.host)?;
        }
        if is_barred { Ok(entry::unauthorized()) } else { handle(context, routed, request, &address, is_visited).await }
    };
    let names = ("origin", address.path);
    let answer = entry::answer(&context.isolate.traffic, &info, sent, context.now_ms, names, handler).await;
    match id {
        Some(id) => answer.header("X-Request-Id", id),
        None => answer,
    }
}

/// Returns the request's id, which pages show and the log records: Cloudflare's ray id, or a random id of the same
/// length.
fn request_id(context: &RequestContext, sent: &web_sys::Request) -> Option<String> {
    request_log::ray(sent).or_else(|| {
        let random = context.workers.random().ok()?;
        Some(hex::encode(random.first_chunk::<8>()?))
    })
}

async fn handle(
    context: &RequestContext,
    routed: Routed<'_, Handler, Pool>,
    request: Request,
    address: &Address<'_>,
    is_visited: bool,
) -> Result<Answer, ApiError> {
    let RouteMatch { method, segments, .. } = match entry::require_route(routed) {
        Ok(found) => found,
        Err(refusal) => return Ok(*refusal),
    };
    // A console call takes its permit later, once its session is known.
    let pool = method.pool.filter(|_| !is_visited);
    let pool = pool.map(|pool| context.isolate.pools.get(pool));
    let _permit = pool.map(|pool| pool.acquire_any(context.now_ms)).transpose()?;
    let site_call = |kind, request| Call {
        context,
        kind,
        segments: &segments,
        address,
        is_write: !matches!(method.method, Method::Get | Method::Head),
        request,
    };
    match method.handler {
        Handler::Health => Ok(health::health(context).await.header("Cache-Control", "no-store")),
        Handler::Describe => Ok(operator::describe()),
        Handler::Dashboard(call) => Ok(dashboard::call(call, site_call(AccountKind::Publisher, request)).await),
        Handler::Console(call) => Ok(site::call(call, site_call(AccountKind::Operator, request)).await),
        Handler::Keyed(KeyedCall::User(call)) => Ok(users::call(context, call, request).await),
        Handler::Keyed(KeyedCall::ReadRewards) => Ok(rewards::read(context, &request, address.query).await),
        Handler::Keyed(KeyedCall::ListDayChanges) => Ok(day_changes::read(context, &request, address.query).await),
        Handler::Keyed(KeyedCall::PutTestApp) => Ok(test_apps::call(context, request).await),
        Handler::TestPage(call) => {
            let answered = match call {
                TestPageCall::Show => test_page::show(context, &request, address.query).await,
                TestPageCall::Report => test_page::report(context, request).await,
                TestPageCall::Icon => Ok(test_page::icon()),
            };
            Ok(answered.unwrap_or_else(Refusal::into_answer))
        }
        Handler::Operator(call, access) if is_visited => {
            let request = site_call(AccountKind::Operator, request);
            let answered = console::operate(call, access, method.pool, request).await;
            Ok(site::guarded(context, AccountKind::Operator, answered))
        }
        Handler::Operator(call, _) => {
            let answered = operator::call(context, call, None, &segments, request, address.query).await;
            Ok(answered.unwrap_or_else(Refusal::into_answer))
        }
    }
}
