//! The corpora of `tests/fuzz/corpus`, real shapes and what broke a property once, through the functions that libFuzzer
//! calls; on stable, in seconds. `cargo test --test corpora -- --ignored renew` writes those anew that are made of binary
//! formats: after a change of one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "clippy knows a test's helpers only inside #[cfg(test)]"
)]

#[path = "../fuzz/src/lib.rs"]
mod fuzz;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

fn folder(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .join("tests/fuzz")
        .join(name)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Says which input it was, since the property that fails knows only its bytes.
struct Input<'p>(&'p Path);

impl Drop for Input<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("this is what happens with {}", self.0.display());
        }
    }
}

#[test]
fn every_property_holds_for_every_corpus() {
    for (name, target) in fuzz::TARGETS {
        let inputs = files(&folder("corpus").join(name));
        assert!(inputs.len() >= 20, "{name} has only {}", inputs.len());
        for path in inputs {
            let _input = Input(&path);
            target(&fs::read(&path).unwrap());
        }
    }
}

#[test]
fn every_target_has_its_binary_and_its_corpus() {
    let manifest: toml::Table = fs::read_to_string(folder("Cargo.toml")).unwrap().parse().unwrap();
    let binaries = manifest["bin"].as_array().unwrap().iter();
    let binaries: Vec<_> = binaries.map(|binary| binary["name"].as_str().unwrap()).collect();
    assert_eq!(binaries, fuzz::TARGETS.map(|(name, _)| name));
    let mut sorted = binaries.clone();
    sorted.sort_unstable();
    for (of, suffix) in [("corpus", ""), ("fuzz_targets", ".rs")] {
        let expected: Vec<_> = sorted
            .iter()
            .map(|name| folder(of).join(format!("{name}{suffix}")))
            .collect();
        assert_eq!(files(&folder(of)), expected);
    }
}

#[test]
fn what_is_fuzzed_is_built_of_the_same_crates_as_what_is_deployed() {
    let versions = |path: PathBuf| -> BTreeMap<String, Vec<String>> {
        let lock: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
        let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for package in lock["package"].as_array().unwrap() {
            let text = |member: &str| package[member].as_str().unwrap().to_owned();
            versions.entry(text("name")).or_default().push(text("version"));
        }
        versions
    };
    let deployed = versions(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("Cargo.lock"));
    for (name, fuzzed) in versions(folder("Cargo.lock")) {
        let Some(deployed) = deployed.get(&name) else {
            continue;
        };
        assert!(
            fuzzed.iter().all(|version| deployed.contains(version)),
            "{name}: {fuzzed:?} in tests/fuzz/Cargo.lock, {deployed:?} in Cargo.lock, which is to be copied there"
        );
    }
}

#[test]
#[ignore = "writes into the sources"]
fn renew_what_is_made_of_binary_formats() {
    for (name, sound) in [
        ("click_id", fuzz::clicks::sound()),
        ("snapshots", fuzz::snapshots::sound()),
        ("segments", fuzz::segments::sound()),
    ] {
        for (file, bytes) in sound {
            let folder = folder("corpus").join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(file), bytes).unwrap();
        }
    }
}
