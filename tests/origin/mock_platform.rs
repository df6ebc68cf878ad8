//! Mock platform for the objects' services: storage and an alarm that outlive a process, a clock, tasks that are polled
//! step by step, and calls that a simulation answers or leaves open.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    pin::Pin,
    rc::Rc,
    task::{Poll, Waker},
    time::Duration,
};

use contract::operation::{CallError, ObjectAddress, Operation, Unanswered};
use domain::callbacks::request::Request;
use platform::{
    database::{Database, DatabaseError, Row, Value},
    http_call::{HttpAnswer, HttpCall, NoAnswer},
    traits::{Clock, Http, ObjectCall, ObjectStorage, Random, Sleep, Spawn},
};
use url::Url;

use crate::sqlite::Sqlite;

pub type Task = Pin<Box<dyn Future<Output = ()>>>;

/// State that outlives a process: storage and the environment. A simulation records events of its own type.
pub struct Environment<E> {
    pub db: Sqlite,
    /// Processes may share a clock.
    pub now_ms: Rc<Cell<i64>>,
    pub alarm_ms: Cell<Option<i64>>,
    /// The alarm that has fired and whose run has not ended: it fires again if the process ends before.
    pub running_ms: Cell<Option<i64>>,
    pub calls: RefCell<Vec<Rc<Call>>>,
    pub spawned: RefCell<Vec<Task>>,
    /// The events of the current step.
    pub journal: RefCell<Vec<E>>,
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
    /// An object's refusal: its status and the JSON of the error.
    Refused(u16, String),
    Http(HttpAnswer),
    /// No answer, for any reason.
    Nothing,
}

/// splitmix64.
pub fn random(state: &Cell<u64>) -> u64 {
    state.set(state.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
    let mut z = state.get();
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl<E> Environment<E> {
    pub fn of(db: Sqlite, now_ms: Rc<Cell<i64>>, seed: u64) -> Self {
        Self {
            db,
            now_ms,
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

    pub async fn call(&self, request: CallRequest, timeout: Duration) -> CallAnswer {
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

    pub fn record(&self, event: E) {
        self.journal.borrow_mut().push(event);
    }

    /// Fires the alarm, if it is due: `alarm` is its run.
    pub async fn fire(&self, alarm: impl Future<Output = ()>) {
        let is_due = self.alarm_ms.get().is_some_and(|at_ms| at_ms <= self.now_ms.get());
        if is_due {
            self.running_ms.set(self.alarm_ms.take());
        }
        alarm.await;
        self.running_ms.set(None);
    }
}

pub struct Storage<E>(pub Rc<Environment<E>>);

impl<E> Database for Storage<E> {
    fn execute(&self, sql: &str, parameters: &[Value]) -> Result<(), DatabaseError> {
        self.0.db.execute(sql, parameters)
    }

    fn query(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        self.0.db.query(sql, parameters)
    }

    fn transaction<T, F: From<DatabaseError>>(&self, work: impl FnOnce() -> Result<T, F>) -> Result<T, F> {
        self.0.db.transaction(work)
    }
}

impl<E> ObjectStorage for Storage<E> {
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

pub struct Runtime<E>(pub Rc<Environment<E>>);

impl<E> Clone for Runtime<E> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<E> Clock for Runtime<E> {
    fn now_ms(&self) -> i64 {
        self.0.now_ms.get()
    }
}

impl<E> Random for Runtime<E> {
    fn random(&self) -> Result<[u8; 32], String> {
        let mut bytes = [0; 32];
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&random(&self.0.draws).to_le_bytes());
        }
        Ok(bytes)
    }
}

impl<E> Sleep for Runtime<E> {
    /// It lasts for one poll or several, so that what arrives meanwhile is gathered.
    async fn sleep(&self, _time: Duration) {
        poll_fn(|_| match random(&self.0.draws) % 2 {
            0 => Poll::Pending,
            _ => Poll::Ready(()),
        })
        .await;
    }
}

impl<E> Spawn for Runtime<E> {
    fn spawn(&self, _place: &'static str, task: impl Future<Output = ()> + 'static) {
        self.0.spawned.borrow_mut().push(Box::pin(task));
    }
}

impl<E> ObjectCall for Runtime<E> {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        let json = serde_json::to_string(&operation.into()).unwrap();
        match self.0.call(CallRequest::Object(to.clone(), json), timeout).await {
            CallAnswer::Object(json) => Ok(serde_json::from_str(&json).unwrap()),
            CallAnswer::Refused(status, body) => Err(CallError::from_answer(status, body, None)),
            _ => Err(Unanswered::default().into()),
        }
    }
}

impl<E> Http for Runtime<E> {
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
