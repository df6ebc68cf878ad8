//! An outbox's orchestration: carries out postbacks and the operator's commands, sends callbacks, and keeps an alarm
//! set while work waits. Callbacks, reservations and batches outlive the requests that started them; if the process
//! dies, the alarm resumes them.

mod callbacks;
mod leaving;
mod peers;
mod sending;
mod waiting;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    rc::Rc,
};

use futures_util::future::join;

use super::{
    MIGRATIONS,
    callbacks::{delivery_log::Observer, tester},
    calls, commands,
    conversions::{check, commit, kept, settlement, steps},
    endpoint, feed, gap, next_alarm,
    peers::{Peers, StateCache},
    sums::{comparisons, day, journal, night, revenue_batches},
    terms,
};
use crate::{
    delivery::{callback_sender::CallbackSender, size},
    objects::outbox::retention,
};
use contract::outbox::{Answer, Command, Conversion, OutboxShard, Reply};
use domain::model::{MINUTE_MS, SECOND_MS, common};
use platform::{
    Clock, DbResult, Failure, ObjectCall, ObjectStorage, Random, Result,
    concurrency_limit::{ConcurrencyLimit, Limit},
    keyed_flights::KeyedFlights,
    object_shell::ObjectShell,
    panic_to_failure, panics_to_failure,
    single_flight::{Outcome, SingleFlight},
    traits::{Http, Spawn},
};

/// Maximum postbacks that wait for the catalog, a counters object or each other. At 10 KB each they take 2.5 MB, and an
/// isolate may hold several outboxes.
const CONVERSIONS: Limit = Limit { permits: 256, per_owner: 256, lease_ms: MINUTE_MS };

/// The runtime that an outbox needs.
pub trait Runtime: Clock + Random + Spawn + ObjectCall + Http {}

impl<R: Clock + Random + Spawn + ObjectCall + Http> Runtime for R {}

/// An outbox's orchestration. It is behind an [`Rc`], because tasks that outlive their requests share it.
pub struct OutboxService<D, R, O> {
    shell: ObjectShell<D, R>,
    observer: O,
    conversions: ConcurrencyLimit,
    /// The wait until earlier writes are durable. Conversions that arrive during the wait share it (see
    /// [`Self::wait_for_commit`]).
    commits: SingleFlight<DbResult>,
    /// Lets one conversion of a click run at a time. The key is the click's nonce.
    clicks: KeyedFlights<()>,
    questions: KeyedFlights<Result>,
    is_asking: Cell<bool>,
    state_cache: StateCache,
    /// The number of attempts in flight.
    in_flight: Cell<usize>,
    /// The attempts that may still start. While this is above 0, the commit of a reward also claims the reward's
    /// callback ("ahead"), and takes one of them.
    free_ahead: Cell<usize>,
    /// The entries whose callbacks were claimed ahead and not yet attempted. Some may not exist, because their commit
    /// failed.
    ahead: RefCell<BTreeSet<i64>>,
    is_resuming: Cell<bool>,
    /// True if there is work to resume that the running task may have missed.
    must_resume: Cell<bool>,
    is_sending_batches: Cell<bool>,
    is_vouching: Cell<bool>,
    /// The first commands of a process share this wait for the ledger's mark and the journal.
    start: SingleFlight<()>,
    has_started: Cell<bool>,
    /// The last number of the ledger for which the journal was asked again, because the log lacked it.
    lost_mark: Cell<i64>,
    is_feeding: Cell<bool>,
    /// When this process last armed the alarm for a feed's batch; reset when the alarm fires.
    armed_ms: Cell<i64>,
    /// See [`revenue_batches::send`].
    opened_ms: Cell<i64>,
    /// Until this time nothing is written, because the outbox is about to be restored.
    leaves_until_ms: Cell<i64>,
    sender: CallbackSender,
}

impl<D: ObjectStorage + 'static, R: Runtime + 'static, O: Observer + 'static> OutboxService<D, R, O> {
    pub fn new(
        name: Option<String>,
        storage: D,
        runtime: R,
        observer: O,
        sender: CallbackSender,
        clicks: KeyedFlights<()>,
    ) -> Rc<Self> {
        Rc::new(Self {
            shell: ObjectShell::new("outbox", name, storage, runtime, MIGRATIONS).when_put_back(gap::put_back),
            observer,
            conversions: ConcurrencyLimit::new(CONVERSIONS),
            commits: SingleFlight::default(),
            clicks,
            questions: KeyedFlights::default(),
            is_asking: Cell::new(false),
            state_cache: StateCache::default(),
            in_flight: Cell::new(0),
            free_ahead: Cell::new(0),
            ahead: RefCell::default(),
            is_resuming: Cell::new(false),
            must_resume: Cell::new(false),
            is_sending_batches: Cell::new(false),
            is_vouching: Cell::new(false),
            start: SingleFlight::default(),
            has_started: Cell::new(false),
            lost_mark: Cell::new(0),
            is_feeding: Cell::new(false),
            armed_ms: Cell::new(i64::MIN),
            opened_ms: Cell::new(i64::MIN),
            leaves_until_ms: Cell::new(i64::MIN),
            sender,
        })
    }

    fn runtime(&self) -> &R {
        self.shell.runtime()
    }

    fn now_ms(&self) -> i64 {
        self.runtime().now_ms()
    }

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.runtime().spawn("outbox", task);
    }

    /// True once this process has opened its database and checked it for a restore. Until then it starts no callbacks.
    pub fn is_ready(&self) -> bool {
        self.shell.is_ready() && self.has_started.get()
    }

    /// The number of callback attempts in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight.get()
    }

    /// True if there may be callbacks that were claimed ahead and not yet attempted.
    pub fn has_ahead(&self) -> bool {
        !self.ahead.borrow().is_empty()
    }

    /// Carries out a command, and starts the callbacks that it makes due.
    ///
    /// # Errors
    /// The command was refused or failed. A failed postback may be resent.
    pub async fn command(self: &Rc<Self>, shard: OutboxShard, command: Command) -> Result<Reply> {
        self.refuse_if_leaving(&command)?;
        if let Command::SendAll(_) = command {
            return panics_to_failure(Rc::clone(self).send_all(shard)).await;
        }
        let answered = panics_to_failure(self.answer(shard, command)).await;
        // Even after a refusal, the command may have settled an earlier copy of the postback and made its callback due.
        self.start_due();
        if self.must_resume.get() && !self.is_resuming.get() {
            self.spawn(Rc::clone(self).resume_overdue());
        }
        // A write that reported an error may have happened, and no alarm was set for it.
        if matches!(answered, Err(Failure::Internal(_)))
            && self.shell.is_ready()
            && let Err(failure) = panic_to_failure(|| self.arm())
        {
            platform::log::error("outbox", failure);
        }
        answered
    }

    /// Resumes reservations, sends batches, deletes expired rows, and starts the callbacks that are due.
    pub async fn alarm(self: &Rc<Self>) {
        self.shell
            .wake(async |db| {
                self.spawn(Rc::clone(self).resume_overdue());
                self.spawn(Rc::clone(self).send_batches());
                self.spawn(Rc::clone(self).send_feeds());
                let swept = retention::sweep(db, self.now_ms());
                let added = self.add_up(db);
                if night::due_ms(db)?.is_some_and(|due_ms| due_ms <= self.now_ms()) {
                    self.spawn(Rc::clone(self).vouch());
                }
                self.start_due();
                self.armed_ms.set(i64::MIN);
                let next = [swept?, added, next_alarm(db, self.now_ms())?];
                Ok(next.into_iter().flatten().min())
            })
            .await;
        let state = endpoint::read(self.shell.storage()).ok().flatten();
        let name = state.map(|state| state.shard.object_name());
        size::tell(&self.shell, name.as_deref()).await;
    }

    /// Adds up a part of the payments of a day that is over. Returns when the next part is due.
    fn add_up(&self, db: &D) -> Option<i64> {
        let now_ms = self.now_ms();
        let part = night::add_step(db, now_ms, day::STEP)
            .inspect_err(|error| platform::log::error("reconcile", error))
            .ok()
            .flatten()?;
        let state = endpoint::read(db).ok().flatten();
        if let Some(state) = state {
            comparisons::count_rewards(state.shard.app, &part);
        }
        part.next.map(|_| now_ms.saturating_add(SECOND_MS))
    }

    async fn answer(&self, shard: OutboxShard, command: Command) -> Result<Reply> {
        if let Command::Convert(conversion) = &command {
            let _permit = self.conversions.acquire_any(self.now_ms())?;
            self.shell.ready().await?;
            let app = conversion.current.app.as_ref();
            self.wait_for_start(shard, app.map(|app| app.outbox_shards)).await?;
            return self.convert(shard, conversion).await.map(Reply::Answer);
        }
        let db = self.shell.ready().await?;
        if commands::needs_all_that_was_written(&command) {
            self.wait_for_start(shard, None).await?;
        }
        let runtime = self.runtime();
        match &command {
            Command::Settle(settle) => {
                let conversion = settlement::conversion(db, self.now_ms(), shard, settle)?;
                self.convert(shard, &conversion).await.map(Reply::Answer)
            }
            Command::Test(test) => tester::test(&self.sender, runtime, shard.app, test).await.map(Reply::Operator),
            Command::Diagnose(test) => {
                tester::diagnose(&self.sender, runtime, shard.app, test).await.map(Reply::Operator)
            }
            Command::SetOffer(offer) => {
                let cap = terms::set_offer(db, self, shard, offer)?;
                calls::ask(runtime, &calls::counters_of(&cap.offer), cap).await.map(|_| Reply::Done {})
            }
            Command::CheckPostback(check) => check::check(db, self, runtime, check).await.map(Reply::Checked),
            Command::SettleMany(many) => {
                let convert = async |conversion: &Conversion| self.convert(shard, conversion).await;
                steps::settle_step(db, self, shard, many, convert).await.map(Reply::Settled)
            }
            _ => {
                let reply = commands::carry_out(db, self, shard, command)?;
                self.arm()?;
                Ok(reply)
            }
        }
    }

    async fn convert(&self, shard: OutboxShard, conversion: &Conversion) -> Result<Answer> {
        let db = self.shell.ready().await?;
        self.wait_for_commit().await?;
        // Copies of a conversion first share the wait for the catalog, and then wait for each other.
        let terms = match terms::of(db, self, shard, conversion).await {
            Ok(terms) => terms,
            Err(failure) => {
                let failure = kept::keep(db, self.now_ms(), conversion, failure)?;
                self.committed()?;
                return Err(failure);
            }
        };
        let flight = self.clicks.of(&conversion.nonce.0);
        let _leader = flight.lead().await;
        commit::convert(db, self, conversion, &terms).await
    }

    /// Waits at most a second for the ledger's mark and the journal, which the first commands of a process need.
    /// `outboxes` is the app's number of outboxes, if the caller knows it.
    async fn wait_for_start(&self, shard: OutboxShard, outboxes: Option<u8>) -> Result {
        if self.has_started.get() {
            return Ok(());
        }
        let _leader = self.start.lead().await;
        if self.has_started.get() {
            return Ok(());
        }
        let (db, runtime) = (self.shell.storage(), self.runtime());
        let known = endpoint::read(db)?.and_then(|state| state.current);
        let outboxes = known.map(|app| app.outbox_shards).or(outboxes);
        let refill = journal::refill(db, runtime, shard, outboxes);
        let mark = async {
            revenue_batches::read_mark(db, runtime).await?;
            self.arm()
        };
        let (mark, refilled) = join(mark, refill).await;
        mark?;
        let started = match refilled {
            Ok(true) => gap::note(db, runtime, shard).await.map_err(Failure::from),
            // Only the journal knows which of the lost conversions were paid, so the command is refused until the
            // journal answers.
            Ok(false) if gap::is_behind(db, self.now_ms())? => Err(common::UNAVAILABLE.into()),
            Ok(false) => Ok(()),
            // The next alarm continues the refill, and sends callbacks that were refilled so far.
            Err(failure) => self.arm().and(Err(failure)),
        };
        // The refill may have changed the outbox's row.
        self.state_cache.clear();
        started?;
        self.has_started.set(true);
        Ok(())
    }

    /// Waits until the writes of earlier conversions are durable. All conversions that arrive during the wait then
    /// continue in the same turn of the event loop, whose writes the runtime commits together. The wait pays off
    /// because a commit is the most expensive part of a conversion. A timer would do the same, but workerd starves
    /// timers under load.
    async fn wait_for_commit(&self) -> DbResult {
        match self.commits.join(Result::is_ok).await {
            Outcome::Shared(committed) => committed,
            Outcome::Lead(leader) => leader.gather(self.shell.storage().sync()).await,
        }
    }

    /// Arms the alarm for the next due time.
    fn arm(&self) -> Result {
        let (db, now_ms) = (self.shell.storage(), self.now_ms());
        self.shell.wake_for(next_alarm(db, now_ms))?;
        // The next commits may rely on this alarm only if a feed has changes (see `Peers::committed`).
        if feed::due_ms(db, now_ms)?.is_some() {
            self.armed_ms.set(now_ms);
        }
        Ok(())
    }
}
