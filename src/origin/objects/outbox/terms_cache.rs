//! A process's cache of terms and of offers' newest values. A conversion whose terms are cached reads only the rows of
//! its click, which halves the number of its statements.

use std::{cell::RefCell, hash::Hash, num::NonZeroUsize, rc::Rc};

use lru::LruCache;

use domain::{
    conversions::terms::{AppTerms, CurrentOffer, OfferTerms},
    model::OfferId,
};
use platform::DbResult;

/// Maximum entries of each kind. An offer has at most 50 goals, which take 16 KB, so the cache takes about 1 MB per
/// outbox.
const ENTRIES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(63);

type Cache<K, V> = RefCell<LruCache<K, V>>;

#[derive(Debug)]
pub struct TermsCache {
    /// Revisions of apps' terms, which never change.
    pub apps: Cache<i64, AppTerms>,
    pub offers: Cache<(OfferId, i64), Rc<OfferTerms>>,
    /// The newest values. They are dropped before a write, because a write that reports an error may have happened.
    pub current: Cache<OfferId, CurrentOffer>,
}

impl Default for TermsCache {
    fn default() -> Self {
        Self {
            apps: RefCell::new(LruCache::new(ENTRIES)),
            offers: RefCell::new(LruCache::new(ENTRIES)),
            current: RefCell::new(LruCache::new(ENTRIES)),
        }
    }
}

/// Returns the value of a key, and reads it if the cache has none.
pub fn cached<K: Hash + Eq, V: Clone>(
    cache: &Cache<K, V>,
    key: K,
    read: impl FnOnce() -> DbResult<Option<V>>,
) -> DbResult<Option<V>> {
    if let Some(value) = cache.borrow_mut().get(&key) {
        return Ok(Some(value.clone()));
    }
    let value = read()?;
    if let Some(value) = &value {
        cache.borrow_mut().put(key, value.clone());
    }
    Ok(value)
}
