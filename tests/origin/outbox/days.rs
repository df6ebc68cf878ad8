//! The payments of an outbox on a day, against its batches and the ledger.

use super::*;
use contract::{
    attention::DayRewards,
    ledger::OfferRevenue,
    outbox::{DayEntry, ListDay, OfferDay, OutboxDay, ReadDay},
};
use domain::model::time::UtcDay;
use origin::{
    delivery::{attention_feed, batches},
    http::comparison::{Comparison, read_day},
    objects::outbox::log::entries::TO_LEDGER,
};

const TODAY: i64 = NOW / DAY_MS;

fn today() -> UtcDay {
    UtcDay::from_number(TODAY).unwrap()
}

fn offer() -> OfferId {
    OfferId::parse(OFFER).unwrap()
}

/// The payments of a day, read in steps of so many entries.
fn read(db: &Sqlite, day: UtcDay, entries: i64) -> OutboxDay {
    let step = async |step: ReadDay| day::read(db, step, entries);
    now(read_day(day, step)).unwrap()
}

/// The transactions of the offer on a day, in steps of so many entries.
fn list(db: &Sqlite, day: UtcDay, entries: i64, limit: u32) -> Vec<DayEntry> {
    let (mut all, mut next) = (vec![], Some(0));
    while let Some(after) = next {
        let list = ListDay {
            day,
            offer: offer(),
            after,
            limit,
        };
        let part = day::list(db, &list, entries).unwrap();
        assert!(part.entries.len() <= limit as usize);
        all.extend(part.entries);
        next = part.next;
    }
    all
}

/// Compares the day before, in steps of so many entries. Returns the rewards of each step, and whether the day differs;
/// nothing if it was compared before.
fn compare(db: &Sqlite, now_ms: i64, entries: i64) -> Option<(Vec<i64>, bool)> {
    let mut rewards = vec![];
    loop {
        let step = day::compare_step(db, now_ms, entries).unwrap()?;
        rewards.push(step.part.offers.iter().map(|offer| offer.rewards).sum());
        if let Some(differs) = step.differs {
            return Some((rewards, differs));
        }
    }
}

/// Sends all batches to the ledger, which confirms them.
fn confirm_all(db: &Sqlite, now_ms: i64) {
    batches::prepare(db, now_ms).unwrap();
    let outstanding = batches::outstanding(db, now_ms).unwrap();
    for batch in outstanding.iter().filter(|batch| batch.destination == TO_LEDGER) {
        day::confirm(db, batch).unwrap();
        // A repeated confirmation counts nothing.
        day::confirm(db, batch).unwrap();
    }
}

fn sums(rewards: i64, reversals: i64, paid_micro_usd: i64, waiting_micro_usd: i64) -> OfferDay {
    OfferDay {
        rewards,
        reversals,
        paid_micro_usd,
        waiting_micro_usd,
        ..OfferDay::new(offer())
    }
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
    confirm_all(&db, NOW);
    let found = read(&db, today(), 10);
    let expected = OutboxDay {
        offers: vec![sums(3, 0, 2_250_000, 0)],
        confirmed_micro_usd: 2_250_000,
        next: None,
    };
    assert_eq!((found.difference_micro_usd(), found), (0, expected));

    world.pass(DAY_MS);
    convert(&db, &world, &conversion(4)).unwrap();
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    convert(&db, &world, &conversion(5).goal("g-2")).unwrap();
    convert(&db, &world, &conversion(6).status(Status::Rejected)).unwrap();
    let tomorrow = read(&db, today().minus(-1), 10);
    let expected = OfferDay {
        rewards_after_24_h: 2,
        ..sums(2, 1, 2_000_000, 2_000_000)
    };
    assert_eq!(tomorrow.offers, [expected]);
    assert_eq!(tomorrow.difference_micro_usd(), 0);
    let entry = |transaction_id: String, paid_micro_usd| DayEntry {
        transaction_id,
        offer_id: offer(),
        paid_micro_usd,
    };
    let expected = [
        entry(reward_id(4), 750_000),
        entry(reversal_id(1), -750_000),
        entry(id_of(5, "g-2", Movement::Reward), 2_000_000),
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
    convert(
        &db,
        &world,
        &conversion(5).under_current(&world).status(Status::Pending),
    )
    .unwrap();
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
    let compared = Comparison::new(app(), today(), &[(5, found)], vec![]);
    let json = serde_json::to_value(&compared).unwrap();
    let counts = ["rewards", "rewards_after_24_h", "rewards_by_superseded_terms"];
    assert_eq!(
        counts.map(|name| json[name].as_i64()),
        [Some(5), Some(4), Some(2)]
    );
}

#[test]
fn a_night_tells_once_whether_yesterdays_log_equals_its_batches() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    confirm_all(&db, NOW);
    assert_eq!(compare(&db, NOW, 10), Some((vec![0], false)));
    let tomorrow = NOW + DAY_MS;
    assert_eq!(compare(&db, tomorrow, 10), Some((vec![1], false)));
    assert_eq!(compare(&db, tomorrow + 1, 10), None);
    // A payment whose sums are gone, in one of several steps.
    world.now_ms.set(tomorrow);
    for n in 2..=6 {
        convert(&db, &world, &conversion(n)).unwrap();
    }
    db.execute(
        "UPDATE traffic SET revenue_micro_usd = revenue_micro_usd - 1",
        &[],
    )
    .unwrap();
    assert_eq!(compare(&db, tomorrow + DAY_MS, 2), Some((vec![2, 2, 1], true)));
    assert_eq!(compare(&db, tomorrow + DAY_MS, 2), None);
    let items = dump(&db, "attention");
    assert_eq!(items.len(), 1);
    assert_eq!((items[0].integer(0), items[0].text(1)), (Ok(8), Ok("2026-01-16")));
    assert_eq!(items[0].text(3), Ok("log_above_batches"));
    // A comparison that no alarm went on with until the next night begins with that night's day.
    world.now_ms.set(tomorrow + DAY_MS);
    convert(&db, &world, &conversion(7)).unwrap();
    convert(&db, &world, &conversion(8)).unwrap();
    let begun = day::compare_step(&db, tomorrow + 2 * DAY_MS, 1).unwrap().unwrap();
    assert_eq!(begun.differs, None);
    assert_eq!(compare(&db, tomorrow + 3 * DAY_MS, 1), Some((vec![0], false)));
}

#[test]
fn a_night_has_the_days_rewards_reported_once_they_are_counted() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    convert(&db, &world, &conversion(2)).unwrap();
    assert_eq!(day::last_rewards(&db), Ok(None));
    let night = NOW + DAY_MS;
    assert_eq!(attention_feed::due_ms(&db, night), Ok(None));
    day::compare_step(&db, night, 1).unwrap();
    assert_eq!(day::last_rewards(&db), Ok(None));
    while day::compare_step(&db, night, 1).unwrap().is_some() {}
    let rewards = DayRewards {
        day: today(),
        rewards: 2,
        after_24_h: 0,
        by_superseded_terms: 0,
    };
    assert_eq!(day::last_rewards(&db), Ok(Some(rewards)));
    assert_eq!(attention_feed::due_ms(&db, night), Ok(Some(night + SECOND_MS)));
}

#[test]
fn a_difference_to_the_ledger_is_shown_by_transaction() {
    let outbox_day = |paid, waiting, confirmed| OutboxDay {
        offers: vec![sums(1, 0, paid, waiting)],
        confirmed_micro_usd: confirmed,
        next: None,
    };
    let days = [(0, outbox_day(100, 0, 100)), (5, outbox_day(70, 20, 50))];
    let compare = |ledger: i64| {
        let facts = vec![OfferRevenue {
            offer: offer(),
            revenue_micro_usd: ledger,
        }];
        let compared = Comparison::new(app(), today(), &days, facts);
        (compared.difference_micro_usd, compared.to_list(&days))
    };
    // Applied and not confirmed yet, in part or not at all.
    for ledger in [150, 160, 170] {
        assert_eq!(compare(ledger), (0, vec![]), "{ledger}");
    }
    let both = vec![(0, offer()), (5, offer())];
    assert_eq!(compare(149), (1, both.clone()));
    assert_eq!(compare(171), (21, both));
    // An offer that only the ledger knows.
    let other = OfferRevenue {
        offer: OfferId::parse("o-9").unwrap(),
        revenue_micro_usd: 7,
    };
    let compared = Comparison::new(app(), today(), &[], vec![other]);
    assert_eq!(compared.difference_micro_usd, 7);
    let json = serde_json::to_value(&compared).unwrap();
    assert_eq!(
        (&json["ledger_micro_usd"], &json["date"]),
        (&7.into(), &"2026-01-15".into())
    );
}
