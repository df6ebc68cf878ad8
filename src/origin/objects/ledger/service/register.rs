//! The ledger's register: what it has lost is applied before a key is checked.

use super::LedgerService;
use crate::{
    delivery::register::tell_if_behind,
    objects::ledger::{final_days, restored::RestoredLedger},
};
use contract::ledger::{Command, object_name};
use domain::model::PublisherId;
use platform::{
    database::DatabaseError,
    failure::Failure,
    traits::{Clock, ObjectCall, ObjectStorage, Random},
};

/// Whether a command is about keys, which last.
pub fn lasts(command: &Command) -> bool {
    matches!(
        command,
        Command::CreateKey(_)
            | Command::FindKey(_)
            | Command::ListKeys(_)
            | Command::RevokeKey(_)
            | Command::SuspendKeys(_)
    )
}

impl<D: ObjectStorage, R: Clock + Random + ObjectCall> LedgerService<D, R> {
    /// The database, once it is known which keys were revoked and which days were loaded.
    pub(super) async fn started(&self) -> Result<&D, Failure> {
        let (db, runtime) = (self.shell.ready().await?, self.shell.runtime());
        let name = self.name(db)?;
        self.register
            .start(db, runtime, name.as_deref(), &RestoredLedger)
            .await?;
        Ok(db)
    }

    /// Batches come again by themselves; the operator is told that they do.
    pub(super) async fn tell_if_behind(
        &self,
        publisher: &PublisherId,
        marks: (i64, i64),
    ) -> Result<(), Failure> {
        let (runtime, name) = (self.shell.runtime(), self.shell.name());
        tell_if_behind(runtime, name, Some(publisher), marks, "ledger_restored").await
    }

    pub(super) async fn keep(&self) -> Result<(), Failure> {
        let (db, runtime) = (self.shell.storage(), self.shell.runtime());
        self.register.keep(db, runtime, self.name(db)?.as_deref()).await
    }

    /// The object's name. Its alarm knows the publisher, if there was a load.
    fn name(&self, db: &D) -> Result<Option<String>, DatabaseError> {
        Ok(match self.shell.name() {
            Some(name) => Some(name.to_owned()),
            None => final_days::publisher(db)?.map(|publisher| object_name(&publisher)),
        })
    }
}
