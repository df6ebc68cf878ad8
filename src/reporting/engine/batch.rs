//! Some rows at a time, column by column: their keys, the runs of rows that have one key, and the sums of runs. Segments
//! are in the order of their keys, so that runs are long for the dimensions that stand first.

use super::{layout::SKIP, size};
use crate::reporting::segment::{MeasureColumn, Values};

/// Rows of a batch: what it takes of memory (50 KiB) stays in the nearest caches.
pub const BATCH: usize = 2048;

/// Keys are compared so many at once: where runs are long, most have none beginning among them.
const BLOCK: usize = 16;

/// Runs are summed each on its own from this many rows on average; below, as differences of running totals, which
/// take no loop for each.
const LONG: usize = 24;

/// The state of a batch, used again for each.
pub struct Batch {
    /// The words of each row's key.
    words: [Box<[u64; BATCH]>; 2],
    /// Where runs begin, and after them where the last one ends.
    starts: Box<[u32; BATCH + 1]>,
    /// Running totals of a measure: of the rows before each.
    totals: Box<[u64; BATCH + 1]>,
    pub runs: Vec<Run>,
}

/// Rows of a batch with one key that counts.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    start: u32,
    end: u32,
    /// Where its group's sums begin.
    pub sums: usize,
}

impl Batch {
    pub fn new() -> Self {
        Self {
            words: [Box::new([0; BATCH]), Box::new([0; BATCH])],
            starts: Box::new([0; BATCH + 1]),
            totals: Box::new([0; BATCH + 1]),
            runs: Vec::with_capacity(BATCH),
        }
    }

    /// A word of the keys of the first `rows` rows.
    pub fn word(&mut self, word: usize, rows: usize) -> &mut [u64] {
        self.words
            .get_mut(word)
            .and_then(|keys| keys.get_mut(..rows))
            .unwrap_or_default()
    }

    /// Calls `group` for the key of each run of rows that count, which says where the group's sums begin.
    pub fn group<const W: usize>(&mut self, rows: usize, mut group: impl FnMut([u64; W]) -> usize) {
        let [first, second] = self
            .words
            .each_ref()
            .map(|words| words.get(..rows).unwrap_or_default());
        let runs = if W == 1 {
            starts_of_runs(first, &mut self.starts)
        } else {
            starts_of_wide_runs(first, second, &mut self.starts)
        };
        if let Some(end) = self.starts.get_mut(runs) {
            *end = u32::try_from(rows).unwrap_or(u32::MAX);
        }
        self.runs.clear();
        for (start, end) in self.starts.iter().zip(self.starts.iter().skip(1)).take(runs) {
            let mut key = [SKIP; W];
            for (word, words) in key.iter_mut().zip([first, second]) {
                *word = words.get(size(*start)).copied().unwrap_or(SKIP);
            }
            if !key.contains(&SKIP) {
                self.runs.push(Run {
                    start: *start,
                    end: *end,
                    sums: group(key),
                });
            }
        }
    }

    /// Adds a measure of the rows from `first` on to the sums of their groups, at `place` in each.
    pub fn add(
        &mut self,
        column: &MeasureColumn<'_>,
        first: usize,
        rows: usize,
        sums: &mut [i64],
        place: usize,
    ) {
        let last = first + rows;
        let Some(sums) = sums.get_mut(place..) else {
            return;
        };
        let base = column.base;
        match column.values {
            Values::Constant => {
                for run in &self.runs {
                    run.add(sums, base, 0);
                }
            }
            Values::One(values) => self.add_each(part(values, first, last), |v| u64::from(*v), base, sums),
            Values::Two(values) => {
                self.add_each(
                    part(values, first, last),
                    |v| u64::from(u16::from_le_bytes(*v)),
                    base,
                    sums,
                );
            }
            Values::Four(values) => {
                self.add_each(
                    part(values, first, last),
                    |v| u64::from(u32::from_le_bytes(*v)),
                    base,
                    sums,
                );
            }
            Values::Eight(values) => {
                self.add_each(part(values, first, last), |v| u64::from_le_bytes(*v), base, sums);
            }
        }
    }

    fn add_each<T>(&mut self, values: &[T], read: impl Fn(&T) -> u64, base: i64, sums: &mut [i64]) {
        let counted = self
            .runs
            .iter()
            .map(|run| size(run.end - run.start))
            .sum::<usize>();
        // Also when most rows do not count, so that these are not read.
        if counted >= self.runs.len() * LONG || counted * 4 < values.len() {
            for run in &self.runs {
                let values = part(values, size(run.start), size(run.end));
                let total = values
                    .iter()
                    .fold(0_u64, |total, value| total.wrapping_add(read(value)));
                run.add(sums, base, total);
            }
            return;
        }
        let mut total = 0_u64;
        for (place, value) in self.totals.iter_mut().skip(1).zip(values) {
            total = total.wrapping_add(read(value));
            *place = total;
        }
        for run in &self.runs {
            let [before, after] =
                [run.start, run.end].map(|at| self.totals.get(size(at)).copied().unwrap_or_default());
            run.add(sums, base, after.wrapping_sub(before));
        }
    }
}

impl Run {
    /// Totals wrap, and come out right: what is added up in the end fits, as `metric::MAX_OF_A_DAY` says.
    fn add(self, sums: &mut [i64], base: i64, distances: u64) {
        if let Some(sum) = sums.get_mut(self.sums) {
            let bases = base.wrapping_mul(i64::from(self.end - self.start));
            *sum = sum.wrapping_add(bases).wrapping_add(distances.cast_signed());
        }
    }
}

fn part<T>(values: &[T], first: usize, last: usize) -> &[T] {
    values.get(first..last).unwrap_or_default()
}

/// Writes where runs of equal keys begin, and says how many there are.
fn starts_of_runs(keys: &[u64], starts: &mut [u32; BATCH + 1]) -> usize {
    let Some(first) = keys.first() else {
        return 0;
    };
    let (mut last, mut runs, mut at) = (!first, 0, 0_u32);
    let (blocks, rest) = keys.as_chunks::<BLOCK>();
    for block in blocks.iter().map(<[u64; BLOCK]>::as_slice).chain([rest]) {
        let differ = block.iter().fold(0, |differ, key| differ | (key ^ last));
        if differ == 0 {
            at += BLOCK as u32;
            continue;
        }
        // Written for every row, and kept where the key is new: no branch that would be guessed wrong.
        for key in block {
            if let Some(start) = starts.get_mut(runs) {
                *start = at;
            }
            runs += usize::from(*key != last);
            last = *key;
            at += 1;
        }
    }
    runs
}

fn starts_of_wide_runs(first: &[u64], second: &[u64], starts: &mut [u32; BATCH + 1]) -> usize {
    let (mut last, mut runs) = (None, 0);
    for (at, key) in (0_u32..).zip(first.iter().zip(second)) {
        if let Some(start) = starts.get_mut(runs) {
            *start = at;
        }
        runs += usize::from(last != Some(key));
        last = Some(key);
    }
    runs
}
