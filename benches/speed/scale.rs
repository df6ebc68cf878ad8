//! Ten times the first planned size: what a cold isolate reads, what a change publishes, and how the catalog answers others
//! during a large import.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::json;

use crate::{
    bench::{self, Bench},
    harness::Signpost,
    large_catalog, memory, start,
    table::{Row, Verdict, ms},
    time::Stopwatch,
};

const OFFERS: usize = 200_000;
const APPS: usize = 50_000;
/// Offers that the import changes.
const CHANGED: usize = 20_000;
const READ_KIB: f64 = 150.0;
const WRITTEN_KIB: f64 = 200.0;
const PUBLISHED_MS: f64 = 2_000.0;
const ANSWER_MS: f64 = 100.0;

pub fn rows(bench: &Bench) -> Vec<Row> {
    let mut rows = vec![start::first_redirect(bench, OFFERS, APPS)];
    let catalog = bench.catalog(OFFERS, APPS);
    let signpost = bench.signpost(&catalog).with_inspector().start();
    rows.push(read_by_a_cold_click(&signpost));
    rows.extend(after_one_change(&signpost));
    rows.push(during_an_import(&signpost));
    let full = "the edge with 200,000 offers, 50,000 apps, a full page cache";
    let (_, row) = memory::after_clicks_and_pages(bench, &signpost, &catalog, (OFFERS, APPS), full);
    rows.push(row);
    let imported = "the origin after an import of 20,000 offers and its publication";
    rows.push(memory::Isolate::of(&signpost, "origin").row(imported, &[]).printed());
    rows
}

fn row(work: &str, ours: String, target: String, verdict: Verdict) -> Row {
    let none = || "-".to_owned();
    Row {
        work: format!("{work}, 200,000 offers"),
        ours,
        yardstick: none(),
        ratio: none(),
        target,
        verdict,
        notes: Vec::new(),
    }
    .printed()
}

fn kib(bytes: u64) -> f64 {
    bytes as f64 / 1024.0
}

fn kib_text(kib: f64) -> String {
    format!("{kib:.1} KiB")
}

/// The size of each value in KV, and when it was last written.
fn values(signpost: &Signpost) -> BTreeMap<String, (u64, std::time::SystemTime)> {
    let files = std::fs::read_dir(Path::new(signpost.state.path()).join("kv")).expect("KV's folder");
    let value = |file: std::fs::DirEntry| {
        let about = file.metadata().ok()?;
        let name = file.file_name().into_string().ok()?;
        Some((name, (about.len(), about.modified().ok()?)))
    };
    files.filter_map(|file| value(file.ok()?)).collect()
}

/// The pointer and the largest shards of goals and of apps.
fn read_by_a_cold_click(signpost: &Signpost) -> Row {
    let values = values(signpost);
    let largest = |prefix: &str| {
        let sizes = values.iter().filter(|(key, _)| key.contains(prefix)).map(|(_, (bytes, _))| *bytes);
        sizes.max().unwrap_or_else(|| panic!("no value {prefix}"))
    };
    let read = kib(largest("snapshots") + largest("goals-") + largest("apps-"));
    row(
        "bytes that a cold isolate's first click reads from KV, at most",
        kib_text(read),
        format!("≤ {}", kib_text(READ_KIB)),
        Verdict::of(read <= READ_KIB),
    )
}

/// The bytes that one changed offer writes to KV, and the time until the pointer names it.
fn after_one_change(signpost: &Signpost) -> [Row; 2] {
    // Past the next listing's time, so that no listing is written meanwhile.
    bench::publish(signpost);
    let before = values(signpost);
    let pointer = before.keys().find(|key| key.contains("snapshots")).expect("the pointer").clone();
    let mut offer = signpost.operator("GET", "offers/7", None).expect(200).json();
    let members = offer.as_object_mut().expect("an offer");
    members.retain(|name, _| !["offer_id", "terms_revision", "updated_at"].contains(&name.as_str()));
    members.insert("target_url".into(), json!("https://go.example.com/other?click={click_id}"));
    signpost.put("offers/7", &offer);
    let watch = Stopwatch::start();
    while values(signpost).get(&pointer) == before.get(&pointer) {
        thread::sleep(Duration::from_millis(5));
    }
    let published_ms = watch.ms();
    let after = values(signpost);
    let written = after.iter().filter(|(key, value)| before.get(*key) != Some(value));
    let written = kib(written.map(|(_, (bytes, _))| bytes).sum());
    [
        row(
            "bytes written to KV after one changed offer",
            kib_text(written),
            format!("≤ {}", kib_text(WRITTEN_KIB)),
            Verdict::of(written <= WRITTEN_KIB),
        ),
        row(
            "from the answer to its PUT until the pointer is written",
            ms(published_ms),
            format!("≤ {}", ms(PUBLISHED_MS)),
            Verdict::of(published_ms <= PUBLISHED_MS),
        ),
    ]
}

/// The slowest answer of the catalog while 20,000 changed offers are imported.
fn during_an_import(signpost: &Signpost) -> Row {
    let lines = large_catalog::catalog(CHANGED, 0).replace("A game of many levels", "Changed");
    let is_done = AtomicBool::new(false);
    let (mut slowest, mut answers) = (0.0_f64, 0);
    let watch = Stopwatch::start();
    thread::scope(|scope| {
        scope.spawn(|| {
            let ndjson = [("Content-Type", "application/x-ndjson")];
            signpost.operate("POST", "import", &ndjson, lines.as_bytes()).expect(200);
            is_done.store(true, Ordering::Relaxed);
        });
        while !is_done.load(Ordering::Relaxed) {
            let watch = Stopwatch::start();
            signpost.operator("GET", "publishers/big", None).expect(200);
            slowest = slowest.max(watch.ms());
            answers += 1;
            thread::sleep(Duration::from_millis(10));
        }
    });
    let row = row(
        "slowest answer of the catalog while 20,000 changed offers are imported",
        ms(slowest),
        format!("≤ {}", ms(ANSWER_MS)),
        Verdict::of(slowest <= ANSWER_MS),
    );
    println!("    {answers} answers in {:.0} s", watch.seconds());
    row
}
