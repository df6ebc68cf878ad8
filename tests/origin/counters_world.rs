//! One counters object with clock, alarm and restarts, and the ledgers it calls. It runs the production service.

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
    activity, attention, counters,
    ledger::{self, AddOffers},
    operation::{CallError, ObjectAddress, Operation, Unanswered},
};
use domain::{model::time::DAY_MS, tracking::click_counts::ClickSum};
use origin::{
    delivery::{
        backoff::MAX_WAIT_MS,
        batches::{self, Batch},
    },
    objects::counters::{publisher, service::CountersService},
};
use platform::{
    database::{Database, DatabaseError, Row, Value},
    traits::{Clock, ObjectCall, ObjectStorage},
};

use crate::{counters::NOON, dump, retry_until_answered, sqlite::Sqlite};

const SOURCE: &str = "counters-17";
/// A time at which every batch is due.
const EVER_MS: i64 = 1 << 50;

/// A ledger, and the dimensions of a sum as text.
type SumKey = (String, String);
pub type Totals = BTreeMap<SumKey, u64>;

fn sum_key(ledger: &str, clicked: impl std::fmt::Debug) -> SumKey {
    (ledger.to_owned(), format!("{clicked:?}"))
}

fn ledger_of(batch: &Batch) -> String {
    ledger::object_name(&publisher(batch).unwrap())
}

/// The clicks of each ledger.
fn clicks(totals: &Totals) -> BTreeMap<String, u64> {
    let mut clicks = BTreeMap::new();
    for ((ledger, _), more) in totals {
        *clicks.entry(ledger.clone()).or_default() += more;
    }
    clicks
}

/// The outcome of sending a batch.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    Applied,
    /// It was applied, and the answer was lost.
    Lost,
    Down,
    Refused,
}

/// All publishers' ledgers, which apply batches as [`AddOffers`] specifies.
#[derive(Default)]
pub struct Ledgers {
    highest: BTreeMap<String, u64>,
    pub totals: Totals,
    arrived: Vec<(String, AddOffers)>,
}

impl Ledgers {
    fn receive(&mut self, name: &str, batch: &AddOffers) {
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
        assert_eq!(*sequence, *highest + 1, "{name} skipped a batch");
        *highest = *sequence;
        for sum in sums {
            let dimensions = (&sum.offer, sum.day, sum.app, sum.country, &sum.placement);
            *self.totals.entry(sum_key(name, dimensions)).or_default() += sum.clicks;
        }
        self.arrived.push((name.to_owned(), batch.clone()));
    }
}

/// Mock platform: a clock, an alarm beside the database, and calls that wait for the world's answer.
pub struct Environment<'a> {
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

/// The attention has room for each item.
fn attend(command: &str) -> String {
    let activity::Command::Attention(report) = serde_json::from_str(command).unwrap() else {
        panic!("{command}");
    };
    assert_eq!(report.source, SOURCE);
    let declined = attention::DeclinedItems {
        declined: vec![],
        is_incomplete: false,
    };
    serde_json::to_string(&declined).unwrap()
}

struct Storage<'a>(Rc<Environment<'a>>);

impl Database for Storage<'_> {
    fn query(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        self.0.db.query(sql, parameters)
    }

    fn transaction<T, E: From<DatabaseError>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.0.db.transaction(work)
    }
}

impl ObjectStorage for Storage<'_> {
    async fn sync(&self) -> Result<(), DatabaseError> {
        Ok(())
    }

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

struct Runtime<'a>(Rc<Environment<'a>>);

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
        if to.name == attention::OBJECT_NAME {
            return Ok(serde_json::from_str(&attend(&command)).unwrap());
        }
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

/// One alarm with its faults.
#[derive(Clone, Debug, Default)]
pub struct Wake {
    /// One outcome for each batch; later batches succeed.
    pub answers: Vec<Answer>,
    pub took_ms: i64,
    /// The object ends after so many steps and loses its memory.
    pub cut_off_after: Option<usize>,
    /// Answers arrive in the reverse order of the batches.
    pub reversed: bool,
    /// Counted while the calls to the ledgers are open.
    pub meanwhile: Option<Flush>,
}

#[derive(Clone, Debug)]
pub struct Flush {
    pub isolate: usize,
    /// Sent twice, by an isolate that lost the answer.
    pub repeated: bool,
    pub sums: Vec<ClickSum>,
    /// The first sum was clicked in so many placements.
    pub placements: i64,
}

impl Flush {
    fn sums(&self) -> Vec<ClickSum> {
        let placements = (1..self.placements).flat_map(|n| {
            let first = self.sums.first().cloned();
            first.map(|sum| ClickSum {
                placement: Some(n.to_string()),
                ..sum
            })
        });
        self.sums.iter().cloned().chain(placements).collect()
    }
}

/// One object across process restarts, and its ledgers.
pub struct World<'a> {
    db: &'a Sqlite,
    env: Rc<Environment<'a>>,
    pub ledgers: Ledgers,
    sequences: BTreeMap<usize, u64>,
    flushed: Totals,
}

impl<'a> World<'a> {
    pub fn new(db: &'a Sqlite) -> Self {
        let env = Environment {
            db,
            now_ms: Cell::new(NOON),
            alarm_ms: Cell::new(None),
            calls: RefCell::default(),
        };
        Self {
            db,
            env: Rc::new(env),
            ledgers: Ledgers::default(),
            sequences: BTreeMap::new(),
            flushed: Totals::new(),
        }
    }

    pub fn now_ms(&self) -> i64 {
        self.env.now_ms.get()
    }

    pub fn pass(&self, ms: i64) {
        self.env.now_ms.set(self.now_ms() + ms);
    }

    pub fn alarm_ms(&self) -> Option<i64> {
        self.env.alarm_ms.get()
    }

    /// Starts a new process with empty memory.
    fn start(&self) -> CountersService<Storage<'a>, Runtime<'a>> {
        let (storage, runtime) = (Storage(Rc::clone(&self.env)), Runtime(Rc::clone(&self.env)));
        CountersService::new(Some(SOURCE.to_owned()), storage, runtime)
    }

    pub fn flush(&mut self, flush: &Flush) {
        let sequence = self.sequences.entry(flush.isolate).or_default();
        *sequence += 1;
        let command = counters::Command::Flush(counters::Flush {
            isolate: format!("i{}", flush.isolate),
            sequence: *sequence,
            sums: flush.sums().into(),
        });
        for _ in 0..=usize::from(flush.repeated) {
            retry_until_answered(|| self.start().command(command.clone()).now_or_never().unwrap());
        }
        for sum in flush.sums() {
            let name = format!("ledger-{}", sum.publisher);
            let dimensions = (&sum.offer, sum.day, sum.app, sum.country, &sum.placement);
            *self.flushed.entry(sum_key(&name, dimensions)).or_default() += u64::from(sum.clicks);
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
                .chain(std::iter::repeat(Answer::Applied));
            while !done {
                let last = self.env.calls.borrow().len() - 1;
                let call = self
                    .env
                    .calls
                    .borrow_mut()
                    .remove(if wake.reversed { last } else { 0 });
                let answer = answers.next().unwrap();
                if !matches!(answer, Answer::Down | Answer::Refused) {
                    self.ledgers.receive(&call.ledger, &call.batch);
                }
                self.pass(wake.took_ms);
                if cut_off() {
                    break;
                }
                call.answer(match answer {
                    Answer::Applied => Ok(r#"{"applied":true}"#.to_owned()),
                    Answer::Lost | Answer::Down => Err(Unanswered::default().into()),
                    Answer::Refused => Err(CallError::from_answer(400, "{}".into(), None)),
                });
                done = poll();
            }
        }
        // A process that was cut off no longer waits for answers.
        self.env.calls.take();
    }

    /// Delivers a batch once more, from an attempt that was given up.
    pub fn deliver_again(&mut self, n: usize) {
        let count = self.ledgers.arrived.len().max(1);
        if let Some((name, command)) = self.ledgers.arrived.get(n % count).cloned() {
            self.ledgers.receive(&name, &command);
        }
    }

    /// Checks the invariants that hold after every step.
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
            let latest_ms = self.now_ms() + MAX_WAIT_MS;
            assert!(
                self.alarm_ms().is_some_and(|at_ms| at_ms <= latest_ms),
                "{:?} at {}",
                self.alarm_ms(),
                self.now_ms()
            );
        }
    }

    /// Lets everything succeed: alarms run when set, until only the sweep of another day is left.
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
