//! Replaced days and added batches, also under faults.

use super::{
    super::{Database, dump, retry_until_answered},
    *,
};
use origin::objects::ledger::{segments, upload};
use platform::failure::Failure;

const NOW_MS: i64 = 20_050 * 86_400_000;

fn facts(day: UtcDay, count: u32, value: i64) -> Vec<(UtcDay, Key, Sums)> {
    (0..count).map(|n| (day, key(n), [value, 0, 0, 1, -value])).collect()
}

fn expected(parts: &[&[(UtcDay, Key, Sums)]]) -> Rows {
    let mut rows = Rows::new();
    for (day, key, sums) in parts.iter().copied().flatten() {
        add(&mut rows, *day, key, sums);
    }
    rows
}

#[test]
fn replacing_a_day_is_atomic_under_every_fault() {
    let (old, new, other) = (facts(day(1), 20, 5), facts(day(1), 7, 9), facts(day(2), 3, 1));
    under_faults(
        |db| {
            upload(1, &old).replace(db, NOW_MS, day(1)).unwrap();
            upload(2, &other).apply(db, NOW_MS, "k", 3).unwrap();
        },
        |db| upload(3, &new).replace(db, NOW_MS, day(1)).is_ok(),
        |db, fault, replaced| {
            upload::discard_all(db).unwrap();
            let (before, after) = (expected(&[&old, &other]), expected(&[&new, &other]));
            let rows = reported(db);
            assert!(rows == after || !replaced && rows == before, "{fault}: {rows:?}");
        },
    );
}

#[test]
fn a_retried_batch_of_facts_is_applied_once() {
    let (first, batch) = (facts(day(1), 20, 5), [facts(day(1), 9, 2), facts(day(3), 4, 3)].concat());
    under_faults(
        |db| upload(1, &first).replace(db, NOW_MS, day(1)).unwrap(),
        |db| {
            let mut number = 1;
            retry_until_answered(|| {
                number += 1;
                upload(number, &batch).apply(db, NOW_MS, "batch-1", 13)
            });
        },
        |db, fault, ()| {
            let again = upload(99, &batch).apply(db, NOW_MS, "batch-1", 13).unwrap();
            assert_eq!(again, serde_json::json!({ "rows": 13, "duplicate": true }), "{fault}");
            upload::discard_all(db).unwrap();
            assert_eq!(reported(db), expected(&[&first, &batch]), "{fault}");
        },
    );
}

#[test]
fn staged_facts_are_in_no_report_and_are_discarded() {
    let db = ledger();
    upload(1, &facts(day(1), 20, 5)).replace(&db, NOW_MS, day(1)).unwrap();
    let before = reported(&db);
    let columns = dump(&db, "columns").len();
    let mut cut_off = upload(2, &facts(day(1), 30, 7));
    cut_off.stage_above(&db, 0).unwrap();
    assert!(dump(&db, "columns").len() > columns, "nothing is staged");
    assert_eq!(reported(&db), before);
    upload::discard(&db, 2).unwrap();
    assert_eq!(dump(&db, "columns").len(), columns);
    assert!(dump(&db, "staged_names").is_empty());
}

#[test]
fn a_used_idempotency_key_refuses_another_batch() {
    let db = ledger();
    upload(1, &facts(day(1), 2, 5)).apply(&db, NOW_MS, "k", 2).unwrap();
    let before = reported(&db);
    let other = upload(2, &facts(day(1), 3, 5)).apply(&db, NOW_MS, "k", 3).unwrap_err();
    assert!(matches!(other, Failure::Refused(refusal) if refusal.code == "idempotency_key_reused"));
    assert_eq!(reported(&db), before);
}

#[test]
fn a_day_holds_only_exactly_summable_numbers() {
    let db = ledger();
    let most = domain::reporting::metric::MAX_OF_A_DAY;
    let with = |requests, revenue| vec![(day(1), key(1), [requests, 0, 0, 0, revenue])];
    upload(1, &with(most - 1, -most)).apply(&db, NOW_MS, "k1", 1).unwrap();
    let before = reported(&db);
    for (over, measure) in [(with(2, 0), "ad_requests"), (with(0, 1), "revenue")] {
        let refused = upload(2, &over).apply(&db, NOW_MS, "k2", 1).unwrap_err();
        let Failure::Refused(refusal) = refused else { panic!("{refused:?}") };
        assert_eq!(refusal.code, "invalid_facts");
        assert!(refusal.message.contains(measure), "{}", refusal.message);
        upload::discard(&db, 2).unwrap();
    }
    assert_eq!(reported(&db), before);
    // The idempotency key was not used up.
    upload(3, &with(1, 0)).apply(&db, NOW_MS, "k2", 1).unwrap();
    assert_eq!(reported(&db)[&(day(1), key(1))], [most, 0, 0, 0, -most]);
}

#[test]
fn a_day_with_many_batches_stays_a_few_segments() {
    let db = ledger();
    let mut all = Vec::new();
    for n in 0..200_u32 {
        let batch = vec![(day(1), key(n), [1, 2, 3, 4, 5]), (day(2), key(0), [1; 5])];
        upload(i64::from(n) + 1, &batch).apply(&db, NOW_MS, &format!("k{n}"), 2).unwrap();
        all.push(batch);
        if let Some(due_ms) = ledger::next_alarm(&db, NOW_MS).unwrap() {
            assert!(due_ms > NOW_MS);
            ledger::alarm(&db, due_ms).unwrap();
        }
    }
    let parts: Vec<_> = all.iter().map(Vec::as_slice).collect();
    assert_eq!(reported(&db), expected(&parts));
    let segments = dump(&db, "segments").len();
    assert!(segments < 40, "{segments} segments");
    assert!(!segments::is_crowded(&db).unwrap(), "work is left to merge");
}

#[test]
fn merging_changes_no_report_under_every_fault() {
    let batches: Vec<_> = (0..10_u32).map(|n| vec![(day(1), key(n % 4), [1, 2, 3, 4, -5])]).collect();
    under_faults(
        |db| {
            for (n, batch) in (1..).zip(&batches) {
                upload(n, batch).apply(db, NOW_MS, &format!("k{n}"), 1).unwrap();
            }
        },
        |db| segments::merge_next(db).is_ok(),
        |db, fault, _| {
            let parts: Vec<_> = batches.iter().map(Vec::as_slice).collect();
            assert_eq!(reported(db), expected(&parts), "{fault}");
        },
    );
}

#[test]
fn a_damaged_segment_fails_the_report() {
    let db = ledger();
    upload(1, &facts(day(1), 20, 5)).replace(&db, NOW_MS, day(1)).unwrap();
    let stored = dump(&db, "columns");
    let bytes = stored[0].blob(1).unwrap().to_vec();
    for at in [0, 3, 30, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        db.execute("UPDATE columns SET bytes = ?", platform::params![damaged]).unwrap();
        let query = Query {
            start: day(0),
            end: day(9),
            dimensions: Dimension::ALL.to_vec(),
            metrics: Measure::ALL.map(Metric::Sum).to_vec(),
            filters: vec![],
            order: vec![],
            page: 1,
            count: 10,
        };
        let error = report::build(&db, &query, &Budget::default()).unwrap_err();
        assert_eq!(error, report::DAMAGED_FACTS.into(), "{at}");
    }
}
