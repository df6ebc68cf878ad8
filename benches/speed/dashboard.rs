//! The dashboard as a person waits for it, in Chromium: `benches/dashboard.mjs` loads it on a slow network and a slow CPU.

use std::process::Command;

use serde_json::Value;

use crate::{
    bench::Bench,
    harness::root,
    stats::estimate,
    table::{Row, Verdict, interval, ms},
};

/// The figures: the member in the script's answer, the row, and the maximum in milliseconds.
const FIGURES: [(&str, &str, f64); 3] = [
    ("first_content", "dashboard, first content, cold cache", 1_000.0),
    ("numbers", "dashboard, the overview's numbers, cold cache", 1_500.0),
    ("view", "dashboard, from view to view from the client's cache", 100.0),
];

const COLD: &str = "150 ms of latency, 1.6 Mbit/s, a CPU four times slower, a screen of 360 px";

pub fn rows(bench: &Bench) -> Vec<Row> {
    if std::env::var("BROWSER").is_ok_and(|browser| browser == "none") {
        eprintln!("not done: the dashboard in a browser (BROWSER=none)");
        return Vec::new();
    }
    let run = Command::new("node")
        .arg(root().join("benches/dashboard.mjs"))
        .arg(bench.rounds.to_string())
        .output()
        .expect("node, which the Makefile asks for");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let found: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    FIGURES.map(|figure| row(&found, figure).printed()).into()
}

fn row(found: &Value, (member, work, most_ms): (&str, &str, f64)) -> Row {
    let times = found[member].as_array().expect("a list of times");
    let times: Vec<f64> = times.iter().map(|time| time.as_f64().expect("a time")).collect();
    let found = estimate(&times).expect("rounds");
    let is_cold = member != "view";
    Row {
        work: work.to_owned(),
        ours: interval(&found, ms),
        yardstick: "-".to_owned(),
        ratio: "-".to_owned(),
        target: format!("≤ {most_ms} ms"),
        verdict: Verdict::of(found.median <= most_ms),
        notes: if is_cold { vec![COLD.to_owned()] } else { Vec::new() },
    }
}
