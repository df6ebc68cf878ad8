//! An activity object: reports, questions, and an alarm that goes on with replays, sends alarms and deletes what has expired.

use futures_util::future::join;

use super::{
    MIGRATIONS,
    alarms::{address, sending, words::Sites},
    handle,
    publisher::replays,
    sweep,
};
use crate::delivery::{callback_sender::CallbackSender, size};
use contract::activity::{Command, Reply};
use platform::{
    Clock, ObjectCall, ObjectStorage, Random, Result, object_shell::ObjectShell, single_flight::SingleFlight,
    traits::Http,
};

pub struct ActivityService<D, R> {
    shell: ObjectShell<D, R>,
    /// One count of callbacks at a time: each reads whole logs, and outboxes have conversions to answer.
    counting: SingleFlight<()>,
    sender: CallbackSender,
    sites: Sites,
}

impl<D: ObjectStorage, R: Clock + Http + ObjectCall + Random> ActivityService<D, R> {
    pub fn new(
        name: Option<String>,
        storage: D,
        runtime: R,
        settings: impl Fn(&str) -> Option<String>,
    ) -> Self {
        Self {
            shell: ObjectShell::new("activity", name, storage, runtime, MIGRATIONS),
            counting: SingleFlight::default(),
            sites: Sites::of_settings(&settings),
            sender: CallbackSender::new(settings),
        }
    }

    /// Carries out one command.
    ///
    /// # Errors
    /// It is refused, or the database failed; the command may then be sent again.
    pub async fn command(&self, command: Command) -> Result<Reply> {
        let (db, runtime) = (self.shell.ready().await?, self.shell.runtime());
        match &command {
            Command::CountReplay(count) => {
                let asked_ms = runtime.now_ms();
                let _leader = self.counting.lead().await;
                let counted = replays::count(db, runtime, count, asked_ms).await;
                return counted.map(Reply::Counted);
            }
            Command::SetAlarmAddress(set) => {
                return address::set(db, runtime.now_ms(), &self.sender, runtime, set).map(Reply::Operator);
            }
            Command::ReadAlarmAddress(_) => return address::read(db, &self.sender).map(Reply::Operator),
            Command::TestAlarms(_) => {
                return sending::test(db, runtime, &self.sender)
                    .await
                    .map(Reply::Operator);
            }
            _ => {}
        }
        self.shell
            .command(|db, now_ms| handle(db, now_ms, command), sweep::next_alarm)
            .await
    }

    /// Makes the next steps of replays, and deletes what has expired.
    pub async fn alarm(&self) {
        let runtime = self.shell.runtime();
        self.shell
            .wake(async |db| {
                // A receiver of alarms that hangs holds up no replay.
                let sent = sending::send_due(db, runtime, &self.sender, &self.sites);
                let (stepped, sent) = join(replays::step(db, runtime), sent).await;
                let next = sweep::sweep(db, runtime.now_ms())?;
                stepped.and(sent).map(|()| next)
            })
            .await;
        size::tell(&self.shell, self.shell.name()).await;
    }
}
