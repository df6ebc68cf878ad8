//! The catalog's register. A change is confirmed only once the register has it, and a restored catalog replays the
//! register's changes.

use super::CatalogService;
use crate::objects::catalog::{Context, publication, resealing, restored::RestoredCatalog};
use contract::catalog::{Command, OBJECT_NAME};
use platform::{Clock, Kv, ObjectCall, ObjectStorage, Random, Result, Sleep, log};

/// How a command affects the register.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Nothing,
    /// An outbox asks for terms. The catalog may record the outbox, and conversions wait for the answer.
    Asks,
    Changes,
    /// The answer has a secret that cannot be read again.
    ShowsSecret,
}

pub fn change(command: &Command) -> Change {
    match command {
        Command::OfferTerms(_) | Command::AppTerms(_) => Change::Asks,
        Command::IssuePubKey(_) | Command::IssueToken(_) | Command::PutTestApp(_) => Change::ShowsSecret,
        Command::Put(_)
        | Command::RevokeToken(_)
        | Command::CreateOwnApp(_)
        | Command::ChangeOwnApp(_)
        | Command::EnterTerms(_) => Change::Changes,
        _ => Change::Nothing,
    }
}

impl<D, R> CatalogService<D, R>
where
    D: ObjectStorage,
    R: Clock + Random + Sleep + ObjectCall + Kv,
{
    /// Returns the database after reading the register, so that the database has every change.
    pub(super) async fn started(&self) -> Result<&D> {
        let db = self.shell.ready().await?;
        let repeat = |at_ms, work: &mut dyn FnMut(&Context<'_>) -> Result| {
            self.with_context_at(at_ms, true, |context| work(context))
        };
        self.register.start(db, self.shell.runtime(), OBJECT_NAME, &RestoredCatalog(repeat)).await?;
        if !self.is_code_compared.get() {
            let rebuilds = publication::rebuild_after_other_code(db, self.now_ms())?;
            // A faulty setting must not stop publication.
            let reseals = self.with_context(|context| Ok(resealing::begin(db, context)?)).unwrap_or_else(|failure| {
                log::error("catalog", format_args!("secrets are not sealed again: {failure}"));
                false
            });
            self.is_code_compared.set(true);
            if rebuilds || reseals {
                self.shell.wake_by(self.next_alarm(db)?)?;
            }
        }
        Ok(db)
    }

    /// Sends to the register the changes that the register lacks.
    pub(super) async fn keep(&self) -> Result {
        let (db, runtime) = (self.shell.storage(), self.shell.runtime());
        self.register.keep(db, runtime, OBJECT_NAME).await
    }

    /// Like [`keep`](Self::keep), for use between many changes: calls the register only once enough changes have
    /// accumulated.
    pub(super) async fn keep_up(&self) {
        let (db, runtime) = (self.shell.storage(), self.shell.runtime());
        self.register.keep_up(db, runtime, OBJECT_NAME).await;
    }

    /// Makes sure that the register answers.
    pub(super) async fn registers(&self, db: &D) -> Result {
        self.register.ready(db, self.shell.runtime(), OBJECT_NAME).await
    }
}
