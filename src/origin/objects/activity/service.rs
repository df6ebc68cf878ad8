//! An activity object: it applies batches and answers queries. On a timer it continues replays, sends alarms and
//! deletes expired rows.

use std::{
    cell::{Cell, OnceCell},
    time::Duration,
};

use futures_util::future::join;

use super::{
    MIGRATIONS,
    alarms::{address, lasting::RestoredAlarms, sending, sql, words::Sites},
    handle,
    publisher::replays,
    sweep,
};
use crate::delivery::{callback_sender::CallbackSender, register::Register, size};
use contract::{
    activity::{Command, Reply},
    alarms::SetAlarmAddress,
    operation::OperatorReply,
    register::is_register,
};
use domain::model::{MINUTE_MS, SECOND_MS};
use platform::{
    Clock, DbResult, ObjectCall, ObjectStorage, Random, Result, log,
    object_shell::ObjectShell,
    params,
    single_flight::SingleFlight,
    traits::{Http, Sleep},
};

/// The time between two steps of a replay.
const PACE: Duration = Duration::from_secs(1);
/// The delay before a failed or interrupted run of the timer is retried, in milliseconds. An alarm must be sent within
/// a minute.
const RETRY_MS: i64 = 15 * SECOND_MS;

pub struct ActivityService<D, R> {
    shell: ObjectShell<D, R>,
    /// Lets one count of callbacks run at a time, because each count reads whole logs of outboxes that also answer
    /// conversions.
    counting: SingleFlight<()>,
    sender: CallbackSender,
    sites: Sites,
    /// The register of the alarms' address.
    register: Register,
    /// See [`Self::source`].
    source: OnceCell<String>,
    /// The time from which a batch may read the register again, in milliseconds.
    read_again_ms: Cell<i64>,
}

impl<D: ObjectStorage, R: Clock + Http + ObjectCall + Random + Sleep> ActivityService<D, R> {
    pub fn new(name: Option<String>, storage: D, runtime: R, settings: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            shell: ObjectShell::new("activity", name, storage, runtime, MIGRATIONS).with_alarm_retry(RETRY_MS),
            counting: SingleFlight::default(),
            sites: Sites::of_settings(&settings),
            sender: CallbackSender::new(settings),
            register: Register::default(),
            source: OnceCell::new(),
            read_again_ms: Cell::new(0),
        }
    }

    /// Returns the name of the object, if the object has a register. A process that the timer starts uses the name that
    /// an earlier process stored.
    fn source(&self, db: &D) -> DbResult<Option<&str>> {
        if self.source.get().is_none() {
            let name = match self.shell.name() {
                Some(name) if is_register(name) => return Ok(None),
                Some(name) => {
                    db.execute(sql::SET_NAME, params![name])?;
                    Some(name.to_owned())
                }
                None => db.read_first(sql::GET_NAME, &[], |row| Ok(row.text(0)?.to_owned()))?,
            };
            if let Some(name) = name {
                self.source.get_or_init(|| name);
            }
        }
        Ok(self.source.get().map(String::as_str))
    }

    /// Reads the register. After a restore, it has the changes of the alarms' address that the restored copy lacks.
    async fn start(&self, db: &D) -> Result {
        match self.source(db)? {
            Some(source) => {
                let runtime = self.shell.runtime();
                self.register.start(db, runtime, source, &RestoredAlarms).await
            }
            None => Ok(()),
        }
    }

    /// Like [`start`](Self::start), but for a batch: the batch is applied even if the register does not answer.
    async fn start_for_report(&self, db: &D) {
        let now_ms = self.shell.runtime().now_ms();
        if now_ms >= self.read_again_ms.get() {
            // The time is set before the call, so that batches which arrive during the call do not also wait for the
            // register.
            self.read_again_ms.set(now_ms.saturating_add(MINUTE_MS));
            if let Err(failure) = self.start(db).await {
                log::warn("alarms", format_args!("the register could not be read, and is asked again: {failure}"));
            }
        }
    }

    async fn set_address(&self, db: &D, set: &SetAlarmAddress) -> Result<OperatorReply> {
        let (runtime, source) = (self.shell.runtime(), self.source(db)?);
        self.start(db).await?;
        if let Some(source) = source {
            self.register.ready(db, runtime, source).await?;
        }
        let reply = address::set(db, runtime.now_ms(), &self.sender, runtime, set)?;
        // A new address receives the waiting messages at once.
        self.shell.wake_for(sweep::next_alarm(db, runtime.now_ms()))?;
        if let Some(source) = source {
            // A failure is ignored, because the answer may have a secret that is shown only once.
            drop(self.register.keep_or_retry(&self.shell, source).await);
        }
        Ok(reply)
    }

    /// Carries out one command.
    ///
    /// # Errors
    /// The command is refused, or the database failed. After a failure of the database the command may be retried.
    pub async fn command(&self, command: Command) -> Result<Reply> {
        let (db, runtime) = (self.shell.ready().await?, self.shell.runtime());
        match &command {
            Command::CountReplay(count) => {
                let asked_ms = runtime.now_ms();
                let _leader = self.counting.lead().await;
                let counted = replays::count(db, runtime, count, asked_ms).await;
                return counted.map(Reply::Counted);
            }
            Command::SetAlarmAddress(set) => return self.set_address(db, set).await.map(Reply::Operator),
            Command::ReadAlarmAddress(_) => {
                self.start(db).await?;
                return address::read(db, &self.sender).map(Reply::Operator);
            }
            Command::RaiseAlarms(raise) if raise.ends => self.start(db).await?,
            Command::Feed(_)
            | Command::Attention(_)
            | Command::Size(_)
            | Command::Restored(_)
            | Command::RaiseAlarms(_) => self.start_for_report(db).await,
            Command::TestAlarms(_) => {
                self.start(db).await?;
                return sending::test(db, runtime, &self.sender).await.map(Reply::Operator);
            }
            _ => {}
        }
        let ends = matches!(&command, Command::RaiseAlarms(raise) if raise.ends);
        let reply = self.shell.command(|db, now_ms| handle(db, now_ms, command), sweep::next_alarm).await?;
        if ends && let Some(source) = self.source(db)? {
            self.register.keep_or_retry(&self.shell, source).await?;
        }
        Ok(reply)
    }

    /// Sends due alarms and makes steps of replays at the same time, so that a hanging receiver of alarms does not
    /// delay replays.
    async fn send_and_step(&self, db: &D, runtime: &R) -> (Result, Result) {
        let is_sent = Cell::new(false);
        let sent = async {
            let sent = sending::send_due(db, runtime, &self.sender, &self.sites).await;
            is_sent.set(true);
            sent
        };
        let stepped = async {
            loop {
                replays::step(db, runtime).await?;
                if is_sent.get() || !replays::any(db)? {
                    return Ok(());
                }
                runtime.sleep(PACE).await;
            }
        };
        join(sent, stepped).await
    }

    /// Sends alarms, makes the next steps of replays, and deletes expired rows.
    pub async fn alarm(&self) {
        let runtime = self.shell.runtime();
        self.shell
            .wake(async |db| {
                self.start_for_report(db).await;
                let kept = match self.source(db)? {
                    Some(source) => self.register.keep(db, runtime, source).await,
                    None => Ok(()),
                };
                let (sent, stepped) = self.send_and_step(db, runtime).await;
                address::reseal(db, &self.sender, runtime)?;
                let next = sweep::sweep(db, runtime.now_ms())?;
                stepped.and(sent).and(kept).map(|()| next)
            })
            .await;
        size::tell(&self.shell, self.shell.name()).await;
    }
}
