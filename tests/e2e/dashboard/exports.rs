//! Exports have all rows of a report, and a reader notices a file that is cut off.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::{Value, json};

use super::{Browser, HOST, signed_in};
use crate::{
    harness::{Answer, Publisher, demo},
    reports::model::Random,
};

/// The formats of exports, and the media type of the API's report that each is like.
pub const FORMATS: [(&str, &str); 3] =
    [("csv", "text/csv"), ("spreadsheet_csv", "text/csv"), ("ndjson", "application/x-ndjson")];

fn create(browser: &Browser<'_>, query: &Value, format: &str) -> (String, u64) {
    let body = json!({ "query": query, "format": format });
    let made = browser.post("exports", &body).expect(201).json();
    let export_id = made["export_id"].as_str().unwrap().to_owned();
    (export_id, made["rows"].as_u64().unwrap())
}

fn read(browser: &Browser<'_>, export_id: &str) -> Answer {
    browser.get(&format!("exports/{export_id}"))
}

/// Compares an export with the report's pages, which are read with report keys and joined.
#[track_caller]
pub fn check_export(
    publisher: &Publisher<'_>,
    browser: &Browser<'_>,
    random: &mut Random,
    query: &Value,
    (format, media_type): (&str, &str),
    total: u64,
) {
    let mut whole = query.clone();
    whole.as_object_mut().unwrap().remove("pagination");
    let (export_id, rows) = create(browser, &whole, format);
    assert_eq!(rows, total, "{query}");
    let answer = read(browser, &export_id).expect(200);
    let count = total.div_ceil(1 + random.below(3) as u64);
    let mut expected = String::new();
    for page in 1..=total.div_ceil(count) {
        let mut paged = query.clone();
        paged["pagination"] = json!({ "count": count, "page": page });
        let body = publisher.report_as(media_type, &paged).expect(200).body;
        // Each page of CSV has the head.
        let head = match (page, media_type) {
            (2.., "text/csv") => body.find("\r\n").unwrap() + 2,
            _ => 0,
        };
        expected.push_str(&body[head..]);
    }
    if format == "spreadsheet_csv" {
        let dimensions = query["dimensions"].as_array().unwrap();
        // The app has two columns.
        let app = |name: &Value| if name == "app" { 2 } else { 1 };
        let is_text = |name: &Value| vec![name != "date"; app(name)];
        let texts: Vec<_> = dimensions.iter().flat_map(is_text).collect();
        let (head, rows) = expected.split_once("\r\n").unwrap();
        let lines = rows.split_terminator("\r\n");
        let rows: String = lines.map(|line| for_spreadsheets(line, &texts)).collect();
        expected = format!("\u{feff}{head}\r\n{rows}");
    }
    assert!(answer.body == expected, "{format} of {query}\n{answer:?}\n{expected}");
}

/// A line of CSV as a spreadsheet keeps it. `texts` says which of the first columns are texts.
fn for_spreadsheets(line: &str, texts: &[bool]) -> String {
    let (mut fields, mut is_quoted) = (vec![String::new()], false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.next_if_eq(&'"').is_some() => fields.last_mut().unwrap().push('"'),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            other => fields.last_mut().unwrap().push(other),
        }
    }
    for (field, _) in fields.iter_mut().zip(texts).filter(|(_, is_text)| **is_text) {
        let is_word = field.starts_with(char::is_alphabetic) && !field.contains(char::is_numeric);
        if !is_word {
            let mark = if field.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
            // Doubled in the formula, and again in the CSV.
            *field = format!("\"=\"\"{mark}{}\"\"\"", field.replace('"', "\"\"\"\""));
        } else if field.contains([',', '"']) {
            *field = format!("\"{}\"", field.replace('"', "\"\""));
        }
    }
    fields.join(",") + "\r\n"
}

fn query(dimensions: &[&str]) -> Value {
    json!({
        "date_range": { "start_date": "2026-02-01", "end_date": "2026-02-28" },
        "dimensions": dimensions, "metrics": ["clicks"],
    })
}

/// Facts of a day: the clicks and the revenue of each placement.
fn facts(placements: &[(&str, i64, &str)]) -> String {
    let mut csv = HEAD.to_owned();
    for (placement, clicks, revenue) in placements {
        csv.push_str(&format!(
            "30000001,DE,{placement},tag,source,1,1,1,1,{clicks},{revenue}
"
        ));
    }
    csv
}

const HEAD: &str =
    "app_id,country,placement_id,ad_tag,demand_source,sdk_v,ad_requests,ad_responses,impressions,clicks,revenue
";

#[test]
fn an_export_is_a_file_for_its_session_alone_and_once() {
    let signpost = demo();
    let publisher = signpost.publisher("exports-once");
    publisher.put_facts("2026-02-01", &facts(&[("=home", 4, "-0.5"), ("shop", 3, "1")])).expect(200);
    let analyst = signed_in(&signpost, &publisher, "analyst");
    let others = [
        signed_in(&signpost, &publisher, "owner"),
        signed_in(&signpost, &publisher, "analyst"),
        signed_in(&signpost, &signpost.publisher("exports-other"), "owner"),
    ];
    let mut query = query(&["placement_id"]);
    query["metrics"] = json!(["clicks", "revenue"]);
    let unknown = read(&analyst, "0123456789abcdef").expect_error(404, "not_found").body;
    for ((format, media_type), body) in FORMATS.into_iter().zip([
        "placement_id,clicks,revenue\r\n=home,4,-0.5\r\nshop,3,1\r\n",
        "\u{feff}placement_id,clicks,revenue\r\n\"=\"\"'=home\"\"\",4,-0.5\r\nshop,3,1\r\n",
        "{\"placement_id\":\"=home\",\"clicks\":4,\"revenue\":-0.5}\n\
         {\"placement_id\":\"shop\",\"clicks\":3,\"revenue\":1}\n",
    ]) {
        let (export_id, rows) = create(&analyst, &query, format);
        assert_eq!(rows, 2);
        for other in &others {
            let answer = read(other, &export_id).expect_error(404, "not_found");
            assert_eq!(answer.body, unknown);
        }
        let answer = read(&analyst, &export_id).expect(200);
        assert_eq!(answer.body, body);
        assert!(answer.header("Content-Type").unwrap().starts_with(media_type));
        let extension = if format == "ndjson" { "ndjson" } else { "csv" };
        assert_eq!(
            answer.header("Content-Disposition").unwrap(),
            format!("attachment; filename=\"signpost-exports-once-2026-02-01-to-2026-02-28.{extension}\"")
        );
        assert_eq!(answer.header("Cache-Control"), Some("no-store"));
        let again = read(&analyst, &export_id).expect_error(404, "not_found");
        assert_eq!(again.body, unknown);
    }
    // Without a row there is a file without rows.
    query["date_range"] = json!({ "start_date": "2026-01-01", "end_date": "2026-01-02" });
    let (export_id, rows) = create(&analyst, &query, "csv");
    assert_eq!(rows, 0);
    let answer = read(&analyst, &export_id).expect(200);
    assert_eq!(answer.body, "placement_id,clicks,revenue\r\n");
    for (body, code) in [
        (json!({ "query": query, "format": "xlsx" }), "invalid_field"),
        (json!({ "query": query }), "missing_field"),
        (json!({ "query": {}, "format": "csv" }), "missing_field"),
        (json!({ "query": query, "format": "csv", "more": 1 }), "unknown_field"),
    ] {
        analyst.post("exports", &body).expect_error(400, code);
    }
    query["pagination"] = json!({ "count": 5 });
    analyst.post("exports", &json!({ "query": query, "format": "csv" })).expect_error(400, "invalid_pagination");
}

#[test]
fn a_file_has_the_rows_that_were_announced_or_is_refused() {
    let signpost = demo();
    let publisher = signpost.publisher("exports-replaced");
    let analyst = signed_in(&signpost, &publisher, "analyst");
    let put = |placements: &[(&str, i64, &str)]| publisher.put_facts("2026-02-01", &facts(placements)).expect(200);
    put(&[("home", 4, "1")]);
    let by_placement = query(&["placement_id"]);
    let (export_id, _) = create(&analyst, &by_placement, "csv");
    put(&[("home", 5, "1")]);
    assert_eq!(read(&analyst, &export_id).expect(200).body, "placement_id,clicks\r\nhome,5\r\n");
    let (export_id, _) = create(&analyst, &by_placement, "csv");
    put(&[("home", 5, "1"), ("shop", 5, "1")]);
    read(&analyst, &export_id).expect_error(409, "facts_changed");
    read(&analyst, &export_id).expect_error(404, "not_found");
}

/// Rows of a large result, half a KiB each: 20 MiB, which is more than the sockets can buffer.
const ROWS: usize = 40_000;

fn large_facts() -> String {
    let long = "x".repeat(110);
    let mut csv = HEAD.to_owned();
    for row in 0..ROWS {
        csv.push_str(&format!("30000001,DE,{long}{row},{long}{},{long},{long},1,1,1,1,1\n", ROWS - row));
    }
    csv
}

/// Begins to read an export: returns what came first, and the connection.
fn begin(browser: &Browser<'_>, export_id: &str) -> (Vec<u8>, TcpStream) {
    let base = browser.signpost.base();
    let mut stream = TcpStream::connect(base.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let cookie = browser.cookie.as_deref().unwrap();
    let request = format!(
        "GET /v1/dashboard/exports/{export_id} HTTP/1.1\r\nHost: {HOST}\r\nSec-Fetch-Site: same-origin\r\n\
         Cookie: {cookie}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut first = vec![0; 4_096];
    let read = stream.read(&mut first).unwrap();
    first.truncate(read);
    assert!(first.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&first));
    (first, stream)
}

/// The bytes of a body that its head announces, and those that came.
fn lengths(answer: &[u8]) -> (usize, usize) {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    let (_, length) = head.split_once("content-length: ").expect("a length");
    let (length, _) = length.split_once("\r\n").unwrap();
    (length.parse().unwrap(), answer.len() - end)
}

#[test]
fn a_large_export_ends_only_if_all_its_rows_are_of_one_version() {
    let signpost = demo();
    let publisher = signpost.publisher("exports-large");
    let analyst = signed_in(&signpost, &publisher, "analyst");
    publisher.put_facts("2026-02-01", &large_facts()).expect(200);
    let by_all = query(&["placement_id", "ad_tag", "demand_source", "sdk_v"]);

    let (export_id, rows) = create(&analyst, &by_all, "csv");
    assert_eq!(rows, ROWS as u64);
    let answer = read(&analyst, &export_id).expect(200);
    // The texts are too long for a single page of the API.
    let page = |page: u64| {
        let mut paged = by_all.clone();
        paged["pagination"] = json!({ "count": ROWS / 2, "page": page });
        publisher.report_as("text/csv", &paged).expect(200).body
    };
    let (mut whole, second) = (page(1), page(2));
    let head = second.find("\r\n").unwrap() + 2;
    whole.push_str(&second[head..]);
    assert!(answer.body == whole, "{} and {} bytes", answer.body.len(), whole.len());

    // Facts of another day, and a slow reader.
    let (export_id, _) = create(&analyst, &by_all, "csv");
    let (mut body, mut stream) = begin(&analyst, &export_id);
    publisher.put_facts("2026-03-01", &facts(&[("home", 4, "1")])).expect(200);
    stream.read_to_end(&mut body).unwrap();
    assert_eq!(lengths(&body), (whole.len(), whole.len()));

    // Facts of its own days.
    let (export_id, _) = create(&analyst, &by_all, "csv");
    let (mut body, mut stream) = begin(&analyst, &export_id);
    publisher.put_facts("2026-02-02", &facts(&[("home", 4, "1")])).expect(200);
    // The reader notices a reset as well as an end.
    let _ = stream.read_to_end(&mut body);
    let (announced, received) = lengths(&body);
    assert_eq!(announced, whole.len());
    assert!(received < announced, "{received} bytes");
}
