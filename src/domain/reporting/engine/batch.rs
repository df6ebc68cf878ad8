//! Some rows at a time, column by column: which of them count, the runs of rows that have one key, and the sums of runs.
//! Segments are in the order of their keys, so that runs are long for the dimensions that stand first; what is done for
//! each row is comparing its codes with those of the row before, sixteen rows at once, and all else for each run.

use super::{layout::SKIP, size};
use crate::reporting::segment::{Codes, MeasureColumn, Values};

/// Rows of a batch: what it takes of memory (some 120 KiB) stays in the nearer caches.
pub const BATCH: usize = 2048;

/// Runs are summed each on its own from this many rows on average; below, as differences of running totals, which
/// take no loop for each.
const LONG: usize = 24;
/// More than [`BATCH`], and a power of two.
const TOTALS: usize = 2 * BATCH;

/// The state of a batch, used again for each.
pub struct Batch {
    rows: usize,
    /// For each row whether it differs from the one before in a column that was marked: 1, or 0.
    differs: Box<[u8; BATCH]>,
    /// Where runs begin, and after them where the last one ends.
    starts: Box<[u32; BATCH + 1]>,
    /// The rows that count.
    ranges: Vec<(u32, u32)>,
    pub runs: Vec<Run>,
    /// The words of each run's key.
    words: [Box<[u64; BATCH]>; 2],
    /// Running totals of a measure: of the rows before each.
    totals: Box<[u64; TOTALS]>,
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
            rows: 0,
            differs: Box::new([0; BATCH]),
            starts: Box::new([0; BATCH + 1]),
            ranges: Vec::with_capacity(BATCH),
            runs: Vec::with_capacity(BATCH),
            words: [Box::new([0; BATCH]), Box::new([0; BATCH])],
            totals: Box::new([0; TOTALS]),
        }
    }

    /// Begins with `rows` rows, which all count.
    pub fn begin(&mut self, rows: usize) {
        self.rows = rows;
        self.ranges.clear();
        self.ranges.push((0, number(rows)));
    }

    /// Leaves the rows that count whose code has a number in each of these columns: not [`SKIP`].
    pub fn sieve(&mut self, columns: &[(Codes<'_>, &[u64])]) {
        self.mark(columns.iter().map(|(codes, _)| *codes));
        let runs = starts_of_runs(
            self.differs.as_mut_slice(),
            (0, number(self.rows)),
            &mut self.starts,
        );
        self.ranges.clear();
        for [start, end] in self.starts.get(..=runs).unwrap_or_default().array_windows() {
            let counts = columns.iter().all(|(codes, numbers)| {
                let number = codes.get(size(*start)).and_then(|code| numbers.get(code));
                number.is_some_and(|number| *number != SKIP)
            });
            if counts {
                match self.ranges.last_mut() {
                    Some((_, last)) if last == start => *last = *end,
                    _ => self.ranges.push((*start, *end)),
                }
            }
        }
    }

    /// Finds the runs of rows that are alike in these columns, among the rows that count.
    pub fn split<'c>(&mut self, columns: impl Iterator<Item = Codes<'c>>) {
        self.mark(columns);
        self.runs.clear();
        for range in &self.ranges {
            let runs = starts_of_runs(self.differs.as_mut_slice(), *range, &mut self.starts);
            let runs = self.starts.get(..=runs).unwrap_or_default().array_windows();
            self.runs.extend(runs.map(|[start, end]| Run {
                start: *start,
                end: *end,
                sums: 0,
            }));
        }
    }

    /// Begins a word of the runs' keys with what it has for all rows.
    pub fn begin_word(&mut self, word: usize, constant: u64) {
        let runs = self.runs.len();
        self.word(word, runs).fill(constant);
    }

    /// Adds the bits of a column's values to a word of the runs' keys.
    #[inline(never)]
    pub fn place(&mut self, word: usize, codes: Codes<'_>, numbers: &[u64]) {
        let Some(keys) = self.words.get_mut(word) else {
            return;
        };
        let keys = keys.iter_mut().zip(&self.runs);
        match codes {
            Codes::Constant => {}
            Codes::One(codes) => {
                if let Some(numbers) = numbers.first_chunk::<256>() {
                    for (key, run) in keys {
                        let code = codes.get(size(run.start)).copied().unwrap_or_default();
                        *key |= numbers.get(usize::from(code)).copied().unwrap_or(SKIP);
                    }
                }
            }
            Codes::Two(codes) => {
                for (key, run) in keys {
                    let code = codes.get(size(run.start)).copied().unwrap_or_default();
                    let code = usize::from(u16::from_le_bytes(code));
                    *key |= numbers.get(code).copied().unwrap_or(SKIP);
                }
            }
        }
    }

    /// Calls `group` for the key of each run, which says where the group's sums begin.
    pub fn group<const W: usize>(&mut self, mut group: impl FnMut([u64; W]) -> usize) {
        let [first, second] = self.words.each_ref();
        for (run, (first, second)) in self.runs.iter_mut().zip(first.iter().zip(second.iter())) {
            let mut key = [*first; W];
            if let [_, key] = key.as_mut_slice() {
                *key = *second;
            }
            run.sums = group(key);
        }
    }

    fn word(&mut self, word: usize, runs: usize) -> &mut [u64] {
        self.words
            .get_mut(word)
            .and_then(|keys| keys.get_mut(..runs))
            .unwrap_or_default()
    }

    /// Says of each row but the first whether it differs from the one before in any of these columns.
    fn mark<'c>(&mut self, columns: impl Iterator<Item = Codes<'c>>) {
        let Some(differs) = self.differs.get_mut(..self.rows) else {
            return;
        };
        differs.fill(0);
        let differs = differs.get_mut(1..).unwrap_or_default();
        for codes in columns {
            match codes {
                Codes::Constant => {}
                Codes::One(codes) => {
                    let after = codes.get(1..).unwrap_or_default();
                    for ((differs, before), after) in differs.iter_mut().zip(codes).zip(after) {
                        *differs |= u8::from(before != after);
                    }
                }
                Codes::Two(codes) => {
                    let after = codes.get(1..).unwrap_or_default();
                    for ((differs, before), after) in differs.iter_mut().zip(codes).zip(after) {
                        *differs |= u8::from(u16::from_le_bytes(*before) != u16::from_le_bytes(*after));
                    }
                }
            }
        }
    }

    /// Adds a measure of the segment's rows from `first` to `last` to the sums of their groups, at `place` in each.
    pub fn add(
        &mut self,
        column: &MeasureColumn<'_>,
        first: usize,
        last: usize,
        sums: &mut [i64],
        place: usize,
    ) {
        let Some(sums) = sums.get_mut(place..) else {
            return;
        };
        let base = column.base;
        // Of one or two bytes, a batch's values add up to less than 2^32.
        match column.values {
            Values::Constant => {
                for run in &self.runs {
                    run.add(sums, base, 0);
                }
            }
            Values::One(values) => {
                let total = |values: &[u8]| u64::from(values.iter().map(|v| u32::from(*v)).sum::<u32>());
                self.add_each(part(values, first, last), total, base, sums);
            }
            Values::Two(values) => {
                let read = |v: &[u8; 2]| u32::from(u16::from_le_bytes(*v));
                let total = |values: &[[u8; 2]]| u64::from(values.iter().map(read).sum::<u32>());
                self.add_each(part(values, first, last), total, base, sums);
            }
            Values::Four(values) => {
                let read = |v: &[u8; 4]| u64::from(u32::from_le_bytes(*v));
                let total = |values: &[[u8; 4]]| values.iter().map(read).sum();
                self.add_each(part(values, first, last), total, base, sums);
            }
            Values::Eight(values) => {
                let add = |total: u64, v: &[u8; 8]| total.wrapping_add(u64::from_le_bytes(*v));
                let total = |values: &[[u8; 8]]| values.iter().fold(0, add);
                self.add_each(part(values, first, last), total, base, sums);
            }
        }
    }

    /// `total` adds up values.
    #[inline(never)]
    fn add_each<T>(&mut self, values: &[T], total: impl Fn(&[T]) -> u64, base: i64, sums: &mut [i64]) {
        let lengths = self.runs.iter().map(|run| size(run.end - run.start));
        let counted = lengths.sum::<usize>();
        // Also when most rows do not count, so that these are not read.
        if counted >= self.runs.len() * LONG || counted * 4 < values.len() {
            for run in &self.runs {
                run.add(sums, base, total(part(values, size(run.start), size(run.end))));
            }
            return;
        }
        let Some((_, totals)) = self.totals.split_first_mut() else {
            return;
        };
        let mut running = 0_u64;
        for (place, value) in totals.iter_mut().zip(values) {
            running = running.wrapping_add(total(std::slice::from_ref(value)));
            *place = running;
        }
        for run in &self.runs {
            // The remainder is the row itself, and spares a check.
            let [before, after] = [run.start, run.end]
                .map(|row| self.totals.get(size(row) % TOTALS).copied().unwrap_or_default());
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

/// Writes where runs begin among these rows, and where the last one ends, and says how many there are.
#[inline(never)]
fn starts_of_runs(differs: &mut [u8], (first, end): (u32, u32), starts: &mut [u32; BATCH + 1]) -> usize {
    let Some(differs) = differs.get_mut(size(first)..size(end)) else {
        return 0;
    };
    if let Some(first) = differs.first_mut() {
        *first = 1;
    }
    let (mut runs, mut at) = (0, first);
    let mut begin = |row| {
        if let Some(start) = starts.get_mut(runs) {
            *start = row;
        }
        runs += 1;
    };
    let (blocks, rest) = differs.as_chunks::<8>();
    for block in blocks {
        // Eight rows at once: a row that begins a run is a bit.
        let mut bits = u64::from_le_bytes(*block);
        while bits != 0 {
            begin(at + bits.trailing_zeros() / 8);
            bits &= bits - 1;
        }
        at += 8;
    }
    for (row, differs) in (at..).zip(rest) {
        if *differs != 0 {
            begin(row);
        }
    }
    if let Some(last) = starts.get_mut(runs) {
        *last = end;
    }
    runs
}

fn number(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
