//! The express way of a click, `GET /v2/tracking/click`: one string in, one string out, in one call.
//!
//! The ordinary way ([`super::click`]) costs half as much again as JavaScript's constant redirect, and not for its work:
//! every header read from here, every value handed to the runtime and the promise around it all cross between
//! JavaScript and WebAssembly. So `entry.js` reads the few things that a redirect depends on, and asks here before it
//! takes the ordinary way. Nothing here may wait, reach for a binding or need the request's lifetime. A click that would
//! is left alone and not counted, and goes the ordinary way instead: `None` is always a right answer.
//!
//! What an answer depends on must be in the string, in the order of [`Asked`]. A test sends the same requests both ways.

use wasm_bindgen::prelude::wasm_bindgen;

use super::{
    entry::Address,
    isolate::Isolate,
    routes::{Handler, Routed, route},
    snapshots,
};
use crate::{
    catalog::Country,
    origin::counters,
    short::split,
    tracking::{
        agent,
        click_id::Sealed,
        decision::{self, Visitor},
        redirect::{self, Redirect},
    },
};

/// The parts of the string: a line each, and neither a URL nor a header holds a line break. Empty: there is none.
struct Asked<'r> {
    country: &'r str,
    purpose: &'r str,
    sec_purpose: &'r str,
    user_agent: &'r str,
    url: &'r str,
}

impl<'r> Asked<'r> {
    fn parse(text: &'r str) -> Option<Self> {
        let (country, rest) = split(text, b'\n')?;
        let (purpose, rest) = split(rest, b'\n')?;
        let (sec_purpose, rest) = split(rest, b'\n')?;
        let (user_agent, url) = split(rest, b'\n')?;
        Some(Self {
            country,
            purpose,
            sec_purpose,
            user_agent,
            url,
        })
    }
}

/// Where a `GET` request is redirected, if it is a click that can be answered at once; it is counted then.
/// `now_ms` is milliseconds since the Unix epoch.
#[wasm_bindgen]
pub fn redirect(asked: &str, now_ms: f64) -> Option<String> {
    // Exact: an f64 holds the milliseconds of 285,000 years.
    #[expect(clippy::cast_possible_truncation, reason = "whole milliseconds, see above")]
    answer(&Asked::parse(asked)?, now_ms as i64)
}

fn answer(asked: &Asked<'_>, now_ms: i64) -> Option<String> {
    let isolate = Isolate::held()?;
    let address = Address::parse(asked.url)?;
    let serves = |interface| isolate.config.serves(address.host, interface);
    if !matches!(route("GET", address.path, serves), Routed::To(Handler::Click, _)) {
        return None;
    }
    let tracking = isolate.tracking.get()?;
    if snapshots::is_due(&isolate, now_ms) {
        return None;
    }
    let visitor = Visitor {
        country: Country::parse(asked.country),
        platform: agent::device_platform(asked.user_agent),
        now_ms,
    };
    let allowed = decision::decide(&tracking, address.query, visitor).ok()?;
    let counts = agent::counts(false, asked.user_agent, asked.purpose, asked.sec_purpose);
    let waits_for_a_cap = allowed.goal.offer.click_cap.is_some();
    let opens_a_batch = counts && !isolate.counts.borrow().joins(now_ms);
    if waits_for_a_cap || opens_a_batch {
        return None;
    }
    let nonce = isolate.nonce().ok()?;
    let Redirect { sealed, location } =
        redirect::redirect(&allowed, visitor, &isolate.config.click_keys, nonce);
    if matches!(sealed, Sealed::Short { .. }) {
        return None;
    }
    if counts && let Some(kind) = redirect::kind(&allowed, visitor) {
        let object = counters::object(&kind.offer);
        isolate.counts.borrow_mut().add(object, kind, now_ms);
    }
    isolate.traffic.express();
    Some(location)
}
