//! The catalog's register: every change is in it before it is answered, and a catalog that was put back makes them again.

use super::CatalogService;
use crate::objects::catalog::{Context, restored::RestoredCatalog};
use contract::catalog::{Command, OBJECT_NAME};
use platform::{
    failure::Failure,
    traits::{Clock, Kv, ObjectCall, ObjectStorage, Random, Sleep},
};

/// Its alarm knows it, too.
const NAME: Option<&str> = Some(OBJECT_NAME);

/// Whether a command changes nothing that the register has. Those of outboxes may, since they tell the catalog who asks.
pub fn is_read(command: &Command) -> bool {
    !matches!(
        command,
        Command::Put(_)
            | Command::IssuePubKey(_)
            | Command::IssueToken(_)
            | Command::RevokeToken(_)
            | Command::CreateOwnApp(_)
            | Command::ChangeOwnApp(_)
            | Command::EnterTerms(_)
            | Command::OfferTerms(_)
            | Command::AppTerms(_)
    )
}

impl<D, R> CatalogService<D, R>
where
    D: ObjectStorage,
    R: Clock + Random + Sleep + ObjectCall + Kv,
{
    /// The database, once it is known that it has every change.
    pub(super) async fn started(&self) -> Result<&D, Failure> {
        let db = self.shell.ready().await?;
        let repeat = |at_ms, work: &mut dyn FnMut(&Context<'_>) -> Result<(), Failure>| {
            self.with_context_at(at_ms, true, |context| work(context))
        };
        self.register
            .start(db, self.shell.runtime(), NAME, &RestoredCatalog(repeat))
            .await?;
        Ok(db)
    }

    /// Sends the register the changes that it does not have.
    pub(super) async fn keep(&self) -> Result<(), Failure> {
        let (db, runtime) = (self.shell.storage(), self.shell.runtime());
        self.register.keep(db, runtime, NAME).await
    }
}
