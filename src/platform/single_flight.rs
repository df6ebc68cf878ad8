//! Single flight: callers that arrive during a run share the next run, which starts after they arrived and so sees
//! their earlier writes. Each caller waits for at most two runs, however many callers there are. Callers that arrive
//! during a run may also share that run ([`Leader::gather`]).

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    mem,
    task::{Context, Poll, Waker},
};

/// Does one run at a time, and keeps the outcome of the last.
///
/// A lock from a library does not suffice: it wakes one waiter at a time, so a caller whose outcome is ready would wait
/// behind other callers.
///
/// Only for objects: all requests of an object share one I/O context, so a request may wait for another's work. The
/// runtime forbids that at the edge.
#[derive(Debug)]
pub struct SingleFlight<T> {
    /// The number of callers so far.
    arrivals: Cell<u64>,
    last: RefCell<Option<Run<T>>>,
    is_running: Cell<bool>,
    waiting: RefCell<Vec<Waker>>,
}

#[derive(Debug)]
struct Run<T> {
    /// The number of the last caller that shares the outcome.
    covers: u64,
    outcome: T,
}

/// The result of [`SingleFlight::join`].
#[derive(Debug)]
pub enum Outcome<'s, T> {
    /// The outcome of a run that another caller did.
    Shared(T),
    /// The caller must do the run.
    Lead(Leader<'s, T>),
}

/// The right to run, which one caller has at a time. Dropping it, even by a panic, passes it to the next caller.
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
    /// Waits until another caller has done a run for this caller, or until this caller must do the run itself. `serves`
    /// tells whether an outcome is usable for this caller.
    pub async fn join(&self, serves: impl Fn(&T) -> bool) -> Outcome<'_, T> {
        let arrival = self.arrivals.get().saturating_add(1);
        self.arrivals.set(arrival);
        let done = || {
            let last = self.last.borrow();
            let run = last.as_ref().filter(|run| run.covers >= arrival);
            run.map(|run| &run.outcome).filter(|outcome| serves(outcome)).cloned()
        };
        poll_fn(|context| match done() {
            Some(outcome) => Poll::Ready(Outcome::Shared(outcome)),
            None => self.poll_lead(context).map(Outcome::Lead),
        })
        .await
    }
}

impl<T> SingleFlight<T> {
    /// Waits for the right to run.
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
    /// Runs for all callers that have arrived so far. They share the outcome.
    pub async fn run(self, work: impl Future<Output = T>) -> T
    where
        T: Clone,
    {
        let covers = self.0.arrivals.get();
        let outcome = work.await;
        self.share(covers, outcome)
    }

    /// Also runs for the callers that arrive during the work, so the outcome must not depend on their earlier writes.
    pub async fn gather(self, work: impl Future<Output = T>) -> T
    where
        T: Clone,
    {
        let outcome = work.await;
        let covers = self.0.arrivals.get();
        self.share(covers, outcome)
    }

    fn share(self, covers: u64, outcome: T) -> T
    where
        T: Clone,
    {
        *self.0.last.borrow_mut() = Some(Run { covers, outcome: outcome.clone() });
        outcome
    }
}

impl<T> Drop for Leader<'_, T> {
    /// Wakes all waiters in the order of arrival: each finds its outcome, and the first without one leads.
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

    /// The number of a run, and whether it succeeded.
    type RunOutcome = Result<usize, usize>;

    /// A single flight whose runs end on command.
    #[derive(Default)]
    struct Flight {
        flight: SingleFlight<RunOutcome>,
        runs: RefCell<Vec<TestRun>>,
    }

    struct TestRun {
        /// The number of callers when the run began.
        covers: u64,
        end: Rc<End>,
    }

    /// The end of a run: `None` while it runs, then whether it succeeds; and the run's waker. While the run is in
    /// progress, its future has a second reference.
    #[derive(Default)]
    struct End(Cell<Option<bool>>, RefCell<Option<Waker>>);

    impl TestRun {
        fn is_running(&self) -> bool {
            Rc::strong_count(&self.end) > 1
        }
    }

    impl Flight {
        async fn wait(&self) -> RunOutcome {
            match self.flight.join(Result::is_ok).await {
                Outcome::Shared(outcome) => outcome,
                Outcome::Lead(leader) => leader.run(self.run()).await,
            }
        }

        async fn run(&self) -> RunOutcome {
            let end = Rc::<End>::default();
            let number = self.runs.borrow().len();
            self.runs.borrow_mut().push(TestRun { covers: self.flight.arrivals.get(), end: Rc::clone(&end) });
            let succeeds = poll_fn(|context| {
                *end.1.borrow_mut() = Some(context.waker().clone());
                end.0.get().map_or(Poll::Pending, Poll::Ready)
            });
            if succeeds.await { Ok(number) } else { Err(number) }
        }

        fn end(&self, succeeds: bool) {
            if let Some(run) = self.runs.borrow().last() {
                run.end.0.set(Some(succeeds));
                if let Some(waker) = run.end.1.borrow_mut().take() {
                    waker.wake();
                }
            }
        }

        fn running(&self) -> usize {
            self.runs.borrow().iter().filter(|run| run.is_running()).count()
        }
    }

    /// A caller. As in a runtime, it is polled only after it was woken.
    struct Caller<'f> {
        /// The number of the caller's arrival, and the number of runs that had ended by then.
        arrival: u64,
        ended: usize,
        future: Pin<Box<dyn Future<Output = RunOutcome> + 'f>>,
        woken: Arc<WakeFlag>,
    }

    struct WakeFlag(AtomicBool);

    impl Wake for WakeFlag {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    impl<'f> Caller<'f> {
        fn new(flight: &'f Flight, arrival: u64) -> Self {
            Self {
                arrival,
                ended: flight.runs.borrow().len() - flight.running(),
                future: Box::pin(flight.wait()),
                woken: Arc::new(WakeFlag(AtomicBool::new(true))),
            }
        }

        /// Returns the caller's outcome, if the caller was woken and is done.
        fn poll(&mut self) -> Option<RunOutcome> {
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
    fn callers_that_arrive_during_a_run_share_the_next() {
        let flight = Flight::default();
        let mut callers = [1, 2, 3].map(|arrival| Caller::new(&flight, arrival));
        assert_eq!(callers.each_mut().map(Caller::poll), [None; 3]);
        flight.end(true);
        // The run began before the others arrived.
        assert_eq!(callers.each_mut().map(Caller::poll), [Some(Ok(0)), None, None]);
        // A later caller does not delay the earlier ones.
        let mut fourth = Caller::new(&flight, 4);
        assert_eq!(fourth.poll(), None);
        assert_eq!(callers[2].poll(), None);
        flight.end(true);
        assert_eq!(callers[1].poll(), Some(Ok(1)));
        assert_eq!(callers[2].poll(), Some(Ok(1)));
        assert_eq!(fourth.poll(), None);
        flight.end(true);
        assert_eq!(fourth.poll(), Some(Ok(2)));
    }

    #[test]
    fn a_run_that_failed_or_was_abandoned_is_repeated() {
        let flight = Flight::default();
        let [mut first, mut second, mut third] = [1, 2, 3].map(|arrival| Caller::new(&flight, arrival));
        for caller in [&mut first, &mut second, &mut third] {
            assert_eq!(caller.poll(), None);
        }
        drop(first);
        assert_eq!((second.poll(), third.poll()), (None, None));
        flight.end(false);
        assert_eq!((second.poll(), third.poll()), (Some(Err(1)), None));
        flight.end(true);
        assert_eq!(third.poll(), Some(Ok(2)));
    }

    #[test]
    fn callers_that_arrive_while_a_leader_gathers_share_its_run() {
        let flight = SingleFlight::<()>::default();
        let is_done = Cell::new(false);
        let work = poll_fn(|_| if is_done.get() { Poll::Ready(()) } else { Poll::Pending });
        let gather = async {
            match flight.join(|()| true).await {
                Outcome::Lead(leader) => leader.gather(work).await,
                Outcome::Shared(()) => panic!("nobody else leads"),
            }
        };
        let join = async || match flight.join(|()| true).await {
            Outcome::Lead(leader) => {
                drop(leader);
                false
            }
            Outcome::Shared(()) => true,
        };
        let (mut leader, mut during) = (pin!(gather), pin!(join()));
        let mut context = Context::from_waker(Waker::noop());
        assert!(leader.as_mut().poll(&mut context).is_pending());
        assert!(during.as_mut().poll(&mut context).is_pending());
        is_done.set(true);
        assert!(leader.as_mut().poll(&mut context).is_ready());
        assert_eq!(during.as_mut().poll(&mut context), Poll::Ready(true));
        assert_eq!(pin!(join()).poll(&mut context), Poll::Ready(false));
    }

    #[test]
    fn callers_lead_in_the_order_of_arrival() {
        let flight = Flight::default();
        let mut first = Caller::new(&flight, 1);
        assert_eq!(first.poll(), None);
        let mut lead = pin!(flight.flight.lead());
        let woken = Arc::new(WakeFlag(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&woken));
        assert!(lead.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let mut second = Caller::new(&flight, 2);
        assert_eq!(second.poll(), None);
        flight.end(true);
        assert_eq!(first.poll(), Some(Ok(0)));
        assert!(woken.0.load(Ordering::Relaxed));
        let leader = lead.as_mut().poll(&mut Context::from_waker(&waker));
        assert_eq!((second.poll(), flight.running()), (None, 0));
        drop(leader);
        assert_eq!((second.poll(), flight.running()), (None, 1));
    }

    #[derive(Clone, Copy, Debug)]
    enum Action {
        Arrive,
        Leave(usize),
        End(bool),
    }

    proptest! {
        /// No caller gets the outcome of a run that began before it arrived, or another caller's failure. There is one
        /// run at a time. Unless runs fail or callers leave, a caller waits for at most two runs to end.
        #[test]
        fn each_caller_gets_the_outcome_of_a_run_that_began_after_it_arrived(
            steps in prop::collection::vec(
                prop_oneof![
                    3 => Just(Action::Arrive),
                    1 => (0usize..8).prop_map(Action::Leave),
                    3 => prop::bool::weighted(0.8).prop_map(Action::End),
                ],
                0..60,
            ),
            calm in any::<bool>(),
        ) {
            let flight = Flight::default();
            let (mut callers, mut arrivals, mut failed) = (Vec::new(), 0, BTreeSet::new());
            let is_calm = |step: &Action| matches!(step, Action::Arrive | Action::End(true));
            let steps: Vec<_> = steps.into_iter().filter(|step| !calm || is_calm(step)).collect();
            let rest = iter::repeat_n(Action::End(true), 2 * steps.len());
            for step in steps.iter().copied().chain(rest) {
                match step {
                    Action::Arrive => {
                        arrivals += 1;
                        callers.push(Caller::new(&flight, arrivals));
                    }
                    Action::Leave(at) if at < callers.len() => drop(callers.remove(at)),
                    Action::Leave(_) => {}
                    Action::End(succeeds) => flight.end(succeeds),
                }
                // Polls until no caller is woken.
                while callers.iter().any(|caller| caller.woken.0.load(Ordering::Relaxed)) {
                    callers.retain_mut(|caller| {
                        let Some(outcome) = caller.poll() else {
                            return true;
                        };
                        let (Ok(number) | Err(number)) = outcome;
                        assert!(flight.runs.borrow()[number].covers >= caller.arrival);
                        assert!(outcome.is_ok() || failed.insert(number));
                        assert!(!calm || number <= caller.ended + 1);
                        false
                    });
                }
                prop_assert!(flight.running() <= 1);
                prop_assert!(callers.is_empty() || flight.running() == 1);
            }
            prop_assert!(callers.is_empty());
        }
    }
}
