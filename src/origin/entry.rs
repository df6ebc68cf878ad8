//! The origin Worker's entry: the operator's interface, its description, and health.

use std::{cell::RefCell, rc::Rc, time::Duration};

use serde_json::Map;
use worker::{Context, Env, Request, Response, event, web_sys};

use crate::{
    config::Config,
    limits::{Pool, Pools},
    operator,
    routes::{self, Handler, ROUTES},
};
use contract::{
    catalog::{COMMAND_PATH, Get, Resource, address},
    operation::CallError,
};
use domain::model::api_error::{ApiError, common};
use platform::{
    faults,
    http::{
        address::Address,
        answer::Answer,
        body::header,
        entry,
        request_log::{self, RequestInfo},
        router::{Interface, RouteName, Routed, find},
        traffic::Traffic,
    },
    log, runtime,
    traits::ObjectCall,
    workers::Workers,
};

/// The timeout of a health probe of the catalog.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The state of an isolate of the origin Worker, apart from its objects.
pub struct Isolate {
    config: Config,
    pub pools: Pools,
    pub traffic: Traffic,
}

thread_local! {
    static ISOLATE: RefCell<Option<Rc<Isolate>>> = const { RefCell::new(None) };
}

impl Isolate {
    fn current(workers: &Workers) -> Result<Rc<Self>, String> {
        if let Some(isolate) = ISOLATE.with_borrow(Clone::clone) {
            return Ok(isolate);
        }
        let isolate = Rc::new(Self {
            config: Config::read(|name| workers.setting(name))?,
            pools: Pools::default(),
            traffic: Traffic::default(),
        });
        ISOLATE.set(Some(Rc::clone(&isolate)));
        Ok(isolate)
    }
}

/// One request's bindings, the isolate, and the time it arrived.
pub struct RequestContext {
    pub workers: Workers,
    pub isolate: Rc<Isolate>,
    pub now_ms: i64,
}

#[event(fetch)]
async fn fetch(request: Request, env: Env, _context: Context) -> worker::Result<Response> {
    let workers = Workers::new(env);
    let isolate = match Isolate::current(&workers) {
        Ok(isolate) => isolate,
        Err(error) => {
            log::error("configuration", error);
            return entry::respond(entry::unconfigured(&request.inner().url()));
        }
    };
    let context = RequestContext {
        workers,
        isolate,
        now_ms: runtime::now_ms(),
    };
    entry::serve(request, async |request, sent| {
        answer(&context, request, sent).await
    })
    .await
}

async fn answer(context: &RequestContext, request: Request, sent: &web_sys::Request) -> Answer {
    let url = sent.url();
    let Some(address) = Address::parse(&url) else {
        return common::NOT_FOUND.into();
    };
    #[cfg(feature = "faults")]
    if address.path == faults::armed::PATH {
        return Answer::json(200, faults::armed::command(address.query).to_string());
    }
    // Read the method from the raw request: `worker` reports unknown methods as GET.
    let method = sent.method();
    let config = &context.isolate.config;
    let serves = |interface| config.hosts.serves(address.host, interface);
    let routed = find(ROUTES, &method, address.path, serves);
    let is_operators = address.path.starts_with(routes::OPERATOR);
    let unrouted = if is_operators {
        RouteName::Operator
    } else {
        RouteName::None
    };
    let info = RequestInfo::new(&method, &routed, unrouted);
    let is_barred = is_operators
        && serves(Interface::Operator)
        && !config
            .operator_token
            .authorizes(header(&request, "Authorization").as_deref());
    let answer = if is_barred {
        entry::unauthorized()
    } else {
        entry::handle(async {
            faults::pass("origin", address.path);
            let answered = handle(context, routed, request, &address).await;
            faults::pass("answered", address.path);
            answered
        })
        .await
    };
    request_log::note(&context.isolate.traffic, &info, sent, &answer, context.now_ms);
    if method == "HEAD" {
        answer.without_body()
    } else {
        answer
    }
}

async fn handle(
    context: &RequestContext,
    routed: Routed<'_, Handler, Pool>,
    request: Request,
    address: &Address<'_>,
) -> Result<Answer, ApiError> {
    let (endpoint, segments) = match routed {
        Routed::To {
            endpoint, segments, ..
        } => (endpoint, segments),
        Routed::Methods(allowed) => {
            return Ok(Answer::from(common::METHOD_NOT_ALLOWED).header("Allow", allowed));
        }
        Routed::Nowhere => return Err(common::NOT_FOUND),
    };
    let pool = endpoint.pool.map(|pool| context.isolate.pools.of(pool));
    let _permit = pool.map(|pool| pool.acquire_any(context.now_ms)).transpose()?;
    match endpoint.handler {
        Handler::Health => Ok(health(context).await),
        Handler::Describe => Ok(operator::describe()),
        handler => operator::call(context, handler, &segments, request, address.query).await,
    }
}

/// `GET /healthz`: healthy while the operator's token is configured and the catalog answers.
async fn health(context: &RequestContext) -> Answer {
    let nothing = Get {
        resource: Resource::Publisher,
        id: "-".into(),
    };
    let reply = context
        .workers
        .call(&address(COMMAND_PATH), nothing, PROBE_TIMEOUT)
        .await;
    let why = if !context.isolate.config.operator_token.is_set() {
        Some("no_operator_token")
    } else if !CallError::was_answered(&reply) {
        Some("catalog_unreachable")
    } else {
        None
    };
    let mut operator = Map::new();
    operator.insert("served".into(), why.is_none().into());
    operator.extend(why.map(|why| ("why".to_owned(), why.into())));
    let mut interfaces = Map::new();
    interfaces.insert("operator".into(), operator.into());
    let mut body = Map::new();
    body.insert("interfaces".into(), interfaces.into());
    entry::health(body, why)
}
