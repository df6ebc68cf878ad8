//! An activity object: reports, questions, and an alarm that deletes what has expired.

use super::{MIGRATIONS, handle, sweep};
use contract::activity::{Command, Reply};
use platform::{
    failure::Failure,
    object_shell::ObjectShell,
    traits::{Clock, ObjectStorage},
};

pub struct ActivityService<D, R> {
    shell: ObjectShell<D, R>,
}

impl<D: ObjectStorage, R: Clock> ActivityService<D, R> {
    pub fn new(name: Option<String>, storage: D, runtime: R) -> Self {
        Self {
            shell: ObjectShell::new("activity", name, storage, runtime, MIGRATIONS),
        }
    }

    /// Carries out one command.
    ///
    /// # Errors
    /// It is refused, or the database failed; the command may then be sent again.
    pub async fn command(&self, command: Command) -> Result<Reply, Failure> {
        self.shell
            .command(|db, now_ms| handle(db, now_ms, command), sweep::next_alarm)
            .await
    }

    pub async fn alarm(&self) {
        let now_ms = self.shell.runtime().now_ms();
        self.shell
            .wake(async |db| sweep::sweep(db, now_ms).map_err(Failure::from))
            .await;
    }
}
