//! The memory of an edge isolate with the planned maximum of data, before and while the origin computes the largest
//! report.

use std::thread;

use serde_json::json;

use crate::{
    bench::{Bench, Catalog},
    click,
    harness::Signpost,
    inspector::{self, Heap},
    many_facts::{self, DAYS, date},
    offers,
    table::{Row, Verdict, megabytes},
};

const OFFERS: usize = 20_000;
const APPS: usize = 5_000;
/// Nine in ten are distinct groups: just below the maximum of a report, 2,000,000.
const FACTS: usize = 2_200_000;
/// An isolate has 128 MB for everything.
const TARGET: f64 = 128e6;
/// Pages of 20 offers; the cache holds about 150 of them.
const PAGES: usize = 1_500;

pub fn rows(bench: &Bench) -> Vec<Row> {
    let catalog = bench.catalog(OFFERS, APPS);
    let ours = bench.signpost(&catalog).with_inspector().start();
    let publisher = ours.publisher("groups");
    publisher.put_days(
        DAYS,
        date,
        |day| many_facts::csv(day, many_facts::rows_of(FACTS, day)),
        |day| many_facts::rows_of(FACTS, day),
    );
    let full = "the edge with 20,000 offers, 5,000 apps, a full page cache";
    let (before, row) = after_clicks_and_pages(bench, &ours, &catalog, (OFFERS, APPS), full);
    let mut rows = vec![row];

    // As many groups as a report may have, of which one page is returned.
    let query = json!({
        "date_range": {"start_date": date(0), "end_date": date(DAYS - 1)},
        "dimensions": ["date", "app", "country", "placement_id", "ad_tag"],
        "metrics": ["impressions", "clicks", "revenue"],
        "order_by": [{"column": "revenue", "ascending": false}],
        "pagination": {"page": 1, "count": 1_000}
    });
    let mut edge = before;
    let mut origin = Isolate::of(&ours, "origin");
    let groups = thread::scope(|scope| {
        let asked = scope.spawn(|| publisher.report(&query).expect(200));
        while !asked.is_finished() {
            edge = edge.or_larger(Isolate::of(&ours, "edge"));
            origin = origin.or_larger(Isolate::of(&ours, "origin"));
        }
        let answer = asked.join().expect("a report");
        answer.header("X-Total-Count").expect("a count").to_owned()
    });
    edge = edge.or_larger(Isolate::of(&ours, "edge"));
    origin = origin.or_larger(Isolate::of(&ours, "origin"));
    let moved = format!("{:+.1} MB against before the report", (edge.total() - before.total()) / 1e6);
    let most = "the largest of V8's answers while the report ran; the engine does not yield, so its own share shows in the Wasm \
                memory";
    rows.push(edge.row(&format!("the edge while the origin reports {groups} groups"), &[moved]).printed());
    rows.push(origin.row(&format!("the origin while it reports {groups} groups"), &[most.to_owned()]).printed());
    rows
}

/// The edge's memory after clicks on many offers, and pages of many kinds.
pub fn after_clicks_and_pages(
    bench: &Bench,
    signpost: &Signpost,
    catalog: &Catalog,
    (offer_count, app_count): (usize, usize),
    work: &str,
) -> (Isolate, Row) {
    let clicks = click::paths(offer_count, app_count);
    for path in &clicks {
        signpost.get(path, &[("CF-IPCountry", "DE")]).expect(302);
    }
    let pages = offers::requests(bench, catalog, &[]);
    for body in offers::unseen(PAGES, offer_count) {
        signpost.send("POST", offers::PATH, &pages.headers(), body.as_bytes()).expect(200);
    }
    let held = held_pages(signpost);
    assert!(held > 3.9 * f64::from(1 << 20), "the page cache holds {held} bytes only");
    let note = format!("{} clicks, {PAGES} pages, of which {} are kept", clicks.len(), megabytes(held));
    let edge = Isolate::of(signpost, "edge");
    (edge, edge.row(work, &[note]).printed())
}

/// The memory of a Worker's isolate.
#[derive(Clone, Copy)]
pub struct Isolate {
    /// In bytes. Wasm memory never shrinks.
    wasm: f64,
    heap: Heap,
}

impl Isolate {
    pub fn of(signpost: &Signpost, worker: &str) -> Self {
        let [edge, origin] = signpost.metrics_at("");
        let metrics = if worker == "edge" { edge } else { origin };
        Self { wasm: metric(&metrics, "signpost_isolate_wasm_memory_bytes"), heap: inspector::heap(signpost, worker) }
    }

    fn total(&self) -> f64 {
        self.wasm + self.heap.reserved + self.heap.buffers
    }

    fn or_larger(self, other: Self) -> Self {
        if other.total() > self.total() { other } else { self }
    }

    pub fn row(&self, work: &str, notes: &[String]) -> Row {
        let mut notes = notes.to_vec();
        notes.push(format!(
            "Wasm memory, which never shrinks, {}; V8's heap {}, {} of it in use; {} of buffers",
            megabytes(self.wasm),
            megabytes(self.heap.reserved),
            megabytes(self.heap.used),
            megabytes(self.heap.buffers),
        ));
        Row {
            work: format!("memory: {work}"),
            ours: megabytes(self.total()),
            yardstick: "-".to_owned(),
            ratio: "-".to_owned(),
            target: format!("< {}", megabytes(TARGET)),
            verdict: Verdict::of(self.total() < TARGET),
            notes,
        }
    }
}

fn held_pages(signpost: &Signpost) -> f64 {
    let [edge, _] = signpost.metrics_at("");
    metric(&edge, "signpost_isolate_held_bytes{what=\"pages\"}")
}

fn metric(metrics: &str, series: &str) -> f64 {
    let mut lines = metrics.lines();
    let found = lines.find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok());
    found.unwrap_or_else(|| panic!("no {series} in {metrics}"))
}
