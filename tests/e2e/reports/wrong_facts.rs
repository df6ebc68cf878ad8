//! Uploads with invalid facts are refused as a whole, with the lines and columns of the errors, and change nothing.

use serde_json::{Value, json};

use crate::{
    harness::{Publisher, demo},
    reports::{HEADER, csv, model::DIMENSIONS, query},
};

const GOOD: &str = "2026-01-05,73000001,Quest,DE,p,t,d,s,1,1,1,1,0.5";

/// A column of CSV and an invalid text for it.
const WRONG_CSV: &[(&str, &str)] = &[
    ("date", "2026-02-30"),
    ("date", "2026-1-5"),
    ("date", "05/01/2026"),
    ("date", ""),
    // A byte order mark in the middle is left when two files were joined.
    ("date", "\u{feff}2026-01-05"),
    ("placement_id", "\u{feff}p"),
    ("app_id", "7300001"),
    ("app_id", "my-app"),
    ("app_id", ""),
    ("country", "UK"),
    ("country", "DEU"),
    ("country", "D"),
    ("demand_source", "offerwall"),
    ("demand_source", "\"offerwall\""),
    ("demand_source", "OfferWall"),
    ("clicks", "-1"),
    ("clicks", "+1"),
    ("clicks", "1.0"),
    ("clicks", ""),
    ("clicks", "1e3"),
    ("clicks", "\"1,000\""),
    ("ad_requests", "99999999999999999999"),
    ("ad_responses", "-0.5"),
    ("impressions", "many"),
    ("revenue", "1e400"),
    ("revenue", "1e2"),
    ("revenue", "NaN"),
    ("revenue", "$5"),
    ("revenue", ""),
    ("revenue", "0.0000001"),
    // Unbalanced quotes, and a carriage return as line end.
    ("ad_tag", "\"t"),
    ("ad_tag", "t\""),
    ("ad_tag", "\"t\"t"),
    ("ad_tag", "t\rt"),
    ("sdk_v", "a\tb"),
    ("app_name", "a\u{7f}"),
];

/// A member of NDJSON and an invalid value for it.
const WRONG_NDJSON: &[(&str, &str)] = &[
    ("date", "\"2026-02-30\""),
    ("date", "null"),
    ("app_id", "73000001"),
    ("app_id", "\"x\""),
    ("country", "\"UK\""),
    ("country", "7"),
    ("placement_id", "\"\\ufeffp\""),
    ("placement_id", "\"a\\u0000\""),
    ("demand_source", "\"offerwall\""),
    ("demand_source", "\"OfferWall\""),
    ("clicks", "-1"),
    ("clicks", "0.5"),
    ("clicks", "\"1\""),
    ("clicks", "null"),
    ("clicks", "1, \"clicks\": 1"),
    ("impressions", "true"),
    ("revenue", "1e400"),
    ("revenue", "\"0.5\""),
    ("revenue", "0.0000001"),
    ("colour", "\"red\""),
];

fn with_column(column: &str, text: &str) -> String {
    let place = HEADER.split(',').position(|name| name == column).unwrap();
    let mut fields: Vec<_> = GOOD.split(',').collect();
    fields[place] = text;
    fields.join(",")
}

fn with_member(member: &str, value: &str) -> String {
    let mut members: Vec<(&str, &str)> = vec![
        ("date", "\"2026-01-05\""),
        ("app_id", "\"73000001\""),
        ("country", "\"DE\""),
        ("placement_id", "\"p\""),
        ("demand_source", "\"d\""),
        ("ad_requests", "1"),
        ("ad_responses", "1"),
        ("impressions", "1"),
        ("clicks", "1"),
        ("revenue", "0.5"),
    ];
    match members.iter_mut().find(|(name, _)| *name == member) {
        Some(found) => found.1 = value,
        None => members.push((member, value)),
    }
    let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{{}}}", members.join(", "))
}

/// Everything that can be read of a publisher's facts.
fn state(publisher: &Publisher<'_>) -> (Vec<Value>, Vec<Value>) {
    let rows = publisher.rows(&query(&DIMENSIONS, &["impressions", "clicks", "revenue"]));
    let mut days = publisher.days();
    for day in &mut days {
        // The alarm may merge segments at any time.
        day["loaded"].as_object_mut().unwrap().remove("segments");
    }
    (rows, days)
}

/// Sends invalid facts as increments. Fails the test unless exactly these lines and columns are reported, nothing
/// changed, and the idempotency key is still unused.
#[track_caller]
fn expect_line_errors(publisher: &Publisher<'_>, media_type: &str, body: &[u8], lines: &[(i64, Option<&str>)]) {
    let shown = String::from_utf8_lossy(body);
    let before = state(publisher);
    let key = format!("key-{}", before.0.len());
    let headers = [("Content-Type", media_type), ("Idempotency-Key", key.as_str())];
    let answer = publisher.send_facts("POST", "facts", &headers, body).expect_error(400, "invalid_facts");
    let body_json = answer.json();
    let named: Vec<_> = body_json["lines"]
        .as_array()
        .unwrap_or_else(|| panic!("no lines: {answer:?}"))
        .iter()
        .map(|line| {
            assert!(line["message"].as_str().is_some_and(|message| !message.is_empty()), "{answer:?}");
            (line["line"].as_i64().unwrap(), line["column"].as_str())
        })
        .collect();
    assert_eq!(named, lines, "{shown}\n{answer:?}");
    for line in body_json["lines"].as_array().unwrap() {
        let whole = line["column"].is_null();
        assert!(!whole || line.get("column").is_none(), "{answer:?}");
    }
    assert!(state(publisher) == before, "{shown} left a trace");
    // Valid facts under the unused key are accepted. They are a new row, so that the next call has another key.
    let valid = csv(&[&GOOD.replace(",p,", &format!(",{key},"))]);
    let body_json = publisher.add_facts(&key, &valid).expect(200).json();
    assert_eq!(body_json, json!({"rows": 1, "duplicate": false}), "{shown}");
}

#[test]
fn a_wrong_value_of_csv_is_named_by_its_line_and_column() {
    let signpost = demo();
    let publisher = signpost.publisher("wrong-csv");
    for (column, text) in WRONG_CSV {
        let body = csv(&[GOOD, &with_column(column, text), GOOD]);
        expect_line_errors(&publisher, "text/csv", body.as_bytes(), &[(3, Some(*column))]);
    }
    let long = "x".repeat(129);
    let body = csv(&[GOOD, &with_column("ad_tag", &long)]);
    expect_line_errors(&publisher, "text/csv", body.as_bytes(), &[(3, Some("ad_tag"))]);
}

#[test]
fn a_wrong_line_of_csv_is_named_by_its_number() {
    let signpost = demo();
    let publisher = signpost.publisher("wrong-lines");
    let line_3 = |line: &[u8]| [csv(&[GOOD]).as_bytes(), line, b"\n", GOOD.as_bytes()].concat();
    for line in [
        b"2026-01-05".as_slice(),
        GOOD.rsplit_once(',').unwrap().0.as_bytes(),
        format!("{GOOD},1").as_bytes(),
        b"2026-01-05,73000001,\xff,DE,p,t,d,s,1,1,1,1,0.5",
        format!("{GOOD}{}", " ".repeat(20_000)).as_bytes(),
        format!("{GOOD},\"").as_bytes(),
    ] {
        expect_line_errors(&publisher, "text/csv", &line_3(line), &[(3, None)]);
    }
    let header = |header: &str| format!("{header}\n{GOOD}\n").into_bytes();
    for (name, column) in [("clicks,", "clicks"), ("date,", "date"), ("revenue", "revenue")] {
        let names = HEADER.replace(name, "");
        expect_line_errors(&publisher, "text/csv", &header(names.trim_end_matches(',')), &[(1, Some(column))]);
    }
    let repeated = format!("{HEADER},country");
    expect_line_errors(&publisher, "text/csv", &header(&repeated), &[(1, Some("country"))]);
    let unknown = format!("{HEADER},colour");
    expect_line_errors(&publisher, "text/csv", &header(&unknown), &[(1, Some("colour"))]);
    let both = HEADER.replace("country", "land");
    let lines = [(1, Some("land")), (1, Some("country"))];
    expect_line_errors(&publisher, "text/csv", &header(&both), &lines);
    let unbalanced = HEADER.replace("country", "\"country");
    expect_line_errors(&publisher, "text/csv", &header(&unbalanced), &[(1, None)]);
    expect_line_errors(&publisher, "text/csv", b"", &[(1, None)]);
    let old_line_ends = csv(&[GOOD, GOOD]).replace('\n', "\r");
    expect_line_errors(&publisher, "text/csv", old_line_ends.as_bytes(), &[(1, None)]);
}

#[test]
fn a_wrong_value_of_ndjson_is_named_by_its_line_and_member() {
    let signpost = demo();
    let publisher = signpost.publisher("wrong-ndjson");
    let good = with_member("clicks", "1");
    let body = |line: &str| format!("{good}\n{line}\n{good}\n");
    for (member, value) in WRONG_NDJSON {
        let body = body(&with_member(member, value));
        expect_line_errors(&publisher, "application/x-ndjson", body.as_bytes(), &[(2, Some(*member))]);
    }
    for line in ["nonsense", "[]", "null", "{\"date\"", "{} {}", GOOD] {
        let body = body(line);
        let headers = [("Content-Type", "application/x-ndjson"), ("Idempotency-Key", "whole-lines")];
        let before = state(&publisher);
        let answer =
            publisher.send_facts("POST", "facts", &headers, body.as_bytes()).expect_error(400, "invalid_facts");
        assert_eq!(answer.json()["lines"][0]["line"], 2, "{answer:?}");
        assert!(state(&publisher) == before, "{answer:?}");
    }
}

#[test]
fn all_wrong_lines_are_named_up_to_twenty() {
    let signpost = demo();
    let publisher = signpost.publisher("wrong-many");
    let rows = [with_column("clicks", "-1"), GOOD.to_owned(), with_column("country", "UK"), "half".to_owned()];
    let rows: Vec<_> = rows.iter().map(String::as_str).collect();
    let lines = [(2, Some("clicks")), (4, Some("country")), (5, None)];
    expect_line_errors(&publisher, "text/csv", csv(&rows).as_bytes(), &lines);

    let wrong = with_column("revenue", "free");
    let body = csv(&vec![wrong.as_str(); 30]);
    let lines: Vec<_> = (2..22).map(|line| (line, Some("revenue"))).collect();
    expect_line_errors(&publisher, "text/csv", body.as_bytes(), &lines);
}

#[test]
fn a_day_is_replaced_only_if_all_facts_are_valid_and_of_that_day() {
    let signpost = demo();
    let publisher = signpost.publisher("wrong-days");
    publisher.put_facts("2026-01-05", &csv(&[GOOD])).expect(200);
    let before = state(&publisher);
    let other_day = with_column("date", "2026-01-06");
    for (date, row, column) in [
        ("2026-01-05", other_day.as_str(), "date"),
        ("2026-01-06", GOOD, "date"),
        ("2026-01-05", &with_column("clicks", "-1"), "clicks"),
        ("2026-01-05", &with_column("country", "EU"), "country"),
    ] {
        let good = with_column("date", date);
        let answer = publisher.put_facts(date, &csv(&[&good, row])).expect_error(400, "invalid_facts");
        let line = &answer.json()["lines"][0];
        assert_eq!((&line["line"], &line["column"]), (&json!(3), &json!(column)), "{answer:?}");
        assert!(state(&publisher) == before, "{answer:?}");
    }
    for date in ["2026-02-30", "2026-1-5", "today", "20260105"] {
        let answer = publisher.put_facts(date, &csv(&[GOOD]));
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(state(&publisher) == before, "{answer:?}");
    }
}
