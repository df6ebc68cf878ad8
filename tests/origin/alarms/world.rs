//! A publisher's activity object with an address for alarms, its clock, and the address.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    rc::Rc,
    time::Duration,
};

use futures_util::FutureExt;
use serde_json::{Value as Json, json};
use url::Url;

use crate::{registers::Registers, sqlite::Sqlite, storage::Storage};
use contract::{
    activity::{Command, EndpointStanding, FeedBatch, Reply, StartReplay},
    alarms::{Alarm, AlarmKind, RaiseAlarms, SetAlarmAddress},
    operation::{CallError, ObjectAddress, Operation, OperatorReply},
    outbox::{self, EndpointState},
    rewards::RewardFilter,
};
use domain::{
    callbacks::request::Request,
    model::{AppId, PublisherId, time::SECOND_MS},
};
use origin::objects::activity::service::ActivityService;
use platform::{
    failure::Failure,
    http_call::{HttpAnswer, HttpCall, NoAnswer},
    traits::{Clock, Http, ObjectCall, Random, Sleep},
};

/// 12:25 of 2026-01-15, UTC.
pub const NOW: i64 = 1_768_479_900_000;
pub const URL: &str = "https://hooks.acme.example/alarms?key=k-0123456789abcdef";
pub const STORE_KEYS: &str = "1:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
pub const NEW_KEY: &str = "2:ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";
pub const BOTH_KEYS: &str = "2:ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100,1:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
pub const OTHER_KEYS: &str = "2:ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";
pub const NAME: Option<&str> = Some("activity-acme");

/// How the address answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    Answers(u16),
    Hangs,
}

/// A request that was sent: when, its id and its body.
#[derive(Clone, Debug)]
pub struct Sent {
    pub at_ms: i64,
    pub id: String,
    pub body: Json,
}

impl Sent {
    /// The entries of the message: its only one, or those of a digest.
    pub fn entries(&self) -> Vec<Json> {
        match self.body["data"]["alarms"].as_array() {
            Some(entries) => entries.clone(),
            None => vec![self.body["data"].clone()],
        }
    }
}

pub struct State {
    /// `STORE_KEYS` of the next process.
    pub keys: Cell<&'static str>,
    pub now_ms: Cell<i64>,
    pub receiver: Cell<Receiver>,
    pub sent: RefCell<Vec<Sent>>,
    pub draws: Cell<u8>,
    pub registers: Registers,
    /// Steps that the outbox of a replay has left.
    pub steps: Cell<u32>,
}

#[derive(Clone)]
pub struct Runtime(pub Rc<State>);

impl Clock for Runtime {
    fn now_ms(&self) -> i64 {
        self.0.now_ms.get()
    }
}

impl Random for Runtime {
    fn random(&self) -> Result<[u8; 32], String> {
        self.0.draws.set(self.0.draws.get().wrapping_add(1));
        Ok([self.0.draws.get(); 32])
    }
}

impl ObjectCall for Runtime {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        if to.binding != outbox::BINDING {
            return self.0.registers.answer(self.now_ms(), to, operation);
        }
        let left = self.0.steps.get().saturating_sub(1);
        self.0.steps.set(left);
        let step = json!({ "replayed": 1, "next": (left > 0).then_some(left), "until": 1 });
        Ok(serde_json::from_value(step).unwrap())
    }
}

impl Sleep for Runtime {
    /// Time passes at once.
    async fn sleep(&self, time: Duration) {
        let ms = i64::try_from(time.as_millis()).unwrap();
        self.0.now_ms.set(self.now_ms() + ms);
    }
}

impl Http for Runtime {
    async fn send(&self, request: &Request, _timeout: Duration) -> HttpCall {
        let header = |name| request.headers.iter().find(|(known, _)| *known == name);
        self.0.sent.borrow_mut().push(Sent {
            at_ms: self.now_ms(),
            id: header("webhook-id").unwrap().1.clone(),
            body: serde_json::from_str(request.body.as_deref().unwrap()).unwrap(),
        });
        assert!(header("webhook-signature").unwrap().1.starts_with("v1,"));
        let Receiver::Answers(status) = self.0.receiver.get() else {
            return std::future::pending().await;
        };
        HttpCall {
            at_ms: self.now_ms(),
            took_ms: 7,
            outcome: match status {
                0 => Err(NoAnswer::new("connection", "no answer")),
                status => Ok(HttpAnswer { status, ..HttpAnswer::default() }),
            },
        }
    }

    async fn opens(&self, _url: &Url, _timeout: Duration) -> bool {
        false
    }
}

/// A publisher's activity object with an address for alarms.
pub struct World<'a> {
    pub storage: Storage<'a>,
    pub runtime: Runtime,
    pub service: ActivityService<Storage<'a>, Runtime>,
    pub sequence: i64,
}

pub fn start<'a>(
    storage: &Storage<'a>,
    runtime: &Runtime,
    name: Option<&str>,
) -> ActivityService<Storage<'a>, Runtime> {
    ActivityService::new(name.map(str::to_owned), storage.clone(), runtime.clone(), |name| match name {
        "STORE_KEYS" => Some(runtime.0.keys.get().to_owned()),
        "DASHBOARD_URL" => Some("https://dash.example".to_owned()),
        _ => None,
    })
}

impl<'a> World<'a> {
    pub fn new(db: &'a Sqlite) -> Self {
        let storage = Storage::new(db);
        let runtime = Runtime(Rc::new(State {
            keys: Cell::new(STORE_KEYS),
            now_ms: Cell::new(NOW),
            receiver: Cell::new(Receiver::Answers(204)),
            sent: RefCell::default(),
            draws: Cell::new(0),
            registers: Registers::default(),
            steps: Cell::new(0),
        }));
        let service = start(&storage, &runtime, NAME);
        let world = Self { storage, runtime, service, sequence: 0 };
        let set = world.set(Some(URL)).unwrap();
        assert!(set.body.contains("whsec_"), "{}", set.body);
        world
    }

    /// Puts the object back to a copy. Its timer starts it, and does not tell it its name.
    pub fn put_back(self, copy: &'a Sqlite) -> Self {
        let storage = Storage::new(copy);
        let service = start(&storage, &self.runtime, None);
        Self { storage, service, ..self }
    }

    pub fn now_ms(&self) -> i64 {
        self.runtime.now_ms()
    }

    pub fn send(&self, command: impl Into<Command>) -> Result<Reply, Failure> {
        self.service.command(command.into()).now_or_never().unwrap()
    }

    pub fn operator(&self, command: impl Into<Command>) -> Result<OperatorReply, Failure> {
        match self.send(command)? {
            Reply::Operator(reply) => Ok(reply),
            other => panic!("{other:?}"),
        }
    }

    pub fn set(&self, url: Option<&str>) -> Result<OperatorReply, Failure> {
        self.operator(SetAlarmAddress { publisher: PublisherId::parse("acme"), url: url.map(str::to_owned) })
    }

    pub fn raise(&self, kind: AlarmKind, subject: &str, cause: i64) {
        let alarm =
            Alarm { kind, subject: subject.to_owned(), cause, since_ms: self.now_ms(), count: 1, publisher: None };
        self.send(RaiseAlarms::from(vec![alarm])).unwrap();
    }

    /// An outbox reports the state of its app's endpoint, and how many rewards were given up.
    pub fn report(&mut self, state: EndpointState, dead: i64) {
        self.sequence += 1;
        let batch = FeedBatch {
            app: AppId::from_number(42).unwrap(),
            shard: 0,
            sequence: self.sequence,
            confirmed: self.sequence - 1,
            restarts: false,
            at_ms: self.now_ms(),
            owes_since_ms: None,
            next_by_ms: None,
            endpoint: EndpointStanding { state, dead, ..EndpointStanding::default() },
            counts: vec![],
            entries: vec![],
        };
        self.send(Box::new(batch)).unwrap();
    }

    /// Starts a replay of so many steps.
    pub fn replay(&self, steps: u32) {
        self.runtime.0.steps.set(steps);
        let start = StartReplay {
            publisher: PublisherId::parse("acme").unwrap(),
            app: AppId::from_number(42).unwrap(),
            filter: RewardFilter { until: Some(1), ..RewardFilter::default() },
            key: "k".into(),
            most: None,
        };
        self.send(start).unwrap();
    }

    /// The object's timer is due now.
    pub fn wake(&self) {
        self.storage.state.alarm_ms.set(Some(self.now_ms()));
    }

    /// The process ends, with whatever it was doing. The timer starts the next one.
    pub fn kill(&mut self) {
        self.service = start(&self.storage, &self.runtime, None);
    }

    /// Fires the alarms until a time. One that hangs ends with its process.
    pub fn pass_until(&mut self, until_ms: i64) {
        while let Some(at_ms) = self.storage.state.alarm_ms.get().filter(|at_ms| *at_ms <= until_ms) {
            self.runtime.0.now_ms.set(at_ms.max(self.now_ms()));
            self.storage.state.alarm_ms.set(None);
            if self.service.alarm().now_or_never().is_none() {
                self.kill();
                // The runtime runs an alarm again whose run did not end.
                let again_ms = self.now_ms() + 20 * SECOND_MS;
                let set_ms = self.storage.state.alarm_ms.get();
                self.storage.state.alarm_ms.set(Some(set_ms.map_or(again_ms, |set_ms| set_ms.min(again_ms))));
            }
        }
        self.runtime.0.now_ms.set(until_ms.max(self.now_ms()));
    }

    pub fn pass(&mut self, ms: i64) {
        self.pass_until(self.now_ms() + ms);
    }

    pub fn sent(&self) -> Vec<Sent> {
        self.runtime.0.sent.borrow().clone()
    }

    /// The ids that were sent in a time, each once.
    pub fn ids(&self, from_ms: i64, until_ms: i64) -> BTreeSet<String> {
        let sent = self.sent().into_iter();
        sent.filter(|sent| (from_ms..until_ms).contains(&sent.at_ms)).map(|sent| sent.id).collect()
    }
}
