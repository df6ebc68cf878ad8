//! What finding groups takes, counted in looks at the table.

use super::*;

/// Looks at a hash table that finding each of its groups once takes.
fn looks<const W: usize>(table: &Table<'_>) -> usize {
    let mask = table.slots.len() - 1;
    let keys = table.keys.as_chunks::<W>().0;
    let taken = table.slots.iter().enumerate().filter(|(_, slot)| **slot != 0);
    taken
        .map(|(at, slot)| {
            let home = table.mix.home(&keys[*slot as usize - 1], mask);
            ((at + mask + 1 - home) & mask) + 1
        })
        .sum()
}

/// Looks that a table of these groups takes under a seed.
fn looks_for<const W: usize>(keys: &[[u64; W]], seed: u64) -> usize {
    let meter = Meter::new(1 << 24);
    let mut table = Table::new(&meter, 1, Mix::of(seed));
    let lengths = vec![1_usize << if W == 1 { 16 } else { 19 }; 2 * W];
    table.layout = Some(Layout::of(lengths.into_iter()));
    table.reserve(keys.len()).unwrap();
    for key in keys {
        table.find(*key);
    }
    assert_eq!(table.groups(), keys.len());
    looks::<W>(&table)
}

/// Groups that all fall on one place under a spread, of pairs of numbers below 2^16.
fn crowding(count: usize, home: impl Fn(u64) -> usize) -> Vec<[u64; 1]> {
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
fn groups_that_crowd_under_one_seed_are_spread_under_another() {
    let known = Mix::of(0);
    let against_a_seed = crowding(GROUPS, |key| known.home(&[key], MASK));
    assert!(looks_for(&against_a_seed, 0) > GROUPS * GROUPS / 2);
    // What a factor that everyone knows would make of them, and the numbers that real facts have.
    let against_a_constant = crowding(GROUPS, |key| {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 36) as usize & MASK
    });
    let in_order: Vec<_> = (0..500_u64).map(|n| [n]).collect();
    let diagonal: Vec<_> = (0..500_u64).map(|n| [n << 16 | n]).collect();
    let upper: Vec<_> = (0..500_u64).map(|n| [n << 54]).collect();
    for keys in [against_a_seed, against_a_constant, in_order, diagonal, upper] {
        for seed in SEEDS {
            let looks = looks_for(&keys, seed);
            assert!(looks < GROUPS * 3, "{looks} looks under the seed {seed}");
        }
    }
}

#[test]
fn keys_of_two_words_are_spread_as_well() {
    let known = Mix::of(0);
    let keys = crowding(GROUPS, |key| known.home(&[key, key], MASK));
    let doubled: Vec<_> = keys.iter().map(|[key]| [*key, *key]).collect();
    assert!(looks_for(&doubled, 0) > GROUPS * GROUPS / 2);
    let second: Vec<_> = (0..500_u64).map(|n| [5, n << 38]).collect();
    for seed in SEEDS {
        for keys in [&doubled, &second] {
            let looks = looks_for(keys, seed);
            assert!(looks < GROUPS * 3, "{looks} looks under the seed {seed}");
        }
    }
}
