//! An accounts object: commands, and an alarm that deletes expired rows.

use std::time::Duration;

use super::{Context, MIGRATIONS, alarm, handle, next_alarm, restored::RestoredAccount};
use crate::delivery::{register::Register, size};
use contract::{
    accounts::{Command, Reply, Suspend},
    ledger::{self, SuspendKeys},
};
use domain::{
    accounts,
    model::{api_error::common, mac::MacKeys},
};
use platform::{
    failure::Failure,
    log,
    object_shell::ObjectShell,
    traits::{Clock, ObjectCall, ObjectStorage, Random},
};

/// Whether a command can end nothing, so that it needs no register.
fn is_read(command: &Command) -> bool {
    matches!(
        command,
        Command::ReadInvite(_)
            | Command::ReadPasskey(_)
            | Command::ReadPasskeys(_)
            | Command::ReadSession(_)
            | Command::ReadMembers(_)
            | Command::ReadSessions(_)
            | Command::ReadAudit(_)
    )
}

/// The timeout of a call to a ledger. It is shorter than the catalog's patience with an account.
const TIMEOUT: Duration = Duration::from_secs(3);

pub struct AccountsService<D, R> {
    shell: ObjectShell<D, R>,
    register: Register,
    /// The setting `ACCOUNT_MAC`, which is parsed only to issue an invite or a session.
    account_mac: String,
}

impl<D: ObjectStorage, R: Clock + ObjectCall + Random> AccountsService<D, R> {
    pub fn new(name: Option<String>, storage: D, runtime: R, account_mac: String) -> Self {
        Self {
            shell: ObjectShell::new("accounts", name, storage, runtime, MIGRATIONS),
            register: Register::default(),
            account_mac,
        }
    }

    /// Carries out one command.
    ///
    /// # Errors
    /// The command is refused, or the database failed.
    pub async fn command(&self, command: Command) -> Result<Reply, Failure> {
        let (name, runtime) = (self.shell.name(), self.shell.runtime());
        let db = self.shell.ready().await?;
        self.register.start(db, runtime, name, &RestoredAccount).await?;
        let is_read = is_read(&command);
        let suspend = match &command {
            Command::Suspend(suspend) => Some(suspend.clone()),
            _ => None,
        };
        let carry_out = |db: &D, now_ms| {
            let context = Context {
                now_ms,
                name,
                random: &|| runtime.random(),
                mac: &|| MacKeys::parse(accounts::SETTING, &self.account_mac).map_err(Failure::Internal),
            };
            handle(db, &context, command)
        };
        let reply = self.shell.command(carry_out, next_alarm).await?;
        if !is_read {
            self.register.keep(db, runtime, name).await?;
        }
        if let Some(suspend) = suspend {
            self.tell_ledger(&suspend).await?;
        }
        Ok(reply)
    }

    /// The publisher's report keys are suspended with its sessions.
    async fn tell_ledger(&self, suspend: &Suspend) -> Result<(), Failure> {
        let ledger = ledger::address(&suspend.publisher, ledger::BATCH);
        let keys = SuspendKeys {
            is_suspended: suspend.is_suspended,
            revision: suspend.revision,
        };
        let told = self.shell.runtime().call(&ledger, keys, TIMEOUT).await;
        told.map(drop).map_err(|error| {
            log::warn("accounts", format_args!("{}: {error}", ledger.name));
            common::UNAVAILABLE.into()
        })
    }

    pub async fn alarm(&self) {
        let now_ms = self.shell.runtime().now_ms();
        self.shell
            .wake(async |db| alarm(db, now_ms).map_err(Failure::from))
            .await;
        size::tell(&self.shell, self.shell.name()).await;
    }
}
