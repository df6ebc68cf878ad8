//! The payments of an outbox on a day, against its batches and the ledger.

use super::*;
use contract::{
    ledger::OfferRevenue,
    outbox::{DayEntry, OfferDay, OutboxDay},
};
use domain::model::time::UtcDay;
use origin::{
    batches,
    outbox::{entries::TO_LEDGER, reconcile::Comparison},
};

const TODAY: i64 = NOW / DAY_MS;

fn today() -> UtcDay {
    UtcDay::from_number(TODAY).unwrap()
}

fn offer() -> OfferId {
    OfferId::parse(OFFER).unwrap()
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
        offer: offer(),
        rewards,
        reversals,
        paid_micro_usd,
        waiting_micro_usd,
    }
}

#[test]
fn a_day_has_what_was_paid_on_it_whenever_it_was_first_heard_of() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(day::read(&db, today()), Ok(OutboxDay::default()));
    for n in 1..=3 {
        convert(&db, &world, &conversion(n)).unwrap();
    }
    convert(&db, &world, &conversion(4).status(Status::Pending)).unwrap();
    let found = day::read(&db, today()).unwrap();
    assert_eq!(found.offers, [sums(3, 0, 2_250_000, 2_250_000)]);
    confirm_all(&db, NOW);
    let found = day::read(&db, today()).unwrap();
    let expected = OutboxDay {
        offers: vec![sums(3, 0, 2_250_000, 0)],
        confirmed_micro_usd: 2_250_000,
    };
    assert_eq!((day::difference(&found), found), (0, expected));

    world.pass(DAY_MS);
    convert(&db, &world, &conversion(4)).unwrap();
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    convert(&db, &world, &conversion(5).goal("g-2")).unwrap();
    convert(&db, &world, &conversion(6).status(Status::Rejected)).unwrap();
    let tomorrow = day::read(&db, today().minus(-1)).unwrap();
    assert_eq!(tomorrow.offers, [sums(2, 1, 2_000_000, 2_000_000)]);
    assert_eq!(day::difference(&tomorrow), 0);
    let listed = day::list(&db, today().minus(-1), &offer(), 10).unwrap();
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
    assert_eq!(listed, expected);
    assert_eq!(day::list(&db, today(), &offer(), 2).unwrap().len(), 2);
}

#[test]
fn a_night_tells_once_whether_yesterdays_log_equals_its_batches() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    confirm_all(&db, NOW);
    assert_eq!(day::check_night(&db, NOW), Ok(Some(false)));
    let tomorrow = NOW + DAY_MS;
    assert_eq!(day::check_night(&db, tomorrow), Ok(Some(false)));
    assert_eq!(day::check_night(&db, tomorrow + 1), Ok(None));
    // A payment whose sums are gone.
    world.now_ms.set(tomorrow);
    convert(&db, &world, &conversion(2)).unwrap();
    db.execute("DELETE FROM traffic", &[]).unwrap();
    assert_eq!(day::check_night(&db, tomorrow + DAY_MS), Ok(Some(true)));
}

#[test]
fn a_difference_to_the_ledger_is_shown_by_transaction() {
    let outbox_day = |paid, waiting, confirmed| OutboxDay {
        offers: vec![sums(1, 0, paid, waiting)],
        confirmed_micro_usd: confirmed,
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
