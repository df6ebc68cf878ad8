//! The payments of an outbox on a day, against its batches and the ledger.

use std::{cell::RefCell, time::Duration};

use super::*;
use contract::{
    attention::DayRewards,
    ledger::{CountedDay, OfferRevenue, SourceDay, Vouch, Vouched},
    operation::{CallError, ObjectAddress, Operation},
    outbox::{DayEntry, ListDay, OfferDay, OutboxDay, ReadDay, SumDay},
    rewards::RewardKind,
};
use domain::model::time::UtcDay;
use origin::{
    delivery::attention_feed,
    http::comparison::{Comparison, read_day},
    objects::outbox::{
        endpoint,
        sums::{
            night,
            revenue_batches::{OutboxLog, TO_LEDGER},
        },
    },
};
use platform::traits::ObjectCall;

const TODAY: i64 = NOW / DAY_MS;

fn today() -> UtcDay {
    UtcDay::from_number(TODAY).unwrap()
}

fn offer() -> OfferId {
    OfferId::parse(OFFER).unwrap()
}

/// The payments of a day, read in steps of this many entries. Those after the ledger's mark count as waiting.
fn read(db: &Sqlite, day: UtcDay, entries: i64) -> OutboxDay {
    let step = async |step: ReadDay| day::read(db, step, entries);
    let mark = batches::mark_of(db, TO_LEDGER).unwrap();
    let read = now(read_day(day, mark, step)).unwrap();
    let applied = read.sum(|offer| offer.paid_micro_usd - offer.waiting_micro_usd);
    assert_eq!(summed(db, day, mark), applied, "to restate {day}");
    read
}

/// The revenue of a day up to a number, as the ledger asks for it.
fn summed(db: &Sqlite, day: UtcDay, through: i64) -> i64 {
    let state = endpoint::read(db).unwrap();
    let log = OutboxLog::of(db, state.as_ref());
    let (mut sum, mut next) = (0, Some(0));
    while let Some(after) = next {
        let step = SumDay { day, after, through };
        let part = day::sums(NOW, &log, step).unwrap();
        assert!(part.sums.iter().all(|sum| (sum.day, sum.clicks) == (day, 0)));
        sum += part.sums.iter().map(|sum| sum.revenue_micro_usd).sum::<i64>();
        next = part.next;
    }
    sum
}

/// The transactions of the offer on a day, in steps of so many entries.
fn list(db: &Sqlite, day: UtcDay, entries: i64, limit: u32) -> Vec<DayEntry> {
    let (mut all, mut next) = (vec![], Some(0));
    while let Some(after) = next {
        let list = ListDay { day, offer: offer(), after, limit };
        let part = day::list(db, &list, entries).unwrap();
        assert!(part.entries.len() <= limit as usize);
        all.extend(part.entries);
        next = part.next;
    }
    all
}

/// A ledger that has this revenue of a day, at this time.
pub struct Ledger {
    pub now_ms: i64,
    pub revenue_micro_usd: i64,
    pub asked: RefCell<Vec<Vouch>>,
    pub is_down: bool,
}

impl Ledger {
    pub fn new(now_ms: i64, revenue_micro_usd: i64) -> Self {
        Self { now_ms, revenue_micro_usd, asked: RefCell::default(), is_down: false }
    }
}

impl Clock for Ledger {
    fn now_ms(&self) -> i64 {
        self.now_ms
    }
}

impl ObjectCall for Ledger {
    async fn call<O: Operation>(
        &self,
        _to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        let json = serde_json::to_value(operation.into()).unwrap();
        let vouch: Vouch = serde_json::from_value(json["vouch"].clone()).unwrap();
        let vouched = Vouched {
            mark: vouch.number,
            missing_clicks: 0,
            missing_micro_usd: vouch.revenue_micro_usd - self.revenue_micro_usd,
            go_back_to: None,
        };
        self.asked.borrow_mut().push(vouch);
        if self.is_down {
            return Err(CallError::from_answer(503, "{}".into(), None));
        }
        Ok(serde_json::from_value(serde_json::to_value(vouched).unwrap()).unwrap())
    }
}

/// Adds up the first day that is over, in steps of so many entries. Returns the rewards of each step.
fn add_up(db: &Sqlite, now_ms: i64, entries: i64) -> Vec<i64> {
    let mut rewards = vec![];
    while let Some(part) = night::add_step(db, now_ms, entries).unwrap() {
        rewards.push(part.sum(|offer| offer.rewards));
        if part.next.is_none() {
            break;
        }
    }
    rewards
}

fn sums(rewards: i64, reversals: i64, paid_micro_usd: i64, waiting_micro_usd: i64) -> OfferDay {
    OfferDay { rewards, reversals, paid_micro_usd, waiting_micro_usd, ..OfferDay::new(offer()) }
}

#[test]
fn a_day_has_what_was_paid_on_it_whenever_it_was_first_heard_of() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(read(&db, today(), 10), OutboxDay::default());
    for n in 1..=3 {
        convert(&db, &world, &conversion(n)).unwrap();
    }
    convert(&db, &world, &conversion(4).status(Status::Pending)).unwrap();
    let found = read(&db, today(), 10);
    assert_eq!(found.offers, [sums(3, 0, 2_250_000, 2_250_000)]);
    send_batches(&db, NOW);
    let found = read(&db, today(), 10);
    assert_eq!(found.offers, [sums(3, 0, 2_250_000, 0)]);

    world.pass(DAY_MS);
    convert(&db, &world, &conversion(4)).unwrap();
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    convert(&db, &world, &conversion(5).goal("g-2")).unwrap();
    convert(&db, &world, &conversion(6).status(Status::Rejected)).unwrap();
    let tomorrow = read(&db, today().minus(-1), 10);
    let expected = OfferDay { rewards_after_24_h: 2, ..sums(2, 1, 2_000_000, 2_000_000) };
    assert_eq!(tomorrow.offers, [expected]);
    let entry = |transaction_id: String, kind, goal_id: &str, paid_micro_usd| DayEntry {
        transaction_id,
        kind,
        offer_id: offer(),
        goal_id: goal_id.to_owned(),
        conversion_ts: world.now_ms() / SECOND_MS,
        paid_micro_usd,
    };
    let expected = [
        entry(reward_id(4), RewardKind::Reward, "g-1", 750_000),
        entry(reversal_id(1), RewardKind::Reversal, "g-1", -750_000),
        entry(id_of(5, "g-2", Movement::Reward), RewardKind::Reward, "g-2", 2_000_000),
    ];
    assert_eq!(list(&db, today().minus(-1), 10, 10), expected);
    for entries in 1..=4 {
        assert_eq!(read(&db, today().minus(-1), entries), tomorrow);
        for limit in 1..=4 {
            assert_eq!(list(&db, today().minus(-1), entries, limit), expected);
        }
    }
}

#[test]
fn rewards_of_old_clicks_and_by_superseded_terms_are_counted() {
    let (db, world) = (outbox(), World::new());
    // A click of exactly 24 hours ago is not older.
    convert(&db, &world, &conversion(1)).unwrap();
    world.pass(SECOND_MS);
    convert(&db, &world, &conversion(2)).unwrap();
    world.change(|offer| offer.goals[0].payout_micro_usd = 1);
    convert(&db, &world, &conversion(3)).unwrap();
    convert(&db, &world, &conversion(4).under_current(&world)).unwrap();
    convert(&db, &world, &conversion(3).status(Status::Reversed)).unwrap();
    // Pending under terms that were in force, and approved after they were superseded.
    convert(&db, &world, &conversion(5).under_current(&world).status(Status::Pending)).unwrap();
    let pending = conversion(5).under_current(&world);
    world.change(|offer| offer.goals[0].payout_micro_usd = 2);
    convert(&db, &world, &pending).unwrap();
    let found = read(&db, today(), 10);
    let expected = OfferDay {
        rewards_after_24_h: 4,
        rewards_by_superseded_terms: 2,
        ..sums(5, 1, 2_250_002 - 750_000, 2_250_002 - 750_000)
    };
    assert_eq!(found.offers, [expected]);
    let compared = Comparison::new(app(), today(), &[(5, found)], CountedDay::default());
    let json = serde_json::to_value(&compared).unwrap();
    let counts = ["rewards", "rewards_after_24_h", "rewards_by_superseded_terms"];
    assert_eq!(counts.map(|name| json[name].as_i64()), [Some(5), Some(4), Some(2)]);
}

#[test]
fn a_night_vouches_for_each_day_that_is_over_and_tells_a_difference_once() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(add_up(&db, NOW + DAY_MS, 10), [0_i64; 0], "it was never used");
    assert_eq!(night::due_ms(&db), Ok(None));
    convert(&db, &world, &conversion(1)).unwrap();
    assert_eq!(add_up(&db, NOW, 10), [0_i64; 0], "the day is not over");
    let tomorrow = NOW + DAY_MS;
    world.now_ms.set(tomorrow);
    for n in 2..=6 {
        convert(&db, &world, &conversion(n)).unwrap();
    }
    assert_eq!(add_up(&db, tomorrow, 10), [1]);
    assert_eq!(add_up(&db, tomorrow, 10), [0_i64; 0], "the outbox has not vouched yet");
    // The total includes payments that the ledger does not have yet.
    let ledger = Ledger::new(tomorrow, 750_000);
    assert_eq!(now(night::vouch(&db, &ledger)), Ok(None));
    assert!(ledger.asked.borrow().is_empty());
    send_batches(&db, tomorrow);
    let down = Ledger { is_down: true, ..Ledger::new(tomorrow + 5 * SECOND_MS, 0) };
    assert_eq!(now(night::vouch(&db, &down)), Ok(None));
    assert_eq!(night::due_ms(&db), Ok(Some(down.now_ms + 10 * SECOND_MS)));
    let ledger = Ledger::new(down.now_ms + 10 * SECOND_MS, 750_000);
    assert_eq!(now(night::vouch(&db, &ledger)), Ok(Some(false)));
    let mark = batches::mark_of(&db, TO_LEDGER).unwrap();
    let expected = Vouch { source: "s".into(), day: today(), number: mark, clicks: 0, revenue_micro_usd: 750_000 };
    let asked = Vouch { source: "s".into(), ..ledger.asked.borrow()[0].clone() };
    assert_eq!(asked, expected);
    assert_eq!(night::due_ms(&db), Ok(None));
    assert!(dump(&db, "attention").is_empty());
    // A payment that the ledger lacks, found in one of several steps.
    let night_ms = tomorrow + DAY_MS;
    assert_eq!(add_up(&db, night_ms, 2), [2, 2, 1]);
    assert_eq!(now(night::vouch(&db, &Ledger::new(night_ms, 3_000_000))), Ok(Some(true)));
    let items = dump(&db, "attention");
    assert_eq!(items.len(), 1);
    assert_eq!((items[0].integer(0), items[0].text(1)), (Ok(8), Ok("2026-01-16")));
    assert_eq!((items[0].text(3), items[0].text(4)), (Ok("ledger_behind"), Ok("0.75")));
    // Days on which the outbox did not wake are added up one after the other.
    let later = night_ms + 2 * DAY_MS;
    for revenue in [1, 0] {
        assert_eq!(add_up(&db, later, 10), [0]);
        assert_eq!(now(night::vouch(&db, &Ledger::new(later, revenue))), Ok(Some(revenue != 0)));
    }
    assert_eq!(add_up(&db, later, 10), [0_i64; 0]);
    assert_eq!(dump(&db, "attention")[1].text(3), Ok("log_behind"));
}

#[test]
fn a_night_has_the_days_rewards_reported_once_they_are_counted() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    convert(&db, &world, &conversion(2)).unwrap();
    assert_eq!(night::last_rewards(&db), Ok(None));
    let night_ms = NOW + DAY_MS;
    assert_eq!(attention_feed::due_ms(&db, night_ms), Ok(None));
    night::add_step(&db, night_ms, 1).unwrap();
    assert_eq!(night::last_rewards(&db), Ok(None));
    while night::add_step(&db, night_ms, 1).unwrap().is_some() {}
    let rewards = DayRewards { day: today(), rewards: 2, after_24_h: 0, by_superseded_terms: 0 };
    assert_eq!(night::last_rewards(&db), Ok(Some(rewards)));
    assert_eq!(attention_feed::due_ms(&db, night_ms), Ok(Some(night_ms + SECOND_MS)));
}

#[test]
fn a_difference_to_the_ledger_names_the_side_and_the_transactions() {
    let outbox_day = |paid, waiting| OutboxDay { offers: vec![sums(1, 0, paid, waiting)], next: None, refilled_ms: 0 };
    let days = [(0, outbox_day(100, 0)), (5, outbox_day(70, 20))];
    let compare = |applied: [i64; 2]| {
        let ledger = CountedDay {
            offers: vec![OfferRevenue { offer: offer(), revenue_micro_usd: applied.iter().sum() }],
            sources: applied.map(|revenue_micro_usd| SourceDay { mark: 9, revenue_micro_usd }).to_vec(),
        };
        let compared = Comparison::new(app(), today(), &days, ledger);
        let json = serde_json::to_value(&compared).unwrap();
        let behind = [0, 1].map(|n| json["outboxes"][n]["behind"].as_str().map(str::to_owned));
        (compared.difference_micro_usd, behind, compared.to_list(&days))
    };
    let side = |side: &str| Some(side.to_owned());
    // Payments that still wait make no difference; a ledger that lacks more than these differs.
    assert_eq!(compare([100, 50]), (0, [None, None], vec![]));
    let both = vec![(0, offer()), (5, offer())];
    assert_eq!(compare([100, 49]), (1, [None, side("ledger")], both.clone()));
    assert_eq!(compare([121, 50]), (21, [side("log"), None], both));
    // An offer that only the ledger knows.
    let other = CountedDay {
        offers: vec![OfferRevenue { offer: OfferId::parse("o-9").unwrap(), revenue_micro_usd: 7 }],
        sources: vec![],
    };
    let compared = Comparison::new(app(), today(), &[], other);
    assert_eq!(compared.difference_micro_usd, 7);
    let json = serde_json::to_value(&compared).unwrap();
    assert_eq!((&json["ledger_micro_usd"], &json["date"]), (&7.into(), &"2026-01-15".into()));
}
