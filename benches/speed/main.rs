//! `make bench`: measures the targets of docs/PERFORMANCE.md, "Targets", and prints a table. Everything runs on plain
//! workerd on loopback, Signpost and its yardstick in turn; each part has a file of its name. `ONLY=` selects parts,
//! `ROUNDS=` sets how often each pair is measured.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

mod before;
mod bench;
mod billed;
mod click;
mod conversions;
mod dashboard;
mod growth;
#[expect(dead_code, unused_imports, reason = "the benches use less of it than the tests")]
#[path = "../../tests/e2e"]
mod e2e {
    pub mod harness;
}
#[path = "../shared/inspector.rs"]
mod inspector;
#[path = "../../tests/support/large_catalog.rs"]
mod large_catalog;
mod load;
#[path = "../../tests/support/many_facts.rs"]
mod many_facts;
mod memory;
mod module;
mod offers;
#[path = "../../tests/support/random.rs"]
mod random;
mod report;
mod scale;
#[path = "../../fixtures/signers/sign.rs"]
mod sign;
mod start;
#[path = "../shared/stats.rs"]
mod stats;
mod table;
#[path = "../shared/threads.rs"]
mod threads;
#[path = "../shared/time.rs"]
mod time;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
};

use bench::Bench;
use e2e::harness;
use table::Row;
use time::Stopwatch;

type Part = fn(&Bench) -> Vec<Row>;

const PARTS: [(&str, Part); 11] = [
    ("click", click::rows),
    ("offers", offers::rows),
    ("report", report::rows),
    ("conversions", conversions::rows),
    ("module", module::rows),
    ("start", start::rows),
    ("memory", memory::rows),
    ("scale", scale::rows),
    ("growth", growth::rows),
    ("dashboard", dashboard::rows),
    ("rows", billed::rows),
];

/// With `BEFORE=`: the same work in another checkout.
const AGAINST_BEFORE: [(&str, Part); 4] = [
    ("click", before::clicks),
    ("offers", before::pages),
    ("report", before::reports),
    ("conversions", before::conversions),
];

fn main() -> ExitCode {
    let mut bench = Bench::new(harness::root());
    bench.before = before::checkout().map(Bench::new).map(Box::new);
    let parts: &[(&str, Part)] = match bench.before {
        Some(_) => &AGAINST_BEFORE,
        None => &PARTS,
    };
    let only = std::env::var("ONLY").unwrap_or_default();
    let only: Vec<&str> = only.split([' ', ',']).filter(|part| !part.is_empty()).collect();
    if let Some(unknown) = only.iter().find(|part| parts.iter().all(|(known, _)| known != *part)) {
        let known: Vec<_> = parts.iter().map(|(part, _)| *part).collect();
        let known = known.join(", ");
        eprintln!("ONLY: unknown part '{unknown}'; the parts are {known}");
        return ExitCode::from(2);
    }
    let watch = Stopwatch::start();
    let (mut rows, mut failed) = (Vec::new(), Vec::new());
    for (part, measure) in parts {
        if !only.is_empty() && !only.contains(part) {
            continue;
        }
        let watch = Stopwatch::start();
        eprintln!("{part}");
        // Unwinding ends what the part started; the other parts are still measured.
        match catch_unwind(AssertUnwindSafe(|| measure(&bench))) {
            Ok(found) => rows.extend(found),
            Err(_) => failed.push(*part),
        }
        eprintln!("{part}: {:.0} s", watch.seconds());
    }
    println!("\n{}", table::markdown(&bench.machine(), &rows));
    eprintln!("{:.0} s in total", watch.seconds());
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("failed parts: {}", failed.join(", "));
    ExitCode::FAILURE
}
