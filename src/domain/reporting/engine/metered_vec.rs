//! Vectors that charge their memory to the query's budget and fail to grow beyond it.

use std::{
    cell::Cell,
    ops::{Deref, DerefMut},
};

/// The budget or the allocator has no more memory. The vector is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

/// Counts the bytes of all vectors that share it.
pub struct Meter {
    limit: usize,
    used: Cell<usize>,
}

impl Meter {
    pub fn new(limit: usize) -> Self {
        Self { limit, used: Cell::new(0) }
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    fn charge(&self, bytes: usize) -> Result<(), OutOfMemory> {
        let used = self.used.get().checked_add(bytes).ok_or(OutOfMemory)?;
        if used > self.limit {
            return Err(OutOfMemory);
        }
        self.used.set(used);
        Ok(())
    }

    fn refund(&self, bytes: usize) {
        self.used.set(self.used.get().saturating_sub(bytes));
    }
}

/// A vector whose memory is charged to a meter.
pub struct MeteredVec<'m, T> {
    items: Vec<T>,
    meter: &'m Meter,
    charged: usize,
}

impl<'m, T: Copy> MeteredVec<'m, T> {
    pub fn new(meter: &'m Meter) -> Self {
        Self { items: Vec::new(), meter, charged: 0 }
    }

    /// The bytes that are charged for this vector.
    pub fn bytes(&self) -> usize {
        self.charged
    }

    /// Reserves memory for `more` items, so that adding them cannot fail.
    pub fn reserve(&mut self, more: usize) -> Result<(), OutOfMemory> {
        let needed = self.items.len().checked_add(more).ok_or(OutOfMemory)?;
        if needed <= self.items.capacity() {
            return Ok(());
        }
        // The vector doubles its capacity, or grows by 12.5 % if doubling takes too much memory. It never grows by
        // less, because reallocating for each item would take quadratic time.
        let capacity = self.items.capacity();
        self.grow(needed.max(capacity.saturating_mul(2)))
            .or_else(|OutOfMemory| self.grow(needed.max(capacity.saturating_add(capacity / 8))))
    }

    fn grow(&mut self, capacity: usize) -> Result<(), OutOfMemory> {
        // The old allocation stays charged, because both allocations exist while the items move.
        let bytes = capacity.checked_mul(size_of::<T>()).ok_or(OutOfMemory)?;
        self.meter.charge(bytes)?;
        let more = capacity.saturating_sub(self.items.len());
        if self.items.try_reserve_exact(more).is_err() {
            self.meter.refund(bytes);
            return Err(OutOfMemory);
        }
        self.meter.refund(self.charged);
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

    /// Removes all items and keeps the memory.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// Removes all items and frees the memory.
    pub fn release(&mut self) {
        self.items = Vec::new();
        self.meter.refund(self.charged);
        self.charged = 0;
    }

    /// Frees the unused capacity.
    pub fn shrink(&mut self) {
        self.items.shrink_to_fit();
        let bytes = self.items.capacity().saturating_mul(size_of::<T>());
        self.meter.refund(self.charged.saturating_sub(bytes));
        self.charged = self.charged.min(bytes);
    }
}

impl<T> Drop for MeteredVec<'_, T> {
    fn drop(&mut self) {
        self.meter.refund(self.charged);
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
    fn a_vector_stays_within_the_meter_and_refunds_its_memory() {
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
    fn a_vector_near_the_limit_still_moves_seldom() {
        let meter = Meter::new(100_000);
        let mut vec = MeteredVec::<u8>::new(&meter);
        let mut moves = 0;
        loop {
            let before = vec.items.capacity();
            if vec.push(0).is_err() {
                break;
            }
            moves += usize::from(vec.items.capacity() != before);
        }
        assert!(vec.len() > 40_000 && moves < 40, "{} {moves}", vec.len());
    }

    #[test]
    fn both_allocations_are_charged_while_a_vector_moves() {
        let meter = Meter::new(100);
        let mut vec = MeteredVec::<u8>::new(&meter);
        vec.resize(60, 0).unwrap();
        assert_eq!(vec.push(0), Err(OutOfMemory));
        assert_eq!((vec.len(), meter.used.get()), (60, 60));
    }
}
