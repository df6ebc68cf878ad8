//! Parses a query from the body of a request. The order of the checks is that of docs/DECISIONS.md, "Reports", and the
//! first failure is the answer.

use serde_json::{Map, Value};

use super::{
    Column, DEFAULT_COUNT, MAX_COUNT, MAX_ORDER, MAX_PAGE, MAX_SPAN_DAYS, Order, Query, errors::*,
    filters::read_filters,
};
use crate::{
    model::{
        ApiError, UtcDay,
        api_error::common::{INVALID_JSON, MISSING_FIELD},
    },
    reporting::{Dimension, Metric},
};

impl Query {
    /// Parses a body of at most [`super::MAX_BODY`] bytes.
    pub fn parse(body: &str) -> Result<Self, ApiError> {
        let members = match serde_json::from_str(body) {
            Ok(Value::Object(members)) => members,
            Ok(_) => return Err(INVALID_JSON.with_message("the body must be a JSON object")),
            Err(error) => {
                return Err(INVALID_JSON.with_message(format!("the body is not valid JSON: {error}")));
            }
        };
        let dimensions = read_names(
            required(&members, "dimensions", "dimensions")?,
            Dimension::parse,
            &INVALID_DIMENSION,
            &NO_DIMENSION,
        )?;
        let metrics =
            read_names(required(&members, "metrics", "metrics")?, Metric::parse, &INVALID_METRIC, &NO_METRIC)?;

        let range = required(&members, "date_range", "date_range")?.as_object().ok_or(INVALID_START_DATE)?;
        let start = required(range, "start_date", "date_range.start_date")?;
        let start = read_day(start).ok_or(INVALID_START_DATE)?;
        let end = required(range, "end_date", "date_range.end_date")?;
        let end = read_day(end).filter(|end| *end >= start).ok_or(INVALID_END_DATE)?;
        if end.number() - start.number() > MAX_SPAN_DAYS {
            return Err(DATE_RANGE_TOO_LONG);
        }

        if combines_ad_tag(&members, &dimensions, &metrics) {
            return Err(INCOMPATIBLE_DIMENSION_METRIC);
        }
        let filters = match optional(&members, "filters") {
            Some(filters) => read_filters(filters, body)?,
            None => Vec::new(),
        };
        let mut order = match optional(&members, "order_by") {
            Some(order) => read_order(order, &dimensions)?,
            None => Vec::new(),
        };
        if order.is_empty() {
            order = default_order(&dimensions, &metrics);
        }
        let (page, count) = match optional(&members, "pagination") {
            Some(pagination) => read_pagination(pagination)?,
            None => (1, DEFAULT_COUNT),
        };
        Ok(Self { start, end, dimensions, metrics, filters, order, page, count })
    }
}

/// An optional member; `null` counts as missing.
fn optional<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    members.get(name).filter(|value| !value.is_null())
}

fn required<'a>(members: &'a Map<String, Value>, name: &str, path: &str) -> Result<&'a Value, ApiError> {
    optional(members, name).ok_or_else(|| MISSING_FIELD.with_message(format!("{path} is missing")))
}

fn read_names<T: Copy + PartialEq>(
    names: &Value,
    parse: fn(&str) -> Option<T>,
    invalid: &ApiError,
    none: &ApiError,
) -> Result<Vec<T>, ApiError> {
    let names = names.as_array().ok_or_else(|| invalid.clone())?;
    if names.is_empty() {
        return Err(none.clone());
    }
    let mut read = Vec::new();
    for name in names {
        let name = name.as_str().and_then(parse).ok_or_else(|| invalid.clone())?;
        if !read.contains(&name) {
            read.push(name);
        }
    }
    Ok(read)
}

fn read_day(day: &Value) -> Option<UtcDay> {
    UtcDay::parse(day.as_str()?)
}

/// True if the query combines ad_tag (as a dimension, a filter or an order column) with a metric (requested or ordered
/// by) that is not counted by ad tag. This check precedes the checks of filters and order, so it ignores faults in
/// them.
fn combines_ad_tag(members: &Map<String, Value>, dimensions: &[Dimension], metrics: &[Metric]) -> bool {
    let list_names = |list: &str, member: &str, name: &str| {
        let items = members.get(list).and_then(Value::as_array);
        items.into_iter().flatten().any(|item| item.get(member).and_then(Value::as_str) == Some(name))
    };
    let ad_tag = Dimension::AdTag.as_str();
    (dimensions.contains(&Dimension::AdTag)
        || list_names("filters", "dimension", ad_tag)
        || list_names("order_by", "column", ad_tag))
        && Metric::ALL
            .into_iter()
            .filter(|metric| !metric.has_ad_tag())
            .any(|metric| metrics.contains(&metric) || list_names("order_by", "column", metric.as_str()))
}

fn read_order(order: &Value, dimensions: &[Dimension]) -> Result<Vec<Order>, ApiError> {
    let mut read: Vec<Order> = Vec::new();
    let items = list(order, "order_by", MAX_ORDER, &INVALID_ORDER_BY)?;
    for (index, item) in items.iter().enumerate() {
        let path = format!("order_by[{index}]");
        let members = object(item, &path, &["column", "ascending"], &INVALID_ORDER_BY)?;
        let fault = |fault: &str| INVALID_ORDER_BY.with_message(format!("{path}{fault}"));
        let column = members
            .get("column")
            .ok_or_else(|| fault(".column is missing"))?
            .as_str()
            .and_then(|name| read_column(name, dimensions))
            .ok_or_else(|| fault(".column must be a metric or a requested dimension"))?;
        let ascending = members
            .get("ascending")
            .ok_or_else(|| fault(".ascending is missing"))?
            .as_bool()
            .ok_or_else(|| fault(".ascending must be true or false"))?;
        // A repeated column cannot change the order.
        if read.iter().all(|order| order.column != column) {
            read.push(Order { column, ascending });
        }
    }
    Ok(read)
}

fn read_column(name: &str, dimensions: &[Dimension]) -> Option<Column> {
    match Metric::parse(name) {
        Some(metric) => Some(Column::Metric(metric)),
        None => Dimension::parse(name).filter(|dimension| dimensions.contains(dimension)).map(Column::Dimension),
    }
}

fn default_order(dimensions: &[Dimension], metrics: &[Metric]) -> Vec<Order> {
    let by_date = dimensions.contains(&Dimension::Date);
    let column =
        if by_date { Some(Column::Dimension(Dimension::Date)) } else { metrics.first().copied().map(Column::Metric) };
    let order = |column| Order { column, ascending: by_date };
    column.map(order).into_iter().collect()
}

fn read_pagination(pagination: &Value) -> Result<(u64, u32), ApiError> {
    let members = object(pagination, "pagination", &["page", "count"], &INVALID_PAGINATION)?;
    let read = |name, default, max| match members.get(name).map(Value::as_u64) {
        None => Ok(default),
        Some(Some(number)) if (1..=max).contains(&number) => Ok(number),
        Some(_) => {
            Err(INVALID_PAGINATION.with_message(format!("pagination.{name} must be an integer from 1 to {max}")))
        }
    };
    let page = read("page", 1, MAX_PAGE)?;
    let count = read("count", u64::from(DEFAULT_COUNT), u64::from(MAX_COUNT))?;
    Ok((page, u32::try_from(count).unwrap_or(MAX_COUNT)))
}
