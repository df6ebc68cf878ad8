//! What an isolate counts of the requests it answered, and the operator's metrics.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
};

use serde_json::Value;

use super::{exposition::Exposition, isolate::Visit, watching::Route};
use crate::origin::{
    catalog::{
        changes::{LISTING_BUILT_AT, TRACKING_BUILT_AT, TRACKING_DIRTY_SINCE},
        publication::{BYTES, COUNTED},
    },
    outbox::tries,
};

/// What an isolate answered since it started. The express ways count by a cell of their own; all else is counted when its
/// answer is there.
#[derive(Default)]
pub struct Traffic {
    express_redirects: Cell<u64>,
    express_offers: Cell<u64>,
    /// Clicks that were sent on to their offer by the ordinary way.
    redirects: Cell<u64>,
    /// By the ordinary way, by status.
    requests: RefCell<BTreeMap<(Route, u16), u64>>,
    refusals: RefCell<BTreeMap<Route, BTreeMap<String, u64>>>,
    /// By what became of them.
    conversions: RefCell<BTreeMap<&'static str, u64>>,
}

impl Traffic {
    pub fn redirect(&self) {
        self.redirects.set(self.redirects.get() + 1);
    }

    pub fn express_redirect(&self) {
        self.express_redirects.set(self.express_redirects.get() + 1);
    }

    pub fn express_offers(&self) {
        self.express_offers.set(self.express_offers.get() + 1);
    }

    pub fn answered(&self, route: Route, status: u16, code: Option<&str>) {
        *self.requests.borrow_mut().entry((route, status)).or_default() += 1;
        let Some(code) = code else {
            return;
        };
        let mut refusals = self.refusals.borrow_mut();
        let of_route = refusals.entry(route).or_default();
        match of_route.get_mut(code) {
            Some(count) => *count += 1,
            None => {
                of_route.insert(code.to_owned(), 1);
            }
        }
    }

    pub fn conversion(&self, outcome: &'static str) {
        *self.conversions.borrow_mut().entry(outcome).or_default() += 1;
    }

    /// All requests, by route and status, whichever way they took.
    fn requests(&self) -> BTreeMap<(Route, u16), u64> {
        let mut requests = self.requests.borrow().clone();
        *requests.entry((Route::Click, 302)).or_default() += self.express_redirects.get();
        *requests.entry((Route::Offers, 200)).or_default() += self.express_offers.get();
        requests
    }
}

/// The metrics as Prometheus text. `catalog` is what the catalog says of itself, if it does; the rest is this isolate's
/// own, and every isolate has its own.
pub fn exposition(visit: &Visit, catalog: Option<&Value>) -> String {
    let mut metrics = Exposition::default();
    metrics.value(
        "catalog_up",
        "Whether the catalog told this isolate of itself; if it did not, nothing is said of it.",
        u8::from(catalog.is_some()),
    );
    if let Some(catalog) = catalog {
        of_catalog(&mut metrics, catalog);
    }
    of_snapshots(&mut metrics, visit);
    of_traffic(&mut metrics, &visit.isolate.traffic);
    metrics.value(
        "isolate_clicks_uncounted_total",
        "Clicks redirected but lost to counting.",
        visit.isolate.counts.borrow().dropped(),
    );
    let tries = tries::so_far();
    metrics.metric(
        "isolate_callback_tries_total",
        "Tries of callbacks by the outboxes that live in this isolate, by how they ended.",
        [
            ([("outcome", "delivered")], tries.delivered),
            ([("outcome", "failed")], tries.failed),
            ([("outcome", "dead")], tries.dead),
        ],
    );
    metrics.text()
}

fn of_catalog(metrics: &mut Exposition, catalog: &Value) {
    let number = |name: &str| catalog.get(name).and_then(Value::as_i64).unwrap_or(0);
    metrics.metric(
        "catalog_resources",
        "What the catalog holds, by kind.",
        COUNTED.iter().map(|name| ([("kind", *name)], number(name))),
    );
    metrics.value(
        "catalog_bytes",
        "What the catalog's object takes of the 10 GB that it may.",
        number(BYTES),
    );
    for (mark, help) in [
        (
            TRACKING_BUILT_AT,
            "When the tracking snapshot was last published, in Unix milliseconds.",
        ),
        (
            LISTING_BUILT_AT,
            "When the listing was last published, in Unix milliseconds.",
        ),
        (
            TRACKING_DIRTY_SINCE,
            "Since when changes wait to be published; 0 if none do.",
        ),
    ] {
        metrics.value(mark, help, number(mark));
    }
}

fn of_snapshots(metrics: &mut Exposition, visit: &Visit) {
    let isolate = &visit.isolate;
    let tracking = isolate.tracking.get();
    let listing = isolate.listing.get();
    metrics.value(
        "isolate_tracking_version",
        "The tracking snapshot in this isolate.",
        tracking.as_ref().map_or(0, |tracking| tracking.version()),
    );
    metrics.value(
        "isolate_snapshot_age_seconds",
        "How long ago the catalog said that this is its newest.",
        isolate.tracking.age_s(visit.now_ms),
    );
    let (apps, offers, goals) = tracking.as_ref().map_or((0, 0, 0), |tracking| tracking.counts());
    metrics.metric(
        "isolate_tracking_resources",
        "What that snapshot holds, by kind.",
        [("apps", apps), ("offers", offers), ("goals", goals)].map(|(kind, count)| ([("kind", kind)], count)),
    );
    let held = [
        (
            "tracking",
            tracking.as_ref().map_or(0, |tracking| tracking.size()),
        ),
        (
            "listing",
            listing.as_ref().map_or(0, |listing| listing.listing().size()),
        ),
        ("bodies", isolate.chunks.held()),
        ("pages", isolate.pages.held()),
    ];
    metrics.metric(
        "isolate_held_bytes",
        "Memory this isolate holds, by what for.",
        held.map(|(what, bytes)| ([("what", what)], bytes)),
    );
    let rooms = isolate.rooms.each();
    metrics.metric(
        "isolate_under_way",
        "What waits in this isolate for an object, for KV or for its body, by kind.",
        rooms.map(|(kind, room)| ([("kind", kind)], room.taken())),
    );
    metrics.metric(
        "isolate_shed_total",
        "What was refused with 503 since too much of its kind was under way.",
        rooms.map(|(kind, room)| ([("kind", kind)], room.refused())),
    );
    // It never shrinks, so this is the most that was in use at once, objects in this isolate included.
    metrics.value(
        "isolate_wasm_memory_bytes",
        "The module's memory in this isolate: the most it has needed.",
        core::arch::wasm32::memory_size(0) << 16,
    );
}

fn of_traffic(metrics: &mut Exposition, traffic: &Traffic) {
    let requests = traffic.requests();
    let statuses: Vec<_> = requests
        .iter()
        .map(|((route, status), count)| (*route, status.to_string(), *count))
        .collect();
    metrics.metric(
        "isolate_requests_total",
        "Requests this isolate answered, by route and status.",
        statuses
            .iter()
            .map(|(route, status, count)| ([("route", route.as_str()), ("status", status.as_str())], count)),
    );
    let of = |route: Route, status: u16| requests.get(&(route, status)).copied().unwrap_or(0);
    let express = [
        ("redirect", traffic.express_redirects.get()),
        ("offers", traffic.express_offers.get()),
    ];
    let answered = [
        (
            "redirect",
            traffic.redirects.get() + traffic.express_redirects.get(),
        ),
        ("offers", of(Route::Offers, 200) + of(Route::Offers, 304)),
        ("conversion", of(Route::Conversion, 200)),
    ];
    metrics.metric(
        "isolate_answered_total",
        "Requests that got what they asked for, by kind.",
        answered.map(|(what, count)| ([("what", what)], count)),
    );
    metrics.metric(
        "isolate_express_total",
        "Those of them that took the express way.",
        express.map(|(what, count)| ([("what", what)], count)),
    );
    metrics.metric(
        "isolate_conversions_total",
        "Postbacks, by what became of them.",
        traffic
            .conversions
            .borrow()
            .iter()
            .map(|(outcome, count)| ([("outcome", *outcome)], *count)),
    );
    let refusals = traffic.refusals.borrow();
    metrics.metric(
        "isolate_refused_total",
        "Requests this isolate refused, by route and code.",
        refusals.iter().flat_map(|(route, codes)| {
            codes
                .iter()
                .map(|(code, count)| ([("route", route.as_str()), ("code", code.as_str())], *count))
        }),
    );
}
