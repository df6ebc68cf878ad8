//! Counts the requests that an isolate has answered, on both paths.

use std::{cell::Cell, collections::BTreeMap};

use platform::{
    http::{router::RouteName, traffic::Traffic},
    prometheus::MetricsText,
};

/// Requests answered since the isolate started. The fast path has its own counters.
#[derive(Default)]
pub struct EdgeTraffic {
    pub ordinary: Traffic,
    fast_redirects: Cell<u64>,
    fast_offers: Cell<u64>,
    /// Clicks that the ordinary path redirected to their offer. Excludes redirects to a fallback.
    redirects: Cell<u64>,
}

impl EdgeTraffic {
    pub fn redirect(&self) {
        self.redirects.set(self.redirects.get() + 1);
    }

    pub fn fast_redirect(&self) {
        self.fast_redirects.set(self.fast_redirects.get() + 1);
    }

    pub fn fast_offers(&self) {
        self.fast_offers.set(self.fast_offers.get() + 1);
    }

    /// The requests of both paths, by route and status.
    fn requests(&self) -> BTreeMap<(RouteName, u16), u64> {
        let mut requests = self.ordinary.requests();
        *requests.entry((RouteName::Click, 302)).or_default() += self.fast_redirects.get();
        *requests.entry((RouteName::Offers, 200)).or_default() += self.fast_offers.get();
        requests
    }

    /// Writes the requests of both paths.
    pub fn write(&self, metrics: &mut MetricsText) {
        let requests = self.requests();
        self.ordinary.write(metrics, &requests);
        let count = |route: RouteName, status: u16| requests.get(&(route, status)).copied().unwrap_or(0);
        let fast = [("redirect", self.fast_redirects.get()), ("offers", self.fast_offers.get())];
        let offers = count(RouteName::Offers, 200) + count(RouteName::Offers, 304);
        let answered = [
            ("redirect", self.redirects.get() + self.fast_redirects.get()),
            ("offers", offers),
            ("conversion", count(RouteName::Conversion, 200)),
        ];
        metrics.metric(
            "isolate_answered_total",
            "Successful requests, by kind.",
            answered.map(|(what, count)| ([("what", what)], count)),
        );
        metrics.metric(
            "isolate_fast_path_total",
            "Successful requests that took the fast path, by kind.",
            fast.map(|(what, count)| ([("what", what)], count)),
        );
        self.ordinary.write_conversions(metrics);
    }
}
