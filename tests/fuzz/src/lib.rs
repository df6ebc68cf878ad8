//! Fuzz targets: plain functions that take untrusted bytes and panic if a property does not hold. libFuzzer calls them
//! from `fuzz_targets/`, one binary each; `cargo test` replays `corpus/` through them, see `tests/corpora/main.rs`.
//!
//! Inputs look like the request, file or stored value that they stand for, so that people can read and write a corpus.
//! A target that needs more takes it from further lines.

pub mod accounts;
pub mod callbacks;
pub mod clicks;
pub mod conversions;
pub mod documents;
pub mod facts;
pub mod offers;
pub mod reports;
pub mod segments;
pub mod snapshots;
pub mod world;

/// A target's body. It panics if the property does not hold.
pub type Target = fn(&[u8]);

/// Every target by name. Its corpus and its file in `fuzz_targets/` have the same name.
pub const TARGETS: [(&str, Target); 14] = [
    ("click_query", clicks::query),
    ("click_id", clicks::id),
    ("postback", conversions::postback),
    ("report_query", reports::query),
    ("offers_request", offers::request),
    ("facts_csv", facts::csv),
    ("facts_ndjson", facts::ndjson),
    ("documents", documents::line),
    ("templates", callbacks::templates),
    ("url_guard", callbacks::guard),
    ("snapshots", snapshots::value),
    ("segments", segments::image),
    ("passkey", accounts::passkey),
    ("credentials", accounts::credentials),
];
