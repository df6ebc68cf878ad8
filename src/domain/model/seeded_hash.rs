//! A hash seed per process, for maps with keys that an attacker can choose. It prevents collision flooding: without a
//! seed, an attacker finds colliding keys in a minute, and each lookup then scans all of them. 65,000 such values of a
//! dimension made a report 700 times as slow. `std`'s own seed does not help: in Wasm it consists of two addresses,
//! which are the same in every process.
//!
//! A Worker generates the seed before it serves requests. Elsewhere, as in native tests, the seed is 0. No stored data
//! and no answer depends on it.

use std::{
    collections::HashMap,
    hash::{BuildHasher, DefaultHasher, Hasher},
    sync::atomic::{AtomicU64, Ordering},
};

/// The seed; 0 until [`set_seed`] is called.
static SEED: AtomicU64 = AtomicU64::new(0);

/// Sets the seed of all maps that are created from now on. Existing maps keep theirs.
pub fn set_seed(seed: u64) {
    SEED.store(seed, Ordering::Relaxed);
}

/// The seed for a new map, which must keep it for its lifetime.
pub fn seed() -> u64 {
    SEED.load(Ordering::Relaxed)
}

/// A map that is safe for keys from outside.
pub type SeededMap<K, V> = HashMap<K, V, SeededHasher>;

/// Hashes the seed and then the key with SipHash, which resists collision flooding.
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
        // `DefaultHasher::new` always uses the same keys, so the seed is hashed first.
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.0);
        hasher
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The number of values in the fullest bucket.
    fn fullest_bucket(hasher: SeededHasher, values: &[String], buckets: u64) -> usize {
        let mut counts = BTreeMap::<u64, usize>::new();
        for value in values {
            *counts.entry(hasher.hash_one(value.as_str()) % buckets).or_default() += 1;
        }
        counts.into_values().max().unwrap_or(0)
    }

    #[test]
    fn values_that_collide_under_one_seed_are_spread_under_another() {
        let (buckets, known) = (1 << 10, SeededHasher(0));
        let colliding: Vec<String> = (0..)
            .map(|n| format!("placement-{n}"))
            .filter(|value| known.hash_one(value.as_str()) % buckets == 0)
            .take(300)
            .collect();
        assert_eq!(fullest_bucket(known, &colliding, buckets), 300);
        for seed in [1, 2, 1 << 63, 0x9e37_79b9_7f4a_7c15] {
            let most = fullest_bucket(SeededHasher(seed), &colliding, buckets);
            assert!(most < 10, "{most} of 300 in one of {buckets} buckets");
        }
    }
}
