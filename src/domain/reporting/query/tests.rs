//! Valid queries, their defaults and limits.

use std::fmt::Display;

use serde_json::{Value, json};

use super::*;

mod properties;
mod refusals;

fn good() -> Value {
    json!({
        "date_range": { "start_date": "2026-08-01", "end_date": "2026-10-30" },
        "dimensions": ["date", "app", "country"],
        "metrics": ["impressions", "revenue"],
    })
}

fn with(member: &str, value: Value) -> Value {
    let mut body = good();
    body[member] = value;
    body
}

/// A good query with one more member, whose value is JSON in its own spelling.
fn with_text(member: &str, value: &str) -> String {
    let good = good().to_string();
    format!("{},\"{member}\":{value}}}", good.strip_suffix('}').unwrap())
}

#[track_caller]
fn read(body: impl Display) -> Query {
    let body = body.to_string();
    Query::parse(&body).unwrap_or_else(|error| panic!("{body}: {error:?}"))
}

/// The code and the message of the refusal. Its status is 400.
#[track_caller]
fn refused(body: impl Display) -> (&'static str, String) {
    let body = body.to_string();
    let error = Query::parse(&body).expect_err(&body);
    assert_eq!(error.status, 400, "{body}");
    (error.code, error.message.into_owned())
}

fn day(text: &str) -> UtcDay {
    UtcDay::parse(text).unwrap()
}

#[test]
fn a_query_is_read() {
    let mut body = good();
    body["filters"] = json!([{ "dimension": "country", "values": ["us", "DE", "US"] }]);
    body["order_by"] = json!([
        { "column": "ecpm", "ascending": false },
        { "column": "app", "ascending": true },
        { "column": "ecpm", "ascending": true },
    ]);
    body["pagination"] = json!({ "page": 3, "count": 50 });
    let expected = Query {
        start: day("2026-08-01"),
        end: day("2026-10-30"),
        dimensions: vec![Dimension::Date, Dimension::App, Dimension::Country],
        metrics: vec![Metric::Sum(Measure::Impressions), Metric::Sum(Measure::Revenue)],
        filters: vec![filter(Dimension::Country, &["DE", "US"])],
        order: vec![by(Column::Metric(Metric::Ecpm), false), by(Column::Dimension(Dimension::App), true)],
        page: 3,
        count: 50,
    };
    assert_eq!(read(body), expected);
}

fn by(column: Column, ascending: bool) -> Order {
    Order { column, ascending }
}

fn filter(dimension: Dimension, values: &[&str]) -> Filter {
    Filter { dimension, values: values.iter().map(|value| (*value).to_owned()).collect() }
}

#[test]
fn every_dimension_and_every_metric_can_be_requested() {
    for dimension in Dimension::ALL {
        let query = read(with("dimensions", json!([dimension.as_str()])));
        assert_eq!(query.dimensions, [dimension]);
    }
    for metric in Metric::ALL {
        let query = read(with("metrics", json!([metric.as_str()])));
        assert_eq!(query.metrics, [metric]);
    }
}

#[test]
fn a_repeated_name_keeps_its_first_position() {
    let query = read(with("dimensions", json!(["app", "date", "app", "date"])));
    assert_eq!(query.dimensions, [Dimension::App, Dimension::Date]);
    let query = read(with("metrics", json!(["ecpm", "click_rate", "ecpm"])));
    assert_eq!(query.metrics, [Metric::Ecpm, Metric::ClickRate]);
}

#[test]
fn a_missing_or_null_optional_member_has_its_default() {
    let expected = read(good());
    assert_eq!(expected.filters, []);
    assert_eq!(expected.order, [by(Column::Dimension(Dimension::Date), true)]);
    assert_eq!((expected.page, expected.count), (1, 10_000));
    for (member, value) in [
        ("filters", json!(null)),
        ("filters", json!([])),
        ("order_by", json!(null)),
        ("order_by", json!([])),
        ("pagination", json!(null)),
        ("pagination", json!({})),
        ("pagination", json!({ "page": 1 })),
        ("pagination", json!({ "count": 10_000 })),
        ("timezone", json!("Europe/Berlin")),
        ("filter", json!([{ "dimension": "country", "values": ["US"] }])),
    ] {
        let body = with(member, value);
        assert_eq!(read(&body), expected, "{body}");
    }
    let mut body = good();
    body["date_range"]["timezone"] = json!("UTC");
    assert_eq!(read(body), expected);
}

#[test]
fn without_the_date_rows_are_ordered_by_the_first_metric_descending() {
    let query = read(with("dimensions", json!(["country"])));
    let impressions = Column::Metric(Metric::Sum(Measure::Impressions));
    assert_eq!(query.order, [by(impressions, false)]);
}

#[test]
fn page_and_count_are_accepted_up_to_their_limits() {
    let last = r#"{"page":9007199254740992,"count":50000}"#;
    let query = read(with_text("pagination", last));
    assert_eq!((query.page, query.count), (1 << 53, 50_000));
    let wrong = ["0", "-1", "1.0", "1e0", "1.5", "\"1\"", "true", "null", "[1]"];
    let too_large = ["9007199254740993", "18446744073709551616"];
    for bad in wrong.into_iter().chain(too_large) {
        for (member, range) in [("page", "1 to 9007199254740992"), ("count", "1 to 50000")] {
            let body = with_text("pagination", &format!(r#"{{"{member}":{bad}}}"#));
            let message = format!("pagination.{member} must be an integer from {range}");
            assert_eq!(refused(body), ("invalid_pagination", message), "{bad}");
        }
    }
}

#[test]
fn the_last_day_is_at_most_90_days_after_the_first() {
    for (start, end, fits) in [
        ("2026-08-01", "2026-10-30", true),
        ("2026-08-01", "2026-10-31", false),
        ("2026-08-01", "2026-08-01", true),
        ("2024-02-01", "2024-05-01", true),
        ("2023-02-01", "2023-05-03", false),
    ] {
        let body = with("date_range", json!({ "start_date": start, "end_date": end }));
        if fits {
            let query = read(body);
            assert_eq!((query.start, query.end), (day(start), day(end)));
        } else {
            let message = "Time period must be less than or equal to 90 days".to_owned();
            assert_eq!(refused(body), ("date_range_too_long", message), "{start} {end}");
        }
    }
}

#[test]
fn a_number_in_a_filter_counts_as_it_is_spelled() {
    let filters = r#" [ {"dimension":"app","values":["1"]},
        {"values": [ 7.10 ,"b", 1e2,-0, 10000001], "dimension": "sdk_v"}]"#;
    let expected = [filter(Dimension::App, &["1"]), filter(Dimension::SdkV, &["-0", "10000001", "1e2", "7.10", "b"])];
    assert_eq!(read(with_text("filters", filters)).filters, expected);
}

#[test]
fn two_filters_of_one_dimension_are_intersected() {
    let filters = json!([
        { "dimension": "country", "values": ["US", "DE", "FR"] },
        { "dimension": "app", "values": ["10000001"] },
        { "dimension": "country", "values": ["fr", "us", "nowhere"] },
        { "dimension": "app", "values": ["10000002"] },
    ]);
    let expected = [filter(Dimension::Country, &["FR", "US"]), filter(Dimension::App, &[])];
    assert_eq!(read(with("filters", filters)).filters, expected);
}
