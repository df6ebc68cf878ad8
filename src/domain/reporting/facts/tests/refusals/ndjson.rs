//! Wrong NDJSON objects, one fault each.

use super::*;
use crate::reporting::testing::cells;

#[track_caller]
fn refused_ndjson(body: impl AsRef<[u8]>, line: i64, column: &str, says: &str) {
    refused(Format::Ndjson, None, body, line, column, says);
}

/// A good object, and on the next line the same object with a part replaced.
fn with_part(part: &str, by: &str) -> String {
    let good = r#"{"date":"2026-11-21","app_id":"00000042","country":"DE","ad_requests":10,"ad_responses":9,"impressions":8,"clicks":7,"revenue":1.5}"#;
    assert!(good.contains(part), "{part}");
    format!("{good}\n{}\n", good.replace(part, by))
}

/// A part of a good object, the text that replaces it, the column of the error and its message.
const WRONG: &str = r#"
    "clicks":7,            |                                  | clicks        | is missing
    "clicks":7             | "clicks":null                    | clicks        | is missing
    "app_id":"00000042",   |                                  | app_id        | is missing
    "date":"2026-11-21",   |                                  | date          | is missing
    "clicks":7             | "clicks":"7"                     | clicks        | must be a whole number from 0 to 9007199254740992, not "7"
    "clicks":7             | "clicks":7.0                     | clicks        | not 7.0
    "clicks":7             | "clicks":1e3                     | clicks        | not 1e3
    "clicks":7             | "clicks":-1                      | clicks        | not -1
    "clicks":7             | "clicks":true                    | clicks        | not true
    "clicks":7             | "clicks":[7]                     | clicks        | not [7]
    "clicks":7             | "clicks":9007199254740993        | clicks        | whole number
    "clicks":7             | "clicks":07                      | clicks        | is not valid JSON
    "clicks":7             | "clicks":7,"clicks":7            | clicks        | appears more than once
    "clicks":7             | "clicks":7,"cl\u0069cks":7       | clicks        | appears more than once
    "clicks":7             | "clicks":7,"ecpm":7              | ecpm          | is not a column of facts
    "clicks":7             | "clicks":7,"\u0000":7            | \0            | is not a column of facts
    "revenue":1.5          | "revenue":1e400                  | revenue       | must be USD, a decimal number
    "revenue":1.5          | "revenue":"1.5"                  | revenue       | not "1.5"
    "revenue":1.5          | "revenue":0.0000001              | revenue       | not 0.0000001
    "revenue":1.5          | "revenue":1.5.5                  | -             | is not valid JSON
    "country":"DE"         | "country":5                      | country       | must be a string, not 5
    "country":"DE"         | "country":{"a":"\n"}             | country       | must be a string, not {"a":"\\n"}
    "country":"DE"         | "country":"UK"                   | country       | must be an assigned ISO 3166
    "country":"DE"         | "sdk_v":"a\u0000"                | sdk_v         | control characters or byte order marks, not "a\0"
    "country":"DE"         | "sdk_v":"\ud800"                 | sdk_v         | is not valid JSON
    "country":"DE"         | "sdk_v":"\ufeff"                 | sdk_v         | byte order marks
    "country":"DE"         | "app_name":"a\nb"                | app_name      | control characters
    "country":"DE"         | "demand_source":"offerw\u0061ll" | demand_source | must not be "offerwall"
    "country":"DE"         | country:"DE"                     | -             | is not valid JSON from byte
    }                      | } {}                             | -             | is not valid JSON from byte
    }                      |                                  | -             | is not valid JSON from byte
    "clicks":7,"revenue"   | "clicks":7 "revenue"             | -             | is not valid JSON from byte
    {                      | [{                               | -             | must be an object
"#;

#[test]
fn wrong_ndjson_rows_are_refused() {
    for row in WRONG.trim().lines() {
        let [part, by, column, says] = cells(row);
        refused_ndjson(with_part(part, by), 2, column, says);
    }
    let tab = with_part("\"country\":\"DE\"", "\"sdk_v\":\"a\tb\"");
    refused_ndjson(tab, 2, "sdk_v", "is not valid JSON");
    let mark = with_part("{", "\u{feff}{");
    refused_ndjson(mark, 2, "-", "is not valid JSON from byte 1");
    for junk in ["[]", "5", "null", "\"{}\"", "true"] {
        refused_ndjson(junk, 1, "-", "must be an object");
    }
    let long = format!("\"{}\"", "long ".repeat(1_000));
    let shown = format!("must be an object, not \"{}…", "long ".repeat(8).trim_end());
    refused_ndjson(long, 1, "-", &shown);
    let deep = format!("{{\"clicks\":{}", "[".repeat(MAX_LINE - 10));
    refused_ndjson(deep, 1, "clicks", "is not valid JSON");
}
