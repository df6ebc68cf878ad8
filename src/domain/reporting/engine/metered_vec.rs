//! Memory that is counted: lists that grow only within what the query may take, and say so when they cannot.

use std::{
    cell::Cell,
    ops::{Deref, DerefMut},
};

/// There is no memory for more; what was there is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

/// Counts the bytes of all stores that share it.
pub struct Meter {
    limit: usize,
    used: Cell<usize>,
}

impl Meter {
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            used: Cell::new(0),
        }
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    fn take(&self, bytes: usize) -> Result<(), OutOfMemory> {
        let used = self.used.get().checked_add(bytes).ok_or(OutOfMemory)?;
        if used > self.limit {
            return Err(OutOfMemory);
        }
        self.used.set(used);
        Ok(())
    }

    fn give(&self, bytes: usize) {
        self.used.set(self.used.get().saturating_sub(bytes));
    }
}

/// A list whose memory is counted.
pub struct MeteredVec<'m, T> {
    items: Vec<T>,
    meter: &'m Meter,
    charged: usize,
}

impl<'m, T: Copy> MeteredVec<'m, T> {
    pub fn new(meter: &'m Meter) -> Self {
        Self {
            items: Vec::new(),
            meter,
            charged: 0,
        }
    }

    /// The bytes that are counted for it.
    pub fn bytes(&self) -> usize {
        self.charged
    }

    /// Makes room for more items, so that adding them cannot fail.
    pub fn reserve(&mut self, more: usize) -> Result<(), OutOfMemory> {
        let needed = self.items.len().checked_add(more).ok_or(OutOfMemory)?;
        if needed <= self.items.capacity() {
            return Ok(());
        }
        // Doubled, so that items move seldom, or an eighth more when that is too much; not less, since a list that moves
        // for each item takes time without end.
        let capacity = self.items.capacity();
        self.grow(needed.max(capacity.saturating_mul(2)))
            .or_else(|OutOfMemory| self.grow(needed.max(capacity.saturating_add(capacity / 8))))
    }

    fn grow(&mut self, capacity: usize) -> Result<(), OutOfMemory> {
        // Counted besides what is there: while items move, both are.
        let bytes = capacity.checked_mul(size_of::<T>()).ok_or(OutOfMemory)?;
        self.meter.take(bytes)?;
        let more = capacity.saturating_sub(self.items.len());
        if self.items.try_reserve_exact(more).is_err() {
            self.meter.give(bytes);
            return Err(OutOfMemory);
        }
        self.meter.give(self.charged);
        self.charged = bytes;
        Ok(())
    }

    pub fn push(&mut self, item: T) -> Result<(), OutOfMemory> {
        self.reserve(1)?;
        self.items.push(item);
        Ok(())
    }

    pub fn extend(&mut self, items: &[T]) -> Result<(), OutOfMemory> {
        self.reserve(items.len())?;
        self.items.extend_from_slice(items);
        Ok(())
    }

    pub fn resize(&mut self, len: usize, item: T) -> Result<(), OutOfMemory> {
        self.reserve(len.saturating_sub(self.items.len()))?;
        self.items.resize(len, item);
        Ok(())
    }

    pub fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }

    /// Without items; the memory stays.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// Without items and memory.
    pub fn release(&mut self) {
        self.items = Vec::new();
        self.meter.give(self.charged);
        self.charged = 0;
    }

    /// Gives back the memory that items do not take.
    pub fn shrink(&mut self) {
        self.items.shrink_to_fit();
        let bytes = self.items.capacity().saturating_mul(size_of::<T>());
        self.meter.give(self.charged.saturating_sub(bytes));
        self.charged = self.charged.min(bytes);
    }
}

impl<T> Drop for MeteredVec<'_, T> {
    fn drop(&mut self) {
        self.meter.give(self.charged);
    }
}

impl<T> Deref for MeteredVec<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> DerefMut for MeteredVec<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_takes_no_more_than_there_is_and_gives_it_back() {
        let meter = Meter::new(1_000);
        let mut first = MeteredVec::<u64>::new(&meter);
        first.resize(100, 7).unwrap();
        let mut second = MeteredVec::<u64>::new(&meter);
        assert_eq!(second.resize(26, 0), Err(OutOfMemory));
        assert_eq!(second.resize(25, 0), Ok(()));
        assert_eq!(second.push(0), Err(OutOfMemory));
        assert_eq!((first.len(), second.len(), meter.used.get()), (100, 25, 1_000));
        first.truncate(10);
        first.shrink();
        assert_eq!(meter.used.get(), 280);
        second.release();
        drop(first);
        assert_eq!(meter.used.get(), 0);
    }

    #[test]
    fn a_store_near_the_limit_still_moves_seldom() {
        let meter = Meter::new(100_000);
        let mut store = MeteredVec::<u8>::new(&meter);
        let mut moves = 0;
        loop {
            let before = store.items.capacity();
            if store.push(0).is_err() {
                break;
            }
            moves += usize::from(store.items.capacity() != before);
        }
        assert!(store.len() > 40_000 && moves < 40, "{} {moves}", store.len());
    }

    #[test]
    fn while_a_store_moves_both_places_are_counted() {
        let meter = Meter::new(100);
        let mut store = MeteredVec::<u8>::new(&meter);
        store.resize(60, 0).unwrap();
        assert_eq!(store.push(0), Err(OutOfMemory));
        assert_eq!((store.len(), meter.used.get()), (60, 60));
    }
}
