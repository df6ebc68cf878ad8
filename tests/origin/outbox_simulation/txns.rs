//! Clicks of several outboxes that carry the same `txn`s: each outbox, the keepers of the claims and the counters run their
//! own code. Answers are lost, processes die, and the cap refuses some, so that claims are freed and made again.

use std::{
    collections::BTreeMap,
    rc::Rc,
    task::{Context, Waker},
};

use proptest::{collection::vec, prelude::*};

use super::{
    catalog::{OFFERS, first_catalog},
    runtime::{self, CallAnswer, CallRequest, Environment, Service, Task},
    world::app,
};
use crate::{migrated, sqlite::Sqlite, test_catalog::TestCatalog};
use contract::{
    catalog, counters,
    operation::Bytes,
    outbox::{self, Command, Conversion, OutboxShard, Txn},
};
use domain::{
    conversions::{state::Status, table::Event},
    model::{AdvertiserId, time::MINUTE_MS},
    tracking::click::Click,
};
use platform::{database::Database, params};

const OUTBOXES: u8 = 4;
const CLICKS: u8 = 3;
const TXNS: u8 = 4;

#[derive(Clone, Copy, Debug)]
enum Act {
    /// A postback of a click with a `txn`.
    Convert(u8, u8),
    /// Carries the oldest call out, and answers it unless the answer is lost.
    Answer {
        is_lost: bool,
    },
    Die,
    RaiseCap,
}

struct Outbox {
    shard: OutboxShard,
    env: Rc<Environment>,
    service: Rc<Service>,
    tasks: Vec<Task>,
}

impl Outbox {
    fn waits(&self) -> bool {
        let waiting = "SELECT (SELECT COUNT(*) FROM txns_to_free) + (SELECT COUNT(*) FROM reservations)";
        !self.tasks.is_empty()
            || !self.env.calls.borrow().is_empty()
            || self.env.db.query_integer(waiting, &[]).unwrap() != Some(0)
    }
}

struct World {
    outboxes: Vec<Outbox>,
    catalog: TestCatalog,
    counters: Sqlite,
    cap: u32,
}

impl World {
    fn new() -> Self {
        let outbox = |number: u8| {
            let env = Rc::new(Environment::new(u64::from(number)));
            Outbox {
                shard: OutboxShard { app: app(), number },
                service: runtime::start(&env, true),
                env,
                tasks: vec![],
            }
        };
        let mut catalog = first_catalog();
        // An app has 8 outboxes; half of these only keep claims.
        catalog.cap(OFFERS[0], Some(1));
        Self {
            outboxes: (0..8).map(outbox).collect(),
            catalog,
            counters: migrated(origin::objects::counters::MIGRATIONS),
            cap: 1,
        }
    }

    fn act(&mut self, nth: usize, act: Act) {
        let now_ms = self.outboxes[nth].env.now_ms.get() + 100;
        for outbox in &self.outboxes {
            outbox.env.now_ms.set(now_ms);
        }
        match act {
            Act::Convert(click, txn) => {
                let command = Command::Convert(Box::new(self.conversion(nth, click, txn)));
                let outbox = &mut self.outboxes[nth];
                let (service, shard) = (Rc::clone(&outbox.service), outbox.shard);
                outbox.tasks.push(Box::pin(async move { drop(service.command(shard, command).await) }));
            }
            Act::Answer { is_lost } => self.answer(nth, is_lost),
            Act::Die => {
                let outbox = &mut self.outboxes[nth];
                outbox.env.calls.take();
                outbox.env.spawned.take();
                outbox.tasks.clear();
                outbox.service = runtime::start(&outbox.env, true);
            }
            Act::RaiseCap => {
                self.cap += 1;
                self.catalog.cap(OFFERS[0], Some(self.cap));
            }
        }
        self.run(nth);
        self.check();
    }

    fn run(&mut self, nth: usize) {
        let outbox = &mut self.outboxes[nth];
        let env = &outbox.env;
        if env.alarm_ms.get().is_some_and(|at_ms| at_ms <= env.now_ms.get()) {
            let (env, service) = (Rc::clone(env), Rc::clone(&outbox.service));
            outbox.tasks.push(Box::pin(runtime::wake(env, service)));
        }
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..8 {
            outbox.tasks.retain_mut(|task| task.as_mut().poll(&mut context).is_pending());
            outbox.tasks.extend(outbox.env.spawned.take());
        }
        outbox.env.journal.take();
    }

    fn answer(&mut self, nth: usize, is_lost: bool) {
        if self.outboxes[nth].env.calls.borrow().is_empty() {
            return;
        }
        let call = self.outboxes[nth].env.calls.borrow_mut().remove(0);
        let answer = self.carry_out(&call.request);
        call.answer(if is_lost { CallAnswer::Nothing } else { answer });
    }

    fn carry_out(&mut self, request: &CallRequest) -> CallAnswer {
        let CallRequest::Object(to, command) = request else {
            return CallAnswer::Nothing;
        };
        CallAnswer::Object(match to.binding {
            catalog::BINDING => self.catalog.answer(command),
            counters::BINDING => {
                let command = serde_json::from_str(command).unwrap();
                let now_ms = self.outboxes[0].env.now_ms.get();
                let reply = crate::ask_counters(&self.counters, now_ms, command).unwrap();
                serde_json::to_string(&reply).unwrap()
            }
            outbox::BINDING => {
                let shard = OutboxShard::parse_path(&to.path).unwrap();
                let keeper = &self.outboxes[usize::from(shard.number)];
                let (env, service) = (Rc::clone(&keeper.env), Rc::clone(&keeper.service));
                let command = serde_json::from_str(command).unwrap();
                match runtime::ask(&env, &service, shard, command, |request| self.carry_out(request)) {
                    Some(Ok(reply)) => serde_json::to_string(&reply).unwrap(),
                    _ => return CallAnswer::Nothing,
                }
            }
            _ => r#"{"applied":true}"#.into(),
        })
    }

    fn conversion(&self, nth: usize, click: u8, txn: u8) -> Conversion {
        let shard = self.outboxes[nth].shard;
        Conversion {
            nonce: Bytes([[shard.number; 6], [click; 6]].concat()),
            click: Click {
                offer: OFFERS[0].into(),
                goal: "g1".into(),
                app: app(),
                shard: shard.number,
                offer_terms: 1,
                app_terms: 1,
                user_id: format!("user {} {click}", shard.number).into(),
                gaid: None,
                idfa: None,
                custom: [const { None }; 5],
                placement: None,
                country: None,
                clicked_at_ms: self.outboxes[nth].env.now_ms.get() - MINUTE_MS,
            },
            advertiser: AdvertiserId::parse("adv"),
            goal: None,
            txn: Some(format!("txn {txn}")),
            event: Event::Postback(Status::Approved),
            reason: None,
            despite: Vec::new(),
            received_ms: None,
            is_to_be_held: false,
            current: self.catalog.current(OFFERS[0]),
        }
    }

    /// Each paid `txn`, with the click that was paid: at most one, and the claim is that click's.
    fn check(&self) -> BTreeMap<String, Vec<u8>> {
        let mut paid = BTreeMap::new();
        for outbox in &self.outboxes {
            let sql = "SELECT e.txn, e.nonce, e.goal FROM conversions c JOIN entries e USING (entry) WHERE c.state = 1";
            for row in outbox.env.db.query(sql, &[]).unwrap() {
                let (txn, nonce) = (row.text(0).unwrap(), row.blob(1).unwrap().to_vec());
                let another = paid.insert(txn.to_owned(), nonce.clone());
                assert_eq!(another, None, "{txn} is paid twice");
                assert_eq!(self.holder(txn, row.text(2).unwrap()), Some(nonce), "{txn}");
            }
        }
        paid
    }

    /// The click that has claimed a `txn`.
    fn holder(&self, txn: &str, goal: &str) -> Option<Vec<u8>> {
        let txn = Txn {
            advertiser: AdvertiserId::parse("adv").unwrap(),
            goal: goal.to_owned(),
            txn: txn.to_owned(),
            nonce: Bytes(vec![]),
            number: 0,
        };
        let keeper = origin::objects::outbox::conversions::txns::keeper(app(), 8, &txn);
        let db = &self.outboxes[usize::from(keeper.number)].env.db;
        let sql = "SELECT nonce FROM txns WHERE goal = ? AND txn = ?";
        let row = db.query_first(sql, params![goal, txn.txn.as_str()]).unwrap();
        row.map(|row| row.blob(0).unwrap().to_vec())
    }

    /// Lets everything be answered.
    fn settle_down(&mut self) {
        for _ in 0..2_000 {
            for nth in 0..self.outboxes.len() {
                self.outboxes[nth].env.now_ms.update(|now_ms| now_ms + 100);
                self.answer(nth, false);
                self.run(nth);
            }
            if self.outboxes.iter().all(|outbox| !outbox.waits()) {
                self.check();
                return;
            }
        }
        panic!("something waits for ever");
    }
}

fn acts() -> impl Strategy<Value = (usize, Act)> {
    let act = prop_oneof![
        6 => (0..CLICKS, 0..TXNS).prop_map(|(click, txn)| Act::Convert(click, txn)),
        16 => Just(Act::Answer { is_lost: false }),
        2 => Just(Act::Answer { is_lost: true }),
        1 => Just(Act::Die),
        1 => Just(Act::RaiseCap),
    ];
    (0..usize::from(OUTBOXES), act)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 500, ..ProptestConfig::with_cases(8) })]

    #[test]
    fn of_the_clicks_of_several_outboxes_one_is_paid_for_a_txn(acts in vec(acts(), 1..250)) {
        let mut world = World::new();
        for (nth, act) in acts {
            world.act(nth, act);
        }
        world.settle_down();
        // Conversions that the cap refused left its txns to others. One whose process died keeps its claim until its
        // sender repeats it.
        world.cap = 1_000;
        world.act(0, Act::RaiseCap);
        for txn in 0..TXNS {
            world.act(0, Act::Convert(10 + txn, txn));
            world.settle_down();
            let holder = world.holder(&format!("txn {txn}"), "g2").unwrap();
            world.act(usize::from(holder[0]), Act::Convert(holder[6], txn));
            world.settle_down();
            prop_assert!(world.check().values().any(|paid| *paid == holder), "txn {} is lost", txn);
        }
    }
}
