//! Replays `tests/fuzz/corpus` through the fuzz targets, on stable and in seconds. A corpus holds realistic inputs and
//! inputs that once violated a property. After a change of a binary format,
//! `cargo test --workspace --test corpora -- --ignored renew` writes the inputs made from it again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "clippy knows a test's helpers only inside #[cfg(test)]"
)]

mod crawlers;
mod formats;
#[path = "../fuzz/src/lib.rs"]
mod fuzz;
#[path = "../support/random.rs"]
mod random;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use random::Random;

fn folder(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/fuzz").join(name)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The number of changed inputs for each target, and the time limit for all of them.
const CHANGED_INPUTS: usize = 2_000;
/// Bytes that have a meaning to a parser.
const INTERESTING: &[u8] = b"\0\n\r\"%&+,-./0:;=?@[\\]{}\x7f\x80\xff";

/// On a panic, prints the input's file and saves its bytes, since a failed property reports only its own values.
struct Input<'p> {
    path: &'p Path,
    bytes: Vec<u8>,
}

impl Drop for Input<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let found = std::env::temp_dir().join("signpost-found");
            let saved = fs::write(&found, &self.bytes).map(|()| found);
            eprintln!("this happens with {}, or a change of it: {saved:?}", self.path.display());
        }
    }
}

#[test]
fn every_property_holds_for_every_corpus() {
    for (name, target) in fuzz::TARGETS {
        let inputs = files(&folder("corpus").join(name));
        assert!(inputs.len() >= 20, "{name} has only {}", inputs.len());
        for path in inputs {
            let input = Input { path: &path, bytes: fs::read(&path).unwrap() };
            target(&input.bytes);
        }
    }
}

/// Runs each input with a few random changes, and finds within seconds a property that a change of a parser violates.
/// `make fuzz` finds more, since libFuzzer is guided by the branches that an input takes.
#[test]
fn every_property_holds_for_changed_inputs() {
    let mut random = Random(1);
    for (name, target) in fuzz::TARGETS {
        let inputs: Vec<_> =
            files(&folder("corpus").join(name)).into_iter().map(|path| (fs::read(&path).unwrap(), path)).collect();
        let mut tried = 0;
        while tried < CHANGED_INPUTS {
            for (bytes, path) in &inputs {
                let other = &inputs[random.below(inputs.len())].0;
                let input = Input { path, bytes: changed(bytes, other, &mut random) };
                target(&input.bytes);
                tried += 1;
            }
        }
    }
}

/// The input with one to four changes, some of which come from another input.
fn changed(input: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let to = at + random.below(bytes.len() - at + 1).min(16);
        let from = random.below(other.len() + 1);
        let part = &other[from..(from + 16).min(other.len())];
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = INTERESTING[random.below(INTERESTING.len())],
            2 => drop(bytes.drain(at..to)),
            3 => drop(bytes.splice(at..to, part.iter().copied())),
            4 => drop(bytes.splice(at..at, part.iter().copied())),
            _ => bytes.truncate(at),
        }
    }
    bytes
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
        let expected: Vec<_> = sorted.iter().map(|name| folder(of).join(format!("{name}{suffix}"))).collect();
        assert_eq!(files(&folder(of)), expected);
    }
}

#[test]
fn fuzz_targets_build_with_the_deployed_crate_versions() {
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
            "{name}: {fuzzed:?} in tests/fuzz/Cargo.lock, {deployed:?} in Cargo.lock, copy the version to tests/fuzz/Cargo.lock"
        );
    }
}

/// Names of files and what is in them.
type NamedInputs = Vec<(String, Vec<u8>)>;

/// The corpora's inputs that are made of binary formats, by target.
fn valid_inputs() -> [(&'static str, NamedInputs); 3] {
    [
        ("click_id", fuzz::clicks::valid_inputs()),
        ("snapshots", fuzz::snapshots::valid_inputs()),
        ("segments", fuzz::segments::valid_inputs()),
    ]
}

/// Stored and sent values outlive the code that wrote them: sealed click ids, snapshots in KV and segments. Each has a
/// version byte; a new format needs a new version, and code that still reads the old one.
#[test]
fn each_binary_format_is_written_byte_for_byte_as_before() {
    for (name, inputs) in valid_inputs() {
        for (file, bytes) in inputs {
            let path = folder("corpus").join(name).join(&file);
            assert!(fs::read(&path).unwrap() == bytes, "{} differs", path.display());
        }
    }
}

#[test]
#[ignore = "writes into the sources"]
fn renew_inputs_of_binary_formats() {
    for (name, inputs) in valid_inputs() {
        for (file, bytes) in inputs {
            let folder = folder("corpus").join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(file), bytes).unwrap();
        }
    }
}
