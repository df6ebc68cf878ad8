//! End to end: the built module on workerd, over HTTP, on loopback. A file for each interface, and one for what may go
//! wrong.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

mod callbacks;
mod caps;
mod clicks;
mod conformance;
mod conversions;
mod express;
mod faults;
mod harness;
#[path = "../support/many_facts.rs"]
mod many_facts;
#[path = "../support/random.rs"]
mod numbers;
mod offers;
mod operator;
mod overload;
#[path = "../support/planned.rs"]
mod planned;
mod readme;
mod reports;
mod scale;
mod schemathesis;
mod trust;
mod watch;
