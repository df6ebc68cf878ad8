//! The memory of an isolate that holds all that is planned for, and again while it adds up a million facts.

use std::thread;

use serde_json::json;

use crate::{
    bench::Bench,
    click,
    harness::Signpost,
    inspector::{self, Heap},
    many_facts::{DAYS, date},
    offers,
    table::{Row, Verdict, megabytes},
};

const OFFERS: usize = 20_000;
const APPS: usize = 5_000;
const FACTS: usize = 1_000_000;
/// An isolate has 128 MB for everything.
const TARGET: f64 = 128e6;
/// Pages of twenty offers, of which the cache holds some hundred and fifty.
const PAGES: usize = 1_500;

pub fn rows(bench: &Bench) -> Vec<Row> {
    let catalog = bench.catalog(OFFERS, APPS);
    let state = bench.facts(OFFERS, APPS);
    let ours = bench.signpost(&catalog).state(state.path()).inspected().start();
    let clicks = click::paths(OFFERS, APPS);
    for path in &clicks {
        ours.get(path, &[("CF-IPCountry", "DE")]).expect(302);
    }
    let pages = offers::requests(bench, &catalog, &[]);
    for body in offers::unseen(PAGES, OFFERS) {
        ours.send("POST", offers::PATH, &pages.headers(), body.as_bytes())
            .expect(200);
    }
    let held = held_pages(&ours);
    assert!(
        held > 3.9 * f64::from(1 << 20),
        "the page cache holds {held} bytes only"
    );
    let mut rows = vec![
        row(
            &ours,
            &inspector::heap(&ours),
            "20,000 offers, 5,000 apps, a full page cache",
            &[format!(
                "{} clicks, {PAGES} pages, of which {} are kept",
                clicks.len(),
                megabytes(held)
            )],
        )
        .told(),
    ];

    let publisher = ours.known_publisher(&crate::bench::facts_publisher(FACTS));
    // Nine hundred thousand groups, of which a page is wanted.
    let query = json!({
        "date_range": {"start_date": date(0), "end_date": date(DAYS - 1)},
        "dimensions": ["date", "app", "country", "placement_id"],
        "metrics": ["impressions", "clicks", "revenue"],
        "order_by": [{"column": "revenue", "ascending": false}],
        "pagination": {"page": 1, "count": 1_000}
    });
    let mut most: Option<Heap> = None;
    let groups = thread::scope(|scope| {
        let asked = scope.spawn(|| publisher.ask(&query).expect(200));
        while !asked.is_finished() {
            let heap = inspector::heap(&ours);
            if most.is_none_or(|most| total(&heap) > total(&most)) {
                most = Some(heap);
            }
        }
        let answer = asked.join().expect("a report");
        answer.header("X-Total-Count").expect("a count").to_owned()
    });
    rows.push(
        row(
            &ours,
            &most.expect("a look at it"),
            "the same while a 1,000,000-fact report runs",
            &[
                format!("{groups} groups"),
                "the most of V8's by its answers until the report was there: the engine itself yields to nobody, and its share is the Wasm memory".to_owned(),
            ],
        )
        .told(),
    );
    rows
}

fn total(heap: &Heap) -> f64 {
    heap.reserved + heap.buffers
}

fn held_pages(signpost: &Signpost) -> f64 {
    let [metrics, _] = signpost.metrics_at("");
    let found = metrics.lines().find_map(|line| {
        line.strip_prefix("signpost_isolate_held_bytes{what=\"pages\"} ")?
            .parse()
            .ok()
    });
    found.unwrap_or_else(|| panic!("no pages in {metrics}"))
}

fn row(signpost: &Signpost, heap: &Heap, work: &str, notes: &[String]) -> Row {
    let wasm = signpost.wasm_memory() as f64;
    let isolate = wasm + total(heap);
    let mut notes = notes.to_vec();
    notes.push(format!(
        "Wasm memory, which never shrinks, {}; V8's heap {}, {} of it in use; {} of buffers; workerd {}",
        megabytes(wasm),
        megabytes(heap.reserved),
        megabytes(heap.used),
        megabytes(heap.buffers),
        signpost.process_memory()
    ));
    Row {
        work: format!("memory: {work}"),
        ours: megabytes(isolate),
        yardstick: "-".to_owned(),
        ratio: "-".to_owned(),
        target: format!("< {}", megabytes(TARGET)),
        verdict: Verdict::of(isolate < TARGET),
        notes,
    }
}
