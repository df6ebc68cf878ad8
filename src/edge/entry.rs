//! The ordinary path: routes every request that the fast path did not answer to its handler.

use futures_util::{
    FutureExt,
    future::{LocalBoxFuture, ready},
};
use worker::{Context, Env, Request, Response, event, web_sys};

use crate::{
    click, conversion, health,
    isolate::RequestContext,
    limits::Pool,
    metrics, offers, origin, reports,
    routes::{Handler, ROUTES},
};
use contract::origin::{
    DAY_CHANGES, DESCRIPTION, OPERATOR_PREFIX, REWARDS, TEST_APPS, TEST_PAGE, USERS_PREFIX, is_console, is_dashboard,
};
use domain::model::{ApiError, common};
use platform::{
    http::{
        Answer,
        address::Address,
        entry,
        request_log::RequestInfo,
        router::{Interface, RouteName, Routed, find},
    },
    log,
};

#[event(fetch)]
async fn fetch(request: Request, env: Env, lifetime: Context) -> worker::Result<Response> {
    match RequestContext::new(env, lifetime) {
        Ok(context) => entry::serve(request, async |request, sent| answer(&context, request, sent).await).await,
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
    #[cfg(feature = "bench")]
    match address.path {
        crate::bench::REPORT => return crate::bench::report(context, request, address.query).await,
        crate::bench::UNCOUNTED => return crate::bench::stop_counting(),
        _ => {}
    }
    #[cfg(feature = "faults")]
    if address.path == platform::faults::armed::PATH {
        return origin::command_faults(context, request, address.query).await;
    }
    let serves = |interface| context.isolate.config.hosts.serves(address.host, interface);
    let is_operators =
        (address.path.starts_with(OPERATOR_PREFIX) || is_console(address.path)) && serves(Interface::Operator);
    let is_dashboards = is_dashboard(address.path) && serves(Interface::Dashboard);
    let is_keyed = (address.path.starts_with(USERS_PREFIX)
        || [REWARDS, DAY_CHANGES, TEST_APPS].contains(&address.path))
        && serves(Interface::Reporting);
    let is_test_page = address.path.starts_with(TEST_PAGE) && serves(Interface::Tracking);
    if is_operators || is_dashboards || is_keyed || is_test_page || address.path == DESCRIPTION {
        // The origin counts and logs this request.
        return entry::handle(Box::pin(origin::pass_on(context, request, address.path))).await;
    }
    // The method as it was sent: `worker` reads an unknown method as GET.
    let method = sent.method();
    let routed = find(ROUTES, &method, address.path, serves);
    let info = RequestInfo::new(&method, &routed, RouteName::None);
    entry::answer(
        &context.isolate.traffic.ordinary,
        &info,
        sent,
        context.now_ms,
        ("edge", address.path),
        handle(context, routed, request, &address),
    )
    .await
}

/// Calls a request's handler. The handlers' futures are trait objects. Otherwise they would be one very large function,
/// which V8 takes more than 10 ms to compile on a cold isolate's first click.
fn handle<'c>(
    context: &'c RequestContext,
    routed: Routed<'_, Handler, Pool>,
    request: Request,
    address: &'c Address<'c>,
) -> LocalBoxFuture<'c, Result<Answer, ApiError>> {
    let method = match entry::require_route(routed) {
        Ok(found) => found.method,
        Err(refusal) => return Box::pin(ready(Ok(*refusal))),
    };
    match method.handler {
        Handler::Click => Box::pin(click::click(context, request, address.query).map(Ok)),
        Handler::Conversion => Box::pin(conversion::conversion(context, request, address.query).map(Ok)),
        Handler::PostOffers => Box::pin(offers::post(context, request)),
        Handler::GetOffers => Box::pin(offers::get(context, request, address.query)),
        Handler::Report => Box::pin(reports::report(context, request).map(Ok)),
        Handler::Health => Box::pin(health::health(context, address.host).map(Ok)),
        Handler::Metrics => {
            let checked = context.isolate.config.hosts.check_operators(address.host);
            Box::pin(ready(checked.map(|()| metrics::metrics(context, &request))))
        }
    }
}
