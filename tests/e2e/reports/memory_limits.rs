//! Limits that protect an isolate's memory from slow clients, and an operator's day of facts from an empty body.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::{
    harness::{Answer, Publisher, REPORT, ReportKey, Setup, Signpost, demo, eventually, with},
    overload::{expect_immediate_refusal, metric, permits_taken, send_without_reading},
    reports::{csv, query},
};
use edge::limits::{Pool, QUERIES_OF_KEY};
use platform::concurrency_limit::Limit;

const QUERIES: Limit = Pool::Queries.limit();

/// Rows with a long value each. A page of them takes about 8 MB, and is sent as the client reads it.
const ROWS: usize = 50_000;

fn large_query() -> Value {
    with(query(&["placement_id"], &["impressions"]), &json!({"pagination": {"count": ROWS}}))
}

/// The head and the first byte of a query. The rest is never sent.
fn half_query(key: &ReportKey) -> String {
    format!(
        "POST {REPORT} HTTP/1.1\r\nHost: reports\r\nX-Api-Key: {}\r\nContent-Type: application/json\r\n\
         Content-Length: 1000\r\n\r\n{{",
        key.api_key
    )
}

fn report_with(signpost: &Signpost, key: &ReportKey) -> Answer {
    let query = query(&["placement_id"], &["impressions"]);
    signpost.report_with(&key.api_key, query.to_string().as_bytes())
}

#[test]
fn a_key_with_incomplete_queries_delays_no_other_key() {
    let signpost = Setup::new().start();
    let publisher = signpost.publisher("slow-queries");
    let (slow, good) = (publisher.create_key("slow"), publisher.create_key("good"));
    // Only the ledger knows that the key was revoked, and it is called only with a complete query.
    publisher.revoke_key(&slow);
    let waiting = send_without_reading(&signpost, &vec![half_query(&slow); QUERIES_OF_KEY]);
    eventually(&QUERIES_OF_KEY, || permits_taken(&signpost, "query"));
    expect_immediate_refusal(|| report_with(&signpost, &slow));
    report_with(&signpost, &good).expect(204);
    drop(waiting);
    eventually(&0, || permits_taken(&signpost, "query"));
    report_with(&signpost, &slow).expect_error(401, "invalid_api_key");
}

#[test]
fn a_publisher_with_incomplete_queries_delays_no_other_publisher() {
    let signpost = Setup::new().start();
    let [slow, other] = ["slow-keys", "no-slow-keys"].map(|id| signpost.publisher(id));
    let (own_key, other_key) = (slow.create_key("good"), other.create_key("good"));
    // Enough keys to take all permits, each within its own share.
    let keys = QUERIES.permits / QUERIES_OF_KEY;
    let halves: Vec<_> = (0..keys)
        .map(|n| slow.create_key(&format!("slow {n}")))
        .flat_map(|key| vec![half_query(&key); QUERIES_OF_KEY])
        .collect();
    let waiting = send_without_reading(&signpost, &halves);
    let shed = || metric(&signpost, "shed_total", "query");
    eventually(&halves.len(), || permits_taken(&signpost, "query") + shed());
    report_with(&signpost, &other_key).expect(204);
    assert_eq!(permits_taken(&signpost, "query"), QUERIES.per_owner);
    expect_immediate_refusal(|| report_with(&signpost, &own_key));
    drop(waiting);
    eventually(&0, || permits_taken(&signpost, "query"));
    report_with(&signpost, &own_key).expect(204);
}

/// Requests a large page on a new connection, and reads nothing.
fn request_page(publisher: &Publisher<'_>, address: &str) -> TcpStream {
    let (key, body) = (publisher.create_key("does not read"), large_query().to_string());
    let mut stream = TcpStream::connect(address.trim_start_matches("http://")).unwrap();
    let head = format!(
        "POST {REPORT} HTTP/1.1\r\nHost: reports\r\nX-Api-Key: {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        key.api_key,
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    stream
}

#[test]
fn clients_that_do_not_read_their_report_use_only_their_share_of_memory() {
    let signpost = Setup::new().start();
    let publishers = ["bounds-readers-1", "bounds-readers-2", "bounds-readers-3"].map(|id| signpost.publisher(id));
    let rows: Vec<_> = (0..ROWS).map(|n| format!("2026-01-05,74000061,,DE,p{n:0120},t,d,s,1,1,1,1,0.5")).collect();
    let rows: Vec<_> = rows.iter().map(String::as_str).collect();
    for publisher in &publishers {
        publisher.put_facts("2026-01-05", &csv(&rows)).expect(200);
    }
    let [first, second, third] = &publishers;
    let mut readers = Vec::new();
    let mut unread = |publisher, count: usize| {
        let began = readers.len();
        readers.extend((0..count).map(|_| request_page(publisher, &signpost.base())));
        let answers: Vec<_> = readers
            .iter_mut()
            .skip(began)
            .map(|reader| {
                let mut status = [0; 12];
                reader.read_exact(&mut status).unwrap();
                String::from_utf8_lossy(&status).into_owned()
            })
            .collect();
        let count = |status: &str| answers.iter().filter(|answer| answer.ends_with(status)).count();
        assert_eq!(count("200") + count("503"), answers.len(), "{answers:?}");
        count("200")
    };

    let first_pages = unread(first, 20);
    // Meanwhile another publisher's page is sent; its memory is free as soon as it was read.
    second.report(&large_query()).expect(200);
    let second_pages = unread(second, 5);
    let third_pages = unread(third, 5);
    // Two pages of about 8 MB use up a ledger's half of the memory limit, and five pages use up all of it.
    assert_eq!([first_pages, second_pages, third_pages], [2, 2, 1]);
    let memory = signpost.wasm_memory();
    assert!(memory < 110_000_000, "{memory} bytes");
    // Small reports work meanwhile, and large ones work once the readers are gone.
    assert_eq!(first.rows(&query(&["country"], &["impressions"])).len(), 1);
    drop(readers);
    eventually(&200, || first.report(&large_query()).status);
}

#[test]
fn an_empty_body_clears_no_day() {
    let signpost = demo();
    let publisher = signpost.publisher("bounds-empty");
    let fact = csv(&["2026-01-05,74000062,,DE,p,t,d,s,1,1,1,1,0.5"]);
    publisher.put_facts("2026-01-05", &fact).expect(200);
    let put = |body: &str| {
        let headers = [("Content-Type", "application/x-ndjson")];
        publisher.send_facts("PUT", "facts/2026-01-05", &headers, body.as_bytes())
    };
    put("").expect_error(400, "invalid_facts");
    assert_eq!(publisher.days().len(), 1);
    assert_eq!(put("\n").expect(200).json(), json!({"rows": 0}));
    assert_eq!(publisher.days()[0]["loaded"]["rows"], 0);
}

#[test]
fn facts_with_a_mistyped_year_are_refused() {
    let signpost = demo();
    let publisher = signpost.publisher("bounds-years");
    for date in ["9999-12-31", "0026-01-05", "1999-12-31", "2026-1-5", "today"] {
        let fact = csv(&[&format!("{date},74000063,,DE,p,t,d,s,1,1,1,1,0.5")]);
        publisher.put_facts(date, &fact).expect_error(400, "invalid_field");
    }
    assert!(publisher.days().is_empty());
}
