//! The state of the service for the console's page: the catalog's figures, this isolate's shed requests, and the
//! figures that isolates and outboxes reported.

use futures_util::join;
use serde_json::{Map, Value, json};

use crate::http::RequestContext;
use contract::{
    attention,
    catalog::{COMMAND_PATH, GetStatus, address},
    isolates::ReadIsolateMetrics,
    operation::{CallError, OperatorReply},
};
use platform::{http::Answer, log};

/// `GET /v1/operator/service`. If an object does not answer, its part is `null`, and the other parts are shown.
pub async fn read(context: &RequestContext) -> Answer {
    let (catalog, attention) = (address(COMMAND_PATH), attention::address());
    let (status, reported) =
        join!(context.call(&catalog, GetStatus {}), context.call(&attention, ReadIsolateMetrics {}),);
    let (catalog, reported) = (body_of(status), body_of(reported));
    let pools: Vec<_> = context
        .isolate
        .pools
        .each()
        .map(|(name, pool)| {
            json!({
                "name": name,
                "in_use": pool.in_use(),
                "permits": pool.limit().permits,
                "refused": pool.rejected(),
            })
        })
        .collect();
    let body = json!({ "catalog": catalog, "pools": pools, "reported": reported, "now_ms": context.now_ms });
    OperatorReply::ok(&body).into()
}

fn body_of(answered: Result<OperatorReply, CallError>) -> Option<Map<String, Value>> {
    let reply = answered.inspect_err(|error| log::error("operator", error)).ok()?;
    serde_json::from_str(&reply.body).ok()
}
