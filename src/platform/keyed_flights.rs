//! [Single flights](crate::single_flight) by key: runs for one key follow one another, and other keys do not wait.

use std::{cell::RefCell, collections::HashMap, ops::Deref, rc::Rc};

use crate::single_flight::SingleFlight;

/// The flights that are in use, by key.
#[derive(Debug)]
pub struct KeyedFlights<T> {
    flights: RefCell<HashMap<Vec<u8>, Rc<SingleFlight<T>>>>,
    is_off: bool,
}

/// A handle to the flight of a key. Dropping the last handle, even by a panic, removes the flight.
#[derive(Debug)]
pub struct KeyedFlight<'t, T> {
    flights: &'t KeyedFlights<T>,
    key: &'t [u8],
    flight: Rc<SingleFlight<T>>,
}

impl<T> Default for KeyedFlights<T> {
    fn default() -> Self {
        Self { flights: RefCell::default(), is_off: false }
    }
}

impl<T> KeyedFlights<T> {
    /// Flights that never wait. The simulation uses them to show that the transactions alone ensure correctness.
    pub fn off() -> Self {
        Self { is_off: true, ..Self::default() }
    }

    pub fn of<'t>(&'t self, key: &'t [u8]) -> KeyedFlight<'t, T> {
        let flight = if self.is_off {
            Rc::default()
        } else {
            Rc::clone(self.flights.borrow_mut().entry(key.to_vec()).or_default())
        };
        KeyedFlight { flights: self, key, flight }
    }
}

impl<T> Deref for KeyedFlight<'_, T> {
    type Target = SingleFlight<T>;

    fn deref(&self) -> &SingleFlight<T> {
        &self.flight
    }
}

impl<T> Drop for KeyedFlight<'_, T> {
    fn drop(&mut self) {
        // Two references, this one and the table's, mean that no other caller waits.
        if !self.flights.is_off && Rc::strong_count(&self.flight) <= 2 {
            self.flights.flights.borrow_mut().remove(self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_second_run_for_a_key_waits_and_one_for_another_key_does_not() {
        let flights = KeyedFlights::<()>::default();
        let (first, second, other) = (flights.of(b"a"), flights.of(b"a"), flights.of(b"b"));
        let held = first.lead().now_or_never().unwrap();
        assert!(second.lead().now_or_never().is_none());
        assert!(other.lead().now_or_never().is_some());
        drop(held);
        drop(first);
        // A newcomer waits behind the second.
        let third = flights.of(b"a");
        let _held = second.lead().now_or_never().unwrap();
        assert!(third.lead().now_or_never().is_none());
    }

    #[test]
    fn flights_are_removed_after_use_and_after_a_panic() {
        let flights = KeyedFlights::<()>::default();
        let first = flights.of(b"a");
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let second = flights.of(b"a");
            let _held = second.lead().now_or_never().unwrap();
            panic!("while it runs");
        }));
        assert!(panicked.is_err());
        assert_eq!(flights.flights.borrow().len(), 1);
        assert!(first.lead().now_or_never().is_some());
        drop(first);
        assert_eq!(flights.flights.borrow().len(), 0);
    }
}
