//! Counters that are put back to an earlier copy exceed no conversion cap that an outbox has paid from.

use std::{cell::Cell, collections::BTreeMap, time::Duration};

use contract::{
    attention, catalog,
    counters::{self, AddConversions, Asker, CapKind, ConversionSum, Flush, Reply, Take, TakenOfDay},
    ledger,
    operation::{CallError, Mark, ObjectAddress, Operation, OperatorReply, Unanswered},
    outbox::{self, OfferDay, OutboxDay},
};
use domain::model::time::{DAY_MS, UtcDay};
use origin::objects::counters::{MIGRATIONS, service::CountersService};
use platform::{
    Database,
    failure::Failure,
    traits::{Clock, ObjectCall, Sleep},
};
use serde_json::json;

use crate::{
    counters::{NOON, click, offer, sum},
    dump, migrated, now,
    registers::Registers,
    sqlite::Sqlite,
    storage::Storage,
};

const OUTBOX: &str = "outbox-00000042-0";
const OTHER: &str = "outbox-00000042-7";

struct World {
    db: Sqlite,
    now_ms: Cell<i64>,
    registers: Registers,
    /// Each outbox's rewards of the offer by day.
    paid: BTreeMap<(&'static str, UtcDay), i64>,
    /// The mark of the only ledger.
    ledger: Cell<i64>,
    down: Cell<Option<&'static str>>,
    asked: Cell<usize>,
    /// When the outboxes wrote again what a restore had lost.
    refilled_ms: Cell<i64>,
}

struct Runtime<'w>(&'w World);

impl Clock for Runtime<'_> {
    fn now_ms(&self) -> i64 {
        self.0.now_ms.get()
    }
}

impl Sleep for Runtime<'_> {
    async fn sleep(&self, _duration: Duration) {}
}

impl ObjectCall for Runtime<'_> {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        let World { paid, down, asked, .. } = self.0;
        if to.binding == attention::BINDING {
            return self.0.registers.answer(self.now_ms(), to, operation);
        }
        if down.get() == Some(to.name.as_str()) {
            return Err(Unanswered::default().into());
        }
        let command = serde_json::to_value(operation.into()).unwrap();
        let answer = if to.binding == ledger::BINDING {
            let ledger::Command::AddOffers(batch) = serde_json::from_value(command).unwrap() else {
                panic!("another call to the ledger");
            };
            let mark = &self.0.ledger;
            if mark.get() == batch.after {
                mark.set(batch.number);
            }
            json!(Mark { mark: mark.get() })
        } else if to.name == catalog::OBJECT_NAME {
            assert_eq!(command["offer_outboxes"]["offer_id"], "o");
            json!(OperatorReply::ok(&json!([["00000042", 0], ["00000042", 7]])))
        } else if to.binding == counters::BINDING {
            assert_eq!(to.name, counters::name(counters::click_object("o")));
            json!(TakenOfDay { conversions: 0, clicks: 4 })
        } else {
            asked.set(asked.get() + 1);
            let outbox::Command::ReadDay(read) = serde_json::from_value(command).unwrap() else {
                panic!("another question");
            };
            // In two parts, each with another offer.
            let rewards = paid.iter().find(|((outbox, day), _)| *outbox == to.name && *day == read.day);
            let (of, rewards) = match read.after {
                0 => (offer("else"), 100),
                _ => (offer("o"), rewards.map_or(0, |(_, rewards)| *rewards)),
            };
            let offers = vec![OfferDay { rewards, ..OfferDay::new(of) }];
            json!(OutboxDay { offers, next: (read.after == 0).then_some(9), refilled_ms: self.0.refilled_ms.get() })
        };
        Ok(serde_json::from_value(answer).unwrap())
    }
}

impl World {
    fn new() -> Self {
        Self {
            db: migrated(MIGRATIONS),
            now_ms: Cell::new(NOON),
            registers: Registers::default(),
            paid: BTreeMap::new(),
            ledger: Cell::new(0),
            down: Cell::new(None),
            asked: Cell::new(0),
            refilled_ms: Cell::new(0),
        }
    }

    fn service(&self) -> CountersService<Storage<'_>, Runtime<'_>> {
        CountersService::new(Some("counters-19".into()), Storage::new(&self.db), Runtime(self))
    }

    /// Takes one of a cap of 5 for an outbox that knows this mark.
    fn take(&self, key: &str, source: &str, known: i64) -> Result<bool, Failure> {
        self.take_for(&self.service(), key, (source, known, 0))
    }

    fn take_for(
        &self,
        service: &CountersService<Storage<'_>, Runtime<'_>>,
        key: &str,
        (source, known, refilled_ms): (&str, i64, i64),
    ) -> Result<bool, Failure> {
        let take = Take {
            kind: CapKind::Conversion,
            limit: 5,
            asker: Some(Asker { source: source.into(), known, refilled_ms }),
            ..click(key, self.now_ms.get())
        };
        match now(service.command(take.into()))? {
            Reply::Taken(taken) => Ok(taken.taken),
            other => panic!("{other:?}"),
        }
    }

    /// Takes one of a cap of 5 clicks.
    fn take_click(&self, key: &str) -> bool {
        let take = Take { limit: 5, ..click(key, NOON) };
        match now(self.service().command(take.into())) {
            Ok(Reply::Taken(taken)) => taken.taken,
            other => panic!("{other:?}"),
        }
    }

    /// An isolate's batch of a click, which the next alarm sends to the ledger.
    fn click(&self, sequence: u64) {
        let flush = Flush { isolate: "i".into(), sequence, sums: vec![sum("o", UtcDay::of_ms(NOON), 1)].into() };
        now(self.service().command(flush.into())).unwrap();
        self.now_ms.set(self.now_ms.get() + 60_000);
        now(self.service().alarm());
    }

    fn add(&self, source: &str, after: i64, number: i64) -> Result<Reply, Failure> {
        self.add_after_refill(source, (after, number), 0)
    }

    fn add_after_refill(&self, source: &str, (after, number): (i64, i64), refilled_ms: i64) -> Result<Reply, Failure> {
        let sum = ConversionSum { day: UtcDay::of_ms(NOON), offer: offer("o"), conversions: 1, payout_micro_usd: 1 };
        let batch = AddConversions { source: source.into(), after, number, sums: vec![sum], refilled_ms };
        now(self.service().command(batch.into()))
    }

    /// An outbox has paid 4 of the cap of 5, which a copy does not know.
    fn restored() -> Self {
        let mut world = Self::new();
        let copy = world.db.copy();
        for key in ["a", "b", "c", "d"] {
            assert!(world.take(key, OUTBOX, 0).unwrap());
        }
        world.add(OUTBOX, 0, 7).unwrap();
        world.paid.insert((OUTBOX, UtcDay::of_ms(NOON)), 4);
        world.db = copy;
        world
    }
}

#[test]
fn rewards_that_the_outboxes_have_paid_count_as_taken() {
    let world = World::restored();
    let service = world.service();
    let take = |key: &str, source: &str, known: i64| world.take_for(&service, key, (source, known, 0)).unwrap();
    assert!(take("e", OUTBOX, 7));
    assert!(!take("f", OUTBOX, 7));
    assert!(!take("g", OTHER, 0));
    // Each part of each outbox was asked for once, and the next day asks nobody.
    assert_eq!(world.asked.get(), 4);
    world.now_ms.set(NOON + DAY_MS);
    assert!(world.take("h", OTHER, 0).unwrap());
    assert_eq!(world.asked.get(), 4);
    // The takes of the day before are still known to be lost.
    assert_eq!(dump(&world.db, "uncapped").len(), 1);
}

/// A batch of another outbox shows the loss, too.
#[test]
fn a_batch_after_the_mark_shows_that_takes_are_lost() {
    let world = World::restored();
    world.add(OUTBOX, 7, 8).unwrap();
    assert!(world.take("e", OTHER, 0).unwrap());
    assert!(!world.take("f", OTHER, 0).unwrap());
}

/// The outbox was restored to the same moment, so it knows no batch that the counters lack.
#[test]
fn a_restored_outbox_shows_that_takes_may_be_lost() {
    let world = World::restored();
    let service = world.service();
    let take = |key: &str| world.take_for(&service, key, (OUTBOX, 0, NOON)).unwrap();
    assert!(take("e"));
    assert!(!take("f"));
    assert_eq!(world.asked.get(), 4, "asked once");
    // Others that had written again before they were asked cause no further question, and neither does the next day.
    let other = |key: &str, refilled_ms| world.take_for(&service, key, (OTHER, 0, refilled_ms)).unwrap();
    assert!(!other("g", NOON - 1));
    assert_eq!(world.asked.get(), 4);
    world.refilled_ms.set(NOON + 9);
    assert!(!other("g", NOON + 5));
    assert_eq!(world.asked.get(), 8);
    assert!(!other("g", NOON + 9));
    world.now_ms.set(NOON + DAY_MS);
    assert!(other("h", NOON + 9));
    assert_eq!(world.asked.get(), 8);
}

/// Another outbox takes first.
#[test]
fn a_batch_of_a_restored_outbox_shows_that_takes_may_be_lost() {
    let world = World::restored();
    world.add_after_refill(OUTBOX, (0, 7), NOON).unwrap();
    assert!(world.take("e", OTHER, 0).unwrap());
    assert!(!world.take("f", OTHER, 0).unwrap());
}

/// The copy says that a restore was noticed just now, but that was an earlier one.
#[test]
fn a_second_restore_within_minutes_is_noticed() {
    let mut world = World::restored();
    let is_paid = |world: &mut World, rewards| world.paid.insert((OUTBOX, UtcDay::of_ms(NOON)), rewards);
    is_paid(&mut world, 3);
    assert!(world.take("e", OUTBOX, 7).unwrap());
    let copy = world.db.copy();
    assert!(world.take("f", OUTBOX, 7).unwrap());
    is_paid(&mut world, 5);
    world.db = copy;
    world.now_ms.set(NOON + 60_000);
    assert!(!world.take("g", OUTBOX, 7).unwrap());
}

/// The cap waits as it does when the counters are unreachable.
#[test]
fn a_cap_waits_until_all_have_answered() {
    for down in [catalog::OBJECT_NAME, OTHER] {
        let world = World::restored();
        world.down.set(Some(down));
        for _ in 0..2 {
            assert!(matches!(world.take("e", OUTBOX, 7), Err(Failure::Refused(error)) if error.status == 503));
        }
        world.down.set(None);
        assert!(world.take("e", OUTBOX, 7).unwrap());
        assert!(!world.take("f", OUTBOX, 7).unwrap());
    }
}

/// After `make restore` they ask before any outbox has told them that they are behind.
#[test]
fn counters_that_are_put_back_on_purpose_ask_first() {
    let world = World::restored();
    world.db.mark_put_back();
    assert!(world.take("e", OTHER, 0).unwrap());
    assert!(!world.take("f", OTHER, 0).unwrap());
}

/// The cap is 5 clicks, which another object counts.
#[test]
fn clicks_that_were_counted_count_as_taken() {
    let world = World::new();
    let take = |key: &str| world.take_click(key);
    assert!(take("a"));
    world.db.mark_put_back();
    assert!(take("a") && take("b"));
    assert!(!take("c"));
    // Conversions have a cap of their own, and what is lost of it is asked for apart.
    assert!(world.take("d", OTHER, 0).unwrap());
    assert_eq!(dump(&world.db, "uncapped").len(), 2);
}

/// Nobody announces the restore, and no outbox has a reward.
#[test]
fn the_first_batch_to_a_ledger_shows_that_clicks_are_lost() {
    let mut world = World::new();
    world.click(1);
    let copy = world.db.copy();
    for (number, key) in ["a", "b", "c", "d"].iter().enumerate() {
        assert!(world.take_click(key));
        world.click(2 + number as u64);
    }
    world.db = copy;
    world.click(9);
    let expected = ("counters-19".to_owned(), "counters_restored".to_owned());
    assert_eq!(world.registers.doubts(), [expected]);
    assert!(world.take_click("e"));
    assert!(!world.take_click("f"));
}

#[test]
fn a_ledger_that_was_down_shows_that_clicks_are_lost_after_later_ones_were_folded() {
    let mut world = World::new();
    world.click(1);
    let copy = world.db.copy();
    for number in 2..6 {
        world.click(number);
    }
    world.db = copy;
    world.down.set(Some("ledger-pub"));
    world.click(9);
    world.now_ms.set(NOON + 11 * 60_000);
    world.click(10);
    let folds = world.db.query_integer("SELECT count(*) FROM folds", &[]);
    assert_eq!(folds.unwrap(), Some(2));
    assert_eq!(world.registers.doubts(), []);
    world.down.set(None);
    world.now_ms.set(NOON + 60 * 60_000);
    world.click(11);
    let expected = ("counters-19".to_owned(), "counters_restored".to_owned());
    assert_eq!(world.registers.doubts(), [expected]);
}

#[test]
fn a_second_restore_asks_again() {
    let mut world = World::restored();
    let copy = world.db.copy();
    assert!(world.take("e", OUTBOX, 7).unwrap());
    world.paid.insert((OUTBOX, UtcDay::of_ms(NOON)), 5);
    world.db = copy;
    assert!(!world.take("f", OUTBOX, 7).unwrap());
    // An outbox that has been silent until now makes it ask again.
    world.now_ms.set(NOON + 11 * 60_000);
    let service = world.service();
    let take = || world.take_for(&service, "f", (OUTBOX, 7, 0)).unwrap();
    assert!(!take());
    // An outbox without news causes no second question within minutes.
    let asked = world.asked.get();
    assert!(!take());
    assert_eq!(world.asked.get(), asked);
    world.now_ms.set(NOON + DAY_MS / 2 - 1);
    assert!(!take());
    assert!(world.asked.get() > asked);
}
