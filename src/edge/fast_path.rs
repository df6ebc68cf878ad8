//! The fast path: answers a click or a page of offers in one synchronous call from `entry.js`.
//!
//! On the ordinary path ([`crate::entry`]) they cost 50 % more than an answer from JavaScript, since each header, each
//! value for the runtime and the promise cross between JavaScript and WebAssembly. So `entry.js` reads the few inputs
//! of the answer and calls this module first.
//!
//! Nothing here may wait, use a binding or need the request's lifetime. A request that needs one of these, or must be
//! refused, returns `None` uncounted and takes the ordinary path, so `None` is always correct. Both paths decide with
//! the same `prepare`. If the decision comes to depend on another header, it must be added to the request here and in
//! `entry.js`. A test sends the same requests on both paths.

mod click;
mod offers;

use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::{isolate::Isolate, snapshots};
use platform::{
    http::{address::Address, router::Interface},
    log,
};

/// The isolate and the request's query, if the request is for this path and no check for a newer snapshot is due.
fn enter<'u>(url: &'u str, path: &str, interface: Interface, now_ms: i64) -> Option<(Rc<Isolate>, &'u str)> {
    let isolate = Isolate::existing()?;
    let address = Address::parse(url)?;
    let matches = address.path == path && isolate.config.hosts.serves(address.host, interface);
    (matches && !snapshots::is_due(&isolate, now_ms)).then_some((isolate, address.query))
}

/// Logs an exception of the fast path, which is a panic.
#[wasm_bindgen]
pub fn fault(what: &str) {
    log::error("fast_path", what);
}
