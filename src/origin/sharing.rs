//! Work that is done for all who wait for it: one at a time, and those who come while it is under way share the next, which
//! begins after they came and so knows what they did before. However many come, each waits for two of them at the most.

use std::cell::Cell;

use futures_util::lock::{Mutex, MutexGuard};

/// What a kind of work last came to, and who waits for the next.
///
/// All requests of an object share one I/O context, so waiting for another's lock is allowed in an object; at the edge it
/// is not.
#[derive(Debug)]
pub struct Sharing<T> {
    /// How many came so far.
    arrivals: Cell<u64>,
    /// The lock is not fair, which it need not be: whoever is passed over shares what was done instead.
    last: Mutex<Option<Done<T>>>,
}

#[derive(Debug)]
struct Done<T> {
    /// The last arrival before it began.
    covers: u64,
    outcome: T,
}

/// What there is for one who came.
#[derive(Debug)]
pub enum Share<'s, T> {
    /// It was done since.
    Of(T),
    /// It is to be done now, by whom it is told.
    Turn(Turn<'s, T>),
}

/// The work is under way, in these hands and no others; dropped, by a panic too, it is the next one's.
#[derive(Debug)]
#[must_use]
pub struct Turn<'s, T> {
    sharing: &'s Sharing<T>,
    last: MutexGuard<'s, Option<Done<T>>>,
}

impl<T> Default for Sharing<T> {
    fn default() -> Self {
        Self {
            arrivals: Cell::new(0),
            last: Mutex::new(None),
        }
    }
}

impl<T: Clone> Sharing<T> {
    /// Counts one in and waits until the work was done for it or is its own to do. What was done without what this one
    /// needs, or failed, is told by `serves`.
    pub async fn come(&self, serves: impl FnOnce(&T) -> bool) -> Share<'_, T> {
        let arrival = self.arrivals.get().saturating_add(1);
        self.arrivals.set(arrival);
        let turn = self.turn().await;
        match turn.last.as_ref() {
            Some(done) if done.covers >= arrival && serves(&done.outcome) => Share::Of(done.outcome.clone()),
            _ => Share::Turn(turn),
        }
    }
}

impl<T> Sharing<T> {
    /// Waits until nobody does the work.
    pub async fn turn(&self) -> Turn<'_, T> {
        Turn {
            sharing: self,
            last: self.last.lock().await,
        }
    }
}

impl<T> Turn<'_, T> {
    /// Does the work for all who came by now. It is kept for them once it is done.
    pub async fn take(mut self, work: impl Future<Output = T>) -> T
    where
        T: Clone,
    {
        let covers = self.sharing.arrivals.get();
        let outcome = work.await;
        *self.last = Some(Done {
            covers,
            outcome: outcome.clone(),
        });
        outcome
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, collections::BTreeSet, future::poll_fn, iter, pin::Pin, rc::Rc, task::Poll};

    use futures_util::FutureExt;
    use proptest::prelude::*;

    use super::*;

    /// Which piece of work it was, and whether it succeeded.
    type Outcome = Result<usize, usize>;

    /// Work that ends when it is told so.
    #[derive(Default)]
    struct Works {
        sharing: Sharing<Outcome>,
        begun: RefCell<Vec<Work>>,
    }

    struct Work {
        /// How many had come as it began.
        covers: u64,
        /// Whether it succeeds, once it is to end. Whoever does it has this, too.
        end: Rc<Cell<Option<bool>>>,
    }

    impl Work {
        fn is_under_way(&self) -> bool {
            Rc::strong_count(&self.end) > 1
        }
    }

    impl Works {
        fn wait(&self) -> Pin<Box<dyn Future<Output = Outcome> + '_>> {
            Box::pin(async {
                match self.sharing.come(Result::is_ok).await {
                    Share::Of(outcome) => outcome,
                    Share::Turn(turn) => turn.take(self.work()).await,
                }
            })
        }

        async fn work(&self) -> Outcome {
            let end = Rc::new(Cell::new(None));
            let number = self.begun.borrow().len();
            self.begun.borrow_mut().push(Work {
                covers: self.sharing.arrivals.get(),
                end: Rc::clone(&end),
            });
            match poll_fn(|_| end.get().map_or(Poll::Pending, Poll::Ready)).await {
                true => Ok(number),
                false => Err(number),
            }
        }

        fn end(&self, succeeds: bool) {
            if let Some(work) = self.begun.borrow().last() {
                work.end.set(Some(succeeds));
            }
        }

        fn under_way(&self) -> usize {
            self.begun
                .borrow()
                .iter()
                .filter(|work| work.is_under_way())
                .count()
        }
    }

    #[test]
    fn those_who_come_while_it_is_under_way_share_the_next() {
        let works = Works::default();
        let [mut first, mut second, mut third] = [works.wait(), works.wait(), works.wait()];
        for waiting in [&mut first, &mut second, &mut third] {
            assert_eq!(waiting.now_or_never(), None);
        }
        works.end(true);
        assert_eq!(first.now_or_never(), Some(Ok(0)));
        // It began before they came.
        for waiting in [&mut second, &mut third] {
            assert_eq!(waiting.now_or_never(), None);
        }
        works.end(true);
        assert_eq!(second.now_or_never(), Some(Ok(1)));
        assert_eq!(third.now_or_never(), Some(Ok(1)));
    }

    #[test]
    fn what_failed_or_was_given_up_is_done_again() {
        let works = Works::default();
        let [mut first, mut second, mut third] = [works.wait(), works.wait(), works.wait()];
        for waiting in [&mut first, &mut second, &mut third] {
            assert_eq!(waiting.now_or_never(), None);
        }
        drop(first);
        assert_eq!((&mut second).now_or_never(), None);
        works.end(false);
        assert_eq!(second.now_or_never(), Some(Err(1)));
        assert_eq!((&mut third).now_or_never(), None);
        works.end(true);
        assert_eq!(third.now_or_never(), Some(Ok(2)));
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Come,
        Leave(usize),
        End(bool),
    }

    proptest! {
        /// Nobody is told of work that began before it came, nor of another's failure; there is one piece of work at a
        /// time; and who came is served by the second that ends after that, if none fails and nobody leaves.
        #[test]
        fn each_is_served_by_work_that_began_after_it_came(
            steps in prop::collection::vec(
                prop_oneof![
                    3 => Just(Step::Come),
                    1 => (0usize..8).prop_map(Step::Leave),
                    3 => prop::bool::weighted(0.8).prop_map(Step::End),
                ],
                0..60,
            ),
        ) {
            let works = Works::default();
            let (mut waiting, mut came, mut failed) = (Vec::new(), 0, BTreeSet::new());
            let is_calm = steps.iter().all(|step| matches!(step, Step::Come | Step::End(true)));
            let rest = iter::repeat_n(Step::End(true), 2 * steps.len());
            for step in steps.iter().copied().chain(rest) {
                match step {
                    Step::Come => {
                        came += 1;
                        let ended = works.begun.borrow().len() - works.under_way();
                        waiting.push((came, ended, works.wait()));
                    }
                    Step::Leave(at) if at < waiting.len() => drop(waiting.remove(at)),
                    Step::Leave(_) => {}
                    Step::End(succeeds) => works.end(succeeds),
                }
                // As often as one may have to wait for another of them.
                for _ in 0..=waiting.len() {
                    waiting.retain_mut(|(arrival, ended, future)| {
                        let Some(outcome) = future.now_or_never() else {
                            return true;
                        };
                        let (Ok(number) | Err(number)) = outcome;
                        assert!(works.begun.borrow()[number].covers >= *arrival);
                        assert!(outcome.is_ok() || failed.insert(number));
                        assert!(!is_calm || number <= *ended + 1);
                        false
                    });
                }
                prop_assert!(works.under_way() <= 1);
            }
            prop_assert!(waiting.is_empty());
        }
    }
}
