//! A batch gives the same sums as adding its rows one by one.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

#[allow(dead_code, reason = "the end-to-end tests use more of it")]
#[path = "../../../../../tests/support/random.rs"]
mod random;
use random::Random;

/// Values that repeat like those of a segment: each is the previous value, or a random value within the mask `most`.
fn repeating(rows: usize, most: u64, stays: usize, random: &mut Random) -> Vec<u64> {
    let mut last = 0;
    let value = |_| {
        if random.below(100) >= stays {
            last = random.next() & most;
        }
        last
    };
    (0..rows).map(value).collect()
}

/// The key bits of a column's codes. With `skips`, every third value does not count.
fn numbers(distinct: usize, skips: bool) -> Vec<u64> {
    let number = |code: usize| {
        if skips && code % 3 == 1 { SKIP } else { code as u64 }
    };
    (0..distinct.max(256)).map(number).collect()
}

proptest! {
    #[test]
    fn a_batch_has_the_sums_of_its_rows(
        rows in prop_oneof![1..40_usize, 1..=BATCH],
        stays in prop_oneof![Just(0_usize), Just(60), Just(99)],
        skips: [bool; 2],
        bases in prop::array::uniform5(-3..3_i64),
        seed: u64,
    ) {
        let mut random = Random(seed);
        let mut some = |most| repeating(rows, most, stays, &mut random);
        let (narrow, wide) = (some(255), some(1023));
        let values = [some(0), some(255), some(65_535), some(u64::from(u32::MAX)), some(u64::MAX)];
        let one: Vec<u8> = narrow.iter().map(|code| *code as u8).collect();
        let two: Vec<[u8; 2]> = wide.iter().map(|code| (*code as u16).to_le_bytes()).collect();
        let codes = [Codes::One(&one), Codes::Two(&two)];
        let tables = [numbers(256, skips[0]), numbers(1_024, skips[1])];
        let bytes: Vec<u8> = values[1].iter().map(|value| *value as u8).collect();
        let twos: Vec<[u8; 2]> = values[2].iter().map(|value| (*value as u16).to_le_bytes()).collect();
        let fours: Vec<[u8; 4]> = values[3].iter().map(|value| (*value as u32).to_le_bytes()).collect();
        let eights: Vec<[u8; 8]> = values[4].iter().map(|value| value.to_le_bytes()).collect();
        let columns = [
            Values::Constant,
            Values::One(&bytes),
            Values::Two(&twos),
            Values::Four(&fours),
            Values::Eight(&eights),
        ];
        // Every consecutive selection of the widths.
        for first in 0..columns.len() {
            for last in first + 1..=columns.len() {
                let measures: Vec<MeasureColumn<'_>> = (first..last)
                    .map(|at| MeasureColumn { base: bases[at], values: columns[at] })
                    .collect();
                let mut expected: BTreeMap<(u64, u64), Vec<i64>> = BTreeMap::new();
                for row in 0..rows {
                    let key = (tables[0][narrow[row] as usize], tables[1][wide[row] as usize]);
                    if key.0 == SKIP || key.1 == SKIP {
                        continue;
                    }
                    let sums = expected.entry(key).or_insert_with(|| vec![0; measures.len()]);
                    for ((sum, at), base) in sums.iter_mut().zip(first..last).zip(&bases[first..last]) {
                        *sum = sum.wrapping_add(*base).wrapping_add(values[at][row].cast_signed());
                    }
                }

                let mut batch = Batch::new();
                batch.begin(rows);
                let filters: Vec<(Codes<'_>, &[u64])> = (0..2)
                    .filter(|at| skips[*at])
                    .map(|at| (codes[at], tables[at].as_slice()))
                    .collect();
                if !filters.is_empty() {
                    batch.filter(&filters);
                }
                batch.split_runs(codes.into_iter());
                for word in 0..2 {
                    batch.begin_word(word, 0);
                    batch.pack(word, codes[word], &tables[word]);
                }
                let (mut groups, mut sums) = (BTreeMap::new(), Vec::new());
                batch.group::<2>(|key| {
                    *groups.entry((key[0], key[1])).or_insert_with(|| {
                        sums.resize(sums.len() + measures.len(), 0);
                        sums.len() - measures.len()
                    })
                });
                for (index, measure) in measures.iter().enumerate() {
                    batch.add(measure, 0, rows, &mut sums, index);
                }
                let found: BTreeMap<_, _> = groups
                    .into_iter()
                    .map(|(key, at)| (key, sums[at..at + measures.len()].to_vec()))
                    .collect();
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
