//! The ledger against a naive model: any interleaving of replaced days, added batches (also repeated or cut off), click
//! counts, alarms and restarts, with random failing writes and senders that retry until they are answered.

use proptest::prelude::*;

use super::{super::retry_until_answered, *};
use contract::ledger::OfferSum;
use domain::model::{AppId, OfferId, time::DAY_MS};
use origin::objects::ledger::{column_cache::ColumnCache, offers, upload};

#[derive(Clone, Debug)]
enum Op {
    Replace {
        day: i64,
        facts: Vec<(u32, i64)>,
    },
    Apply {
        batch: u8,
        facts: Vec<(i64, u32, i64)>,
    },
    /// A sender that gives up before its last fact.
    CutOff {
        facts: Vec<(i64, u32, i64)>,
    },
    Offers {
        source: u8,
        ahead: i64,
        day: i64,
        placement: Option<u8>,
        clicks: u64,
    },
    Alarm,
    Restart,
}

fn ops() -> impl Strategy<Value = Vec<(Op, Vec<Option<Fault>>)>> {
    let value = -50..100_i64;
    let facts = prop::collection::vec((0..3_i64, 0..45_u32, value.clone()), 0..30);
    let op = prop_oneof![
        3 => (0..3_i64, prop::collection::vec((0..45_u32, value), 0..40))
            .prop_map(|(day, facts)| Op::Replace { day, facts }),
        6 => (0..12_u8, facts.clone()).prop_map(|(batch, facts)| Op::Apply { batch, facts }),
        1 => facts.prop_map(|facts| Op::CutOff { facts }),
        4 => (0..2_u8, -1..2_i64, 0..3_i64, prop::option::of(0..4_u8), 0..9_u64).prop_map(
            |(source, ahead, day, placement, clicks)| Op::Offers { source, ahead, day, placement, clicks }),
        2 => Just(Op::Alarm),
        1 => Just(Op::Restart),
    ];
    let fault = prop_oneof![8 => Just(None), 1 => Just(Some(Fault::Before)), 1 => Just(Some(Fault::After))];
    prop::collection::vec((op, prop::collection::vec(fault, 0..12)), 1..40)
}

/// The sums of a fact, with counts that are not negative and revenue that may be.
fn sums(value: i64) -> Sums {
    [value.abs(), 0, value.abs() / 2, 1, value]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_report_of_everything_equals_the_acknowledged_facts(ops in ops()) {
        let db = ledger();
        let mut kept = ColumnCache::default();
        let (mut loaded, mut counted) = (Rows::new(), Rows::new());
        let mut batches: BTreeMap<u8, Vec<(i64, u32, i64)>> = BTreeMap::new();
        // Sequences start at 1.
        let mut marks = [0_i64; 2];
        let (mut number, mut now_ms) = (0, 20_000 * DAY_MS);
        for (op, faults) in ops {
            db.inject(Faults::script(faults));
            now_ms += 1_000;
            match op {
                Op::Replace { day: date, facts } => {
                    let facts: Vec<_> = facts.iter().map(|(n, value)| (day(date), key(*n), sums(*value))).collect();
                    retry_until_answered(|| {
                        number += 1;
                        upload(number, &facts).replace(&db, now_ms, day(date))
                    });
                    loaded.retain(|(on, _), _| *on != day(date));
                    facts.iter().for_each(|(day, key, sums)| add(&mut loaded, *day, key, sums));
                }
                Op::Apply { batch, facts } => {
                    let first = !batches.contains_key(&batch);
                    let facts = batches.entry(batch).or_insert(facts);
                    let facts: Vec<_> =
                        facts.iter().map(|(date, n, value)| (day(*date), key(*n), sums(*value))).collect();
                    let rows = facts.len() as u64;
                    let applied = retry_until_answered(|| {
                        number += 1;
                        upload(number, &facts).apply(&db, now_ms, &format!("batch-{batch}"), rows).map_err(database_error)
                    });
                    prop_assert_eq!(applied["rows"].as_u64(), Some(rows));
                    prop_assert!(first || applied["duplicate"] == true);
                    if first {
                        facts.iter().for_each(|(day, key, sums)| add(&mut loaded, *day, key, sums));
                    }
                }
                Op::CutOff { facts } => {
                    number += 1;
                    let facts: Vec<_> =
                        facts.iter().map(|(date, n, value)| (day(*date), key(*n), sums(*value))).collect();
                    let mut cut_off = upload(number, &facts);
                    let _ = cut_off.stage_above(&db, 0);
                }
                Op::Offers { source, ahead, day: date, placement, clicks } => {
                    // A batch changes nothing if an earlier one is missing, or if it was applied before.
                    let after = (marks[source as usize] + ahead).max(0);
                    let placement = placement.map(|n| format!("p-{n}"));
                    let sum = OfferSum {
                        day: day(date),
                        app: AppId::parse("10000001").unwrap(),
                        offer: OfferId::parse("o-1").unwrap(),
                        country: None,
                        placement: placement.clone(),
                        clicks,
                        revenue_micro_usd: 0,
                    };
                    let batch = batches::batch(&format!("s-{source}"), after, std::slice::from_ref(&sum));
                    retry_until_answered(|| offers::add(&db, now_ms, &batch));
                    if after == marks[source as usize] {
                        marks[source as usize] = after + 1;
                        let placement = placement.unwrap_or("offerwall".into());
                        let key = ["10000001", "ZZ", &placement, "o-1", "offerwall", "api"].map(Into::into);
                        add(&mut counted, day(date), &key, &[0, 0, 0, clicks as i64, 0]);
                    }
                }
                Op::Alarm => {
                    retry_until_answered(|| ledger::alarm(&db, now_ms));
                }
                Op::Restart => {
                    db.inject(Faults::none());
                    upload::discard_all(&db).unwrap();
                    number = 0;
                    kept = ColumnCache::default();
                }
            }
            db.inject(Faults::none());
            let mut expected = loaded.clone();
            counted.iter().for_each(|((day, key), sums)| add(&mut expected, *day, key, sums));
            // The columns that earlier reports have cached equal the stored ones.
            prop_assert_eq!(reported_of(&db, &Segments::new(&db, None).with_cache(&kept)), expected.clone());
            prop_assert_eq!(reported(&db), expected);
        }
    }
}
