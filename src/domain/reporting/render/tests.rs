//! Pages in each format.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::reporting::{Measure, Metric, Sums, query::Query};

/// The content of a page.
#[derive(Clone, Debug)]
struct PageContent {
    dimensions: Vec<Dimension>,
    metrics: Vec<Metric>,
    rows: Vec<(Vec<String>, Sums)>,
    names: HashMap<String, String>,
}

impl PageContent {
    fn page(&self) -> Page {
        let mut page = Page::new(self.dimensions.clone(), self.metrics.clone());
        for (values, sums) in &self.rows {
            page.push(values.iter().map(String::as_str), *sums).unwrap();
        }
        page
    }

    fn renderer(&self, format: Format) -> Renderer {
        Renderer::new(self.page(), format, self.names.clone())
    }

    fn name(&self, app: &str) -> &str {
        self.names.get(app).map_or("unknown", String::as_str)
    }

    /// The rows of docs/SPEC.md, "Report response".
    fn objects(&self) -> Vec<Value> {
        let object = |(values, sums): &(Vec<String>, Sums)| {
            let mut object = Map::new();
            for (dimension, value) in self.dimensions.iter().zip(values) {
                if *dimension == Dimension::App {
                    object.insert("app_id".into(), json!(value));
                    object.insert("app".into(), json!({ "name": self.name(value) }));
                } else {
                    object.insert(dimension.as_str().into(), json!(value));
                }
            }
            for metric in &self.metrics {
                let number = number(*metric, sums);
                if number.parse() != Ok(0.0) {
                    object.insert(metric.as_str().into(), serde_json::from_str(&number).unwrap());
                }
            }
            Value::Object(object)
        };
        self.rows.iter().map(object).collect()
    }

    /// The CSV header and rows.
    fn records(&self) -> Vec<Vec<String>> {
        let dimensions = self.dimensions.iter().flat_map(|dimension| match dimension {
            Dimension::App => vec!["app_id", "app_name"],
            dimension => vec![dimension.as_str()],
        });
        let names = dimensions.chain(self.metrics.iter().map(|metric| metric.as_str()));
        let record = |(values, sums): &(Vec<String>, Sums)| {
            let mut record = Vec::new();
            for (dimension, value) in self.dimensions.iter().zip(values) {
                record.push(value.clone());
                if *dimension == Dimension::App {
                    record.push(self.name(value).to_owned());
                }
            }
            record.extend(self.metrics.iter().map(|metric| number(*metric, sums)));
            record
        };
        let mut records = vec![names.map(str::to_owned).collect()];
        records.extend(self.rows.iter().map(record));
        records
    }
}

fn number(metric: Metric, sums: &Sums) -> String {
    let mut text = String::new();
    Number::of(metric, sums).write(&mut text);
    text
}

fn whole(renderer: Renderer) -> String {
    String::from_utf8(renderer.flatten().collect()).unwrap()
}

/// Parses CSV by the grammar of RFC 4180.
fn read_csv(text: &str) -> Vec<Vec<String>> {
    let mut records = vec![vec![]];
    let mut rest = text.chars().peekable();
    while rest.peek().is_some() {
        let mut field = String::new();
        if rest.next_if_eq(&'"').is_some() {
            loop {
                match rest.next().expect("a closing quote") {
                    '"' if rest.next_if_eq(&'"').is_some() => field.push('"'),
                    '"' => break,
                    char => field.push(char),
                }
            }
        } else {
            while let Some(char) = rest.next_if(|char| !",\r\n\"".contains(*char)) {
                field.push(char);
            }
        }
        records.last_mut().unwrap().push(field);
        match rest.next() {
            Some(',') => {}
            Some('\r') => {
                assert_eq!(rest.next(), Some('\n'));
                records.push(vec![]);
            }
            other => panic!("{other:?} after a field of {text:?}"),
        }
    }
    let last = records.pop();
    assert_eq!(last, Some(vec![]), "the last record ends with a line break");
    records
}

fn report() -> PageContent {
    let row = |values: [&str; 3], sums| (values.map(str::to_owned).to_vec(), sums);
    PageContent {
        dimensions: vec![Dimension::Country, Dimension::App, Dimension::Date],
        metrics: vec![Metric::Sum(Measure::Revenue), Metric::Sum(Measure::Clicks), Metric::ClickRate],
        rows: vec![
            row(["DE", "10000001", "2026-11-02"], [0, 0, 300, 7, 1_250_000]),
            row(["ZZ", "10000002", "2026-11-01"], [9, 0, 0, 0, 0]),
        ],
        names: [("10000001".to_owned(), "Lumen \"Blocks\", 2".to_owned())].into(),
    }
}

const HEADER: &str = "country,app_id,app_name,date,revenue,clicks,click_rate\r\n";

#[test]
fn a_page_is_written_in_the_order_of_the_request() {
    let first = concat!(
        r#"{"country":"DE","app_id":"10000001","app":{"name":"Lumen \"Blocks\", 2"},"#,
        r#""date":"2026-11-02","revenue":1.25,"clicks":7,"click_rate":0.023333}"#,
    );
    let second = r#"{"country":"ZZ","app_id":"10000002","app":{"name":"unknown"},"date":"2026-11-01"}"#;
    let records = concat!(
        "DE,10000001,\"Lumen \"\"Blocks\"\", 2\",2026-11-02,1.25,7,0.023333\r\n",
        "ZZ,10000002,unknown,2026-11-01,0,0,0\r\n",
    );
    for (format, body) in [
        (Format::Json, format!(r#"{{"rows":[{first},{second}]}}"#)),
        (Format::Ndjson, format!("{first}\n{second}\n")),
        (Format::Csv, format!("{HEADER}{records}")),
    ] {
        assert_eq!(whole(report().renderer(format)), body, "{format:?}");
    }
}

#[test]
fn a_page_without_rows_has_a_valid_body() {
    let mut empty = report();
    empty.rows.clear();
    assert_eq!(whole(empty.renderer(Format::Json)), r#"{"rows":[]}"#);
    assert_eq!(whole(empty.renderer(Format::Csv)), HEADER);
    assert_eq!(empty.renderer(Format::Ndjson).count(), 0);
}

#[test]
fn a_long_page_is_split_into_chunks_of_about_64_kib() {
    let mut long = report();
    long.rows = long.rows.iter().cycle().take(5_000).cloned().collect();
    for format in [Format::Json, Format::Csv, Format::Ndjson] {
        let mut sizes: Vec<_> = long.renderer(format).map(|chunk| chunk.len()).collect();
        let last = sizes.pop().unwrap();
        assert!(sizes.len() > 2 && last > 0, "{format:?}: {sizes:?}");
        let as_long = sizes.iter().all(|size| (65_536..65_536 + 200).contains(size));
        assert!(as_long, "{format:?}: {sizes:?}");
    }
}

#[test]
fn a_spreadsheet_keeps_each_text_and_reads_each_number() {
    for (text, constant) in [
        ("=1+1", "'=1+1"),
        ("'=1+1", "''=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("\u{a0}=1", "'\u{a0}=1"),
        (" 42", "' 42"),
        ("＝1", "'＝1"),
        ("＋1", "'＋1"),
        ("－1", "'－1"),
        ("＠x", "'＠x"),
        ("=A1,\"x\"", "'=A1,\"\"x\"\""),
        ("00000042", "00000042"),
        ("2-1", "2-1"),
        ("12e3", "12e3"),
        ("12\" TV", "12\"\" TV"),
        ("١٢", "١٢"),
        ("May 5", "May 5"),
        ("True", "True"),
        ("#REF!", "#REF!"),
        ("\u{200b}=1", "\u{200b}=1"),
    ] {
        assert_eq!(spreadsheet_field(text), csv_field(&format!("=\"{constant}\"")), "{text}");
    }
    for word in ["DE", "a=b", "Ångström Café", "Zürich, \"Mitte\""] {
        assert_eq!(spreadsheet_field(word), csv_field(word));
    }
    let mut content = report();
    content.names = [("10000001".to_owned(), "=cmd".to_owned())].into();
    content.rows.truncate(1);
    content.rows[0].0[0] = "-DE".to_owned();
    content.rows[0].1 = [0, 0, 300, 7, -1_250_000];
    let record = "\"=\"\"'-DE\"\"\",\"=\"\"10000001\"\"\",\"=\"\"'=cmd\"\"\",2026-11-02,-1.25,7,0.023333\r\n";
    assert_eq!(whole(content.renderer(Format::SpreadsheetCsv)), format!("\u{feff}{HEADER}{record}"));
}

/// Texts of characters that are special in spreadsheets.
fn odd_text() -> impl Strategy<Value = String> {
    "[-+=@'\" ,\t\u{a0}＝＋－＠0-9a-eA-E./:%$(]{1,5}|[A-Za-zé]{1,5}|\\PC{1,4}"
}

prop_compose! {
    fn content()(
        dimensions in prop::sample::subsequence(Dimension::ALL.to_vec(), 1..=7).prop_shuffle(),
        metrics in prop::sample::subsequence(Metric::ALL.to_vec(), 1..=9).prop_shuffle(),
        names in prop::collection::hash_map("[0-2]", "[a-zé中😀]{0,8}|[\",\r\n\\\\\u{0}é]{0,4}", 0..3),
    )(
        rows in prop::collection::vec((
            prop::collection::vec("[0-2]|[a-zé中😀]{1,12}|[\",\\\\ ]{1,4}", dimensions.len()),
            [0..3_i64, 0..900, 0..5_000_000, 0..(1_i64 << 53), -9_000_000..(1_i64 << 53)],
        ), 0..20),
        dimensions in Just(dimensions),
        metrics in Just(metrics),
        names in Just(names),
    ) -> PageContent {
        PageContent { dimensions, metrics, rows, names }
    }
}

proptest! {
    #[test]
    fn a_written_page_is_read_back_as_its_rows(content in content()) {
        let json = whole(content.renderer(Format::Json));
        prop_assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), json!({ "rows": content.objects() }));
        let ndjson = whole(content.renderer(Format::Ndjson));
        let lines: Vec<Value> = ndjson
            .split_terminator('\n')
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        prop_assert_eq!(lines, content.objects());
        prop_assert_eq!(read_csv(&whole(content.renderer(Format::Csv))), content.records());
    }

    #[test]
    fn the_body_does_not_depend_on_the_chunk_size(content in content(), chunk in 1..500_usize) {
        for format in [Format::Json, Format::Csv, Format::Ndjson] {
            let mut renderer = content.renderer(format);
            renderer.chunk = chunk;
            let chunks: Vec<_> = renderer.collect();
            prop_assert!(chunks.iter().all(|chunk| !chunk.is_empty()));
            prop_assert_eq!(String::from_utf8(chunks.concat()).unwrap(), whole(content.renderer(format)));
        }
    }

    #[test]
    fn pieces_put_together_are_the_body(content in content(), min_bytes in 1..500_usize) {
        for format in [Format::Csv, Format::SpreadsheetCsv, Format::Ndjson] {
            let (mut body, mut from) = (Vec::new(), 0);
            loop {
                let (piece, rows) = content.renderer(format).piece(from, from == 0, min_bytes);
                body.extend(piece);
                from += rows;
                if from == content.rows.len() {
                    break;
                }
                prop_assert!(rows > 0);
            }
            prop_assert_eq!(String::from_utf8(body).unwrap(), whole(content.renderer(format)));
        }
    }

    #[test]
    fn the_length_of_a_body_is_known_from_its_rows_in_any_order(content in content()) {
        let mut query = Query::parse(
            r#"{"date_range": {"start_date": "2026-01-01", "end_date": "2026-01-01"},
                "dimensions": ["date"], "metrics": ["clicks"]}"#,
        )
        .unwrap();
        (query.dimensions, query.metrics) = (content.dimensions.clone(), content.metrics.clone());
        for format in [Format::Csv, Format::SpreadsheetCsv, Format::Ndjson] {
            let mut length = BodyLength::new(&query, format, content.names.clone());
            for (values, sums) in content.rows.iter().rev() {
                length.add(&values.iter().map(String::as_str).collect::<Vec<_>>(), sums);
            }
            prop_assert_eq!(length.bytes(), whole(content.renderer(format)).len() as u64);
        }
    }

    #[test]
    fn a_spreadsheet_runs_no_text_and_reads_none_as_a_number(text in odd_text()) {
        let cell = read_csv(&format!("{}\r\n", spreadsheet_field(&text))).remove(0).remove(0);
        let signs = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
        let constant = cell.strip_prefix("=\"").and_then(|rest| rest.strip_suffix('"'));
        let read = match constant {
            // Each quote is doubled, so no quote ends the constant early.
            Some(constant) => {
                prop_assert!(!constant.replace("\"\"", "").contains('"'), "{}", cell);
                constant.replace("\"\"", "\"")
            }
            None => {
                let is_word = cell.starts_with(char::is_alphabetic) && !cell.contains(char::is_numeric);
                prop_assert!(is_word && !cell.eq_ignore_ascii_case("true"), "{}", cell);
                cell
            }
        };
        prop_assert!(!read.trim_start().starts_with(signs), "{}", read);
        // The written form determines the text, so no two texts are written alike.
        prop_assert_eq!(read.strip_prefix('\'').unwrap_or(&read), text);
    }

    #[test]
    fn a_json_string_is_written_as_serde_json_writes_it(text in "\\PC{0,8}[\u{0}-\u{7f}]{0,4}") {
        prop_assert_eq!(json_string(&text), serde_json::to_string(&text).unwrap());
    }
}
