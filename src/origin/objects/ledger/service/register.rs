//! The ledger's register. A restored ledger applies its lost changes before it checks a key.

use std::collections::BTreeSet;

use super::LedgerService;
use crate::{
    delivery::register::tell_if_behind,
    objects::ledger::{day_changes, final_days, restored::RestoredLedger},
};
use contract::ledger::{Command, object_name, publisher_of};
use domain::model::{PublisherId, UtcDay};
use platform::{Clock, ObjectCall, ObjectStorage, Random, Result};

/// True if a command is about keys or changes of final days, which a restore must not undo.
pub fn lasts(command: &Command) -> bool {
    matches!(
        command,
        Command::CreateKey(_)
            | Command::FindKey(_)
            | Command::ListKeys(_)
            | Command::RevokeKey(_)
            | Command::SuspendKeys(_)
            | Command::UseKey(_)
            | Command::ListDayChanges(_)
    )
}

impl<D: ObjectStorage, R: Clock + Random + ObjectCall> LedgerService<D, R> {
    /// True if a command may change a final day. Such a change is registered.
    pub(super) async fn changes_final_day(&self, command: &Command) -> Result<bool> {
        let Command::AddOffers(batch) = command else {
            return Ok(false);
        };
        let days: BTreeSet<UtcDay> = batch.sums.iter().map(|sum| sum.day).collect();
        let days: Vec<UtcDay> = days.into_iter().collect();
        let db = self.shell.ready().await?;
        Ok(!day_changes::final_of(db, &days)?.is_empty())
    }

    /// Returns the database after reading the register, so that revoked keys and loaded days are known.
    pub(super) async fn started(&self, publisher: &PublisherId) -> Result<&D> {
        let (db, runtime) = (self.shell.ready().await?, self.shell.runtime());
        self.register.start(db, runtime, &object_name(publisher), &RestoredLedger).await?;
        day_changes::went_back(db, self.now_ms())?;
        if !self.has_closed.replace(true) {
            day_changes::close_all(db).inspect_err(|_| self.has_closed.set(false))?;
        }
        Ok(db)
    }

    /// Tells the operator if sources must resend batches. The sources do so without the operator's help.
    pub(super) async fn tell_if_behind(&self, publisher: &PublisherId, marks: (i64, i64)) -> Result {
        let (runtime, name) = (self.shell.runtime(), object_name(publisher));
        tell_if_behind(runtime, Some(&name), Some(publisher), marks, "ledger_restored").await
    }

    /// Sends new entries to the register. If that fails, the alarm retries it.
    pub(super) async fn keep(&self, publisher: &PublisherId) -> Result {
        self.register.keep_or_retry(&self.shell, &object_name(publisher)).await
    }

    /// Sends unregistered entries, if the object knows its publisher from a load or from its name.
    pub(super) async fn keep_later(&self, db: &D) -> Result {
        let named = || self.shell.name().and_then(publisher_of);
        match final_days::publisher(db)?.or_else(named) {
            Some(publisher) => {
                self.started(&publisher).await?;
                self.keep(&publisher).await
            }
            None => Ok(()),
        }
    }
}
