//! Refused queries: their codes, their messages, and the order of the checks.

use serde_json::{Value, json};

use super::*;
use crate::reporting::testing::cells;

/// The wrong members of docs/SPEC.md, "Errors", and docs/DECISIONS.md, "Reports": the code, the member, its value, and
/// the message.
const REFUSALS: &str = r#"
    missing_field       | dimensions | null                                                         | dimensions is missing
    missing_field       | metrics    | null                                                         | metrics is missing
    missing_field       | date_range | null                                                         | date_range is missing
    missing_field       | date_range | {}                                                           | date_range.start_date is missing
    missing_field       | date_range | {"start_date":null,"end_date":1}                             | date_range.start_date is missing
    missing_field       | date_range | {"start_date":"2026-08-01"}                                  | date_range.end_date is missing
    missing_field       | date_range | {"start_date":"2026-08-01","end_date":null}                  | date_range.end_date is missing
    invalid_dimension   | dimensions | ["date","os"]                                                | invalid dimension selected
    invalid_dimension   | dimensions | ["Date"]                                                     | invalid dimension selected
    invalid_dimension   | dimensions | ["clicks"]                                                   | invalid dimension selected
    invalid_dimension   | dimensions | ["date",7]                                                   | invalid dimension selected
    invalid_dimension   | dimensions | "date"                                                       | invalid dimension selected
    invalid_dimension   | dimensions | []                                                           | at least one dimension is required
    invalid_dimension   | filters    | [{"dimension":"os","values":["a"]}]                          | invalid dimension selected
    invalid_dimension   | filters    | [{"dimension":null,"values":["a"]}]                          | invalid dimension selected
    invalid_dimension   | filters    | [{"dimension":"clicks"}]                                     | invalid dimension selected
    invalid_metric      | metrics    | ["clicks","ctr"]                                             | invalid metric selected
    invalid_metric      | metrics    | ["date"]                                                     | invalid metric selected
    invalid_metric      | metrics    | [null]                                                       | invalid metric selected
    invalid_metric      | metrics    | {}                                                           | invalid metric selected
    invalid_metric      | metrics    | []                                                           | at least one metric is required
    invalid_start_date  | date_range | "2026-08-01"                                                 | invalid daterange from
    invalid_start_date  | date_range | []                                                           | invalid daterange from
    invalid_start_date  | date_range | {"start_date":20260801}                                      | invalid daterange from
    invalid_start_date  | date_range | {"start_date":"2026-8-1"}                                    | invalid daterange from
    invalid_start_date  | date_range | {"start_date":"2026-02-30","end_date":"2026-03-01"}          | invalid daterange from
    invalid_end_date    | date_range | {"start_date":"2026-08-01","end_date":"01.08.2026"}          | invalid daterange to
    invalid_end_date    | date_range | {"start_date":"2026-08-01","end_date":1}                     | invalid daterange to
    invalid_end_date    | date_range | {"start_date":"2026-08-02","end_date":"2026-08-01"}          | invalid daterange to
    date_range_too_long | date_range | {"start_date":"2026-08-01","end_date":"2026-10-31"}          | Time period must be less than or equal to 90 days
    invalid_filter      | filters    | {}                                                           | filters must be an array
    invalid_filter      | filters    | ["US"]                                                       | filters[0] must be an object
    invalid_filter      | filters    | [{"values":["a"]}]                                           | filters[0].dimension is missing
    invalid_filter      | filters    | [{"dimension":"app","value":["a"]}]                          | filters[0].value is unknown
    invalid_filter      | filters    | [{"dimension":"app"}]                                        | filters[0].values is missing
    invalid_filter      | filters    | [{"dimension":"app","values":"a"}]                           | filters[0].values must be an array
    invalid_filter      | filters    | [{"dimension":"app","values":null}]                          | filters[0].values must be an array
    invalid_filter      | filters    | [{"dimension":"app","values":[]}]                            | filters[0].values must not be empty
    invalid_filter      | filters    | [{"dimension":"app","values":[1]},{"dimension":"app","values":["1",null]}] | filters[1].values[1] must be a string or a number
    invalid_order_by    | order_by   | "date"                                                       | order_by must be an array
    invalid_order_by    | order_by   | ["date"]                                                     | order_by[0] must be an object
    invalid_order_by    | order_by   | [{"ascending":true}]                                         | order_by[0].column is missing
    invalid_order_by    | order_by   | [{"column":"sdk_v","ascending":true}]                        | order_by[0].column must be a metric or a requested dimension
    invalid_order_by    | order_by   | [{"column":"app_id","ascending":true}]                       | order_by[0].column must be a metric or a requested dimension
    invalid_order_by    | order_by   | [{"column":"date","ascending":true},{"column":"ecpm"}]       | order_by[1].ascending is missing
    invalid_order_by    | order_by   | [{"column":"date","ascending":"true"}]                       | order_by[0].ascending must be true or false
    invalid_order_by    | order_by   | [{"column":"date","desc":true}]                              | order_by[0].desc is unknown
    invalid_pagination  | pagination | [1,2]                                                        | pagination must be an object
    invalid_pagination  | pagination | {"page":1,"size":10}                                         | pagination.size is unknown
"#;

#[test]
fn a_wrong_member_is_refused_with_its_documented_message() {
    for row in REFUSALS.trim().lines() {
        let [code, member, value, message] = cells(row);
        let body = with(member, serde_json::from_str(value).unwrap());
        assert_eq!(refused(body), (code, message.to_owned()), "{row}");
    }
    for member in ["dimensions", "metrics", "date_range"] {
        let mut body = good();
        body.as_object_mut().unwrap().remove(member);
        let message = format!("{member} is missing");
        assert_eq!(refused(body), ("missing_field", message));
    }
}

fn filter_of(values: usize) -> Value {
    json!({ "dimension": "app", "values": vec![1; values] })
}

#[test]
fn lists_are_accepted_up_to_their_limits() {
    let filters = |count| with("filters", json!(vec![filter_of(1); count]));
    let values = |count| with("filters", json!([filter_of(count)]));
    let order = |count| {
        let by_date = json!({ "column": "date", "ascending": true });
        with("order_by", json!(vec![by_date; count]))
    };
    for (code, path, max, list) in [
        ("invalid_filter", "filters", 64, filters as fn(usize) -> Value),
        ("invalid_filter", "filters[0].values", 1_000, values),
        ("invalid_order_by", "order_by", 16, order),
    ] {
        read(list(max));
        let message = format!("{path} must be at most {max} items");
        assert_eq!(refused(list(max + 1)), (code, message), "{path}");
    }
}

fn incompatible() -> (&'static str, String) {
    let message = "ad_tag cannot be combined with ad_requests, ad_responses, fill_rate or show_rate";
    ("incompatible_dimension_metric", message.to_owned())
}

#[test]
fn ad_tag_cannot_be_combined_with_metrics_that_are_not_counted_by_it() {
    let by = |column: &str| json!([{ "column": column, "ascending": true }]);
    let filters = json!([{ "dimension": "ad_tag", "values": ["a"] }]);
    for metric in Metric::ALL.map(Metric::as_str) {
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
                assert_eq!(refused(&body), incompatible(), "{body}");
            } else {
                read(body);
            }
        }
    }
}

#[test]
fn the_ad_tag_combination_is_checked_before_filters_and_order() {
    let mut body = with("order_by", json!([7, { "column": "ad_tag" }]));
    assert_eq!(refused(&body).0, "invalid_order_by");
    body["metrics"] = json!(["fill_rate"]);
    assert_eq!(refused(&body), incompatible());
    body["order_by"] = json!([]);
    body["filters"] = json!([null, { "dimension": "ad_tag", "values": [] }]);
    assert_eq!(refused(&body), incompatible());
}

#[test]
fn a_body_that_is_not_a_json_object_is_invalid_json() {
    let deep = "[".repeat(100_000);
    for body in ["", "{", "[]", "null", "\"date\"", r#"{"metrics":[],}"#, "{} {}", &deep] {
        assert_eq!(refused(body).0, "invalid_json", "{body:.20}");
    }
}

/// Makes a body wrong in one way.
type Fault = (&'static str, fn(&mut Value));

/// One fault for each check, in the order of the checks.
const FAULTS: [Fault; 9] = [
    ("invalid_dimension", |body| body["dimensions"] = json!(["os"])),
    ("invalid_metric", |body| body["metrics"] = json!(["ctr"])),
    ("invalid_start_date", |body| body["date_range"]["start_date"] = json!("x")),
    ("invalid_end_date", |body| body["date_range"]["end_date"] = json!("x")),
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
    ("invalid_order_by", |body| body["order_by"] = json!([{ "column": "os" }])),
    ("invalid_pagination", |body| body["pagination"] = json!({ "page": 0 })),
];

#[test]
fn of_two_faults_the_one_checked_first_is_reported() {
    for (first, (code, fault)) in FAULTS.iter().enumerate() {
        let mut alone = good();
        fault(&mut alone);
        assert_eq!(refused(&alone).0, *code);
        assert_eq!(refused(format!("{alone},")).0, "invalid_json", "{code}");
        for (other, later) in FAULTS.iter().skip(first + 1) {
            // The earlier fault is applied last, since the two may change the same member.
            let mut both = good();
            later(&mut both);
            fault(&mut both);
            assert_eq!(refused(&both).0, *code, "{code} and {other}: {both}");
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
            assert_eq!(refused(&body).0, expected, "{member} and {code}");
        }
    }
}
