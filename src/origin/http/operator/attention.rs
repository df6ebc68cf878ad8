//! The operator's list of what wants attention.

use serde_json::Value;

use crate::http::{
    HandlerResult, RequestContext,
    calls::{ask, ask_catalog, parameter, parse, read_page, read_reply, segment},
};
use contract::{
    attention::{self, EndItem, ItemPlace, Kind, ListAttention},
    catalog::{CountWaiting, MAX_PAGE},
    operation::OperatorReply,
};
use domain::model::{AppId, common};

/// `GET …/attention`.
pub async fn list(context: &RequestContext, query: &str) -> HandlerResult {
    let (limit, cursor) = read_page(query, MAX_PAGE)?;
    let list = ListAttention {
        kind: parse(
            parameter(query, "kind"),
            Kind::parse,
            "kind: is not a kind of item",
        )?,
        app: parse(
            parameter(query, "app_id"),
            AppId::parse,
            "app_id: must be 8 digits",
        )?,
        limit,
        after: parse(cursor, ItemPlace::parse, "cursor: must be that of a page")?,
    };
    let mut page: Value = read_reply(&context.call(&attention::address(), list).await?)?;
    // Without the catalog, the list is there all the same.
    let waiting: Option<Value> = ask_catalog(context, CountWaiting {}).await.ok();
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
