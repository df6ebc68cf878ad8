//! What holds of the repository itself: the two configurations say the same, the domain stays pure, the demo's facts are
//! what they claim to be, `openapi.yaml` and the code name the same, and the benches reckon right.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod bundles;
#[path = "../support/document.rs"]
mod document;
mod facts;
mod licences;
mod openapi;
mod recipes;
mod security;
mod stats;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

fn read(path: &str) -> String {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn sources(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(folder))
        .unwrap()
        .map(Result::unwrap)
    {
        let path = entry.path();
        if path.is_dir() {
            let relative = path
                .strip_prefix(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
                .unwrap();
            found.extend(sources(relative.to_str().unwrap()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// What follows `before` and precedes `after`, wherever both are on a line.
fn between<'t>(text: &'t str, before: &str, after: &str) -> BTreeSet<&'t str> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .filter_map(|line| {
            line.split_once(before)?
                .1
                .split_once(after)
                .map(|(found, _)| found)
        })
        .collect()
}

#[test]
fn local_runs_and_cloudflare_are_configured_alike() {
    let capnp = read("fixtures/local/workerd.capnp");
    let wrangler: toml::Table = read("wrangler.toml").parse().unwrap();
    let production = wrangler["env"]["production"].as_table().unwrap();
    let strings = |value: &toml::Value, key: &str| -> BTreeSet<String> {
        value
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item[key].as_str().unwrap().to_owned())
            .collect()
    };

    let classes: BTreeSet<_> = between(&capnp, "(className = \"", "\"")
        .into_iter()
        .map(str::to_owned)
        .collect();
    let migrated: BTreeSet<_> = wrangler["migrations"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|migration| migration["new_sqlite_classes"].as_array().unwrap())
        .map(|class| class.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(migrated, classes);
    for environment in [&wrangler, production] {
        let bindings = &environment["durable_objects"]["bindings"];
        assert_eq!(strings(bindings, "class_name"), classes);
        for name in strings(bindings, "name")
            .iter()
            .chain(&strings(&environment["kv_namespaces"], "binding"))
        {
            assert!(
                capnp.contains(&format!("(name = \"{name}\",")),
                "{name} is no binding of local runs"
            );
        }
    }

    let date = wrangler["compatibility_date"].as_str().unwrap();
    assert_eq!(
        between(&capnp, "compatibilityDate = \"", "\""),
        BTreeSet::from([date])
    );
    for flag in wrangler["compatibility_flags"].as_array().unwrap() {
        assert!(
            capnp.contains(flag.as_str().unwrap()),
            "{flag} is no flag of local runs"
        );
    }

    // Every setting is a binding of local runs, and is one that the code reads.
    let settings = between(&capnp, "fromEnvironment = \"", "\"");
    let code: String = sources("src")
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    for setting in &settings {
        assert!(
            code.contains(&format!("\"{setting}\"")),
            "{setting} is read by nothing"
        );
    }
    let vars = production["vars"].as_table().unwrap().keys().map(String::as_str);
    for var in vars {
        assert!(settings.contains(var), "{var} is no setting of local runs");
    }
}

#[test]
fn cloudflare_logs_no_line_of_its_own_with_the_address_of_each_request() {
    let wrangler: toml::Table = read("wrangler.toml").parse().unwrap();
    let observability = &wrangler["env"]["production"]["observability"];
    assert_eq!(observability["enabled"].as_bool(), Some(true));
    assert_eq!(observability["logs"]["enabled"].as_bool(), Some(true));
    assert_eq!(observability["logs"]["invocation_logs"].as_bool(), Some(false));
}

#[test]
fn the_secrets_that_a_deployment_needs_are_named_and_not_stored() {
    let wrangler = read("wrangler.toml");
    for secret in ["OPERATOR_TOKEN", "CLICK_KEYS", "STORE_KEYS", "REPORT_KEY_MAC"] {
        let lines: Vec<_> = wrangler.lines().filter(|line| line.contains(secret)).collect();
        assert!(!lines.is_empty(), "{secret} is not named");
        assert!(
            lines.iter().all(|line| line.starts_with('#')),
            "{secret} is stored: {lines:?}"
        );
    }
}

/// What may know Workers. All else is the domain, or serves it.
const SHELLS: [&str; 4] = ["src/edge", "src/origin", "src/runtime.rs", "src/log/shell.rs"];
/// The domain, as `src/lib.rs` names it.
const DOMAIN: [&str; 6] = [
    "catalog",
    "offers",
    "tracking",
    "conversions",
    "callbacks",
    "reporting",
];

#[test]
fn the_domain_knows_no_workers_no_clock_and_no_randomness() {
    let library = read("src/lib.rs");
    assert_eq!(between(&library, "//! - [`", "`]: "), BTreeSet::from(DOMAIN));
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    for shell in SHELLS {
        assert!(root.join(shell).exists(), "there is no {shell}");
    }
    let is_shell = |path: &Path| SHELLS.iter().any(|shell| path.starts_with(root.join(shell)));
    let pure: Vec<_> = sources("src")
        .into_iter()
        .filter(|path| !is_shell(path))
        .collect();
    for module in DOMAIN {
        let folder = root.join("src").join(module);
        assert!(pure.iter().any(|path| path.starts_with(&folder)), "{module}");
    }
    for path in pure {
        let text = fs::read_to_string(&path).unwrap();
        for banned in [
            "worker::",
            "js_sys",
            "wasm_bindgen",
            "SystemTime",
            "Instant::now",
            "Utc::now",
            "Local::now",
            "getrandom",
            "crate::runtime",
            "crate::edge",
            "crate::origin",
        ] {
            assert!(!text.contains(banned), "{} has {banned}", path.display());
        }
    }
}

#[test]
fn every_file_says_at_its_top_what_it_is_for() {
    for path in sources("src")
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|name| name != "tests.rs"))
    {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//!"), "{} has no header", path.display());
    }
}
