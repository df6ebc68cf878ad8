//! The state of the service for the console's page: the catalog's figures, and what this isolate sheds.

use serde_json::{Map, Value, json};

use super::TIMEOUT;
use crate::isolate::RequestContext;
use contract::{
    catalog::{COMMAND_PATH, GetStatus, address},
    operation::Reply,
};
use platform::{http::answer::Answer, log, traits::ObjectCall};

/// `GET /v1/operator/service`. Without the catalog the rest is there.
pub async fn read(context: &RequestContext) -> Answer {
    let status = context
        .workers
        .call(&address(COMMAND_PATH), GetStatus {}, TIMEOUT)
        .await;
    let catalog: Option<Map<String, Value>> = status
        .inspect_err(|error| log::error("operator", error))
        .ok()
        .and_then(|reply| serde_json::from_str(&reply.body).ok());
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
    let body = json!({ "catalog": catalog, "pools": pools, "now_ms": context.now_ms });
    Reply::ok(&body).into()
}
