//! End to end: the built modules on workerd, over HTTP, on loopback. Each interface has a file, and so have failures.
//! Tests begin in the order of their names, so that the longest ones, `api` and `at_scale`, run beside others and not
//! alone at the end.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

mod api;
mod at_scale;
mod backups;
mod billed_rows;
mod callbacks;
mod caps;
mod clicks;
mod conformance;
mod console;
mod conversions;
mod copies;
mod dashboard;
mod fast_path;
mod faults;
mod harness;
#[path = "../support/large_catalog.rs"]
mod large_catalog;
mod later_formats;
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
mod release_state;
mod releases;
mod reports;
mod restored;
mod rewards;
mod security;
mod senders;
mod shards;
mod test_apps;
