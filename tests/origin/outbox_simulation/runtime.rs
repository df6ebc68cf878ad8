//! The platform's traits as the world gives them to the outbox's service: storage and an alarm that outlive a process, a clock,
//! tasks that are polled one step at a time, and calls that the world answers, or never does.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    pin::Pin,
    rc::Rc,
    task::{Poll, Waker},
    time::Duration,
};

use contract::{
    catalog::CallbackSettings,
    operation::{CallError, ObjectAddress, Operation as ObjectOperation, Unanswered},
    outbox::{Answer, Command, Conversion, Enable, Erase, Replay, ReplayMany, Reply},
};
use domain::callbacks::{delivery::Judgement, request::Request};
use origin::outbox::{
    callback_sender::CallbackSender,
    click_locks::ClickLocks,
    deliveries::Try,
    service::{Observer, OutboxService},
};
use platform::{
    database::{Database, DatabaseError, Row, Value},
    failure::Failure,
    http_call::{HttpAnswer, HttpCall, NoAnswer},
    object_shell::FAILED_ALARM_RETRY_MS,
    traits::{Clock, Http, ObjectCall, ObjectStorage, Random, Sleep, Spawn},
};

use super::world::{STORE_KEYS, app, random};
use crate::sqlite::Sqlite;

/// The longest time of a try: `CALLBACK_TIMEOUT_MS` and the slack that the sender adds.
pub const TRY_MS: i64 = 15_000;

pub type Task = Pin<Box<dyn Future<Output = ()>>>;
pub type Service = OutboxService<Storage, Runtime, Runtime>;

/// Everything that outlives a process: storage, and the world around.
pub struct Outside {
    pub db: Sqlite,
    pub now_ms: Cell<i64>,
    pub alarm_ms: Cell<Option<i64>>,
    pub calls: RefCell<Vec<Rc<Call>>>,
    pub spawned: RefCell<Vec<Task>>,
    /// The events of the present step.
    pub journal: RefCell<Vec<Event>>,
    pub draws: Cell<u64>,
}

pub struct Call {
    pub asked: Asked,
    /// When its caller gives up.
    pub until_ms: i64,
    /// The other side's answer, which may still be lost.
    pub arrived: RefCell<Option<Answered>>,
    answer: RefCell<Option<Answered>>,
    waker: RefCell<Option<Waker>>,
}

impl Call {
    pub fn answer(&self, answer: Answered) {
        self.answer.replace(Some(answer));
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

#[derive(Clone, Debug)]
pub enum Asked {
    /// A command to an object, as JSON.
    Object(ObjectAddress, String),
    Http(Request),
}

#[derive(Clone, Debug)]
pub enum Answered {
    /// An object's answer, as JSON.
    Object(String),
    Http(HttpAnswer),
    /// No answer, for whatever reason.
    Nothing,
}

#[derive(Debug)]
pub enum Event {
    Answered {
        conversion: Box<Conversion>,
        answer: Result<Answer, Failure>,
    },
    Operated {
        operation: Operation,
        written: bool,
    },
    Claimed {
        tried: Try,
    },
    Concluded {
        tried: Try,
        judgement: Judgement,
        http_status: Option<u16>,
        written: bool,
    },
    /// An alarm's work failed, and the rest waits for the next.
    Broke,
}

#[derive(Clone, Debug)]
pub enum Operation {
    Settings(CallbackSettings),
    Replay(String),
    ReplayMany(String),
    Enable,
    Erase(String),
}

impl Operation {
    fn command(&self) -> Command {
        match self.clone() {
            Self::Settings(settings) => settings.into(),
            Self::Replay(transaction_id) => Replay { transaction_id }.into(),
            Self::ReplayMany(body) => ReplayMany {
                body,
                after: 0,
                until: None,
            }
            .into(),
            Self::Enable => Enable {}.into(),
            Self::Erase(user_id) => Erase { user_id }.into(),
        }
    }
}

impl Outside {
    async fn call(&self, asked: Asked, timeout: Duration) -> Answered {
        let timeout_ms = i64::try_from(timeout.as_millis()).unwrap();
        let call = Rc::new(Call {
            asked,
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

    fn tell(&self, event: Event) {
        self.journal.borrow_mut().push(event);
    }
}

/// A new process of the outbox. Without `locks` the conversions of a click cross each other as they like.
pub fn start(out: &Rc<Outside>, locks: bool) -> Rc<Service> {
    let sender = CallbackSender::new(|name| match name {
        "STORE_KEYS" => Some(STORE_KEYS.to_owned()),
        _ => None,
    });
    let locks = if locks {
        ClickLocks::default()
    } else {
        ClickLocks::off()
    };
    let runtime = Runtime(Rc::clone(out));
    OutboxService::new(
        None,
        Storage(Rc::clone(out)),
        runtime.clone(),
        runtime,
        sender,
        locks,
    )
}

/// `fetch` with a postback.
pub async fn convert(out: Rc<Outside>, service: Rc<Service>, conversion: Conversion) {
    let command = Command::Convert(Box::new(conversion.clone()));
    let answer = service.command(app(), command).await;
    let answer = answer.map(|reply| match reply {
        Reply::Answer(answer) => answer,
        reply => panic!("{reply:?} to a postback"),
    });
    out.tell(Event::Answered {
        conversion: Box::new(conversion),
        answer,
    });
}

/// `fetch` with a command of the operator's or of the catalog's.
pub async fn operate(out: Rc<Outside>, service: Rc<Service>, operation: Operation) {
    let done = service.command(app(), operation.command()).await;
    // The catalog did not confirm the app: nothing was done.
    if matches!(&done, Err(Failure::Refused(error)) if error.status == 503) {
        return;
    }
    out.tell(Event::Operated {
        operation,
        written: done.is_ok(),
    });
}

/// `alarm`.
pub async fn wake(out: Rc<Outside>, service: Rc<Service>) {
    let retry_ms = out.now_ms.get() + FAILED_ALARM_RETRY_MS;
    service.alarm().await;
    if out.alarm_ms.get() == Some(retry_ms) {
        out.tell(Event::Broke);
    }
}

pub struct Storage(Rc<Outside>);

impl Database for Storage {
    fn query(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        self.0.db.query(sql, parameters)
    }

    fn transaction<T, E: From<DatabaseError>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.0.db.transaction(work)
    }
}

impl ObjectStorage for Storage {
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
pub struct Runtime(Rc<Outside>);

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

impl Sleep for Runtime {
    /// Every other task gets its turn; the service only sleeps to let some gather.
    async fn sleep(&self, _time: Duration) {
        let mut waited = false;
        poll_fn(|context| {
            context.waker().wake_by_ref();
            if std::mem::replace(&mut waited, true) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
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
        match self.0.call(Asked::Object(to.clone(), json), timeout).await {
            Answered::Object(json) => Ok(serde_json::from_str(&json).unwrap()),
            _ => Err(Unanswered::default().into()),
        }
    }
}

impl Http for Runtime {
    async fn send(&self, request: &Request, timeout: Duration) -> HttpCall {
        let at_ms = self.now_ms();
        let answered = self.0.call(Asked::Http(request.clone()), timeout).await;
        HttpCall {
            at_ms,
            took_ms: self.now_ms() - at_ms,
            outcome: match answered {
                Answered::Http(answer) => Ok(answer),
                _ => Err(NoAnswer::new("connection", "no answer")),
            },
        }
    }
}

impl Observer for Runtime {
    fn claimed(&self, tried: &Try) {
        self.0.tell(Event::Claimed { tried: tried.clone() });
    }

    fn concluded(&self, _now_ms: i64, tried: &Try, call: &HttpCall, judgement: &Judgement, written: bool) {
        self.0.tell(Event::Concluded {
            tried: tried.clone(),
            judgement: *judgement,
            http_status: call.outcome.as_ref().ok().map(|answer| answer.status),
            written,
        });
    }
}
