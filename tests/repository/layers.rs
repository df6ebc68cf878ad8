//! The crates keep to their layers, which docs/ARCHITECTURE.md draws: the manifests say which crate may use which, and
//! the domain knows no Workers, no clock and no randomness. Within a crate, neither files nor folders form circles of
//! use, and the origin's folders are layers, too.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use crate::{read, root, sources};

/// Each crate and the crates of ours that it may use, from the lowest layer up.
const LAYERS: [(&str, &[&str]); 5] = [
    ("domain", &[]),
    ("contract", &["domain"]),
    ("platform", &["contract", "domain"]),
    ("edge", &["contract", "domain", "platform"]),
    ("origin", &["contract", "domain", "platform"]),
];
/// Crates that run only on Workers.
const WORKERS: [&str; 5] = ["worker", "wasm-bindgen", "wasm-bindgen-futures", "js-sys", "web-sys"];

#[test]
fn no_crate_uses_one_of_a_layer_above_it() {
    let ours: BTreeSet<_> = LAYERS.iter().map(|(name, _)| *name).collect();
    for (name, below) in LAYERS {
        let manifest: toml::Table = read(&format!("src/{name}/Cargo.toml")).parse().unwrap();
        let used = manifest["dependencies"].as_table().unwrap().keys().map(String::as_str);
        let used: BTreeSet<_> = used.filter(|used| ours.contains(used)).collect();
        assert_eq!(used, below.iter().copied().collect(), "{name}");
    }
}

#[test]
fn the_domain_knows_no_workers_no_clock_and_no_randomness() {
    for name in ["domain", "contract"] {
        let manifest = read(&format!("src/{name}/Cargo.toml"));
        for workers in WORKERS {
            assert!(!manifest.contains(&format!("{workers}.workspace")), "{name} uses {workers}");
        }
        for path in sources(&format!("src/{name}")) {
            let text = fs::read_to_string(&path).unwrap();
            for banned in ["SystemTime", "Instant::now", "Utc::now", "Local::now", "getrandom"] {
                assert!(!text.contains(banned), "{} has {banned}", path.display());
            }
        }
    }
}

/// The origin's layers, from the lowest up. Each uses those below it.
const FOLDERS: [&str; 3] = ["delivery", "objects", "http"];

#[test]
fn a_file_of_the_origin_uses_its_own_layer_and_those_below() {
    for (module, used) in graph("origin") {
        let layer = |module: &Module| {
            let found = FOLDERS.iter().position(|folder| *folder == module[0]);
            found.unwrap_or_else(|| panic!("{} is in no layer", module.join("/")))
        };
        for used in used {
            let way = format!("{} uses {}", module.join("/"), used.join("/"));
            assert!(layer(&used) <= layer(&module), "{way}");
            // Objects call each other by operations of the contract.
            let is_object = module.len() > 1 && module[0] == "objects" && used[0] == "objects";
            assert!(!is_object || used.get(1) == module.get(1), "{way}");
        }
    }
}

/// Files that use each other can only be read together. A module's file and those of its folder are parts of one whole:
/// it may use theirs by their names, and they its own.
#[test]
fn no_files_use_each_other_in_a_circle() {
    for (name, _) in LAYERS {
        assert_no_circle(name, graph(name));
    }
}

/// The same for folders beside each other, each with all that is in it.
#[test]
fn no_folders_use_each_other_in_a_circle() {
    for (name, _) in LAYERS {
        let files = graph(name);
        let folders: BTreeSet<_> =
            files.keys().flat_map(|module| (1..module.len()).map(|length| module[..length].to_vec())).collect();
        let parents = folders.iter().map(|folder| &folder[..folder.len() - 1]);
        for parent in parents.collect::<BTreeSet<_>>() {
            // The folder in `parent` that a module is in, or the module's own.
            let folder = |module: &Module| {
                let folder = module.get(..=parent.len())?.to_vec();
                (module.starts_with(parent) && folders.contains(&folder)).then_some(folder)
            };
            let mut used: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
            for (module, its) in &files {
                let Some(user) = folder(module) else { continue };
                let others = its.iter().filter_map(folder).filter(|other| *other != user);
                used.entry(user.clone()).or_default().extend(others);
            }
            assert_no_circle(name, used);
        }
    }
}

/// The path of a module: `["catalog", "app"]`.
type Module = Vec<String>;

/// The modules that each module uses.
fn graph(name: &str) -> BTreeMap<Module, BTreeSet<Module>> {
    let files = modules(name);
    let graph = files.iter().map(|(module, text)| {
        let paths = uses(module, text).into_iter();
        let modules = paths.filter_map(|path| longest_module(&files, path));
        (module.clone(), modules.filter(|used| used != module).collect())
    });
    graph.collect()
}

#[track_caller]
fn assert_no_circle(name: &str, mut used: BTreeMap<Module, BTreeSet<Module>>) {
    // A module that uses nothing, or only modules outside any circle, is in no circle.
    loop {
        let before = used.len();
        let left: BTreeSet<_> = used.keys().cloned().collect();
        used.retain(|_, used| !used.is_disjoint(&left));
        if used.len() == before {
            break;
        }
    }
    assert!(used.is_empty(), "circles in {name} are among {used:#?}");
}

/// A crate's files, without tests, by module path.
fn modules(name: &str) -> BTreeMap<Module, String> {
    let folder = root().join("src").join(name);
    let files = sources(&format!("src/{name}")).into_iter().map(|path| {
        let module = path.strip_prefix(&folder).unwrap().with_extension("");
        let module = module.iter().map(|part| part.to_str().unwrap().to_owned());
        let text = fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
        (module.collect::<Vec<_>>(), text)
    });
    let is_test = |part: &String| part == "tests";
    let is_file =
        |(module, _): &(Module, String)| !module.iter().any(is_test) && *module != ["lib"] && *module != ["build"];
    files.filter(is_file).collect()
}

/// The paths of the crate that a file names, in `use` declarations and elsewhere, from the crate's root.
fn uses(module: &[String], text: &str) -> Vec<Vec<String>> {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let code: String = text.lines().filter(is_code).flat_map(|line| [line, " "]).collect();
    let mut found = Vec::new();
    for root in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(root) {
            if code.get(..at).unwrap().ends_with([':', '$']) {
                continue;
            }
            for path in leaves(&tree(code.get(at..).unwrap())) {
                let parts: Vec<_> = path.split("::").map(str::to_owned).collect();
                let supers = parts.iter().take_while(|part| *part == "super").count();
                found.push(match root {
                    "crate::" => parts[1..].to_vec(),
                    "self::" => [module, &parts[1..]].concat(),
                    _ => [&module[..module.len() - supers], &parts[supers..]].concat(),
                });
            }
        }
    }
    found
}

/// The path that a text begins with, or the tree of paths: `a::{b,c::{d,e}}`.
fn tree(text: &str) -> String {
    let (mut depth, mut tree) = (0, String::new());
    for c in text.chars() {
        match c {
            '{' if depth > 0 || tree.ends_with("::") => depth += 1,
            '}' if depth > 0 => depth -= 1,
            _ if depth > 0 || c.is_alphanumeric() || c == '_' || c == ':' => {}
            _ => break,
        }
        if !c.is_whitespace() {
            tree.push(c);
        }
        if c == '}' && depth == 0 {
            break;
        }
    }
    tree
}

/// The paths of a tree like `a::{b,c::{d,e}}`.
fn leaves(tree: &str) -> Vec<String> {
    let Some((prefix, rest)) = tree.split_once('{') else {
        // Empty after the comma at the end of a list.
        return Vec::from_iter((!tree.is_empty()).then(|| tree.to_owned()));
    };
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    let (inner, _) = rest.rsplit_once('}').unwrap();
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = inner.get(start..at).unwrap();
                found.extend(leaves(part).into_iter().map(|leaf| format!("{prefix}{leaf}")));
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// The module that a path is in.
fn longest_module(files: &BTreeMap<Vec<String>, String>, mut path: Vec<String>) -> Option<Vec<String>> {
    while !path.is_empty() && !files.contains_key(&path) {
        path.pop();
    }
    (!path.is_empty()).then_some(path)
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
        assert!(lines <= 425, "{} has {lines} lines: split it by task", path.display());
    }
}
