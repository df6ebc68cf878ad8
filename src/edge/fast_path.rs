//! The fast path: a click, and a page of offers, each in one synchronous call from `entry.js`.
//!
//! Through the module's own handler ([`crate::entry`]) the two cost half as much again as the same answer from JavaScript:
//! every header read from here, every value handed to the runtime and the promise around it cross between JavaScript and
//! WebAssembly. So `entry.js` reads the few things that the answer depends on, and asks here first.
//!
//! Nothing here may wait, reach for a binding or need the request's lifetime. A request that would, or that is to be refused,
//! is left uncounted and goes the ordinary path: `None` is always a right answer. Both paths decide with the same
//! `prepare`; a header that begins to matter has to be added to a path's request here and in `entry.js`. A test sends the
//! same requests both ways.

mod click;
mod offers;

use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::{isolate::Isolate, snapshots};
use platform::{
    http::{address::Address, router::Interface},
    log,
};

/// The isolate and the request's query, if the request is for this path and no newer snapshot is to be asked for first.
fn enter<'u>(url: &'u str, path: &str, interface: Interface, now_ms: i64) -> Option<(Rc<Isolate>, &'u str)> {
    let isolate = Isolate::existing()?;
    let address = Address::parse(url)?;
    let is_its = address.path == path && isolate.config.hosts.serves(address.host, interface);
    (is_its && !snapshots::is_due(&isolate, now_ms)).then_some((isolate, address.query))
}

/// Logs an exception of the fast path: a panic.
#[wasm_bindgen]
pub fn fault(what: &str) {
    log::error("fast_path", what);
}
