//! `GET /healthz` of the origin Worker.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::{http::RequestContext, objects::catalog::revisions::OLD_SEALS};
use contract::{
    catalog::{COMMAND_PATH, ReadHealth, address},
    operation::CallError,
};
use platform::{
    ObjectCall,
    http::{Answer, entry},
};

/// The timeout of a health probe of the catalog.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns 200 while the operator's token is configured and the catalog answers, and otherwise 503.
pub async fn health(context: &RequestContext) -> Answer {
    let reply = context.workers.call(&address(COMMAND_PATH), ReadHealth {}, PROBE_TIMEOUT).await;
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
    let known = reply.ok().and_then(|reply| serde_json::from_str(&reply.body).ok());
    let known: Map<String, Value> = known.unwrap_or_default();
    body.extend(known.into_iter().filter(|(name, _)| name == OLD_SEALS));
    body.insert("interfaces".into(), interfaces.into());
    entry::health(body, why)
}
