//! Wrong uploads are refused with the line, the column and a message.

use serde_json::{Value, json};

use super::*;

mod csv;
mod ndjson;

/// The line and the column of each error, `-` for an error of the whole line.
fn places(outcome: &Outcome) -> Vec<(i64, &str)> {
    let errors = outcome.errors.listed().iter();
    errors.map(|error| (error.line, error.column.as_deref().unwrap_or("-"))).collect()
}

/// Checks the first error of an upload: its line, its column and a part of its message.
#[track_caller]
fn refused(format: Format, upload_day: Option<UtcDay>, body: impl AsRef<[u8]>, line: i64, column: &str, says: &str) {
    let (rows, outcome) = read(format, upload_day, [body.as_ref()]);
    let body = String::from_utf8_lossy(body.as_ref());
    let Some(error) = outcome.errors.listed().first() else { panic!("accepted: {body}") };
    assert_eq!(places(&outcome)[0], (line, column), "{error:?} of {body}");
    assert!(error.message.contains(says), "{says}: {error:?} of {body}");
    assert!(error.message.chars().count() < 200, "{error:?}");
    assert!((rows.len() as i64) < line, "rows after the error of {body}");
}

const GOOD: &str = "2026-11-21,00000042,DE,p,t,d,s,10,9,8,7,1.5";

/// A header, a good row, and a row with another text in one column.
fn with(column: &str, text: &str) -> String {
    let at = HEADER.trim().split(',').position(|name| name == column).unwrap();
    let mut fields: Vec<_> = GOOD.split(',').collect();
    fields[at] = text;
    format!("{HEADER}{GOOD}\r\n{}\r\n", fields.join(","))
}

#[test]
fn every_fault_of_a_header_is_named_and_no_row_is_read() {
    let body = "date,app_id,colour,country\n".to_owned() + &"junk\n".repeat(30);
    let (rows, outcome) = read(Format::Csv, None, [body.as_bytes()]);
    let columns = "colour placement_id ad_tag demand_source sdk_v ad_requests ad_responses impressions clicks revenue";
    let expected: Vec<_> = columns.split(' ').map(|column| (1, column)).collect();
    assert_eq!((places(&outcome), rows.len()), (expected, 0));
    let body: Value = serde_json::from_str(&outcome.errors.body(&INVALID_FACTS)).unwrap();
    let message = "nothing was kept: some lines are wrong (10 errors, the rest was not read)";
    let first = json!({ "line": 1, "column": "colour", "message": "is not a column of facts" });
    assert_eq!(body["code"], "invalid_facts");
    assert_eq!(body["error"], message);
    assert_eq!(body["lines"][0], first);
}

#[test]
fn a_date_must_be_the_day_that_the_upload_is_for() {
    let upload = Some(day("2026-11-21"));
    for text in ["2026-11-22", "", "x"] {
        let says = format!("must be 2026-11-21, the day that the upload is for, not {text:?}");
        refused(Format::Csv, upload, with("date", text), 3, "date", &says);
    }
    let object = r#"{"date":"2026-11-22"}"#;
    refused(Format::Ndjson, upload, object, 1, "date", "must be 2026-11-21");
}

#[test]
fn a_line_longer_than_16_kib_is_refused() {
    let body = with("sdk_v", &"x".repeat(MAX_LINE));
    refused(Format::Csv, None, body, 3, "-", "is longer than 16384 bytes");
}

#[test]
fn a_row_that_brings_its_day_above_the_maximum_is_refused() {
    let row = |date: &str, clicks: &str| format!("{date},00000042,,,,,,0,0,0,{clicks},0\n");
    let full = row("2026-11-21", "9007199254740991") + &row("2026-11-20", "9007199254740992");
    let over = row("2026-11-21", "2") + &row("2026-11-21", "1") + &row("2026-11-21", "1");
    let body = HEADER.to_owned() + &full + &over;
    let (rows, outcome) = read(Format::Csv, None, [body.as_bytes()]);
    assert_eq!(places(&outcome), [(4, "clicks"), (6, "clicks")]);
    assert_eq!(rows.len(), 2);
}

#[test]
fn after_twenty_wrong_lines_the_rest_is_not_read() {
    let twenty = format!("{HEADER}{GOOD}\n{}", "wrong\n".repeat(20));
    let more = format!("{twenty}{GOOD}\nwrong");
    let rest = "(20 errors, the rest was not read)";
    for (body, chunk, says) in
        [(&twenty, usize::MAX, "(20 errors)"), (&more, usize::MAX, rest), (&more, 7, rest), (&more, 1, rest)]
    {
        let (rows, outcome) = read(Format::Csv, None, body.as_bytes().chunks(chunk));
        let places = places(&outcome);
        assert_eq!((rows.len(), places.len()), (1, 20), "{chunk} {says}");
        assert_eq!(places[19], (22, "-"), "{chunk} {says}");
        let body = outcome.errors.body(&INVALID_FACTS);
        assert!(body.contains(says), "{chunk} {says}: {body}");
    }
}
