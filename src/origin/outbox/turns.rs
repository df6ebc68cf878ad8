//! One thing at a time by a key: the conversions of a click, whose second finds what the first one left.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use crate::origin::sharing::{self, Sharing};

/// Those that have a turn or wait for theirs, by key.
#[derive(Debug, Default)]
pub struct Turns(RefCell<HashMap<Vec<u8>, Rc<Sharing<()>>>>);

/// A place in the line of a key. Dropped, by a panic too, it leaves nothing behind.
#[derive(Debug)]
pub struct Turn<'t> {
    turns: &'t Turns,
    key: &'t [u8],
    line: Rc<Sharing<()>>,
}

impl Turns {
    /// Gets in line.
    pub fn of<'t>(&'t self, key: &'t [u8]) -> Turn<'t> {
        let mut turns = self.0.borrow_mut();
        let line = Rc::clone(turns.entry(key.to_vec()).or_default());
        Turn {
            turns: self,
            key,
            line,
        }
    }
}

impl Turn<'_> {
    /// Waits until it is its turn, which lasts for as long as what this returns.
    pub async fn come(&self) -> sharing::Turn<'_, ()> {
        self.line.turn().await
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // Its own, and that of the table.
        if Rc::strong_count(&self.line) <= 2 {
            self.turns.0.borrow_mut().remove(self.key);
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
        let turns = Turns::default();
        let (first, second, other) = (turns.of(b"a"), turns.of(b"a"), turns.of(b"b"));
        let had = first.come().now_or_never().unwrap();
        assert!(second.come().now_or_never().is_none());
        assert!(other.come().now_or_never().is_some());
        drop(had);
        drop(first);
        // One that comes now stands behind the second.
        let third = turns.of(b"a");
        let _had = second.come().now_or_never().unwrap();
        assert!(third.come().now_or_never().is_none());
    }

    #[test]
    fn nothing_is_left_of_those_that_had_their_turn_or_panicked() {
        let turns = Turns::default();
        let first = turns.of(b"a");
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let second = turns.of(b"a");
            let _had = second.come().now_or_never().unwrap();
            panic!("in its turn");
        }));
        assert!(panicked.is_err());
        assert_eq!(turns.0.borrow().len(), 1);
        assert!(first.come().now_or_never().is_some());
        drop(first);
        assert_eq!(turns.0.borrow().len(), 0);
    }
}
