//! How large the module is that an isolate has to load.

use std::process::Command;

use crate::{
    bench::Bench,
    harness::root,
    table::{Row, Verdict},
};

const TARGET_KIB: f64 = 500.0;

pub fn rows(_bench: &Bench) -> Vec<Row> {
    let sizes: Vec<(&str, f64)> = ["index_bg.wasm", "index.js", "entry.js"]
        .iter()
        .map(|file| (*file, gzipped_kib(file)))
        .collect();
    let all: f64 = sizes.iter().map(|(_, kib)| kib).sum();
    let parts: Vec<String> = sizes
        .iter()
        .map(|(file, kib)| format!("{file} {kib:.1} KiB"))
        .collect();
    let row = Row {
        work: "module, gzip -9".to_owned(),
        ours: format!("{all:.1} KiB"),
        yardstick: "-".to_owned(),
        ratio: "-".to_owned(),
        target: format!("≤ {TARGET_KIB} KiB"),
        verdict: Verdict::of(all <= TARGET_KIB),
        notes: vec![parts.join(", ")],
    };
    vec![row.told()]
}

fn gzipped_kib(file: &str) -> f64 {
    let path = root().join("build").join(file);
    let packed = Command::new("gzip")
        .args(["-9", "-n", "-c"])
        .arg(&path)
        .output()
        .expect("gzip");
    assert!(packed.status.success(), "{}", path.display());
    packed.stdout.len() as f64 / 1024.0
}
