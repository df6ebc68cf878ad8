//! Parses the offers request (docs/SPEC.md, "Offers request") from the body of a POST, or from the query of the
//! equivalent GET. The result is canonical: requests for the same offers are equal, and so are their keys in the page
//! cache.

use std::collections::BinaryHeap;

use serde_json::{Map, Value};

use crate::model::{
    ApiError, Country, OfferId, OfferType, Platform,
    api_error::common::{INVALID_JSON, MISSING_FIELD},
};

/// Maximum length of a body, in bytes.
pub const MAX_BODY: usize = 65_536;
/// Maximum offers on a page.
pub const MAX_SIZE: u32 = 1_000;
/// Maximum filters in a request.
pub const MAX_FILTERS: usize = 64;
/// Maximum values in a filter.
pub const MAX_VALUES: usize = 1_000;

/// The answer to a `page` that is not a positive integer.
pub const INVALID_PAGE: ApiError = ApiError::new(400, "invalid_page", "page must be an integer from 1 to 4294967295");
/// The answer to a `size` that is not from 1 to [`MAX_SIZE`].
pub const INVALID_SIZE: ApiError = ApiError::new(400, "invalid_size", "size must be an integer from 1 to 1000");
/// The answer to an invalid `filt`. Its message names the place in `filt`.
pub const INVALID_FILTER: ApiError = ApiError::new(400, "invalid_filter", "filt is not a list of filters");

/// A valid request in canonical form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OffersRequest {
    /// From 1.
    pub page: u32,
    /// From 1 to [`MAX_SIZE`].
    pub size: u32,
    /// An offer must pass all filters. Sorted and without duplicates.
    pub filters: Vec<Filter>,
}

/// A filter. An offer passes if it has one of the values; `exact` is a filter with one value. Values are sorted and
/// without duplicates.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Filter {
    /// `offer_type`.
    OfferType(Vec<OfferType>),
    /// `platform`.
    Platform(Vec<Platform>),
    /// `country`, by the offer's targeted countries.
    Country(Vec<Country>),
    /// `offer_id`. May be empty, because texts that cannot be an offer's id are dropped.
    OfferId(Vec<OfferId>),
}

impl OffersRequest {
    /// Parses a query or a body.
    pub fn parse(text: &str, is_query: bool) -> Result<Self, ApiError> {
        if is_query { Self::from_query(text) } else { Self::from_body(text) }
    }

    /// Parses the body of a POST.
    pub fn from_body(body: &str) -> Result<Self, ApiError> {
        let Value::Object(members) = parse_json(body, "the body")? else {
            return Err(INVALID_JSON.with_message("the body must be a JSON object"));
        };
        Self::from_members(members.get("page"), members.get("size"), members.get("filt"))
    }

    /// Parses the query of a GET, without its `?`: `page`, `size`, and in `filt` the same JSON, URL-encoded.
    pub fn from_query(query: &str) -> Result<Self, ApiError> {
        let page = only_parameter(query, "page").map_err(|fault| INVALID_PAGE.with_message(fault))?;
        let size = only_parameter(query, "size").map_err(|fault| INVALID_SIZE.with_message(fault))?;
        let filt = only_parameter(query, "filt").map_err(|fault| INVALID_FILTER.with_message(fault))?;
        let filt = filt.filter(|json| !json.is_empty()).map(|json| parse_json(&json, "filt")).transpose()?;
        Self::from_members(page.map(digits).as_ref(), size.map(digits).as_ref(), filt.as_ref())
    }

    fn from_members(page: Option<&Value>, size: Option<&Value>, filt: Option<&Value>) -> Result<Self, ApiError> {
        let page = page.ok_or_else(|| MISSING_FIELD.with_message("page is missing"))?;
        let size = size.ok_or_else(|| MISSING_FIELD.with_message("size is missing"))?;
        Ok(Self {
            page: positive(page, u32::MAX).ok_or(INVALID_PAGE)?,
            size: positive(size, MAX_SIZE).ok_or(INVALID_SIZE)?,
            filters: match filt {
                None | Some(Value::Null) => Vec::new(),
                Some(filt) => read_filters(filt).map_err(|fault| INVALID_FILTER.with_message(fault))?,
            },
        })
    }
}

fn parse_json(text: &str, name: &str) -> Result<Value, ApiError> {
    serde_json::from_str(text).map_err(|error| INVALID_JSON.with_message(format!("{name} is not valid JSON: {error}")))
}

/// The decoded value of a parameter, if it is present. A repeated parameter is an error, as it is for clicks.
fn only_parameter(query: &str, name: &str) -> Result<Option<String>, String> {
    let mut values = url::form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == name);
    let first = values.next().map(|(_, value)| value.into_owned());
    if values.next().is_some() { Err(format!("{name} is given twice")) } else { Ok(first) }
}

/// Converts digits in a query to the JSON number of a body. Other text stays a JSON string, which [`positive`] refuses.
fn digits(text: String) -> Value {
    match text.parse::<u32>() {
        Ok(number) if text.bytes().all(|b| b.is_ascii_digit()) => Value::from(number),
        _ => Value::from(text),
    }
}

/// Reads a JSON integer from 1 to `max`. Refuses `1.0`, `1e0` and `"1"`.
fn positive(value: &Value, max: u32) -> Option<u32> {
    let number = u32::try_from(value.as_u64()?).ok()?;
    (1..=max).contains(&number).then_some(number)
}

/// Parses the values of a filter. An error is the text to put after the path of the array: `[2] is not …`.
type ReadValues = fn(&[&str]) -> Result<Filter, String>;

/// Each dimension of a filter, with the parser of its values (docs/SPEC.md, "Offers request").
const DIMENSIONS: &[(&str, ReadValues)] = &[
    ("offer_type", |values| read_values(values, OfferType::parse, "an offer type").map(Filter::OfferType)),
    ("platform", |values| read_values(values, Platform::parse, "ios, android or web").map(Filter::Platform)),
    ("country", |values| read_values(values, Country::parse, "an assigned ISO 3166 alpha-2 code").map(Filter::Country)),
    ("offer_id", |values| {
        let possible = values.iter().filter_map(|value| OfferId::parse(value.trim()));
        Ok(Filter::OfferId(canonical(possible.collect())))
    }),
];

fn read_values<T: Ord>(values: &[&str], parse: fn(&str) -> Option<T>, expected: &str) -> Result<Vec<T>, String> {
    let read = |(place, value): (usize, &&str)| parse(value).ok_or_else(|| format!("[{place}] is not {expected}"));
    values.iter().enumerate().map(read).collect::<Result<_, _>>().map(canonical)
}

/// Sorts with a heap. The Wasm module has a copy of the sort for each type, and a copy of `sort_unstable` is ten times
/// as large.
fn canonical<T: Ord>(values: Vec<T>) -> Vec<T> {
    let mut values = BinaryHeap::from(values).into_sorted_vec();
    values.dedup();
    values
}

/// Parses `filt`. Each parser below returns an error as the text after its own path, and its caller prepends the path.
fn read_filters(filt: &Value) -> Result<Vec<Filter>, String> {
    let filters = filt.as_array().ok_or("filt must be an array")?;
    if filters.len() > MAX_FILTERS {
        return Err(format!("filt must be at most {MAX_FILTERS} filters"));
    }
    let read = |(place, filter)| read_filter(filter).map_err(|fault| format!("filt[{place}]{fault}"));
    filters.iter().enumerate().map(read).collect::<Result<_, _>>().map(canonical)
}

fn read_filter(filter: &Value) -> Result<Filter, String> {
    let members = object(filter, &["dim", "match"])?;
    let dim = string(members, "dim")?;
    let (_, read_values) = DIMENSIONS
        .iter()
        .find(|(name, _)| *name == dim)
        .ok_or(".dim must be offer_type, platform, country or offer_id")?;
    let matching = members.get("match").ok_or(".match is missing")?;
    read_match(matching, *read_values).map_err(|fault| format!(".match{fault}"))
}

fn read_match(matching: &Value, read_values: ReadValues) -> Result<Filter, String> {
    let members = object(matching, &["type", "value", "values"])?;
    let exactly_one = match string(members, "type")? {
        "any" => false,
        "exact" => true,
        _ => return Err(".type must be any or exact".to_owned()),
    };
    // docs/SPEC.md, "Offers request", uses both names.
    let (name, values) = match (members.get("value"), members.get("values")) {
        (Some(value), Some(values)) if value != values => {
            return Err(".value and .values are both given and differ".to_owned());
        }
        (Some(value), _) => (".value", value),
        (None, Some(values)) => (".values", values),
        (None, None) => return Err(".value is missing".to_owned()),
    };
    let strings = values.as_array().and_then(|values| values.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
    let fault = match strings {
        None => " must be an array of strings".to_owned(),
        Some(values) if values.is_empty() => " must not be empty".to_owned(),
        Some(values) if values.len() > MAX_VALUES => format!(" must be at most {MAX_VALUES} values"),
        Some(values) if exactly_one && values.len() > 1 => " must be exactly one value if type is exact".to_owned(),
        Some(values) => match read_values(&values) {
            Ok(filter) => return Ok(filter),
            Err(fault) => fault,
        },
    };
    Err(format!("{name}{fault}"))
}

fn object<'a>(value: &'a Value, known: &[&str]) -> Result<&'a Map<String, Value>, String> {
    let members = value.as_object().ok_or(" must be an object")?;
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!(".{name} is unknown")),
        None => Ok(members),
    }
}

fn string<'a>(members: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    let value = members.get(name).ok_or_else(|| format!(".{name} is missing"))?;
    value.as_str().ok_or_else(|| format!(".{name} must be a string"))
}

#[cfg(test)]
mod tests;
