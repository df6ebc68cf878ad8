//! `origin/counters` as Workers runs it: commands, and an alarm that sweeps and tells the ledgers.

use std::panic::RefUnwindSafe;

use futures_util::{StreamExt, stream};
use worker::{
    DurableObject, Env, ObjectNamespace, Request, Response, State, console_error, console_warn,
    durable_object,
};

use super::{
    BINDING, MIGRATIONS, alarm, alarm_after_command,
    forward::{self, Batch},
    handle, next_alarm, object_names,
};
use crate::{
    origin::{command::Failure, database::DatabaseError, durable::DurableDatabase, ledger, shell::Shell},
    runtime::now_ms,
};

/// An invocation has six connections.
const CONNECTIONS: usize = 6;

#[durable_object(alarm)]
pub struct Counters {
    state: State,
    env: Env,
    shell: Shell,
}

/// Nothing here is changed but the shell, which answers for itself.
impl RefUnwindSafe for Counters {}

impl DurableObject for Counters {
    fn new(state: State, env: Env) -> Self {
        Self {
            shell: Shell::new("counters", &state, MIGRATIONS),
            state,
            env,
        }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        self.shell.serve(request, handle, alarm_after_command).await
    }

    async fn alarm(&self) -> worker::Result<Response> {
        self.shell.wake_async(async |db| self.work(db).await).await
    }
}

/// What it takes to tell a ledger.
struct Route {
    /// This object's name: under it a ledger knows the batches.
    source: String,
    ledgers: ObjectNamespace,
}

impl Counters {
    /// Neither half of the work keeps the other from being done. After an error the alarm stays as it was re-armed:
    /// what cannot be written down is not to be tried again at once.
    async fn work(&self, db: &DurableDatabase) -> Result<Option<i64>, Failure> {
        let woken_ms = now_ms();
        let sweep_due_ms = alarm(db, woken_ms);
        let more_to_forward = self.forward(db).await;
        let more = more_to_forward? || sweep_due_ms?.is_some_and(|due_ms| due_ms <= woken_ms);
        if more {
            Ok(Some(now_ms()))
        } else {
            Ok(next_alarm(db, now_ms())?)
        }
    }

    /// Returns whether there is more to do at once.
    async fn forward(&self, db: &DurableDatabase) -> Result<bool, DatabaseError> {
        // A batch leaves the object only when it is durable: the runtime holds requests back until what was written
        // before them is. A number that was lost with its batch would be given to other sums.
        let more = forward::prepare(db, now_ms());
        let batches = forward::outstanding(db, now_ms())?;
        if batches.is_empty() {
            return more;
        }
        let route = self
            .route()
            .inspect_err(|error| console_error!("counters: no ledger can be told: {error}"))
            .ok();
        let settled: Vec<_> = stream::iter(batches)
            .map(|batch| settle(db, route.as_ref(), batch))
            .buffer_unordered(CONNECTIONS)
            .collect()
            .await;
        settled.into_iter().collect::<Result<(), _>>()?;
        more
    }

    fn route(&self) -> Result<Route, String> {
        let ledgers = self.env.durable_object(ledger::BINDING);
        Ok(Route {
            source: self.own_name().ok_or("the object does not know its name")?,
            ledgers: ledgers.map_err(|error| error.to_string())?,
        })
    }

    /// An object that its alarm has started is not told its name; but it knows its id, and that of each name there is.
    fn own_name(&self) -> Option<String> {
        let id = self.state.id();
        id.name().or_else(|| {
            let counters = self.env.durable_object(BINDING).ok()?;
            object_names().find(|name| counters.id_from_name(name).is_ok_and(|of_name| of_name == id))
        })
    }
}

/// Tells a ledger its batch, and writes down what became of it.
async fn settle(db: &DurableDatabase, route: Option<&Route>, batch: Batch) -> Result<(), DatabaseError> {
    let Some(Route { source, ledgers }) = route else {
        return forward::failed(db, &batch, now_ms());
    };
    let (publisher, command) = match batch.to_ledger(source) {
        Ok(addressed) => addressed,
        Err(error) => {
            console_error!(
                "{source}: batch {} of {}: {error}",
                batch.sequence,
                batch.publisher
            );
            return forward::refused(db, &batch, now_ms());
        }
    };
    let told = ledger::client::add(ledgers, &publisher, &command).await;
    match told {
        Ok(_) => forward::acknowledge(db, &batch),
        Err(error) if forward::is_refusal(&error) => {
            console_error!("{source}: {publisher}: batch {}: {error}", batch.sequence);
            forward::refused(db, &batch, now_ms())
        }
        Err(error) => {
            console_warn!("{source}: {publisher}: batch {}: {error}", batch.sequence);
            forward::failed(db, &batch, now_ms())
        }
    }
}
