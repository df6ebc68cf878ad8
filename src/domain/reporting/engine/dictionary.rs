//! The distinct values of a requested dimension, numbered as they are first seen. A value has one number in all segments
//! and parts, as long as a kept row has it.

use std::cmp::Ordering;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{
    metered_vec::{Meter, MeteredVec, OutOfMemory},
    size,
};

/// The most values at a time, so that three numbers fit a word of a key. A part with more is split.
pub const MAX_VALUES: usize = 1 << VALUE_BITS;
pub const VALUE_BITS: u32 = 19;

pub struct Dictionary<'m> {
    /// What values are spread by: see [`crate::model::seeded_hash`]. The same for all dictionaries of a query.
    seed: u64,
    text: MeteredVec<'m, u8>,
    /// Where each value ends in the text.
    ends: MeteredVec<'m, u32>,
    /// By hash, a value's number + 1; 0 is free. A power of two, at most half of them taken.
    slots: MeteredVec<'m, u32>,
    /// The part that last had each value.
    seen: MeteredVec<'m, u32>,
    part: u32,
    distinct: usize,
    /// The first numbers, as far as they are ranked, in the order of their values.
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

    /// What values are spread by. Parts go by its low bits, places in a dictionary by its high ones, so that the values
    /// of a part do not crowd.
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

    /// How many values the part has had.
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

    /// A value's number.
    pub fn intern(&mut self, value: &str, hash: u64) -> Result<u32, OutOfMemory> {
        if (self.len() + 1) * 2 > self.slots.len() {
            self.widen((self.slots.len() * 2).max(16))?;
        }
        let mask = self.slots.len() - 1;
        let mut at = home(hash, mask);
        while let Some(slot) = self.slots.get(at) {
            match slot.checked_sub(1) {
                Some(number) if get(&self.text, &self.ends, number) == value.as_bytes() => {
                    self.see(number);
                    return Ok(number);
                }
                Some(_) => at = (at + 1) & mask,
                None => return self.add(value, at),
            }
        }
        Err(OutOfMemory)
    }

    fn see(&mut self, number: u32) {
        if let Some(seen) = self.seen.get_mut(size(number))
            && *seen != self.part
        {
            *seen = self.part;
            self.distinct += 1;
        }
    }

    fn add(&mut self, value: &str, at: usize) -> Result<u32, OutOfMemory> {
        if self.len() >= MAX_VALUES {
            return Err(OutOfMemory);
        }
        let number = u32::try_from(self.len()).map_err(|_| OutOfMemory)?;
        let end = u32::try_from(self.text.len() + value.len()).map_err(|_| OutOfMemory)?;
        // Room for its rank is taken now, so that ranking cannot fail.
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
        self.see(number);
        Ok(number)
    }

    fn widen(&mut self, slots: usize) -> Result<(), OutOfMemory> {
        let len = self.slots.len();
        self.slots.reserve(slots.saturating_sub(len))?;
        self.slots.clear();
        self.slots.resize(slots, 0)?;
        let (text, mask, seed) = (&self.text, slots.saturating_sub(1), self.seed);
        let mut start = 0;
        for (number, end) in (1_u32..).zip(self.ends.iter()) {
            let end = size(*end);
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

    /// Ranks all values, so that comparing them is comparing numbers until there are new ones.
    pub fn rank(&mut self) {
        let Self {
            text,
            ends,
            sorted,
            ranks,
            ..
        } = self;
        let ranked = sorted.len();
        if ranked == ends.len() {
            return;
        }
        for number in (0_u32..).take(ends.len()).skip(ranked) {
            // Room was taken as the value was added.
            let _ = sorted.push(number);
        }
        // The stable sort, which takes the part that is sorted as one run.
        sorted.sort_by(|left, right| get(text, ends, *left).cmp(get(text, ends, *right)));
        let _ = ranks.resize(sorted.len(), 0);
        for (rank, number) in (0_u32..).zip(sorted.iter()) {
            if let Some(place) = ranks.get_mut(size(*number)) {
                *place = rank;
            }
        }
    }

    /// Orders two values bytewise, by their numbers.
    pub fn compare(&self, left: u32, right: u32) -> Ordering {
        if left == right {
            return Ordering::Equal;
        }
        match (self.ranks.get(size(left)), self.ranks.get(size(right))) {
            (Some(left), Some(right)) => left.cmp(right),
            _ => get(&self.text, &self.ends, left).cmp(get(&self.text, &self.ends, right)),
        }
    }

    /// All text, and where each value ends in it.
    pub fn texts(&self) -> (&[u8], &[u32]) {
        (&self.text, &self.ends)
    }

    /// Says that a value is to stay; to be called between parts, before [`Dictionary::retain`].
    pub fn mark(&mut self, number: u32) {
        if let Some(seen) = self.seen.get_mut(size(number)) {
            *seen = u32::MAX;
        }
    }

    /// Drops every value that is not marked. [`Dictionary::renumbered`] then has the new numbers, until the next part.
    pub fn retain(&mut self) {
        let (mut kept, mut kept_text, mut start) = (0_u32, 0, 0);
        for number in 0..self.ends.len() {
            let end = self.ends.get(number).map_or(start, |end| size(*end));
            let Some(seen) = self.seen.get_mut(number) else {
                break;
            };
            if *seen == u32::MAX {
                self.text.copy_within(start..end, kept_text);
                kept_text += end - start;
                if let Some(place) = self.ends.get_mut(size(kept)) {
                    *place = u32::try_from(kept_text).unwrap_or(u32::MAX);
                }
                *seen = kept;
                kept += 1;
            } else {
                *seen = u32::MAX;
            }
            start = end;
        }
        self.text.truncate(kept_text);
        self.ends.truncate(size(kept));
        self.rerank();
        self.slots.release();
        self.text.shrink();
        self.ends.shrink();
    }

    /// What is kept stays in order; only the numbers change.
    fn rerank(&mut self) {
        let mut ranked = 0;
        for at in 0..self.sorted.len() {
            let number = self.sorted.get(at).copied().unwrap_or(u32::MAX);
            let new = self.renumbered(number);
            if new == u32::MAX {
                continue;
            }
            if let Some(place) = self.sorted.get_mut(ranked) {
                *place = new;
            }
            ranked += 1;
        }
        self.sorted.truncate(ranked);
        self.ranks.truncate(ranked);
        for (rank, number) in (0_u32..).zip(self.sorted.iter()) {
            if let Some(place) = self.ranks.get_mut(size(*number)) {
                *place = rank;
            }
        }
        self.sorted.shrink();
        self.ranks.shrink();
    }

    /// The number that a value has since [`Dictionary::retain`].
    pub fn renumbered(&self, number: u32) -> u32 {
        self.seen.get(size(number)).copied().unwrap_or(u32::MAX)
    }

    /// Ends what [`Dictionary::retain`] began.
    pub fn settle(&mut self) -> Result<(), OutOfMemory> {
        self.seen.truncate(self.ends.len());
        self.seen.fill(0);
        self.seen.shrink();
        self.part = 0;
        self.distinct = 0;
        // No slots at all until there are values again, or as many as they need.
        match self.ends.len() {
            0 => Ok(()),
            len => self.widen((len * 2).next_power_of_two().max(16)),
        }
    }
}

fn home(hash: u64, mask: usize) -> usize {
    // 24 bits are more than the slots of `MAX_VALUES` need.
    usize::try_from(hash >> 40).unwrap_or(0) & mask
}

fn get<'t>(text: &'t [u8], ends: &[u32], number: u32) -> &'t [u8] {
    let number = size(number);
    let start = match number.checked_sub(1) {
        Some(before) => ends.get(before).map_or(0, |end| size(*end)),
        None => 0,
    };
    let end = ends.get(number).map_or(0, |end| size(*end));
    text.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at a dictionary of these values that finding each of them once takes.
    fn looks(values: &[String], seed: u64) -> usize {
        let meter = Meter::new(1 << 24);
        let mut dictionary = Dictionary::new(&meter, seed);
        for value in values {
            dictionary.intern(value, dictionary.hash(value)).unwrap();
        }
        let mask = dictionary.slots.len() - 1;
        let taken = dictionary
            .slots
            .iter()
            .enumerate()
            .filter(|(_, slot)| **slot != 0);
        taken
            .map(|(at, slot)| {
                let home = home(dictionary.hash(&values[*slot as usize - 1]), mask);
                ((at + mask + 1 - home) & mask) + 1
            })
            .sum()
    }

    #[test]
    fn values_that_crowd_under_one_seed_are_spread_under_another() {
        let (count, mask) = (500, 1_023);
        let crowding: Vec<String> = (0..)
            .map(|n| format!("placement-{n}"))
            .filter(|value| home(xxh3_64_with_seed(value.as_bytes(), 0), mask) == 0)
            .take(count)
            .collect();
        assert!(looks(&crowding, 0) > count * count / 2);
        for seed in [1, 7, 1 << 40, u64::MAX] {
            let looks = looks(&crowding, seed);
            assert!(looks < count * 3, "{looks} looks under the seed {seed}");
        }
    }
}
