//! The objects of the simulation: what each is, its processes, and how a process carries out a command.

use std::rc::Rc;

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    mock_platform::{self, CallAnswer, Runtime, Storage},
    outbox_simulation::runtime::start_observed,
};
use contract::{
    ledger::{self, Command, Upload},
    outbox::OutboxShard,
};
use domain::model::PublisherId;
use origin::objects::{
    self,
    counters::service::CountersService,
    ledger::service::LedgerService,
    outbox::{
        callbacks::delivery_log::{AttemptResult, Observer},
        service::OutboxService,
    },
};
use platform::{failure::Failure, keyed_flights::KeyedFlights, migrations::Migration};

pub type Environment = mock_platform::Environment<()>;

pub struct Unobserved;

impl Observer for Unobserved {
    fn concluded(&self, _now_ms: i64, _result: &AttemptResult<'_>) {}
}

#[derive(Clone, Debug)]
pub enum Kind {
    Outbox(OutboxShard),
    /// Its name.
    Counters(String),
    Ledger(PublisherId),
}

/// A process of an object. Clones are the same process.
#[derive(Clone)]
pub enum Process {
    Outbox(Rc<OutboxService<Storage<()>, Runtime<()>, Unobserved>>),
    Counters(Rc<CountersService<Storage<()>, Runtime<()>>>),
    Ledger(Rc<LedgerService<Storage<()>, Runtime<()>>>),
}

impl Kind {
    pub fn name(&self) -> String {
        match self {
            Self::Outbox(shard) => shard.object_name(),
            Self::Counters(name) => name.clone(),
            Self::Ledger(publisher) => ledger::object_name(publisher),
        }
    }

    pub fn migrations(&self) -> &'static [Migration] {
        match self {
            Self::Outbox(_) => objects::outbox::MIGRATIONS,
            Self::Counters(_) => objects::counters::MIGRATIONS,
            Self::Ledger(_) => objects::ledger::MIGRATIONS,
        }
    }

    pub fn start(&self, env: &Rc<Environment>) -> Process {
        let (storage, runtime) = (Storage(Rc::clone(env)), Runtime(Rc::clone(env)));
        match self {
            Self::Outbox(_) => Process::Outbox(start_observed(env, Unobserved, KeyedFlights::default())),
            Self::Counters(name) => {
                Process::Counters(Rc::new(CountersService::new(Some(name.clone()), storage, runtime)))
            }
            Self::Ledger(_) => {
                Process::Ledger(Rc::new(LedgerService::new(Some(self.name()), storage, runtime, String::new())))
            }
        }
    }
}

impl Process {
    /// `fetch`: a path, and a command as JSON.
    pub async fn command(self, path: String, json: String) -> CallAnswer {
        match self {
            Self::Outbox(service) => {
                let shard = OutboxShard::parse_path(&path).unwrap();
                answer(service.command(shard, read(&json)).await)
            }
            Self::Counters(service) => answer(service.command(read(&json)).await),
            Self::Ledger(service) => {
                let (publisher, purpose) = ledger::parse_path(&path).unwrap();
                match purpose {
                    ledger::BATCH => answer(service.command(&publisher, read(&json)).await),
                    ledger::FACTS => {
                        let upload: Upload = read(&json);
                        // There is nothing to load.
                        let line = futures_util::stream::iter([Ok::<_, ()>(b"\n".to_vec())]);
                        answer(service.facts(&publisher, upload, || Ok(Some(line))).await)
                    }
                    _ => match read(&json) {
                        Command::Restate(restate) => answer(service.restate(&publisher, restate).await),
                        command => answer(service.command(&publisher, command).await),
                    },
                }
            }
        }
    }

    /// `alarm`.
    pub async fn alarm(self) {
        match self {
            Self::Outbox(service) => service.alarm().await,
            Self::Counters(service) => service.alarm().await,
            Self::Ledger(service) => service.alarm().await,
        }
    }
}

fn read<T: DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).unwrap()
}

/// An object's answer, as its caller gets it.
pub fn answer(reply: Result<impl Serialize, Failure>) -> CallAnswer {
    match reply {
        Ok(reply) => CallAnswer::Object(serde_json::to_string(&reply).unwrap()),
        Err(failure) => {
            let error = failure.into_answer();
            CallAnswer::Refused(error.status, error.body())
        }
    }
}
