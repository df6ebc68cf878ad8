//! The groups of a part, and their sums: in an array of all possible keys if these are few, else in a hash table.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{
    Budget,
    batch::Batch,
    layout::Layout,
    metered_vec::{Meter, MeteredVec, OutOfMemory},
};
use crate::reporting::dimension::KEY;

/// An array of all keys is taken up to this many whatever the rows, and up to [`PER_ROW`] times the rows.
const FEW: usize = 1 << 10;
const PER_ROW: usize = 2;

pub struct Table<'m> {
    meter: &'m Meter,
    mix: Mix,
    layout: Option<Layout>,
    measures: usize,
    groups: usize,
    /// In an array of all keys: whether a group is there. Empty in a hash table.
    present: MeteredVec<'m, u8>,
    /// In a hash table: a group's number + 1; 0 is free. A power of two, at most half of them taken.
    slots: MeteredVec<'m, u32>,
    /// In a hash table: the words of each group's key.
    keys: MeteredVec<'m, u64>,
    sums: MeteredVec<'m, i64>,
}

impl<'m> Table<'m> {
    pub fn new(meter: &'m Meter, measures: usize, mix: Mix) -> Self {
        Self {
            meter,
            mix,
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

    /// Without groups; the memory stays.
    pub fn clear(&mut self) {
        self.layout = None;
        self.groups = 0;
        self.present.clear();
        self.slots.fill(0);
        self.keys.clear();
        self.sums.clear();
    }

    /// Without groups and memory.
    pub fn release(&mut self) {
        self.clear();
        self.present.release();
        self.slots.release();
        self.keys.release();
        self.sums.release();
    }

    /// The layout for dictionaries of these lengths, in a part of `rows` rows; whether groups that were there had to move.
    pub fn fit(
        &mut self,
        lengths: impl Iterator<Item = usize> + Clone,
        rows: usize,
        budget: &Budget,
    ) -> Result<(Layout, bool), OutOfMemory> {
        if let Some(layout) = self.layout
            && layout.holds(lengths.clone())
        {
            return Ok((layout, false));
        }
        let layout = Layout::of(lengths);
        if self.groups == 0 {
            self.lay_out(layout, rows, budget);
            return Ok((layout, false));
        }
        let mut table = Self::new(self.meter, self.measures, self.mix);
        table.lay_out(layout, rows, budget);
        table.reserve(self.groups)?;
        self.for_each(|numbers, sums| {
            let [first, second] = layout.key(&numbers());
            let at = match layout.words() {
                1 if table.is_dense() => table.place(first),
                1 => table.find([first]),
                _ => table.find([first, second]),
            };
            for (to, sum) in table.sums.iter_mut().skip(at).zip(sums) {
                *to = *sum;
            }
        });
        *self = table;
        Ok((layout, true))
    }

    /// Takes a layout while there are no groups.
    fn lay_out(&mut self, layout: Layout, rows: usize, budget: &Budget) {
        self.layout = Some(layout);
        self.present.clear();
        self.sums.clear();
        let few = rows.saturating_mul(PER_ROW).max(FEW).min(budget.dense);
        if layout.words() == 1
            && let Some(keys) = layout.keys(few)
        {
            self.slots.release();
            self.keys.release();
            let array = self.present.resize(keys, 0);
            if array
                .and_then(|()| self.sums.resize(keys * self.measures, 0))
                .is_ok()
            {
                return;
            }
            self.sums.release();
        }
        self.present.release();
    }

    /// Finds the groups of a batch's runs, and adds those that are new.
    pub fn group(&mut self, batch: &mut Batch) -> Result<(), OutOfMemory> {
        // As many as there can be: within the loop nothing can fail.
        self.reserve(batch.runs.len())?;
        if self.is_wide() {
            batch.group::<2>(|key| self.find(key));
        } else if self.is_dense() {
            batch.group::<1>(|[key]| self.place(key));
        } else {
            batch.group::<1>(|key| self.find(key));
        }
        Ok(())
    }

    /// The sums of all groups, one group after the other.
    pub fn sums(&mut self) -> &mut [i64] {
        &mut self.sums
    }

    /// Calls `each` with every group's sums, and what gives the numbers of its values.
    pub fn for_each(&self, mut each: impl FnMut(&dyn Fn() -> [u32; KEY.len()], &[i64])) {
        let Some(layout) = self.layout else {
            return;
        };
        let sums = |at: usize| {
            let start = at * self.measures;
            self.sums.get(start..start + self.measures).unwrap_or_default()
        };
        if self.is_dense() {
            for (key, (at, _)) in (0_u64..)
                .zip(self.present.iter().enumerate())
                .filter(|(_, (_, present))| **present != 0)
            {
                each(&|| layout.numbers(&[key]), sums(at));
            }
        } else {
            for (at, key) in self.keys.chunks_exact(layout.words()).enumerate() {
                each(&|| layout.numbers(key), sums(at));
            }
        }
    }

    /// Makes room in a hash table for so many groups more.
    fn reserve(&mut self, more: usize) -> Result<(), OutOfMemory> {
        let Some(layout) = self.layout.filter(|_| !self.is_dense()) else {
            return Ok(());
        };
        let groups = self.groups + more;
        self.keys.reserve(more * layout.words())?;
        self.sums.reserve(more * self.measures)?;
        if groups * 2 > self.slots.len() {
            let slots = (groups * 2).next_power_of_two();
            // The groups are in `keys`: what is there now is not needed to make the next.
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
            let mut at = self.mix.home(key, mask);
            while let Some(slot) = self.slots.get_mut(at) {
                if *slot == 0 {
                    *slot = number;
                    break;
                }
                at = (at + 1) & mask;
            }
        }
    }

    /// Where a group's sums begin in an array of all keys.
    fn place(&mut self, key: u64) -> usize {
        let key = usize::try_from(key).unwrap_or(usize::MAX);
        if let Some(present) = self.present.get_mut(key) {
            self.groups += usize::from(*present == 0);
            *present = 1;
        }
        key.saturating_mul(self.measures)
    }

    /// Where a group's sums begin in a hash table. There is room for it, see [`Table::reserve`].
    fn find<const W: usize>(&mut self, key: [u64; W]) -> usize {
        let mask = self.slots.len().saturating_sub(1);
        let mut at = self.mix.home(&key, mask);
        while let Some(slot) = self.slots.get_mut(at) {
            let group = super::size(*slot);
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

/// Spreads groups over a hash table. Their keys are made of numbers that go by the order of values, which whoever writes
/// the facts can choose: so the factors come from a seed that is not known outside, see [`crate::model::seeded_hash`].
#[derive(Clone, Copy, Debug)]
pub struct Mix([u64; 2]);

impl Mix {
    pub fn of(seed: u64) -> Self {
        let factor = |text: &[u8]| xxh3_64_with_seed(text, seed) | 1;
        Self([factor(b"first factor"), factor(b"second factor")])
    }

    /// A multiplication carries every bit to the upper ones and nothing down: so the upper half is mixed into the lower
    /// one, and carried up again.
    fn home<const W: usize>(self, key: &[u64; W], mask: usize) -> usize {
        let Self([first, second]) = self;
        let mixed = key.iter().fold(0_u64, |mixed, word| {
            (mixed.rotate_left(29) ^ word).wrapping_mul(first)
        });
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(second);
        // 28 bits are more than the slots of all groups that there may be.
        usize::try_from(mixed >> 36).unwrap_or(0) & mask
    }
}

#[cfg(test)]
mod tests;
