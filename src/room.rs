//! Room for a bounded number of things under way, of which no owner may take more than a share: what an isolate or an
//! object takes on at a time. Beyond it a request is refused at once, so that what waits takes bounded memory and bounded
//! time, and one tenant leaves room for the others.
//!
//! Numbers and not times decide: the clock of a Worker stands still between two I/O events, so that how long something
//! waited for the processor cannot be told.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use xxhash_rust::xxh64::xxh64;

use crate::refusal::{Refusal, common};

/// How much there is room for.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    pub places: usize,
    /// What one owner may take of them.
    pub share: usize,
    /// After this many milliseconds a place is free whatever became of who took it. It is a net: a place comes back as it
    /// is dropped, but the runtime may let go of a request without another word to it, and then nothing is dropped.
    pub lasts_ms: i64,
}

/// Places, and who has them.
#[derive(Debug)]
pub struct Room {
    bound: Bound,
    state: Rc<RefCell<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Until when each is taken, and by which part of which owner, by the number of its [`Place`].
    taken: BTreeMap<u64, (i64, [u64; 2])>,
    last: u64,
    refused: u64,
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Place {
    state: Rc<RefCell<State>>,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.state.borrow_mut().taken.remove(&self.number);
    }
}

impl Room {
    pub fn new(bound: Bound) -> Self {
        Self {
            bound,
            state: Rc::default(),
        }
    }

    /// Takes a place for an owner: an app, a publisher, an offer; whatever has an object of its own.
    ///
    /// # Errors
    /// [`BUSY`](common::BUSY) if none is left, or none of the owner's share.
    pub fn enter(&self, owner: &str, now_ms: i64) -> Result<Place, Refusal> {
        self.enter_part(owner, (owner, self.bound.share), now_ms)
    }

    /// Takes a place for a part of an owner, a key of a publisher, which has a smaller share of its own: so it leaves room
    /// for the other parts, and all parts together for other owners. No part is called as an owner is.
    ///
    /// # Errors
    /// [`BUSY`](common::BUSY) if none is left, or none of either share.
    pub fn enter_part(
        &self,
        owner: &str,
        (part, share): (&str, usize),
        now_ms: i64,
    ) -> Result<Place, Refusal> {
        let owners = [owner, part].map(|owner| xxh64(owner.as_bytes(), 0));
        let claims = [(owners[0], self.bound.share), (owners[1], share)];
        let mut state = self.state.borrow_mut();
        if self.is_full(&state, claims) {
            state.taken.retain(|_, (until_ms, _)| *until_ms > now_ms);
        }
        if self.is_full(&state, claims) {
            state.refused += 1;
            return Err(common::BUSY);
        }
        state.last += 1;
        let number = state.last;
        let until_ms = now_ms.saturating_add(self.bound.lasts_ms);
        state.taken.insert(number, (until_ms, owners));
        Ok(Place {
            state: Rc::clone(&self.state),
            number,
        })
    }

    /// Takes a place where nobody has a share of his own.
    ///
    /// # Errors
    /// [`BUSY`](common::BUSY) if none is left.
    pub fn enter_any(&self, now_ms: i64) -> Result<Place, Refusal> {
        self.enter("", now_ms)
    }

    /// Some hundred numbers are looked through in less than it takes to ask an object anything.
    fn is_full(&self, State { taken, .. }: &State, claims: [(u64, usize); 2]) -> bool {
        let is_spent = |(owner, share)| {
            taken.len() >= share && taken.values().filter(|(_, of)| of.contains(&owner)).count() >= share
        };
        taken.len() >= self.bound.places || claims.into_iter().any(is_spent)
    }

    /// How many places are taken.
    pub fn taken(&self) -> usize {
        self.state.borrow().taken.len()
    }

    /// How many were refused one so far.
    pub fn refused(&self) -> u64 {
        self.state.borrow().refused
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    const BOUND: Bound = Bound {
        places: 4,
        share: 3,
        lasts_ms: 1_000,
    };

    #[test]
    fn beyond_the_bound_it_is_busy_until_a_place_comes_back() {
        let room = Room::new(BOUND);
        let mut places: Vec<_> = ["a", "b", "c", "d"]
            .iter()
            .map(|owner| room.enter(owner, 0).unwrap())
            .collect();
        let refusal = room.enter("e", 0).unwrap_err();
        assert_eq!(
            (refusal.status, refusal.code, refusal.retry_after_s),
            (503, "unavailable", Some(2))
        );
        places.pop();
        let _last = room.enter("e", 0).unwrap();
        room.enter("f", 0).unwrap_err();
        assert_eq!((room.taken(), room.refused()), (4, 2));
    }

    #[test]
    fn an_owner_leaves_room_for_others() {
        let room = Room::new(BOUND);
        let own: Vec<_> = (0..3).map(|_| room.enter("a", 0).unwrap()).collect();
        room.enter("a", 0).unwrap_err();
        let _other = room.enter("b", 0).unwrap();
        drop(own);
        let _again = room.enter("a", 0).unwrap();
    }

    #[test]
    fn a_part_leaves_room_for_others_and_all_parts_for_other_owners() {
        let room = Room::new(BOUND);
        let enter = |owner, part| room.enter_part(owner, (part, 2), 0);
        let mut first: Vec<_> = (0..2).map(|_| enter("a", "a1").unwrap()).collect();
        enter("a", "a1").unwrap_err();
        let _second = enter("a", "a2").unwrap();
        // Neither of these parts has its share, but their owner has.
        enter("a", "a2").unwrap_err();
        enter("a", "a3").unwrap_err();
        let other = enter("b", "b1").unwrap();
        enter("b", "b1").unwrap_err();
        assert_eq!((room.taken(), room.refused()), (4, 4));
        drop(other);
        first.pop();
        let _again = enter("a", "a3").unwrap();
        enter("a", "a1").unwrap_err();
    }

    #[test]
    fn a_panic_gives_its_place_back() {
        let room = Room::new(BOUND);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _place = room.enter("a", 0).unwrap();
            panic!("in a handler");
        }));
        assert!(panicked.is_err());
        assert_eq!(room.taken(), 0);
    }

    #[test]
    fn a_place_that_nobody_gives_back_is_free_again_in_the_end() {
        let room = Room::new(BOUND);
        for _ in 0..4 {
            std::mem::forget(room.enter("a", 0).or_else(|_| room.enter("b", 0)).unwrap());
        }
        room.enter("c", 999).unwrap_err();
        let late = room.enter("c", 1_000).unwrap();
        assert_eq!(room.taken(), 1);
        // One that was given up is nobody else's when it comes back after all.
        let kept: Vec<_> = (0..3).map(|_| room.enter("d", 1_000).unwrap()).collect();
        drop(late);
        assert_eq!(room.taken(), kept.len());
    }
}
