//! The top rows: of the groups seen so far, those that come first in the order. They may become rows of the page.

use super::{
    dictionary::Dictionary,
    metered_vec::OutOfMemory,
    order::{Group, RowOrder},
    to_usize,
};

/// Rows are pruned when there are more than twice the limit plus this many.
const SLACK: usize = 8 << 10;
/// The initial capacity, in rows. It is allowed even if it exceeds the budget.
const MIN_CAPACITY: usize = 16;

pub struct TopRows {
    /// The number of values in a row.
    width: usize,
    measures: usize,
    /// The values and sums of all rows, flat, as in [`Group`].
    values: Vec<u32>,
    sums: Vec<i64>,
    /// The indices of the rows in order, once they are sorted. The vector's capacity suffices for all rows.
    sorted: Vec<u32>,
    rows: usize,
    capacity: usize,
    /// Maximum rows that fit the budget.
    max: usize,
    /// The number of wanted rows.
    limit: usize,
    /// The index of the last wanted row, as of the latest prune.
    worst: Option<usize>,
    /// Only rows that come after this row in the order are wanted.
    after: Option<(Vec<u32>, Vec<i64>)>,
    pub prunes: u64,
}

impl TopRows {
    pub fn new(width: usize, measures: usize, bytes: usize) -> Self {
        let row = width * size_of::<u32>() + measures * size_of::<i64>() + size_of::<u32>();
        Self {
            width,
            measures,
            values: Vec::new(),
            sums: Vec::new(),
            sorted: Vec::new(),
            rows: 0,
            capacity: 0,
            max: (bytes / row).clamp(MIN_CAPACITY, 1 << 31),
            limit: 0,
            worst: None,
            after: None,
            prunes: 0,
        }
    }

    /// Begins a sweep for the first `wanted` rows after the kept row `last`.
    pub fn begin(&mut self, wanted: u64, last: Option<usize>) {
        if let Some(last) = last.and_then(|last| self.row(last)) {
            self.after = Some((last.values.to_vec(), last.sums.to_vec()));
        }
        self.rows = 0;
        self.values.clear();
        self.sums.clear();
        self.sorted.clear();
        self.worst = None;
        // A quarter of the capacity stays free, so that not every new row causes a prune.
        self.limit = usize::try_from(wanted).unwrap_or(usize::MAX).min(self.max / 4 * 3);
    }

    pub fn row(&self, at: usize) -> Option<Group<'_>> {
        Some(Group {
            values: self.values.get(at * self.width..(at + 1) * self.width)?,
            sums: self.sums.get(at * self.measures..(at + 1) * self.measures)?,
        })
    }

    /// True if a row with these sums is certainly not wanted. This rejects most rows before their values are unpacked.
    pub fn excludes(&self, sums: &[i64], order: &RowOrder) -> bool {
        self.limit == 0 || self.worst().is_some_and(|worst| order.is_after(sums, worst.sums))
    }

    fn worst(&self) -> Option<Group<'_>> {
        self.row(self.worst?)
    }

    /// Keeps a row, if it may be wanted.
    pub fn offer(
        &mut self,
        row: Group<'_>,
        order: &RowOrder,
        dictionaries: &mut [Dictionary<'_>],
    ) -> Result<(), OutOfMemory> {
        if self.limit == 0 {
            return Ok(());
        }
        if let Some((values, sums)) = &self.after
            && order.compare(dictionaries, row, Group { values, sums }).is_le()
        {
            return Ok(());
        }
        if let Some(worst) = self.worst()
            && order.compare(dictionaries, row, worst).is_gt()
        {
            return Ok(());
        }
        if self.rows >= self.capacity {
            self.grow()?;
        }
        self.values.extend_from_slice(row.values);
        self.sums.extend_from_slice(row.sums);
        self.rows += 1;
        if self.rows >= self.prune_at() {
            self.prune(order, dictionaries);
        }
        Ok(())
    }

    /// The number of rows that causes a prune.
    fn prune_at(&self) -> usize {
        self.limit.saturating_mul(2).saturating_add(SLACK).min(self.max)
    }

    fn grow(&mut self) -> Result<(), OutOfMemory> {
        let capacity = (self.capacity * 8).max(MIN_CAPACITY).min(self.prune_at());
        let more = capacity.saturating_sub(self.rows);
        self.values.try_reserve_exact(more * self.width).map_err(|_| OutOfMemory)?;
        self.sums.try_reserve_exact(more * self.measures).map_err(|_| OutOfMemory)?;
        self.sorted.try_reserve_exact(capacity).map_err(|_| OutOfMemory)?;
        self.capacity = capacity;
        Ok(())
    }

    /// Drops the rows beyond the limit.
    pub fn prune(&mut self, order: &RowOrder, dictionaries: &mut [Dictionary<'_>]) {
        let Some(last) = self.limit.checked_sub(1).filter(|last| *last < self.rows) else {
            return;
        };
        self.prunes += 1;
        let mut first = self.all_indices(dictionaries);
        let (_, worst, _) =
            first.select_nth_unstable_by(last, |left, right| self.compare(order, dictionaries, *left, *right));
        let worst = *worst;
        first.truncate(self.limit);
        // Rows move to the front in storage order, so that no row overwrites another that still has to move.
        first.sort_unstable();
        for (to, from) in first.iter().enumerate() {
            let from_row = to_usize(*from);
            self.values.copy_within(from_row * self.width..(from_row + 1) * self.width, to * self.width);
            self.sums.copy_within(from_row * self.measures..(from_row + 1) * self.measures, to * self.measures);
            if *from == worst {
                self.worst = Some(to);
            }
        }
        self.rows = self.limit;
        self.values.truncate(self.rows * self.width);
        self.sums.truncate(self.rows * self.measures);
        first.clear();
        self.sorted = first;
    }

    /// Drops the rows beyond the limit and sorts the rest. Returns their number.
    pub fn sort(&mut self, order: &RowOrder, dictionaries: &mut [Dictionary<'_>]) -> usize {
        self.prune(order, dictionaries);
        let mut sorted = self.all_indices(dictionaries);
        sorted.sort_unstable_by(|left, right| self.compare(order, dictionaries, *left, *right));
        self.sorted = sorted;
        self.rows
    }

    /// The indices of the rows, in order.
    pub fn sorted(&self) -> &[u32] {
        &self.sorted
    }

    /// Ranks the dictionaries, so that values can be compared, and returns the indices of all rows. Reuses the memory
    /// of `sorted`.
    fn all_indices(&mut self, dictionaries: &mut [Dictionary<'_>]) -> Vec<u32> {
        dictionaries.iter_mut().for_each(Dictionary::rank);
        let mut rows = std::mem::take(&mut self.sorted);
        rows.clear();
        rows.extend((0_u32..).take(self.rows));
        rows
    }

    fn compare(&self, order: &RowOrder, dictionaries: &[Dictionary<'_>], left: u32, right: u32) -> std::cmp::Ordering {
        match (self.row(to_usize(left)), self.row(to_usize(right))) {
            (Some(left), Some(right)) => order.compare(dictionaries, left, right),
            (left, right) => left.is_some().cmp(&right.is_some()),
        }
    }

    /// Lowers the limit to half of the number of kept rows, or to half of the limit if that is less. Returns false and
    /// changes nothing if the new limit would be 0.
    pub fn halve(&mut self) -> bool {
        let half = self.rows.min(self.limit) / 2;
        if half > 0 {
            self.limit = half;
        }
        half > 0
    }

    /// The numbers of one dimension's values in all rows, and in the row of `after`.
    pub fn values(&mut self, dimension: usize) -> impl Iterator<Item = &mut u32> {
        let rows = self.values.iter_mut().skip(dimension).step_by(self.width.max(1));
        rows.chain(self.after.iter_mut().filter_map(move |(values, _)| values.get_mut(dimension)))
    }
}
