//! Processes a batch of rows, column by column: filters them, finds runs of rows with one key, and sums each run.
//! Segments are sorted by key, so runs are long for the first dimensions. Only one step is done for each row: its codes
//! are compared with those of the previous row, 16 rows at once. Everything else is done once for each run.

use super::{layout::SKIP, to_usize};
use crate::{
    model::parts::to_u32,
    reporting::segment::{Codes, MeasureColumn, Values},
};

/// Maximum rows of a batch. A batch takes about 120 KiB of memory, which stays in the CPU's inner caches.
pub const BATCH: usize = 2048;

/// Minimum average length of runs that are summed one by one. Shorter runs are summed as differences of running totals,
/// which needs no loop per run.
const LONG_RUN: usize = 24;
/// The length of the running totals: more than [`BATCH`], and a power of two.
const TOTALS: usize = 2 * BATCH;

/// The state of one batch, reused for the next.
pub struct Batch {
    rows: usize,
    /// For each row, 1 if it differs from the previous row in one of the compared columns, else 0.
    differs: Box<[u8; BATCH]>,
    /// The starts of runs, followed by the end of the last run.
    starts: Box<[u32; BATCH + 1]>,
    /// The ranges of rows that pass the filters.
    ranges: Vec<(u32, u32)>,
    pub runs: Vec<Run>,
    /// The words of the key of each run.
    words: [Box<[u64; BATCH]>; 2],
    /// Running totals of a measure: for each row, the sum of the rows before it.
    totals: Box<[u64; TOTALS]>,
}

/// Consecutive rows of a batch with one key.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    start: u32,
    end: u32,
    /// The index at which the sums of the run's group begin.
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

    /// Begins a batch of `rows` rows. All rows count until [`Self::filter`] drops some.
    pub fn begin(&mut self, rows: usize) {
        self.rows = rows;
        self.ranges.clear();
        self.ranges.push((0, to_u32(rows)));
    }

    /// Keeps the rows that pass all filters. A row passes if each of these columns maps its code to a number other than
    /// [`SKIP`].
    pub fn filter(&mut self, columns: &[(Codes<'_>, &[u64])]) {
        self.mark_changes(columns.iter().map(|(codes, _)| *codes));
        let runs = find_runs(self.differs.as_mut_slice(), (0, to_u32(self.rows)), &mut self.starts);
        self.ranges.clear();
        for [start, end] in self.starts.get(..=runs).unwrap_or_default().array_windows() {
            let passes = columns.iter().all(|(codes, numbers)| {
                let number = codes.get(to_usize(*start)).and_then(|code| numbers.get(code));
                number.is_some_and(|number| *number != SKIP)
            });
            if passes {
                match self.ranges.last_mut() {
                    Some((_, last)) if last == start => *last = *end,
                    _ => self.ranges.push((*start, *end)),
                }
            }
        }
    }

    /// Splits the rows that count into runs. The rows of a run are equal in these columns.
    pub fn split_runs<'c>(&mut self, columns: impl Iterator<Item = Codes<'c>>) {
        self.mark_changes(columns);
        self.runs.clear();
        for range in &self.ranges {
            let runs = find_runs(self.differs.as_mut_slice(), *range, &mut self.starts);
            let runs = self.starts.get(..=runs).unwrap_or_default().array_windows();
            self.runs.extend(runs.map(|[start, end]| Run { start: *start, end: *end, sums: 0 }));
        }
    }

    /// Begins a word of the runs' keys with the bits that all rows share.
    pub fn begin_word(&mut self, word: usize, constant: u64) {
        let runs = self.runs.len();
        self.word(word, runs).fill(constant);
    }

    /// Adds the bits of a column's values to a word of the runs' keys.
    #[inline(never)]
    pub fn pack(&mut self, word: usize, codes: Codes<'_>, numbers: &[u64]) {
        let Some(keys) = self.words.get_mut(word) else {
            return;
        };
        let keys = keys.iter_mut().zip(&self.runs);
        match codes {
            Codes::Constant => {}
            Codes::One(codes) => {
                if let Some(numbers) = numbers.first_chunk::<256>() {
                    for (key, run) in keys {
                        let code = codes.get(to_usize(run.start)).copied().unwrap_or_default();
                        *key |= numbers.get(usize::from(code)).copied().unwrap_or(SKIP);
                    }
                }
            }
            Codes::Two(codes) => {
                for (key, run) in keys {
                    let code = codes.get(to_usize(run.start)).copied().unwrap_or_default();
                    let code = usize::from(u16::from_le_bytes(code));
                    *key |= numbers.get(code).copied().unwrap_or(SKIP);
                }
            }
        }
    }

    /// Calls `group` with the key of each run. `group` returns the index at which the sums of the key's group begin.
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
        self.words.get_mut(word).and_then(|keys| keys.get_mut(..runs)).unwrap_or_default()
    }

    /// Marks each row, except the first, that differs from the previous row in any of these columns.
    fn mark_changes<'c>(&mut self, columns: impl Iterator<Item = Codes<'c>>) {
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

    /// Adds a measure to the sums of the rows' groups, at index `measure` in each group. The batch has the rows
    /// `first..last` of the segment.
    pub fn add(&mut self, column: &MeasureColumn<'_>, first: usize, last: usize, sums: &mut [i64], measure: usize) {
        let Some(sums) = sums.get_mut(measure..) else {
            return;
        };
        let base = column.base;
        // Values of one or two bytes add up to less than 2^32 in a batch.
        match column.values {
            Values::Constant => {
                for run in &self.runs {
                    run.add(sums, base, 0);
                }
            }
            Values::One(values) => {
                let total = |values: &[u8]| u64::from(values.iter().map(|v| u32::from(*v)).sum::<u32>());
                self.add_runs(slice(values, first, last), total, base, sums);
            }
            Values::Two(values) => {
                let read = |v: &[u8; 2]| u32::from(u16::from_le_bytes(*v));
                let total = |values: &[[u8; 2]]| u64::from(values.iter().map(read).sum::<u32>());
                self.add_runs(slice(values, first, last), total, base, sums);
            }
            Values::Four(values) => {
                let read = |v: &[u8; 4]| u64::from(u32::from_le_bytes(*v));
                let total = |values: &[[u8; 4]]| values.iter().map(read).sum();
                self.add_runs(slice(values, first, last), total, base, sums);
            }
            Values::Eight(values) => {
                let add = |total: u64, v: &[u8; 8]| total.wrapping_add(u64::from_le_bytes(*v));
                let total = |values: &[[u8; 8]]| values.iter().fold(0, add);
                self.add_runs(slice(values, first, last), total, base, sums);
            }
        }
    }

    /// Adds the values of each run to the sums of its group. `total` sums values.
    #[inline(never)]
    fn add_runs<T>(&mut self, values: &[T], total: impl Fn(&[T]) -> u64, base: i64, sums: &mut [i64]) {
        if self.sums_each_run(values.len()) {
            for run in &self.runs {
                let values = slice(values, to_usize(run.start), to_usize(run.end));
                run.add(sums, base, total(values));
            }
            return;
        }
        let Some((_, totals)) = self.totals.split_first_mut() else {
            return;
        };
        let mut running = 0_u64;
        for (slot, value) in totals.iter_mut().zip(values) {
            running = running.wrapping_add(total(std::slice::from_ref(value)));
            *slot = running;
        }
        for run in &self.runs {
            // `row` is less than `TOTALS`, so `%` changes nothing, but it spares the bounds check.
            let [before, after] =
                [run.start, run.end].map(|row| self.totals.get(to_usize(row) % TOTALS).copied().unwrap_or(0));
            run.add(sums, base, after.wrapping_sub(before));
        }
    }

    /// True if the runs are to be summed one by one, false if their sums are differences of running totals. One by one
    /// is faster if runs are long, or if most rows do not count, because those rows are then not read.
    fn sums_each_run(&self, rows: usize) -> bool {
        let lengths = self.runs.iter().map(|run| to_usize(run.end - run.start));
        let counted = lengths.sum::<usize>();
        counted >= self.runs.len() * LONG_RUN || counted * 4 < rows
    }
}

impl Run {
    /// Adds the run's total to its group. Intermediate sums may wrap; the final sum fits, see `metric::MAX_OF_A_DAY`.
    fn add(self, sums: &mut [i64], base: i64, distances: u64) {
        if let Some(sum) = sums.get_mut(self.sums) {
            let bases = base.wrapping_mul(i64::from(self.end - self.start));
            *sum = sum.wrapping_add(bases).wrapping_add(distances.cast_signed());
        }
    }
}

fn slice<T>(values: &[T], first: usize, last: usize) -> &[T] {
    values.get(first..last).unwrap_or_default()
}

/// Writes the starts of the runs in a range of rows, and the end of the last run. Returns the number of runs.
#[inline(never)]
fn find_runs(differs: &mut [u8], (first, end): (u32, u32), starts: &mut [u32; BATCH + 1]) -> usize {
    let Some(differs) = differs.get_mut(to_usize(first)..to_usize(end)) else {
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
        // Eight rows at once: each row that begins a run is one bit.
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

#[cfg(test)]
mod tests;
