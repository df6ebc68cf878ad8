//! Each word has one meaning: names of types and modules keep to docs/GLOSSARY.md, limits say `MAX_`, and the code uses
//! each term of the glossary.

use std::{collections::BTreeSet, fs};

use crate::{read, root, sources};

/// A word of type and module names, and the beginnings of the paths or names that may have it.
const RESERVED: [(&str, &[&str]); 2] = [
    // The publisher's report. Objects and isolates send each other batches, metrics and sizes.
    ("report", &["src/domain/reporting", "src/edge/reports", "src/origin/objects/ledger"]),
    // A part of the tracking snapshot. One of an app's outboxes is an `OutboxShard`.
    ("shard", &["src/domain/snapshot", "src/edge/", "src/domain/callbacks/shards", "outbox_shard"]),
];

/// Names of types that describe an event instead of a thing, or that had several meanings.
const NO_NAMES: [&str; 14] = [
    "Told",
    "Heard",
    "Made",
    "Held",
    "Sought",
    "Woken",
    "Announced",
    "Reported",
    "Wanted",
    "Happening",
    "Subject",
    "Step",
    "Entered",
    "Judged",
];

/// Terms of the glossary that have another name in the code, or only a file in JavaScript.
const NAMED_OTHERWISE: [(&str, &str); 3] =
    [("Dead letter", "Dead"), ("Listing snapshot", "listing"), ("Tracking snapshot", "tracking")];
const ELSEWHERE: [&str; 2] = ["Fair queue", "workerd"];

/// A name with its words apart: `FeedBatch` becomes `feed_batch`.
fn apart(name: &str) -> String {
    let mut words = String::new();
    let mut before = '_';
    for letter in name.chars() {
        if letter.is_uppercase() && before.is_lowercase() {
            words.push('_');
        }
        words.extend(letter.to_lowercase());
        before = letter;
    }
    words
}

/// The code of each Rust file in `src/`, without comments, by path.
fn code() -> Vec<(String, String)> {
    let of = |path: std::path::PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
        let path = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        (path, lines.collect::<Vec<_>>().join("\n"))
    };
    sources("src").into_iter().map(of).collect()
}

/// The words of a text that follow one of these.
fn after<'t>(text: &'t str, keywords: &'t [&str]) -> impl Iterator<Item = &'t str> {
    let words = text.split_whitespace().zip(text.split_whitespace().skip(1));
    words.filter(|(keyword, _)| keywords.contains(keyword)).map(|(_, name)| {
        name.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default()
    })
}

#[test]
fn a_reserved_word_has_one_meaning() {
    let mut wrong = Vec::new();
    for (path, text) in code() {
        let types = after(&text, &["struct", "enum", "trait", "type"]).map(apart);
        let modules = after(&text, &["mod"]).map(str::to_owned);
        for name in types.chain(modules) {
            for (word, places) in RESERVED {
                let has_word = name.split('_').any(|of| of.trim_end_matches('s') == word);
                let is_in_place = places.iter().any(|place| path.starts_with(place) || name.contains(place));
                // The module is declared one level above its folder.
                let declares = places.iter().any(|place| place.ends_with(&format!("/{name}")));
                if has_word && !is_in_place && !declares {
                    wrong.push(format!("{path}: {name}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "another word is needed: {wrong:#?}");
}

#[test]
fn types_are_nouns_and_limits_say_max() {
    let mut wrong = Vec::new();
    for (path, text) in code() {
        for name in after(&text, &["struct", "enum", "trait", "type"]).filter(|name| NO_NAMES.contains(name)) {
            wrong.push(format!("{path}: {name}"));
        }
        for name in after(&text, &["const", "static"]) {
            if ["MOST", "LONGEST", "LARGEST", "HIGHEST"]
                .iter()
                .any(|word| name == *word || name.starts_with(&format!("{word}_")))
            {
                wrong.push(format!("{path}: {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn each_term_of_the_glossary_is_one_of_the_code() {
    let code = code();
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let names: BTreeSet<String> =
        code.iter().flat_map(|(_, text)| text.split(move |letter| !is_letter(letter))).map(apart).collect();
    let glossary = read("docs/GLOSSARY.md");
    let terms = glossary.lines().filter_map(|line| line.strip_prefix("**")?.split_once(".**"));
    let mut unknown = Vec::new();
    let mut count = 0;
    for (term, _) in terms {
        count += 1;
        let named = NAMED_OTHERWISE.iter().find(|(of, _)| *of == term).map_or(term, |(_, named)| named);
        // "Click id, sealed" is a kind of click id.
        let named = named.split(',').next().unwrap_or_default().to_lowercase().replace([' ', '-'], "_");
        let is_known = names.iter().any(|name| name.contains(named.trim_end_matches('s')));
        if !is_known && !ELSEWHERE.contains(&term) {
            unknown.push(term);
        }
    }
    assert!(count > 60, "{count}");
    assert!(unknown.is_empty(), "the code has no {unknown:?}");
}
