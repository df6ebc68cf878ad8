//! Suggests values for a filter: a dimension's values in the data, most impressions first.

use serde_json::{Value, json};

use super::report;
use contract::{ledger::Suggest, operation::OperatorReply};
use domain::{
    model::ApiError,
    reporting::{
        Dimension,
        engine::Budget,
        query::{MAX_COUNT, Query},
    },
};
use platform::{Database, Result};

/// Maximum suggestions in an answer.
const MAX: usize = 20;

/// Returns the query of a report whose rows contain the values to suggest.
pub fn query(wanted: &Suggest) -> Result<Query, ApiError> {
    let range: Value = serde_json::from_str(&wanted.date_range).unwrap_or_default();
    let query = json!({
        "date_range": range,
        "dimensions": [wanted.dimension],
        "metrics": ["impressions", "clicks"],
        "order_by": [{ "column": "impressions", "ascending": false }],
        "pagination": { "count": MAX_COUNT },
    });
    Query::parse(&query.to_string())
}

/// Returns the values that contain the text, ignoring case, among the first 50,000. An app also matches by its name.
pub fn suggest(db: &impl Database, text: &str, query: &Query) -> Result<OperatorReply> {
    let report = report::build(db, query, &Budget::default())?;
    let text = text.to_lowercase();
    let dimension = *query.dimensions.first().unwrap_or(&Dimension::App);
    let names = report.names;
    let matches = |value: &&str| {
        let name = names.get(*value).map(String::as_str).unwrap_or_default();
        value.to_lowercase().contains(&text) || name.to_lowercase().contains(&text)
    };
    let found = report.page.column(dimension).filter(matches).take(MAX);
    let values: Vec<Value> = found
        .map(|value| match names.get(value) {
            Some(name) => json!({ "value": value, "label": name }),
            None => json!({ "value": value }),
        })
        .collect();
    Ok(OperatorReply::ok(&json!({ "values": values })))
}
