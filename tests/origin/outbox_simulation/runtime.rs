//! Mock platform for the outbox service: storage and an alarm that outlive a process, a clock, tasks that are polled
//! step by step, and calls that the world answers or leaves open.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    pin::{Pin, pin},
    rc::Rc,
    task::{Poll, Waker},
    time::Duration,
};

use futures_util::FutureExt;

use contract::{
    catalog::CallbackSettings,
    operation::{CallError, ObjectAddress, Operation as ObjectOperation, Unanswered},
    outbox::{
        Answer, Command, Conversion, Enable, Erase, OutboxShard, Replay, ReplayRewards, Replayed, Reply,
        SetOffer, Settle,
    },
};
use domain::callbacks::{delivery::Judgement, request::Request};
use origin::objects::outbox::{
    callbacks::{
        deliveries::ClaimedCallback,
        delivery_log::{AttemptResult, Observer},
        sender::CallbackSender,
    },
    service::OutboxService,
};
use platform::{
    database::{Database, DatabaseError, Row, Value},
    failure::Failure,
    http_call::{HttpAnswer, HttpCall, NoAnswer},
    keyed_flights::KeyedFlights,
    object_shell::FAILED_ALARM_RETRY_MS,
    traits::{Clock, Http, ObjectCall, ObjectStorage, Random, Spawn},
};
use url::Url;

use super::world::{NOON, STORE_KEYS, random, shard};
use crate::{migrated, sqlite::Sqlite};

/// How long a claim lasts: `CALLBACK_TIMEOUT_MS` plus twice the slack that the sender adds, in milliseconds.
pub const CLAIM_MS: i64 = 20_000;
/// How much of a claim is left at least when its attempt begins, in milliseconds.
pub const ATTEMPT_MS: i64 = 15_000;

pub type Task = Pin<Box<dyn Future<Output = ()>>>;
pub type Service = OutboxService<Storage, Runtime, Runtime>;

/// State that outlives a process: storage and the environment.
pub struct Environment {
    pub db: Sqlite,
    pub now_ms: Cell<i64>,
    pub alarm_ms: Cell<Option<i64>>,
    /// The alarm that has fired and whose run has not ended: it fires again if the process ends before.
    pub running_ms: Cell<Option<i64>>,
    pub calls: RefCell<Vec<Rc<Call>>>,
    pub spawned: RefCell<Vec<Task>>,
    /// The events of the current step.
    pub journal: RefCell<Vec<Event>>,
    pub draws: Cell<u64>,
    /// How often a commit was waited for.
    pub syncs: Cell<usize>,
    /// Whether some of these waits fail.
    pub syncs_fail: Cell<bool>,
}

pub struct Call {
    pub request: CallRequest,
    /// The time at which the caller gives up.
    pub until_ms: i64,
    /// The peer's answer, which may still be lost.
    pub arrived: RefCell<Option<CallAnswer>>,
    answer: RefCell<Option<CallAnswer>>,
    waker: RefCell<Option<Waker>>,
}

impl Call {
    pub fn answer(&self, answer: CallAnswer) {
        self.answer.replace(Some(answer));
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

#[derive(Clone, Debug)]
pub enum CallRequest {
    /// A command to an object, as JSON.
    Object(ObjectAddress, String),
    Http(Request),
}

#[derive(Clone, Debug)]
pub enum CallAnswer {
    /// An object's answer, as JSON.
    Object(String),
    Http(HttpAnswer),
    /// No answer, for any reason.
    Nothing,
}

#[derive(Debug)]
pub enum Event {
    Answered {
        conversion: Box<Conversion>,
        answer: Result<Answer, Failure>,
    },
    Settled {
        settle: Settle,
        answer: Result<Answer, Failure>,
    },
    Operated {
        operation: Operation,
        written: bool,
    },
    Skipped {
        entry: i64,
    },
    Claimed {
        claimed: ClaimedCallback,
    },
    Concluded {
        claimed: ClaimedCallback,
        judgement: Judgement,
        http_status: Option<u16>,
        written: bool,
    },
    /// An alarm failed, and the rest of its work waits for the next alarm.
    AlarmFailed,
}

#[derive(Clone, Debug)]
pub enum Operation {
    Settings(CallbackSettings),
    Replay(String),
    ReplayMany(ReplayRewards),
    /// When somebody asked for it.
    Enable(i64),
    Erase(String),
    SetOffer(SetOffer),
}

impl Operation {
    fn command(&self) -> Command {
        match self.clone() {
            Self::Settings(settings) => settings.into(),
            Self::Replay(transaction_id) => Replay { transaction_id }.into(),
            Self::ReplayMany(step) => step.into(),
            Self::Enable(at_ms) => Enable { at_ms }.into(),
            Self::Erase(user_id) => Erase { user_id }.into(),
            Self::SetOffer(offer) => offer.into(),
        }
    }
}

impl Environment {
    pub fn new(seed: u64) -> Self {
        Self {
            db: migrated(origin::objects::outbox::MIGRATIONS),
            now_ms: Cell::new(NOON),
            alarm_ms: Cell::new(None),
            running_ms: Cell::new(None),
            calls: RefCell::default(),
            spawned: RefCell::default(),
            journal: RefCell::default(),
            draws: Cell::new(seed),
            syncs: Cell::new(0),
            syncs_fail: Cell::new(false),
        }
    }

    async fn call(&self, request: CallRequest, timeout: Duration) -> CallAnswer {
        let timeout_ms = i64::try_from(timeout.as_millis()).unwrap();
        let call = Rc::new(Call {
            request,
            until_ms: self.now_ms.get() + timeout_ms,
            arrived: RefCell::default(),
            answer: RefCell::default(),
            waker: RefCell::default(),
        });
        self.calls.borrow_mut().push(Rc::clone(&call));
        poll_fn(|context| {
            call.waker.replace(Some(context.waker().clone()));
            call.answer.take().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    fn record(&self, event: Event) {
        self.journal.borrow_mut().push(event);
    }
}

/// Starts a process of the outbox. Without `locks`, conversions of one click run concurrently.
pub fn start(env: &Rc<Environment>, locks: bool) -> Rc<Service> {
    let sender = CallbackSender::new(|name| match name {
        "STORE_KEYS" => Some(STORE_KEYS.to_owned()),
        _ => None,
    });
    let locks = if locks {
        KeyedFlights::default()
    } else {
        KeyedFlights::off()
    };
    let runtime = Runtime(Rc::clone(env));
    OutboxService::new(
        None,
        Storage(Rc::clone(env)),
        runtime.clone(),
        runtime,
        sender,
        locks,
    )
}

/// Asks another outbox, whose own calls are answered meanwhile. None if it waits for a command of its own.
pub fn ask(
    env: &Environment,
    service: &Rc<Service>,
    shard: OutboxShard,
    command: Command,
    mut answer: impl FnMut(&CallRequest) -> CallAnswer,
) -> Option<Result<Reply, Failure>> {
    let mut command = pin!(service.command(shard, command));
    loop {
        if let Some(reply) = (&mut command).now_or_never() {
            return Some(reply);
        }
        let call = env.calls.borrow_mut().pop()?;
        call.answer(answer(&call.request));
    }
}

/// `fetch` with a postback.
pub async fn convert(env: Rc<Environment>, service: Rc<Service>, conversion: Conversion) {
    let command = Command::Convert(Box::new(conversion.clone()));
    let shard = OutboxShard {
        app: conversion.click.app,
        number: conversion.click.shard,
    };
    let answer = service.command(shard, command).await;
    let answer = answer.map(|reply| match reply {
        Reply::Answer(answer) => answer,
        reply => panic!("{reply:?} to a postback"),
    });
    env.record(Event::Answered {
        conversion: Box::new(conversion),
        answer,
    });
}

/// `fetch` with an action of the operator on a conversion.
pub async fn settle(env: Rc<Environment>, service: Rc<Service>, settle: Settle) {
    let answer = service.command(shard(), Command::Settle(settle.clone())).await;
    let answer = answer.map(|reply| match reply {
        Reply::Answer(answer) => answer,
        reply => panic!("{reply:?} to an action"),
    });
    env.record(Event::Settled { settle, answer });
}

/// `fetch` with a command of the operator or the catalog.
pub async fn operate(env: Rc<Environment>, service: Rc<Service>, operation: Operation) {
    let done = service.command(shard(), operation.command()).await;
    env.record(Event::Operated {
        operation,
        written: !matches!(done, Err(_) | Ok(Reply::Replayed(Replayed { replayed: 0, .. }))),
    });
}

/// `alarm`.
pub async fn wake(env: Rc<Environment>, service: Rc<Service>) {
    let retry_ms = env.now_ms.get() + FAILED_ALARM_RETRY_MS;
    let is_due = env.alarm_ms.get().is_some_and(|at_ms| at_ms <= env.now_ms.get());
    if is_due {
        env.running_ms.set(env.alarm_ms.take());
    }
    service.alarm().await;
    env.running_ms.set(None);
    if env.alarm_ms.get() == Some(retry_ms) {
        env.record(Event::AlarmFailed);
    }
}

pub struct Storage(Rc<Environment>);

impl Database for Storage {
    fn execute(&self, sql: &str, parameters: &[Value]) -> Result<(), DatabaseError> {
        self.0.db.execute(sql, parameters)
    }

    fn query(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        self.0.db.query(sql, parameters)
    }

    fn transaction<T, E: From<DatabaseError>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.0.db.transaction(work)
    }
}

impl ObjectStorage for Storage {
    /// A commit lasts for one poll or several, so one operation's conversions may wait for the next one's. It may fail, and
    /// with it all conversions that wait.
    async fn sync(&self) -> Result<(), DatabaseError> {
        self.0.syncs.set(self.0.syncs.get() + 1);
        poll_fn(|_| match random(&self.0.draws) % 64 {
            0 if self.0.syncs_fail.get() => Poll::Ready(Err(DatabaseError("the commit failed".into()))),
            0..32 => Poll::Pending,
            _ => Poll::Ready(Ok(())),
        })
        .await
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

#[derive(Clone)]
pub struct Runtime(Rc<Environment>);

impl Clock for Runtime {
    fn now_ms(&self) -> i64 {
        self.0.now_ms.get()
    }
}

impl Random for Runtime {
    fn random(&self) -> Result<[u8; 32], String> {
        let mut bytes = [0; 32];
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&random(&self.0.draws).to_le_bytes());
        }
        Ok(bytes)
    }
}

impl Spawn for Runtime {
    fn spawn(&self, _place: &'static str, task: impl Future<Output = ()> + 'static) {
        self.0.spawned.borrow_mut().push(Box::pin(task));
    }
}

impl ObjectCall for Runtime {
    async fn call<O: ObjectOperation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        let json = serde_json::to_string(&operation.into()).unwrap();
        match self.0.call(CallRequest::Object(to.clone(), json), timeout).await {
            CallAnswer::Object(json) => Ok(serde_json::from_str(&json).unwrap()),
            _ => Err(Unanswered::default().into()),
        }
    }
}

impl Http for Runtime {
    async fn send(&self, request: &Request, timeout: Duration) -> HttpCall {
        let at_ms = self.now_ms();
        let answered = self.0.call(CallRequest::Http(request.clone()), timeout).await;
        HttpCall {
            at_ms,
            took_ms: self.now_ms() - at_ms,
            outcome: match answered {
                CallAnswer::Http(answer) => Ok(answer),
                _ => Err(NoAnswer::new("connection", "no answer")),
            },
        }
    }

    async fn opens(&self, _url: &Url, _timeout: Duration) -> bool {
        false
    }
}

impl Observer for Runtime {
    fn claimed(&self, claimed: &ClaimedCallback) {
        self.0.record(Event::Claimed {
            claimed: claimed.clone(),
        });
    }

    fn skipped(&self, entry: i64) {
        self.0.record(Event::Skipped { entry });
    }

    fn concluded(&self, _now_ms: i64, concluded: &AttemptResult<'_>) {
        let outcome = concluded.call.outcome.as_ref();
        self.0.record(Event::Concluded {
            claimed: concluded.callback.clone(),
            judgement: *concluded.judgement,
            http_status: outcome.ok().map(|answer| answer.status),
            written: concluded.written,
        });
    }
}
