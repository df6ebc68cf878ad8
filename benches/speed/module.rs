//! The compressed size of both modules that an isolate loads, and of the pages that the origin serves.

use std::{fs, process::Command};

use crate::{
    bench::Bench,
    harness::root,
    table::{Row, Verdict},
};

/// The edge's limit: the edge is loaded near each user before the first answer.
const EDGE_KIB: f64 = 350.0;
const ORIGIN_KIB: f64 = 1_000.0;

pub fn rows(_bench: &Bench) -> Vec<Row> {
    let modules = [("edge", Some(EDGE_KIB)), ("origin", Some(ORIGIN_KIB))];
    let mut rows: Vec<_> = modules.map(|(worker, target)| row(worker, target).printed()).into();
    rows.push(pages().printed());
    rows
}

/// The build compresses the pages one by one, so the file's length is their size.
fn pages() -> Row {
    let file = fs::metadata(root().join("build/origin/pages.gz.bin")).expect("the pages");
    Row {
        work: "pages of the dashboard and the console, gzip -9".to_owned(),
        ours: format!("{:.1} KiB", file.len() as f64 / 1_024.0),
        yardstick: "-".to_owned(),
        ratio: "-".to_owned(),
        target: "-".to_owned(),
        verdict: Verdict::Reported,
        notes: vec![],
    }
}

fn row(worker: &str, target_kib: Option<f64>) -> Row {
    let folder = root().join("build").join(worker);
    let mut parts: Vec<(String, f64)> = fs::read_dir(&folder)
        .expect("a bundle")
        .map(|entry| entry.expect("a file").file_name().into_string().expect("UTF-8"))
        .filter(|file| file.ends_with(".js") || file.ends_with(".wasm"))
        .map(|file| {
            let module = fs::read(folder.join(&file)).expect("a file");
            let kib = gzipped_kib(&module);
            (file, kib)
        })
        .collect();
    parts.sort_by(|one, other| other.1.total_cmp(&one.1));
    let total: f64 = parts.iter().map(|(_, kib)| kib).sum();
    let module = fs::read(folder.join("index_bg.wasm")).expect("a module");
    let mut notes: Vec<String> = parts.iter().map(|(file, kib)| format!("{file} {kib:.1} KiB")).collect();
    let nameless = gzipped_kib(&without_names(&module));
    notes.push(format!("index_bg.wasm without names {nameless:.1} KiB"));
    Row {
        work: format!("module of the {worker}, gzip -9"),
        ours: format!("{total:.1} KiB"),
        yardstick: "-".to_owned(),
        ratio: "-".to_owned(),
        target: target_kib.map_or("-".to_owned(), |kib| format!("≤ {kib} KiB")),
        verdict: target_kib.map_or(Verdict::Reported, |kib| Verdict::of(total <= kib)),
        notes: vec![notes.join(", ")],
    }
}

/// Removes a module's custom sections, most of which are function names.
/// <https://webassembly.github.io/spec/core/binary/modules.html>
fn without_names(module: &[u8]) -> Vec<u8> {
    const PREAMBLE: usize = 8;
    const CUSTOM: u8 = 0;
    let (mut kept, mut rest) = module.split_at(PREAMBLE);
    let mut out = kept.to_vec();
    while let Some((&id, after_id)) = rest.split_first() {
        let (size, length) = leb128(after_id);
        (kept, rest) = rest.split_at(1 + length + size);
        if id != CUSTOM {
            out.extend_from_slice(kept);
        }
    }
    out
}

/// An unsigned LEB128 number, and its length in bytes.
fn leb128(bytes: &[u8]) -> (usize, usize) {
    let mut number = 0;
    for (index, byte) in bytes.iter().enumerate() {
        number |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return (number, index + 1);
        }
    }
    panic!("a number without an end");
}

fn gzipped_kib(file: &[u8]) -> f64 {
    let mut copy = tempfile::NamedTempFile::new().expect("a temporary file");
    std::io::Write::write_all(&mut copy, file).expect("written");
    let packed = Command::new("gzip").args(["-9", "-n", "-c"]).arg(copy.path()).output().expect("gzip");
    assert!(packed.status.success());
    packed.stdout.len() as f64 / 1024.0
}
