//! The dashboard's figures equal those that report keys get: random queries give the same rows, byte for byte, totals
//! cover all pages, and an export equals all pages joined.

use serde_json::{Value, json};

use super::{
    exports::{FORMATS, check_export},
    signed_in,
};
use crate::{
    harness::demo,
    reports::random::{load, query, seeded},
};

const QUERIES: usize = 40;
/// The most rows on a page of the dashboard.
const COUNT: u64 = 1_000;

#[test]
fn a_session_gets_the_rows_of_keys_byte_for_byte_with_totals_and_exports_of_all_pages() {
    let random = &mut seeded();
    let signpost = demo();
    let publisher = signpost.publisher("dashboard-random");
    load(&publisher, random);
    let analyst = signed_in(&signpost, &publisher, "analyst");
    let mut answered = 0;
    for nth in 0..QUERIES {
        let mut query = query(random);
        query["pagination"] = json!({ "count": COUNT, "page": 1 + random.below(2) });
        let by_key = publisher.report(&query);
        let mut with_totals = query.clone();
        with_totals["totals"] = json!(true);
        let answer = analyst.post("reports", &json!({ "queries": [with_totals] })).expect(200);
        let result = &answer.json()["results"][0];
        if by_key.status == 204 {
            assert_eq!((&result["rows"], &result["total_count"]), (&json!([]), &json!(0)));
            continue;
        }
        answered += 1;
        let rows = by_key.body.strip_prefix("{\"rows\":").unwrap().strip_suffix('}').unwrap();
        assert!(answer.body.contains(&format!("\"rows\":{rows}")), "{query}\n{by_key:?}\n{answer:?}");
        assert_eq!(by_key.header("X-Total-Count").unwrap(), result["total_count"].to_string());
        assert_eq!(by_key.header("X-Data-Through").unwrap(), answer.json()["data_through"]);
        check_totals(&publisher, &query, &result["totals"]);
        let total = result["total_count"].as_u64().unwrap();
        let format = FORMATS[nth % FORMATS.len()];
        check_export(&publisher, &analyst, random, &query, format, total);
    }
    assert!(answered > QUERIES / 2, "only {answered} queries found anything");
}

/// The rates: each with its two measures, and the factor of their quotient.
const RATES: [(&str, &str, &str, f64); 4] = [
    ("ecpm", "revenue", "impressions", 1_000.0),
    ("fill_rate", "ad_responses", "ad_requests", 1.0),
    ("show_rate", "impressions", "ad_responses", 1.0),
    ("click_rate", "clicks", "impressions", 1.0),
];

/// Checks that the total of a measure is the sum over the rows, and the total of a rate the quotient of two such sums,
/// not a sum of the rows' rates.
fn check_totals(publisher: &crate::harness::Publisher<'_>, query: &Value, totals: &Value) {
    let metrics: Vec<_> = query["metrics"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let rate_of = |metric: &str| RATES.iter().find(|(rate, ..)| *rate == metric);
    let mut measures: Vec<_> = metrics
        .iter()
        .flat_map(|metric| match rate_of(metric) {
            Some((_, over, under, _)) => vec![*over, *under],
            None => vec![*metric],
        })
        .collect();
    measures.sort_unstable();
    measures.dedup();
    let mut whole = query.clone();
    whole["metrics"] = json!(measures);
    whole["order_by"] = json!([]);
    whole["pagination"] = json!({ "count": 50_000 });
    let rows = publisher.rows(&whole);
    let sum = |measure: &str| -> f64 { rows.iter().map(|row| row[measure].as_f64().unwrap_or(0.0)).sum() };
    for metric in metrics {
        let expected = match rate_of(metric) {
            None => sum(metric),
            Some((_, _, under, _)) if sum(under) == 0.0 => 0.0,
            Some((_, over, under, factor)) => sum(over) * factor / sum(under),
        };
        let total = totals[metric].as_f64().unwrap_or(0.0);
        // The rows' revenue is rounded, and so is a rate.
        let tolerance = match metric {
            "ecpm" => 0.01,
            "fill_rate" | "show_rate" | "click_rate" => 0.000_01,
            _ => 0.000_5,
        };
        assert!((expected - total).abs() < tolerance, "{metric}: {expected} and {total} of {query}");
    }
}

#[test]
fn a_batch_answers_each_query_and_refuses_what_it_must() {
    let signpost = demo();
    let publisher = signpost.publisher("dashboard-batch");
    let analyst = signed_in(&signpost, &publisher, "analyst");
    let good = json!({
        "date_range": { "start_date": "2026-01-01", "end_date": "2026-01-31" },
        "dimensions": ["date"], "metrics": ["revenue"], "totals": true,
    });
    let mut bad = good.clone();
    bad["dimensions"] = json!(["nothing"]);
    let mut long = good.clone();
    long["pagination"] = json!({ "count": COUNT + 1 });
    let answer = analyst.post("reports", &json!({ "queries": [good, bad, long] })).expect(200).json();
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results[0], json!({ "total_count": 0, "rows": [], "totals": {} }));
    assert_eq!(results[1]["code"], "invalid_dimension");
    assert_eq!(results[2]["code"], "invalid_pagination");
    let many: Vec<_> = (0..13).map(|_| good.clone()).collect();
    for queries in [json!([]), json!(many), json!("x"), Value::Null] {
        analyst.post("reports", &json!({ "queries": queries })).expect_error(400, "invalid_batch");
    }
}

#[test]
fn suggestions_are_values_of_the_data() {
    let signpost = demo();
    let publisher = signpost.publisher("dashboard-suggestions");
    let csv = "app_id,app_name,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,revenue\n\
               30000001,Night Quiz,DE,home,t1,x,1,9,9,9,1,1\n\
               30000002,Day Quiz,AT,shop,t2,y,1,9,9,5,1,1\n";
    publisher.put_facts("2026-02-01", csv).expect(200);
    let analyst = signed_in(&signpost, &publisher, "analyst");
    let suggest = |dimension: &str, text: &str| {
        let body = json!({
            "dimension": dimension, "text": text,
            "date_range": { "start_date": "2026-02-01", "end_date": "2026-02-28" },
        });
        analyst.post("suggestions", &body).expect(200).json()["values"].clone()
    };
    assert_eq!(
        suggest("app", "QUIZ"),
        json!([
            { "value": "30000001", "label": "Night Quiz" },
            { "value": "30000002", "label": "Day Quiz" },
        ])
    );
    assert_eq!(suggest("country", "a"), json!([{ "value": "AT" }]));
    assert_eq!(suggest("placement_id", "nothing"), json!([]));
    analyst
        .post("suggestions", &json!({ "dimension": "x", "text": "", "date_range": {} }))
        .expect_error(400, "invalid_dimension");
}
