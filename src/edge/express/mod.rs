//! The express ways: a click, and a page of offers, each in one synchronous call from `entry.js`.
//!
//! Through the module's own handler ([`super::entry`]) the two cost half as much again as the same answer from
//! JavaScript, and not for their work: every header read from here, every value handed to the runtime and the promise
//! around it all cross between JavaScript and WebAssembly. So `entry.js` reads the few things that the answer depends on,
//! and asks here before it takes the ordinary way.
//!
//! Nothing here may wait, reach for a binding or need the request's lifetime. A request that would, or that is to be
//! refused, is left as it came, uncounted, and goes the ordinary way: `None` is always a right answer. Both ways decide
//! with the same functions; what an answer depends on must be handed in, so a header that begins to matter has to be added
//! to a way's `Asked`, in `entry.js` too. A test sends the same requests both ways.

mod click;
mod offers;

use std::rc::Rc;

use wasm_bindgen::prelude::wasm_bindgen;

use super::{
    entry::Address,
    isolate::Isolate,
    routes::{Handler, Routed, route},
    snapshots,
};
use crate::log;

/// The isolate's memory and the request's query, if the request is this handler's and nothing is to be asked for first.
fn enter<'u>(method: &str, url: &'u str, handler: Handler, now_ms: i64) -> Option<(Rc<Isolate>, &'u str)> {
    let isolate = Isolate::held()?;
    let address = Address::parse(url)?;
    let serves = |interface| isolate.config.serves(address.host, interface);
    let is_its = matches!(route(method, address.path, serves), Routed::To(to, _) if to == handler);
    (is_its && !snapshots::is_due(&isolate, now_ms)).then_some((isolate, address.query))
}

/// A panic, or a body that ended early: told to the log as all else is.
#[wasm_bindgen]
pub fn fault(what: &str) {
    log::error("express", what);
}
