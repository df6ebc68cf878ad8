//! Detects an outage: the objects of several owners failed in a row. A single object may just be busy or moving.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
};

use domain::model::MINUTE_MS;

/// The number of different owners whose objects must fail in a row to count as an outage.
const OWNERS: usize = 3;
/// The time in milliseconds for which a failure counts. Without this limit an outage would not end while no requests
/// arrive.
const COUNTS_MS: i64 = MINUTE_MS;

/// The owners whose objects have failed since any owner's object last answered.
#[derive(Debug, Default)]
pub struct OutageDetector {
    owners: BTreeSet<String>,
    last_ms: i64,
}

impl OutageDetector {
    /// Records whether an owner's object answered.
    pub fn note(&mut self, owner: &str, answered: bool, now_ms: i64) {
        if answered || now_ms.saturating_sub(self.last_ms) > COUNTS_MS {
            self.owners.clear();
        }
        if !answered {
            self.last_ms = now_ms;
            if self.owners.len() < OWNERS {
                self.owners.insert(owner.to_owned());
            }
        }
    }

    /// True if the last call failed.
    pub fn has_failed(&self, now_ms: i64) -> bool {
        !self.owners.is_empty() && now_ms.saturating_sub(self.last_ms) <= COUNTS_MS
    }

    /// True if the last calls to several owners' objects failed.
    pub fn is_outage(&self, now_ms: i64) -> bool {
        self.has_failed(now_ms) && self.owners.len() >= OWNERS
    }
}

/// The isolate's record of which objects are reachable.
#[derive(Default)]
pub struct Reachability {
    /// The time of the last probe of the catalog, in milliseconds.
    pub probed_at_ms: Cell<i64>,
    /// Whether the catalog answered the last probe; `None` before the first.
    pub catalog: Cell<Option<bool>>,
    /// By publisher.
    pub ledgers: RefCell<OutageDetector>,
    /// By app.
    pub outboxes: RefCell<OutageDetector>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_needs_failures_of_several_owners_in_a_row() {
        let mut outages = OutageDetector::default();
        assert!(!outages.has_failed(0));
        for now_ms in 0..10 {
            outages.note("a", false, now_ms);
        }
        assert!(outages.has_failed(10) && !outages.is_outage(10));
        outages.note("b", false, 10);
        assert!(!outages.is_outage(10));
        outages.note("c", false, 11);
        assert!(outages.is_outage(11));
        outages.note("d", false, 12);
        assert!(outages.is_outage(12));
        outages.note("b", true, 13);
        assert!(!outages.has_failed(13));
    }

    #[test]
    fn old_failures_do_not_count() {
        let mut outages = OutageDetector::default();
        for owner in ["a", "b", "c"] {
            outages.note(owner, false, 0);
        }
        assert!(outages.is_outage(COUNTS_MS));
        assert!(!outages.has_failed(COUNTS_MS + 1));
        // Nor do they count together with new ones.
        outages.note("d", false, COUNTS_MS + 1);
        assert!(outages.has_failed(COUNTS_MS + 1) && !outages.is_outage(COUNTS_MS + 1));
    }
}
