//! Counts the requests that an isolate has answered, on both paths.

use std::{cell::Cell, collections::BTreeMap};

use platform::http::{router::RouteName, traffic::Traffic};

/// Requests answered since the isolate started. The fast path has counters of its own.
#[derive(Default)]
pub struct EdgeTraffic {
    pub ordinary: Traffic,
    pub fast_redirects: Cell<u64>,
    pub fast_offers: Cell<u64>,
    /// Clicks that the ordinary path redirected to their offer, without fallbacks.
    pub redirects: Cell<u64>,
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
    pub fn requests(&self) -> BTreeMap<(RouteName, u16), u64> {
        let mut requests = self.ordinary.requests();
        *requests.entry((RouteName::Click, 302)).or_default() += self.fast_redirects.get();
        *requests.entry((RouteName::Offers, 200)).or_default() += self.fast_offers.get();
        requests
    }
}
