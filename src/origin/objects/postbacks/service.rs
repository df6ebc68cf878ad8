//! The service of one postbacks object: it stores batches and lists postbacks, and its alarm deletes expired rows.

use super::{MIGRATIONS, Unwritten, handle, sweep};
use contract::postbacks::{Command, Reply};
use platform::{Clock, Failure, ObjectStorage, Result, object_shell::ObjectShell};

pub struct PostbacksService<D, R> {
    shell: ObjectShell<D, R>,
    unwritten: Unwritten,
}

impl<D: ObjectStorage, R: Clock> PostbacksService<D, R> {
    pub fn new(name: Option<String>, storage: D, runtime: R) -> Self {
        Self {
            shell: ObjectShell::new("postbacks", name, storage, runtime, MIGRATIONS),
            unwritten: Unwritten::default(),
        }
    }

    /// Carries out one command.
    pub async fn command(&self, command: Command) -> Result<Reply> {
        self.shell.command(|db, now_ms| handle(db, &self.unwritten, now_ms, command), sweep::next_alarm).await
    }

    pub async fn alarm(&self) {
        let now_ms = self.shell.runtime().now_ms();
        self.shell.wake(async |db| sweep::sweep(db, now_ms).map_err(Failure::from)).await;
    }
}
