//! Tests of reports and facts over HTTP: contents of reports (`answers`, and `random` against `model`), errors and
//! their order (`errors`, `requests`, `precedence`), tenants and report keys (`tenants`, `keys`), uploads of facts
//! (`operating`, `uploads`, `wrong_facts`), exact sums (`at_once`, `traffic`, `scale`), and memory limits (`bounds`).

mod answers;
mod changes;
mod concurrency;
mod errors;
mod keys;
mod memory_limits;
pub mod model;
mod operator;
mod precedence;
pub mod random;
mod requests;
mod scale;
mod spreadsheet;
mod tenants;
mod traffic;
mod uploads;
mod wrong_facts;

use serde_json::{Value, json};

/// All columns of a fact.
const HEADER: &str = "date,app_id,app_name,country,placement_id,ad_tag,demand_source,sdk_v,\
    ad_requests,ad_responses,impressions,clicks,revenue";

/// CSV of the header and these rows.
pub fn csv(rows: &[&str]) -> String {
    let mut csv = HEADER.to_owned();
    for row in rows {
        csv.push('\n');
        csv.push_str(row);
    }
    csv + "\n"
}

/// A query over the longest range of a report, 90 days, which contains the facts of these tests.
pub fn query(dimensions: &[&str], metrics: &[&str]) -> Value {
    json!({
        "date_range": {"start_date": "2026-01-01", "end_date": "2026-04-01"},
        "dimensions": dimensions, "metrics": metrics,
    })
}
