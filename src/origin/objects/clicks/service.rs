//! A click records object: commands, and an alarm that deletes expired records.

use super::{MIGRATIONS, alarm, handle, next_alarm, put_back, was_put_back};
use crate::delivery::size;
use contract::clicks::{Command, Found, Reply};
use domain::model::api_error::common;
use platform::{
    failure::Failure,
    object_shell::ObjectShell,
    traits::{Clock, ObjectCall, ObjectStorage},
};

pub struct ClicksService<D, R> {
    shell: ObjectShell<D, R>,
}

impl<D: ObjectStorage, R: Clock + ObjectCall> ClicksService<D, R> {
    pub fn new(name: Option<String>, storage: D, runtime: R) -> Self {
        Self {
            shell: ObjectShell::new("clicks", name, storage, runtime, MIGRATIONS).when_put_back(put_back),
        }
    }

    /// Carries out one command.
    ///
    /// # Errors
    /// The database failed; the command may then be sent again.
    pub async fn command(&self, command: Command) -> Result<Reply, Failure> {
        let reply = self
            .shell
            .command(|db, now_ms| handle(db, now_ms, command), next_alarm)
            .await?;
        // Nobody knows whether the record has expired or was lost.
        if let Reply::Found(Found { record: None }) = reply
            && was_put_back(self.shell.storage(), self.shell.runtime().now_ms())?
        {
            return Err(common::UNAVAILABLE.into());
        }
        Ok(reply)
    }

    pub async fn alarm(&self) {
        let now_ms = self.shell.runtime().now_ms();
        self.shell
            .wake(async |db| alarm(db, now_ms).map_err(Failure::from))
            .await;
        size::tell(&self.shell, self.shell.name()).await;
    }
}
