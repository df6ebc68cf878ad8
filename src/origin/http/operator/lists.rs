//! Lists of publishers, apps, advertisers and offers, with or without conditions.

use serde_json::Value;

use super::{ask, parameter, parse, read_page, read_reply};
use crate::http::{HandlerResult, RequestContext, calls::until_found};
use contract::{
    catalog::{COMMAND_PATH, List, ListFilter, MAX_PAGE, Resource, address},
    operation::OperatorReply,
};
use domain::model::{ApiError, FieldError, ID_RULE, INVALID_FIELD, OfferState, OfferType};
use platform::runtime::now_ms;

/// The time after which a search returns the resources found so far, in milliseconds.
const FILL_MS: i64 = 1_000;
/// The size in bytes from which a page counts as full.
const FULL_BYTES: usize = 1 << 20;
/// Maximum length of a search text, in characters.
const MAX_TEXT: usize = 200;

/// `GET …/publishers`, `…/apps`, `…/advertisers` and `…/offers`.
pub async fn list(context: &RequestContext, resource: Resource, query: &str) -> HandlerResult {
    let (limit, cursor) = read_page(query, MAX_PAGE)?;
    let owner = owner(resource, query)?;
    let by_name = choice(query, "sort", |text| match text {
        "id" => Some(false),
        "name" => Some(true),
        _ => None,
    })?;
    let list = List {
        resource,
        limit,
        cursor: cursor.filter(|cursor| !cursor.is_empty()),
        // The list of one owner is always ordered by id.
        by_name: by_name.unwrap_or_default() && owner.is_none(),
        owner,
        filter: filter(resource, query)?,
    };
    if list.filter.is_empty() {
        return Ok(ask(context, &address(COMMAND_PATH), list).await);
    }
    search(context, list).await
}

/// Asks the catalog repeatedly until the page is full. After `FILL_MS`, a page with at least one resource is returned.
async fn search(context: &RequestContext, mut list: List) -> HandlerResult {
    let limit = list.limit as usize;
    let started_ms = now_ms();
    let (mut found, mut bytes) = (Vec::new(), 0);
    until_found(async || {
        let reply = context.call(&address(COMMAND_PATH), list.clone()).await?;
        let mut page: Value = read_reply(&reply)?;
        bytes += reply.body.len();
        list.cursor = page.get("cursor").and_then(Value::as_str).map(str::to_owned);
        if let Some(items) = page.get_mut(list.resource.plural()).and_then(Value::as_array_mut) {
            found.append(items);
        }
        let has_all = list.cursor.is_none() || found.len() >= limit || bytes >= FULL_BYTES;
        let took_ms = now_ms() - started_ms;
        if has_all || (!found.is_empty() && took_ms >= FILL_MS) {
            let body = serde_json::json!({ list.resource.plural(): found, "cursor": list.cursor });
            return Ok(Some(OperatorReply::ok(&body).into()));
        }
        list.limit = u32::try_from(limit - found.len()).unwrap_or(1);
        Ok(None)
    })
    .await
}

/// Returns the publisher whose apps are listed, or the advertiser whose offers are listed. `None` lists all.
fn owner(resource: Resource, query: &str) -> Result<Option<String>, FieldError> {
    let (owner, name) = match resource {
        Resource::App => (Resource::Publisher, "publisher_id"),
        Resource::Offer => (Resource::Advertiser, "advertiser_id"),
        Resource::Publisher | Resource::Advertiser => return Ok(None),
    };
    let id = parameter(query, name);
    if id.as_deref().is_some_and(|id| !owner.is_id(id)) {
        return Err(FieldError::new(name, ID_RULE));
    }
    Ok(id)
}

fn filter(resource: Resource, query: &str) -> Result<ListFilter, ApiError> {
    let text = parameter(query, "q");
    let length = text.as_deref().map_or(1, |text| text.chars().count());
    if !(1..=MAX_TEXT).contains(&length) {
        return Err(INVALID_FIELD.with_message(format!("q: must have 1 to {MAX_TEXT} characters")));
    }
    let mut filter = ListFilter { text, ..ListFilter::default() };
    match resource {
        Resource::Publisher => filter.approved = choice(query, "approved", |text| text.parse().ok())?,
        Resource::Offer => {
            filter.off_type = choice(query, "off_type", OfferType::parse)?;
            filter.offer_state = choice(query, "state", OfferState::parse)?;
        }
        Resource::App | Resource::Advertiser => {}
    }
    Ok(filter)
}

/// Parses a parameter that has one of a few values.
fn choice<T>(query: &str, name: &str, value: impl Fn(&str) -> Option<T>) -> Result<Option<T>, ApiError> {
    let problem = format!("{name}: has an unknown value");
    parse(parameter(query, name), value, problem)
}
