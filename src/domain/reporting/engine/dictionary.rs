//! Numbers the distinct values of a requested dimension as they are first seen. A value keeps its number across
//! segments and parts, as long as a kept row has it.

use std::cmp::Ordering;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{
    metered_vec::{Meter, MeteredVec, OutOfMemory},
    to_usize,
};

/// Maximum number of values at a time, so that three numbers fit one word of a key. A part with more values is split.
pub const MAX_VALUES: usize = 1 << VALUE_BITS;
pub const VALUE_BITS: u32 = 19;

pub struct Dictionary<'m> {
    /// The hash seed, see [`crate::model::seeded_hash`]. All dictionaries of a query share it.
    seed: u64,
    text: MeteredVec<'m, u8>,
    /// The end of each value in `text`.
    ends: MeteredVec<'m, u32>,
    /// The hash table. A slot has a value's number + 1, or 0 if it is free. The number of slots is a power of two, and
    /// at most half are taken.
    slots: MeteredVec<'m, u32>,
    /// The last part in which each value occurred.
    seen: MeteredVec<'m, u32>,
    part: u32,
    distinct: usize,
    /// Numbers of the ranked values, sorted by value. Ranked values have the lowest numbers.
    sorted: MeteredVec<'m, u32>,
    ranks: MeteredVec<'m, u32>,
}

impl<'m> Dictionary<'m> {
    pub fn new(meter: &'m Meter, seed: u64) -> Self {
        Self {
            seed,
            text: MeteredVec::new(meter),
            ends: MeteredVec::new(meter),
            slots: MeteredVec::new(meter),
            seen: MeteredVec::new(meter),
            part: 0,
            distinct: 0,
            sorted: MeteredVec::new(meter),
            ranks: MeteredVec::new(meter),
        }
    }

    /// The hash of a value. Parts use the low bits and slots use the high bits, so that the values of one part are
    /// spread over all slots.
    pub fn hash(&self, value: &str) -> u64 {
        xxh3_64_with_seed(value.as_bytes(), self.seed)
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn bytes(&self) -> usize {
        let numbers = [&self.ends, &self.slots, &self.seen, &self.sorted, &self.ranks];
        self.text.bytes() + numbers.map(MeteredVec::bytes).iter().sum::<usize>()
    }

    /// The number of distinct values in the current part.
    pub fn distinct(&self) -> usize {
        self.distinct
    }

    pub fn begin_part(&mut self) {
        if self.part >= u32::MAX - 1 {
            self.seen.fill(0);
            self.part = 0;
        }
        self.part += 1;
        self.distinct = 0;
    }

    /// Returns the number of a value. Adds the value if it is new.
    pub fn intern(&mut self, value: &str, hash: u64) -> Result<u32, OutOfMemory> {
        if (self.len() + 1) * 2 > self.slots.len() {
            self.rehash((self.slots.len() * 2).max(16))?;
        }
        let mask = self.slots.len() - 1;
        let mut at = home(hash, mask);
        while let Some(slot) = self.slots.get(at) {
            match slot.checked_sub(1) {
                Some(number) if get(&self.text, &self.ends, number) == value.as_bytes() => {
                    self.mark_seen(number);
                    return Ok(number);
                }
                Some(_) => at = (at + 1) & mask,
                None => return self.insert(value, at),
            }
        }
        Err(OutOfMemory)
    }

    fn mark_seen(&mut self, number: u32) {
        if let Some(seen) = self.seen.get_mut(to_usize(number))
            && *seen != self.part
        {
            *seen = self.part;
            self.distinct += 1;
        }
    }

    fn insert(&mut self, value: &str, at: usize) -> Result<u32, OutOfMemory> {
        if self.len() >= MAX_VALUES {
            return Err(OutOfMemory);
        }
        let number = u32::try_from(self.len()).map_err(|_| OutOfMemory)?;
        let end = u32::try_from(self.text.len() + value.len()).map_err(|_| OutOfMemory)?;
        // Memory for the value's rank is reserved now, so that ranking cannot fail.
        self.sorted.reserve(self.ends.len() + 1 - self.sorted.len())?;
        self.ranks.reserve(self.ends.len() + 1 - self.ranks.len())?;
        self.ends.reserve(1)?;
        self.text.reserve(value.len())?;
        self.seen.push(0)?;
        self.text.extend(value.as_bytes())?;
        self.ends.push(end)?;
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = number + 1;
        }
        self.mark_seen(number);
        Ok(number)
    }

    fn rehash(&mut self, slots: usize) -> Result<(), OutOfMemory> {
        let len = self.slots.len();
        self.slots.reserve(slots.saturating_sub(len))?;
        self.slots.clear();
        self.slots.resize(slots, 0)?;
        let (text, mask, seed) = (&self.text, slots.saturating_sub(1), self.seed);
        let mut start = 0;
        for (number, end) in (1_u32..).zip(self.ends.iter()) {
            let end = to_usize(*end);
            let value = text.get(start..end).unwrap_or_default();
            let mut at = home(xxh3_64_with_seed(value, seed), mask);
            while let Some(slot) = self.slots.get_mut(at) {
                if *slot == 0 {
                    *slot = number;
                    break;
                }
                at = (at + 1) & mask;
            }
            start = end;
        }
        Ok(())
    }

    /// Ranks all values. Until new values arrive, two values are then compared by their ranks.
    pub fn rank(&mut self) {
        let Self { text, ends, sorted, ranks, .. } = self;
        let ranked = sorted.len();
        if ranked == ends.len() {
            return;
        }
        for number in (0_u32..).take(ends.len()).skip(ranked) {
            // Cannot fail: the memory was reserved when the value was added.
            let _ = sorted.push(number);
        }
        // The stable sort treats the sorted prefix as one run.
        sorted.sort_by(|left, right| get(text, ends, *left).cmp(get(text, ends, *right)));
        let _ = ranks.resize(sorted.len(), 0);
        for (rank, number) in (0_u32..).zip(sorted.iter()) {
            if let Some(slot) = ranks.get_mut(to_usize(*number)) {
                *slot = rank;
            }
        }
    }

    /// Compares two values bytewise, given their numbers.
    pub fn compare(&self, left: u32, right: u32) -> Ordering {
        if left == right {
            return Ordering::Equal;
        }
        match (self.ranks.get(to_usize(left)), self.ranks.get(to_usize(right))) {
            (Some(left), Some(right)) => left.cmp(right),
            _ => get(&self.text, &self.ends, left).cmp(get(&self.text, &self.ends, right)),
        }
    }

    /// The text of all values, and the end of each value in it.
    pub fn texts(&self) -> (&[u8], &[u32]) {
        (&self.text, &self.ends)
    }

    /// Marks a value, so that [`Dictionary::retain`] keeps it. Called between parts.
    pub fn mark(&mut self, number: u32) {
        if let Some(seen) = self.seen.get_mut(to_usize(number)) {
            *seen = u32::MAX;
        }
    }

    /// Drops every unmarked value. [`Dictionary::new_number`] then returns the new numbers until the next part.
    pub fn retain(&mut self) {
        let (mut kept, mut kept_text, mut start) = (0_u32, 0, 0);
        for number in 0..self.ends.len() {
            let end = self.ends.get(number).map_or(start, |end| to_usize(*end));
            let Some(seen) = self.seen.get_mut(number) else {
                break;
            };
            if *seen == u32::MAX {
                self.text.copy_within(start..end, kept_text);
                kept_text += end - start;
                if let Some(slot) = self.ends.get_mut(to_usize(kept)) {
                    *slot = u32::try_from(kept_text).unwrap_or(u32::MAX);
                }
                *seen = kept;
                kept += 1;
            } else {
                *seen = u32::MAX;
            }
            start = end;
        }
        self.text.truncate(kept_text);
        self.ends.truncate(to_usize(kept));
        self.renumber_ranks();
        self.slots.release();
        self.text.shrink();
        self.ends.shrink();
    }

    /// Updates the ranks after values were dropped. The kept values stay in order; only their numbers change.
    fn renumber_ranks(&mut self) {
        let mut ranked = 0;
        for at in 0..self.sorted.len() {
            let number = self.sorted.get(at).copied().unwrap_or(u32::MAX);
            let new = self.new_number(number);
            if new == u32::MAX {
                continue;
            }
            if let Some(slot) = self.sorted.get_mut(ranked) {
                *slot = new;
            }
            ranked += 1;
        }
        self.sorted.truncate(ranked);
        self.ranks.truncate(ranked);
        for (rank, number) in (0_u32..).zip(self.sorted.iter()) {
            if let Some(slot) = self.ranks.get_mut(to_usize(*number)) {
                *slot = rank;
            }
        }
        self.sorted.shrink();
        self.ranks.shrink();
    }

    /// The number of a value after [`Dictionary::retain`], given its number before.
    pub fn new_number(&self, number: u32) -> u32 {
        self.seen.get(to_usize(number)).copied().unwrap_or(u32::MAX)
    }

    /// Completes [`Dictionary::retain`], once the caller has updated the numbers that it holds.
    pub fn finish_retain(&mut self) -> Result<(), OutOfMemory> {
        self.seen.truncate(self.ends.len());
        self.seen.fill(0);
        self.seen.shrink();
        self.part = 0;
        self.distinct = 0;
        // Without values there are no slots until the next value is added.
        match self.ends.len() {
            0 => Ok(()),
            len => self.rehash((len * 2).next_power_of_two().max(16)),
        }
    }
}

fn home(hash: u64, mask: usize) -> usize {
    // The slot where the search begins. 24 bits are more than the slots of `MAX_VALUES` need.
    usize::try_from(hash >> 40).unwrap_or(0) & mask
}

fn get<'t>(text: &'t [u8], ends: &[u32], number: u32) -> &'t [u8] {
    let number = to_usize(number);
    let start = match number.checked_sub(1) {
        Some(before) => ends.get(before).map_or(0, |end| to_usize(*end)),
        None => 0,
    };
    let end = ends.get(number).map_or(0, |end| to_usize(*end));
    text.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporting::engine::testing;

    /// The slots that are probed to find each of these values once.
    fn probes(values: &[String], seed: u64) -> usize {
        let meter = Meter::new(1 << 24);
        let mut dictionary = Dictionary::new(&meter, seed);
        for value in values {
            dictionary.intern(value, dictionary.hash(value)).unwrap();
        }
        let mask = dictionary.slots.len() - 1;
        testing::probes(&dictionary.slots, |number| home(dictionary.hash(&values[number]), mask))
    }

    #[test]
    fn values_that_collide_under_one_seed_are_spread_under_another() {
        let (count, mask) = (500, 1_023);
        let colliding: Vec<String> = (0..)
            .map(|n| format!("placement-{n}"))
            .filter(|value| home(xxh3_64_with_seed(value.as_bytes(), 0), mask) == 0)
            .take(count)
            .collect();
        assert!(probes(&colliding, 0) > count * count / 2);
        for seed in [1, 7, 1 << 40, u64::MAX] {
            let probes = probes(&colliding, seed);
            assert!(probes < count * 3, "{probes} probes under the seed {seed}");
        }
    }
}
