//! The groups of a part and their sums: an array of all possible keys if the keys are few, otherwise a hash table.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{
    Budget,
    batch::Batch,
    layout::Layout,
    metered_vec::{Meter, MeteredVec, OutOfMemory},
};
use crate::reporting::dimension::KEY;

/// The array is used if the number of possible keys is at most this or [`PER_ROW`] times the number of rows, whichever
/// is more. It is never used beyond [`Budget::dense`].
const MIN_DENSE: usize = 1 << 10;
const PER_ROW: usize = 2;

pub struct Table<'m> {
    meter: &'m Meter,
    hasher: GroupHasher,
    layout: Option<Layout>,
    measures: usize,
    groups: usize,
    /// Array: 1 for each key that has a group. Empty for a hash table.
    present: MeteredVec<'m, u8>,
    /// Hash table: a slot has a group's number + 1, or 0 if it is free. The number of slots is a power of two, and at
    /// most half are taken.
    slots: MeteredVec<'m, u32>,
    /// Hash table: the words of each group's key.
    keys: MeteredVec<'m, u64>,
    sums: MeteredVec<'m, i64>,
}

impl<'m> Table<'m> {
    pub fn new(meter: &'m Meter, measures: usize, hasher: GroupHasher) -> Self {
        Self {
            meter,
            hasher,
            layout: None,
            measures,
            groups: 0,
            present: MeteredVec::new(meter),
            slots: MeteredVec::new(meter),
            keys: MeteredVec::new(meter),
            sums: MeteredVec::new(meter),
        }
    }

    pub fn groups(&self) -> usize {
        self.groups
    }

    pub fn is_dense(&self) -> bool {
        !self.present.is_empty()
    }

    pub fn is_wide(&self) -> bool {
        self.layout.is_some_and(|layout| layout.words() == 2)
    }

    /// Removes all groups and keeps the memory.
    pub fn clear(&mut self) {
        self.layout = None;
        self.groups = 0;
        self.present.clear();
        self.slots.fill(0);
        self.keys.clear();
        self.sums.clear();
    }

    /// Removes all groups and frees the memory.
    pub fn release(&mut self) {
        self.clear();
        self.present.release();
        self.slots.release();
        self.keys.release();
        self.sums.release();
    }

    /// Makes the keys wide enough for dictionaries of these lengths. If that needs a new layout, `rows`, the number of
    /// rows in the report's part, decides between array and hash table. Returns the layout, and whether groups were
    /// moved.
    pub fn fit(
        &mut self,
        lengths: impl Iterator<Item = usize> + Clone,
        rows: usize,
        budget: &Budget,
    ) -> Result<(Layout, bool), OutOfMemory> {
        if let Some(layout) = self.layout
            && layout.fits(lengths.clone())
        {
            return Ok((layout, false));
        }
        let layout = Layout::new(lengths);
        if self.groups == 0 {
            self.set_layout(layout, rows, budget);
            return Ok((layout, false));
        }
        let mut table = Self::new(self.meter, self.measures, self.hasher);
        table.set_layout(layout, rows, budget);
        table.reserve(self.groups)?;
        self.for_each(|numbers, sums| {
            let [first, second] = layout.key(&numbers());
            let at = match layout.words() {
                1 if table.is_dense() => table.dense_sums(first),
                1 => table.hashed_sums([first]),
                _ => table.hashed_sums([first, second]),
            };
            for (to, sum) in table.sums.iter_mut().skip(at).zip(sums) {
                *to = *sum;
            }
        });
        *self = table;
        Ok((layout, true))
    }

    /// Sets the layout and chooses between array and hash table. The table must have no groups.
    fn set_layout(&mut self, layout: Layout, rows: usize, budget: &Budget) {
        self.layout = Some(layout);
        self.present.clear();
        self.sums.clear();
        let max_dense = rows.saturating_mul(PER_ROW).max(MIN_DENSE).min(budget.dense);
        if layout.words() == 1
            && let Some(keys) = layout.keys(max_dense)
        {
            self.slots.release();
            self.keys.release();
            let array = self.present.resize(keys, 0);
            if array.and_then(|()| self.sums.resize(keys * self.measures, 0)).is_ok() {
                return;
            }
            self.sums.release();
        }
        self.present.release();
    }

    /// Finds the groups of a batch's runs, and adds new groups.
    pub fn group(&mut self, batch: &mut Batch) -> Result<(), OutOfMemory> {
        // Every run may be a new group. Reserving first means that the loop cannot fail.
        self.reserve(batch.runs.len())?;
        if self.is_wide() {
            batch.group::<2>(|key| self.hashed_sums(key));
        } else if self.is_dense() {
            batch.group::<1>(|[key]| self.dense_sums(key));
        } else {
            batch.group::<1>(|key| self.hashed_sums(key));
        }
        Ok(())
    }

    /// The sums of all groups, concatenated.
    pub fn sums(&mut self) -> &mut [i64] {
        &mut self.sums
    }

    /// Calls `each` for every group with a function that returns the numbers of its values, and with its sums.
    pub fn for_each(&self, mut each: impl FnMut(&dyn Fn() -> [u32; KEY.len()], &[i64])) {
        let Some(layout) = self.layout else {
            return;
        };
        let sums = |at: usize| {
            let start = at * self.measures;
            self.sums.get(start..start + self.measures).unwrap_or_default()
        };
        if self.is_dense() {
            for (key, (at, _)) in
                (0_u64..).zip(self.present.iter().enumerate()).filter(|(_, (_, present))| **present != 0)
            {
                each(&|| layout.numbers(&[key]), sums(at));
            }
        } else {
            for (at, key) in self.keys.chunks_exact(layout.words()).enumerate() {
                each(&|| layout.numbers(key), sums(at));
            }
        }
    }

    /// Reserves memory for `more` groups in a hash table.
    fn reserve(&mut self, more: usize) -> Result<(), OutOfMemory> {
        let Some(layout) = self.layout.filter(|_| !self.is_dense()) else {
            return Ok(());
        };
        let groups = self.groups + more;
        self.keys.reserve(more * layout.words())?;
        self.sums.reserve(more * self.measures)?;
        if groups * 2 > self.slots.len() {
            let slots = (groups * 2).next_power_of_two();
            // The slots are rebuilt from `keys`, so the old ones are freed first.
            self.slots.release();
            self.slots.resize(slots, 0)?;
            match layout.words() {
                1 => self.fill_slots::<1>(),
                _ => self.fill_slots::<2>(),
            }
        }
        Ok(())
    }

    fn fill_slots<const W: usize>(&mut self) {
        let mask = self.slots.len().saturating_sub(1);
        for (number, key) in (1_u32..).zip(self.keys.as_chunks::<W>().0) {
            let mut at = self.hasher.home(key, mask);
            while let Some(slot) = self.slots.get_mut(at) {
                if *slot == 0 {
                    *slot = number;
                    break;
                }
                at = (at + 1) & mask;
            }
        }
    }

    /// The index of a group's sums in an array of all keys. Adds the group if it is new.
    fn dense_sums(&mut self, key: u64) -> usize {
        let key = usize::try_from(key).unwrap_or(usize::MAX);
        if let Some(present) = self.present.get_mut(key) {
            self.groups += usize::from(*present == 0);
            *present = 1;
        }
        key.saturating_mul(self.measures)
    }

    /// The index of a group's sums in a hash table. Adds the group if it is new, in memory from [`Table::reserve`].
    fn hashed_sums<const W: usize>(&mut self, key: [u64; W]) -> usize {
        let mask = self.slots.len().saturating_sub(1);
        let mut at = self.hasher.home(&key, mask);
        while let Some(slot) = self.slots.get_mut(at) {
            let group = super::to_usize(*slot);
            match group.checked_sub(1) {
                Some(group) if self.keys.as_chunks::<W>().0.get(group) == Some(&key) => {
                    return group * self.measures;
                }
                Some(_) => at = (at + 1) & mask,
                None => {
                    let start = self.sums.len();
                    self.groups += 1;
                    *slot = u32::try_from(self.groups).unwrap_or(u32::MAX);
                    let _ = self.keys.extend(&key);
                    let _ = self.sums.resize(start + self.measures, 0);
                    return start;
                }
            }
        }
        usize::MAX
    }
}

/// Hashes the keys of groups with secret factors. Whoever writes facts chooses the order of values, and so the keys. If
/// the factors were known, such a writer could flood the table with collisions. See [`crate::model::seeded_hash`].
#[derive(Clone, Copy, Debug)]
pub struct GroupHasher([u64; 2]);

impl GroupHasher {
    pub fn new(seed: u64) -> Self {
        let factor = |text: &[u8]| xxh3_64_with_seed(text, seed) | 1;
        Self([factor(b"first factor"), factor(b"second factor")])
    }

    /// The slot at which the search for a key begins. A multiplication carries bits only upwards, so the upper half is
    /// mixed into the lower half, and the result is multiplied again.
    fn home<const W: usize>(self, key: &[u64; W], mask: usize) -> usize {
        let Self([first, second]) = self;
        let mixed = key.iter().fold(0_u64, |mixed, word| (mixed.rotate_left(29) ^ word).wrapping_mul(first));
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(second);
        // 28 bits are more than the slots for the maximum number of groups need.
        usize::try_from(mixed >> 36).unwrap_or(0) & mask
    }
}

#[cfg(test)]
mod tests;
