//! The errors of a query, and the checks of shape that several members share. The messages are those of docs/SPEC.md,
//! "Errors".

use serde_json::{Map, Value};

use crate::model::ApiError;

pub const INVALID_DIMENSION: ApiError = ApiError::new(400, "invalid_dimension", "invalid dimension selected");
pub const NO_DIMENSION: ApiError = ApiError::new(400, "invalid_dimension", "at least one dimension is required");
pub const INVALID_METRIC: ApiError = ApiError::new(400, "invalid_metric", "invalid metric selected");
pub const NO_METRIC: ApiError = ApiError::new(400, "invalid_metric", "at least one metric is required");
pub const INVALID_START_DATE: ApiError = ApiError::new(400, "invalid_start_date", "invalid daterange from");
pub const INVALID_END_DATE: ApiError = ApiError::new(400, "invalid_end_date", "invalid daterange to");
pub const DATE_RANGE_TOO_LONG: ApiError =
    ApiError::new(400, "date_range_too_long", "Time period must be less than or equal to 90 days");
pub const INCOMPATIBLE_DIMENSION_METRIC: ApiError = ApiError::new(
    400,
    "incompatible_dimension_metric",
    "ad_tag cannot be combined with ad_requests, ad_responses, fill_rate or show_rate",
);
pub const INVALID_FILTER: ApiError = ApiError::new(400, "invalid_filter", "filters is not a list of filters");
pub const INVALID_ORDER_BY: ApiError = ApiError::new(400, "invalid_order_by", "order_by is not a list of columns");
/// The answer to a wrong `pagination`. Its message names the member.
pub const INVALID_PAGINATION: ApiError =
    ApiError::new(400, "invalid_pagination", "pagination is not an object with page and count");

/// Returns the items of an array of at most `max` items.
pub(super) fn list<'a>(value: &'a Value, path: &str, max: usize, error: &ApiError) -> Result<&'a [Value], ApiError> {
    let items = value.as_array().ok_or_else(|| error.with_message(format!("{path} must be an array")))?;
    if items.len() > max {
        return Err(error.with_message(format!("{path} must be at most {max} items")));
    }
    Ok(items)
}

/// Returns the members of an object. Refuses unknown members, because a mistyped member would silently change numbers.
pub(super) fn object<'a>(
    value: &'a Value,
    path: &str,
    known: &[&str],
    error: &ApiError,
) -> Result<&'a Map<String, Value>, ApiError> {
    let members = value.as_object().ok_or_else(|| error.with_message(format!("{path} must be an object")))?;
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(error.with_message(format!("{path}.{name} is unknown"))),
        None => Ok(members),
    }
}
