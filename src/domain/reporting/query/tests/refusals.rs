//! Refused queries: their codes, their messages, and the order of the checks.

use serde_json::{Value, json};

use super::*;
use crate::reporting::query::parsing::INCOMPATIBLE_DIMENSION_METRIC;

/// Rows: a member, its value, and the message.
type Rows = &'static [(&'static str, &'static str, &'static str)];

/// The wrong bodies of docs/SPEC.md, "Errors", and docs/DECISIONS.md, "Reports", by `code`.
const REFUSALS: &[(&str, Rows)] = &[
    (
        "missing_field",
        &[
            ("dimensions", "null", "dimensions is missing"),
            ("metrics", "null", "metrics is missing"),
            ("date_range", "null", "date_range is missing"),
            ("date_range", "{}", "date_range.start_date is missing"),
            (
                "date_range",
                r#"{"start_date":null,"end_date":1}"#,
                "date_range.start_date is missing",
            ),
            (
                "date_range",
                r#"{"start_date":"2026-08-01"}"#,
                "date_range.end_date is missing",
            ),
            (
                "date_range",
                r#"{"start_date":"2026-08-01","end_date":null}"#,
                "date_range.end_date is missing",
            ),
        ],
    ),
    (
        "invalid_dimension",
        &[
            ("dimensions", r#"["date","os"]"#, "invalid dimension selected"),
            ("dimensions", r#"["Date"]"#, "invalid dimension selected"),
            ("dimensions", r#"["clicks"]"#, "invalid dimension selected"),
            ("dimensions", r#"["date",7]"#, "invalid dimension selected"),
            ("dimensions", r#""date""#, "invalid dimension selected"),
            ("dimensions", "[]", "at least one dimension is required"),
            (
                "filters",
                r#"[{"dimension":"os","values":["a"]}]"#,
                "invalid dimension selected",
            ),
            (
                "filters",
                r#"[{"dimension":null,"values":["a"]}]"#,
                "invalid dimension selected",
            ),
            (
                "filters",
                r#"[{"dimension":"clicks"}]"#,
                "invalid dimension selected",
            ),
        ],
    ),
    (
        "invalid_metric",
        &[
            ("metrics", r#"["clicks","ctr"]"#, "invalid metric selected"),
            ("metrics", r#"["date"]"#, "invalid metric selected"),
            ("metrics", "[null]", "invalid metric selected"),
            ("metrics", "{}", "invalid metric selected"),
            ("metrics", "[]", "at least one metric is required"),
        ],
    ),
    (
        "invalid_start_date",
        &[
            ("date_range", r#""2026-08-01""#, "invalid daterange from"),
            ("date_range", "[]", "invalid daterange from"),
            (
                "date_range",
                r#"{"start_date":20260801}"#,
                "invalid daterange from",
            ),
            (
                "date_range",
                r#"{"start_date":"2026-8-1"}"#,
                "invalid daterange from",
            ),
            (
                "date_range",
                r#"{"start_date":"2026-02-30","end_date":"2026-03-01"}"#,
                "invalid daterange from",
            ),
        ],
    ),
    (
        "invalid_end_date",
        &[
            (
                "date_range",
                r#"{"start_date":"2026-08-01","end_date":"01.08.2026"}"#,
                "invalid daterange to",
            ),
            (
                "date_range",
                r#"{"start_date":"2026-08-01","end_date":1}"#,
                "invalid daterange to",
            ),
            (
                "date_range",
                r#"{"start_date":"2026-08-02","end_date":"2026-08-01"}"#,
                "invalid daterange to",
            ),
        ],
    ),
    (
        "date_range_too_long",
        &[(
            "date_range",
            r#"{"start_date":"2026-08-01","end_date":"2026-10-31"}"#,
            "Time period must be less than or equal to 90 days",
        )],
    ),
    (
        "invalid_filter",
        &[
            ("filters", "{}", "filters must be an array"),
            ("filters", r#"["US"]"#, "filters[0] must be an object"),
            (
                "filters",
                r#"[{"values":["a"]}]"#,
                "filters[0].dimension is missing",
            ),
            (
                "filters",
                r#"[{"dimension":"app","value":["a"]}]"#,
                "filters[0].value is not known",
            ),
            (
                "filters",
                r#"[{"dimension":"app"}]"#,
                "filters[0].values is missing",
            ),
            (
                "filters",
                r#"[{"dimension":"app","values":"a"}]"#,
                "filters[0].values must be an array",
            ),
            (
                "filters",
                r#"[{"dimension":"app","values":null}]"#,
                "filters[0].values must be an array",
            ),
            (
                "filters",
                r#"[{"dimension":"app","values":[]}]"#,
                "filters[0].values must not be empty",
            ),
            (
                "filters",
                r#"[{"dimension":"app","values":[1]},{"dimension":"app","values":["1",null]}]"#,
                "filters[1].values[1] must be a string or a number",
            ),
        ],
    ),
    (
        "invalid_order_by",
        &[
            ("order_by", r#""date""#, "order_by must be an array"),
            ("order_by", r#"["date"]"#, "order_by[0] must be an object"),
            (
                "order_by",
                r#"[{"ascending":true}]"#,
                "order_by[0].column is missing",
            ),
            (
                "order_by",
                r#"[{"column":"sdk_v","ascending":true}]"#,
                "order_by[0].column must be a metric or a requested dimension",
            ),
            (
                "order_by",
                r#"[{"column":"app_id","ascending":true}]"#,
                "order_by[0].column must be a metric or a requested dimension",
            ),
            (
                "order_by",
                r#"[{"column":"date","ascending":true},{"column":"ecpm"}]"#,
                "order_by[1].ascending is missing",
            ),
            (
                "order_by",
                r#"[{"column":"date","ascending":"true"}]"#,
                "order_by[0].ascending must be true or false",
            ),
            (
                "order_by",
                r#"[{"column":"date","desc":true}]"#,
                "order_by[0].desc is not known",
            ),
        ],
    ),
    (
        "invalid_pagination",
        &[
            ("pagination", "[1,2]", "pagination must be an object"),
            (
                "pagination",
                r#"{"page":1,"size":10}"#,
                "pagination.size is not known",
            ),
        ],
    ),
];

#[test]
fn a_wrong_member_is_refused_with_its_documented_message() {
    for (code, rows) in REFUSALS {
        for (member, value, message) in *rows {
            let refusal = refused(&with(member, serde_json::from_str(value).unwrap()));
            assert_eq!(refusal, (400, *code, (*message).to_owned()), "{member}: {value}");
        }
    }
    for member in ["dimensions", "metrics", "date_range"] {
        let mut body = good();
        body.as_object_mut().unwrap().remove(member);
        assert_eq!(
            refused(&body),
            (400, "missing_field", format!("{member} is missing"))
        );
    }
}

#[test]
fn lists_are_accepted_up_to_their_limits() {
    let filter = |values: usize| json!({ "dimension": "app", "values": vec![1; values] });
    let order = json!({ "column": "date", "ascending": true });
    for (member, most, more, code, message) in [
        (
            "filters",
            json!(vec![filter(1); 64]),
            json!(vec![filter(1); 65]),
            "invalid_filter",
            "filters must be at most 64 items",
        ),
        (
            "filters",
            json!([filter(1_000)]),
            json!([filter(1_001)]),
            "invalid_filter",
            "filters[0].values must be at most 1000 items",
        ),
        (
            "order_by",
            json!(vec![order.clone(); 16]),
            json!(vec![order; 17]),
            "invalid_order_by",
            "order_by must be at most 16 items",
        ),
    ] {
        read(&with(member, most));
        assert_eq!(refused(&with(member, more)), (400, code, message.to_owned()));
    }
}

#[test]
fn ad_tag_cannot_be_combined_with_metrics_that_are_not_counted_by_it() {
    let by = |column: &str| json!([{ "column": column, "ascending": true }]);
    let filters = json!([{ "dimension": "ad_tag", "values": ["a"] }]);
    for metric in Metric::ALL.map(Metric::name) {
        for (dimension, requested, filters, order) in [
            ("ad_tag", metric, json!([]), json!([])),
            ("date", metric, filters.clone(), json!([])),
            ("ad_tag", "clicks", json!([]), by(metric)),
            ("date", "clicks", filters.clone(), by(metric)),
        ] {
            let mut body = with("dimensions", json!([dimension]));
            body["metrics"] = json!([requested]);
            body["filters"] = filters;
            body["order_by"] = order;
            if ["ad_requests", "ad_responses", "fill_rate", "show_rate"].contains(&metric) {
                assert_eq!(
                    refused(&body),
                    (
                        400,
                        "incompatible_dimension_metric",
                        "ad_tag cannot be combined with ad_requests, ad_responses, fill_rate or show_rate"
                            .to_owned(),
                    ),
                    "{body}"
                );
            } else {
                read(&body);
            }
        }
    }
}

#[test]
fn the_ad_tag_combination_is_checked_before_filters_and_order() {
    let mut body = with("order_by", json!([7, { "column": "ad_tag" }]));
    assert_eq!(refused(&body).1, "invalid_order_by");
    body["metrics"] = json!(["fill_rate"]);
    assert_eq!(refused(&body).1, "incompatible_dimension_metric");
    body["order_by"] = json!([]);
    body["filters"] = json!([null, { "dimension": "ad_tag", "values": [] }]);
    assert_eq!(
        refused(&body),
        (
            400,
            INCOMPATIBLE_DIMENSION_METRIC.code,
            INCOMPATIBLE_DIMENSION_METRIC.message.into_owned()
        )
    );
}

#[test]
fn a_body_that_is_not_a_json_object_is_invalid_json() {
    for body in [
        "",
        "{",
        "[]",
        "null",
        "\"date\"",
        "{\"metrics\":[],}",
        "{} {}",
        &"[".repeat(100_000),
    ] {
        assert_eq!(refused_text(body).1, "invalid_json", "{body:.20}");
    }
}

/// Makes a body wrong in one way.
type Fault = (&'static str, fn(&mut Value));

/// One fault for each check, in the order of the checks.
const FAULTS: [Fault; 9] = [
    ("invalid_dimension", |body| body["dimensions"] = json!(["os"])),
    ("invalid_metric", |body| body["metrics"] = json!(["ctr"])),
    ("invalid_start_date", |body| {
        body["date_range"]["start_date"] = json!("x")
    }),
    ("invalid_end_date", |body| {
        body["date_range"]["end_date"] = json!("x")
    }),
    ("date_range_too_long", |body| {
        body["date_range"] = json!({ "start_date": "2026-01-01", "end_date": "2026-10-30" });
    }),
    ("incompatible_dimension_metric", |body| {
        body["dimensions"] = json!(["ad_tag"]);
        body["metrics"] = json!(["fill_rate"]);
    }),
    ("invalid_filter", |body| {
        body["filters"] = json!([{ "dimension": "app", "values": [] }]);
    }),
    ("invalid_order_by", |body| {
        body["order_by"] = json!([{ "column": "os" }])
    }),
    ("invalid_pagination", |body| {
        body["pagination"] = json!({ "page": 0 })
    }),
];

#[test]
fn of_two_faults_the_one_checked_first_is_reported() {
    for (first, (code, fault)) in FAULTS.iter().enumerate() {
        let mut alone = good();
        fault(&mut alone);
        assert_eq!(refused(&alone).1, *code);
        assert_eq!(refused_text(&format!("{alone},")).1, "invalid_json");
        for (other, later) in FAULTS.iter().skip(first + 1) {
            // The earlier fault is applied last, since the two may change the same member.
            let mut both = good();
            later(&mut both);
            fault(&mut both);
            assert_eq!(refused(&both).1, *code, "{code} and {other}: {both}");
        }
    }
    // A missing member is reported at its own step.
    for (member, step) in [("dimensions", 0), ("metrics", 1), ("date_range", 2)] {
        for (index, (code, fault)) in FAULTS.iter().enumerate() {
            if index == step {
                continue;
            }
            let mut body = good();
            fault(&mut body);
            body.as_object_mut().unwrap().remove(member);
            // A body without its dates or columns no longer has their faults.
            let expected = if index < step { code } else { "missing_field" };
            assert_eq!(refused(&body).1, expected, "{member} and {code}");
        }
    }
}
