//! The outboxes of one app, each a service of its own: they share no lock, no row and no call but the claim of a `txn`.
//! However their steps interleave, and although one of them gets no answer, each writes what it writes alone. Their
//! conversions have caps and `txn`s, and their alarms send batches.

use std::{
    cell::Cell,
    collections::BTreeMap,
    rc::Rc,
    task::{Context, Waker},
};

use proptest::{collection::vec, prelude::*};
use serde_json::{Value as Json, json};

use super::{
    catalog::{OFFERS, first_catalog},
    runtime::{self, CallAnswer, CallRequest, Environment, Service, Task},
    world::app,
};
use crate::{dump, test_catalog::TestCatalog};
use contract::{
    operation::Bytes,
    outbox::{Command, Conversion, OutboxShard},
};
use domain::{
    conversions::{state::Status, table::Event},
    model::{AdvertiserId, time::MINUTE_MS},
    tracking::click::Click,
};
use platform::{database::Database, http_call::HttpAnswer};

const OUTBOXES: u8 = 8;
const CONVERSIONS: u8 = 20;
/// Steps in which all conversions of an outbox are sent and answered, their callbacks delivered, and their sums sent.
const STEPS: usize = 300;
const STEP_MS: i64 = 100;

struct Outbox {
    shard: OutboxShard,
    env: Rc<Environment>,
    service: Rc<Service>,
    tasks: Vec<Task>,
    sent: u8,
    paid: Rc<Cell<u8>>,
    /// The commands that it sent to other objects, with the object's name.
    called: Vec<(String, Json)>,
}

impl Outbox {
    fn new(number: u8) -> Self {
        let env = Rc::new(Environment::new(u64::from(number)));
        Self {
            shard: OutboxShard { app: app(), number },
            service: runtime::start(&env, true),
            env,
            tasks: vec![],
            sent: 0,
            paid: Rc::default(),
            called: vec![],
        }
    }

    /// Sends the next conversion.
    fn send(&mut self, catalog: &TestCatalog) {
        self.sent += 1;
        let command = Command::Convert(Box::new(self.conversion(catalog)));
        let (service, shard, paid) = (Rc::clone(&self.service), self.shard, Rc::clone(&self.paid));
        self.tasks.push(Box::pin(async move {
            service.command(shard, command).await.unwrap();
            paid.set(paid.get() + 1);
        }));
    }

    /// Sends the next conversion, goes on with the earlier ones, and answers the oldest call.
    fn step(&mut self, catalog: &mut TestCatalog, answers: bool) {
        if self.sent < CONVERSIONS {
            self.send(catalog);
        }
        self.env.now_ms.set(self.env.now_ms.get() + STEP_MS);
        if self.env.alarm_ms.get().is_some_and(|at_ms| at_ms <= self.env.now_ms.get()) {
            self.wake();
        }
        self.run();
        if answers {
            self.answer(catalog);
        }
    }

    fn run(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        self.tasks.retain_mut(|task| task.as_mut().poll(&mut context).is_pending());
        self.tasks.extend(self.env.spawned.take());
    }

    /// Answers the oldest call.
    fn answer(&mut self, catalog: &mut TestCatalog) {
        if !self.env.calls.borrow().is_empty() {
            let call = self.env.calls.borrow_mut().remove(0);
            call.answer(self.reply(&call.request, catalog));
        }
    }

    fn wake(&mut self) {
        let (env, service) = (Rc::clone(&self.env), Rc::clone(&self.service));
        self.tasks.push(Box::pin(runtime::wake(env, service)));
    }

    /// The answer of another object or of the receiver.
    fn reply(&mut self, request: &CallRequest, catalog: &mut TestCatalog) -> CallAnswer {
        let (to, command) = match request {
            CallRequest::Object(to, command) => (to, command),
            CallRequest::Http(_) => {
                return CallAnswer::Http(HttpAnswer { status: 200, body: "ok".into(), ..HttpAnswer::default() });
            }
        };
        let json: Json = serde_json::from_str(command).unwrap();
        let name = json.as_object().unwrap().keys().next().unwrap().clone();
        let batch = &json[&name];
        let number = batch["batch"]["number"].as_i64().or(batch["number"].as_i64());
        self.called.push((to.name.clone(), json));
        CallAnswer::Object(match name.as_str() {
            "add_conversions" | "add_offers" | "add_journal" => json!({ "mark": number }).to_string(),
            "take" => r#"{"taken":true,"left":1}"#.into(),
            "feed" => r#"{"applied":true}"#.into(),
            "read_journal" => r#"{"mark":0,"next":null}"#.into(),
            "claim_app" => r#"{"outbox_shards":8}"#.into(),
            "claim_txn" => r#"{"claimed":true}"#.into(),
            _ => catalog.answer(command),
        })
    }

    fn conversion(&self, catalog: &TestCatalog) -> Conversion {
        let offer = OFFERS[0];
        Conversion {
            nonce: Bytes([[self.shard.number; 6], [self.sent; 6]].concat()),
            click: Click {
                offer: offer.into(),
                goal: "g1".into(),
                app: app(),
                shard: self.shard.number,
                offer_terms: catalog.revision,
                app_terms: catalog.revision,
                user_id: format!("user {} {}", self.shard.number, self.sent).into(),
                gaid: None,
                idfa: None,
                custom: [const { None }; 5],
                placement: None,
                country: None,
                clicked_at_ms: self.env.now_ms.get() - MINUTE_MS,
            },
            advertiser: AdvertiserId::parse("adv"),
            goal: None,
            txn: Some(format!("txn {} {}", self.shard.number, self.sent)),
            event: Event::Postback(Status::Approved),
            reason: None,
            despite: Vec::new(),
            received_ms: None,
            is_to_be_held: false,
            current: catalog.current(offer),
        }
    }

    /// The outbox asks the catalog once for the app's terms and once for the offer's. Its batches have its own
    /// `source`. It calls other outboxes only for claims, each for a conversion of its own.
    fn check_calls(&self) {
        let own = self.shard.object_name();
        let mut counts = BTreeMap::new();
        for (to, command) in &self.called {
            let (name, value) = command.as_object().unwrap().iter().next().unwrap();
            *counts.entry(name.as_str()).or_insert(0) += 1;
            match name.as_str() {
                "add_conversions" | "add_offers" | "add_journal" | "read_journal" => {
                    assert_eq!(value["source"], own.as_str());
                }
                "claim_txn" => {
                    assert!(to.starts_with("outbox-") && *to != own, "{to}");
                    let txn = value["txn"].as_str().unwrap();
                    assert!(txn.starts_with(&format!("txn {} ", self.shard.number)), "{txn}");
                }
                _ => {}
            }
        }
        assert_eq!((counts["app_terms"], counts["offer_terms"]), (1, 1), "{counts:?}");
        assert_eq!(counts["take"], u32::from(CONVERSIONS));
        // A batch every 8 s, and a take and a claim for each conversion: nothing else is called.
        for batches in ["add_conversions", "add_offers", "add_journal"] {
            assert!((1..=7).contains(&counts[batches]), "{counts:?}");
        }
        assert_eq!(counts["read_journal"], 1);
        assert!(counts["claim_txn"] <= u32::from(CONVERSIONS));
        // At most one report a second, and a last one that promises no further.
        let reports = counts["feed"];
        assert!((2..=31).contains(&reports), "{counts:?}");
        // The first outbox is not asked by itself.
        let claims = u32::from(self.shard.number > 0);
        assert_eq!(counts.get("claim_app").copied().unwrap_or(0), claims, "{counts:?}");
        assert_eq!(counts.len(), 9 + usize::from(self.shard.number > 0), "{counts:?}");
    }

    fn rows(&self) -> String {
        let tables = ["entries", "conversions", "attempts", "offers", "terms", "txns", "reservations"];
        // The keys of rewards depend on the outbox's salt.
        let keyless = "UPDATE conversions SET rewarded = NULL";
        self.env.db.execute(keyless, &[]).unwrap();
        tables.map(|table| format!("{:?}", dump(&self.env.db, table))).concat()
    }
}

/// Conversions that arrive together are decided in one turn, and the runtime commits the writes of a turn together.
#[test]
fn conversions_that_arrive_together_wait_for_one_commit() {
    let mut catalog = first_catalog();
    let mut outbox = Outbox::new(0);
    for _ in 0..STEPS {
        outbox.step(&mut catalog, true);
    }
    let (paid, syncs) = (outbox.paid.get(), outbox.env.syncs.get());
    for _ in 0..64 {
        outbox.send(&catalog);
    }
    for _ in 0..STEPS {
        outbox.step(&mut catalog, true);
    }
    assert_eq!(outbox.paid.get() - paid, 64);
    // The first may find nothing to wait for, and then does not wait for the others.
    let syncs = outbox.env.syncs.get() - syncs;
    assert!((1..=2).contains(&syncs), "{syncs}");
}

/// Alarms for other work, such as a failing endpoint's next attempt, open no batch.
#[test]
fn an_outbox_sends_its_sums_once_in_10_s_however_often_it_wakes() {
    let mut catalog = first_catalog();
    let mut outbox = Outbox::new(0);
    // 24 s of traffic.
    for _ in 0..240 {
        outbox.send(&catalog);
        outbox.wake();
        for _ in 0..8 {
            outbox.run();
            outbox.answer(&mut catalog);
        }
        outbox.step(&mut catalog, true);
    }
    let sent = outbox.called.iter().filter(|(_, command)| command["add_offers"].is_object());
    let sent = sent.count();
    assert!((2..=3).contains(&sent), "{sent}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn outboxes_of_an_app_share_nothing(order in vec(0..OUTBOXES, STEPS)) {
        let mut catalog = first_catalog();
        let mut outboxes: Vec<_> = (0..OUTBOXES).map(Outbox::new).collect();
        let mut steps = [0; OUTBOXES as usize];
        // The first gets no answer, so its conversions wait.
        let rest = (0..STEPS).flat_map(|_| 0..OUTBOXES);
        for nth in order.into_iter().chain(rest).map(usize::from) {
            if steps[nth] < STEPS {
                steps[nth] += 1;
                outboxes[nth].step(&mut catalog, nth > 0);
            }
        }
        prop_assert_eq!(outboxes[0].paid.get(), 0);
        for outbox in &outboxes[1..] {
            prop_assert_eq!(outbox.paid.get(), CONVERSIONS);
            outbox.check_calls();
            let mut alone = Outbox::new(outbox.shard.number);
            for _ in 0..STEPS {
                alone.step(&mut first_catalog(), true);
            }
            prop_assert_eq!(outbox.rows(), alone.rows());
        }
    }
}
