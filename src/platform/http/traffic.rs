//! Counts the requests that an isolate has answered, for the metrics.

use std::{
    cell::{Ref, RefCell},
    collections::BTreeMap,
};

use super::router::RouteName;
use contract::isolates::Figure;
use domain::{
    conversions::token,
    model::credentials::{EDGE_KEYS, fingerprint},
    reporting::keys,
};

use crate::{concurrency_limit::ConcurrencyLimit, prometheus::MetricsText};

/// The outcome of a postback that was answered 503 before its app was known: the key of its click id is unknown, or
/// there was no permit for its form. Anybody can send such a postback.
pub const UNREAD: &str = "unread";
/// The outcome of any other postback that was answered 503.
pub const UNAVAILABLE: &str = "unavailable";

/// A figure for the operator: its name, its kind, and its number.
pub type Count = (&'static str, &'static str, u64);

/// Requests answered since the isolate started.
#[derive(Default)]
pub struct Traffic {
    requests: Counts<(RouteName, u16)>,
    refusals: Counts<(RouteName, String)>,
    /// Postbacks by outcome.
    conversions: Counts<&'static str>,
    /// Failed health checks by reason.
    unhealthy: Counts<&'static str>,
}

/// Counts by a key with a few dozen values. A list needs a tenth of the code of a map, which V8 compiles on an
/// isolate's first request.
struct Counts<K>(RefCell<Vec<(K, u64)>>);

impl<K> Default for Counts<K> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<K> Counts<K> {
    /// Adds 1 to the count of the key for which `is` returns true, or else of a new key.
    fn add(&self, is: impl Fn(&K) -> bool, new: impl FnOnce() -> K) {
        let mut counts = self.0.borrow_mut();
        match counts.iter_mut().find(|(key, _)| is(key)) {
            Some((_, count)) => *count += 1,
            None => counts.push((new(), 1)),
        }
    }

    fn sorted(&self) -> Ref<'_, Vec<(K, u64)>>
    where
        K: Ord,
    {
        self.0.borrow_mut().sort_unstable();
        self.0.borrow()
    }
}

impl Traffic {
    pub fn answered(&self, route: RouteName, status: u16, code: Option<&str>) {
        let key = (route, status);
        self.requests.add(|known| *known == key, || key);
        if let Some(code) = code {
            self.refusals.add(|known| known.0 == route && known.1 == code, || (route, code.to_owned()));
        }
    }

    pub fn conversion(&self, outcome: &'static str) {
        self.conversions.add(|known| *known == outcome, || outcome);
    }

    /// Counts a health check that was answered 503.
    pub fn unhealthy(&self, why: &'static str) {
        self.unhealthy.add(|known| *known == why, || why);
    }

    /// Adds figures for the operator: postbacks that were answered 503 and failed health checks.
    pub fn add_failures(&self, figures: &mut Vec<Count>) {
        for (outcome, count) in self.conversions.0.borrow().iter() {
            if matches!(*outcome, UNAVAILABLE | UNREAD) {
                figures.push((Figure::POSTBACKS, outcome, *count));
            }
        }
        for (why, count) in self.unhealthy.0.borrow().iter() {
            figures.push((Figure::UNHEALTHY, why, *count));
        }
    }

    /// Requests by route and status.
    pub fn requests(&self) -> BTreeMap<(RouteName, u16), u64> {
        self.requests.0.borrow().iter().copied().collect()
    }

    /// Writes the refusals and `requests`. The edge has added the fast path's requests to `requests`.
    pub fn write(&self, metrics: &mut MetricsText, requests: &BTreeMap<(RouteName, u16), u64>) {
        let statuses: Vec<_> =
            requests.iter().map(|((route, status), count)| (*route, status.to_string(), *count)).collect();
        metrics.metric(
            "isolate_requests_total",
            "Requests that this isolate answered, by route and status.",
            statuses
                .iter()
                .map(|(route, status, count)| ([("route", route.as_str()), ("status", status.as_str())], count)),
        );
        metrics.metric(
            "isolate_refused_total",
            "Requests that this isolate refused, by route and code.",
            self.refusals
                .sorted()
                .iter()
                .map(|((route, code), count)| ([("route", route.as_str()), ("code", code.as_str())], *count)),
        );
    }

    /// Writes the postbacks by outcome.
    pub fn write_conversions(&self, metrics: &mut MetricsText) {
        metrics.metric(
            "isolate_conversions_total",
            "Postbacks, by outcome.",
            self.conversions.sorted().iter().map(|(outcome, count)| ([("outcome", *outcome)], *count)),
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
        pools.clone().into_iter().map(|(kind, pool)| ([("kind", kind)], pool.in_use())),
    );
    metrics.metric(
        "isolate_shed_total",
        "Requests rejected with 503 because a concurrency limit was reached, by kind.",
        pools.into_iter().map(|(kind, pool)| ([("kind", kind)], pool.rejected())),
    );
}

/// The size of the module's memory in bytes. Memory never shrinks, so this is the peak. It includes the objects in this
/// isolate.
#[cfg(target_arch = "wasm32")]
pub fn memory_bytes() -> u64 {
    (core::arch::wasm32::memory_size(0) as u64) << 16
}

/// Writes the size of the module's memory.
#[cfg(target_arch = "wasm32")]
pub fn write_memory(metrics: &mut MetricsText) {
    metrics.value("isolate_wasm_memory_bytes", "Peak memory of the module in this isolate.", memory_bytes());
}

/// The settings with keys that both Workers need.
const SHARED_KEYS: [&str; 4] = ["CLICK_KEYS", EDGE_KEYS, keys::SETTING, token::SETTING];

/// Writes the fingerprints of the Worker's keys, so that an operator can compare both Workers. `setting` returns the
/// text of a setting.
pub fn write_keys(metrics: &mut MetricsText, setting: impl Fn(&str) -> Option<String>) {
    let mut keys = Vec::new();
    for name in SHARED_KEYS {
        for item in setting(name).unwrap_or_default().split(',').map(str::trim) {
            // `id:key`, `id:mode:key` or `key`. The mode may differ while a key is rotated.
            let (id, key) = item.split_once(':').unwrap_or(("", item));
            let key = key.rsplit(':').next().unwrap_or_default();
            if !key.is_empty() {
                keys.push((name, id.to_owned(), fingerprint(&key.to_ascii_lowercase())));
            }
        }
    }
    metrics.metric(
        "isolate_keys",
        "Keys of this Worker by setting, id and fingerprint; the value is always 1.",
        keys.iter().map(|(name, id, key)| ([("setting", *name), ("id", id.as_str()), ("key", key.as_str())], 1_u64)),
    );
}
