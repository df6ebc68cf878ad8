//! An accounts object: commands, and an alarm that deletes expired rows.

use super::{Context, MIGRATIONS, alarm, handle, next_alarm};
use crate::delivery::size;
use contract::accounts::{Command, Reply};
use domain::{accounts, model::mac::MacKeys};
use platform::{
    failure::Failure,
    object_shell::ObjectShell,
    traits::{Clock, ObjectCall, ObjectStorage, Random},
};

pub struct AccountsService<D, R> {
    shell: ObjectShell<D, R>,
    /// The setting `ACCOUNT_MAC`, which is parsed only to issue an invite or a session.
    account_mac: String,
}

impl<D: ObjectStorage, R: Clock + ObjectCall + Random> AccountsService<D, R> {
    pub fn new(name: Option<String>, storage: D, runtime: R, account_mac: String) -> Self {
        Self {
            shell: ObjectShell::new("accounts", name, storage, runtime, MIGRATIONS),
            account_mac,
        }
    }

    /// Carries out one command.
    ///
    /// # Errors
    /// The command is refused, or the database failed.
    pub async fn command(&self, command: Command) -> Result<Reply, Failure> {
        let carry_out = |db: &D, now_ms| {
            let context = Context {
                now_ms,
                name: self.shell.name(),
                random: &|| self.shell.runtime().random(),
                mac: &|| MacKeys::parse(accounts::SETTING, &self.account_mac).map_err(Failure::Internal),
            };
            handle(db, &context, command)
        };
        self.shell.command(carry_out, next_alarm).await
    }

    pub async fn alarm(&self) {
        let now_ms = self.shell.runtime().now_ms();
        self.shell
            .wake(async |db| alarm(db, now_ms).map_err(Failure::from))
            .await;
        size::tell(&self.shell, self.shell.name()).await;
    }
}
