//! Single-flight: callers arriving during a run share the next run, which starts after they arrived and so sees what they
//! wrote before. However many callers come, each waits for at most two runs.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    mem,
    task::{Context, Poll, Waker},
};

/// Runs one at a time, and the outcome of the last.
///
/// A library's lock does not do: one that wakes a single waiter does not wake the callers whose run is done, and they would
/// stand behind every later caller.
///
/// All requests of an object share one I/O context, so an object may wait for another request's work; at the edge that is
/// not allowed.
#[derive(Debug)]
pub struct SingleFlight<T> {
    /// Callers so far.
    arrivals: Cell<u64>,
    last: RefCell<Option<Run<T>>>,
    is_running: Cell<bool>,
    waiting: RefCell<Vec<Waker>>,
}

#[derive(Debug)]
struct Run<T> {
    /// The last arrival before it began.
    covers: u64,
    outcome: T,
}

/// What a caller gets.
#[derive(Debug)]
pub enum Outcome<'s, T> {
    /// A run that began after the caller arrived is done.
    Shared(T),
    /// The caller runs it.
    Lead(Leader<'s, T>),
}

/// The right to run, which one caller has at a time. Dropped, also by a panic, it passes to the next.
#[derive(Debug)]
#[must_use]
pub struct Leader<'s, T>(&'s SingleFlight<T>);

impl<T> Default for SingleFlight<T> {
    fn default() -> Self {
        Self {
            arrivals: Cell::new(0),
            last: RefCell::new(None),
            is_running: Cell::new(false),
            waiting: RefCell::default(),
        }
    }
}

impl<T: Clone> SingleFlight<T> {
    /// Waits until a run is done for this caller, or is the caller's to do. `serves` says whether an outcome has what this
    /// caller needs.
    pub async fn join(&self, serves: impl Fn(&T) -> bool) -> Outcome<'_, T> {
        let arrival = self.arrivals.get().saturating_add(1);
        self.arrivals.set(arrival);
        let done = || {
            let last = self.last.borrow();
            let run = last.as_ref().filter(|run| run.covers >= arrival);
            run.map(|run| &run.outcome)
                .filter(|outcome| serves(outcome))
                .cloned()
        };
        poll_fn(|context| match done() {
            Some(outcome) => Poll::Ready(Outcome::Shared(outcome)),
            None => self.poll_lead(context).map(Outcome::Lead),
        })
        .await
    }
}

impl<T> SingleFlight<T> {
    /// Waits until nobody runs.
    pub async fn lead(&self) -> Leader<'_, T> {
        poll_fn(|context| self.poll_lead(context)).await
    }

    fn poll_lead(&self, context: &Context<'_>) -> Poll<Leader<'_, T>> {
        if !self.is_running.replace(true) {
            return Poll::Ready(Leader(self));
        }
        let mut waiting = self.waiting.borrow_mut();
        if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
        Poll::Pending
    }
}

impl<T> Leader<'_, T> {
    /// Runs for all who arrived by now. They share the outcome.
    pub async fn run(self, work: impl Future<Output = T>) -> T
    where
        T: Clone,
    {
        let covers = self.0.arrivals.get();
        let outcome = work.await;
        *self.0.last.borrow_mut() = Some(Run {
            covers,
            outcome: outcome.clone(),
        });
        outcome
    }
}

impl<T> Drop for Leader<'_, T> {
    /// Wakes in the order of arrival: each finds its outcome, and the first without one leads.
    fn drop(&mut self) {
        self.0.is_running.set(false);
        for waker in mem::take(&mut *self.0.waiting.borrow_mut()) {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeSet,
        iter,
        pin::{Pin, pin},
        rc::Rc,
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
        task::Wake,
    };

    use proptest::prelude::*;

    use super::*;

    /// Which piece of work it was, and whether it succeeded.
    type WorkOutcome = Result<usize, usize>;

    /// Work that ends when it is told so.
    #[derive(Default)]
    struct Works {
        flight: SingleFlight<WorkOutcome>,
        begun: RefCell<Vec<Work>>,
    }

    struct Work {
        /// How many had come as it began.
        covers: u64,
        end: Rc<End>,
    }

    /// Whether it succeeds, once it is to end; and who does it. Whoever does it has this, too.
    #[derive(Default)]
    struct End(Cell<Option<bool>>, RefCell<Option<Waker>>);

    impl Work {
        fn is_under_way(&self) -> bool {
            Rc::strong_count(&self.end) > 1
        }
    }

    impl Works {
        async fn wait(&self) -> WorkOutcome {
            match self.flight.join(Result::is_ok).await {
                Outcome::Shared(outcome) => outcome,
                Outcome::Lead(leader) => leader.run(self.work()).await,
            }
        }

        async fn work(&self) -> WorkOutcome {
            let end = Rc::<End>::default();
            let number = self.begun.borrow().len();
            self.begun.borrow_mut().push(Work {
                covers: self.flight.arrivals.get(),
                end: Rc::clone(&end),
            });
            let succeeds = poll_fn(|context| {
                *end.1.borrow_mut() = Some(context.waker().clone());
                end.0.get().map_or(Poll::Pending, Poll::Ready)
            });
            if succeeds.await { Ok(number) } else { Err(number) }
        }

        fn end(&self, succeeds: bool) {
            if let Some(work) = self.begun.borrow().last() {
                work.end.0.set(Some(succeeds));
                if let Some(waker) = work.end.1.borrow_mut().take() {
                    waker.wake();
                }
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

    /// One who waits, and is looked at when it is woken and not before, as by a runtime.
    struct Waiting<'w> {
        /// The number of its arrival, and of the last piece of work that had ended by then.
        arrival: u64,
        ended: usize,
        future: Pin<Box<dyn Future<Output = WorkOutcome> + 'w>>,
        woken: Arc<Woken>,
    }

    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    impl<'w> Waiting<'w> {
        fn new(works: &'w Works, arrival: u64) -> Self {
            Self {
                arrival,
                ended: works.begun.borrow().len() - works.under_way(),
                future: Box::pin(works.wait()),
                woken: Arc::new(Woken(AtomicBool::new(true))),
            }
        }

        /// What it is told, if it was woken for that.
        fn look(&mut self) -> Option<WorkOutcome> {
            if !self.woken.0.swap(false, Ordering::Relaxed) {
                return None;
            }
            let waker = Waker::from(Arc::clone(&self.woken));
            match self.future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(outcome) => Some(outcome),
                Poll::Pending => None,
            }
        }
    }

    #[test]
    fn those_who_come_while_it_is_under_way_share_the_next() {
        let works = Works::default();
        let mut all = [1, 2, 3].map(|arrival| Waiting::new(&works, arrival));
        assert_eq!(all.each_mut().map(Waiting::look), [None; 3]);
        works.end(true);
        // It began before the others came.
        assert_eq!(all.each_mut().map(Waiting::look), [Some(Ok(0)), None, None]);
        // Who comes now stands behind no one, and holds up no one.
        let mut fourth = Waiting::new(&works, 4);
        assert_eq!(fourth.look(), None);
        assert_eq!(all[2].look(), None);
        works.end(true);
        assert_eq!(all[1].look(), Some(Ok(1)));
        assert_eq!(all[2].look(), Some(Ok(1)));
        assert_eq!(fourth.look(), None);
        works.end(true);
        assert_eq!(fourth.look(), Some(Ok(2)));
    }

    #[test]
    fn what_failed_or_was_given_up_is_done_again() {
        let works = Works::default();
        let [mut first, mut second, mut third] = [1, 2, 3].map(|arrival| Waiting::new(&works, arrival));
        for waiting in [&mut first, &mut second, &mut third] {
            assert_eq!(waiting.look(), None);
        }
        drop(first);
        assert_eq!((second.look(), third.look()), (None, None));
        works.end(false);
        assert_eq!((second.look(), third.look()), (Some(Err(1)), None));
        works.end(true);
        assert_eq!(third.look(), Some(Ok(2)));
    }

    #[test]
    fn a_turn_comes_in_order() {
        let works = Works::default();
        let mut first = Waiting::new(&works, 1);
        assert_eq!(first.look(), None);
        let mut turn = pin!(works.flight.lead());
        let woken = Arc::new(Woken(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&woken));
        assert!(turn.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let mut second = Waiting::new(&works, 2);
        assert_eq!(second.look(), None);
        works.end(true);
        assert_eq!(first.look(), Some(Ok(0)));
        assert!(woken.0.load(Ordering::Relaxed));
        let turn = turn.as_mut().poll(&mut Context::from_waker(&waker));
        assert_eq!((second.look(), works.under_way()), (None, 0));
        drop(turn);
        assert_eq!((second.look(), works.under_way()), (None, 1));
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
            calm in any::<bool>(),
        ) {
            let works = Works::default();
            let (mut waiting, mut came, mut failed) = (Vec::new(), 0, BTreeSet::new());
            let is_calm = |step: &Step| matches!(step, Step::Come | Step::End(true));
            let steps: Vec<_> = steps.into_iter().filter(|step| !calm || is_calm(step)).collect();
            let rest = iter::repeat_n(Step::End(true), 2 * steps.len());
            for step in steps.iter().copied().chain(rest) {
                match step {
                    Step::Come => {
                        came += 1;
                        waiting.push(Waiting::new(&works, came));
                    }
                    Step::Leave(at) if at < waiting.len() => drop(waiting.remove(at)),
                    Step::Leave(_) => {}
                    Step::End(succeeds) => works.end(succeeds),
                }
                // Until nobody is woken any more.
                while waiting.iter().any(|one| one.woken.0.load(Ordering::Relaxed)) {
                    waiting.retain_mut(|one| {
                        let Some(outcome) = one.look() else {
                            return true;
                        };
                        let (Ok(number) | Err(number)) = outcome;
                        assert!(works.begun.borrow()[number].covers >= one.arrival);
                        assert!(outcome.is_ok() || failed.insert(number));
                        assert!(!calm || number <= one.ended + 1);
                        false
                    });
                }
                prop_assert!(works.under_way() <= 1);
                prop_assert!(waiting.is_empty() || works.under_way() == 1);
            }
            prop_assert!(waiting.is_empty());
        }
    }
}
