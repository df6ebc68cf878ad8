//! The fast path of a click, `GET /v2/tracking/click`: one string in, one string out.

use wasm_bindgen::prelude::wasm_bindgen;

use super::{enter, parts};
use crate::{
    click::{ClickRequest, ClickShards, prepare},
    routes, snapshots,
    tasks::Task,
};
use contract::counters;
use domain::{
    clicks::redirect::Redirect,
    tracking::{Sealed, parameters::ClickParameters},
};
use platform::{faults, http::router::Interface, runtime::whole_ms};

/// Answers a `GET` request with its redirect URL and counts it, if it is a click that need not wait. The parts of the
/// request are its country, its purposes, its User-Agent and its URL. `now_ms` is in milliseconds since the Unix epoch.
#[wasm_bindgen]
pub fn redirect(request: &str, now_ms: f64) -> Option<String> {
    let now_ms = whole_ms(now_ms);
    let [country, purposes, user_agent, url] = parts(request)?;
    let (isolate, query) = enter(url, routes::CLICK, Interface::Tracking)?;
    let parameters = ClickParameters::parse(query).ok()?;
    let shards = ClickShards::held(&isolate, &parameters)?;
    let click = ClickRequest { is_head: false, country, purposes, user_agent, query };
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
