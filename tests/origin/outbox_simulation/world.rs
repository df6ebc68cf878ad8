//! The outbox with its environment: catalog, counters and ledger on their own SQL, receivers, the clock, and process
//! deaths. It polls the service's tasks one step at a time and answers their calls as the operations say.

use std::{
    collections::BTreeMap,
    rc::Rc,
    task::{Context, Waker},
};

use super::{
    catalog::{GOALS, OFFERS, first_catalog, user_id},
    model::{Entry, Model},
    ops::{Change, Death, Fate, Op},
    receivers::{Behaviour, Receivers},
    runtime::{self, CallAnswer, CallRequest, Environment, Operation, Service, Task},
};
use crate::{
    migrated,
    mock_platform::random,
    sqlite::{Faults, Sqlite},
    test_catalog::TestCatalog,
};
use contract::{
    counters,
    outbox::{OutboxShard, ReplayRewards, Settle},
    rewards::RewardFilter,
};
use domain::{
    conversions::{state::Reason, table::Action},
    model::{AppId, OfferId, time::DAY_MS},
    tracking::click::Click,
};

/// The app of the outbox.
pub fn app() -> AppId {
    AppId::from_number(42).unwrap()
}

/// The outbox.
pub fn shard() -> OutboxShard {
    OutboxShard { app: app(), number: 3 }
}

pub const STORE_KEYS: &str = "1:6c6f63616c2073746f7265206b65792c206e6f7420666f722070726f64756374";
/// Noon of a UTC day.
pub const NOON: i64 = 20_000 * DAY_MS + DAY_MS / 2;

pub struct World {
    pub env: Rc<Environment>,
    pub service: Rc<Service>,
    locks: bool,
    tasks: Vec<Task>,
    death: Option<Death>,
    pub counters: BTreeMap<String, Sqlite>,
    pub ledger: Sqlite,
    /// The publisher's activity object.
    pub activity: Sqlite,
    /// The operator's attention.
    pub attention: Sqlite,
    /// The app's other outboxes, which keep most claims of txns.
    pub others: BTreeMap<String, (Rc<Environment>, Rc<Service>)>,
    pub catalog: TestCatalog,
    /// The catalog as the edge knows it.
    pub published: TestCatalog,
    pub receivers: Receivers,
    pub behaviour: Behaviour,
    pub clicks: BTreeMap<u8, Click<'static>>,
    stragglers: Vec<CallRequest>,
    pub model: Model,
    /// Every entry that was ever in the log, as it was last.
    pub seen: BTreeMap<i64, Entry>,
}

impl World {
    pub fn new(locks: bool, seed: u64) -> Self {
        let env = Rc::new(Environment::new(seed));
        env.syncs_fail.set(true);
        let counters = OFFERS.map(|offer| counters::object_name(&OfferId::parse(offer).unwrap()));
        Self {
            service: runtime::start(&env, locks),
            env,
            locks,
            tasks: vec![],
            death: None,
            counters: counters.map(|name| (name, migrated(origin::objects::counters::MIGRATIONS))).into(),
            ledger: migrated(origin::objects::ledger::MIGRATIONS),
            activity: migrated(origin::objects::activity::MIGRATIONS),
            attention: migrated(origin::objects::activity::MIGRATIONS),
            others: BTreeMap::new(),
            catalog: first_catalog(),
            published: first_catalog(),
            receivers: Receivers::default(),
            behaviour: Behaviour::Working,
            clicks: BTreeMap::new(),
            stragglers: vec![],
            model: Model::default(),
            seen: BTreeMap::new(),
        }
    }

    fn process(&self) -> (Rc<Environment>, Rc<Service>) {
        (Rc::clone(&self.env), Rc::clone(&self.service))
    }

    fn wake(&mut self) {
        let (env, service) = self.process();
        self.spawn(runtime::wake(env, service));
    }

    pub fn now_ms(&self) -> i64 {
        self.env.now_ms.get()
    }

    fn coin(&self) -> bool {
        random(&self.env.draws) & 1 == 1
    }

    pub fn carry_out(&mut self, op: Op, death: Option<Death>, faults: Faults) {
        self.env.db.inject(faults);
        self.death = death;
        match op {
            Op::Convert(postback) => {
                let conversion = self.conversion(&postback);
                let (env, service) = self.process();
                self.spawn(runtime::convert(env, service, conversion));
            }
            Op::Resolve(nth, fate) => {
                let count = self.env.calls.borrow().len();
                if count > 0 {
                    self.resolve(nth % count, fate);
                }
            }
            Op::ResolveAll => self.resolve_all(),
            Op::Pass(ms) => self.pass(ms),
            Op::Alarm(late_ms) => {
                if let Some(at_ms) = self.env.alarm_ms.get() {
                    self.pass((at_ms - self.now_ms()).max(0) + late_ms);
                    self.wake();
                }
            }
            Op::AlarmAgain => self.wake(),
            Op::Receivers(behaviour) => self.behaviour = behaviour,
            Op::Change(change) => self.change(&change),
            Op::Settle(nth, action, overrides) => {
                let mut conversions = self.seen.values().rev().filter(|entry| entry.after.is_none());
                if let Some(entry) = conversions.nth(nth) {
                    let key = (entry.nonce.clone(), entry.goal.clone());
                    let settle = Settle {
                        transaction_id: entry.transaction_id.clone(),
                        action,
                        reason: "checked".into(),
                        despite: if overrides { Reason::ALL.to_vec() } else { vec![] },
                    };
                    if action == Action::Approve {
                        self.model.may_be_forced.insert(key);
                    }
                    let (env, service) = self.process();
                    self.spawn(runtime::settle(env, service, settle));
                }
            }
            Op::Replay(nth) => {
                let ids = self.model.ids();
                if !ids.is_empty() {
                    self.operate(Operation::Replay(ids[nth % ids.len()].clone()));
                }
            }
            Op::ClaimElsewhere(txn, goal) => self.claim_elsewhere(txn, GOALS[goal]),
            Op::ReplayMany(state) => {
                self.operate(Operation::ReplayMany(ReplayRewards {
                    publisher: self.catalog.app.publisher_id.clone(),
                    filter: RewardFilter { delivery: Some(state), ..RewardFilter::default() },
                    after: 0,
                    limit: 1_000,
                    step: None,
                }));
            }
            Op::Enable => self.operate(Operation::Enable(self.now_ms())),
            Op::Erase(user) => self.operate(Operation::Erase(user_id(user))),
            Op::Straggler(nth) => {
                if !self.stragglers.is_empty() {
                    let request = self.stragglers.remove(nth % self.stragglers.len());
                    self.arrive(&request, true);
                }
            }
            Op::Die => self.die(),
        }
        self.run();
        self.check();
    }

    /// Lets every call succeed until no task is left.
    pub fn finish(&mut self) {
        while !self.tasks.is_empty() {
            self.carry_out(Op::ResolveAll, None, Faults::none());
        }
    }

    /// Lets everything succeed: calls are answered and alarms run on time, until only another day's sweep is left.
    pub fn settle_down(&mut self) {
        self.behaviour = Behaviour::Working;
        for request in std::mem::take(&mut self.stragglers) {
            self.arrive(&request, true);
        }
        let well = |world: &mut Self, op| world.carry_out(op, None, Faults::none());
        well(self, Op::Change(Change::Callback(true, true)));
        self.finish();
        for _ in 0..3_000 {
            well(self, Op::ResolveAll);
            if !self.waits() {
                self.check_end();
                return;
            }
            well(self, Op::Alarm(0));
        }
        panic!("the alarms never end: {:?}", self.has_waiting_work());
    }

    pub fn operate(&mut self, operation: Operation) {
        let (env, service) = self.process();
        self.spawn(runtime::operate(env, service, operation));
    }

    pub fn spawn(&mut self, task: impl Future<Output = ()> + 'static) {
        self.tasks.push(Box::pin(task));
    }

    /// Polls until every task waits.
    fn run(&mut self) {
        loop {
            let mut moved = false;
            let mut nth = 0;
            while nth < self.tasks.len() {
                match self.step(nth) {
                    Stepped::Waits => nth += 1,
                    Stepped::Moved => {
                        moved = true;
                        nth += 1;
                    }
                    Stepped::Ended => {
                        moved = true;
                        drop(self.tasks.remove(nth));
                    }
                    Stepped::Died => return,
                }
            }
            let spawned = self.env.spawned.take();
            if !moved && spawned.is_empty() {
                return;
            }
            self.tasks.extend(spawned);
        }
    }

    fn step(&mut self, nth: usize) -> Stepped {
        let env = Rc::clone(&self.env);
        let before = (env.db.writes(), env.calls.borrow().len(), env.spawned.borrow().len());
        let alarm_ms = env.alarm_ms.get();
        env.db.begin_step();
        let ended = self.tasks[nth].as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        let after = (env.db.writes(), env.calls.borrow().len(), env.spawned.borrow().len());
        let moved = ended || before != after || !env.journal.borrow().is_empty();
        if moved && let Some((steps, committed)) = self.death {
            self.death = (steps > 1).then_some((steps - 1, committed));
            if self.death.is_none() {
                env.db.end_step(!committed);
                if committed {
                    self.after_step();
                } else {
                    env.alarm_ms.set(alarm_ms);
                    env.journal.take();
                    env.calls.borrow_mut().truncate(before.1);
                }
                self.die();
                return Stepped::Died;
            }
        }
        env.db.end_step(false);
        if moved {
            self.after_step();
        }
        match (ended, moved) {
            (true, _) => Stepped::Ended,
            (false, true) => Stepped::Moved,
            (false, false) => Stepped::Waits,
        }
    }

    /// Ends the process. Its open calls may still take effect.
    fn die(&mut self) {
        for call in self.env.calls.take() {
            if call.arrived.borrow().is_none() && self.coin() {
                self.arrive(&call.request, false);
            }
        }
        self.tasks.clear();
        self.env.spawned.take();
        let fired_ms = self.env.running_ms.take();
        self.env.alarm_ms.set(self.env.alarm_ms.get().or(fired_ms));
        self.service = runtime::start(&self.env, self.locks);
        self.model.clear_flights();
    }

    /// Advances the clock and lets expired calls fail.
    fn pass(&mut self, ms: i64) {
        let until_ms = self.now_ms() + ms;
        loop {
            let first = {
                let calls = self.env.calls.borrow();
                let ends = calls.iter().map(|call| call.until_ms).enumerate();
                ends.min_by_key(|(_, end_ms)| *end_ms)
            };
            match first {
                Some((nth, end_ms)) if end_ms <= until_ms => {
                    self.env.now_ms.set(end_ms.max(self.now_ms()));
                    let fate = if self.coin() { Fate::Lost } else { Fate::Fails };
                    self.resolve(nth, fate);
                    self.run();
                }
                _ => break,
            }
        }
        self.env.now_ms.set(until_ms);
    }

    fn resolve_all(&mut self) {
        while !self.env.calls.borrow().is_empty() {
            self.resolve(0, Fate::Succeeds);
            self.run();
        }
    }

    fn resolve(&mut self, nth: usize, fate: Fate) {
        let call = Rc::clone(&self.env.calls.borrow()[nth]);
        if call.arrived.borrow().is_none() && matches!(fate, Fate::Succeeds | Fate::Arrives | Fate::Lost) {
            let arrived = self.arrive(&call.request, false);
            call.arrived.replace(Some(arrived));
        }
        if fate == Fate::Arrives {
            return;
        }
        if fate == Fate::ArrivesLate {
            self.stragglers.push(call.request.clone());
        }
        let answer = call.arrived.take().filter(|_| fate == Fate::Succeeds);
        call.answer(answer.unwrap_or(CallAnswer::Nothing));
        self.env.calls.borrow_mut().remove(nth);
    }
}

enum Stepped {
    Waits,
    Moved,
    Ended,
    Died,
}
