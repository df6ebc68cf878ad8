//! Hash collisions of groups, counted as probes of the table.

use super::*;
use crate::reporting::engine::testing;

/// The slots that are probed to find each of these groups once in a table under a seed.
fn probes<const W: usize>(keys: &[[u64; W]], seed: u64) -> usize {
    let meter = Meter::new(1 << 24);
    let mut table = Table::new(&meter, 1, GroupHasher::new(seed));
    let lengths = vec![1_usize << if W == 1 { 16 } else { 19 }; 2 * W];
    table.layout = Some(Layout::new(lengths.into_iter()));
    table.reserve(keys.len()).unwrap();
    for key in keys {
        table.hashed_sums(*key);
    }
    assert_eq!(table.groups(), keys.len());
    let (groups, mask) = (table.keys.as_chunks::<W>().0, table.slots.len() - 1);
    testing::probes(&table.slots, |group| table.hasher.home(&groups[group], mask))
}

/// Checks that these groups are spread under every seed but 0.
fn assert_spread<const W: usize>(name: &str, keys: &[[u64; W]]) {
    for seed in [1, 7, 1 << 40, 0x9e37_79b9_7f4a_7c15, u64::MAX] {
        let probes = probes(keys, seed);
        assert!(probes < GROUPS * 3, "{name}, seed {seed}: {probes} probes");
    }
}

/// Keys from pairs of numbers below 2^16 that all have slot 0 under a hash.
fn colliding(home: impl Fn(u64) -> usize) -> Vec<[u64; 1]> {
    let keys = (0_u64..).map(|n| (n & 0xff) << 16 | n >> 8);
    let colliding = keys.filter(|key| home(*key) == 0);
    colliding.map(|key| [key]).take(GROUPS).collect()
}

const GROUPS: usize = 500;
const MASK: usize = (GROUPS * 2).next_power_of_two() - 1;

#[test]
fn groups_that_collide_under_one_seed_are_spread_under_another() {
    let known = GroupHasher::new(0);
    let against_a_seed = colliding(|key| known.home(&[key], MASK));
    assert!(probes(&against_a_seed, 0) > GROUPS * GROUPS / 2);
    // Keys that collide under a well-known factor, and keys like those of real facts.
    let against_a_constant = colliding(|key| (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 36) as usize & MASK);
    let numbers = |key: fn(u64) -> u64| -> Vec<_> { (0..500).map(|n| [key(n)]).collect() };
    assert_spread("keys against a seed", &against_a_seed);
    assert_spread("keys against a constant", &against_a_constant);
    assert_spread("keys in order", &numbers(|n| n));
    assert_spread("keys on the diagonal", &numbers(|n| n << 16 | n));
    assert_spread("keys of upper bits", &numbers(|n| n << 54));
}

#[test]
fn keys_of_two_words_that_collide_under_one_seed_are_spread_under_another() {
    let known = GroupHasher::new(0);
    let keys = colliding(|key| known.home(&[key, key], MASK));
    let doubled: Vec<_> = keys.iter().map(|[key]| [*key, *key]).collect();
    assert!(probes(&doubled, 0) > GROUPS * GROUPS / 2);
    assert_spread("doubled keys", &doubled);
    let second: Vec<_> = (0..500_u64).map(|n| [5, n << 38]).collect();
    assert_spread("keys of the second word", &second);
}
