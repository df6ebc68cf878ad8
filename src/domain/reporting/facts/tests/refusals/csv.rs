//! Wrong CSV headers and rows, one fault each.

use super::*;

#[track_caller]
fn refused_csv(body: impl AsRef<[u8]>, line: i64, column: &str, says: &str) {
    refused(Format::Csv, None, body, line, column, says);
}

const UNKNOWN: &str = "is not a column of facts";

#[test]
fn wrong_csv_headers_are_refused() {
    for empty in ["", "\u{feff}", "\n \n\r\n"] {
        refused_csv(empty, 1, "-", "the header is missing");
    }
    refused_csv("x".repeat(MAX_LINE + 1), 1, "-", "is longer than 16384 bytes");
    refused_csv(b"date,\xFF", 1, "-", "is not UTF-8, from byte 6");
    let after_blank_lines = format!("\n\n{}", HEADER.replace("clicks,", ""));
    refused_csv(after_blank_lines, 3, "clicks", "is missing");
    refused_csv("2026-11-21,00000042", 1, "2026-11-21", UNKNOWN);
    refused_csv(format!("\u{feff}\u{feff}{HEADER}"), 1, "\\u{feff}date", UNKNOWN);
    for (part, by, column, says) in [
        ("clicks", "Clicks", "Clicks", UNKNOWN),
        ("clicks", " clicks", " clicks", UNKNOWN),
        ("clicks", "clicks,ecpm", "ecpm", UNKNOWN),
        ("clicks", "clicks,", "", UNKNOWN),
        ("country", "\u{feff}country", "\\u{feff}country", UNKNOWN),
        ("country", "\"a\"\"b\"", "a\"b", UNKNOWN),
        (",", ";", "date;app_id;country;placement_id;ad_tag;…", UNKNOWN),
        ("clicks", "clicks,clicks", "clicks", "appears more than once"),
        ("clicks,", "", "clicks", "is missing from the header"),
        ("date,", "", "date", "is missing from the header"),
        ("app_id,", "", "app_id", "is missing from the header"),
        ("\n", "\r2026-11-21", "-", "field 12 has a carriage return"),
    ] {
        refused_csv(HEADER.replace(part, by), 1, column, says);
    }
    for (country, says) in [
        ("\"coun\"try", "field 3 has text after its closing quote"),
        ("coun\"try", "field 3 has a quote"),
        ("\"country", "field 3 has a quote that is not closed"),
    ] {
        refused_csv(HEADER.replace("country", country), 1, "-", says);
    }
}

const DATE: &str = "must be a date from 2000-01-01 to 2099-12-31, written YYYY-MM-DD, not";
const COUNTRY: &str = "must be an assigned ISO 3166 alpha-2 code or empty, not";
const TEXT: &str = "must be at most 128 bytes without control characters or byte order marks, not";
const RESERVED: &str = "must not be \"offerwall\": Signpost adds those facts itself";
const COUNT: &str = "must be a whole number from 0 to 9007199254740992, not";
const USD: &str = "must be USD, a decimal number with at most 6 decimals and at most 9007199254.740992";
const UNCLOSED: &str = "has a quote that is not closed on its line";
const LATE_QUOTE: &str = "has a quote but does not begin with one";
const DAY_COUNT: &str = "brings 2026-11-21 above the daily maximum, 9007199254740992";
const DAY_USD: &str = "above the daily maximum, 9007199254740992 micro-USD in magnitude";

#[test]
fn wrong_csv_rows_are_refused() {
    let long = "x".repeat(129);
    let shown = format!("not \"{}\"…", "x".repeat(40));
    for (column, text, says) in [
        ("date", "2026-02-29", DATE),
        ("date", "2026-02-29", "not \"2026-02-29\""),
        ("date", "", "not \"\""),
        ("date", "1999-12-31", DATE),
        ("date", "2100-01-01", DATE),
        ("date", "2026-1-1", DATE),
        ("date", "\u{feff}2026-11-21", "not \"\\u{feff}2026-11-21\""),
        ("date", "date", DATE),
        ("app_id", "", "must be exactly 8 digits, not \"\""),
        ("app_id", "1234567", "must be exactly 8 digits"),
        ("app_id", "+1234567", "must be exactly 8 digits"),
        ("country", "UK", COUNTRY),
        ("country", "UK", "not \"UK\""),
        ("country", "T1", COUNTRY),
        ("country", "DEU", COUNTRY),
        ("country", " ", COUNTRY),
        ("placement_id", &long, TEXT),
        ("placement_id", &long, &shown),
        ("ad_tag", "a\tb", TEXT),
        ("ad_tag", "a\tb", "not \"a\\tb\""),
        ("ad_tag", "a\0b", TEXT),
        ("ad_tag", "a\u{85}b", TEXT),
        ("sdk_v", "a\u{feff}", "byte order marks, not \"a\\u{feff}\""),
        ("sdk_v", "a\rb", "has a carriage return inside the line"),
        ("sdk_v", "\"a\rb\"", TEXT),
        ("sdk_v", "\"a\"b", "has text after its closing quote"),
        ("sdk_v", "\"a\" ", "has text after its closing quote"),
        ("sdk_v", "a\"b", LATE_QUOTE),
        ("sdk_v", " \"a\"", LATE_QUOTE),
        ("sdk_v", "\"a", UNCLOSED),
        ("sdk_v", "\"a\"\"", UNCLOSED),
        ("sdk_v", "\"", UNCLOSED),
        ("demand_source", "offerwall", RESERVED),
        ("ad_requests", "-1", COUNT),
        ("ad_requests", "-1", "not \"-1\""),
        ("ad_requests", "", "not \"\""),
        ("ad_responses", "1.0", COUNT),
        ("impressions", "1e400", COUNT),
        ("impressions", "1 000", COUNT),
        ("clicks", "9007199254740993", COUNT),
        ("clicks", "99999999999999999999", COUNT),
        ("revenue", "1e400", USD),
        ("revenue", "1e2", USD),
        ("revenue", "0.0000001", USD),
        ("revenue", "+1", USD),
        ("revenue", "$1", USD),
        ("revenue", "\"1,5\"", "not \"1,5\""),
        ("revenue", "9007199254.740993", USD),
        // The fault is the day's total, not the row itself.
        ("ad_requests", "9007199254740992", DAY_COUNT),
        ("revenue", "-9007199254.740992", DAY_USD),
    ] {
        refused_csv(with(column, text), 3, column, says);
    }
    for (text, line, says) in [
        ("1,2", 3, "has 13 fields, but the header has 12"),
        ("1\r\n2026-11-21", 4, "has 1 field, but the header has 12"),
        ("1,\"2", 3, "field 13 has a quote that is not closed"),
    ] {
        refused_csv(with("revenue", text), line, "-", says);
    }
    let not_utf8 = [with("clicks", "7").as_bytes(), b"2026-11-21,\xC3\x28,"].concat();
    let (_, outcome) = read(Format::Csv, None, [not_utf8.as_slice()]);
    assert_eq!(places(&outcome), [(4, "-")]);
    assert_eq!(outcome.errors.listed()[0].message, "is not UTF-8, from byte 12");
}
