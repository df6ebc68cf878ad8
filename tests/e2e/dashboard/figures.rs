//! The dashboard's figures are those of the report keys: random queries give the same rows, byte for byte, totals are those
//! of all pages, and an export is all pages put together.

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
        let answer = analyst
            .post("reports", &json!({ "queries": [with_totals] }))
            .expect(200);
        let result = &answer.json()["results"][0];
        if by_key.status == 204 {
            assert_eq!((&result["rows"], &result["total_count"]), (&json!([]), &json!(0)));
            continue;
        }
        answered += 1;
        let rows = by_key
            .body
            .strip_prefix("{\"rows\":")
            .unwrap()
            .strip_suffix('}')
            .unwrap();
        assert!(
            answer.body.contains(&format!("\"rows\":{rows}")),
            "{query}\n{by_key:?}\n{answer:?}"
        );
        assert_eq!(
            by_key.header("X-Total-Count").unwrap(),
            result["total_count"].to_string()
        );
        assert_eq!(
            by_key.header("X-Data-Through").unwrap(),
            answer.json()["data_through"]
        );
        check_totals(&publisher, &query, &result["totals"]);
        let total = result["total_count"].as_u64().unwrap();
        let format = FORMATS[nth % FORMATS.len()];
        check_export(&publisher, &analyst, random, &query, format, total);
    }
    assert!(answered > QUERIES / 2, "only {answered} queries found anything");
}

/// The totals are the row of the same metrics over all facts of the query, which counters add up to.
fn check_totals(publisher: &crate::harness::Publisher<'_>, query: &Value, totals: &Value) {
    let mut whole = query.clone();
    whole["pagination"] = json!({ "count": 50_000 });
    let rows = publisher.rows(&whole);
    for metric in query["metrics"].as_array().unwrap() {
        let metric = metric.as_str().unwrap();
        let total = totals[metric].as_f64().unwrap_or(0.0);
        if ["ecpm", "fill_rate", "show_rate", "click_rate"].contains(&metric) {
            continue;
        }
        let sum: f64 = rows.iter().map(|row| row[metric].as_f64().unwrap_or(0.0)).sum();
        assert!(
            (sum - total).abs() < 0.000_5,
            "{metric}: {sum} and {total} of {query}"
        );
    }
    check_rates(publisher, query, totals);
}

/// A rate's total is the quotient of the sums, not of the rows' rates.
fn check_rates(publisher: &crate::harness::Publisher<'_>, query: &Value, totals: &Value) {
    let uses_ad_tag = query.to_string().contains("ad_tag");
    if uses_ad_tag || !query.to_string().contains("\"ecpm\"") {
        return;
    }
    let mut sums = query.clone();
    sums["metrics"] = json!(["revenue", "impressions"]);
    sums["order_by"] = json!([]);
    sums["pagination"] = json!({ "count": 50_000 });
    let rows = publisher.rows(&sums);
    let sum = |metric: &str| -> f64 { rows.iter().map(|row| row[metric].as_f64().unwrap_or(0.0)).sum() };
    let expected = match sum("impressions") {
        0.0 => 0.0,
        impressions => sum("revenue") * 1_000.0 / impressions,
    };
    if query["metrics"].as_array().unwrap().contains(&json!("ecpm")) {
        let total = totals["ecpm"].as_f64().unwrap_or(0.0);
        assert!(
            (expected - total).abs() < 0.01,
            "{expected} and {total} of {query}"
        );
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
    let answer = analyst
        .post("reports", &json!({ "queries": [good, bad, long] }))
        .expect(200)
        .json();
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results[0], json!({ "total_count": 0, "rows": [], "totals": {} }));
    assert_eq!(results[1]["code"], "invalid_dimension");
    assert_eq!(results[2]["code"], "invalid_pagination");
    let many: Vec<_> = (0..13).map(|_| good.clone()).collect();
    for queries in [json!([]), json!(many), json!("x"), Value::Null] {
        analyst
            .post("reports", &json!({ "queries": queries }))
            .expect_error(400, "invalid_batch");
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
        .post(
            "suggestions",
            &json!({ "dimension": "x", "text": "", "date_range": {} }),
        )
        .expect_error(400, "invalid_dimension");
}
