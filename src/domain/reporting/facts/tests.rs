//! Valid uploads, and the facts that are read from them.

use std::convert::Infallible;

use super::*;
use crate::reporting::Sums;

mod properties;
mod refusals;

/// An owned copy of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    day: UtcDay,
    key: [String; 6],
    sums: Sums,
    app_name: Option<String>,
}

impl From<Fact<'_>> for Row {
    fn from(fact: Fact<'_>) -> Self {
        Self {
            day: fact.day,
            key: fact.key.map(str::to_owned),
            sums: fact.sums,
            app_name: fact.app_name.map(str::to_owned),
        }
    }
}

fn day(text: &str) -> UtcDay {
    UtcDay::parse(text).unwrap()
}

fn read<'c>(format: Format, day: Option<UtcDay>, chunks: impl IntoIterator<Item = &'c [u8]>) -> (Vec<Row>, Outcome) {
    let mut rows = Vec::new();
    let mut sink = |fact: Fact<'_>| {
        rows.push(Row::from(fact));
        Ok::<(), Infallible>(())
    };
    let mut reader = Reader::new(format, day);
    for chunk in chunks {
        let Ok(()) = reader.push(chunk, &mut sink);
    }
    let Ok(outcome) = reader.finish(&mut sink);
    (rows, outcome)
}

#[track_caller]
fn accepted(format: Format, day: Option<UtcDay>, body: &str) -> Vec<Row> {
    let (rows, outcome) = read(format, day, [body.as_bytes()]);
    assert_eq!(outcome.errors.listed(), [], "{body}");
    assert_eq!(outcome.rows, rows.len() as u64, "{body}");
    rows
}

const HEADER: &str = "date,app_id,country,placement_id,ad_tag,demand_source,sdk_v,\
    ad_requests,ad_responses,impressions,clicks,revenue\n";

fn expected(app_name: Option<&str>) -> Row {
    Row {
        day: day("2026-11-21"),
        key: ["00000042", "DE", "p, \"1\"", "tag", "network", "unknown"].map(str::to_owned),
        sums: [10, 9, 8, 7, 1_250_000],
        app_name: app_name.map(str::to_owned),
    }
}

#[test]
fn csv_may_be_quoted_and_have_its_columns_in_any_order() {
    let plain = format!("{HEADER}2026-11-21,00000042,de,\"p, \"\"1\"\"\",tag,network,,10,9,8,7,1.25\n");
    assert_eq!(accepted(Format::Csv, None, &plain), [expected(None)]);
    let other = "\u{feff}\"revenue\",clicks,impressions,ad_responses,ad_requests,sdk_v,demand_source,ad_tag,\
        placement_id,country,app_id,app_name,\"date\"\r\n\r\n \t\n\
        1.250,\"7\",8,9,10,\"\",network,\"tag\",\"p, \"\"1\"\"\",De,00000042,\"My \"\"app\"\"\",2026-11-21\r\n";
    let named = expected(Some("My \"app\""));
    assert_eq!(accepted(Format::Csv, None, other), [named]);
}

#[test]
fn ndjson_has_the_same_columns_as_members() {
    let body = r#"
        {"date": "2026-11-21", "app_id": "00000042", "country": "de", "placement_id": "p, \"1\"", "ad_tag": "t\u0061g",
        "demand_source": "network", "ad_requests": 10, "ad_responses": 9, "impressions": 8, "clicks": 7, "revenue": 125e-2}
    "#;
    let body = body.trim().replace('\n', "") + "\n\n";
    assert_eq!(accepted(Format::Ndjson, None, &body), [expected(None)]);
    let members = r#""\u0064E", "sdk_v": null, "app_name": "\u00fc""#;
    let other = body.replace(r#""de""#, members).replace(r#""date""#, r#""d\u0061te""#);
    assert_eq!(accepted(Format::Ndjson, None, &other), [expected(Some("ü"))]);
}

#[test]
fn an_upload_for_one_day_needs_no_date() {
    let upload_day = Some(day("2026-11-21"));
    let row = "00000042,de,\"p, \"\"1\"\"\",tag,network,,10,9,8,7,1.25";
    let without = HEADER.strip_prefix("date,").unwrap();
    for body in [format!("{without}{row}"), format!("{HEADER}2026-11-21,{row}")] {
        assert_eq!(accepted(Format::Csv, upload_day, &body), [expected(None)]);
    }
    let object = r#"{"app_id":"00000042","country":"de","placement_id":"p, \"1\"","ad_tag":"tag",
        "demand_source":"network","ad_requests":10,"ad_responses":9,"impressions":8,"clicks":7,"revenue":1.25"#;
    for end in ["}", r#","date":"2026-11-21"}"#, r#","date":null}"#] {
        let body = object.replace('\n', "") + end;
        assert_eq!(accepted(Format::Ndjson, upload_day, &body), [expected(None)]);
    }
}

#[test]
fn empty_dimensions_are_read_as_unknown() {
    let unknown = ["00000042", "ZZ", "unknown", "unknown", "unknown", "unknown"].map(str::to_owned);
    for country in ["", "ZZ", "zz"] {
        let body = format!("{HEADER}2026-11-21,00000042,{country},,,\"\",,0,0,0,0,0");
        assert_eq!(accepted(Format::Csv, None, &body)[0].key, unknown, "{body}");
    }
    let sums = r#""ad_requests":0,"ad_responses":0,"impressions":0,"clicks":0,"revenue":0"#;
    for member in ["", r#""country":null,"ad_tag":"","#, r#""country":"zZ","#] {
        let body = format!(r#"{{"date":"2026-11-21",{member}"app_id":"00000042",{sums}}}"#);
        assert_eq!(accepted(Format::Ndjson, None, &body)[0].key, unknown, "{body}");
    }
}

#[test]
fn values_are_read_unchanged() {
    let longest = "é".repeat(64);
    let body = format!("{HEADER}2000-01-01,99999999,XK, a ,{longest},Offer-wall,ＡＢ,0,0,0,0,-0.5");
    let rows = accepted(Format::Csv, None, &body);
    let key = ["99999999", "XK", " a ", &longest, "Offer-wall", "ＡＢ"];
    assert_eq!(rows[0].key, key.map(str::to_owned));
    assert_eq!(rows[0].sums, [0, 0, 0, 0, -500_000]);
    assert_eq!(rows[0].day, day("2000-01-01"));
}

#[test]
fn the_longest_row_fits_in_a_line() {
    // Texts of 128 bytes with six characters per byte, and numbers with the maximum number of digits.
    let text = "\\u0061".repeat(128);
    let mut body = r#"{"date":"2026-11-21","app_id":"00000042""#.to_owned();
    for name in ["app_name", "placement_id", "ad_tag", "demand_source", "sdk_v"] {
        body += &format!(r#","{name}":"{text}""#);
    }
    for name in ["ad_requests", "ad_responses", "impressions", "clicks"] {
        body += &format!(r#","{name}":9007199254740992"#);
    }
    body += r#","revenue":-9007199254.740992}"#;
    assert!(body.len() * 3 < MAX_LINE);
    let rows = accepted(Format::Ndjson, None, &body);
    assert_eq!(rows[0].app_name, Some("a".repeat(128)));
}

#[test]
fn an_error_of_the_sink_stops_the_reader() {
    let row = "2026-11-21,00000042,,,,,,1,1,1,1,1\n";
    let mut received = 0;
    let mut sink = |_: Fact<'_>| {
        received += 1;
        if received == 2 { Err("full") } else { Ok(()) }
    };
    let body = HEADER.to_owned() + &row.repeat(5);
    let mut reader = Reader::new(Format::Csv, None);
    assert_eq!(reader.push(body.as_bytes(), &mut sink), Err("full"));
    assert_eq!(received, 2);
}
