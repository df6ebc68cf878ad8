//! Facts are read as they were written, in any spelling and any chunks; arbitrary bytes never break the reader.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::json;

use super::*;
use crate::{
    model::country::Country,
    reporting::{
        Measure,
        dimension::{Dimension, KEY, is_value},
    },
};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        1 => select(vec![
            "unknown", "a,b", "\"", "\"\"", " ", ",", "'", "\\", "\\u0041", "Offer wall", "Zürich", "日本",
        ])
        .prop_map(str::to_owned),
        1 => "[ -~]{1,12}",
        1 => "\\PC{1,12}",
    ]
    .prop_filter("not a value of a dimension", |text| {
        is_value(text) && !text.contains('\u{feff}') && text != "offerwall"
    })
}

prop_compose! {
    fn row()(
        day in (10_957..=47_481_i64).prop_map(|number| UtcDay::from_number(number).unwrap()),
        app in 0..100_000_000_u32,
        country in (0..=u8::MAX).prop_map(|index| Country::from_index(index).map_or("ZZ", Country::as_str)),
        [placement_id, ad_tag, demand_source, sdk_v] in prop::array::uniform4(text()),
        [requests, responses, impressions, clicks] in [0..(1_i64 << 32), 0..10, 0..10, 0..10],
        revenue in -2_000_000_000_000_i64..2_000_000_000_000,
        app_name in prop::option::of(text()),
    ) -> Row {
        let (app, country) = (format!("{app:08}"), country.to_owned());
        let key = [app, country, placement_id, ad_tag, demand_source, sdk_v];
        Row { day, key, sums: [requests, responses, impressions, clicks, revenue], app_name }
    }
}

fn usd(micros: i64) -> String {
    let size = micros.unsigned_abs();
    let sign = if micros < 0 { "-" } else { "" };
    format!("{sign}{}.{:06}", size / 1_000_000, size % 1_000_000)
}

/// The text of a row in one column, as in CSV. An unknown value may be left empty.
fn field(row: &Row, column: &str, choice: u8) -> String {
    let known = |text: &str, dimension: Dimension| {
        let empty = text == dimension.unknown() && choice.is_multiple_of(2);
        if empty { String::new() } else { text.to_owned() }
    };
    match column {
        "date" => row.day.to_string(),
        "app_id" => row.key[0].clone(),
        "app_name" => row.app_name.clone().unwrap_or_default(),
        "country" if choice.is_multiple_of(3) => known(&row.key[1], Dimension::Country).to_lowercase(),
        "revenue" => usd(row.sums[4]),
        name => match KEY.iter().position(|dimension| dimension.as_str() == name) {
            Some(at) => known(&row.key[at], KEY[at]),
            None => row.sums[column::index_of(name, 0).unwrap() - 8].to_string(),
        },
    }
}

/// An endless cycle of random decisions.
struct Choices<'c>(std::iter::Cycle<std::slice::Iter<'c, u8>>);

impl<'c> Choices<'c> {
    fn new(bytes: &'c [u8]) -> Self {
        Self(bytes.iter().cycle())
    }

    fn next(&mut self) -> u8 {
        *self.0.next().unwrap()
    }
}

fn csv(rows: &[Row], columns: &[&str], choices: &mut Choices<'_>) -> String {
    let mark = ["\u{feff}", ""][usize::from(choices.next() % 2)];
    let mut body = mark.to_owned() + &columns.join(",");
    for row in rows {
        body += ["\n", "\r\n", "\n\n", "\r\n \r\n"][usize::from(choices.next() % 4)];
        let fields: Vec<_> = columns
            .iter()
            .map(|column| {
                let text = field(row, column, choices.next());
                if text.contains(['"', ',']) || choices.next().is_multiple_of(3) {
                    format!("\"{}\"", text.replace('"', "\"\""))
                } else {
                    text
                }
            })
            .collect();
        body += &fields.join(",");
    }
    body + ["", "\n", "\r\n"][usize::from(choices.next() % 3)]
}

fn ndjson(rows: &[Row], columns: &[&str], choices: &mut Choices<'_>) -> String {
    let mut body = String::new();
    for row in rows {
        let members: Vec<_> = columns
            .iter()
            .filter_map(|column| {
                let text = field(row, column, choices.next());
                let measure = Measure::ALL.iter().any(|measure| measure.as_str() == *column);
                let value = match choices.next() % 3 {
                    _ if measure => text,
                    0 if text.is_empty() => return None,
                    1 if text.is_empty() => "null".to_owned(),
                    2 => {
                        let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
                        format!("\"{}\"", units.collect::<String>())
                    }
                    _ => json!(text).to_string(),
                };
                let blank = if choices.next().is_multiple_of(4) { " " } else { "" };
                Some(format!("{blank}\"{column}\"{blank}:{blank}{value}{blank}"))
            })
            .collect();
        body += &format!("{{{}}}", members.join(","));
        body += ["\n", "\r\n", "\n\n"][usize::from(choices.next() % 3)];
    }
    body
}

fn columns() -> impl Strategy<Value = Vec<&'static str>> {
    Just(column::COLUMNS.map(|column| column.name).to_vec()).prop_shuffle()
}

/// Splits a body into chunks of the chosen lengths, at least one of which is not 0. A chunk may be empty.
fn cut<'b>(mut body: &'b [u8], choices: &mut Choices<'_>) -> Vec<&'b [u8]> {
    let mut chunks = Vec::new();
    while !body.is_empty() {
        let (chunk, rest) = body.split_at(usize::from(choices.next()).min(body.len()));
        chunks.push(chunk);
        body = rest;
    }
    chunks
}

fn choices() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 1..64).prop_filter("only empty chunks", |bytes| bytes.iter().any(|byte| *byte > 0))
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        3 => select(vec![
            HEADER, "2026-11-21,00000042,DE,p,t,d,s,1,2,3,4,5.5\n", "2026-11-21", ",", "\"", "\r", "\n", "\u{feff}",
            "{\"date\":\"2026-11-21\",\"app_id\":\"00000042\",\"ad_requests\":1,\"ad_responses\":1,\"impressions\":1,\
             \"clicks\":1,\"revenue\":1}\n",
            "{", "}", "\"date\":", "\"clicks\":1e400", "null", "\\u", "[", "junk\n", "\"sdk_v\":\"\\ud800\"",
        ])
        .prop_map(|piece| piece.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..8),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn facts_are_read_as_they_were_written(
        rows in vec(row(), 0..8), columns in columns(), decisions in choices(), cuts in choices(),
    ) {
        let mut decide = Choices::new(&decisions);
        let written = [
            (Format::Csv, csv(&rows, &columns, &mut decide)),
            (Format::Ndjson, ndjson(&rows, &columns, &mut decide)),
        ];
        for (format, body) in written {
            let (found, outcome) = read(format, None, cut(body.as_bytes(), &mut Choices::new(&cuts)));
            prop_assert_eq!(outcome.errors.listed(), [], "{}", body);
            prop_assert_eq!(outcome.rows, rows.len() as u64);
            prop_assert_eq!(&found, &rows, "{}", body);
        }
    }

    #[test]
    fn no_row_is_passed_on_after_the_first_wrong_line(
        rows in vec(row(), 1..8), columns in columns(), cuts in choices(), wrong in any::<prop::sample::Index>(),
    ) {
        // Constant decisions give one line per row, and no blank lines.
        let mut decide = Choices::new(&[5]);
        let wrong = wrong.index(rows.len());
        for (format, body, headers) in [
            (Format::Csv, csv(&rows, &columns, &mut decide), 1),
            (Format::Ndjson, ndjson(&rows, &columns, &mut decide).replace("\n\n", "\n"), 0),
        ] {
            let mut lines: Vec<_> = body.lines().filter(|line| !line.trim().is_empty()).collect();
            lines[headers + wrong] = "\"";
            let body = lines.join("\n");
            let (found, outcome) = read(format, None, cut(body.as_bytes(), &mut Choices::new(&cuts)));
            prop_assert_eq!(&found, &rows[..wrong]);
            prop_assert_eq!(outcome.errors.listed().len(), 1);
            prop_assert_eq!(outcome.errors.listed()[0].line, (headers + wrong + 1) as i64);
        }
    }

    #[test]
    fn the_result_does_not_depend_on_how_a_body_is_chunked(body in pieces(), cuts in choices(), dated in any::<bool>()) {
        for format in [Format::Csv, Format::Ndjson] {
            let upload_day = dated.then(|| day("2026-11-21"));
            let (whole, cut) = (
                read(format, upload_day, [body.as_slice()]),
                read(format, upload_day, cut(&body, &mut Choices::new(&cuts))),
            );
            prop_assert_eq!(&whole, &cut);
            if whole.1.errors.is_empty() {
                prop_assert_eq!(whole.0.len() as u64, whole.1.rows);
            }
            for error in whole.1.errors.listed() {
                prop_assert!(error.message.chars().count() < 400, "{}", error.message);
                prop_assert!(!error.message.chars().any(char::is_control), "{:?}", error.message);
            }
        }
    }
}
