//! Counts the requests that an isolate has answered, for the metrics.

use std::{cell::RefCell, collections::BTreeMap};

use super::router::RouteName;
use crate::{concurrency_limit::ConcurrencyLimit, prometheus::MetricsText};

/// Requests answered since the isolate started.
#[derive(Default)]
pub struct Traffic {
    requests: RefCell<BTreeMap<(RouteName, u16), u64>>,
    refusals: RefCell<BTreeMap<RouteName, BTreeMap<String, u64>>>,
    /// Postbacks by outcome.
    conversions: RefCell<BTreeMap<&'static str, u64>>,
}

impl Traffic {
    pub fn answered(&self, route: RouteName, status: u16, code: Option<&str>) {
        *self.requests.borrow_mut().entry((route, status)).or_default() += 1;
        let Some(code) = code else {
            return;
        };
        let mut refusals = self.refusals.borrow_mut();
        let codes = refusals.entry(route).or_default();
        match codes.get_mut(code) {
            Some(count) => *count += 1,
            None => {
                codes.insert(code.to_owned(), 1);
            }
        }
    }

    pub fn conversion(&self, outcome: &'static str) {
        *self.conversions.borrow_mut().entry(outcome).or_default() += 1;
    }

    /// Requests by route and status.
    pub fn requests(&self) -> BTreeMap<(RouteName, u16), u64> {
        self.requests.borrow().clone()
    }

    /// Writes `requests`, to which the edge has added those of the fast path, and the refusals.
    pub fn write(&self, metrics: &mut MetricsText, requests: &BTreeMap<(RouteName, u16), u64>) {
        let statuses: Vec<_> = requests
            .iter()
            .map(|((route, status), count)| (*route, status.to_string(), *count))
            .collect();
        metrics.metric(
            "isolate_requests_total",
            "Requests this isolate answered, by route and status.",
            statuses.iter().map(|(route, status, count)| {
                ([("route", route.as_str()), ("status", status.as_str())], count)
            }),
        );
        let refusals = self.refusals.borrow();
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

    /// Writes the postbacks by outcome.
    pub fn write_conversions(&self, metrics: &mut MetricsText) {
        metrics.metric(
            "isolate_conversions_total",
            "Postbacks, by outcome.",
            self.conversions
                .borrow()
                .iter()
                .map(|(outcome, count)| ([("outcome", *outcome)], *count)),
        );
    }
}

/// Writes the use of concurrency limits by name.
pub fn write_pools<'p>(
    metrics: &mut MetricsText,
    pools: impl IntoIterator<Item = (&'static str, &'p ConcurrencyLimit)> + Clone,
) {
    metrics.metric(
        "isolate_under_way",
        "Requests that wait in this isolate for an object, for KV or for their body, by kind.",
        pools
            .clone()
            .into_iter()
            .map(|(kind, pool)| ([("kind", kind)], pool.in_use())),
    );
    metrics.metric(
        "isolate_shed_total",
        "Requests rejected with 503 because a concurrency limit was reached, by kind.",
        pools
            .into_iter()
            .map(|(kind, pool)| ([("kind", kind)], pool.rejected())),
    );
}

/// Writes the size of the module's memory.
#[cfg(target_arch = "wasm32")]
pub fn write_memory(metrics: &mut MetricsText) {
    // The memory never shrinks, so this is the peak, objects in this isolate included.
    metrics.value(
        "isolate_wasm_memory_bytes",
        "Peak memory of the module in this isolate.",
        core::arch::wasm32::memory_size(0) << 16,
    );
}
