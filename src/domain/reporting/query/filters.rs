//! Reads the filters of a query. docs/SPEC.md, "Report query".

use std::collections::BTreeMap;

use serde_json::{Value, value::RawValue};

use super::{
    Filter, MAX_FILTERS, MAX_VALUES,
    errors::{INVALID_DIMENSION, INVALID_FILTER, list, object},
};
use crate::{model::ApiError, reporting::Dimension};

/// Reads `filters`, the body's member of that name. Two filters on one dimension are intersected.
pub(super) fn read_filters(filters: &Value, body: &str) -> Result<Vec<Filter>, ApiError> {
    let mut read: Vec<Filter> = Vec::new();
    let items = list(filters, "filters", MAX_FILTERS, &INVALID_FILTER)?;
    let raw = raw_filters(body).unwrap_or_default();
    for (index, item) in items.iter().enumerate() {
        let filter = read_filter(item, &format!("filters[{index}]"), raw.get(index).copied())?;
        match read.iter_mut().find(|other| other.dimension == filter.dimension) {
            Some(same) => same.values.retain(|value| filter.values.binary_search(value).is_ok()),
            None => read.push(filter),
        }
    }
    Ok(read)
}

fn read_filter(filter: &Value, path: &str, raw: Option<&RawValue>) -> Result<Filter, ApiError> {
    let members = object(filter, path, &["dimension", "values"], &INVALID_FILTER)?;
    let fault = |fault: &str| INVALID_FILTER.with_message(format!("{path}{fault}"));
    let dimension = members
        .get("dimension")
        .ok_or_else(|| fault(".dimension is missing"))?
        .as_str()
        .and_then(Dimension::parse)
        .ok_or(INVALID_DIMENSION)?;
    let values = members.get("values").ok_or_else(|| fault(".values is missing"))?;
    let path = format!("{path}.values");
    let items = list(values, &path, MAX_VALUES, &INVALID_FILTER)?;
    let mut values = Vec::new();
    let mut numbers = None;
    for (index, item) in items.iter().enumerate() {
        let mut value = match item {
            Value::String(text) => text.clone(),
            Value::Number(number) => numbers
                .get_or_insert_with(|| raw.and_then(raw_values).unwrap_or_default())
                .get(index)
                .map_or_else(|| number.to_string(), |raw| raw.get().to_owned()),
            _ => {
                let message = format!("{path}[{index}] must be a string or a number");
                return Err(INVALID_FILTER.with_message(message));
            }
        };
        if dimension == Dimension::Country {
            value.make_ascii_uppercase();
        }
        values.push(value);
    }
    if values.is_empty() {
        return Err(INVALID_FILTER.with_message(format!("{path} must not be empty")));
    }
    values.sort_unstable();
    values.dedup();
    Ok(Filter { dimension, values })
}

/// The text of each filter. A number is kept as it is written: an SDK's version may be 7.10, which a [`Value`] would
/// change to 7.1. So the filters are parsed twice. If a member is repeated, both passes take the last value.
fn raw_filters(body: &str) -> Option<Vec<&RawValue>> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(body).ok()?;
    serde_json::from_str(members.get("filters")?.get()).ok()
}

fn raw_values(filter: &RawValue) -> Option<Vec<&RawValue>> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(filter.get()).ok()?;
    serde_json::from_str(members.get("values")?.get()).ok()
}
