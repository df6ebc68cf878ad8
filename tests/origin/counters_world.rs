//! One counters object, clock, alarm and restarts included, with all the ledgers it tells. It runs the production service.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    future::poll_fn,
    pin::pin,
    rc::Rc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use futures_util::FutureExt;

use contract::{
    counters,
    ledger::{self, AddOffers},
    operation::{CallError, ObjectAddress, Operation, Unanswered},
};
use domain::{model::time::DAY_MS, tracking::click_counts::ClickSum};
use origin::{
    batches::{self, Batch, LONGEST_WAIT_MS},
    counters::{publisher, service::CountersService},
};
use platform::{
    database::{Database, DatabaseError, Row, Value},
    traits::{Clock, ObjectCall, ObjectStorage},
};

use crate::{asked_until_answered, counters::NOON, dump, sqlite::Sqlite};

const SOURCE: &str = "counters-17";
/// By then every batch is due.
const EVER_MS: i64 = 1 << 50;

/// Ledger, and all that a click is reported by.
type Kind = (String, String);
pub type Totals = BTreeMap<Kind, u64>;

fn kind(ledger: &str, clicked: impl std::fmt::Debug) -> Kind {
    (ledger.to_owned(), format!("{clicked:?}"))
}

fn ledger_of(batch: &Batch) -> String {
    ledger::object_name(&publisher(batch).unwrap())
}

/// Of each ledger.
fn clicks(totals: &Totals) -> BTreeMap<String, u64> {
    let mut clicks = BTreeMap::new();
    for ((ledger, _), more) in totals {
        *clicks.entry(ledger.clone()).or_default() += more;
    }
    clicks
}

/// What happens to a batch on its way.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    Told,
    /// It arrived, and the answer did not.
    Lost,
    Down,
    Refused,
}

/// All publishers' ledgers, as [`AddOffers`] says they behave.
#[derive(Default)]
pub struct Ledgers {
    highest: BTreeMap<String, u64>,
    pub totals: Totals,
    arrived: Vec<(String, AddOffers)>,
}

impl Ledgers {
    fn tell(&mut self, name: &str, batch: &AddOffers) {
        let AddOffers {
            source,
            sequence,
            sums,
        } = batch;
        assert_eq!(source, SOURCE);
        let highest = self.highest.entry(name.to_owned()).or_default();
        if sequence <= highest {
            return;
        }
        assert_eq!(*sequence, *highest + 1, "{name} missed a batch");
        *highest = *sequence;
        for sum in sums {
            let of_sum = (&sum.offer, sum.day, sum.app, sum.country, &sum.placement);
            *self.totals.entry(kind(name, of_sum)).or_default() += sum.clicks;
        }
        self.arrived.push((name.to_owned(), batch.clone()));
    }
}

/// The platform's traits: a clock, an alarm beside the database, and calls that wait for the world's answer.
pub struct Outside<'a> {
    db: &'a Sqlite,
    now_ms: Cell<i64>,
    alarm_ms: Cell<Option<i64>>,
    calls: RefCell<Vec<Rc<Call>>>,
}

struct Call {
    ledger: String,
    batch: AddOffers,
    answer: RefCell<Option<Result<String, CallError>>>,
    waker: RefCell<Option<Waker>>,
}

impl Call {
    fn answer(&self, answer: Result<String, CallError>) {
        self.answer.replace(Some(answer));
        self.waker.take().unwrap().wake();
    }
}

struct Storage<'a>(Rc<Outside<'a>>);

impl Database for Storage<'_> {
    fn query(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        self.0.db.query(sql, parameters)
    }

    fn transaction<T, E: From<DatabaseError>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.0.db.transaction(work)
    }
}

impl ObjectStorage for Storage<'_> {
    async fn alarm(&self) -> Result<Option<i64>, DatabaseError> {
        Ok(self.0.alarm_ms.get())
    }

    fn set_alarm(&self, at_ms: Option<i64>) -> Result<(), DatabaseError> {
        self.0.alarm_ms.set(at_ms);
        Ok(())
    }

    fn size(&self) -> Result<i64, DatabaseError> {
        Ok(0)
    }
}

struct Runtime<'a>(Rc<Outside<'a>>);

impl Clock for Runtime<'_> {
    fn now_ms(&self) -> i64 {
        self.0.now_ms.get()
    }
}

impl ObjectCall for Runtime<'_> {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        let command = serde_json::to_string(&operation.into()).unwrap();
        let ledger::Command::AddOffers(batch) = serde_json::from_str(&command).unwrap() else {
            panic!("{command}");
        };
        let call = Rc::new(Call {
            ledger: to.name.clone(),
            batch,
            answer: RefCell::default(),
            waker: RefCell::default(),
        });
        self.0.calls.borrow_mut().push(Rc::clone(&call));
        let answer = poll_fn(|context| {
            call.waker.replace(Some(context.waker().clone()));
            call.answer.take().map_or(Poll::Pending, Poll::Ready)
        })
        .await;
        answer.map(|json| serde_json::from_str(&json).unwrap())
    }
}

/// One alarm and what goes wrong in it.
#[derive(Clone, Debug, Default)]
pub struct Wake {
    /// One for each batch; those beyond the end are told.
    pub answers: Vec<Answer>,
    pub took_ms: i64,
    /// After so many steps the object ends, and all that it only remembers is gone.
    pub cut_off_after: Option<usize>,
    /// Answers come in another order than the batches went.
    pub reversed: bool,
    /// Counted while the ledgers are asked.
    pub meanwhile: Option<Flush>,
}

#[derive(Clone, Debug)]
pub struct Flush {
    pub isolate: usize,
    /// Sent a second time, by an isolate that lost the answer.
    pub repeated: bool,
    pub sums: Vec<ClickSum>,
    /// In so many places the first of them was clicked.
    pub spread: i64,
}

impl Flush {
    fn sums(&self) -> Vec<ClickSum> {
        let spread = (1..self.spread).flat_map(|n| {
            let first = self.sums.first().cloned();
            first.map(|sum| ClickSum {
                placement: Some(n.to_string()),
                ..sum
            })
        });
        self.sums.iter().cloned().chain(spread).collect()
    }
}

/// One object over its process' restarts, with the ledgers it tells.
pub struct World<'a> {
    db: &'a Sqlite,
    out: Rc<Outside<'a>>,
    pub ledgers: Ledgers,
    sequences: BTreeMap<usize, u64>,
    flushed: Totals,
}

impl<'a> World<'a> {
    pub fn new(db: &'a Sqlite) -> Self {
        let out = Outside {
            db,
            now_ms: Cell::new(NOON),
            alarm_ms: Cell::new(None),
            calls: RefCell::default(),
        };
        Self {
            db,
            out: Rc::new(out),
            ledgers: Ledgers::default(),
            sequences: BTreeMap::new(),
            flushed: Totals::new(),
        }
    }

    pub fn now_ms(&self) -> i64 {
        self.out.now_ms.get()
    }

    pub fn pass(&self, ms: i64) {
        self.out.now_ms.set(self.now_ms() + ms);
    }

    pub fn alarm_ms(&self) -> Option<i64> {
        self.out.alarm_ms.get()
    }

    /// A new process, which remembers nothing.
    fn start(&self) -> CountersService<Storage<'a>, Runtime<'a>> {
        let (storage, runtime) = (Storage(Rc::clone(&self.out)), Runtime(Rc::clone(&self.out)));
        CountersService::new(Some(SOURCE.to_owned()), storage, runtime)
    }

    pub fn flush(&mut self, flush: &Flush) {
        let sequence = self.sequences.entry(flush.isolate).or_default();
        *sequence += 1;
        let command = counters::Command::Flush(counters::Flush {
            isolate: format!("i{}", flush.isolate),
            sequence: *sequence,
            sums: flush.sums(),
        });
        for _ in 0..=usize::from(flush.repeated) {
            asked_until_answered(|| self.start().command(command.clone()).now_or_never().unwrap());
        }
        for sum in flush.sums() {
            let name = format!("ledger-{}", sum.publisher);
            let of_sum = (&sum.offer, sum.day, sum.app, sum.country, &sum.placement);
            *self.flushed.entry(kind(&name, of_sum)).or_default() += u64::from(sum.clicks);
        }
    }

    pub fn wake(&mut self, wake: &Wake) {
        let mut steps = 0;
        let mut cut_off = || {
            steps += 1;
            Some(steps) == wake.cut_off_after
        };
        let service = self.start();
        let mut alarm = pin!(service.alarm());
        let mut poll = || {
            alarm
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_ready()
        };
        let mut done = poll();
        if !cut_off() {
            if let Some(flush) = &wake.meanwhile {
                self.flush(flush);
            }
            let mut answers = wake
                .answers
                .iter()
                .copied()
                .chain(std::iter::repeat(Answer::Told));
            while !done {
                let last = self.out.calls.borrow().len() - 1;
                let call = self
                    .out
                    .calls
                    .borrow_mut()
                    .remove(if wake.reversed { last } else { 0 });
                let answer = answers.next().unwrap();
                if !matches!(answer, Answer::Down | Answer::Refused) {
                    self.ledgers.tell(&call.ledger, &call.batch);
                }
                self.pass(wake.took_ms);
                if cut_off() {
                    break;
                }
                call.answer(match answer {
                    Answer::Told => Ok(r#"{"applied":true}"#.to_owned()),
                    Answer::Lost | Answer::Down => Err(Unanswered::default().into()),
                    Answer::Refused => Err(CallError::of_answer(400, "{}".into(), None)),
                });
                done = poll();
            }
        }
        // A process that was cut off waits for no answer any more.
        self.out.calls.take();
    }

    /// A batch arrives once more, from an attempt that was given up.
    pub fn straggle(&mut self, n: usize) {
        let count = self.ledgers.arrived.len().max(1);
        if let Some((name, command)) = self.ledgers.arrived.get(n % count).cloned() {
            self.ledgers.tell(&name, &command);
        }
    }

    /// What must hold after every step.
    pub fn check(&self) {
        let mut found = clicks(&self.ledgers.totals);
        let mut waits = false;
        let waiting = "SELECT 'ledger-' || destination, SUM(clicks) FROM traffic GROUP BY destination";
        for row in self.db.query(waiting, &[]).unwrap() {
            *found.entry(row.text(0).unwrap().to_owned()).or_default() +=
                u64::try_from(row.integer(1).unwrap()).unwrap();
            waits = true;
        }
        for batch in batches::outstanding(self.db, EVER_MS).unwrap() {
            waits = true;
            let AddOffers { sequence, sums, .. } = batch.to_ledger(SOURCE).unwrap();
            let name = ledger_of(&batch);
            if sequence > self.ledgers.highest.get(&name).copied().unwrap_or(0) {
                *found.entry(name).or_default() += sums.iter().map(|sum| sum.clicks).sum::<u64>();
            }
        }
        assert_eq!(found, clicks(&self.flushed));
        if waits {
            let latest_ms = self.now_ms() + LONGEST_WAIT_MS;
            assert!(
                self.alarm_ms().is_some_and(|at_ms| at_ms <= latest_ms),
                "{:?} at {}",
                self.alarm_ms(),
                self.now_ms()
            );
        }
    }

    /// All is well again: alarms as they are set, until only the sweep of another day is left to do.
    pub fn settle_down(&mut self) {
        for _ in 0..100 {
            match self.alarm_ms() {
                Some(at_ms) if at_ms < self.now_ms() + DAY_MS / 2 => {
                    self.pass((at_ms - self.now_ms()).max(0));
                    self.wake(&Wake::default());
                    self.check();
                }
                _ => {
                    assert_eq!(dump(self.db, "traffic"), []);
                    assert_eq!(batches::outstanding(self.db, EVER_MS), Ok(vec![]));
                    assert_eq!(self.ledgers.totals, self.flushed);
                    return;
                }
            }
        }
        panic!("the alarms never end");
    }
}
