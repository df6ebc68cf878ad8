//! A million facts in 90 days over HTTP: sums are exact and memory stays bounded. Too many groups are refused.

use std::{collections::BTreeMap, fmt::Write};

use crate::{
    harness::{Setup, Signpost, now_ms},
    many_facts::{COUNTRIES, DAYS, HEADER, Place, SOURCES, csv, date, place, rows_of, sums},
    reports::{model::DIMENSIONS, query},
};
use serde_json::{Value, json};

/// The most WebAssembly memory in bytes. An isolate has 128 MB.
const MEMORY: u64 = 100_000_000;
const FACTS: usize = 1_000_000;
/// Expected sums, grouped by any part of a fact.
fn expected_sums<K: Ord>(key: impl Fn(usize, &Place) -> K) -> BTreeMap<K, [i64; 3]> {
    let mut groups: BTreeMap<K, [i64; 3]> = BTreeMap::new();
    for day in 0..DAYS {
        for n in 0..rows_of(FACTS, day) {
            let group = groups.entry(key(day, &place(n))).or_default();
            for (sum, more) in group.iter_mut().zip(sums(day, n)) {
                *sum += more;
            }
        }
    }
    groups
}

/// The sums of a row. Revenue has six decimals, which a double represents exactly enough.
fn row_sums(row: &Value) -> [i64; 3] {
    let number = |metric: &str| row[metric].as_f64().unwrap_or(0.0);
    let [impressions, clicks, revenue] = [number("impressions"), number("clicks"), number("revenue") * 1e6];
    [impressions, clicks, revenue].map(|number| number.round() as i64)
}

fn report_memory(signpost: &Signpost, what: &str, began_ms: i64) {
    let memory = signpost.wasm_memory();
    println!(
        "{what}: {} ms, Wasm memory {:.1} MB, workerd {}",
        now_ms() - began_ms,
        memory as f64 / 1e6,
        signpost.process_memory()
    );
    assert!(memory < MEMORY, "{what}: {memory} bytes of Wasm memory");
}

#[test]
fn a_million_facts_are_loaded_and_added_up_in_a_hundred_megabytes() {
    let signpost = Setup::new().start();
    let publisher = signpost.publisher("scale");
    let began_ms = now_ms();
    publisher.put_days(DAYS, date, |day| csv(day, rows_of(FACTS, day)), |day| rows_of(FACTS, day));
    report_memory(&signpost, "loading", began_ms);
    let days = publisher.days();
    assert_eq!(days.len(), DAYS);

    let metrics = ["impressions", "clicks", "revenue"];
    let ascending = |mut query: Value| {
        let columns = query["dimensions"].as_array().unwrap().clone();
        let order = columns.iter().map(|column| json!({"column": column, "ascending": true}));
        query["order_by"] = order.collect();
        query
    };
    let report = |dimensions: &[&str]| {
        let began_ms = now_ms();
        let rows = publisher.rows(&ascending(query(dimensions, &metrics)));
        report_memory(&signpost, &dimensions.join("+"), began_ms);
        rows
    };
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();

    let rows = report(&["date", "app"]);
    let by_date_and_app = expected_sums(|day, place| (day, place[0]))
        .into_iter()
        .map(|((day, app), sums)| ((date(day), format!("780000{app:02}")), sums));
    let found: Vec<_> = rows.iter().map(|row| ((text(row, "date"), text(row, "app_id")), row_sums(row))).collect();
    assert!(found == Vec::from_iter(by_date_and_app), "by date and app");

    for (name, place_of, value) in [
        ("country", 1, &(|at: usize| COUNTRIES[at].to_owned()) as &dyn Fn(usize) -> String),
        ("placement_id", 2, &|at| format!("placement-{at}")),
        ("demand_source", 4, &|at| SOURCES[at].to_owned()),
    ] {
        let rows = report(&[name]);
        let expected: BTreeMap<String, [i64; 3]> =
            expected_sums(|_, place| place[place_of]).into_iter().map(|(at, sums)| (value(at), sums)).collect();
        let found: Vec<_> = rows.iter().map(|row| (text(row, name), row_sums(row))).collect();
        assert!(found == Vec::from_iter(expected), "by {name}");
    }

    // All dimensions: each fact is a row, except every tenth, which is added to the one before it.
    let groups: usize = (0..DAYS).map(|day| rows_of(FACTS, day) - rows_of(FACTS, day) / 10).sum();
    let mut seen = Vec::new();
    let last = groups.div_ceil(50_000);
    for page in [1, 2, last, last + 1] {
        let began_ms = now_ms();
        let mut query = query(&DIMENSIONS, &metrics);
        query["pagination"] = json!({"page": page, "count": 50_000});
        let answer = publisher.report(&query).expect(200);
        let total = groups.to_string();
        assert_eq!(answer.header("X-Total-Count"), Some(total.as_str()), "page {page}");
        let rows = answer.json()["rows"].as_array().unwrap().len();
        let expected = groups.saturating_sub((page - 1) * 50_000).min(50_000);
        assert_eq!(rows, expected, "page {page}");
        report_memory(&signpost, &format!("page {page} of all seven"), began_ms);
        seen.push(answer.body);
    }
    assert!(seen[0] != seen[1], "two pages are not the same");

    let mut filtered = query(&["demand_source"], &metrics);
    filtered["filters"] =
        json!([{"dimension": "country", "values": ["DE", "FR", "US"]}, {"dimension": "app", "values": ["78000007"]}]);
    let mut expected: BTreeMap<String, [i64; 3]> = BTreeMap::new();
    for ((app, country, source), sums) in expected_sums(|_, place| (place[0], place[1], place[4])) {
        if app == 7 && ["DE", "FR", "US"].contains(&COUNTRIES[country]) {
            let group = expected.entry(SOURCES[source].to_owned()).or_default();
            for (sum, more) in group.iter_mut().zip(sums) {
                *sum += more;
            }
        }
    }
    let found: BTreeMap<_, _> =
        publisher.rows(&filtered).iter().map(|row| (text(row, "demand_source"), row_sums(row))).collect();
    assert_eq!(found, expected);
}

#[test]
fn more_than_two_million_groups_are_refused_and_the_ledger_keeps_working() {
    const DAYS: usize = 24;
    const ROWS: usize = 90_000;
    let signpost = Setup::new().start();
    let publisher = signpost.publisher("scale-groups");
    let began_ms = now_ms();
    let csv = |day: usize| {
        let mut csv = String::with_capacity(4 << 20);
        csv.push_str(HEADER);
        for n in 0..ROWS {
            writeln!(csv, "78000001,DE,p,{day:x}-{n:x},s,1,1,1,1,1,1").unwrap();
        }
        csv
    };
    publisher.put_days(DAYS, date, csv, |_| ROWS);
    report_memory(&signpost, "loading", began_ms);
    let began_ms = now_ms();
    let by_tag = query(&["ad_tag"], &["clicks"]);
    publisher.report(&by_tag).expect_error(400, "result_too_large");
    report_memory(&signpost, "too many groups", began_ms);
    // Fewer days have few enough groups, and so have all days grouped by country.
    let began_ms = now_ms();
    let mut part = by_tag.clone();
    part["date_range"]["end_date"] = json!(date(9));
    part["pagination"] = json!({"page": 1, "count": 10});
    let answer = publisher.report(&part).expect(200);
    let total = (10 * ROWS).to_string();
    assert_eq!(answer.header("X-Total-Count"), Some(total.as_str()), "{answer:?}");
    report_memory(&signpost, "a part of them", began_ms);
    assert_eq!(
        json!(publisher.rows(&query(&["country"], &["clicks", "revenue"]))),
        json!([{"country": "DE", "clicks": DAYS * ROWS, "revenue": DAYS * ROWS}])
    );
}
