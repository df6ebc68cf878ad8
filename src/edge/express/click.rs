//! A click, `GET /v2/tracking/click`: one string in, one string out.

use wasm_bindgen::prelude::wasm_bindgen;

use super::enter;
use crate::{
    catalog::Country,
    edge::routes::Handler,
    faults,
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
    answer(&Asked::parse(asked)?, crate::runtime::whole_ms(now_ms))
}

fn answer(asked: &Asked<'_>, now_ms: i64) -> Option<String> {
    let (isolate, query) = enter("GET", asked.url, Handler::Click, now_ms)?;
    let tracking = isolate.tracking.get()?;
    let visitor = Visitor {
        country: Country::parse(asked.country),
        platform: agent::device_platform(asked.user_agent),
        now_ms,
    };
    let allowed = decision::decide(&tracking, query, visitor).ok()?;
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
        let mut counts = isolate.counts.borrow_mut();
        faults::pass("express", "a click");
        counts.add(object, kind, now_ms);
    }
    isolate.traffic.express_redirect();
    Some(location)
}
