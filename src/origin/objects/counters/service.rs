//! The service of one counters object: it carries out commands, and its alarm sweeps and sends batches to the ledgers.

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use super::{
    MIGRATIONS, TakenCounts, alarm, alarm_after_clicks, alarm_after_command, cap_alarms,
    flushes::{GATHER, Tally},
    handle,
    log::{self, ClickLog, publisher},
    next_alarm, night,
    restored::{self, Noticed},
};
use crate::delivery::{
    attention_feed::{AttentionFeed, Source},
    batches::{self, Batch, DeliveryError, positions::Positions},
    feed, register, size,
};
use contract::{
    counters::{Asker, Command, Flush, Reply, Take, object_name},
    ledger,
    operation::{Applied, Mark},
};
use platform::{
    Clock, DatabaseError, DbResult, ObjectCall, ObjectStorage, Result, Sleep,
    object_shell::ObjectShell,
    single_flight::{Outcome, SingleFlight},
};

/// The timeout of a call to a ledger. It is short because other ledgers' batches wait for a connection.
const LEDGER_TIMEOUT: Duration = Duration::from_secs(10);

pub struct CountersService<D, R> {
    shell: ObjectShell<D, R>,
    counts: TakenCounts,
    tally: RefCell<Option<Tally>>,
    /// Batches of clicks for the next row of the log.
    gathered: RefCell<Vec<Flush>>,
    appends: SingleFlight<Result>,
    /// True once this process has checked whether the object was restored from a copy.
    has_started: Cell<bool>,
    noticed: Noticed,
    /// Other objects are asked about one cap at a time.
    asking: SingleFlight<()>,
}

impl<D: ObjectStorage, R: Clock + ObjectCall + Sleep> CountersService<D, R> {
    /// Ledgers recognize a resent batch by the object's `name` and the batch's numbers, so no batch is sent without a
    /// name.
    pub fn new(name: Option<String>, storage: D, runtime: R) -> Self {
        Self {
            shell: ObjectShell::new("counters", name, storage, runtime, MIGRATIONS).when_put_back(restored::put_back),
            counts: TakenCounts::default(),
            tally: RefCell::new(None),
            gathered: RefCell::default(),
            appends: SingleFlight::default(),
            has_started: Cell::new(false),
            noticed: Noticed::default(),
            asking: SingleFlight::default(),
        }
    }

    /// Carries out one command.
    ///
    /// # Errors
    /// The database failed; the command may be retried.
    pub async fn command(&self, command: Command) -> Result<Reply> {
        if let Command::Flush(flush) = command {
            return self.flush(flush).await.map(Reply::Applied);
        }
        let asker = match &command {
            Command::AddConversions(batch) => {
                Some(Asker { source: batch.source.clone(), known: batch.after, refilled_ms: batch.refilled_ms })
            }
            Command::Take(take) => take.asker.clone(),
            _ => None,
        };
        let after = asker.as_ref().map_or(0, |asker| asker.known);
        if let Some(asker) = asker {
            let (db, now_ms) = (self.shell.ready().await?, self.shell.runtime().now_ms());
            restored::notice(db, now_ms, &self.noticed, &asker)?;
            if asker.refilled_ms > 0 {
                restored::hear(db, asker.refilled_ms, &command)?;
            }
        }
        if let Command::Take(take) = &command {
            self.know_cap(take).await?;
        }
        let carry_out = |db: &D, now_ms| handle(db, &self.counts, now_ms, command);
        let reply = self.shell.command(carry_out, alarm_after_command).await?;
        if let Reply::Mark(Mark { mark }) = reply {
            let (runtime, name) = (self.shell.runtime(), self.shell.name());
            register::tell_if_behind(runtime, name, None, (after, mark), "counters_restored").await?;
        }
        Ok(reply)
    }

    /// Asks other objects for the lost takes of a cap, if takes may be lost.
    async fn know_cap(&self, take: &Take) -> Result {
        let (db, runtime) = (self.shell.ready().await?, self.shell.runtime());
        if self.has_started.get() && restored::unknown(db, take)?.is_none() {
            return Ok(());
        }
        let _leader = self.asking.lead().await;
        if !self.has_started.get() {
            let name = &object_name(&take.offer);
            let noticed_ms = restored::restored_ms(db)?;
            if register::announced::since(runtime, name, noticed_ms, "counters_restored").await? {
                db.transaction(|| restored::put_back(db, runtime.now_ms()))?;
            }
            self.has_started.set(true);
        }
        while let Some(heard_ms) = restored::unknown(db, take)? {
            let noticed_ms = restored::restored_ms(db)?;
            let mut known = restored::ask(runtime, take).await?;
            known.refilled_ms = known.refilled_ms.max(heard_ms);
            // If a restore was noticed meanwhile, some answers may be from before it was known.
            if restored::restored_ms(db)? == noticed_ms {
                let cap = (take.kind, take.day, take.offer.clone());
                let taken = self.counts.get(db, cap.clone())?;
                restored::learn(db, take, &known, taken)?;
                self.counts.forget(&cap);
            }
        }
        Ok(())
    }

    /// Appends an isolate's batch to the log, together with the batches that arrive within [`GATHER`].
    async fn flush(&self, flush: Flush) -> Result<Applied> {
        if self.tally.borrow().as_ref().is_some_and(|tally| tally.has(&flush)) {
            return Ok(Applied { applied: false });
        }
        self.gathered.borrow_mut().push(flush);
        let appended = match self.appends.join(|_| true).await {
            Outcome::Shared(appended) => appended,
            Outcome::Lead(leader) => {
                leader
                    .gather(async {
                        self.shell.runtime().sleep(GATHER).await;
                        self.append().await
                    })
                    .await
            }
        };
        appended.map(|()| Applied { applied: true })
    }

    async fn append(&self) -> Result {
        let append = |db: &D, now_ms| {
            let mut tally = match self.tally.take() {
                Some(tally) => tally,
                None => Tally::read(db, now_ms)?,
            };
            let gathered = self.gathered.take();
            tally.append(db, now_ms, &gathered)?;
            self.tally.replace(Some(tally));
            Ok::<_, DatabaseError>(())
        };
        self.shell.command(append, alarm_after_clicks).await
    }

    pub async fn alarm(&self) {
        self.shell.wake(async |db| self.work(db).await).await;
        size::tell(&self.shell, self.shell.name()).await;
    }

    /// Sweeps, announces caps, sends batches, folds the log, vouches for the previous day and sends attention batches.
    /// Each step is done even if another fails. After an error, the alarm stays at the time to which the shell re-armed
    /// it, so that a failing write is not retried at once.
    async fn work(&self, db: &D) -> Result<Option<i64>> {
        let clock = self.shell.runtime();
        let woken_ms = clock.now_ms();
        let sweep_due_ms = alarm(db, woken_ms);
        let told = cap_alarms::tell(db, clock).await;
        let more_to_send = self.send_batches(db).await;
        let folded = self.fold(db);
        let vouched = match self.shell.name() {
            Some(name) => night::vouch(db, clock, name).await,
            None => Ok(()),
        };
        let reported = self.send_attention(db).await;
        let more = more_to_send? || sweep_due_ms?.is_some_and(|due_ms| due_ms <= woken_ms);
        folded.and(vouched).and(reported)?;
        told?;
        if more { Ok(Some(clock.now_ms())) } else { Ok(next_alarm(db, clock.now_ms())?) }
    }

    /// Folds the part of the log that was in a batch, if that is due. Called while no batch is being sent.
    fn fold(&self, db: &D) -> DbResult {
        let now_ms = self.shell.runtime().now_ms();
        if log::fold_due_ms(db)?.is_some_and(|due_ms| due_ms <= now_ms) {
            log::fold(db, now_ms, &Positions::read(db)?)?;
        }
        Ok(())
    }

    /// Sends batches, and returns whether more can be sent at once.
    async fn send_batches(&self, db: &D) -> DbResult<bool> {
        let Some(name) = self.shell.name() else {
            return Ok(false);
        };
        let deliver = async |batch: &Batch| {
            let Mark { mark } = self.send_batch(name, batch).await?;
            if mark > batch.after && mark != batch.number {
                let runtime = self.shell.runtime();
                let noticed = restored::notice_lost(db, runtime, &self.noticed, name, mark).await;
                noticed.map_err(|error| DeliveryError::Unanswered(error.to_string()))?;
            }
            Ok(Mark { mark })
        };
        batches::send(db, self.shell.runtime(), name, &ClickLog(db, None), true, deliver).await
    }

    /// Tells the operator's attention of the batches that were refused or are late, and of the days whose totals
    /// differ.
    async fn send_attention(&self, db: &D) -> DbResult {
        let of_name = |name: &str| Source { name: name.to_owned(), ..Source::default() };
        let source = &|| Ok(self.shell.name().map(of_name));
        feed::send(&AttentionFeed { db, source }, self.shell.runtime()).await
    }

    async fn send_batch(&self, source: &str, batch: &Batch) -> Result<Mark, DeliveryError> {
        let publisher = publisher(&batch.destination).map_err(DeliveryError::Refused)?;
        let ledger = ledger::address(&publisher, ledger::BATCH);
        let operation = batch.to_ledger(source);
        let mark = self.shell.runtime().call(&ledger, operation, LEDGER_TIMEOUT).await;
        mark.map_err(DeliveryError::from)
    }
}
