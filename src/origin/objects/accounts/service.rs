//! The service of one accounts object: it carries out commands, and its alarm deletes expired rows.

use std::time::Duration;

use super::{
    Context, MIGRATIONS, account, alarm, handle, invites, next_alarm,
    restored::{self, RestoredAccount},
};
use crate::delivery::{register::Register, size};
use contract::{
    accounts::{Accept, Command, Members, ReadInvite, ReadMembers, Reply, Suspend, address, object_name},
    ledger::{self, SuspendKeys},
};
use domain::{
    accounts::{self, account::Account, ids::MemberId, invite::UNKNOWN_INVITE, permission::Permission},
    model::{MacKeys, common},
};
use platform::{Clock, Failure, ObjectCall, ObjectStorage, Random, Result, log, object_shell::ObjectShell};

/// True if a command can end no access, so that it adds nothing to the register.
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

/// The timeout of a call to a ledger or to the operator's account. It is shorter than the catalog's timeout for a call
/// to an account, so that the account can still answer the catalog.
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
            shell: ObjectShell::new("accounts", name, storage, runtime, MIGRATIONS).when_put_back(restored::end_all),
            register: Register::default(),
            account_mac,
        }
    }

    /// Carries out one command.
    pub async fn command(&self, command: Command) -> Result<Reply> {
        let db = self.started().await?;
        if let Command::ReadInvite(ReadInvite { invite }) | Command::Accept(Accept { invite, .. }) = &command
            && let Some(issuer) = invites::console_issuer(db, invite)?
        {
            self.check_console_issuer(issuer).await?;
        }
        let (name, runtime) = (self.shell.name(), self.shell.runtime());
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
        let reply = self.shell.command(carry_out, next_alarm).await;
        if !is_read {
            // The register is written even after a refusal: an earlier call may have made the change and lost its
            // answer.
            self.keep().await?;
        }
        let reply = reply?;
        if let Some(suspend) = suspend {
            self.tell_ledger(&suspend).await?;
        }
        Ok(reply)
    }

    /// Checks that the console's member who issued an invite may still invite, and was not removed or recovered since.
    async fn check_console_issuer(&self, (issuer, issued_ms): (MemberId, i64)) -> Result {
        let console = address(Account::Operator.id());
        let answer = self.shell.runtime().call(&console, ReadMembers {}, TIMEOUT).await;
        let Members { members, .. } = answer.map_err(|_| common::UNAVAILABLE)?;
        let may_invite = members.iter().any(|member| {
            member.member == issuer
                && Permission::ManageStore.is_granted_to(member.role)
                && member.invites_from_ms < issued_ms
        });
        match may_invite {
            true => Ok(()),
            false => Err(UNKNOWN_INVITE.into()),
        }
    }

    /// Suspends the publisher's report keys, or accepts them again.
    async fn tell_ledger(&self, suspend: &Suspend) -> Result {
        let ledger = ledger::address(&suspend.publisher, ledger::BATCH);
        let keys = SuspendKeys { is_suspended: suspend.is_suspended, revision: suspend.revision };
        let told = self.shell.runtime().call(&ledger, keys, TIMEOUT).await;
        told.map(drop).map_err(|error| {
            log::warn(
                "accounts",
                format_args!("{} does not know yet whether the account is suspended: {error}", ledger.name),
            );
            common::UNAVAILABLE.into()
        })
    }

    /// Returns the database after reading the register, so that the database knows which access has ended.
    async fn started(&self) -> Result<&D> {
        let (db, runtime) = (self.shell.ready().await?, self.shell.runtime());
        self.register.start(db, runtime, &self.name(db)?, &RestoredAccount).await?;
        Ok(db)
    }

    /// Sends new entries to the register. If that fails, the alarm retries it.
    async fn keep(&self) -> Result {
        let name = self.name(self.shell.storage())?;
        self.register.keep_or_retry(&self.shell, &name).await
    }

    /// Returns the object's name. If the runtime does not provide it, as in an alarm, it is derived from the stored
    /// owner.
    fn name(&self, db: &D) -> Result<String> {
        match self.shell.name() {
            Some(name) => Ok(name.to_owned()),
            None => match account::owner(db)? {
                Some(owner) => Ok(object_name(owner.id())),
                None => Err(common::UNAVAILABLE.into()),
            },
        }
    }

    pub async fn alarm(&self) {
        self.shell
            .wake(async |db| {
                // Without an owner there are no members whose access could have ended.
                if self.shell.name().is_some() || account::is_known(db)? {
                    self.started().await?;
                    self.keep().await?;
                }
                Ok(alarm(db, self.shell.runtime().now_ms())?)
            })
            .await;
        size::tell(&self.shell, self.shell.name()).await;
    }
}
