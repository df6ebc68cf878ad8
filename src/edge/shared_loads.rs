//! Loads that requests share: one request loads a value, and others that need it wait for the outcome. They wait with
//! their own timers, since a request may not await another's future.

use std::{
    cell::{OnceCell, RefCell},
    collections::HashMap,
    hash::Hash,
    rc::Rc,
};

/// The load of one value.
#[derive(Debug)]
pub struct Load<V> {
    /// The time in milliseconds at which an unfinished load counts as lost, or at which a failed load may be retried.
    until_ms: i64,
    outcome: OnceCell<Option<V>>,
}

impl<V> Load<V> {
    /// Returns `None` while the load is in progress, `Some(None)` if it failed, and otherwise its value.
    pub fn outcome(&self) -> Option<Option<&V>> {
        self.outcome.get().map(Option::as_ref)
    }

    pub fn lasts(&self, now_ms: i64) -> bool {
        self.until_ms > now_ms
    }
}

/// The loads that are in progress or have just failed, by key.
#[derive(Debug)]
pub struct SharedLoads<K, V> {
    loads: RefCell<HashMap<K, Rc<Load<V>>>>,
    max: usize,
}

impl<K: Copy + Eq + Hash, V: Clone> SharedLoads<K, V> {
    /// `max` limits the concurrent loads.
    pub fn new(max: usize) -> Self {
        Self { loads: RefCell::default(), max }
    }

    /// Returns the load of a key that is in progress or has just failed.
    pub fn get(&self, key: K, now_ms: i64) -> Option<Rc<Load<V>>> {
        let load = self.loads.borrow().get(&key).map(Rc::clone);
        load.filter(|load| load.lasts(now_ms))
    }

    /// Begins a load that counts as lost after `lease_ms`. Returns `None` if too many are in progress.
    pub fn begin(&self, key: K, now_ms: i64, lease_ms: i64) -> Option<Rc<Load<V>>> {
        let mut loads = self.loads.borrow_mut();
        loads.retain(|_, load| load.lasts(now_ms));
        if loads.len() >= self.max {
            return None;
        }
        let load = Rc::new(Load { until_ms: now_ms.saturating_add(lease_ms), outcome: OnceCell::new() });
        loads.insert(key, Rc::clone(&load));
        Some(load)
    }

    /// Ends a load. A failed load stays for `failed_ms`, so that the next requests do not retry at once.
    pub fn end(&self, key: K, load: &Load<V>, outcome: Option<V>, now_ms: i64, failed_ms: i64) {
        let failed = outcome
            .is_none()
            .then(|| Load { until_ms: now_ms.saturating_add(failed_ms), outcome: OnceCell::from(None) });
        // Only this request ends the load, so this cannot fail.
        let _ = load.outcome.set(outcome);
        let mut loads = self.loads.borrow_mut();
        match failed {
            Some(failed) => loads.insert(key, Rc::new(failed)),
            None => loads.remove(&key),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_requests_find_the_outcome() {
        let loads = SharedLoads::new(2);
        let load = loads.begin("a", 0, 10_000).unwrap();
        let waited_for = loads.get("a", 1).unwrap();
        assert_eq!(waited_for.outcome(), None);
        loads.end("a", &load, Some(7), 5, 1_000);
        assert_eq!(waited_for.outcome(), Some(Some(&7)));
        assert!(loads.get("a", 5).is_none(), "the next request finds the value");
    }

    #[test]
    fn failed_loads_stay_for_a_while_and_then_make_room() {
        let loads: SharedLoads<_, u8> = SharedLoads::new(2);
        for key in ["a", "b"] {
            let load = loads.begin(key, 0, 10_000).unwrap();
            loads.end(key, &load, None, 0, 1_000);
        }
        assert_eq!(loads.get("a", 999).unwrap().outcome(), Some(None));
        assert!(loads.begin("c", 999, 10_000).is_none(), "too many");
        assert!(loads.get("a", 1_000).is_none());
        assert!(loads.begin("c", 1_000, 10_000).is_some());
    }

    #[test]
    fn a_load_whose_request_is_gone_is_given_up() {
        let loads: SharedLoads<_, u8> = SharedLoads::new(1);
        let gone = loads.begin("a", 0, 10_000).unwrap();
        assert!(gone.lasts(9_999) && loads.begin("b", 9_999, 10_000).is_none());
        assert!(loads.get("a", 10_000).is_none());
        assert!(loads.begin("a", 10_000, 10_000).is_some());
    }
}
