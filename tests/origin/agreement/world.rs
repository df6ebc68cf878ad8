//! The objects with their environment: one clock, calls that are in flight until an operation resolves them, processes that
//! die and storages that are put back. It polls the services' tasks one step at a time.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    mem,
    rc::Rc,
};

use super::{
    edge::{Edge, OUTBOXES},
    objects::{Environment, Kind, Process},
    ops::{Death, Op},
};
use crate::{
    migrated,
    mock_platform::{Call, CallRequest, Task, random},
    outbox_simulation::{
        catalog::{OFFERS, first_catalog},
        receivers::{Behaviour, Receivers},
        world::{NOON, app},
    },
    sqlite::Sqlite,
    test_catalog::TestCatalog,
};
use contract::{counters, outbox::OutboxShard};
use domain::model::{
    OfferId,
    time::{DAY_MS, HOUR_MS, SECOND_MS, UtcDay},
};

/// The indexes of the objects: first the outboxes with users, then counters, ledger and the other outboxes, which are
/// witnesses and keep claims.
pub const COUNTERS: usize = OUTBOXES.len();
pub const LEDGER: usize = COUNTERS + OFFERS.len();
const OTHERS: [u8; 6] = [1, 2, 3, 4, 5, 6];
/// The edge and the operator send their calls like an object.
pub const EDGE: usize = LEDGER + 1 + OTHERS.len();
/// The objects of the operations: the first of the others keeps a journal.
pub const OBJECTS: usize = LEDGER + 2;

/// How long the operations may take altogether. Ten days later, sources still have all days.
const MOST_MS: i64 = 15 * DAY_MS;
/// A call whose sender gave up arrives within this time.
const LATEST_MS: i64 = DAY_MS;

/// A task, and the call that it answers.
pub struct Work {
    pub task: Task,
    pub call: Option<Rc<Call>>,
}

/// An object across its processes, or the edge.
pub struct Actor {
    pub env: Rc<Environment>,
    pub object: Option<(Kind, Process)>,
    pub tasks: Vec<Work>,
    /// Whether its alarm runs; the runtime runs one at a time.
    pub is_waking: Rc<Cell<bool>>,
    copy: Option<(Sqlite, Option<i64>)>,
    /// It was put back, and nobody told it.
    pub was_put_back_silently: bool,
}

pub struct World {
    pub clock: Rc<Cell<i64>>,
    pub actors: Vec<Actor>,
    pub edge: Edge,
    pub catalog: TestCatalog,
    /// The publisher's activity and the operator's attention, by name.
    pub activities: BTreeMap<String, Sqlite>,
    pub receivers: Receivers,
    pub behaviour: Behaviour,
    /// Objects that no call reaches.
    pub unreachable: BTreeSet<usize>,
    pub death: Option<Death>,
    pub draws: Cell<u64>,
    /// Calls that arrived and whose callers wait for the answer, with their receivers.
    pub answered: Vec<(usize, Rc<Call>)>,
    /// Calls whose senders gave up, with the time.
    pub stragglers: Vec<(i64, CallRequest)>,
}

impl World {
    pub fn new(seed: u64) -> Self {
        let clock = Rc::new(Cell::new(NOON));
        let catalog = first_catalog();
        let publisher = catalog.app.publisher_id.clone();
        let outbox = |number| Kind::Outbox(OutboxShard { app: app(), number });
        let counters = OFFERS.map(|offer| Kind::Counters(counters::object_name(&OfferId::parse(offer).unwrap())));
        let kinds = OUTBOXES
            .map(outbox)
            .into_iter()
            .chain(counters)
            .chain([Kind::Ledger(publisher.clone())])
            .chain(OTHERS.map(outbox));
        let actor = |(nth, kind): (usize, Option<Kind>)| {
            let db = kind.as_ref().map_or_else(Sqlite::in_memory, |kind| migrated(kind.migrations()));
            let env = Rc::new(Environment::of(db, Rc::clone(&clock), seed.wrapping_add(nth as u64)));
            Actor {
                object: kind.map(|kind| {
                    let process = kind.start(&env);
                    (kind, process)
                }),
                env,
                tasks: vec![],
                is_waking: Rc::default(),
                copy: None,
                was_put_back_silently: false,
            }
        };
        let actors: Vec<_> = kinds.map(Some).chain([None]).enumerate().map(actor).collect();
        Self {
            edge: Edge::new(Rc::clone(&actors[EDGE].env), publisher),
            clock,
            actors,
            catalog,
            activities: BTreeMap::new(),
            receivers: Receivers::default(),
            behaviour: Behaviour::Working,
            unreachable: BTreeSet::new(),
            death: None,
            draws: Cell::new(seed),
            answered: vec![],
            stragglers: vec![],
        }
    }

    pub fn now_ms(&self) -> i64 {
        self.clock.get()
    }

    pub fn name(&self, nth: usize) -> String {
        self.actors[nth].object.as_ref().unwrap().0.name()
    }

    pub fn coin(&self) -> bool {
        random(&self.draws) & 1 == 1
    }

    pub fn carry_out(&mut self, op: &Op, death: Option<Death>) {
        self.death = death;
        match op {
            Op::Convert(postback) => {
                let task = self.edge.convert(postback, &self.catalog);
                self.send([task]);
            }
            Op::Flush(isolate, nth, clicks) => {
                let task = self.edge.flush(*isolate, &self.name(COUNTERS + nth), clicks);
                self.send(task);
            }
            Op::Load(days) => {
                let today = UtcDay::of_ms(self.now_ms());
                let load = self.edge.load(today.minus(*days));
                self.send([load]);
            }
            Op::Resolve(nth, fate, again) => {
                let open: Vec<_> = (0..self.actors.len())
                    .flat_map(|actor| (0..self.actors[actor].env.calls.borrow().len()).map(move |call| (actor, call)))
                    .collect();
                if !open.is_empty() {
                    let (actor, call) = open[nth % open.len()];
                    self.resolve(actor, call, *fate, *again);
                }
            }
            Op::ResolveAll => self.resolve_all(),
            Op::Pass(ms) => {
                let ms = self.bounded(*ms);
                self.pass(ms);
            }
            Op::Live(ms) => {
                let ms = self.bounded(*ms);
                self.live(self.now_ms() + ms);
            }
            Op::Alarm(nth, late_ms) => {
                if let Some(at_ms) = self.actors[*nth].env.alarm_ms.get() {
                    let ms = self.bounded((at_ms - self.now_ms()).max(0) + late_ms);
                    self.pass(ms);
                    self.wake(*nth);
                }
            }
            Op::AlarmAgain(nth) => self.wake(*nth),
            Op::Receivers(behaviour) => self.behaviour = *behaviour,
            Op::Reach(nth, true) => drop(self.unreachable.remove(nth)),
            Op::Reach(nth, false) => drop(self.unreachable.insert(*nth)),
            Op::Straggler(nth, again) => {
                let oldest_ms = self.now_ms() - LATEST_MS;
                self.stragglers.retain(|(at_ms, _)| *at_ms >= oldest_ms);
                if !self.stragglers.is_empty() {
                    let nth = nth % self.stragglers.len();
                    let request = match again {
                        true => self.stragglers[nth].1.clone(),
                        false => self.stragglers.remove(nth).1,
                    };
                    self.deliver(&request, None);
                }
            }
            Op::Die(nth) => self.die(*nth),
            Op::Copy(nth) => self.copy(*nth),
            Op::Restore(nth, is_told) => drop(self.restore(*nth, *is_told)),
        }
        self.run();
    }

    /// The time that may still pass. An isolate's batch is not so old that it may be forgotten, which is after a week.
    fn bounded(&mut self, ms: i64) -> i64 {
        let ms = ms.min(NOON + MOST_MS - self.now_ms());
        if ms > DAY_MS / 2 {
            self.unreachable.retain(|nth| !(COUNTERS..LEDGER).contains(nth) || !self.edge.has_unanswered());
            let again = self.edge.flush_again();
            self.send(again);
            self.resolve_all();
        }
        ms
    }

    pub fn send(&mut self, tasks: impl IntoIterator<Item = Task>) {
        let work = tasks.into_iter().map(|task| Work { task, call: None });
        self.actors[EDGE].tasks.extend(work);
    }

    pub fn copy(&mut self, nth: usize) {
        let actor = &mut self.actors[nth];
        actor.copy = Some((actor.env.db.copy(), actor.env.alarm_ms.get()));
    }

    /// Puts an object back to its copy. The runtime does not know the alarm that it names. Returns false without a copy.
    pub fn restore(&mut self, nth: usize, is_told: bool) -> bool {
        let Some((db, alarm_ms)) = self.actors[nth].copy.take() else {
            return false;
        };
        self.pass(SECOND_MS);
        self.die(nth);
        self.receivers.is_any_restored = true;
        let draws = random(&self.draws);
        let actor = &mut self.actors[nth];
        actor.env = Rc::new(Environment::of(db, Rc::clone(&self.clock), draws));
        actor.env.alarm_ms.set(alarm_ms);
        if is_told {
            actor.env.db.mark_put_back();
        }
        actor.was_put_back_silently |= !is_told;
        let (kind, process) = actor.object.as_mut().unwrap();
        *process = kind.start(&actor.env);
        true
    }

    fn wake(&mut self, nth: usize) {
        let actor = &mut self.actors[nth];
        if actor.is_waking.replace(true) {
            return;
        }
        let (env, is_waking) = (Rc::clone(&actor.env), Rc::clone(&actor.is_waking));
        let (_, process) = actor.object.clone().unwrap();
        let task = Box::pin(async move {
            env.fire(process.alarm()).await;
            is_waking.set(false);
        });
        actor.tasks.push(Work { task, call: None });
    }

    /// Lets time pass while each call is answered and each alarm runs on time.
    pub fn live(&mut self, until_ms: i64) {
        self.resolve_all();
        for _ in 0..20_000 {
            let objects = &self.actors[..EDGE];
            let alarms = objects.iter().enumerate().filter_map(|(nth, actor)| Some((actor.env.alarm_ms.get()?, nth)));
            let Some((at_ms, nth)) = alarms.min().filter(|alarm| alarm.0 <= until_ms) else {
                self.pass(until_ms - self.now_ms());
                return;
            };
            self.pass(at_ms - self.now_ms());
            self.wake(nth);
            self.resolve_all();
        }
        panic!("the alarms never end");
    }

    /// Lets everything settle: late calls arrive, and all days are loaded once the last is over. Then a day passes.
    pub fn settle(&mut self) {
        self.death = None;
        self.behaviour = Behaviour::Working;
        self.unreachable.clear();
        let oldest_ms = self.now_ms() - LATEST_MS;
        for (at_ms, request) in mem::take(&mut self.stragglers) {
            if at_ms >= oldest_ms {
                self.deliver(&request, None);
            }
        }
        self.resolve_all();
        let again = self.edge.flush_again();
        self.send(again);
        self.resolve_all();
        let last = UtcDay::of_ms(self.now_ms());
        self.live(last.start_ms() + DAY_MS + 3 * HOUR_MS);
        let loaded = self.edge.told.loaded.borrow().clone();
        let days = (UtcDay::of_ms(NOON).number() - 1..=last.number()).filter_map(UtcDay::from_number);
        for day in days.filter(|day| !loaded.contains(day)) {
            let load = self.edge.load(day);
            self.send([load]);
        }
        self.live(self.now_ms() + DAY_MS);
    }
}
