//! What hash tables are spread by whose keys others choose: a seed of the process's own. With a hash that anyone can
//! compute, keys that all fall on one place are found in a minute, and every look goes through all of them: 65,000 such
//! values of a dimension made a report take 700 times as long. `std`'s own seed is no help here, since in Wasm it is made
//! of two addresses, which are the same in every process.
//!
//! The shell draws the seed before it serves. Without one, as in native tests, it is 0. Nothing that is stored, sent or
//! answered depends on it.

use std::{
    collections::HashMap,
    hash::{BuildHasher, DefaultHasher, Hasher},
    sync::atomic::{AtomicU64, Ordering},
};

/// 0 as long as none is drawn.
static SEED: AtomicU64 = AtomicU64::new(0);

/// Sets the seed of all tables from now on; those that are there keep theirs.
pub fn set_seed(seed: u64) {
    SEED.store(seed, Ordering::Relaxed);
}

/// The seed for a new table, which has to keep it as long as it lives.
pub fn seed() -> u64 {
    SEED.load(Ordering::Relaxed)
}

/// A map whose keys others choose.
pub type SeededMap<K, V> = HashMap<K, V, SeededHasher>;

/// Hashes with SipHash, which is made for this, from behind a seed.
#[derive(Clone, Copy, Debug)]
pub struct SeededHasher(u64);

impl Default for SeededHasher {
    fn default() -> Self {
        Self(seed())
    }
}

impl BuildHasher for SeededHasher {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        // A hasher of this kind always begins with the same keys: the seed is the first of what it hashes.
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.0);
        hasher
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The most values that fall on one place of a table of `places`.
    fn crowd(spread: SeededHasher, values: &[String], places: u64) -> usize {
        let mut found = BTreeMap::<u64, usize>::new();
        for value in values {
            *found.entry(spread.hash_one(value.as_str()) % places).or_default() += 1;
        }
        found.into_values().max().unwrap_or(0)
    }

    #[test]
    fn values_that_crowd_under_one_seed_are_spread_under_another() {
        let (places, known) = (1 << 10, SeededHasher(0));
        let crowding: Vec<String> = (0..)
            .map(|n| format!("placement-{n}"))
            .filter(|value| known.hash_one(value.as_str()) % places == 0)
            .take(300)
            .collect();
        assert_eq!(crowd(known, &crowding, places), 300);
        for seed in [1, 2, 1 << 63, 0x9e37_79b9_7f4a_7c15] {
            let most = crowd(SeededHasher(seed), &crowding, places);
            assert!(most < 10, "{most} of 300 on one of {places} places");
        }
    }
}
