//! Fuzz targets for uploads of facts.

use std::convert::Infallible;

use serde_json::{Value, json};

use domain::{
    model::{money::MicroUsd, time::UtcDay},
    reporting::{
        dimension::KEY,
        facts::{self, Format, INVALID_FACTS, Outcome, Reader},
        metric::Measure,
    },
};

/// A parsed row.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    day: UtcDay,
    key: [String; KEY.len()],
    sums: [i64; 5],
    app_name: Option<String>,
}

/// Input: a `text/csv` body; see [`body`].
pub fn csv(input: &[u8]) {
    body(input, Format::Csv);
}

/// Input: an `application/x-ndjson` body; see [`body`].
pub fn ndjson(input: &[u8]) {
    body(input, Format::Ndjson);
}

/// A body reads the same however it is split into chunks. A refusal lists the first 20 wrong lines, in texts that fit
/// into a log. An accepted body reads the same when written again in either format, and no day holds more than its
/// limit.
fn body(input: &[u8], format: Format) {
    for day in [None, UtcDay::parse("2026-11-03")] {
        let (rows, outcome) = read(format, day, [input]);
        assert_eq!((&rows, &outcome), (&read(format, day, input.chunks(1)).0, &read(format, day, input.chunks(1)).1));
        let uneven = 1 + input.first().copied().map_or(0, usize::from);
        let (other_rows, other_outcome) = read(format, day, input.chunks(uneven));
        assert_eq!((&rows, &outcome), (&other_rows, &other_outcome));

        let errors = &outcome.errors;
        assert!(errors.listed().len() <= 20);
        assert!(errors.listed().is_sorted_by_key(|error| error.line));
        for error in errors.listed() {
            assert!(error.line >= 1 && error.message.chars().count() < 400, "{error:?}");
            let column = error.column.as_deref().unwrap_or_default();
            assert!(column.chars().count() < 400, "{error:?}");
            assert!(!error.message.chars().chain(column.chars()).any(char::is_control), "{error:?}");
        }
        if !errors.is_empty() {
            let reply: Value = serde_json::from_str(&errors.body(&INVALID_FACTS)).unwrap();
            assert_eq!(reply["lines"].as_array().unwrap().len(), errors.listed().len());
            continue;
        }
        assert_eq!(rows.len() as u64, outcome.rows);
        for row in &rows {
            assert!(day.is_none_or(|day| day == row.day) && facts::day(&row.day.to_string()).is_ok());
        }
        let (written_csv, written_ndjson) = (to_csv(&rows), to_ndjson(&rows));
        for (format, text) in [(Format::Csv, written_csv), (Format::Ndjson, written_ndjson)] {
            let (again, outcome) = read(format, day, [text.as_bytes()]);
            assert_eq!(outcome.errors.listed(), [], "{text}");
            assert_eq!(again, rows, "{text}");
        }
    }
}

fn read<'c>(format: Format, day: Option<UtcDay>, chunks: impl IntoIterator<Item = &'c [u8]>) -> (Vec<Row>, Outcome) {
    let mut rows = Vec::new();
    let mut reader = Reader::new(format, day);
    let mut keep = |fact: facts::Fact<'_>| {
        rows.push(Row {
            day: fact.day,
            key: fact.key.map(str::to_owned),
            sums: fact.sums,
            app_name: fact.app_name.map(str::to_owned),
        });
        Ok::<(), Infallible>(())
    };
    for chunk in chunks {
        let Ok(()) = reader.push(chunk, &mut keep);
    }
    let Ok(outcome) = reader.finish(&mut keep);
    (rows, outcome)
}

fn usd(micros: i64) -> String {
    let mut text = String::new();
    MicroUsd(micros).write_usd(&mut text);
    text
}

fn to_csv(rows: &[Row]) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let names = KEY.map(|dimension| match dimension.as_str() {
        "app" => "app_id",
        name => name,
    });
    let measures = Measure::ALL.map(Measure::as_str);
    let mut text = format!("date,app_name,{},{}\r\n", names.join(","), measures.join(","));
    for row in rows {
        let name = row.app_name.as_deref().unwrap_or_default();
        let mut fields = vec![row.day.to_string(), quoted(name)];
        fields.extend(row.key.iter().map(|value| quoted(value)));
        let [counts @ .., revenue] = &row.sums;
        fields.extend(counts.iter().map(i64::to_string));
        fields.push(usd(*revenue));
        text += &(fields.join(",") + "\r\n");
    }
    text
}

fn to_ndjson(rows: &[Row]) -> String {
    // The first line is empty: an empty body would hold no facts, and an empty line clears a day.
    let mut text = "\n".to_owned();
    for row in rows {
        let mut members = json!({ "date": row.day.to_string(), "app_name": row.app_name });
        for (dimension, value) in KEY.iter().zip(&row.key) {
            let name = match dimension.as_str() {
                "app" => "app_id",
                name => name,
            };
            members[name] = value.as_str().into();
        }
        let [counts @ .., revenue] = row.sums;
        for (measure, count) in Measure::ALL.iter().zip(counts) {
            members[measure.as_str()] = count.into();
        }
        // Written as digits: near 2^53 micro-USD a float does not hold every sixth decimal of a dollar.
        let members = members.to_string();
        let members = members.trim_end_matches('}');
        text += &format!("{members},\"revenue\":{}}}\n", usd(revenue));
    }
    text
}
