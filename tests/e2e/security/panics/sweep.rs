//! Makes each database call of an object panic in turn, before and after the call: inside and outside transactions, in
//! requests and in background work. The caller gets an error at once, and a retry has the same result as without a
//! panic.

mod catalog;
mod ledger;
mod outbox;

use std::{cell::Cell, thread, time::Duration};

use super::{super::chaos::setting, AT_ONCE, arm, arm_count, faulty};
use crate::harness::{Answer, Signpost, now_ms, timed};
use domain::model::time::SECOND_MS;

/// One in this many places is tried in a run, chosen by `SEED`. `PANICS=1` in the environment tries all.
const SHARE: u64 = 6;
/// How long background work may take to reach its place, in milliseconds.
const BACKGROUND_MS: i64 = 60;
/// The most attempts of a caller.
const TRIES: usize = 5;
const DRAINED_MS: i64 = 60 * SECOND_MS;

struct Sweep<'s> {
    signpost: &'s Signpost,
    /// Chooses one in `share` places, a different one for each kind of work.
    seed: u64,
    share: u64,
    kinds: Cell<u64>,
    /// Numbers the subjects.
    next: Cell<usize>,
    places: Cell<u64>,
    panics: Cell<u64>,
    errors: Cell<usize>,
    slowest: Cell<Duration>,
}

impl<'s> Sweep<'s> {
    fn new(signpost: &'s Signpost) -> Self {
        let seed = setting("SEED", now_ms().unsigned_abs());
        let share = setting("PANICS", SHARE).max(1);
        // Printed first, for runs that fail before `report`.
        println!("SEED={seed} PANICS={share}");
        Self {
            signpost,
            seed,
            share,
            kinds: Cell::new(0),
            next: Cell::new(1),
            places: Cell::new(0),
            panics: Cell::new(0),
            errors: Cell::new(0),
            slowest: Cell::new(Duration::ZERO),
        }
    }

    /// Prints the results, and fails the test unless at least `least` % of the places panicked. Not all do: background
    /// work seen when the places were found, such as an alarm, need not run again.
    fn report(&self, least: u64) {
        let (places, panics) = (self.places.get(), self.panics.get());
        let tried = format!("SEED={} PANICS={}: {places} places, {panics} panics", self.seed, self.share);
        println!("{tried}, {} errors answered, the slowest in {:?}", self.errors.get(), self.slowest.get());
        assert!(panics > 0 && panics * 100 >= places * least, "{tried}: fewer than {least} %");
    }

    /// Runs `act` with a panic at each place that it passes. `prepare` makes its subject from a number. A retry may be
    /// refused with an `excused` status, because an attempt whose answer was lost had succeeded.
    fn run<T>(&self, name: &str, excused: &[u16], prepare: impl Fn(usize) -> T, act: impl Fn(&T) -> Answer) {
        let number = || self.next.replace(self.next.get() + 1);
        // The first run may pass places that later ones do not: an object creates its tables once.
        for _ in 0..2 {
            let subject = prepare(number());
            arm(self.signpost, "", "", 0);
            let answer = act(&subject);
            assert!(answer.status < 400, "{name}: {answer:?}");
            thread::sleep(Duration::from_millis(300));
        }
        let (_, passed) = arm(self.signpost, "", "", 0);
        assert!(!passed.is_empty(), "{name} passes nothing");
        let first = self.seed.wrapping_add(self.kinds.replace(self.kinds.get() + 1)) % self.share;
        for (index, place) in (0..).zip(passed) {
            if index % self.share != first {
                continue;
            }
            let Some((when @ ("before" | "after"), what)) = place.split_once(' ') else {
                continue;
            };
            let subject = prepare(number());
            arm(self.signpost, when, what, 1);
            self.places.set(self.places.get() + 1);
            self.until_served(&format!("{name}, {place}"), excused, || act(&subject));
            let until_ms = now_ms() + BACKGROUND_MS;
            while arm_count(self.signpost) == 0 && now_ms() < until_ms {
                thread::sleep(Duration::from_millis(10));
            }
            let fired = arm(self.signpost, "", "", 0).0;
            self.panics.set(self.panics.get() + fired);
        }
    }

    fn until_served(&self, place: &str, excused: &[u16], act: impl Fn() -> Answer) {
        for _ in 0..TRIES {
            let (answer, took) = timed(&act);
            if answer.status < 400 || excused.contains(&answer.status) {
                return;
            }
            let expected = match answer.status {
                500 => "internal_error",
                _ => "unavailable",
            };
            assert!([500, 503].contains(&answer.status), "{place}: {answer:?}");
            assert_eq!(answer.code(), expected, "{place}: {answer:?}");
            // A refresh may wait before it panics, since KV takes one write of a key in a second.
            let waits = if place.starts_with("a refresh") { 2 } else { 1 };
            assert!(took < AT_ONCE * waits, "{took:?}: {place}: {answer:?}");
            self.errors.set(self.errors.get() + 1);
            self.slowest.set(self.slowest.get().max(took));
        }
        panic!("{place}: still not served");
    }
}
