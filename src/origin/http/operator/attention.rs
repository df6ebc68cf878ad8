//! The operator's list of what wants attention.

use crate::http::{
    calls::{ask, parameter, read_page},
    isolate::RequestContext,
    refusal::Refusal,
};
use contract::{
    attention::{self, ItemPlace, Kind, ListAttention},
    catalog::MAX_PAGE,
};
use domain::model::{AppId, api_error::ApiError, document::INVALID_FIELD};
use platform::http::answer::Answer;

/// `GET …/attention`.
pub async fn list(context: &RequestContext, query: &str) -> Result<Answer, Refusal> {
    let (limit, cursor) = read_page(query, MAX_PAGE)?;
    let list = ListAttention {
        kind: read(
            parameter(query, "kind"),
            Kind::parse,
            "kind: is not a kind of item",
        )?,
        app: read(
            parameter(query, "app_id"),
            AppId::parse,
            "app_id: must be 8 digits",
        )?,
        limit,
        after: read(cursor, ItemPlace::parse, "cursor: must be that of a page")?,
    };
    Ok(ask(context, &attention::address(), list).await)
}

/// A parameter, if it was given.
fn read<T>(
    given: Option<String>,
    parse: impl Fn(&str) -> Option<T>,
    problem: &'static str,
) -> Result<Option<T>, ApiError> {
    given
        .map(|text| parse(&text).ok_or_else(|| INVALID_FIELD.with_message(problem)))
        .transpose()
}
