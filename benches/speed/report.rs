//! Reports over a million facts against DuckDB on the same facts: one thread, native, ENUM columns, its own JSON.
//! Both are timed from the query to the bytes of the answer. Ours is the additional time of many reports in one
//! request over a single one, so that HTTP is in neither.

#[path = "report/duckdb.rs"]
mod duckdb;
#[path = "report/facts.rs"]
mod facts;

use std::{thread::sleep, time::Duration};

use serde_json::{Value, json};

use self::duckdb::DuckDb;
use crate::{
    bench::Bench,
    harness::{Publisher, Signpost},
    load::interleaved,
    stats::{estimate, ratios},
    table::{self, Row, Verdict, interval, spread, times},
    time::Stopwatch,
};

/// Reports in one request besides the first: enough that the call to the ledger does not matter.
const TIMES: usize = 10;
const METRICS: [&str; 3] = ["impressions", "clicks", "revenue"];

/// A query, and the target as a multiple of DuckDB's speed.
pub struct Work {
    pub name: &'static str,
    target: f64,
    pub query: Value,
}

pub fn rows(bench: &Bench) -> Vec<Row> {
    let ours = bench.yardstick("bench_build").start();
    let publisher = with_facts(&ours);
    let file = bench.scratch().join("facts.csv");
    facts::write(&file);
    let mut theirs = DuckDb::start(&file, &bench.scratch().join("answer.json"));
    let works = works();
    for (number, work) in works.iter().enumerate() {
        let (ours, theirs) = (answer(&ours, &publisher, &work.query), theirs.answer(number));
        assert_same(work.name, &ours, &theirs);
    }
    let mut rows = Vec::new();
    for (number, work) in works.iter().enumerate() {
        rows.push(row(bench, &ours, &publisher, &mut theirs, number, work).printed());
    }
    rows.push(dashboard_row(bench, &ours, &publisher).printed());
    rows
}

/// A publisher with a million facts.
pub fn with_facts(signpost: &Signpost) -> Publisher<'_> {
    let publisher = signpost.publisher("report");
    publisher.put_days(facts::DAYS, facts::date, facts::csv, facts::rows_of);
    publisher
}

pub fn works() -> [Work; 4] {
    let query = |dimensions: &[&str], more: Value| {
        let mut query = json!({
            "date_range": {"start_date": facts::date(0), "end_date": facts::date(facts::DAYS - 1)},
            "dimensions": dimensions,
            "metrics": METRICS,
        });
        let members = more.as_object().expect("members").clone();
        query.as_object_mut().expect("an object").extend(members);
        query
    };
    let by = |columns: &[&str]| -> Value {
        let order = columns.iter();
        order.map(|column| json!({"column": column, "ascending": *column != "revenue"})).collect()
    };
    [
        Work {
            name: "date+app",
            target: 1.2,
            query: query(&["date", "app"], json!({"order_by": by(&["date", "app"])})),
        },
        Work {
            name: "country by revenue",
            target: 1.2,
            query: query(&["country"], json!({"order_by": by(&["revenue"])})),
        },
        Work {
            name: "three countries by app and demand_source",
            target: 1.2,
            query: query(
                &["app", "demand_source"],
                json!({
                    "filters": [{"dimension": "country", "values": ["DE", "FR", "US"]}],
                    "order_by": by(&["app", "demand_source"]),
                }),
            ),
        },
        Work {
            name: "date+app+country+placement_id, the first 1,000 by revenue",
            target: 1.2,
            query: query(
                &["date", "app", "country", "placement_id"],
                json!({"order_by": by(&["revenue"]), "pagination": {"page": 1, "count": 1_000}}),
            ),
        },
    ]
}

fn row(
    bench: &Bench,
    ours: &Signpost,
    publisher: &Publisher<'_>,
    theirs: &mut DuckDb,
    number: usize,
    work: &Work,
) -> Row {
    let body = work.query.to_string();
    let mut our_side = || ms(ours, publisher, &body);
    let mut their_side = || theirs.ms(number, TIMES);
    let found = interleaved(work.name, bench.rounds, &mut [&mut our_side, &mut their_side]);
    let ratio = estimate(&ratios(&found[1], &found[0])).expect("rounds");
    Row {
        work: format!("report of 1,000,000 facts: {}", work.name),
        ours: spread(&found[0], table::ms),
        yardstick: spread(&found[1], table::ms),
        ratio: interval(&ratio, times),
        target: format!("≥ {}", times(work.target)),
        verdict: Verdict::of(ratio.median >= work.target),
        notes: vec!["the ratio compares speeds; both answers were the same".to_owned()],
    }
}

/// The additional time of many reports in one request over a single one, for each.
pub fn ms(ours: &Signpost, publisher: &Publisher<'_>, body: &str) -> f64 {
    let watch = Stopwatch::start();
    last_report(ours, publisher, body, 1);
    let alone_ms = watch.ms();
    let watch = Stopwatch::start();
    last_report(ours, publisher, body, 1 + TIMES);
    (watch.ms() - alone_ms) / TIMES as f64
}

/// A view of the dashboard's reports, from its call to the answer: chart, table and totals of all facts. The call goes
/// through the session's account, so the ledger's own time is less.
fn dashboard_row(bench: &Bench, ours: &Signpost, publisher: &Publisher<'_>) -> Row {
    let query = |dimensions: &[&str], totals: bool| {
        json!({
            "date_range": {"start_date": facts::date(0), "end_date": facts::date(facts::DAYS - 1)},
            "dimensions": dimensions,
            "metrics": METRICS,
            "order_by": [{"column": "revenue", "ascending": false}],
            "pagination": {"page": 1, "count": 100},
            "totals": totals,
        })
    };
    let queries = json!({ "queries": [query(&["date"], false), query(&["app", "country"], true)] }).to_string();
    let cookie = sign_in(ours, publisher);
    let headers = [&PAGE_HEADERS[..], &[("Cookie", cookie.as_str()), ("X-Publisher", publisher.id.as_str())]].concat();
    let call = || ours.send("POST", "/v1/dashboard/reports", &headers, queries.as_bytes());
    let mut view = || {
        // The budget of a publisher's queries fills again.
        sleep(Duration::from_secs(2));
        let watch = Stopwatch::start();
        let answer = call().expect(200).json();
        let took_ms = watch.ms();
        let is_whole = |result: &Value| result["rows"].as_array().is_some_and(|rows| !rows.is_empty());
        assert!(answer["results"].as_array().expect("results").iter().all(is_whole), "{answer}");
        took_ms
    };
    let work = "dashboard, a view of reports: chart, table and totals of 1,000,000 facts";
    let found = interleaved(work, bench.rounds, &mut [&mut view]);
    let times = estimate(&found[0]).expect("rounds");
    Row {
        work: work.to_owned(),
        ours: interval(&times, table::ms),
        yardstick: "-".to_owned(),
        ratio: "-".to_owned(),
        target: "≤ 150 ms".to_owned(),
        verdict: Verdict::of(times.median <= 150.0),
        notes: vec!["from the call to the answer, over HTTP, with the session's check".to_owned()],
    }
}

/// Headers that a page of the dashboard sends besides its session.
const PAGE_HEADERS: [(&str, &str); 4] = [
    ("Host", "localhost:8787"),
    ("Origin", "http://localhost:8787"),
    ("Sec-Fetch-Site", "same-origin"),
    ("Content-Type", "application/json"),
];

/// The cookie of a new member.
fn sign_in(ours: &Signpost, publisher: &Publisher<'_>) -> String {
    let invite = json!({"name": "Bench", "role": "owner"});
    let invite = publisher.operator("POST", "invites", Some(&invite)).expect(201).json();
    let body = json!({ "invite": invite["invite"] }).to_string();
    let answer = ours.send("POST", "/v1/dashboard/sign_in", &PAGE_HEADERS, body.as_bytes()).expect(204);
    let cookie = answer.header("Set-Cookie").expect("a cookie");
    cookie.split(';').next().unwrap_or_default().to_owned()
}

/// The answer of the route that exists only in bench builds: the last of so many reports.
fn last_report(ours: &Signpost, publisher: &Publisher<'_>, body: &str, reports: usize) -> Vec<u8> {
    let path = format!("/v1/bench/report?publisher={}&times={reports}", publisher.id);
    ours.send("POST", &path, &[], body.as_bytes()).expect(200).body.into()
}

fn answer(ours: &Signpost, publisher: &Publisher<'_>, query: &Value) -> Value {
    serde_json::from_slice(&last_report(ours, publisher, &query.to_string(), 1)).expect("JSON")
}

/// Asserts the same rows in the same order. DuckDB also writes zeros of numbers, ours are rounded to six decimals,
/// and names of apps are Signpost's own.
fn assert_same(work: &str, ours: &Value, theirs: &Value) {
    let (ours, theirs) = (ours["rows"].as_array(), theirs.as_array());
    let (ours, theirs) = (ours.expect("our rows"), theirs.expect("their rows"));
    assert_eq!(ours.len(), theirs.len(), "{work}");
    for (at, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        for (name, expected) in theirs.as_object().expect("a row") {
            let same = if METRICS.contains(&name.as_str()) {
                let [ours, theirs] = [&ours[name], expected].map(|number| number.as_f64().unwrap_or(0.0) * 1e6);
                ours.round() == theirs.round()
            } else {
                ours[name] == *expected
            };
            assert!(same, "{work}, row {at}, {name}: {ours} and {theirs:?}");
        }
    }
}
