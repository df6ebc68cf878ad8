//! The fast path: answers a click or a page of offers in one synchronous call from `entry.js`.
//!
//! An answer from the ordinary path ([`crate::entry`]) costs 50 % more than one from JavaScript, since each header,
//! each value for the runtime and the promise cross between JavaScript and WebAssembly. So `entry.js` reads the few
//! inputs of the answer and calls this module first.
//!
//! Nothing here may wait. For a request that must wait or be refused, the functions count nothing and return `None`,
//! and the request takes the ordinary path. So `None` is always correct. Both paths decide with the same `prepare`. If
//! the decision ever depends on another header, that header must be added to the request here and in `entry.js`. A test
//! sends the same requests on both paths.
//!
//! [`background`](crate::background) does the work that a click defers until after its answer. [`cold`] stores the
//! values that an isolate lacks to answer a click and that `entry.js` reads from KV.

mod click;
mod cold;
mod offers;

use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::isolate::Isolate;
use domain::model::ascii_split::split_once;
use platform::{
    http::{address::Address, router::Interface},
    log, panics,
};

/// Returns the isolate and the request's query, if the request is for this path and its host serves the interface.
fn enter<'u>(url: &'u str, path: &str, interface: Interface) -> Option<(Rc<Isolate>, &'u str)> {
    let isolate = Isolate::existing()?;
    let address = Address::parse(url)?;
    let matches = address.path == path && isolate.config.hosts.serves(address.host, interface);
    matches.then_some((isolate, address.query))
}

/// Splits a request, which is a string with one line for each part. Neither a URL nor a header contains a line break. A
/// missing header is empty.
fn parts(request: &str) -> Option<[&str; 4]> {
    let (first, rest) = split_once(request, b'\n')?;
    let (second, rest) = split_once(rest, b'\n')?;
    let (third, fourth) = split_once(rest, b'\n')?;
    Some([first, second, third, fourth])
}

/// Logs an exception of the fast path, which is a panic.
#[wasm_bindgen]
pub fn fault(what: &str) {
    log::error("fast_path", what);
    panics::add();
}
