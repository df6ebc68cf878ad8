//! Checks of the repository itself: the two Workers' configurations agree, crates keep to their layers, documents name
//! existing files and tests, the demo's facts match their description, the OpenAPI documents match the code, the pages
//! know the permissions of roles and the actions of the audit, words keep to the glossary, the release's version is the
//! same everywhere, and the benchmarks' statistics are right.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

mod alert_rules;
mod audit;
mod bundles;
mod configuration;
mod copies;
#[path = "../support/document.rs"]
mod document;
mod documents;
mod examples;
mod facts;
mod formats;
mod layers;
mod licences;
mod openapi;
mod page_facts;
mod partners;
mod phrases;
#[path = "../support/random.rs"]
mod random;
#[path = "../support/recipes.rs"]
mod recipes;
mod release;
mod rights;
mod security;
mod stats;
mod times;
mod words;

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The top of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every file below a folder, without the output of cargo, npm and tsc and without the corpora.
fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join(folder)).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if !path.is_dir() {
            found.push(path);
        } else if !["target", "corpus", "node_modules", "generated", "dist"]
            .contains(&entry.file_name().to_str().unwrap())
        {
            found.extend(files(path.strip_prefix(root()).unwrap().to_str().unwrap()));
        }
    }
    found
}

/// Every Rust file below a folder.
fn sources(folder: &str) -> Vec<PathBuf> {
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    files(folder).into_iter().filter(is_rust).collect()
}
