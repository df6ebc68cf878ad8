//! What the isolate says of itself: `/healthz` for load balancers, and counters for the operator's metrics.

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fmt::Write,
};

use serde_json::{Value, json};

use super::{answer::Answer, isolate::Visit, snapshots};
use crate::{
    catalog::snapshot::tracking::Tracking,
    origin::{catalog::publication::COUNTED, command::CallError},
    refusal::{Refusal, common},
};

/// What an isolate answered since it started.
#[derive(Default)]
pub struct Traffic {
    redirects: Cell<u64>,
    offers: Cell<u64>,
    /// How many of both took the express way.
    express_redirects: Cell<u64>,
    express_offers: Cell<u64>,
    conversions: Cell<u64>,
    /// By status.
    reports: RefCell<BTreeMap<u16, u64>>,
    refusals: RefCell<BTreeMap<Cow<'static, str>, u64>>,
}

impl Traffic {
    pub fn redirect(&self) {
        self.redirects.set(self.redirects.get() + 1);
    }

    pub fn express_redirect(&self) {
        self.express_redirects.set(self.express_redirects.get() + 1);
        self.redirect();
    }

    pub fn offers(&self) {
        self.offers.set(self.offers.get() + 1);
    }

    pub fn express_offers(&self) {
        self.express_offers.set(self.express_offers.get() + 1);
        self.offers();
    }

    pub fn conversion(&self) {
        self.conversions.set(self.conversions.get() + 1);
    }

    pub fn report(&self, status: u16) {
        *self.reports.borrow_mut().entry(status).or_default() += 1;
    }

    pub fn refuse(&self, code: &'static str) {
        self.count(code.into());
    }

    /// The same of what an object refused, or did not answer.
    pub fn refuse_as(&self, error: &CallError) {
        let code = match error {
            CallError::Refused { body, .. } => serde_json::from_str::<Value>(body)
                .ok()
                .and_then(|body| Some(body.get("code")?.as_str()?.to_owned())),
            CallError::Unanswered(_) => None,
        };
        self.count(code.map_or(Cow::Borrowed(common::UNAVAILABLE.code), Cow::Owned));
    }

    fn count(&self, code: Cow<'static, str>) {
        *self.refusals.borrow_mut().entry(code).or_default() += 1;
    }
}

/// `GET /healthz`: 200 with the snapshot's version and age, 503 without one. A cold isolate loads one first, so that a
/// load balancer learns what a click would meet.
pub async fn health(visit: &Visit) -> Answer {
    match snapshots::current::<Tracking>(visit).await {
        Ok(tracking) => {
            let confirmed_at_ms = visit.isolate.tracking.confirmed_at_ms.get();
            let age_s = visit.now_ms.saturating_sub(confirmed_at_ms).max(0) / 1_000;
            let body =
                json!({ "status": "ok", "snapshot_version": tracking.version(), "snapshot_age_s": age_s });
            Answer::json(200, body.to_string()).header("Cache-Control", "no-store")
        }
        Err(Refusal { retry_after_s, .. }) => {
            let refusal = Refusal {
                retry_after_s,
                ..common::UNAVAILABLE.because("there is no snapshot to serve from")
            };
            refusal.into()
        }
    }
}

/// The metrics as Prometheus text. `catalog` is what the catalog says of itself; the rest is this isolate's own, and
/// every isolate has its own.
pub fn metrics(visit: &Visit, catalog: &Value) -> String {
    let isolate = &visit.isolate;
    let mut text = String::new();
    // Writing to a String cannot fail.
    let mut metric = |name: &str, kind: &str, help: &str, rows: &[(String, String)]| {
        let _ = writeln!(
            text,
            "# HELP signpost_{name} {help}\n# TYPE signpost_{name} {kind}"
        );
        for (labels, value) in rows {
            let _ = writeln!(text, "signpost_{name}{labels} {value}");
        }
    };
    let one = |value: String| vec![(String::new(), value)];
    let resources: Vec<_> = COUNTED
        .iter()
        .filter_map(|name| Some((format!("{{kind=\"{name}\"}}"), catalog.get(name)?.to_string())))
        .collect();
    metric(
        "catalog_resources",
        "gauge",
        "What the catalog holds, by kind.",
        &resources,
    );
    for (mark, help) in [
        (
            "tracking_built_at_ms",
            "When the tracking snapshot was last published, in Unix milliseconds.",
        ),
        (
            "listing_built_at_ms",
            "When the listing was last published, in Unix milliseconds.",
        ),
        (
            "tracking_dirty_since_ms",
            "Since when changes wait to be published; 0 if none do.",
        ),
    ] {
        let value = catalog.get(mark).and_then(Value::as_i64).unwrap_or(0);
        metric(mark, "gauge", help, &one(value.to_string()));
    }
    let tracking = isolate.tracking.get();
    let version = tracking.as_ref().map_or(0, |tracking| tracking.version());
    metric(
        "isolate_tracking_version",
        "gauge",
        "The tracking snapshot in this isolate.",
        &one(version.to_string()),
    );
    let (apps, offers, goals) = tracking.as_ref().map_or((0, 0, 0), |tracking| tracking.counts());
    let counts = [("apps", apps), ("offers", offers), ("goals", goals)];
    let counts: Vec<_> = counts
        .iter()
        .map(|(kind, n)| (format!("{{kind=\"{kind}\"}}"), n.to_string()))
        .collect();
    metric(
        "isolate_tracking_resources",
        "gauge",
        "What that snapshot holds, by kind.",
        &counts,
    );
    let held = [
        (
            "tracking",
            tracking.as_ref().map_or(0, |tracking| tracking.size()),
        ),
        (
            "listing",
            isolate
                .listing
                .get()
                .map_or(0, |listing| listing.listing().size()),
        ),
        ("bodies", isolate.chunks.held()),
        ("pages", isolate.pages.held()),
    ];
    let held: Vec<_> = held
        .iter()
        .map(|(what, bytes)| (format!("{{what=\"{what}\"}}"), bytes.to_string()))
        .collect();
    metric(
        "isolate_held_bytes",
        "gauge",
        "Memory this isolate holds, by what for.",
        &held,
    );
    // It never shrinks, so this is the most that was in use at once, objects in this isolate included.
    let memory = core::arch::wasm32::memory_size(0) << 16;
    metric(
        "isolate_wasm_memory_bytes",
        "gauge",
        "The module's memory in this isolate: the most it has needed.",
        &one(memory.to_string()),
    );
    let answered = [
        ("redirect", isolate.traffic.redirects.get()),
        ("offers", isolate.traffic.offers.get()),
        ("conversion", isolate.traffic.conversions.get()),
    ];
    let answered: Vec<_> = answered
        .iter()
        .map(|(what, n)| (format!("{{what=\"{what}\"}}"), n.to_string()))
        .collect();
    metric(
        "isolate_answered_total",
        "counter",
        "Requests this isolate answered, by kind.",
        &answered,
    );
    let express = [
        ("redirect", isolate.traffic.express_redirects.get()),
        ("offers", isolate.traffic.express_offers.get()),
    ];
    let express: Vec<_> = express
        .iter()
        .map(|(what, n)| (format!("{{what=\"{what}\"}}"), n.to_string()))
        .collect();
    metric(
        "isolate_express_total",
        "counter",
        "Those of them that took the express way.",
        &express,
    );
    let reports: Vec<_> = isolate
        .traffic
        .reports
        .borrow()
        .iter()
        .map(|(status, n)| (format!("{{status=\"{status}\"}}"), n.to_string()))
        .collect();
    metric(
        "isolate_reports_total",
        "counter",
        "Report requests with a key that was issued, by status.",
        &reports,
    );
    let refusals: Vec<_> = isolate
        .traffic
        .refusals
        .borrow()
        .iter()
        .map(|(code, n)| (format!("{{code=\"{code}\"}}"), n.to_string()))
        .collect();
    metric(
        "isolate_refused_total",
        "counter",
        "Requests this isolate refused, by code.",
        &refusals,
    );
    let dropped = isolate.counts.borrow().dropped().to_string();
    metric(
        "isolate_clicks_uncounted_total",
        "counter",
        "Clicks redirected but lost to counting.",
        &one(dropped),
    );
    text
}
