//! Wrong uploads are refused with the line, the column and a message.

use serde_json::{Value, json};

use super::*;

mod csv;
mod ndjson;

/// The first wrong line: its number, its column and the message.
#[track_caller]
fn first(format: Format, upload_day: Option<UtcDay>, body: &[u8]) -> (i64, String, String) {
    let (rows, outcome) = read(format, upload_day, [body]);
    let error = outcome
        .errors
        .named()
        .first()
        .unwrap_or_else(|| panic!("accepted: {}", String::from_utf8_lossy(body)));
    assert!((rows.len() as i64) < error.line, "only rows before the error");
    let column = error.column.as_deref().unwrap_or("-").to_owned();
    (error.line, column, error.message.clone())
}

#[track_caller]
fn refused(format: Format, upload_day: Option<UtcDay>, body: &[u8], line: i64, column: &str, says: &str) {
    let found = first(format, upload_day, body);
    assert_eq!(
        (found.0, found.1.as_str()),
        (line, column),
        "{}: {found:?}",
        String::from_utf8_lossy(body)
    );
    assert!(
        found.2.contains(says),
        "{says}: {found:?} of {}",
        String::from_utf8_lossy(body)
    );
    assert!(found.2.chars().count() < 200, "{found:?}");
}

const GOOD: [&str; 12] = [
    "2026-11-21",
    "00000042",
    "DE",
    "p",
    "t",
    "d",
    "s",
    "10",
    "9",
    "8",
    "7",
    "1.5",
];

/// A header, a good row, and a row with another text in one column.
fn with(column: &str, text: &str) -> String {
    let at = HEADER.trim().split(',').position(|name| name == column).unwrap();
    let mut fields = GOOD;
    fields[at] = text;
    format!("{HEADER}{}\r\n{}\r\n", GOOD.join(","), fields.join(","))
}

#[test]
fn every_fault_of_a_header_is_named_and_no_row_is_read() {
    let body = "date,app_id,colour,country\n".to_owned() + &"junk\n".repeat(30);
    let (rows, outcome) = read(Format::Csv, None, [body.as_bytes()]);
    let columns: Vec<_> = outcome
        .errors
        .named()
        .iter()
        .map(|error| (error.line, error.column.as_deref().unwrap()))
        .collect();
    assert_eq!(columns[..3], [(1, "colour"), (1, "placement_id"), (1, "ad_tag")]);
    assert_eq!((columns.len(), rows.len()), (10, 0));
    let body: Value = serde_json::from_str(&outcome.errors.body(&INVALID_FACTS)).unwrap();
    assert_eq!(body["code"], "invalid_facts");
    assert_eq!(
        body["error"],
        "nothing was kept: some lines are wrong (10 errors, the rest was not read)"
    );
    assert_eq!(
        body["lines"][0],
        json!({ "line": 1, "column": "colour", "message": "is not a column of facts" })
    );
}

#[test]
fn a_date_must_be_the_day_that_the_upload_is_for() {
    let upload_day = Some(day("2026-11-21"));
    for text in ["2026-11-22", "", "x"] {
        let says = format!("must be 2026-11-21, the day that the upload is for, not {text:?}");
        refused(
            Format::Csv,
            upload_day,
            with("date", text).as_bytes(),
            3,
            "date",
            &says,
        );
    }
    refused(
        Format::Ndjson,
        upload_day,
        b"{\"date\":\"2026-11-22\"}",
        1,
        "date",
        "must be 2026-11-21",
    );
}

#[test]
fn a_line_longer_than_16_kib_is_refused() {
    let body = with("sdk_v", &"x".repeat(MAX_LINE));
    refused(
        Format::Csv,
        None,
        body.as_bytes(),
        3,
        "-",
        "is longer than 16384 bytes",
    );
}

#[test]
fn a_row_that_brings_its_day_above_the_maximum_is_refused() {
    let row = |date: &str, clicks: &str| format!("{date},00000042,,,,,,0,0,0,{clicks},0\n");
    let full = row("2026-11-21", "9007199254740991") + &row("2026-11-20", "9007199254740992");
    let over = row("2026-11-21", "2") + &row("2026-11-21", "1") + &row("2026-11-21", "1");
    let body = HEADER.to_owned() + &full + &over;
    let (rows, outcome) = read(Format::Csv, None, [body.as_bytes()]);
    let lines: Vec<_> = outcome
        .errors
        .named()
        .iter()
        .map(|error| (error.line, error.column.as_deref()))
        .collect();
    assert_eq!(lines, [(4, Some("clicks")), (6, Some("clicks"))]);
    assert_eq!(rows.len(), 2);
}

#[test]
fn after_twenty_wrong_lines_the_rest_is_not_read() {
    let good = GOOD.join(",") + "\n";
    let body = HEADER.to_owned() + &good + &"wrong\n".repeat(20);
    let (rows, outcome) = read(Format::Csv, None, [body.as_bytes()]);
    assert_eq!((rows.len(), outcome.errors.named().len()), (1, 20));
    assert!(outcome.errors.body(&INVALID_FACTS).contains("(20 errors)"));
    for chunk in [1, 7, usize::MAX] {
        let body = body.clone() + &good + "wrong";
        let (rows, outcome) = read(Format::Csv, None, body.as_bytes().chunks(chunk.min(body.len())));
        assert_eq!((rows.len(), outcome.errors.named().len()), (1, 20));
        assert_eq!(outcome.errors.named()[19].line, 22);
        assert!(
            outcome
                .errors
                .body(&INVALID_FACTS)
                .contains("(20 errors, the rest was not read)")
        );
    }
}
