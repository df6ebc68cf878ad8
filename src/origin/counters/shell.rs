//! `origin/counters` as Workers runs it: commands, and an alarm that sweeps and tells the ledgers.

use std::panic::RefUnwindSafe;

use worker::{DurableObject, Env, ObjectNamespace, Request, Response, State, durable_object};

use super::{BINDING, MIGRATIONS, alarm, alarm_after_command, handle, next_alarm, object_names, publisher};
use crate::{
    origin::{
        command::Failure,
        database::DatabaseError,
        durable::DurableDatabase,
        forward::{Batch, Untold},
        forwarding, ledger,
        shell::Shell,
    },
    runtime::now_ms,
};

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

impl Route {
    async fn tell(&self, batch: &Batch) -> Result<(), Untold> {
        let publisher = publisher(batch).map_err(Untold::Refused)?;
        let command = batch.to_ledger(&self.source).map_err(Untold::Refused)?;
        ledger::client::add(&self.ledgers, &publisher, &command).await?;
        Ok(())
    }
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
        let route = self.route();
        let source = route.as_ref().map_or("counters", |route| &route.source);
        forwarding::forward(db, source, async |batch| match &route {
            Ok(route) => route.tell(batch).await,
            Err(error) => Err(Untold::Unanswered(error.clone())),
        })
        .await
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
