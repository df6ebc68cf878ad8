//! Work that is done for all who wait for it: one at a time, and those who come while it is under way share the next, which
//! begins after they came and so knows what they did before. However many come, each waits for two of them at the most.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    mem,
    task::{Context, Poll, Waker},
};

/// What a kind of work last came to, and who waits for the next. No lock of a library will do: one that wakes a single
/// waiter does not wake those whose work is done, and they would stand behind whoever comes.
///
/// All requests of an object share one I/O context, so waiting for another's work is allowed in an object; at the edge it
/// is not.
#[derive(Debug)]
pub struct Sharing<T> {
    /// How many came so far.
    arrivals: Cell<u64>,
    last: RefCell<Option<Done<T>>>,
    is_under_way: Cell<bool>,
    waiting: RefCell<Vec<Waker>>,
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
pub struct Turn<'s, T>(&'s Sharing<T>);

impl<T> Default for Sharing<T> {
    fn default() -> Self {
        Self {
            arrivals: Cell::new(0),
            last: RefCell::new(None),
            is_under_way: Cell::new(false),
            waiting: RefCell::default(),
        }
    }
}

impl<T: Clone> Sharing<T> {
    /// Counts one in and waits until the work was done for it or is its own to do. `serves` says whether what was done
    /// meanwhile has what this one needs.
    pub async fn come(&self, serves: impl Fn(&T) -> bool) -> Share<'_, T> {
        let arrival = self.arrivals.get().saturating_add(1);
        self.arrivals.set(arrival);
        let done = || {
            let last = self.last.borrow();
            let done = last.as_ref().filter(|done| done.covers >= arrival);
            done.map(|done| &done.outcome)
                .filter(|outcome| serves(outcome))
                .cloned()
        };
        poll_fn(|context| match done() {
            Some(outcome) => Poll::Ready(Share::Of(outcome)),
            None => self.poll_turn(context).map(Share::Turn),
        })
        .await
    }
}

impl<T> Sharing<T> {
    /// Waits until nobody does the work.
    pub async fn turn(&self) -> Turn<'_, T> {
        poll_fn(|context| self.poll_turn(context)).await
    }

    fn poll_turn(&self, context: &Context<'_>) -> Poll<Turn<'_, T>> {
        if !self.is_under_way.replace(true) {
            return Poll::Ready(Turn(self));
        }
        let mut waiting = self.waiting.borrow_mut();
        if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
        Poll::Pending
    }
}

impl<T> Turn<'_, T> {
    /// Does the work for all who came by now. It is kept for them once it is done.
    pub async fn take(self, work: impl Future<Output = T>) -> T
    where
        T: Clone,
    {
        let covers = self.0.arrivals.get();
        let outcome = work.await;
        *self.0.last.borrow_mut() = Some(Done {
            covers,
            outcome: outcome.clone(),
        });
        outcome
    }
}

impl<T> Drop for Turn<'_, T> {
    /// In the order in which they came: each has what was done for it, and the first of the others takes its turn.
    fn drop(&mut self) {
        self.0.is_under_way.set(false);
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
        async fn wait(&self) -> Outcome {
            match self.sharing.come(Result::is_ok).await {
                Share::Of(outcome) => outcome,
                Share::Turn(turn) => turn.take(self.work()).await,
            }
        }

        async fn work(&self) -> Outcome {
            let end = Rc::<End>::default();
            let number = self.begun.borrow().len();
            self.begun.borrow_mut().push(Work {
                covers: self.sharing.arrivals.get(),
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
        future: Pin<Box<dyn Future<Output = Outcome> + 'w>>,
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
        fn look(&mut self) -> Option<Outcome> {
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
        let mut turn = pin!(works.sharing.turn());
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
