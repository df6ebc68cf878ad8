//! Numbered batches by themselves, as outboxes and counters store them. Sending them is tested in `counters_batches`.

use contract::counters::Flush;
use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::{
    assert_only_listed_statements,
    counters::{NOON, offer, send, sum},
    dump, migrated,
    sqlite::Sqlite,
};
use contract::{
    counters::{Command, ConversionSum},
    ledger::OfferSum,
};
use domain::model::{AppId, Country, OfferId, time::UtcDay};
use origin::{
    delivery::batches::{self, Batch, BatchRow},
    objects::counters,
};
use platform::database::Row;

/// A row with the same dimensions as `counters::sum`, so that both are added up in one row.
fn batch_row(destination: &str, conversions: i64, revenue_micro_usd: i64) -> BatchRow {
    BatchRow {
        destination: destination.into(),
        day: UtcDay::of_ms(NOON),
        app: AppId::parse("10000001").unwrap(),
        offer: offer("o"),
        country: Country::parse("DE"),
        placement: None,
        clicks: 0,
        conversions,
        revenue_micro_usd,
    }
}

fn prepared(db: &Sqlite) -> Vec<Batch> {
    batches::prepare(db, NOON).unwrap();
    batches::outstanding(db, NOON).unwrap()
}

/// Clicks, conversions and revenue of each row that is not in a batch.
fn waiting(db: &Sqlite) -> Vec<[i64; 3]> {
    let sums = |row: &Row| [6, 7, 8].map(|column| row.integer(column).unwrap());
    dump(db, "traffic").iter().map(sums).collect()
}

#[test]
fn rows_with_the_same_dimensions_are_added_up() {
    let db = migrated(&[&[batches::sql::TABLES]]);
    let first = batch_row("ledger", 1, 250_000);
    let others = [
        BatchRow {
            destination: "counters-7".into(),
            ..first.clone()
        },
        BatchRow {
            day: first.day.minus(1),
            ..first.clone()
        },
        BatchRow {
            app: AppId::parse("00000042").unwrap(),
            ..first.clone()
        },
        BatchRow {
            offer: offer("p"),
            ..first.clone()
        },
        BatchRow {
            country: None,
            ..first.clone()
        },
        BatchRow {
            placement: Some("shop \"x\"".into()),
            ..first.clone()
        },
    ];
    batches::add(&db, &first).unwrap();
    batches::add(&db, &first).unwrap();
    assert_eq!(waiting(&db), [[0, 2, 500_000]]);
    batches::add(&db, &batch_row("ledger", -1, -250_000)).unwrap();
    assert_eq!(waiting(&db), [[0, 1, 250_000]]);
    for other in &others {
        batches::add(&db, other).unwrap();
    }
    assert_eq!(waiting(&db), [[0, 1, 250_000]; 7]);
}

#[test]
fn conversions_and_waiting_clicks_share_a_row() {
    let db = migrated(counters::MIGRATIONS);
    let flush = |isolate: &str, clicks| {
        Command::Flush(Flush {
            isolate: isolate.into(),
            sequence: 1,
            sums: vec![sum("o", UtcDay::of_ms(NOON), clicks)].into(),
        })
    };
    send(&db, NOON, flush("i", 5));
    batches::add(&db, &batch_row("pub", 1, 250_000)).unwrap();
    send(&db, NOON, flush("j", 2));
    assert_eq!(waiting(&db), [[7, 1, 250_000]]);
    let [batch] = prepared(&db).try_into().unwrap();
    let contract::ledger::AddOffers { sums, .. } = batch.to_ledger("counters-17").unwrap();
    let [sum] = sums.try_into().unwrap();
    assert_eq!((sum.clicks, sum.revenue_micro_usd), (7, 250_000));
}

#[test]
fn each_destination_of_an_outbox_has_its_own_sequence() {
    let db = migrated(&[&[batches::sql::TABLES]]);
    batches::add(&db, &batch_row("ledger", 0, 250_000)).unwrap();
    batches::add(&db, &batch_row("counters-7", 1, 250_000)).unwrap();
    let [counters, ledger] = prepared(&db).try_into().unwrap();
    assert_eq!((&*counters.destination, counters.sequence), ("counters-7", 1));
    assert_eq!((&*ledger.destination, ledger.sequence), ("ledger", 1));
    batches::acknowledge(&db, &ledger).unwrap();
    batches::add(&db, &batch_row("ledger", 0, 1)).unwrap();
    batches::add(&db, &batch_row("counters-7", 1, 1)).unwrap();
    let [again, next] = prepared(&db).try_into().unwrap();
    assert_eq!(again, counters);
    assert_eq!((&*next.destination, next.sequence), ("ledger", 2));
}

#[test]
fn batches_run_the_statements_they_list() {
    let db = migrated(&[&[batches::sql::TABLES]]);
    batches::add(&db, &batch_row("ledger", 1, 1)).unwrap();
    let [batch] = prepared(&db).try_into().unwrap();
    batches::failed(&db, &batch, NOON).unwrap();
    batches::acknowledge(&db, &batch).unwrap();
    assert_eq!(batches::due_ms(&db, NOON), Ok(None));
    assert_only_listed_statements(&db, batches::sql::ALL, &[&[batches::sql::TABLES]]);
}

#[derive(Clone, Debug)]
enum Op {
    Add(BatchRow),
    /// Prepares batches and sends each; the marked ones arrive.
    Send(Vec<bool>),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let row = (
        0..3_usize,
        0..2_i32,
        0..2_usize,
        0..2_usize,
        0..3_u32,
        -2..3_i64,
        -500_000..1_000_000_i64,
    )
        .prop_map(|(to, age, id, place, clicks, conversions, revenue_micro_usd)| {
            let base = batch_row(
                ["ledger", "counters-3", "counters-40"][to],
                conversions,
                revenue_micro_usd,
            );
            BatchRow {
                day: base.day.minus(age),
                offer: offer(["o", "p"][id]),
                placement: [None, Some("place".to_owned())][place].clone(),
                clicks,
                ..base
            }
        });
    let op = prop_oneof![
        3 => row.prop_map(Op::Add),
        1 => proptest::collection::vec(any::<bool>(), 3).prop_map(Op::Send),
    ];
    proptest::collection::vec(op, 1..60)
}

/// Clicks, conversions and revenue by destination, day, offer and placement.
type Sums = BTreeMap<(String, UtcDay, OfferId, Option<String>), [i64; 3]>;

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn ledgers_and_counters_receive_exactly_the_added_sums(ops in ops()) {
        let db = migrated(&[&[batches::sql::TABLES]]);
        let (mut added, mut arrived) = (Sums::new(), Sums::new());
        for op in ops.into_iter().chain([Op::Send(vec![true; 3]), Op::Send(vec![true; 3])]) {
            match op {
                Op::Add(row) => {
                    batches::add(&db, &row).unwrap();
                    let key = (row.destination, row.day, row.offer, row.placement);
                    let sums = added.entry(key).or_default();
                    let more = [i64::from(row.clicks), row.conversions, row.revenue_micro_usd];
                    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
                }
                Op::Send(arrives) => {
                    for (batch, _) in prepared(&db).iter().zip(arrives).filter(|(_, arrives)| *arrives) {
                        let ledger_sums: Vec<OfferSum> = batch.read().unwrap();
                        let counters_sums: Vec<ConversionSum> = batch.read().unwrap();
                        for (sum, conversions) in ledger_sums.into_iter().zip(counters_sums) {
                            prop_assert_eq!((sum.day, &sum.offer), (conversions.day, &conversions.offer));
                            prop_assert_eq!(sum.revenue_micro_usd, conversions.payout_micro_usd);
                            let key = (batch.destination.clone(), sum.day, sum.offer, sum.placement);
                            let more = [i64::try_from(sum.clicks).unwrap(), conversions.conversions, sum.revenue_micro_usd];
                            let sums = arrived.entry(key).or_default();
                            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
                        }
                        batches::acknowledge(&db, batch).unwrap();
                    }
                }
            }
        }
        prop_assert_eq!(arrived, added);
    }
}
