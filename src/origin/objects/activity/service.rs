//! An activity object: reports, questions, and an alarm that goes on with replays and deletes what has expired.

use super::{MIGRATIONS, handle, publisher::replays, sweep};
use crate::delivery::size;
use contract::activity::{Command, Reply};
use platform::{
    failure::Failure,
    object_shell::ObjectShell,
    single_flight::SingleFlight,
    traits::{Clock, ObjectCall, ObjectStorage},
};

pub struct ActivityService<D, R> {
    shell: ObjectShell<D, R>,
    /// One count of callbacks at a time: each reads whole logs, and outboxes have conversions to answer.
    counting: SingleFlight<()>,
}

impl<D: ObjectStorage, R: Clock + ObjectCall> ActivityService<D, R> {
    pub fn new(name: Option<String>, storage: D, runtime: R) -> Self {
        Self {
            shell: ObjectShell::new("activity", name, storage, runtime, MIGRATIONS),
            counting: SingleFlight::default(),
        }
    }

    /// Carries out one command.
    ///
    /// # Errors
    /// It is refused, or the database failed; the command may then be sent again.
    pub async fn command(&self, command: Command) -> Result<Reply, Failure> {
        if let Command::CountReplay(count) = &command {
            let (db, runtime) = (self.shell.ready().await?, self.shell.runtime());
            let asked_ms = runtime.now_ms();
            let _leader = self.counting.lead().await;
            let counted = replays::count(db, runtime, count, asked_ms).await;
            return counted.map(Reply::Counted);
        }
        self.shell
            .command(|db, now_ms| handle(db, now_ms, command), sweep::next_alarm)
            .await
    }

    /// Makes the next steps of replays, and deletes what has expired.
    pub async fn alarm(&self) {
        let clock = self.shell.runtime();
        self.shell
            .wake(async |db| {
                let stepped = replays::step(db, clock).await;
                let next = sweep::sweep(db, clock.now_ms())?;
                stepped.map(|()| next)
            })
            .await;
        size::tell(&self.shell, self.shell.name()).await;
    }
}
