//! A ledger that lost and doubled sums asks an outbox and the counters for a day, and has their sums afterwards.

use std::{rc::Rc, time::Duration};

use super::*;
use crate::{registers::Registers, storage::Storage};
use contract::{
    attention::Kind,
    counters::{Command as ToCounters, Flush},
    ledger::{OfferSum, Restate},
    operation::{CallError, ObjectAddress, Operation},
};
use domain::{
    model::{PublisherId, time::UtcDay},
    tracking::click_counts::ClickSum,
};
use origin::{
    delivery::{attention_feed, batches::DeliveryError},
    objects::{
        counters::log::ClickLog,
        ledger::{self, offers, service::LedgerService},
        outbox::sums::revenue_batches::TO_LEDGER,
    },
};
use platform::traits::{ObjectCall, Random};

const COUNTERS: &str = "counters-3";

/// The objects of a publisher, as its ledger reaches them.
struct Objects {
    ledger: Sqlite,
    outbox: Sqlite,
    counters: Sqlite,
    now_ms: i64,
    is_down: Cell<bool>,
    registers: Registers,
}

#[derive(Clone)]
struct Runtime(Rc<Objects>);

impl Clock for Runtime {
    fn now_ms(&self) -> i64 {
        self.0.now_ms
    }
}

impl Random for Runtime {
    fn random(&self) -> Result<[u8; 32], String> {
        Ok([7; 32])
    }
}

impl ObjectCall for Runtime {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        let objects = &self.0;
        if to.binding == contract::attention::BINDING {
            return objects.registers.answer(objects.now_ms, to, operation);
        }
        let json = serde_json::to_value(operation.into()).unwrap();
        let answer = match to.binding {
            contract::catalog::BINDING => serde_json::json!({ "status": 200, "body": "{}" }),
            contract::counters::BINDING => {
                assert_eq!(to.name, COUNTERS);
                let command: ToCounters = serde_json::from_value(json).unwrap();
                serde_json::to_value(crate::ask_counters(&objects.counters, objects.now_ms, command).unwrap()).unwrap()
            }
            _ if objects.is_down.get() => return Err(CallError::from_answer(503, "{}".into(), None)),
            _ => {
                assert_eq!(to.name, shard().object_name());
                if json["restated"].is_object() {
                    let day: UtcDay = serde_json::from_value(json["restated"]["day"].clone()).unwrap();
                    attention_feed::end_item(&objects.outbox, Kind::Differs, &day.to_string()).unwrap();
                    serde_json::json!({})
                } else {
                    let state = endpoint::read(&objects.outbox).unwrap();
                    let log = OutboxLog::of(&objects.outbox, state.as_ref());
                    let sum = serde_json::from_value(json["sum_day"].clone()).unwrap();
                    serde_json::to_value(day::sums(objects.now_ms, &log, sum).unwrap()).unwrap()
                }
            }
        };
        Ok(serde_json::from_value(answer).unwrap())
    }
}

fn publisher() -> PublisherId {
    PublisherId::parse("pub").unwrap()
}

/// Clicks and revenue in micro-USD that the ledger reports.
fn counted(db: &Sqlite) -> (i64, i64) {
    let sql = "SELECT COALESCE(SUM(clicks), 0), COALESCE(SUM(revenue), 0) FROM segments";
    let row = db.query_first(sql, &[]).unwrap().unwrap();
    (row.integer(0).unwrap(), row.integer(1).unwrap())
}

async fn deliver(objects: &Objects, source: &str, batch: &Batch) -> Result<Mark, DeliveryError> {
    // The outbox's other batches go to counters.
    if ![TO_LEDGER, "pub"].contains(&&*batch.destination) {
        return Ok(Mark { mark: batch.number });
    }
    Ok(offers::add(&objects.ledger, NOW, &batch.to_ledger(source)).unwrap())
}

/// Sends what both have to the ledger, which loses the revenue.
fn send_and_lose(objects: &Objects) {
    let state = endpoint::read(&objects.outbox).unwrap();
    let payments = OutboxLog::of(&objects.outbox, state.as_ref());
    let name = shard().object_name();
    let to_ledger = async |batch: &Batch| deliver(objects, &name, batch).await;
    now(batches::send(&objects.outbox, &At(NOW), &name, &payments, true, to_ledger)).unwrap();
    let clicks = ClickLog(&objects.counters, None);
    let to_ledger = async |batch: &Batch| deliver(objects, COUNTERS, batch).await;
    now(batches::send(&objects.counters, &At(NOW), COUNTERS, &clicks, true, to_ledger)).unwrap();
    assert_eq!(counted(&objects.ledger), (9, 2_250_000));
    let lose = "DELETE FROM segments WHERE clicks = 0";
    objects.ledger.execute(lose, &[]).unwrap();
}

#[test]
fn a_ledger_has_the_sums_of_its_sources_after_a_restatement() {
    let today = UtcDay::of_ms(NOW);
    let (outbox, world) = (outbox(), World::new());
    for n in 1..=3 {
        convert(&outbox, &world, &conversion(n)).unwrap();
    }
    let counters_db = migrated(counters::MIGRATIONS);
    let clicked = ClickSum {
        publisher: publisher(),
        day: today,
        offer: OfferId::parse(OFFER).unwrap(),
        app: app(),
        country: None,
        placement: None,
        clicks: 9,
    };
    let flush = Flush { isolate: "i".into(), sequence: 1, sums: vec![clicked].into() };
    crate::ask_counters(&counters_db, NOW, flush.into()).unwrap();
    let objects = Rc::new(Objects {
        ledger: migrated(ledger::MIGRATIONS),
        outbox,
        counters: counters_db,
        now_ms: NOW + DAY_MS,
        is_down: Cell::new(false),
        registers: Registers::default(),
    });
    send_and_lose(&objects);
    // Clicks that are there twice.
    let doubled = OfferSum {
        day: today,
        app: app(),
        offer: OfferId::parse(OFFER).unwrap(),
        country: None,
        placement: None,
        clicks: 4,
        revenue_micro_usd: 0,
    };
    let batch = contract::ledger::AddOffers { source: "lost".into(), after: 0, number: 1, sums: vec![doubled] };
    offers::add(&objects.ledger, NOW, &batch).unwrap();
    for table in ["marks", "totals"] {
        let delete = format!("DELETE FROM {table} WHERE source = 'lost'");
        objects.ledger.execute(&delete, &[]).unwrap();
    }
    assert_eq!(counted(&objects.ledger), (13, 0));
    let item = "INSERT INTO attention (kind, subject, since_ms, reason) VALUES (8, ?, 1, 'ledger_behind')";
    objects.outbox.execute(item, params![today.to_string()]).unwrap();
    let differs = "UPDATE totals SET differs = 1 WHERE clicks = 0";
    objects.ledger.execute(differs, &[]).unwrap();

    let runtime = Runtime(Rc::clone(&objects));
    let service = LedgerService::new(Some("ledger-pub".into()), Storage::new(&objects.ledger), runtime, String::new());
    let restate = |day, is_dry_run| now(service.restate(&publisher(), Restate { day, is_dry_run }));
    let refused = |failed: Result<OperatorReply, Failure>| match failed {
        Err(Failure::Refused(refusal)) => (refusal.status, refusal.message.into_owned()),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(restate(today.minus(-1), true)).0, 409);
    objects.is_down.set(true);
    let (status, message) = refused(restate(today, false));
    assert_eq!(status, 503);
    assert!(message.starts_with("outbox-00000042-"), "{message}");
    objects.is_down.set(false);
    assert_eq!(counted(&objects.ledger), (13, 0));

    let told = restate(today, true).unwrap();
    assert_eq!(counted(&objects.ledger), (13, 0), "a dry run");
    let done = restate(today, false).unwrap();
    let json = |reply: &OperatorReply| serde_json::from_str::<Json>(&reply.body).unwrap();
    assert_eq!(json(&done)["after"], serde_json::json!({ "clicks": 9, "revenue": 2.25 }));
    assert_eq!(json(&told)["apps"], json(&done)["apps"]);
    assert_eq!(counted(&objects.ledger), (9, 2_250_000));
    let open = "SELECT COUNT(*) FROM attention WHERE is_open";
    assert_eq!(objects.outbox.query_integer(open, &[]).unwrap(), Some(0), "the outbox's item has ended");
}
