//! Every error of a report query in docs/SPEC.md, "Errors", and docs/DECISIONS.md, "Reports": status, message and code.

use serde_json::{Value, json};

use crate::{
    harness::{Publisher, ReportKey, Signpost, demo, with},
    reports::{csv, query},
};

/// A publisher with two facts of one day, and a key.
pub fn with_facts<'s>(signpost: &'s Signpost, id: &str) -> (Publisher<'s>, ReportKey) {
    let publisher = signpost.publisher(id);
    let facts =
        csv(&["2026-01-05,70000041,Quest,DE,p,t,d,1.10,9,8,7,6,5", "2026-01-05,70000041,Quest,FR,p,t,d,1.1,9,8,7,6,5"]);
    publisher.put_facts("2026-01-05", &facts).expect(200);
    let key = publisher.create_key("errors");
    (publisher, key)
}

pub fn good() -> Value {
    query(&["date"], &["impressions"])
}

/// A member of the query, its JSON value (empty: the member is removed), the expected message and the code.
type Row = (&'static str, &'static str, Message, &'static str);

enum Message {
    Is(&'static str),
    /// A part of the message, where no document states it.
    In(&'static str),
}

use Message::{In, Is};

const DIMENSION: Message = Is("invalid dimension selected");
const METRIC: Message = Is("invalid metric selected");
const FROM: Message = Is("invalid daterange from");
const TO: Message = Is("invalid daterange to");
const LONG: Message = Is("Time period must be less than or equal to 90 days");
const AD_TAG: Message = Is("ad_tag cannot be combined with ad_requests, ad_responses, fill_rate or show_rate");

const REFUSED: &[Row] = &[
    ("dimensions", r#"["date","os"]"#, DIMENSION, "invalid_dimension"),
    ("dimensions", r#"["Date"]"#, DIMENSION, "invalid_dimension"),
    ("dimensions", r#"["app_id"]"#, DIMENSION, "invalid_dimension"),
    ("dimensions", r#"["impressions"]"#, DIMENSION, "invalid_dimension"),
    ("dimensions", "[7]", DIMENSION, "invalid_dimension"),
    ("dimensions", "[]", Is("at least one dimension is required"), "invalid_dimension"),
    ("dimensions", "", In("dimensions"), "missing_field"),
    ("metrics", r#"["clicks","ctr"]"#, METRIC, "invalid_metric"),
    ("metrics", r#"["Clicks"]"#, METRIC, "invalid_metric"),
    ("metrics", r#"["date"]"#, METRIC, "invalid_metric"),
    ("metrics", "[null]", METRIC, "invalid_metric"),
    ("metrics", "[]", Is("at least one metric is required"), "invalid_metric"),
    ("metrics", "", In("metrics"), "missing_field"),
    ("date_range", "", In("date_range"), "missing_field"),
    ("date_range", r#"{"end_date":"2026-01-05"}"#, In("start_date"), "missing_field"),
    ("date_range", r#"{"start_date":"2026-01-05"}"#, In("end_date"), "missing_field"),
    ("date_range", r#"{"start_date":"2026-1-5","end_date":"2026-01-05"}"#, FROM, "invalid_start_date"),
    ("date_range", r#"{"start_date":"05.01.2026","end_date":"2026-01-05"}"#, FROM, "invalid_start_date"),
    ("date_range", r#"{"start_date":"2026-02-29","end_date":"2026-03-05"}"#, FROM, "invalid_start_date"),
    ("date_range", r#"{"start_date":20260105,"end_date":"2026-01-05"}"#, FROM, "invalid_start_date"),
    ("date_range", r#"{"start_date":"2026-01-05","end_date":"2026-01-5"}"#, TO, "invalid_end_date"),
    ("date_range", r#"{"start_date":"2026-01-05","end_date":"2026-01-32"}"#, TO, "invalid_end_date"),
    ("date_range", r#"{"start_date":"2026-01-05","end_date":"2026-01-05T00:00:00Z"}"#, TO, "invalid_end_date"),
    // The end before the start.
    ("date_range", r#"{"start_date":"2026-01-05","end_date":"2026-01-04"}"#, TO, "invalid_end_date"),
    ("date_range", r#"{"start_date":"2026-01-01","end_date":"2026-04-02"}"#, LONG, "date_range_too_long"),
    ("date_range", r#"{"start_date":"1926-01-01","end_date":"2026-01-05"}"#, LONG, "date_range_too_long"),
    ("filters", r#"[{"dimension":"os","values":["a"]}]"#, DIMENSION, "invalid_dimension"),
    ("filters", r#"[{"dimension":"clicks","values":["a"]}]"#, DIMENSION, "invalid_dimension"),
    ("filters", "{}", In("filters"), "invalid_filter"),
    ("filters", r#"["country"]"#, In("filters"), "invalid_filter"),
    ("filters", r#"[{"values":["DE"]}]"#, In("dimension"), "invalid_filter"),
    ("filters", r#"[{"dimension":"country"}]"#, In("values"), "invalid_filter"),
    ("filters", r#"[{"dimension":"country","values":"DE"}]"#, In("values"), "invalid_filter"),
    ("filters", r#"[{"dimension":"country","values":[]}]"#, In("values"), "invalid_filter"),
    ("filters", r#"[{"dimension":"country","values":[{}]}]"#, In("values"), "invalid_filter"),
    ("filters", r#"[{"dimension":"country","values":["DE"],"type":"any"}]"#, In("type"), "invalid_filter"),
    ("order_by", r#"{"column":"date","ascending":true}"#, In("order_by"), "invalid_order_by"),
    ("order_by", r#"["date"]"#, In("order_by"), "invalid_order_by"),
    ("order_by", r#"[{"ascending":true}]"#, In("column"), "invalid_order_by"),
    ("order_by", r#"[{"column":"os","ascending":true}]"#, In("column"), "invalid_order_by"),
    // A dimension that is not requested.
    ("order_by", r#"[{"column":"country","ascending":true}]"#, In("column"), "invalid_order_by"),
    ("order_by", r#"[{"column":"date"}]"#, In("ascending"), "invalid_order_by"),
    ("order_by", r#"[{"column":"date","ascending":1}]"#, In("ascending"), "invalid_order_by"),
    ("order_by", r#"[{"column":"date","ascending":true,"nulls":"last"}]"#, In("nulls"), "invalid_order_by"),
    ("pagination", "1", In("pagination"), "invalid_pagination"),
    ("pagination", r#"{"page":0}"#, In("page"), "invalid_pagination"),
    ("pagination", r#"{"page":-1,"count":10}"#, In("page"), "invalid_pagination"),
    ("pagination", r#"{"page":1.5}"#, In("page"), "invalid_pagination"),
    ("pagination", r#"{"page":"1"}"#, In("page"), "invalid_pagination"),
    ("pagination", r#"{"count":0}"#, In("count"), "invalid_pagination"),
    ("pagination", r#"{"page":1,"count":50001}"#, In("count"), "invalid_pagination"),
    ("pagination", r#"{"page":1,"size":10}"#, In("size"), "invalid_pagination"),
];

#[test]
fn every_invalid_query_is_refused_with_its_documented_error() {
    let signpost = demo();
    let (publisher, _) = with_facts(&signpost, "errors-queries");
    for (member, value, expected_message, code) in REFUSED {
        let mut wrong = good();
        if value.is_empty() {
            wrong.as_object_mut().unwrap().remove(*member);
        } else {
            wrong[*member] = serde_json::from_str(value).unwrap();
        }
        let answer = publisher.report(&wrong).expect_error(400, code);
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        match expected_message {
            Is(message) => assert_eq!(error, *message, "{answer:?}"),
            In(part) => assert!(error.contains(part), "{part}: {answer:?}"),
        }
        let body = answer.json();
        assert_eq!(body.as_object().unwrap().len(), 2, "{answer:?}");
        assert_eq!(answer.header("Cache-Control"), Some("no-store"), "{answer:?}");
        // Every request with a valid key gets the rate limit headers, also when it fails.
        assert_eq!(answer.header("RateLimit"), Some("\"report\";r=0;t=2"), "{answer:?}");
    }
    let values: Vec<_> = (0..1_001).map(|n| n.to_string()).collect();
    for (most, status) in [(1_000, 204), (1_001, 400)] {
        let filter = json!([{"dimension": "placement_id", "values": values[..most]}]);
        let answer = publisher.report(&with(good(), &json!({ "filters": filter })));
        assert_eq!(answer.status, status, "{most} values");
        if status == 400 {
            answer.expect_error(400, "invalid_filter");
        }
    }
}

#[test]
fn ad_tag_cannot_be_combined_with_metrics_that_are_not_measured_by_it() {
    let signpost = demo();
    let (publisher, _) = with_facts(&signpost, "errors-ad-tag");
    let filter = json!({"filters": [{"dimension": "ad_tag", "values": ["t"]}]});
    let order = |column: &str| json!({"order_by": [{"column": column, "ascending": true}]});
    let Is(message) = AD_TAG else { panic!() };
    for metric in ["ad_requests", "ad_responses", "fill_rate", "show_rate"] {
        for wrong in [
            query(&["ad_tag"], &[metric]),
            query(&["date", "ad_tag"], &["clicks", metric]),
            with(query(&["date"], &[metric]), &filter),
            with(query(&["date"], &[metric]), &order("ad_tag")),
            with(query(&["ad_tag"], &["clicks"]), &order(metric)),
        ] {
            let answer = publisher.report(&wrong).expect_error(400, "incompatible_dimension_metric");
            assert_eq!(answer.json()["error"], message, "{answer:?}");
        }
        publisher.report(&query(&["date"], &[metric])).expect(200);
    }
    for metric in ["impressions", "clicks", "revenue", "ecpm", "click_rate"] {
        let right = with(query(&["ad_tag"], &[metric]), &filter);
        publisher.report(&with(right, &order(metric))).expect(200);
    }
}

#[test]
fn queries_at_the_limits_are_answered() {
    let signpost = demo();
    let (publisher, _) = with_facts(&signpost, "errors-none");
    let range = |start: &str, end: &str| json!({"date_range": {"start_date": start, "end_date": end}});
    let one_row = json!([{"date": "2026-01-05", "impressions": 14}]);
    for members in [
        // 90 days apart, and a single day.
        range("2025-10-07", "2026-01-05"),
        range("2026-01-05", "2026-01-05"),
        json!({"dimensions": ["date", "date"], "metrics": ["impressions", "impressions"]}),
        json!({"format": "csv", "limit": 1}),
        json!({"filters": [], "order_by": []}),
        json!({"pagination": {"page": 1}}),
        json!({"pagination": {"count": 50_000}}),
        json!({"pagination": {"page": 1, "count": 1}}),
        json!({"filters": [{"dimension": "country", "values": ["de", "Fr", "XX"]}]}),
        json!({"filters": [{"dimension": "date", "values": ["2026-01-05", "yesterday"]}]}),
        json!({"order_by": [{"column": "click_rate", "ascending": true}, {"column": "date", "ascending": false}]}),
    ] {
        let query = with(good(), &members);
        assert_eq!(json!(publisher.rows(&query)), one_row, "{members}");
    }
    for (filters, impressions) in [
        (json!([{"dimension": "country", "values": ["de"]}]), 7),
        // A filter of apps compares ids, not names.
        (json!([{"dimension": "app", "values": ["70000041"]}]), 14),
        (json!([{"dimension": "app", "values": ["Quest"]}]), 0),
        // Filters of the same dimension intersect. Values are compared with case and trailing zeros.
        (json!([{"dimension": "country", "values": ["DE", "FR"]}, {"dimension": "country", "values": ["FR"]}]), 7),
        (json!([{"dimension": "country", "values": ["DE"]}, {"dimension": "country", "values": ["FR"]}]), 0),
        (json!([{"dimension": "sdk_v", "values": ["1.1"]}]), 7),
        (json!([{"dimension": "placement_id", "values": ["P"]}]), 0),
        (json!([{"dimension": "country", "values": ["DE"]}, {"dimension": "sdk_v", "values": ["1.1"]}]), 0),
    ] {
        let rows = publisher.rows(&with(good(), &json!({ "filters": filters })));
        let expected = match impressions {
            0 => json!([]),
            _ => json!([{"date": "2026-01-05", "impressions": impressions}]),
        };
        assert_eq!(json!(rows), expected, "{filters}");
    }
}
