//! Click counts from the counters: each batch is applied once, placements are bounded, and a replaced day keeps them.

use super::{
    super::{dump, retry_until_answered},
    *,
};
use contract::ledger::OfferSum;
use domain::model::{AppId, Country, OfferId, time::DAY_MS};
use origin::objects::ledger::{offers, upload};

const NOW_MS: i64 = 20_001 * DAY_MS + 5;

pub fn sum(day: UtcDay, placement: Option<&str>, clicks: u64) -> OfferSum {
    OfferSum {
        day,
        app: AppId::parse("10000001").unwrap(),
        offer: OfferId::parse("o-1").unwrap(),
        country: Country::parse("DE"),
        placement: placement.map(Into::into),
        clicks,
        revenue_micro_usd: 0,
    }
}

fn row(placement: &str) -> Key {
    ["10000001", "DE", placement, "o-1", "offerwall", "api"].map(Into::into)
}

#[test]
fn a_retried_batch_of_click_counts_is_applied_once() {
    let batch = [
        sum(day(1), None, 3),
        sum(day(1), Some("home"), 2),
        sum(day(0), None, 1),
    ];
    under_faults(
        |_| {},
        |db| {
            retry_until_answered(|| offers::add(db, NOW_MS, "counters-1", 1, &batch));
        },
        |db, fault, ()| {
            let again = offers::add(db, NOW_MS, "counters-1", 1, &batch).unwrap();
            assert!(!again.applied, "{fault}");
            let rows = Rows::from([
                ((day(0), row("offerwall")), [0, 0, 0, 1, 0]),
                ((day(1), row("home")), [0, 0, 0, 2, 0]),
                ((day(1), row("offerwall")), [0, 0, 0, 3, 0]),
            ]);
            assert_eq!(reported(db), rows, "{fault}");
        },
    );
}

#[test]
fn each_source_has_its_own_sequence_and_a_replaced_day_keeps_click_counts() {
    let db = ledger();
    let batch = [sum(day(1), None, 3)];
    offers::add(&db, NOW_MS, "counters-1", 7, &batch).unwrap();
    offers::add(&db, NOW_MS, "counters-2", 7, &batch).unwrap();
    assert!(
        !offers::add(&db, NOW_MS, "counters-1", 6, &batch).unwrap().applied,
        "a lower sequence is a repeat"
    );
    upload(1, &[(day(1), key(0), [9; 5])])
        .replace(&db, NOW_MS, day(1))
        .unwrap();
    upload(2, &[]).replace(&db, NOW_MS, day(1)).unwrap();
    assert_eq!(
        reported(&db),
        Rows::from([((day(1), row("offerwall")), [0, 0, 0, 6, 0])])
    );
    upload::discard_all(&db).unwrap();
}

#[test]
fn an_app_has_at_most_200_placements_a_day() {
    let db = ledger();
    for n in 0..230_u64 {
        offers::add(
            &db,
            NOW_MS,
            "counters-1",
            n + 1,
            &[sum(day(1), Some(&format!("p-{n}")), 1)],
        )
        .unwrap();
    }
    // A known placement stays separate, and another day starts again.
    offers::add(
        &db,
        NOW_MS,
        "counters-2",
        1,
        &[sum(day(1), Some("p-7"), 1), sum(day(2), Some("p-229"), 1)],
    )
    .unwrap();
    let rows = reported(&db);
    assert_eq!(rows.len(), 200 + 1 + 1);
    assert_eq!(rows[&(day(1), row("other"))], [0, 0, 0, 30, 0]);
    assert_eq!(rows[&(day(1), row("p-7"))], [0, 0, 0, 2, 0]);
    assert_eq!(rows[&(day(2), row("p-229"))], [0, 0, 0, 1, 0]);
}

#[test]
fn placements_are_deleted_after_the_last_possible_click_of_their_day() {
    let db = ledger();
    offers::add(&db, NOW_MS, "counters-1", 1, &[sum(day(1), Some("home"), 1)]).unwrap();
    let due_ms = ledger::next_alarm(&db, NOW_MS).unwrap().unwrap();
    assert!(due_ms > NOW_MS + 38 * DAY_MS);
    assert!(ledger::alarm(&db, NOW_MS + DAY_MS).unwrap().is_some());
    assert_eq!(dump(&db, "placements").len(), 1);
    assert_eq!(ledger::alarm(&db, due_ms).unwrap(), None);
    assert!(dump(&db, "placements").is_empty());
}
