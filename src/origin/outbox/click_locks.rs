//! Locks by key: one conversion of a click at a time, so that the second finds the rows of the first.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use platform::single_flight::{Leader, SingleFlight};

/// The locks that are held or waited for, by key.
#[derive(Debug, Default)]
pub struct ClickLocks {
    locks: RefCell<HashMap<Vec<u8>, Rc<SingleFlight<()>>>>,
    is_off: bool,
}

/// A place in the queue of a key. Dropped, by a panic too, it leaves nothing behind.
#[derive(Debug)]
pub struct ClickLock<'t> {
    locks: &'t ClickLocks,
    key: &'t [u8],
    queue: Rc<SingleFlight<()>>,
}

impl ClickLocks {
    /// Locks that never wait. The simulation shows with them that correctness rests on the transactions alone.
    pub fn off() -> Self {
        Self {
            is_off: true,
            ..Self::default()
        }
    }

    /// Joins the queue of a key.
    pub fn of<'t>(&'t self, key: &'t [u8]) -> ClickLock<'t> {
        let queue = if self.is_off {
            Rc::default()
        } else {
            Rc::clone(self.locks.borrow_mut().entry(key.to_vec()).or_default())
        };
        ClickLock {
            locks: self,
            key,
            queue,
        }
    }
}

impl ClickLock<'_> {
    /// Waits for the lock, which is held for as long as the returned value lives.
    pub async fn acquire(&self) -> Leader<'_, ()> {
        self.queue.lead().await
    }
}

impl Drop for ClickLock<'_> {
    fn drop(&mut self) {
        // Its own, and that of the table.
        if !self.locks.is_off && Rc::strong_count(&self.queue) <= 2 {
            self.locks.locks.borrow_mut().remove(self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn the_second_of_a_key_waits_and_another_key_does_not() {
        let turns = ClickLocks::default();
        let (first, second, other) = (turns.of(b"a"), turns.of(b"a"), turns.of(b"b"));
        let had = first.acquire().now_or_never().unwrap();
        assert!(second.acquire().now_or_never().is_none());
        assert!(other.acquire().now_or_never().is_some());
        drop(had);
        drop(first);
        // One that comes now stands behind the second.
        let third = turns.of(b"a");
        let _had = second.acquire().now_or_never().unwrap();
        assert!(third.acquire().now_or_never().is_none());
    }

    #[test]
    fn nothing_is_left_of_those_that_had_their_turn_or_panicked() {
        let turns = ClickLocks::default();
        let first = turns.of(b"a");
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let second = turns.of(b"a");
            let _had = second.acquire().now_or_never().unwrap();
            panic!("in its turn");
        }));
        assert!(panicked.is_err());
        assert_eq!(turns.locks.borrow().len(), 1);
        assert!(first.acquire().now_or_never().is_some());
        drop(first);
        assert_eq!(turns.locks.borrow().len(), 0);
    }
}
