//! An outbox that is put back to an earlier copy of its database. Outbox, witness, ledger and counters run their own code.

mod asked_again;
mod gap;
mod vouching;

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    task::{Context, Waker},
};

use futures_util::FutureExt;
use proptest::{collection::vec, prelude::*};

use super::{
    catalog::{GOALS, OFFERS, first_catalog},
    receivers::{Behaviour, Receivers},
    runtime::{self, CallAnswer, CallRequest, Environment, Event as RuntimeEvent, Service, Task},
    world::app,
};
use crate::{migrated, simulations, sqlite::Sqlite, test_catalog::TestCatalog};
use contract::{
    activity, attention, catalog, counters, ledger,
    operation::Bytes,
    outbox::{self, Answer, ClaimTxn, Conversion, Erase, OutboxShard, Reply, Settle, Txn},
};
use domain::{
    conversions::{
        state::Status,
        table::{Action, Event},
    },
    model::{
        AdvertiserId, OfferId,
        time::{DAY_MS, MINUTE_MS, SECOND_MS},
    },
    tracking::click::Click,
};
use origin::objects::{ledger as ledger_object, outbox::MIGRATIONS};
use platform::{
    database::{Database, Row},
    failure::Failure,
};

const OWN: u8 = 0;
const WITNESS: u8 = 1;
/// The click of a user who has no other.
const NEW_CLICK: u8 = 99;

#[derive(Clone, Debug)]
enum Op {
    /// A postback. Each click has a user and an offer.
    Convert(u8, Status),
    /// The operator rejects the reward of a click.
    Reject(u8),
    /// A user is erased.
    Erase(u8),
    /// The alarm, when it is due.
    Wake,
    Pass(i64),
    Die,
    /// Whether the witness and the receiver answer.
    Up(bool, bool),
    Copy,
}

struct Outbox {
    env: Rc<Environment>,
    service: Rc<Service>,
}

impl Outbox {
    fn of(db: Option<Sqlite>, now_ms: i64, number: u8) -> Self {
        let mut env = Environment::new(number.into());
        env.now_ms.set(now_ms);
        if let Some(db) = db {
            env.db = db;
        }
        let env = Rc::new(env);
        Self { service: runtime::start(&env, true), env }
    }
}

struct World {
    own: Outbox,
    witness: Outbox,
    tasks: Vec<Task>,
    copy: Option<(Sqlite, Option<i64>)>,
    catalog: TestCatalog,
    counters: BTreeMap<String, Sqlite>,
    ledger: Sqlite,
    receivers: Receivers,
    is_witness_up: bool,
    is_ledger_up: bool,
    is_catalog_up: bool,
    behaviour: Behaviour,
    answers: BTreeMap<u8, Answer>,
    /// Calls to the operator's attention, which does not answer.
    told: Vec<String>,
}

impl World {
    fn new(outboxes: u8) -> Self {
        let mut catalog = first_catalog();
        catalog.app.outbox_shards = outboxes;
        let counters = OFFERS.map(|offer| counters::object_name(&OfferId::parse(offer).unwrap()));
        let now_ms = super::world::NOON;
        Self {
            own: Outbox::of(None, now_ms, OWN),
            witness: Outbox::of(None, now_ms, WITNESS),
            tasks: vec![],
            copy: None,
            catalog,
            counters: counters.map(|name| (name, migrated(origin::objects::counters::MIGRATIONS))).into(),
            ledger: migrated(ledger_object::MIGRATIONS),
            receivers: Receivers::default(),
            is_witness_up: true,
            is_ledger_up: true,
            is_catalog_up: true,
            behaviour: Behaviour::Working,
            answers: BTreeMap::new(),
            told: vec![],
        }
    }

    fn now_ms(&self) -> i64 {
        self.own.env.now_ms.get()
    }

    fn pass(&self, ms: i64) {
        for outbox in [&self.own, &self.witness] {
            outbox.env.now_ms.set(self.now_ms() + ms);
        }
    }

    fn carry_out(&mut self, op: &Op) {
        match op {
            Op::Convert(click, status) => drop(self.convert(*click, *status)),
            Op::Reject(click) => {
                if let Some(answer) = self.answers.get(click) {
                    let settle = Settle {
                        transaction_id: answer.transaction_id.clone(),
                        action: Action::Reject,
                        reason: "fraud".to_owned(),
                        despite: vec![],
                    };
                    drop(self.command(settle.into()));
                }
            }
            Op::Erase(user) => {
                let user_id = format!("user {user}");
                self.command(Erase { user_id, is_witness: false }.into()).unwrap();
            }
            Op::Wake => self.wake(),
            Op::Pass(ms) => self.pass(*ms),
            Op::Die => self.start(),
            Op::Up(witness, receiver) => {
                self.is_witness_up = *witness;
                self.behaviour = if *receiver { Behaviour::Working } else { Behaviour::Broken };
            }
            Op::Copy => {
                self.copy = Some((self.own.env.db.copy(), self.own.env.alarm_ms.get()));
            }
        }
    }

    /// Starts a new process.
    fn start(&mut self) {
        self.tasks.clear();
        self.own.env.calls.take();
        self.own.env.spawned.take();
        self.own.service = runtime::start(&self.own.env, true);
    }

    /// Puts the copy back, or an empty database. The runtime does not know the alarm that it names.
    fn restore(&mut self) {
        self.pass(SECOND_MS);
        let (db, alarm_ms) = self.copy.take().unwrap_or((migrated(MIGRATIONS), None));
        self.own = Outbox::of(Some(db), self.now_ms(), OWN);
        self.own.env.alarm_ms.set(alarm_ms);
    }

    fn wake(&mut self) {
        if let Some(at_ms) = self.own.env.alarm_ms.get() {
            self.pass((at_ms - self.now_ms()).max(0));
            let (env, service) = (Rc::clone(&self.own.env), Rc::clone(&self.own.service));
            self.tasks.push(Box::pin(runtime::wake(env, service)));
            self.run();
        }
    }

    /// Sends a postback, and lets everything be answered.
    fn convert(&mut self, click: u8, status: Status) -> Result<Answer, Failure> {
        let conversion = self.conversion(click, status);
        let (env, service) = (Rc::clone(&self.own.env), Rc::clone(&self.own.service));
        env.journal.take();
        self.tasks.push(Box::pin(runtime::convert(Rc::clone(&env), service, conversion)));
        self.run();
        let answer = env.journal.take().into_iter().find_map(|event| match event {
            RuntimeEvent::Answered { answer, .. } => Some(answer),
            _ => None,
        });
        let answer = answer.unwrap();
        if let Ok(answer) = &answer {
            self.answers.insert(click, answer.clone());
        }
        answer
    }

    /// Lets everything be answered until nothing is under way.
    fn run(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..1_000 {
            self.tasks.extend(self.own.env.spawned.take());
            self.tasks.retain_mut(|task| task.as_mut().poll(&mut context).is_pending());
            let calls = self.own.env.calls.take();
            for call in &calls {
                call.answer(self.answer(&call.request));
            }
            if calls.is_empty() && self.tasks.is_empty() && self.own.env.spawned.borrow().is_empty() {
                return;
            }
        }
        panic!("something never ends");
    }

    fn answer(&mut self, request: &CallRequest) -> CallAnswer {
        let (to, json) = match request {
            CallRequest::Object(to, json) => (to, json),
            CallRequest::Http(request) => {
                let answer = self.receivers.receive(request, self.behaviour);
                return answer.map_or(CallAnswer::Nothing, CallAnswer::Http);
            }
        };
        let now_ms = self.now_ms();
        CallAnswer::Object(match to.binding {
            catalog::BINDING if !self.is_catalog_up => return CallAnswer::Nothing,
            catalog::BINDING => self.catalog.answer(json),
            counters::BINDING => {
                let command = serde_json::from_str(json).unwrap();
                let reply = crate::ask_counters(&self.counters[&to.name], now_ms, command).unwrap();
                serde_json::to_string(&reply).unwrap()
            }
            ledger::BINDING if !self.is_ledger_up => return CallAnswer::Nothing,
            ledger::BINDING => {
                let context = ledger_object::Context {
                    now_ms,
                    random: &|| Err("not used here".into()),
                    mac: &|| panic!("no key is issued"),
                    publisher: &self.catalog.app.publisher_id,
                };
                let command = serde_json::from_str(json).unwrap();
                let reply = ledger_object::handle(&self.ledger, &context, command).unwrap();
                serde_json::to_string(&reply).unwrap()
            }
            activity::BINDING => {
                assert!(to.name == attention::OBJECT_NAME || to.name.starts_with("activity-"), "{to:?}");
                self.told.push(json.clone());
                return CallAnswer::Nothing;
            }
            outbox::BINDING => {
                let shard = OutboxShard::parse_path(&to.path).unwrap();
                let service = match shard.number {
                    WITNESS if self.is_witness_up => &self.witness.service,
                    WITNESS => return CallAnswer::Nothing,
                    other => panic!("a call to {other}"),
                };
                let command = serde_json::from_str(json).unwrap();
                let reply = service.command(shard, command).now_or_never().unwrap();
                serde_json::to_string(&reply.unwrap()).unwrap()
            }
            other => panic!("a call to {other}"),
        })
    }

    /// Sends another command.
    fn command(&mut self, command: outbox::Command) -> Result<Reply, Failure> {
        let shard = OutboxShard { app: app(), number: OWN };
        let (service, answer) = (Rc::clone(&self.own.service), Rc::new(RefCell::new(None)));
        let answered = Rc::clone(&answer);
        self.tasks.push(Box::pin(async move {
            answered.replace(Some(service.command(shard, command).await));
        }));
        self.run();
        answer.take().unwrap()
    }

    /// A restore must not change the state of a conversion that waits for no cap, nor whether its user is erased.
    fn lasting(&self) -> BTreeMap<String, (i64, bool)> {
        let sql = "SELECT hex(nonce) || goal, c.state, e.erase OR e.user_id IS NULL
            FROM conversions c JOIN entries e USING (entry, nonce, goal)";
        let rows = self.own.env.db.query(sql, &[]).unwrap();
        let row = |row: &Row| {
            let text = row.text(0).unwrap().to_owned();
            (text, (row.integer(1).unwrap(), row.boolean(2).unwrap()))
        };
        rows.iter().map(row).collect()
    }

    fn conversion(&self, click: u8, status: Status) -> Conversion {
        let offer = OFFERS[usize::from(click % 2)];
        Conversion {
            nonce: Bytes(vec![click; 12]),
            click: Click {
                offer: offer.into(),
                goal: GOALS[0].into(),
                app: app(),
                shard: OWN,
                offer_terms: 1,
                app_terms: 1,
                user_id: format!("user {}", if click == NEW_CLICK { 9 } else { click / 2 % 3 }).into(),
                gaid: None,
                idfa: None,
                custom: [Some(format!("c {click}").into()), None, None, None, None],
                placement: Some("home".into()),
                country: None,
                clicked_at_ms: super::world::NOON - MINUTE_MS,
            },
            advertiser: AdvertiserId::parse("adv"),
            goal: None,
            txn: None,
            event: Event::Postback(status),
            reason: None,
            despite: Vec::new(),
            received_ms: None,
            is_to_be_held: false,
            current: self.catalog.current(offer),
        }
    }

    /// Lets the alarms run until the journal and the ledger have everything.
    fn settle(&mut self) {
        (self.is_witness_up, self.behaviour) = (true, Behaviour::Working);
        for _ in 0..3_000 {
            let last = self.own.env.db.query_integer(LAST, &[]).unwrap();
            let seen = self.own.env.db.query_first("SELECT seen, known FROM positions", &[]);
            let seen = seen.unwrap().unwrap();
            // Before the first conversion nothing is sent: who gets it is not known.
            let sends =
                self.own.env.db.query_boolean("SELECT EXISTS (SELECT 1 FROM outbox WHERE publisher IS NOT NULL)", &[]);
            let has_all = sends == Ok(false)
                || seen.integer(0).unwrap() >= last.unwrap_or(0) && !seen.text(1).unwrap().contains("behind");
            let waiting = "SELECT COUNT(*) FROM entries WHERE delivery = 0";
            if has_all && self.own.env.db.query_integer(waiting, &[]) == Ok(Some(0)) {
                return;
            }
            self.wake();
        }
        panic!("batches or callbacks wait for ever");
    }

    /// The payments by their numbers.
    fn paid(&self) -> BTreeMap<i64, i64> {
        let sql = "SELECT movement, payout_micro_usd FROM entries WHERE movement IS NOT NULL";
        let rows = self.own.env.db.query(sql, &[]).unwrap();
        rows.iter().map(|row| (row.integer(0).unwrap(), row.integer(1).unwrap())).collect()
    }

    /// The rewards that were paid.
    fn rewards(&self) -> BTreeSet<String> {
        let sql = "SELECT transaction_id FROM entries WHERE movement IS NOT NULL";
        let rows = self.own.env.db.query(sql, &[]).unwrap();
        rows.iter().map(|row| row.text(0).unwrap().to_owned()).collect()
    }

    fn check(&self) {
        let sql = "SELECT COALESCE(SUM(revenue), 0) FROM segments";
        let reported = self.ledger.query_integer(sql, &[]).unwrap().unwrap();
        assert_eq!(reported, self.paid().values().sum::<i64>());
        let standing = "SELECT hex(c.rewarded) FROM conversions c JOIN entries e USING (entry)
            WHERE c.state = 1 AND e.fields ->> '$.offer_id' = ?";
        let users = self.own.env.db.query(standing, platform::params![OFFERS[1]]).unwrap();
        let once: BTreeSet<_> = users.iter().map(|row| row.text(0).unwrap()).collect();
        assert_eq!(once.len(), users.len(), "a user has two rewards");
    }
}

const LAST: &str = "SELECT MAX(COALESCE((SELECT MAX(MAX(entry, COALESCE(movement, 0))) FROM entries), 0),
    COALESCE((SELECT MAX(number) FROM changes), 0))";

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let status = prop_oneof![
        4 => Just(Status::Approved),
        2 => Just(Status::Pending),
        2 => Just(Status::Reversed),
    ];
    let op = prop_oneof![
        12 => (0..12_u8, status).prop_map(|(click, status)| Op::Convert(click, status)),
        2 => (0..12_u8).prop_map(Op::Reject),
        1 => (0..3_u8).prop_map(Op::Erase),
        8 => Just(Op::Wake),
        3 => (0..20 * SECOND_MS).prop_map(Op::Pass),
        1 => (0..2 * DAY_MS).prop_map(Op::Pass),
        1 => Just(Op::Die),
        1 => (any::<bool>(), any::<bool>()).prop_map(|(witness, receiver)| Op::Up(witness, receiver)),
        2 => Just(Op::Copy),
    ];
    vec(op, 1..60)
}

proptest! {
    #![proptest_config(simulations(48))]

    #[test]
    fn an_outbox_that_is_put_back_has_everything_that_its_journal_has(
        is_reached in any::<bool>(),
        ops in ops(),
        outboxes in prop_oneof![Just(1_u8), Just(8)],
    ) {
        let mut world = World::new(outboxes);
        for op in &ops {
            world.carry_out(op);
        }
        world.settle();
        world.check();
        let (paid, answers, paid_before) = (world.paid(), world.answers.clone(), world.rewards());
        let lasting = world.lasting();
        world.restore();
        if !is_reached {
            // The outbox runs without its journal until the next batch, unless the ledger knows more: then it waits.
            world.is_witness_up = false;
            if let Err(failure) = world.convert(NEW_CLICK, Status::Approved) {
                prop_assert!(matches!(failure, Failure::Refused(refusal) if refusal.status == 503));
                world.is_witness_up = true;
                world.convert(NEW_CLICK, Status::Approved).unwrap();
            }
            world.settle();
            world.check();
        } else {
            world.convert(NEW_CLICK, Status::Approved).unwrap();
        }
        let now = world.lasting();
        for (conversion, (state, is_erased)) in lasting {
            prop_assert!(now.get(&conversion).is_some_and(|now| now.0 == state && now.1 >= is_erased),
                "{}: {:?} was {} {}", conversion, now.get(&conversion), state, is_erased);
        }
        for (click, before) in answers {
            let again = world.convert(click, Status::Approved);
            match before.status {
                Status::Approved => {
                    let again = again.unwrap();
                    prop_assert_eq!((&again.transaction_id, again.status), (&before.transaction_id, Status::Approved));
                }
                // A conversion that was reversed before it was paid may be refused again for the same reason.
                Status::Reversed => prop_assert!(again.is_ok_and(|again| again.status == Status::Reversed) || !paid_before.contains(&before.transaction_id)),
                _ => {}
            }
        }
        world.settle();
        world.check();
        let after = world.paid();
        prop_assert!(paid.iter().all(|(number, payout)| after.get(number) == Some(payout)), "{:?} {:?}", paid, after);
    }
}

#[test]
fn a_txn_that_was_claimed_is_claimed_by_no_other_click_after_a_restore() {
    for is_copied in [true, false] {
        let mut world = World::new(8);
        world.convert(0, Status::Approved).unwrap();
        if is_copied {
            world.carry_out(&Op::Copy);
        }
        assert!(world.claims([1; 12]));
        world.convert(2, Status::Approved).unwrap();
        world.settle();
        world.restore();
        assert!(!world.claims([2; 12]), "{is_copied}");
        assert!(world.claims([1; 12]), "it is its own");
        world.convert(NEW_CLICK, Status::Approved).unwrap();
    }
}

impl World {
    /// Whether a click of another outbox may claim a `txn` in this one.
    fn claims(&mut self, nonce: [u8; 12]) -> bool {
        let txn = Txn {
            advertiser: AdvertiserId::parse("adv").unwrap(),
            goal: GOALS[0].to_owned(),
            txn: "t".to_owned(),
            nonce: Bytes(nonce.to_vec()),
            number: self.now_ms(),
        };
        match self.command(ClaimTxn(txn).into()) {
            Ok(Reply::Claimed(claimed)) => claimed.claimed,
            other => panic!("{other:?}"),
        }
    }
}
