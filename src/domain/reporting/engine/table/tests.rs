//! Hash collisions of groups, counted as probes of the table.

use super::*;

/// The slots that are probed to find each group of a hash table once.
fn probes<const W: usize>(table: &Table<'_>) -> usize {
    let mask = table.slots.len() - 1;
    let keys = table.keys.as_chunks::<W>().0;
    let taken = table.slots.iter().enumerate().filter(|(_, slot)| **slot != 0);
    taken
        .map(|(at, slot)| {
            let home = table.hasher.home(&keys[*slot as usize - 1], mask);
            ((at + mask + 1 - home) & mask) + 1
        })
        .sum()
}

/// The probes for a table of these groups under a seed.
fn probes_for<const W: usize>(keys: &[[u64; W]], seed: u64) -> usize {
    let meter = Meter::new(1 << 24);
    let mut table = Table::new(&meter, 1, GroupHasher::new(seed));
    let lengths = vec![1_usize << if W == 1 { 16 } else { 19 }; 2 * W];
    table.layout = Some(Layout::new(lengths.into_iter()));
    table.reserve(keys.len()).unwrap();
    for key in keys {
        table.hashed_sums(*key);
    }
    assert_eq!(table.groups(), keys.len());
    probes::<W>(&table)
}

/// Keys from pairs of numbers below 2^16 that all have slot 0 under a hash.
fn colliding(count: usize, home: impl Fn(u64) -> usize) -> Vec<[u64; 1]> {
    let keys = (0_u64..).map(|n| (n & 0xff) << 16 | n >> 8);
    keys.filter(|key| home(*key) == 0)
        .map(|key| [key])
        .take(count)
        .collect()
}

const GROUPS: usize = 500;
const MASK: usize = (GROUPS * 2).next_power_of_two() - 1;
const SEEDS: [u64; 5] = [1, 7, 1 << 40, 0x9e37_79b9_7f4a_7c15, u64::MAX];

#[test]
fn groups_that_collide_under_one_seed_are_spread_under_another() {
    let known = GroupHasher::new(0);
    let against_a_seed = colliding(GROUPS, |key| known.home(&[key], MASK));
    assert!(probes_for(&against_a_seed, 0) > GROUPS * GROUPS / 2);
    // Keys that collide under a well-known factor, and keys like those of real facts.
    let against_a_constant = colliding(GROUPS, |key| {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 36) as usize & MASK
    });
    let in_order: Vec<_> = (0..500_u64).map(|n| [n]).collect();
    let diagonal: Vec<_> = (0..500_u64).map(|n| [n << 16 | n]).collect();
    let upper: Vec<_> = (0..500_u64).map(|n| [n << 54]).collect();
    for keys in [against_a_seed, against_a_constant, in_order, diagonal, upper] {
        for seed in SEEDS {
            let probes = probes_for(&keys, seed);
            assert!(probes < GROUPS * 3, "{probes} probes under the seed {seed}");
        }
    }
}

#[test]
fn keys_of_two_words_that_collide_under_one_seed_are_spread_under_another() {
    let known = GroupHasher::new(0);
    let keys = colliding(GROUPS, |key| known.home(&[key, key], MASK));
    let doubled: Vec<_> = keys.iter().map(|[key]| [*key, *key]).collect();
    assert!(probes_for(&doubled, 0) > GROUPS * GROUPS / 2);
    let second: Vec<_> = (0..500_u64).map(|n| [5, n << 38]).collect();
    for seed in SEEDS {
        for keys in [&doubled, &second] {
            let probes = probes_for(keys, seed);
            assert!(probes < GROUPS * 3, "{probes} probes under the seed {seed}");
        }
    }
}
