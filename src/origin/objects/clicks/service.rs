//! The service of one object with click records: it carries out commands, and its alarm deletes expired records.

use std::cell::Cell;

use super::{DOUBTED_MS, MIGRATIONS, alarm, handle, next_alarm, put_back, restored_ms};
use crate::delivery::{register, size};
use contract::clicks::{Command, Found, Reply, object_name};
use domain::model::common;
use platform::{Clock, Failure, ObjectCall, ObjectStorage, Result, object_shell::ObjectShell};

pub struct ClicksService<D, R> {
    shell: ObjectShell<D, R>,
    /// True once this process has checked whether the object was restored from a copy.
    has_started: Cell<bool>,
}

impl<D: ObjectStorage, R: Clock + ObjectCall> ClicksService<D, R> {
    pub fn new(name: Option<String>, storage: D, runtime: R) -> Self {
        Self {
            shell: ObjectShell::new("clicks", name, storage, runtime, MIGRATIONS).when_put_back(put_back),
            has_started: Cell::new(false),
        }
    }

    /// Carries out one command.
    ///
    /// # Errors
    /// The database failed; the command may be retried.
    pub async fn command(&self, command: Command) -> Result<Reply> {
        let sought = match &command {
            Command::Get(get) => Some(get.nonce.clone()),
            Command::Put(_) => None,
        };
        let reply = self.shell.command(|db, now_ms| handle(db, now_ms, command), next_alarm).await?;
        if let (Reply::Found(Found { record: None }), Some(nonce)) = (&reply, sought)
            && self.may_be_lost(&object_name(&nonce.0)).await?
        {
            return Err(common::UNAVAILABLE.into());
        }
        Ok(reply)
    }

    /// True if a missing record may be lost rather than expired, because the object was restored recently.
    async fn may_be_lost(&self, name: &str) -> Result<bool> {
        let (db, runtime) = (self.shell.storage(), self.shell.runtime());
        if !self.has_started.get() {
            if register::announced::since(runtime, name, restored_ms(db)?, "clicks_restored").await? {
                put_back(db, runtime.now_ms())?;
            }
            self.has_started.set(true);
        }
        Ok(runtime.now_ms() < restored_ms(db)?.saturating_add(DOUBTED_MS))
    }

    pub async fn alarm(&self) {
        let now_ms = self.shell.runtime().now_ms();
        self.shell.wake(async |db| alarm(db, now_ms).map_err(Failure::from)).await;
        size::tell(&self.shell, self.shell.name()).await;
    }
}
