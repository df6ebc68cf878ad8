//! The fast path of a click, `GET /v2/tracking/click`: one string in, one string out.

use wasm_bindgen::prelude::wasm_bindgen;

use super::enter;
use crate::{
    click::{ClickRequest, ClickShards, prepare},
    routes, snapshots,
    tasks::Task,
};
use contract::counters;
use domain::{
    clicks::redirect::Redirect,
    model::ascii_split::split_once,
    tracking::{Sealed, parameters::ClickParameters},
};
use platform::{faults, http::router::Interface, runtime::whole_ms};

/// The request as a string with one line for each part. Neither a URL nor a header contains a line break. A missing
/// header is empty.
pub struct FastRequest<'r> {
    country: &'r str,
    purposes: &'r str,
    user_agent: &'r str,
    pub url: &'r str,
}

impl<'r> FastRequest<'r> {
    pub fn parse(text: &'r str) -> Option<Self> {
        let (country, rest) = split_once(text, b'\n')?;
        let (purposes, rest) = split_once(rest, b'\n')?;
        let (user_agent, url) = split_once(rest, b'\n')?;
        Some(Self { country, purposes, user_agent, url })
    }
}

/// Answers a `GET` request with its redirect URL and counts it, if it is a click that need not wait. `now_ms` is in
/// milliseconds since the Unix epoch.
#[wasm_bindgen]
pub fn redirect(request: &str, now_ms: f64) -> Option<String> {
    answer(&FastRequest::parse(request)?, whole_ms(now_ms))
}

fn answer(request: &FastRequest<'_>, now_ms: i64) -> Option<String> {
    let (isolate, query) = enter(request.url, routes::CLICK, Interface::Tracking)?;
    let parameters = ClickParameters::parse(query).ok()?;
    let shards = ClickShards::held(&isolate, &parameters)?;
    let click = ClickRequest {
        is_head: false,
        country: request.country,
        purposes: request.purposes,
        user_agent: request.user_agent,
        query,
    };
    let prepared = prepare(&isolate, &shards, parameters, &click, now_ms).ok()?;
    if prepared.click_cap.is_some() {
        return None;
    }
    let nonce = isolate.nonce().ok()?;
    let Redirect { sealed, location } = prepared.seal(&isolate, nonce);
    if matches!(sealed, Sealed::Short { .. }) {
        return None;
    }
    if let Some(kind) = prepared.counted() {
        let object = counters::click_object(kind.offer);
        let mut counts = isolate.counts.borrow_mut();
        faults::inject("fast_path", "a click");
        let duty = counts.add(object, kind, now_ms);
        isolate.tasks.add(Task::of_duty(duty));
    }
    if snapshots::is_due(&isolate, now_ms) {
        isolate.revalidated_at_ms.set(now_ms);
        isolate.tasks.add(Some(Task::REVALIDATE));
    }
    isolate.traffic.fast_redirect();
    Some(location)
}
