//! Everything that Signpost is built from may be used by anyone: crates by their `Cargo.toml`, npm packages by the lock
//! file. The tools of PyPI are run and never shipped.

use std::{collections::BTreeSet, process::Command};

use serde_json::Value;
use spdx::{Expression, LicenseReq, ParseMode};

use crate::read;

/// All of these are permissive. People decide first about a licence that asks for more than a notice.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];
/// Licences of npm tools that are never deployed: wrangler's image library, axe-core, which looks for barriers in the
/// dashboard's pages, and an argument parser and an `fs` shim that readers of the API's documents depend on.
const ALLOWED_IN_TOOLS: &[&str] = &["BlueOak-1.0.0", "LGPL-3.0-or-later", "MPL-2.0", "Python-2.0"];
/// Old packages of the mock server that name MIT in another way than the lock file knows: in `licenses`, or in their LICENSE.
const MIT_BY_OTHER_FIELDS: [&str; 7] = [
    "compute-gcd",
    "compute-lcm",
    "reserved",
    "validate.io-function",
    "validate.io-integer",
    "validate.io-integer-array",
    "validate.io-number",
];

fn is_allowed(licence: &str, more: &[&str]) -> bool {
    // `MIT/Apache-2.0` is how older crates write OR.
    let expression =
        Expression::parse_mode(licence, ParseMode::LAX).unwrap_or_else(|error| panic!("{licence}: {error}"));
    expression.evaluate(|wanted: &LicenseReq| {
        let id = wanted.license.id().map(|id| id.name);
        id.is_some_and(|id| ALLOWED.contains(&id) || more.contains(&id))
    })
}

/// This machine, as rustc names it.
fn host() -> String {
    let told = Command::new("rustc").arg("-vV").output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    host.unwrap().to_owned()
}

/// The packages that a build for this platform includes. They are on disk once both platforms were built, so no network
/// is needed.
fn crates(platform: &str) -> Vec<Value> {
    let told = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", platform])
        .current_dir(crate::root())
        .output()
        .unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    told["packages"].as_array().unwrap().clone()
}

#[test]
fn every_crate_has_a_licence_that_is_allowed() {
    let mut seen = BTreeSet::new();
    for platform in ["wasm32-unknown-unknown", host().as_str()] {
        for package in crates(platform) {
            let (name, licence) = (&package["name"], package["license"].as_str());
            let licence = licence.unwrap_or_else(|| panic!("{name} names no licence"));
            assert!(is_allowed(licence, &[]), "{name}: {licence}");
            seen.insert(name.to_string());
        }
    }
    assert!(seen.len() > 100, "{}", seen.len());
}

#[test]
fn every_npm_package_has_a_licence_that_is_allowed() {
    for lock in [
        "package-lock.json",
        "docs/site/package-lock.json",
        "tests/openapi/package-lock.json",
        "tests/verifiers/package-lock.json",
    ] {
        let lock: Value = serde_json::from_str(&read(lock)).unwrap();
        let packages = lock["packages"].as_object().unwrap();
        assert!(packages.len() > 5);
        for (path, package) in packages.iter().filter(|(path, _)| !path.is_empty()) {
            let name = path.rsplit("node_modules/").next().unwrap();
            let more = if package["dev"] == true { ALLOWED_IN_TOOLS } else { &[] };
            match package["license"].as_str() {
                Some(licence) => assert!(is_allowed(licence, more), "{path}: {licence}"),
                None => assert!(MIT_BY_OTHER_FIELDS.contains(&name), "{path} names no licence"),
            }
        }
    }
}

#[test]
fn a_licence_that_asks_for_more_is_refused() {
    for (licence, allowed) in [
        ("MIT OR GPL-3.0-only", true),
        ("MIT AND GPL-3.0-only", false),
        ("AGPL-3.0-only", false),
        ("MIT/Apache-2.0", true),
    ] {
        assert_eq!(is_allowed(licence, &[]), allowed, "{licence}");
    }
}
