//! Reports and the facts they are made of, over HTTP: what is answered (`answers`, and `random` against `model`), what is
//! refused and in which order (`errors`, `requests`, `precedence`), whose numbers they are (`tenants`, `keys`), how facts
//! come in (`operating`, `uploads`, `wrong_facts`), and that nothing is lost or counted twice (`at_once`, `traffic`,
//! `scale`).

mod answers;
mod at_once;
mod bounds;
mod errors;
mod keys;
mod model;
mod operating;
mod precedence;
mod random;
mod requests;
mod scale;
mod tenants;
mod traffic;
mod uploads;
mod wrong_facts;

use serde_json::{Value, json};

/// All columns of facts.
const HEADER: &str = "date,app_id,app_name,country,placement_id,ad_tag,demand_source,sdk_v,\
    ad_requests,ad_responses,impressions,clicks,revenue";

/// Rows under the header.
pub fn csv(rows: &[&str]) -> String {
    let mut csv = HEADER.to_owned();
    for row in rows {
        csv.push('\n');
        csv.push_str(row);
    }
    csv + "\n"
}

/// A query over the longest range there is, in which the facts of these tests lie.
pub fn query(dimensions: &[&str], metrics: &[&str]) -> Value {
    json!({
        "date_range": {"start_date": "2026-01-01", "end_date": "2026-04-01"},
        "dimensions": dimensions, "metrics": metrics,
    })
}
