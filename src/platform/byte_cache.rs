//! An LRU cache with a limit in bytes. Its limit is not a number of entries, since an isolate has 128 MB in total and
//! its memory never shrinks.

use std::{cell::RefCell, hash::Hash, rc::Rc};

use lru::LruCache;

pub struct ByteCache<K: Hash + Eq, V> {
    entries: RefCell<LruCache<K, (Rc<V>, usize)>>,
    size: RefCell<usize>,
    budget: usize,
}

impl<K: Hash + Eq, V> ByteCache<K, V> {
    /// `budget` is in bytes.
    pub fn new(budget: usize) -> Self {
        Self { entries: RefCell::new(LruCache::unbounded()), size: RefCell::new(0), budget }
    }

    pub fn get(&self, key: &K) -> Option<Rc<V>> {
        self.entries.borrow_mut().get(key).map(|(value, _)| Rc::clone(value))
    }

    /// Adds a value of `size` bytes, and evicts the least recently used values beyond the budget. A value larger than
    /// the whole budget is returned without being cached.
    pub fn insert(&self, key: K, value: V, size: usize) -> Rc<V> {
        let value = Rc::new(value);
        if size > self.budget {
            return value;
        }
        let mut entries = self.entries.borrow_mut();
        let mut total = self.size.borrow_mut();
        if let Some((_, (_, replaced))) = entries.push(key, (Rc::clone(&value), size)) {
            *total = total.saturating_sub(replaced);
        }
        *total += size;
        while *total > self.budget {
            let Some((_, (_, oldest))) = entries.pop_lru() else {
                break;
            };
            *total = total.saturating_sub(oldest);
        }
        value
    }

    /// True if a value of `size` bytes evicts no value of another key.
    pub fn has_room(&self, key: &K, size: usize) -> bool {
        let replaced = self.entries.borrow().peek(key).map_or(0, |(_, size)| *size);
        self.size().saturating_sub(replaced).saturating_add(size) <= self.budget
    }

    /// Calls `work` with every value. This does not count as a use.
    pub fn for_each(&self, mut work: impl FnMut(&K, &V)) {
        self.entries.borrow().iter().for_each(|(key, (value, _))| work(key, value));
    }

    /// The number of cached values.
    pub fn count(&self) -> usize {
        self.entries.borrow().len()
    }

    pub fn clear(&self) {
        self.entries.borrow_mut().clear();
        *self.size.borrow_mut() = 0;
    }

    /// The size of all cached values in bytes.
    pub fn size(&self) -> usize {
        *self.size.borrow()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_room_if_it_evicts_no_other_key() {
        let cache = ByteCache::new(100);
        cache.insert("a", (), 60);
        assert!(cache.has_room(&"b", 40) && !cache.has_room(&"b", 41));
        assert!(cache.has_room(&"a", 100) && !cache.has_room(&"a", 101));
    }

    #[test]
    fn the_least_recently_used_values_are_evicted_beyond_the_budget() {
        let cache = ByteCache::new(100);
        cache.insert("a", 1, 40);
        cache.insert("b", 2, 40);
        assert!(cache.get(&"a").is_some());
        cache.insert("c", 3, 40);
        assert!(cache.get(&"b").is_none() && cache.get(&"a").is_some() && cache.get(&"c").is_some());
        assert_eq!(cache.size(), 80);
        cache.insert("a", 4, 10);
        assert_eq!((cache.size(), cache.get(&"a").as_deref()), (50, Some(&4)));
        let mut seen = Vec::new();
        cache.for_each(|key, value| seen.push((*key, *value)));
        seen.sort_unstable();
        assert_eq!((cache.count(), seen), (2, vec![("a", 4), ("c", 3)]));
        assert_eq!(*cache.insert("d", 5, 101), 5);
        assert!(cache.get(&"d").is_none(), "a value larger than the budget is not cached");
    }
}
