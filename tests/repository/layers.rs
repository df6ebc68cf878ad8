//! The crates keep to their layers, which docs/ARCHITECTURE.md draws: the manifests say which crate may use which, and the
//! domain knows no Workers, no clock and no randomness.

use std::{collections::BTreeSet, fs};

use crate::{read, sources};

/// Each crate and the crates of ours that it may use, from the lowest layer up.
const LAYERS: [(&str, &[&str]); 5] = [
    ("domain", &[]),
    ("contract", &["domain"]),
    ("platform", &["contract", "domain"]),
    ("edge", &["contract", "domain", "platform"]),
    ("origin", &["contract", "domain", "platform"]),
];
/// Crates that run only on Workers.
const WORKERS: [&str; 5] = [
    "worker",
    "wasm-bindgen",
    "wasm-bindgen-futures",
    "js-sys",
    "web-sys",
];

#[test]
fn no_crate_uses_one_of_a_layer_above_it() {
    let ours: BTreeSet<_> = LAYERS.iter().map(|(name, _)| *name).collect();
    for (name, below) in LAYERS {
        let manifest: toml::Table = read(&format!("src/{name}/Cargo.toml")).parse().unwrap();
        let used = manifest["dependencies"]
            .as_table()
            .unwrap()
            .keys()
            .map(String::as_str);
        let used: BTreeSet<_> = used.filter(|used| ours.contains(used)).collect();
        assert_eq!(used, below.iter().copied().collect(), "{name}");
    }
}

#[test]
fn the_domain_knows_no_workers_no_clock_and_no_randomness() {
    for name in ["domain", "contract"] {
        let manifest = read(&format!("src/{name}/Cargo.toml"));
        for workers in WORKERS {
            assert!(
                !manifest.contains(&format!("{workers}.workspace")),
                "{name} uses {workers}"
            );
        }
        for path in sources(&format!("src/{name}")) {
            let text = fs::read_to_string(&path).unwrap();
            for banned in [
                "SystemTime",
                "Instant::now",
                "Utc::now",
                "Local::now",
                "getrandom",
            ] {
                assert!(!text.contains(banned), "{} has {banned}", path.display());
            }
        }
    }
}

#[test]
fn every_file_says_at_its_top_what_it_is_for() {
    let files = ["src", "tests", "benches"].into_iter().flat_map(sources);
    for path in files.filter(|path| path.file_name().is_some_and(|name| name != "tests.rs")) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//!"), "{} has no header", path.display());
    }
}

#[test]
fn no_file_is_longer_than_one_can_read() {
    for path in sources("src") {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(
            lines <= 510,
            "{} has {lines} lines: split it by what it does",
            path.display()
        );
    }
}
