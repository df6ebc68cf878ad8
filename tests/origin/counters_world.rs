//! One counters object with clock, alarm and restarts, and the ledgers it calls. It runs the production service.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    future::poll_fn,
    pin::pin,
    rc::Rc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use futures_util::{FutureExt, future::join_all};

use contract::{
    activity, attention, counters,
    ledger::{self, AddOffers, Vouch, Vouched},
    operation::{CallError, Mark, ObjectAddress, Operation, Unanswered},
};
use domain::{
    model::{
        PublisherId,
        time::{DAY_MS, UtcDay},
    },
    tracking::click_counts::ClickSum,
};
use origin::{
    delivery::backoff::MAX_WAIT_MS,
    objects::counters::{log, service::CountersService},
};
use platform::{
    database::MAX_INTEGER,
    failure::Failure,
    traits::{Clock, ObjectCall, Sleep},
};

use crate::{counters::NOON, dump, retry_until_answered, sqlite::Sqlite, storage::Storage};

const SOURCE: &str = "counters-17";
/// A ledger, and the dimensions of a sum as text.
type SumKey = (String, String);
pub type Totals = BTreeMap<SumKey, u64>;

fn sum_key(ledger: &str, clicked: impl std::fmt::Debug) -> SumKey {
    (ledger.to_owned(), format!("{clicked:?}"))
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
    marks: BTreeMap<String, i64>,
    /// Clicks by ledger, and of each ledger by day.
    pub totals: Totals,
    days: BTreeMap<(String, UtcDay), i64>,
    arrived: Vec<(String, AddOffers)>,
    /// Days for which the object has vouched.
    pub vouched: BTreeSet<(String, UtcDay)>,
}

impl Ledgers {
    fn receive(&mut self, name: &str, batch: &AddOffers) -> Mark {
        assert_eq!(batch.source, SOURCE);
        let mark = self.marks.entry(name.to_owned()).or_default();
        if batch.after != *mark {
            return Mark { mark: *mark };
        }
        assert!(batch.number > *mark, "{name} got an empty batch");
        *mark = batch.number;
        for sum in &batch.sums {
            let dimensions = (&sum.offer, sum.day, sum.app, sum.country, &sum.placement);
            *self.totals.entry(sum_key(name, dimensions)).or_default() += sum.clicks;
            *self.days.entry((name.to_owned(), sum.day)).or_default() += i64::try_from(sum.clicks).unwrap();
        }
        self.arrived.push((name.to_owned(), batch.clone()));
        Mark { mark: batch.number }
    }

    fn vouch(&mut self, name: &str, vouch: &Vouch) -> Vouched {
        let mark = self.marks.get(name).copied().unwrap_or(0);
        let day = (name.to_owned(), vouch.day);
        let missing_clicks = vouch.clicks - self.days.get(&day).copied().unwrap_or(0);
        if mark == vouch.number {
            assert_eq!(missing_clicks, 0, "{day:?}");
            self.vouched.insert(day);
        }
        Vouched { mark, missing_clicks, missing_micro_usd: 0, go_back_to: None }
    }

    fn answer(&mut self, name: &str, command: &ledger::Command) -> String {
        match command {
            ledger::Command::AddOffers(batch) => serde_json::to_string(&self.receive(name, batch)),
            ledger::Command::Vouch(vouch) => serde_json::to_string(&self.vouch(name, vouch)),
            other => panic!("{other:?}"),
        }
        .unwrap()
    }
}

/// Mock platform: a clock, the object's storage, and calls that wait for the world's answer.
pub struct Environment<'a> {
    storage: Storage<'a>,
    now_ms: Cell<i64>,
    calls: RefCell<Vec<Rc<Call>>>,
}

struct Call {
    ledger: String,
    command: ledger::Command,
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
    let declined = attention::DeclinedItems { declined: vec![], is_incomplete: false };
    serde_json::to_string(&declined).unwrap()
}

struct Runtime<'a>(Rc<Environment<'a>>);

impl Clock for Runtime<'_> {
    fn now_ms(&self) -> i64 {
        self.0.now_ms.get()
    }
}

impl Sleep for Runtime<'_> {
    /// The batches that are sent together arrive meanwhile.
    async fn sleep(&self, _time: Duration) {
        futures_util::pending!();
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
        let call = Rc::new(Call {
            ledger: to.name.clone(),
            command: serde_json::from_str(&command).unwrap(),
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
            first.map(|sum| ClickSum { placement: Some(n.to_string()), ..sum })
        });
        self.sums.iter().cloned().chain(placements).collect()
    }
}

fn start<'a>(env: &Rc<Environment<'a>>) -> Process<'a> {
    let (storage, runtime) = (env.storage.clone(), Runtime(Rc::clone(env)));
    Rc::new(CountersService::new(Some(SOURCE.to_owned()), storage, runtime))
}

type Process<'a> = Rc<CountersService<Storage<'a>, Runtime<'a>>>;

/// One object across process restarts, and its ledgers.
pub struct World<'a> {
    db: &'a Sqlite,
    env: Rc<Environment<'a>>,
    pub ledgers: Ledgers,
    process: Process<'a>,
    sequences: BTreeMap<usize, u64>,
    flushed: Totals,
}

impl<'a> World<'a> {
    pub fn new(db: &'a Sqlite) -> Self {
        let env = Environment { storage: Storage::new(db), now_ms: Cell::new(NOON), calls: RefCell::default() };
        let env = Rc::new(env);
        Self {
            db,
            process: start(&env),
            env,
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
        self.env.storage.state.alarm_ms.get()
    }

    /// Goes on with a new process, which has an empty memory.
    pub fn restart(&mut self) {
        self.process = start(&self.env);
    }

    /// Isolates send their batches at the same time, until they are answered.
    pub fn flush(&mut self, flushes: &[Flush]) {
        let mut open = BTreeMap::new();
        for flush in flushes {
            open.entry(flush.isolate).or_insert(flush);
        }
        let sent: Vec<_> = open
            .into_values()
            .map(|flush| {
                let sequence = self.sequences.entry(flush.isolate).or_default();
                *sequence += 1;
                let command = counters::Command::Flush(counters::Flush {
                    isolate: format!("i{}", flush.isolate),
                    sequence: *sequence,
                    sums: flush.sums().into(),
                });
                (flush, command)
            })
            .collect();
        for is_copy in [false, true] {
            let sent = sent.iter().filter(|(flush, _)| !is_copy || flush.repeated);
            let mut open: Vec<_> = sent.map(|(_, command)| command.clone()).collect();
            retry_until_answered(|| {
                let answers = self.answers(&open);
                open = open
                    .drain(..)
                    .zip(&answers)
                    .filter(|(_, answer)| answer.is_err())
                    .map(|(command, _)| command)
                    .collect();
                answers.into_iter().collect::<Result<Vec<_>, _>>()
            });
        }
        for flush in sent.iter().map(|(flush, _)| flush) {
            self.note(flush);
        }
    }

    fn answers(&self, commands: &[counters::Command]) -> Vec<Result<counters::Reply, Failure>> {
        let mut answers = pin!(join_all(commands.iter().map(|command| self.process.command(command.clone()))));
        for _ in 0..10 {
            if let Some(answers) = (&mut answers).now_or_never() {
                return answers;
            }
        }
        panic!("never answered: {commands:?}");
    }

    fn note(&mut self, flush: &Flush) {
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
        let process = Rc::clone(&self.process);
        let mut alarm = pin!(process.alarm());
        let mut poll = || alarm.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        let mut done = poll();
        if !cut_off() {
            if let Some(flush) = &wake.meanwhile {
                self.flush(std::slice::from_ref(flush));
            }
            let mut answers = wake.answers.iter().copied().chain(std::iter::repeat(Answer::Applied));
            while !done {
                let last = self.env.calls.borrow().len() - 1;
                let call = self.env.calls.borrow_mut().remove(if wake.reversed { last } else { 0 });
                let answer = answers.next().unwrap();
                let arrives = !matches!(answer, Answer::Down | Answer::Refused);
                let reply = arrives.then(|| self.ledgers.answer(&call.ledger, &call.command));
                self.pass(wake.took_ms);
                if cut_off() {
                    break;
                }
                call.answer(match (answer, reply) {
                    (Answer::Refused, _) => Err(CallError::from_answer(400, "{}".into(), None)),
                    (Answer::Applied, Some(reply)) => Ok(reply),
                    _ => Err(Unanswered::default().into()),
                });
                done = poll();
            }
        }
        if !done {
            // A process that was cut off no longer waits for answers.
            self.env.calls.take();
            self.restart();
        }
    }

    /// Delivers a batch once more, from an attempt that was given up.
    pub fn deliver_again(&mut self, n: usize) {
        let count = self.ledgers.arrived.len().max(1);
        if let Some((name, command)) = self.ledgers.arrived.get(n % count).cloned() {
            self.ledgers.receive(&name, &command);
        }
    }

    /// The clicks that are in the log and not in the ledgers, by ledger.
    fn waiting(&self) -> BTreeMap<String, u64> {
        let mut waiting = BTreeMap::new();
        log::each(self.db, 0, None, &mut |sum| {
            let name = format!("ledger-{}", sum.publisher);
            if sum.first > self.ledgers.marks.get(&name).copied().unwrap_or(0) {
                *waiting.entry(name).or_default() += u64::try_from(sum.clicks).unwrap();
            }
        })
        .unwrap();
        waiting
    }

    /// Checks the invariants that hold after every step.
    pub fn check(&self) {
        let mut found = clicks(&self.ledgers.totals);
        let waiting = self.waiting();
        for (name, clicks) in &waiting {
            *found.entry(name.clone()).or_default() += clicks;
        }
        assert_eq!(found, clicks(&self.flushed));
        if !waiting.is_empty() {
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
                    assert_eq!(self.waiting(), BTreeMap::new());
                    assert_eq!(dump(self.db, "flushes"), [], "all is folded");
                    assert_eq!(self.ledgers.totals, self.flushed);
                    self.check_days();
                    return;
                }
            }
        }
        panic!("the alarms never end");
    }

    /// To restate a day, a ledger gets the clicks that it has of it.
    fn check_days(&self) {
        for (ledger, clicks) in clicks(&self.flushed) {
            let publisher = PublisherId::parse(ledger.strip_prefix("ledger-").unwrap()).unwrap();
            let today = UtcDay::of_ms(self.now_ms());
            let mut reported = 0;
            for day in (-1..40).map(|days| today.minus(days)) {
                let mut next = Some(0);
                while let Some(after) = next {
                    let (publisher, through) = (publisher.clone(), MAX_INTEGER);
                    let step = counters::SumDay { publisher, day, after, through };
                    let part = log::sums_of_day(self.db, self.now_ms(), &step).unwrap();
                    reported += part.sums.iter().map(|sum| sum.clicks).sum::<u64>();
                    next = part.next;
                }
            }
            assert_eq!(reported, clicks, "{ledger}");
        }
    }
}
