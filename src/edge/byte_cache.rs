//! A cache that is bounded by the bytes it holds: least recently used goes first. An isolate has 128 MB for everything,
//! and its memory never shrinks, so what is kept is counted in bytes and not in entries.

use std::{cell::RefCell, hash::Hash, rc::Rc};

use lru::LruCache;

pub struct ByteCache<K: Hash + Eq, V> {
    entries: RefCell<LruCache<K, (Rc<V>, usize)>>,
    held: RefCell<usize>,
    budget: usize,
}

impl<K: Hash + Eq, V> ByteCache<K, V> {
    /// `budget` is in bytes.
    pub fn new(budget: usize) -> Self {
        Self {
            entries: RefCell::new(LruCache::unbounded()),
            held: RefCell::new(0),
            budget,
        }
    }

    pub fn get(&self, key: &K) -> Option<Rc<V>> {
        self.entries
            .borrow_mut()
            .get(key)
            .map(|(value, _)| Rc::clone(value))
    }

    /// Keeps a value of `size` bytes, and lets go of the oldest until the budget is kept. One that is larger than the
    /// whole budget is handed back without being kept.
    pub fn insert(&self, key: K, value: V, size: usize) -> Rc<V> {
        let value = Rc::new(value);
        if size > self.budget {
            return value;
        }
        let mut entries = self.entries.borrow_mut();
        let mut held = self.held.borrow_mut();
        if let Some((_, (_, replaced))) = entries.push(key, (Rc::clone(&value), size)) {
            *held = held.saturating_sub(replaced);
        }
        *held += size;
        while *held > self.budget {
            let Some((_, (_, oldest))) = entries.pop_lru() else {
                break;
            };
            *held = held.saturating_sub(oldest);
        }
        value
    }

    pub fn clear(&self) {
        self.entries.borrow_mut().clear();
        *self.held.borrow_mut() = 0;
    }

    /// Bytes held.
    pub fn held(&self) -> usize {
        *self.held.borrow()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes_first_and_the_budget_is_kept() {
        let cache = ByteCache::new(100);
        cache.insert("a", 1, 40);
        cache.insert("b", 2, 40);
        assert!(cache.get(&"a").is_some());
        cache.insert("c", 3, 40);
        assert!(cache.get(&"b").is_none() && cache.get(&"a").is_some() && cache.get(&"c").is_some());
        assert_eq!(cache.held(), 80);
        cache.insert("a", 4, 10);
        assert_eq!((cache.held(), cache.get(&"a").as_deref()), (50, Some(&4)));
        assert_eq!(*cache.insert("d", 5, 101), 5);
        assert!(
            cache.get(&"d").is_none(),
            "what is larger than the budget is not kept"
        );
    }
}
