//! The operator's list of items that need attention.

use futures_util::future::join;
use serde_json::Value;

use crate::http::{
    HandlerResult, RequestContext,
    calls::{SPARE_TIMEOUT, ask, parameter, parse, read_page, read_reply, segment},
};
use contract::{
    attention::{self, EndItem, ItemPlace, Kind, ListAttention},
    catalog::{self, COMMAND_PATH, CountWaiting, MAX_PAGE},
    operation::OperatorReply,
};
use domain::model::{AppId, common};
use platform::ObjectCall;

/// `GET …/attention`.
pub async fn list(context: &RequestContext, query: &str) -> HandlerResult {
    let (limit, cursor) = read_page(query, MAX_PAGE)?;
    let list = ListAttention {
        kind: parse(
            parameter(query, "kind"),
            Kind::parse,
            "kind: must be a kind of open item, as in the counts of an answer without kind",
        )?,
        app: parse(parameter(query, "app_id"), AppId::parse, "app_id: must be 8 digits")?,
        limit,
        after: parse(cursor, ItemPlace::parse, "cursor: must be the cursor of an earlier page")?,
    };
    let catalog = catalog::address(COMMAND_PATH);
    let (page, waiting) =
        join(context.call(&attention::address(), list), context.workers.call(&catalog, CountWaiting {}, SPARE_TIMEOUT))
            .await;
    let mut page: Value = read_reply(&page?)?;
    // If the catalog does not answer, `waiting` is null.
    let waiting: Option<Value> = waiting.ok().and_then(|reply| read_reply(&reply).ok());
    if let Some(members) = page.as_object_mut() {
        members.insert("waiting".into(), waiting.unwrap_or_default());
    }
    Ok(OperatorReply::ok(&page).into())
}

/// `DELETE …/attention/{item_id}`.
pub async fn end(context: &RequestContext, segments: &[&str]) -> HandlerResult {
    let place = ItemPlace::parse(&segment(segments, 0)).ok_or(common::NOT_FOUND)?;
    Ok(ask(context, &attention::address(), EndItem { place }).await)
}
