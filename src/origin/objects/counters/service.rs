//! A counters object: commands, and an alarm that sweeps and sends batches to the ledgers.

use std::time::Duration;

use super::{MIGRATIONS, alarm, alarm_after_command, handle, next_alarm, publisher};
use crate::{
    delivery::size,
    delivery::{
        attention_feed::{AttentionFeed, Source},
        batches::{self, Batch, DeliveryError, sender},
        feed,
    },
};
use contract::{
    counters::{Command, Reply},
    ledger,
};
use platform::{
    database::DatabaseError,
    failure::Failure,
    object_shell::ObjectShell,
    traits::{Clock, ObjectCall, ObjectStorage},
};

/// The timeout of a call to a ledger. It is short because other ledgers' batches wait for a connection.
const LEDGER_TIMEOUT: Duration = Duration::from_secs(10);

pub struct CountersService<D, R> {
    shell: ObjectShell<D, R>,
}

impl<D: ObjectStorage, R: Clock + ObjectCall> CountersService<D, R> {
    /// Ledgers deduplicate batches by the object's `name` and the batch's number, so without a name no batch is sent.
    pub fn new(name: Option<String>, storage: D, runtime: R) -> Self {
        Self {
            shell: ObjectShell::new("counters", name, storage, runtime, MIGRATIONS),
        }
    }

    /// Carries out one command.
    ///
    /// # Errors
    /// The database failed; the command may then be sent again.
    pub async fn command(&self, command: Command) -> Result<Reply, Failure> {
        self.shell
            .command(|db, now_ms| handle(db, now_ms, command), alarm_after_command)
            .await
    }

    pub async fn alarm(&self) {
        self.shell.wake(async |db| self.work(db).await).await;
        size::tell(&self.shell, self.shell.name()).await;
    }

    /// Sweeps and sends batches; either is done even if the other fails. After an error the alarm stays at the time to
    /// which the shell re-armed it, so that a failing write is not retried at once.
    async fn work(&self, db: &D) -> Result<Option<i64>, Failure> {
        let clock = self.shell.runtime();
        let woken_ms = clock.now_ms();
        let sweep_due_ms = alarm(db, woken_ms);
        let more_to_send = self.send_batches(db).await;
        let reported = self.send_attention(db).await;
        let more = more_to_send? || sweep_due_ms?.is_some_and(|due_ms| due_ms <= woken_ms);
        reported?;
        if more {
            Ok(Some(clock.now_ms()))
        } else {
            Ok(next_alarm(db, clock.now_ms())?)
        }
    }

    /// Returns whether there is more to send at once.
    async fn send_batches(&self, db: &D) -> Result<bool, DatabaseError> {
        let name = self.shell.name();
        sender::send(
            db,
            self.shell.runtime(),
            name.unwrap_or("counters"),
            true,
            async |batch| match name {
                Some(name) => self.send_batch(name, batch).await,
                None => Err(DeliveryError::Unanswered(
                    "the object does not know its name".into(),
                )),
            },
            |batch| batches::acknowledge(db, batch),
        )
        .await
    }

    /// Tells the operator's attention which batches were refused or are late.
    async fn send_attention(&self, db: &D) -> Result<(), DatabaseError> {
        let of_name = |name: &str| Source {
            name: name.to_owned(),
            app: None,
            publisher: None,
            rewards: None,
        };
        let source = &|| Ok(self.shell.name().map(of_name));
        feed::send(&AttentionFeed { db, source }, self.shell.runtime()).await
    }

    async fn send_batch(&self, source: &str, batch: &Batch) -> Result<(), DeliveryError> {
        let publisher = publisher(batch).map_err(DeliveryError::Refused)?;
        let operation = batch.to_ledger(source).map_err(DeliveryError::Refused)?;
        let ledger = ledger::address(&publisher, ledger::BATCH);
        let applied = self
            .shell
            .runtime()
            .call(&ledger, operation, LEDGER_TIMEOUT)
            .await;
        applied.map(drop).map_err(DeliveryError::from)
    }
}
