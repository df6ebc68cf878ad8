//! Wrong CSV headers and rows, one fault each.

use super::*;

#[test]
fn wrong_csv_headers_are_refused() {
    for (header, line, column, says) in [
        ("", 1, "-", "the header is missing"),
        ("\u{feff}", 1, "-", "the header is missing"),
        ("\n \n\r\n", 1, "-", "the header is missing"),
        ("2026-11-21,00000042", 1, "2026-11-21", "is not a column of facts"),
        (
            &HEADER.replace("clicks", "Clicks"),
            1,
            "Clicks",
            "is not a column of facts",
        ),
        (
            &HEADER.replace("clicks", " clicks"),
            1,
            " clicks",
            "is not a column of facts",
        ),
        (
            &HEADER.replace("clicks", "clicks,ecpm"),
            1,
            "ecpm",
            "is not a column of facts",
        ),
        (
            &HEADER.replace("clicks", "clicks,"),
            1,
            "",
            "is not a column of facts",
        ),
        (
            &HEADER.replace("clicks", "clicks,clicks"),
            1,
            "clicks",
            "is there more than once",
        ),
        (
            &HEADER.replace("clicks,", ""),
            1,
            "clicks",
            "is missing from the header",
        ),
        (
            &HEADER.replace("date,", ""),
            1,
            "date",
            "is missing from the header",
        ),
        (
            &HEADER.replace("app_id,", ""),
            1,
            "app_id",
            "is missing from the header",
        ),
        (
            &HEADER.replace("country", "\u{feff}country"),
            1,
            "\\u{feff}country",
            "is not a column of facts",
        ),
        (
            &format!("\u{feff}\u{feff}{HEADER}"),
            1,
            "\\u{feff}date",
            "is not a column of facts",
        ),
        (
            &HEADER.replace("country", "\"coun\"try"),
            1,
            "-",
            "field 3 has text after its closing quote",
        ),
        (
            &HEADER.replace("country", "coun\"try"),
            1,
            "-",
            "field 3 has a quote",
        ),
        (
            &HEADER.replace("country", "\"country"),
            1,
            "-",
            "field 3 has a quote that is not closed",
        ),
        (
            &HEADER.replace("country", "\"a\"\"b\""),
            1,
            "a\"b",
            "is not a column of facts",
        ),
        (
            &HEADER.replace('\n', "\r2026-11-21"),
            1,
            "-",
            "field 12 has a carriage return",
        ),
        (
            &HEADER.replace(',', ";"),
            1,
            "date;app_id;country;placement_id;ad_tag;…",
            "is not a column",
        ),
        (
            &format!("\n\n{}", HEADER.replace("clicks,", "")),
            3,
            "clicks",
            "is missing",
        ),
        (&"x".repeat(MAX_LINE + 1), 1, "-", "is longer than 16384 bytes"),
    ] {
        refused(Format::Csv, None, header.as_bytes(), line, column, says);
    }
    refused(
        Format::Csv,
        None,
        b"date,\xFF",
        1,
        "-",
        "is not UTF-8, from byte 6",
    );
}

#[test]
fn wrong_csv_rows_are_refused() {
    let long = "x".repeat(129);
    for (column, text, says) in [
        (
            "date",
            "2026-02-29",
            "must be a date from 2000-01-01 to 2099-12-31, written YYYY-MM-DD, not \"2026-02-29\"",
        ),
        ("date", "", "not \"\""),
        ("date", "1999-12-31", "must be a date"),
        ("date", "2100-01-01", "must be a date"),
        ("date", "2026-1-1", "must be a date"),
        ("date", "\u{feff}2026-11-21", "not \"\\u{feff}2026-11-21\""),
        ("date", "date", "must be a date"),
        ("app_id", "", "must be exactly 8 digits, not \"\""),
        ("app_id", "1234567", "must be exactly 8 digits"),
        ("app_id", "+1234567", "must be exactly 8 digits"),
        (
            "country",
            "UK",
            "must be an assigned ISO 3166 alpha-2 code or empty, not \"UK\"",
        ),
        ("country", "T1", "must be an assigned"),
        ("country", "DEU", "must be an assigned"),
        ("country", " ", "must be an assigned"),
        ("placement_id", &long, "must be at most 128 bytes"),
        (
            "placement_id",
            &long,
            "not \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"…",
        ),
        (
            "ad_tag",
            "a\tb",
            "without control characters or byte order marks, not \"a\\tb\"",
        ),
        ("ad_tag", "a\0b", "control characters"),
        ("ad_tag", "a\u{85}b", "control characters"),
        ("sdk_v", "a\u{feff}", "byte order marks, not \"a\\u{feff}\""),
        ("sdk_v", "a\rb", "has a carriage return that ends no line"),
        ("sdk_v", "\"a\rb\"", "control characters"),
        ("sdk_v", "\"a\"b", "has text after its closing quote"),
        ("sdk_v", "\"a\" ", "has text after its closing quote"),
        ("sdk_v", "a\"b", "has a quote, and does not begin with one"),
        ("sdk_v", " \"a\"", "has a quote, and does not begin with one"),
        ("sdk_v", "\"a", "has a quote that is not closed on its line"),
        ("sdk_v", "\"a\"\"", "has a quote that is not closed on its line"),
        ("sdk_v", "\"", "has a quote that is not closed on its line"),
        (
            "demand_source",
            "offerwall",
            "must not be \"offerwall\": those facts are written by Signpost itself",
        ),
        (
            "ad_requests",
            "-1",
            "must be a whole number from 0 to 9007199254740992, not \"-1\"",
        ),
        ("ad_requests", "", "not \"\""),
        ("ad_responses", "1.0", "whole number"),
        ("impressions", "1e400", "whole number"),
        ("impressions", "1 000", "whole number"),
        ("clicks", "9007199254740993", "whole number"),
        ("clicks", "99999999999999999999", "whole number"),
        (
            "revenue",
            "1e400",
            "must be USD, a decimal number with at most 6 decimals and at most 9007199254.740992",
        ),
        ("revenue", "1e2", "USD"),
        ("revenue", "0.0000001", "USD"),
        ("revenue", "+1", "USD"),
        ("revenue", "$1", "USD"),
        ("revenue", "\"1,5\"", "not \"1,5\""),
        ("revenue", "9007199254.740993", "USD"),
        // The fault is the day's total, not the row itself.
        (
            "ad_requests",
            "9007199254740992",
            "brings 2026-11-21 above what a day may have, 9007199254740992",
        ),
        (
            "revenue",
            "-9007199254.740992",
            "above what a day may have, 9007199254740992 micro-USD, whichever way",
        ),
    ] {
        refused(Format::Csv, None, with(column, text).as_bytes(), 3, column, says);
    }
    for (text, says) in [
        ("1,2", "has 13 fields, the header names 12"),
        ("1\r\n2026-11-21", "has 1 field, the header names 12"),
        ("1,\"2", "field 13 has a quote that is not closed"),
    ] {
        let body = with("revenue", text);
        let line = if text.contains('\n') { 4 } else { 3 };
        refused(Format::Csv, None, body.as_bytes(), line, "-", says);
    }
    let body = [with("clicks", "7").as_bytes(), b"2026-11-21,\xC3\x28,"].concat();
    let not_utf8 = String::from_utf8_lossy(&body).lines().count() as i64;
    let (_, outcome) = read(Format::Csv, None, [body.as_slice()]);
    assert_eq!(outcome.errors.named()[0].line, not_utf8);
    assert_eq!(outcome.errors.named()[0].message, "is not UTF-8, from byte 12");
}
