//! What is fuzzed: a plain function a target, which takes bytes from outside the service and panics if a property that
//! holds for all of them does not. libFuzzer calls them from `fuzz_targets/`, each by a binary of its own; `cargo test`
//! replays `corpus/` through the same functions, see `tests/corpora.rs`.
//!
//! Inputs are what a request, a file or a store would hold, as it is, so that a corpus can be read and written by hand;
//! where a target wants more than that, it takes it from further lines.

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

/// A target's body. It returns where the property holds, and panics where it does not.
pub type Target = fn(&[u8]);

/// Every target by its name, which is that of its corpus and of its file in `fuzz_targets/`.
pub const TARGETS: [(&str, Target); 12] = [
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
];
