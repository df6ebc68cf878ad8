//! The outbox service over the mock platform: its processes, the requests to them, and the events of a step.

use std::{cell::Cell, pin::pin, rc::Rc};

use futures_util::FutureExt;

use contract::{
    catalog::CallbackSettings,
    outbox::{
        Answer, Command, Conversion, Enable, Erase, OutboxShard, Replay, ReplayRewards, Replayed, Reply, SetOffer,
        Settle,
    },
};
use domain::callbacks::delivery::Judgement;
use origin::{
    delivery::callback_sender::CallbackSender,
    objects::outbox::{
        callbacks::{
            deliveries::ClaimedCallback,
            delivery_log::{AttemptResult, Observer},
        },
        service::OutboxService,
    },
};
use platform::{failure::Failure, keyed_flights::KeyedFlights, object_shell::FAILED_ALARM_RETRY_MS};

pub use crate::mock_platform::{CallAnswer, CallRequest, Task};

use super::world::{NOON, STORE_KEYS, shard};
use crate::{
    migrated,
    mock_platform::{self, Storage},
};

/// How long a claim lasts: `CALLBACK_TIMEOUT_MS` plus twice the slack that the sender adds, in milliseconds.
pub const CLAIM_MS: i64 = 20_000;
/// How much of a claim is left at least when its attempt begins, in milliseconds.
pub const ATTEMPT_MS: i64 = 15_000;

pub type Environment = mock_platform::Environment<Event>;
pub type Runtime = mock_platform::Runtime<Event>;
pub type Service = OutboxService<Storage<Event>, Runtime, Runtime>;

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
            Self::Erase(user_id) => Erase { user_id, is_witness: false }.into(),
            Self::SetOffer(offer) => offer.into(),
        }
    }
}

impl Environment {
    pub fn new(seed: u64) -> Self {
        let db = migrated(origin::objects::outbox::MIGRATIONS);
        Self::of(db, Rc::new(Cell::new(NOON)), seed)
    }
}

/// Starts a process of the outbox. Without `locks`, conversions of one click run concurrently.
pub fn start(env: &Rc<Environment>, locks: bool) -> Rc<Service> {
    let locks = if locks { KeyedFlights::default() } else { KeyedFlights::off() };
    start_observed(env, mock_platform::Runtime(Rc::clone(env)), locks)
}

/// The same for the events of another simulation.
pub fn start_observed<E: 'static, O: Observer + 'static>(
    env: &Rc<mock_platform::Environment<E>>,
    observer: O,
    locks: KeyedFlights<()>,
) -> Rc<OutboxService<Storage<E>, mock_platform::Runtime<E>, O>> {
    let sender = CallbackSender::new(|name| match name {
        "STORE_KEYS" => Some(STORE_KEYS.to_owned()),
        _ => None,
    });
    let runtime = mock_platform::Runtime(Rc::clone(env));
    OutboxService::new(None, Storage(Rc::clone(env)), runtime, observer, sender, locks)
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
    let shard = OutboxShard { app: conversion.click.app, number: conversion.click.shard };
    let answer = service.command(shard, command).await;
    let answer = answer.map(|reply| match reply {
        Reply::Answer(answer) => answer,
        reply => panic!("{reply:?} to a postback"),
    });
    env.record(Event::Answered { conversion: Box::new(conversion), answer });
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
    env.fire(service.alarm()).await;
    if env.alarm_ms.get() == Some(retry_ms) {
        env.record(Event::AlarmFailed);
    }
}

impl Observer for Runtime {
    fn claimed(&self, claimed: &ClaimedCallback) {
        self.0.record(Event::Claimed { claimed: claimed.clone() });
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
