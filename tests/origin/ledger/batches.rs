//! Click counts from the counters: each batch is applied once, placements are bounded, and a replaced day keeps them.

use platform::database::Database;

use super::{
    super::{dump, retry_until_answered},
    *,
};
use contract::{
    ledger::{AddOffers, OfferSum, Vouch},
    operation::Mark,
};
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

/// A batch of one number after another.
pub fn batch(source: &str, after: i64, sums: &[OfferSum]) -> AddOffers {
    AddOffers { source: source.into(), after, number: after + 1, sums: sums.to_vec() }
}

fn row(placement: &str) -> Key {
    ["10000001", "DE", placement, "o-1", "offerwall", "api"].map(Into::into)
}

#[test]
fn a_retried_batch_of_click_counts_is_applied_once() {
    let sums = [sum(day(1), None, 3), sum(day(1), Some("home"), 2), sum(day(0), None, 1)];
    under_faults(
        |_| {},
        |db| {
            retry_until_answered(|| offers::add(db, NOW_MS, &batch("counters-1", 0, &sums)));
        },
        |db, fault, ()| {
            let again = offers::add(db, NOW_MS, &batch("counters-1", 0, &sums));
            assert_eq!(again, Ok(Mark { mark: 1 }), "{fault}");
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
fn each_source_has_its_own_mark_and_a_replaced_day_keeps_click_counts() {
    let db = ledger();
    let sums = [sum(day(1), None, 3)];
    let add = |source, after| offers::add(&db, NOW_MS, &batch(source, after, &sums)).unwrap().mark;
    assert_eq!(offers::mark(&db, "counters-1"), Ok(Mark { mark: 0 }));
    assert_eq!(add("counters-1", 6), 0, "it lacks the batch before");
    assert_eq!([add("counters-1", 0), add("counters-2", 0)], [1, 1]);
    assert_eq!([add("counters-1", 0), add("counters-1", 7)], [1, 1], "neither begins at the mark");
    assert_eq!(offers::mark(&db, "counters-1"), Ok(Mark { mark: 1 }));
    upload(1, &[(day(1), key(0), [9; 5])]).replace(&db, NOW_MS, day(1)).unwrap();
    upload(2, &[]).replace(&db, NOW_MS, day(1)).unwrap();
    assert_eq!(reported(&db), Rows::from([((day(1), row("offerwall")), [0, 0, 0, 6, 0])]));
    upload::discard_all(&db).unwrap();
}

#[test]
fn an_app_has_at_most_200_placements_a_day() {
    let db = ledger();
    for n in 0..230_i64 {
        let sums = [sum(day(1), Some(&format!("p-{n}")), 1)];
        offers::add(&db, NOW_MS, &batch("counters-1", n, &sums)).unwrap();
    }
    // A known placement stays separate, and another day starts again.
    let sums = [sum(day(1), Some("p-7"), 1), sum(day(2), Some("p-229"), 1)];
    offers::add(&db, NOW_MS, &batch("counters-2", 0, &sums)).unwrap();
    let rows = reported(&db);
    assert_eq!(rows.len(), 200 + 1 + 1);
    assert_eq!(rows[&(day(1), row("other"))], [0, 0, 0, 30, 0]);
    assert_eq!(rows[&(day(1), row("p-7"))], [0, 0, 0, 2, 0]);
    assert_eq!(rows[&(day(2), row("p-229"))], [0, 0, 0, 1, 0]);
}

#[test]
fn placements_are_deleted_after_the_last_possible_click_of_their_day() {
    let db = ledger();
    offers::add(&db, NOW_MS, &batch("counters-1", 0, &[sum(day(1), Some("home"), 1)])).unwrap();
    let due_ms = ledger::next_alarm(&db, NOW_MS).unwrap().unwrap();
    assert!(due_ms > NOW_MS + 38 * DAY_MS);
    assert!(ledger::alarm(&db, NOW_MS + DAY_MS).unwrap().is_some());
    assert_eq!(dump(&db, "placements").len(), 1);
    assert_eq!(ledger::alarm(&db, due_ms).unwrap(), None);
    assert!(dump(&db, "placements").is_empty());
}

#[test]
fn a_source_vouches_for_what_the_ledger_has_of_it() {
    let db = ledger();
    let sums = [sum(day(1), None, 3), sum(day(2), None, 4)];
    offers::add(&db, NOW_MS, &batch("counters-1", 0, &sums)).unwrap();
    offers::add(&db, NOW_MS, &batch("counters-2", 0, &sums)).unwrap();
    let differing = || {
        let rows = db.query("SELECT source, day FROM totals WHERE differs", &[]).unwrap();
        rows.iter().map(|row| (row.text(0).unwrap().to_owned(), row.integer(1).unwrap())).collect::<Vec<_>>()
    };
    let vouch = |source: &str, of, number, clicks, revenue_micro_usd| {
        let vouch = Vouch { source: source.into(), day: day(of), number, clicks, revenue_micro_usd };
        offers::vouch(&db, NOW_MS, &vouch).unwrap()
    };
    let go_back_to = |source, of, number, clicks| vouch(source, of, number, clicks, 0).go_back_to;
    let vouch = |source: &str, of, number, clicks, revenue_micro_usd| {
        let vouched = vouch(source, of, number, clicks, revenue_micro_usd);
        (vouched.mark, vouched.missing_clicks, vouched.missing_micro_usd)
    };
    assert_eq!(vouch("counters-1", 1, 1, 3, 0), (1, 0, 0));
    assert_eq!(vouch("counters-1", 2, 1, 6, -5), (1, 2, -5));
    assert_eq!(differing(), [("counters-1".to_owned(), day(2).number())]);
    // The same number again, and the difference is gone.
    assert_eq!(vouch("counters-1", 2, 1, 4, 0), (1, 0, 0));
    assert_eq!(differing(), []);
    // Sums up to different numbers are not compared.
    assert_eq!(vouch("counters-2", 1, 2, 9, 0), (1, 6, 0));
    assert_eq!(differing(), []);
    // A source of which the ledger has no sums.
    assert_eq!(vouch("outbox-1", 1, 0, 0, 0), (0, 0, 0));
    assert_eq!(vouch("outbox-2", 1, 0, 0, 7), (0, 0, 7));
    assert_eq!(differing(), [("outbox-2".to_owned(), day(1).number())]);

    // A source that skips a day must go back to it, even if the answer was lost. So must one with further clicks.
    for _ in 0..2 {
        assert_eq!(go_back_to("counters-2", 2, 1, 4), Some(day(1)));
    }
    assert_eq!(differing()[0], ("counters-2".to_owned(), day(1).number()));
    assert_eq!(go_back_to("counters-2", 1, 1, 3), None);
    let late = [sum(day(1), None, 5), sum(day(3), None, 5)];
    offers::add(&db, NOW_MS, &batch("counters-2", 1, &late)).unwrap();
    assert_eq!(go_back_to("counters-2", 3, 2, 5), Some(day(1)));
    assert_eq!(go_back_to("counters-2", 1, 2, 8), None);
    assert_eq!(differing(), [("outbox-2".to_owned(), day(1).number())]);
}
