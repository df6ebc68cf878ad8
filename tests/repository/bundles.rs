//! Deployed modules contain no code of tests or benchmarks, and the edge's has nothing of the objects.

use std::fs;

use crate::{read, root};

/// The message of an injected panic (`src/platform/faults.rs`).
const FAULT: &[u8] = b"a test asked for it";
/// The path of the benchmarks' route.
const BENCH: &[u8] = b"/v1/bench/report";
/// Names of tables that only an object has.
const OBJECTS: [&[u8]; 2] = [b"CREATE TABLE", b"/v1/operator/publishers"];

fn module(folder: &str) -> Option<Vec<u8>> {
    fs::read(root().join(folder).join("index_bg.wasm")).ok()
}

fn holds(module: &[u8], mark: &[u8]) -> bool {
    module.windows(mark.len()).any(|window| window == mark)
}

#[test]
fn deployed_modules_are_built_without_features() {
    for worker in ["edge", "origin"] {
        let manifest: toml::Table = read(&format!("src/{worker}/Cargo.toml")).parse().unwrap();
        assert!(!manifest["features"].as_table().unwrap().contains_key("default"));
    }
    // A variant goes to a folder of its own, and `make deploy` and wrangler take `build/`.
    let makefile = read("Makefile");
    let mut lines = makefile.lines();
    let (mut compiled, mut bundled) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next() {
        let Some((target, sources)) = line.split_once(".wasm: ") else {
            continue;
        };
        // The recipe calls `compile` or `bundle` with the crate and the variant.
        let recipe = lines.next().unwrap();
        let arguments: Vec<_> = recipe.trim_end_matches(')').split(',').skip(1).collect();
        match target.strip_suffix("/index_bg") {
            Some(folder) => bundled.push((folder, sources.split(' ').next().unwrap())),
            None => compiled.push((target, arguments.join(" "))),
        }
    }
    let workers = ["edge", "origin"];
    let with = |separator: &str, variant: &str| workers.map(|worker| format!("{worker}{separator}{variant}"));
    let variants = ["faults", "next", "bench"];
    let names = variants.map(|variant| with("-", variant)).concat();
    let names = [with("", "").to_vec(), names].concat();
    let crates = variants.map(|variant| with(" ", variant)).concat();
    let crates = [with("", "").to_vec(), crates].concat();
    for ((name, arguments), (target, built)) in names.iter().zip(&crates).zip(&compiled) {
        assert_eq!((*target, built), (&*format!("target/wasm/{name}"), arguments));
    }
    let folders = ["build", "target/faults", "target/next", "target/bench"];
    let folders = folders.iter().flat_map(|folder| workers.map(|worker| format!("{folder}/{worker}")));
    for ((name, folder), (target, source)) in names.iter().zip(folders).zip(&bundled) {
        assert_eq!((*target, *source), (&*folder, &*format!("target/wasm/{name}.wasm")));
    }
    assert_eq!([compiled.len(), bundled.len()], [names.len(); 2]);
    for (path, main) in [("wrangler.toml", "build/edge/"), ("src/origin/wrangler.toml", "../../build/origin/")] {
        let wrangler: toml::Table = read(path).parse().unwrap();
        assert!(wrangler["main"].as_str().unwrap().starts_with(main), "{path}");
        assert_eq!(wrangler["build"]["command"].as_str(), Some("make build"), "{path}");
    }
}

#[test]
fn a_deployed_module_holds_nothing_that_only_tests_and_benchmarks_have() {
    for worker in ["edge", "origin"] {
        let deployed = module(&format!("build/{worker}")).expect("a module, which `make build` makes");
        for mark in [FAULT, BENCH] {
            assert!(!holds(&deployed, mark), "{worker}: {}", String::from_utf8_lossy(mark));
        }
        // The mark works: a module that was built with faults contains it.
        if let Some(faulty) = module(&format!("target/faults/{worker}")) {
            assert!(holds(&faulty, FAULT), "{worker}");
        }
    }
}

#[test]
fn the_edge_holds_nothing_of_the_objects_or_of_the_operators_interface() {
    let (edge, origin) = (module("build/edge").unwrap(), module("build/origin").unwrap());
    for mark in OBJECTS {
        assert!(!holds(&edge, mark), "{}", String::from_utf8_lossy(mark));
        assert!(holds(&origin, mark), "{}", String::from_utf8_lossy(mark));
    }
}
