//! Locks by click: conversions of one click run one after the other, so that each sees the rows of the one before.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use platform::single_flight::{Leader, SingleFlight};

/// The locks that are held or waited for, by key.
#[derive(Debug, Default)]
pub struct ClickLocks {
    locks: RefCell<HashMap<Vec<u8>, Rc<SingleFlight<()>>>>,
    is_off: bool,
}

/// A position in the queue of a key. Dropping it, also by a panic, removes all traces of it.
#[derive(Debug)]
pub struct ClickLock<'t> {
    locks: &'t ClickLocks,
    key: &'t [u8],
    queue: Rc<SingleFlight<()>>,
}

impl ClickLocks {
    /// Locks that never wait. With them the simulation shows that correctness depends on the transactions alone.
    pub fn off() -> Self {
        Self {
            is_off: true,
            ..Self::default()
        }
    }

    /// Joins the queue of a key.
    pub fn join<'t>(&'t self, key: &'t [u8]) -> ClickLock<'t> {
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
    /// Waits for the lock, which is held until the returned value is dropped.
    pub async fn acquire(&self) -> Leader<'_, ()> {
        self.queue.lead().await
    }
}

impl Drop for ClickLock<'_> {
    fn drop(&mut self) {
        // Two references, this one and the table's, mean that nobody else waits.
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
    fn a_second_conversion_of_a_click_waits_and_another_click_does_not() {
        let locks = ClickLocks::default();
        let (first, second, other) = (locks.join(b"a"), locks.join(b"a"), locks.join(b"b"));
        let held = first.acquire().now_or_never().unwrap();
        assert!(second.acquire().now_or_never().is_none());
        assert!(other.acquire().now_or_never().is_some());
        drop(held);
        drop(first);
        // A newcomer queues behind the second.
        let third = locks.join(b"a");
        let _held = second.acquire().now_or_never().unwrap();
        assert!(third.acquire().now_or_never().is_none());
    }

    #[test]
    fn locks_are_removed_after_use_and_after_a_panic() {
        let locks = ClickLocks::default();
        let first = locks.join(b"a");
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let second = locks.join(b"a");
            let _held = second.acquire().now_or_never().unwrap();
            panic!("while holding the lock");
        }));
        assert!(panicked.is_err());
        assert_eq!(locks.locks.borrow().len(), 1);
        assert!(first.acquire().now_or_never().is_some());
        drop(first);
        assert_eq!(locks.locks.borrow().len(), 0);
    }
}
