//! The book of numbered batches by itself, as an outbox keeps it and as the counters came to it: rows that are added one
//! by one, and what an older version of the counters left. Batches are tried in `counters_forward`.

use std::collections::BTreeMap;

use proptest::prelude::*;
use signpost::{
    catalog::{AppId, Country, OfferId},
    origin::{
        counters::{self, Command, ConversionSum},
        database::{Database, Row},
        forward::{self, Batch, Earned},
        ledger::{self, OfferSum},
        migrations::migrate,
    },
    params,
    time::UtcDay,
};

use crate::{
    assert_only_listed_statements,
    counters::{NOON, offer, send, sum},
    dump, migrated,
    sqlite::Sqlite,
};

/// As `counters::sum` has it: a row that coalesces with its clicks.
fn earned(destination: &str, conversions: i64, revenue_micro_usd: i64) -> Earned {
    Earned {
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
    forward::prepare(db, NOON).unwrap();
    forward::outstanding(db, NOON).unwrap()
}

/// Clicks, conversions and revenue of each row that waits.
fn waiting(db: &Sqlite) -> Vec<[i64; 3]> {
    let sums = |row: &Row| [6, 7, 8].map(|column| row.integer(column).unwrap());
    dump(db, "traffic").iter().map(sums).collect()
}

#[test]
fn rows_that_agree_in_all_but_their_sums_wait_as_one() {
    let db = migrated(&[forward::TABLES]);
    let first = earned("ledger", 1, 250_000);
    let others = [
        Earned {
            destination: "counters-7".into(),
            ..first.clone()
        },
        Earned {
            day: first.day.minus(1),
            ..first.clone()
        },
        Earned {
            app: AppId::parse("00000042").unwrap(),
            ..first.clone()
        },
        Earned {
            offer: offer("p"),
            ..first.clone()
        },
        Earned {
            country: None,
            ..first.clone()
        },
        Earned {
            placement: Some("shop \"x\"".into()),
            ..first.clone()
        },
    ];
    forward::add(&db, &first).unwrap();
    forward::add(&db, &first).unwrap();
    assert_eq!(waiting(&db), [[0, 2, 500_000]]);
    forward::add(&db, &earned("ledger", -1, -250_000)).unwrap();
    assert_eq!(waiting(&db), [[0, 1, 250_000]]);
    for other in &others {
        forward::add(&db, other).unwrap();
    }
    assert_eq!(waiting(&db), [[0, 1, 250_000]; 7]);
}

#[test]
fn what_is_earned_goes_with_the_clicks_that_wait() {
    let db = migrated(counters::MIGRATIONS);
    let flush = |isolate: &str, clicks| Command::Flush {
        isolate: isolate.into(),
        sequence: 1,
        sums: vec![sum("o", UtcDay::of_ms(NOON), clicks)],
    };
    send(&db, NOON, flush("i", 5));
    forward::add(&db, &earned("pub", 1, 250_000)).unwrap();
    send(&db, NOON, flush("j", 2));
    assert_eq!(waiting(&db), [[7, 1, 250_000]]);
    let [batch] = prepared(&db).try_into().unwrap();
    let ledger::Command::AddOffers { sums, .. } = batch.to_ledger("counters-17").unwrap() else {
        panic!("not a batch");
    };
    let [sum] = sums.try_into().unwrap();
    assert_eq!((sum.clicks, sum.revenue_micro_usd), (7, 250_000));
}

#[test]
fn an_outboxs_destinations_have_their_own_numbers() {
    let db = migrated(&[forward::TABLES]);
    forward::add(&db, &earned("ledger", 0, 250_000)).unwrap();
    forward::add(&db, &earned("counters-7", 1, 250_000)).unwrap();
    let [counters, ledger] = prepared(&db).try_into().unwrap();
    assert_eq!((&*counters.destination, counters.sequence), ("counters-7", 1));
    assert_eq!((&*ledger.destination, ledger.sequence), ("ledger", 1));
    forward::acknowledge(&db, &ledger).unwrap();
    forward::add(&db, &earned("ledger", 0, 1)).unwrap();
    forward::add(&db, &earned("counters-7", 1, 1)).unwrap();
    let [again, next] = prepared(&db).try_into().unwrap();
    assert_eq!(again, counters);
    assert_eq!((&*next.destination, next.sequence), ("ledger", 2));
}

#[test]
fn the_book_runs_the_statements_that_it_lists() {
    let db = migrated(&[forward::TABLES]);
    forward::add(&db, &earned("ledger", 1, 1)).unwrap();
    let [batch] = prepared(&db).try_into().unwrap();
    forward::failed(&db, &batch, NOON).unwrap();
    forward::acknowledge(&db, &batch).unwrap();
    assert_eq!(forward::due_ms(&db, NOON), Ok(None));
    assert_only_listed_statements(&db, forward::sql::ALL, &[forward::TABLES]);
}

#[test]
fn the_counters_have_the_tables_of_a_new_book() {
    let columns = |db: &Sqlite| {
        ["PRAGMA table_xinfo(traffic)", "PRAGMA table_xinfo(forwards)"].map(|sql| db.query(sql, &[]).unwrap())
    };
    let new = columns(&migrated(&[forward::TABLES]));
    assert_eq!(new.each_ref().map(Vec::len), [9, 5]);
    assert_eq!(columns(&migrated(counters::MIGRATIONS)), new);
}

#[test]
fn what_the_second_version_of_the_counters_held_is_handed_on_by_the_third() {
    let db = migrated(&counters::MIGRATIONS[..2]);
    let day = UtcDay::of_ms(NOON);
    for (publisher, sequence, attempts, due_ms, sums) in [
        (
            "a",
            4_i64,
            2_i64,
            NOON,
            Some(format!(
                concat!(
                    r#"[{{"day":{0},"app":"00000042","offer":"o","country":"DE","placement":null,"clicks":3}},"#,
                    r#"{{"day":{0},"app":"00000042","offer":"p","country":null,"placement":"shop","clicks":4}}]"#
                ),
                day.number()
            )),
        ),
        ("b", 9, 0, NOON - 1, None),
    ] {
        db.execute(
            "INSERT INTO forwards (publisher, sequence, attempts, due_ms, sums) VALUES (?, ?, ?, ?, ?)",
            params![publisher, sequence, attempts, due_ms, sums],
        )
        .unwrap();
    }
    for (publisher, country, placement, clicks) in
        [("a", "DE", "", 5_i64), ("a", "", "shop", 6), ("b", "FR", "", 7)]
    {
        db.execute(
            "INSERT INTO traffic (publisher, day, app, offer, country, placement, clicks) VALUES (?, ?, 42, 'o', ?, ?, ?)",
            params![publisher, day.number(), country, placement, clicks],
        )
        .unwrap();
    }

    migrate(&db, NOON, counters::MIGRATIONS).unwrap();

    let read = |batch: &Batch| {
        let ledger::Command::AddOffers { sequence, sums, .. } = batch.to_ledger("counters-17").unwrap()
        else {
            panic!("not a batch");
        };
        (batch.destination.clone(), sequence, batch.attempts, sums)
    };
    let of = |id: &str, country: &str, placement: Option<&str>, clicks| OfferSum {
        day,
        app: AppId::parse("00000042").unwrap(),
        offer: offer(id),
        country: Country::parse(country),
        placement: placement.map(str::to_owned),
        clicks,
        revenue_micro_usd: 0,
    };
    let [left, next_of_b] = prepared(&db).try_into().unwrap();
    assert_eq!(
        read(&left),
        (
            "a".into(),
            4,
            2,
            vec![of("o", "DE", None, 3), of("p", "", Some("shop"), 4)]
        )
    );
    assert_eq!(
        read(&next_of_b),
        ("b".into(), 10, 0, vec![of("o", "FR", None, 7)])
    );
    forward::acknowledge(&db, &left).unwrap();
    forward::acknowledge(&db, &next_of_b).unwrap();
    let [next_of_a] = prepared(&db).try_into().unwrap();
    assert_eq!(
        read(&next_of_a),
        (
            "a".into(),
            5,
            0,
            vec![of("o", "", Some("shop"), 6), of("o", "DE", None, 5)]
        )
    );
    assert_eq!(dump(&db, "traffic"), []);
}

#[derive(Clone, Debug)]
enum Op {
    Add(Earned),
    /// Batches are begun and each is sent; those marked arrive.
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
            let base = earned(
                ["ledger", "counters-3", "counters-40"][to],
                conversions,
                revenue_micro_usd,
            );
            Earned {
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

/// By destination, day, offer and placement: clicks, conversions, revenue.
type Sums = BTreeMap<(String, UtcDay, OfferId, Option<String>), [i64; 3]>;

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn what_was_added_is_what_arrives_whoever_reads_it(ops in ops()) {
        let db = migrated(&[forward::TABLES]);
        let (mut added, mut arrived) = (Sums::new(), Sums::new());
        for op in ops.into_iter().chain([Op::Send(vec![true; 3]), Op::Send(vec![true; 3])]) {
            match op {
                Op::Add(row) => {
                    forward::add(&db, &row).unwrap();
                    let of_row = (row.destination, row.day, row.offer, row.placement);
                    let sums = added.entry(of_row).or_default();
                    let more = [i64::from(row.clicks), row.conversions, row.revenue_micro_usd];
                    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
                }
                Op::Send(arrives) => {
                    for (batch, _) in prepared(&db).iter().zip(arrives).filter(|(_, arrives)| *arrives) {
                        let of_ledger: Vec<OfferSum> = batch.read().unwrap();
                        let of_counters: Vec<ConversionSum> = batch.read().unwrap();
                        for (sum, conversions) in of_ledger.into_iter().zip(of_counters) {
                            prop_assert_eq!((sum.day, &sum.offer), (conversions.day, &conversions.offer));
                            prop_assert_eq!(sum.revenue_micro_usd, conversions.payout_micro_usd);
                            let of_sum = (batch.destination.clone(), sum.day, sum.offer, sum.placement);
                            let more = [i64::try_from(sum.clicks).unwrap(), conversions.conversions, sum.revenue_micro_usd];
                            let sums = arrived.entry(of_sum).or_default();
                            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
                        }
                        forward::acknowledge(&db, batch).unwrap();
                    }
                }
            }
        }
        prop_assert_eq!(arrived, added);
    }
}
