//! The outbox with all that it meets: the catalog, the counters and the publisher's ledger on their own SQL, receivers,
//! the clock, and deaths. It polls what the object began, one step after the other, and answers its calls as it is told.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    task::{Context, Waker},
};

use super::{
    catalog::{OFFERS, first_terms, user_id},
    model::Model,
    ops::{Change, Death, Op, Way},
    receivers::{Manner, Receivers},
    runtime::{self, Answered, Asked, Operation, Outside, Service, Task},
};
use crate::{
    migrated,
    sqlite::{Faults, Sqlite},
};
use contract::{
    catalog::{self, GetTerms, Terms},
    counters,
    ledger::{self, AddOffers},
    operation::{Applied, Reply},
};
use domain::{
    model::{
        AppId, OfferId,
        time::{DAY_MS, SECOND_MS, UtcDay},
    },
    tracking::click::Click,
};
use origin::{
    batches::{self, Batch},
    outbox,
};

/// Whose outbox it is.
pub fn app() -> AppId {
    AppId::from_number(42).unwrap()
}

pub const STORE_KEYS: &str = "1:6c6f63616c2073746f7265206b65792c206e6f7420666f722070726f64756374";
/// Noon of a day.
pub const NOON: i64 = 20_000 * DAY_MS + DAY_MS / 2;

/// splitmix64.
pub fn random(state: &Cell<u64>) -> u64 {
    state.set(state.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
    let mut z = state.get();
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub struct World {
    pub out: Rc<Outside>,
    pub service: Rc<Service>,
    locks: bool,
    tasks: Vec<Task>,
    death: Option<Death>,
    pub counters: BTreeMap<String, Sqlite>,
    pub ledger: Sqlite,
    pub terms: Rc<Terms>,
    pub revision: i64,
    pub receivers: Receivers,
    pub manner: Manner,
    pub clicks: BTreeMap<u8, Click<'static>>,
    stragglers: Vec<Asked>,
    pub model: Model,
}

impl World {
    pub fn new(locks: bool, seed: u64) -> Self {
        let out = Rc::new(Outside {
            db: migrated(outbox::MIGRATIONS),
            now_ms: Cell::new(NOON),
            alarm_ms: Cell::new(None),
            calls: RefCell::default(),
            spawned: RefCell::default(),
            journal: RefCell::default(),
            draws: Cell::new(seed),
        });
        let counters = OFFERS.map(|offer| counters::object_name(&OfferId::parse(offer).unwrap()));
        Self {
            service: runtime::start(&out, locks),
            out,
            locks,
            tasks: vec![],
            death: None,
            counters: counters
                .map(|name| (name, migrated(origin::counters::MIGRATIONS)))
                .into(),
            ledger: migrated(origin::ledger::MIGRATIONS),
            terms: Rc::new(first_terms()),
            revision: 1,
            receivers: Receivers::default(),
            manner: Manner::Well,
            clicks: BTreeMap::new(),
            stragglers: vec![],
            model: Model::default(),
        }
    }

    fn process(&self) -> (Rc<Outside>, Rc<Service>) {
        (Rc::clone(&self.out), Rc::clone(&self.service))
    }

    fn wake(&mut self) {
        let (out, service) = self.process();
        self.spawn(runtime::wake(out, service));
    }

    pub fn now_ms(&self) -> i64 {
        self.out.now_ms.get()
    }

    fn coin(&self) -> bool {
        random(&self.out.draws) & 1 == 1
    }

    pub fn carry_out(&mut self, op: Op, death: Option<Death>, faults: Faults) {
        self.out.db.inject(faults);
        self.death = death;
        match op {
            Op::Convert(postback) => {
                let conversion = self.conversion(&postback);
                let (out, service) = self.process();
                self.spawn(runtime::convert(out, service, conversion));
            }
            Op::Resolve(nth, way) => {
                let count = self.out.calls.borrow().len();
                if count > 0 {
                    self.resolve(nth % count, way);
                }
            }
            Op::ResolveAll => self.resolve_all(),
            Op::Pass(ms) => self.pass(ms),
            Op::Alarm(late_ms) => {
                if let Some(at_ms) = self.out.alarm_ms.get() {
                    self.pass((at_ms - self.now_ms()).max(0) + late_ms);
                    self.wake();
                }
            }
            Op::AlarmAgain => self.wake(),
            Op::Receivers(manner) => self.manner = manner,
            Op::Change(change) => self.change(&change),
            Op::Replay(nth) => {
                let ids = self.model.ids();
                if !ids.is_empty() {
                    self.operate(Operation::Replay(ids[nth % ids.len()].clone()));
                }
            }
            Op::ReplayMany(state) => {
                let until_s = self.now_ms() / SECOND_MS + 1;
                self.operate(Operation::ReplayMany(format!(
                    r#"{{"since":0,"until":{until_s},"state":"{state}"}}"#
                )));
            }
            Op::Enable => self.operate(Operation::Enable),
            Op::Erase(user) => self.operate(Operation::Erase(user_id(user))),
            Op::Straggler(nth) => {
                if !self.stragglers.is_empty() {
                    let asked = self.stragglers.remove(nth % self.stragglers.len());
                    self.arrive(&asked, true);
                }
            }
            Op::Die => self.die(),
        }
        self.run();
        self.check();
    }

    /// All is well again: what is called answers, and alarms come as they are set, until only the sweep of another day
    /// is left to do.
    pub fn settle_down(&mut self) {
        self.manner = Manner::Well;
        for asked in std::mem::take(&mut self.stragglers) {
            self.arrive(&asked, true);
        }
        let well = |world: &mut Self, op| world.carry_out(op, None, Faults::none());
        well(self, Op::Change(Change::Callback(true, true)));
        for _ in 0..3_000 {
            well(self, Op::ResolveAll);
            if !self.waits() {
                self.check_end();
                return;
            }
            well(self, Op::Alarm(0));
        }
        panic!("the alarms never end");
    }

    pub fn operate(&mut self, operation: Operation) {
        let (out, service) = self.process();
        self.spawn(runtime::operate(out, service, operation));
    }

    fn spawn(&mut self, task: impl Future<Output = ()> + 'static) {
        self.tasks.push(Box::pin(task));
    }

    /// Lets everything go as far as it goes before it has to wait.
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
            let spawned = self.out.spawned.take();
            if !moved && spawned.is_empty() {
                return;
            }
            self.tasks.extend(spawned);
        }
    }

    fn step(&mut self, nth: usize) -> Stepped {
        let out = Rc::clone(&self.out);
        let before = (
            out.db.writes(),
            out.calls.borrow().len(),
            out.spawned.borrow().len(),
        );
        let alarm_ms = out.alarm_ms.get();
        out.db.begin_step();
        let ended = self.tasks[nth]
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready();
        let after = (
            out.db.writes(),
            out.calls.borrow().len(),
            out.spawned.borrow().len(),
        );
        let moved = ended || before != after || !out.journal.borrow().is_empty();
        if moved && let Some((steps, committed)) = self.death {
            self.death = (steps > 1).then_some((steps - 1, committed));
            if self.death.is_none() {
                out.db.end_step(!committed);
                if committed {
                    self.after_step();
                } else {
                    out.alarm_ms.set(alarm_ms);
                    out.journal.take();
                    out.calls.borrow_mut().truncate(before.1);
                }
                self.die();
                return Stepped::Died;
            }
        }
        out.db.end_step(false);
        if moved {
            self.after_step();
        }
        match (ended, moved) {
            (true, _) => Stepped::Ended,
            (false, true) => Stepped::Moved,
            (false, false) => Stepped::Waits,
        }
    }

    /// The process ends. What it has asked for may take effect.
    fn die(&mut self) {
        for call in self.out.calls.take() {
            if call.arrived.borrow().is_none() && self.coin() {
                self.arrive(&call.asked, false);
            }
        }
        self.tasks.clear();
        self.out.spawned.take();
        self.service = runtime::start(&self.out, self.locks);
        self.model.died();
    }

    /// Time goes on, and those who have waited long enough give up.
    fn pass(&mut self, ms: i64) {
        let until_ms = self.now_ms() + ms;
        loop {
            let first = {
                let calls = self.out.calls.borrow();
                let ends = calls.iter().map(|call| call.until_ms).enumerate();
                ends.min_by_key(|(_, end_ms)| *end_ms)
            };
            match first {
                Some((nth, end_ms)) if end_ms <= until_ms => {
                    self.out.now_ms.set(end_ms.max(self.now_ms()));
                    let way = if self.coin() { Way::Lost } else { Way::Fails };
                    self.resolve(nth, way);
                    self.run();
                }
                _ => break,
            }
        }
        self.out.now_ms.set(until_ms);
    }

    fn resolve_all(&mut self) {
        while !self.out.calls.borrow().is_empty() {
            self.resolve(0, Way::Well);
            self.run();
        }
    }

    fn resolve(&mut self, nth: usize, way: Way) {
        let call = Rc::clone(&self.out.calls.borrow()[nth]);
        if call.arrived.borrow().is_none() && matches!(way, Way::Well | Way::Arrives | Way::Lost) {
            let arrived = self.arrive(&call.asked, false);
            call.arrived.replace(Some(arrived));
        }
        if way == Way::Arrives {
            return;
        }
        if way == Way::Straggles {
            self.stragglers.push(call.asked.clone());
        }
        let answer = call.arrived.take().filter(|_| way == Way::Well);
        call.answer(answer.unwrap_or(Answered::Nothing));
        self.out.calls.borrow_mut().remove(nth);
    }

    /// A call reaches the other side. `late`: its sender does not wait for it any more.
    fn arrive(&mut self, asked: &Asked, late: bool) -> Answered {
        match asked {
            Asked::Object(to, json) => Answered::Object(match to.binding {
                catalog::BINDING => self.ask_catalog(json),
                counters::BINDING => self.ask_counters(&to.name, json, late),
                ledger::BINDING => self.ask_ledger(json),
                other => panic!("a call to {other}"),
            }),
            Asked::Http(request) => self
                .receivers
                .receive(request, self.manner)
                .map_or(Answered::Nothing, Answered::Http),
        }
    }

    fn ask_catalog(&self, json: &str) -> String {
        let catalog::Command::Terms(GetTerms { since, offers, .. }) = serde_json::from_str(json).unwrap()
        else {
            panic!("{json} to the catalog");
        };
        let reply = if since == Some(self.terms.change) {
            Reply::no_content()
        } else {
            let mut terms = Terms::clone(&self.terms);
            terms
                .offers
                .retain(|id, _| offers.iter().any(|offer| offer == id.as_str()));
            Reply::ok(&serde_json::to_value(terms).unwrap())
        };
        serde_json::to_string(&reply).unwrap()
    }

    fn ask_counters(&mut self, name: &str, json: &str, late: bool) -> String {
        let command: counters::Command = serde_json::from_str(json).unwrap();
        let db = &self.counters[name];
        let reply = origin::counters::handle(db, self.now_ms(), command.clone()).unwrap();
        match (&command, &reply) {
            (counters::Command::Take(take), counters::Reply::Taken(taken)) => {
                self.model.took(take, taken.taken, late);
            }
            (counters::Command::AddConversions(batch), counters::Reply::Applied(applied)) => {
                self.told(name, batch.sequence, *applied);
            }
            other => panic!("{other:?}"),
        }
        serde_json::to_string(&reply).unwrap()
    }

    fn ask_ledger(&mut self, json: &str) -> String {
        let command: ledger::Command = serde_json::from_str(json).unwrap();
        let ledger::Command::AddOffers(AddOffers { sequence, .. }) = command else {
            panic!("{json} to the ledger");
        };
        let context = origin::ledger::Context {
            now_ms: self.now_ms(),
            random: &|| Err("no need of it".into()),
            mac: &|| panic!("no key is issued"),
            publisher: &self.terms.publisher_id,
        };
        let reply = origin::ledger::handle(&self.ledger, &context, command).unwrap();
        let ledger::Reply::Applied(applied) = &reply else {
            panic!("{reply:?}");
        };
        self.told("ledger", sequence, *applied);
        serde_json::to_string(&reply).unwrap()
    }

    /// A batch that was applied now was never confirmed, so its sender still has it.
    fn told(&mut self, destination: &str, sequence: u64, applied: Applied) {
        if applied.applied {
            let outstanding = batches::outstanding(&self.out.db, i64::MAX >> 11).unwrap();
            let is_it = |batch: &&Batch| batch.destination == destination && batch.sequence == sequence;
            self.model.told(outstanding.iter().find(is_it).unwrap());
        }
    }
}

enum Stepped {
    Waits,
    Moved,
    Ended,
    Died,
}

/// The UTC day of whole seconds.
pub fn day_of(seconds: i64) -> UtcDay {
    UtcDay::of_ms(seconds * SECOND_MS)
}
