//! End to end: the built module on workerd, over HTTP, on loopback. A file for each interface, and one for what may go
//! wrong. Tests begin in the order of their names: what takes longest, `api` and `at_scale`, is not left for the end,
//! when nothing else is there to run beside it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

mod api;
mod at_scale;
mod billed_rows;
mod callbacks;
mod caps;
mod clicks;
mod conformance;
mod console;
mod conversions;
mod dashboard;
mod fast_path;
mod faults;
mod harness;
#[path = "../support/large_catalog.rs"]
mod large_catalog;
#[path = "../support/many_facts.rs"]
mod many_facts;
mod observability;
mod offers;
mod operator;
mod overload;
#[path = "../support/random.rs"]
mod random;
mod readme;
#[path = "../support/recipes.rs"]
mod recipes;
mod reports;
mod restored;
mod rewards;
mod security;
mod senders;
mod shards;
mod test_apps;
