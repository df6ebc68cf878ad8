//! What only tests and benches are built with is in no bundle that is deployed.

use std::{fs, path::Path};

use crate::read;

/// What a place says that panics because a test has asked for it (`src/faults.rs`), and the path of the benches' route.
const MARKS: [&[u8]; 2] = [b"a test asked for it", b"/v1/bench/report"];

fn bundle(folder: &str) -> Option<Vec<u8>> {
    fs::read(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
            .join(folder)
            .join("index_bg.wasm"),
    )
    .ok()
}

fn holds(bundle: &[u8], mark: &[u8]) -> bool {
    bundle.windows(mark.len()).any(|window| window == mark)
}

#[test]
fn what_is_deployed_is_built_without_features() {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    assert!(!manifest["features"].as_table().unwrap().contains_key("default"));
    // A build with a feature goes to a folder of its own, and `make deploy` and `wrangler` take `build/`.
    let makefile = read("Makefile");
    let built = makefile
        .lines()
        .filter(|line| line.contains("$(WORKER_BUILD) --release"));
    let mut built: Vec<_> = built
        .map(|line| (line.contains("--features"), line.contains("--out-dir target/")))
        .collect();
    built.sort_unstable();
    assert_eq!(built, [(false, false), (true, true), (true, true)]);
    let wrangler: toml::Table = read("wrangler.toml").parse().unwrap();
    assert!(wrangler["main"].as_str().unwrap().starts_with("build/"));
    assert_eq!(wrangler["build"]["command"].as_str(), Some("make build"));
}

#[test]
fn the_bundle_holds_nothing_that_only_tests_and_benches_have() {
    let deployed = bundle("build").expect("a bundle, which `make build` makes");
    for mark in MARKS {
        assert!(!holds(&deployed, mark), "{}", String::from_utf8_lossy(mark));
    }
    // Where one was made for tests, it does.
    if let Some(faulty) = bundle("target/faults/build") {
        assert!(holds(&faulty, MARKS[0]));
    }
}
