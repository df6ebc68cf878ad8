//! The operator's list of what wants attention.

use crate::http::{
    HandlerResult, RequestContext,
    calls::{ask, parameter, parse, read_page, segment},
};
use contract::{
    attention::{self, EndItem, ItemPlace, Kind, ListAttention},
    catalog::MAX_PAGE,
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
    Ok(ask(context, &attention::address(), list).await)
}

/// `DELETE …/attention/{item_id}`.
pub async fn end(context: &RequestContext, segments: &[&str]) -> HandlerResult {
    let place = ItemPlace::parse(&segment(segments, 0)).ok_or(common::NOT_FOUND)?;
    Ok(ask(context, &attention::address(), EndItem { place }).await)
}
