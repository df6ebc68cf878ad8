//! The rows that clicks and conversions write, which Cloudflare bills, with the limits of the test that counts them.

use std::process::Command;

use crate::{
    bench::Bench,
    harness::root,
    table::{Row, Verdict},
};

pub fn rows(_bench: &Bench) -> Vec<Row> {
    let counted = Command::new("cargo")
        .args(["test", "--locked", "-p", "signpost-tests", "--test", "e2e", "--"])
        .args(["rows::", "--nocapture", "--test-threads=2"])
        .current_dir(root())
        .output()
        .expect("cargo");
    let text = String::from_utf8_lossy(&counted.stdout);
    let rows: Vec<_> = text.lines().filter_map(row).map(Row::printed).collect();
    assert!(counted.status.success(), "{text}");
    rows
}

/// A line of the test, such as `a click: 0.217 rows of at most 0.350`.
fn row(line: &str) -> Option<Row> {
    let (work, figures) = line.split_once(": ")?;
    let (ours, most) = figures.split_once(" rows of at most ")?;
    let is_met = ours.parse::<f64>().ok()? <= most.parse().ok()?;
    Some(Row {
        work: format!("rows billed for {work}"),
        ours: ours.to_owned(),
        yardstick: "-".to_owned(),
        ratio: "-".to_owned(),
        target: format!("≤ {most}"),
        verdict: Verdict::of(is_met),
        notes: vec![],
    })
}
