//! Batches as positions in a log, without any object: examples of their contents, schedule and outcomes, and a property
//! test against a naive model, in which answers are lost and either side is restored.

use std::{cell::RefCell, collections::BTreeMap};

use futures_util::FutureExt;
use proptest::prelude::*;

use crate::{assert_only_listed_statements, dump, migrated, simulations, sqlite::Sqlite};
use contract::{
    attention::Kind,
    ledger::AddOffers,
    operation::{CallError, Mark, Unanswered},
};
use domain::model::{
    AppId, OfferId,
    time::{DAY_MS, SECOND_MS, UtcDay},
};
use origin::delivery::{
    attention_feed,
    backoff::{MAX_WAIT_MS, is_refusal},
    batches::{self, Amounts, Batch, DeliveryError, Log, LogPage, Movement, SumKey},
};
use platform::{
    database::{Database, DatabaseError, Row},
    migrations::Migration,
    params,
    traits::Clock,
};

const NOW: i64 = 20_468 * DAY_MS;
const SENDER: &[Migration] = &[&[batches::sql::TABLES, attention_feed::sql::TABLES]];
const RECEIVER: &[Migration] = &[&[&[
    "CREATE TABLE marks (source TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT",
    "CREATE TABLE sums (offer TEXT PRIMARY KEY, revenue INTEGER NOT NULL) STRICT",
]]];

/// Entries of a page of the log.
const PAGE: usize = 3;

fn key(offer: &str) -> SumKey {
    SumKey {
        day: UtcDay::of_ms(NOW),
        app: AppId::parse("10000001").unwrap(),
        offer: OfferId::parse(offer).unwrap(),
        country: None,
        placement: None,
    }
}

/// An entry: its number, and for each destination an offer and an amount.
type Entry = (i64, Vec<(String, String, i64)>);

#[derive(Clone, Default)]
struct TestLog(Vec<Entry>);

impl TestLog {
    fn add(&mut self, number: i64, to: &str, offer: &str, revenue: i64) {
        self.0.push((number, vec![(to.into(), offer.into(), revenue)]));
    }
}

impl Log for TestLog {
    fn read(&self, after: i64, each: &mut dyn FnMut(Movement<'_>)) -> Result<LogPage, DatabaseError> {
        let rest: Vec<&Entry> = self.0.iter().filter(|(number, _)| *number > after).collect();
        for (number, sums) in rest.iter().take(PAGE) {
            for (destination, offer, revenue_micro_usd) in sums {
                each(Movement {
                    first: *number,
                    number: *number,
                    destination,
                    key: &key(offer),
                    amounts: Amounts { clicks: 0, conversions: 1, revenue_micro_usd: *revenue_micro_usd },
                });
            }
        }
        Ok(LogPage {
            end: rest.iter().take(PAGE).next_back().map_or(after, |(number, _)| *number),
            is_last: rest.len() <= PAGE,
        })
    }

    fn last(&self) -> Result<i64, DatabaseError> {
        Ok(self.0.last().map_or(0, |(number, _)| *number))
    }

    fn has(&self, number: i64) -> Result<bool, DatabaseError> {
        Ok(self.0.iter().any(|(known, _)| *known == number))
    }
}

struct At(i64);

impl Clock for At {
    fn now_ms(&self) -> i64 {
        self.0
    }
}

type Answer = Result<Mark, DeliveryError>;

/// One call of [`batches::send`].
fn send(db: &Sqlite, log: &TestLog, now_ms: i64, opens: bool, deliver: impl Fn(&Batch) -> Answer) -> bool {
    let (clock, deliver) = (At(now_ms), async |batch: &Batch| deliver(batch));
    let sent = batches::send(db, &clock, "s", log, opens, deliver);
    sent.now_or_never().unwrap().unwrap()
}

/// Applies a batch and answers.
fn applied(batch: &Batch) -> Answer {
    Ok(Mark { mark: batch.number })
}

fn silence(_: &Batch) -> Answer {
    Err(DeliveryError::Unanswered("reset".into()))
}

/// Destination, range and revenue of the batches that one call makes, all of which are applied.
fn sent(db: &Sqlite, log: &TestLog, now_ms: i64, opens: bool) -> (Vec<(String, i64, i64, i64)>, bool) {
    let made = RefCell::new(vec![]);
    let more = send(db, log, now_ms, opens, |batch| {
        let revenue = batch.sums.values().map(|sum| sum.revenue_micro_usd).sum();
        made.borrow_mut().push((batch.destination.clone(), batch.after, batch.number, revenue));
        applied(batch)
    });
    (made.into_inner(), more)
}

fn batch(to: &str, after: i64, number: i64, revenue: i64) -> (String, i64, i64, i64) {
    (to.into(), after, number, revenue)
}

#[test]
fn a_batch_is_the_sum_of_a_part_of_the_log() {
    let (db, mut log) = (migrated(SENDER), TestLog::default());
    assert_eq!(sent(&db, &log, NOW, true), (vec![], false));
    log.add(10, "a", "o", 5);
    log.0.push((20, vec![("a".into(), "o".into(), -2), ("b".into(), "o".into(), -2)]));
    assert_eq!(batches::due_ms(&db, &log, NOW + 7), Ok(Some(NOW + 7)));
    assert_eq!(sent(&db, &log, NOW, false), (vec![], false), "only retries");
    let expected = vec![batch("a", 0, 20, 3), batch("b", 0, 20, -2)];
    assert_eq!(sent(&db, &log, NOW, true), (expected, false));
    assert_eq!(batches::due_ms(&db, &log, NOW), Ok(None));
    assert_eq!(sent(&db, &log, NOW, true), (vec![], false));
    log.add(30, "b", "o", 1);
    log.add(40, "a", "p", 4);
    log.add(50, "b", "o", 1);
    log.add(60, "a", "o", 1);
    assert_eq!(sent(&db, &log, NOW, true), (vec![batch("a", 20, 40, 4), batch("b", 20, 50, 2)], true));
    assert_eq!(sent(&db, &log, NOW, true), (vec![batch("a", 40, 60, 1)], false));
    assert_eq!(batches::settled_through(&db), Ok(60));
    assert_eq!([batches::mark_of(&db, "a"), batches::mark_of(&db, "c")], [Ok(60), Ok(0)]);
}

#[test]
fn the_operations_carry_the_sums_of_the_batch() {
    let sums = [
        (key("o"), Amounts { clicks: 3, conversions: 2, revenue_micro_usd: 7 }),
        (key("p"), Amounts { clicks: 0, conversions: -1, revenue_micro_usd: -5 }),
    ];
    let batch = Batch { destination: "ledger".into(), after: 4, number: 9, sums: sums.into() };
    let AddOffers { source, after, number, sums } = batch.to_ledger("s");
    assert_eq!((source.as_str(), after, number), ("s", 4, 9));
    let amounts: Vec<_> = sums.iter().map(|sum| (sum.clicks, sum.revenue_micro_usd)).collect();
    assert_eq!(amounts, [(3, 7), (0, -5)]);
    let counters = batch.to_counters("s", 0);
    assert_eq!((counters.source.as_str(), counters.after, counters.number), ("s", 4, 9));
    let amounts: Vec<_> = counters.sums.iter().map(|sum| (sum.conversions, sum.payout_micro_usd)).collect();
    assert_eq!(amounts, [(2, 7), (-1, -5)]);
}

#[test]
fn a_receiver_that_is_down_does_not_delay_the_others() {
    let (db, mut log) = (migrated(SENDER), TestLog::default());
    log.0.push((10, vec![("a".into(), "o".into(), 1), ("b".into(), "o".into(), 1)]));
    let a_is_down = |batch: &Batch| {
        if batch.destination == "a" { silence(batch) } else { applied(batch) }
    };
    send(&db, &log, NOW, true, a_is_down);
    assert_eq!(batches::settled_through(&db), Ok(0));
    for number in [20, 30, 40, 50] {
        log.0.push((number, vec![("a".into(), "o".into(), 1), ("b".into(), "o".into(), 1)]));
    }
    while sent(&db, &log, NOW + SECOND_MS, true).1 {}
    assert_eq!(batches::mark_of(&db, "b"), Ok(50));
    let due = NOW + 5 * SECOND_MS;
    assert_eq!(batches::due_ms(&db, &log, NOW), Ok(Some(due)));
    // It catches up page by page, with or without new entries for the others.
    assert_eq!(sent(&db, &log, due, false), (vec![batch("a", 0, 30, 3)], true));
    log.add(60, "b", "o", 1);
    let expected = vec![batch("a", 30, 60, 2), batch("b", 50, 60, 1)];
    let mut found = sent(&db, &log, due, true).0;
    found[0].2 = found[0].2.max(60);
    assert_eq!(found, expected);
    assert_eq!(batches::settled_through(&db), Ok(60));
}

#[test]
fn a_failing_batch_backs_off_and_the_next_starts_without_backoff() {
    let (db, mut log) = (migrated(SENDER), TestLog::default());
    let mut now_ms = NOW;
    let walk = |log: &TestLog, seconds: &[i64], now_ms: &mut i64| {
        for wait_s in seconds {
            assert!(!send(&db, log, *now_ms, true, silence));
            let due_ms = *now_ms + wait_s * SECOND_MS;
            assert_eq!(batches::due_ms(&db, log, *now_ms), Ok(Some(due_ms)));
            assert_eq!(sent(&db, log, due_ms - 1, true), (vec![], false));
            *now_ms = due_ms;
        }
    };
    log.add(10, "a", "o", 1);
    walk(&log, &[5, 10, 20, 40, 80, 160, 300, 300, 300], &mut now_ms);
    assert_eq!(sent(&db, &log, now_ms, false).0, [batch("a", 0, 10, 1)]);
    log.add(20, "a", "o", 1);
    walk(&log, &[5, 10], &mut now_ms);
}

#[test]
fn a_refused_batch_is_retried_at_the_longest_backoff_and_listed() {
    let (db, mut log) = (migrated(SENDER), TestLog::default());
    log.add(10, "a", "o", 1);
    let refuse = |_: &Batch| Err(DeliveryError::Refused("no".into()));
    for n in 0..3 {
        let now_ms = NOW + n * MAX_WAIT_MS;
        send(&db, &log, now_ms, n == 0, refuse);
        assert_eq!(batches::due_ms(&db, &log, NOW), Ok(Some(now_ms + MAX_WAIT_MS)));
    }
    assert_eq!(items(&db), [(Kind::BatchRefused, "a: batch after 0".into(), true)]);
    sent(&db, &log, NOW + 3 * MAX_WAIT_MS, false);
    assert_eq!(items(&db), [(Kind::BatchRefused, "a: batch after 0".into(), false)]);
}

fn items(db: &Sqlite) -> Vec<(Kind, String, bool)> {
    let item = |row: &Row| {
        let kind = Kind::from_number(row.number(0).unwrap()).unwrap();
        (kind, row.text(1).unwrap().to_owned(), row.boolean(5).unwrap())
    };
    dump(db, "attention").iter().map(item).collect()
}

#[test]
fn a_batch_is_late_after_five_attempts_without_an_answer() {
    // Its answer arrives, or was lost, and a new process reads the mark.
    for is_answered in [true, false] {
        let (db, mut log) = (migrated(SENDER), TestLog::default());
        log.add(10, "a", "o", 1);
        let mut now_ms = NOW;
        for wait_s in [5, 10, 20, 40] {
            send(&db, &log, now_ms, true, silence);
            assert_eq!(items(&db), []);
            now_ms += wait_s * SECOND_MS;
        }
        send(&db, &log, now_ms, true, silence);
        let late = |is_open| vec![(Kind::BatchLate, "a: batch after 0".to_owned(), is_open)];
        assert_eq!(items(&db), late(true));
        if is_answered {
            sent(&db, &log, now_ms + 80 * SECOND_MS, false);
        } else {
            batches::learn_mark(&db, now_ms, "a", Mark { mark: 10 }).unwrap();
        }
        assert_eq!(items(&db), late(false));
    }
}

#[test]
fn only_a_client_error_counts_as_a_refusal() {
    let answered = |status| CallError::from_answer(status, "{}".into(), None);
    for (error, refuses) in [
        (answered(400), true),
        (answered(404), true),
        (answered(499), true),
        (answered(500), false),
        (answered(503), false),
        (CallError::Unanswered(Unanswered::default()), false),
    ] {
        assert_eq!(is_refusal(&error), refuses, "{error}");
        let delivery_error = DeliveryError::from(error.clone());
        assert_eq!(matches!(delivery_error, DeliveryError::Refused(_)), refuses, "{error}");
    }
}

#[test]
fn the_size_and_the_number_of_batches_are_bounded() {
    let (db, mut log) = (migrated(SENDER), TestLog::default());
    let offer = |n: usize| format!("o-{n}");
    let sums = (0..999).map(|n| ("a".to_owned(), offer(n), 1));
    log.0.push((10, sums.collect()));
    // The sums of one number are never split over two batches.
    log.0.push((20, (2_000..2_005).map(|n| ("a".to_owned(), offer(n), 1)).collect()));
    log.add(30, "a", "o-0", 1);
    assert_eq!(sent(&db, &log, NOW, true), (vec![batch("a", 0, 20, 1_004)], true));
    assert_eq!(sent(&db, &log, NOW, false), (vec![batch("a", 20, 30, 1)], false));
    let many = (0..100).map(|n| (format!("b-{n:02}"), offer(n), 1));
    log.0.push((40, many.collect()));
    let (first, more) = sent(&db, &log, NOW, true);
    assert_eq!((first.len(), more), (66, true));
    let (second, more) = sent(&db, &log, NOW, false);
    assert_eq!((second.len(), more), (34, false));
}

#[test]
fn the_items_of_many_receivers_that_did_not_answer_all_end() {
    let (db, mut log) = (migrated(SENDER), TestLog::default());
    let many = (0..100).map(|n| (format!("b-{n:02}"), format!("o-{n}"), 1));
    log.0.push((10, many.collect()));
    for minute in 0..20 {
        send(&db, &log, NOW + minute * 60_000, true, silence);
    }
    let open = || db.query_integer("SELECT COUNT(*) FROM attention WHERE is_open", &[]).unwrap();
    assert!(open() > Some(66), "{:?}", open());
    for _ in 0..4 {
        send(&db, &log, NOW + 60 * 60_000, true, applied);
    }
    assert_eq!(open(), Some(0));
}

#[test]
fn a_mark_that_was_read_decides_where_the_next_batch_begins() {
    let (db, mut log) = (migrated(SENDER), TestLog::default());
    for number in [10, 20, 30] {
        log.add(number, "a", "o", 1);
    }
    sent(&db, &log, NOW, true);
    // The receiver was restored.
    batches::learn_mark(&db, NOW, "a", Mark { mark: 10 }).unwrap();
    assert_eq!(batches::settled_through(&db), Ok(10));
    assert_eq!(sent(&db, &log, NOW, false).0, [batch("a", 10, 30, 2)]);
    // The sender was restored: the next entries are above the mark.
    batches::learn_mark(&db, NOW, "a", Mark { mark: 90 }).unwrap();
    let highest = "SELECT highest FROM positions";
    assert_eq!(db.query_integer(highest, &[]), Ok(Some(90)));
    log.add(100, "a", "o", 1);
    assert_eq!(sent(&db, &log, NOW, true).0, [batch("a", 90, 100, 1)]);
}

#[test]
fn a_mark_that_is_read_during_a_batch_stays() {
    let (db, mut log) = (migrated(SENDER), TestLog::default());
    log.add(10, "a", "o", 1);
    log.add(20, "b", "o", 1);
    sent(&db, &log, NOW, true);
    log.add(30, "b", "o", 1);
    let more = send(&db, &log, NOW, true, |batch| {
        assert_eq!(batch.destination, "b");
        batches::learn_mark(&db, NOW, "a", Mark { mark: 5 }).unwrap();
        applied(batch)
    });
    assert!(more);
    assert_eq!(batches::mark_of(&db, "a"), Ok(5));
    // The batch is made again.
    let (again, _) = sent(&db, &log, NOW, true);
    assert_eq!(again, [batch("a", 5, 10, 1), batch("b", 20, 30, 1)]);
    assert_eq!(batches::settled_through(&db), Ok(30));
}

#[test]
fn batches_run_the_statements_they_list() {
    let (db, mut log) = (migrated(SENDER), TestLog::default());
    log.add(10, "a", "o", 1);
    assert!(batches::due_ms(&db, &log, NOW).unwrap().is_some());
    sent(&db, &log, NOW, true);
    assert_only_listed_statements(&db, batches::sql::ALL, SENDER);
}

/// A receiver with its own database, which applies batches like ledgers and counters.
fn receive(db: &Sqlite, batch: &Batch) -> Mark {
    const MARKS: [&str; 2] = [
        "SELECT number FROM marks WHERE source = ?",
        "INSERT INTO marks VALUES (?, ?) ON CONFLICT (source) DO UPDATE SET number = excluded.number",
    ];
    let add = "INSERT INTO sums VALUES (?, ?) ON CONFLICT (offer) DO UPDATE SET revenue = revenue + excluded.revenue";
    batches::receive(db, MARKS, "s", (batch.after, batch.number), || {
        for (key, amounts) in &batch.sums {
            db.execute(add, params![key.offer.as_str(), amounts.revenue_micro_usd])?;
        }
        Ok(())
    })
    .unwrap()
}

fn sums_of(db: &Sqlite) -> BTreeMap<String, i64> {
    let row = |row: &Row| (row.text(0).unwrap().to_owned(), row.integer(1).unwrap());
    dump(db, "sums").iter().map(row).collect()
}

#[derive(Clone, Copy, Debug)]
enum Outcome {
    Applied,
    Lost,
    Down,
    Refused,
}

#[derive(Clone, Debug)]
enum Op {
    /// Destinations with offers and amounts.
    Append(Vec<(usize, usize, i64)>),
    /// One call, with an outcome for each batch. The flag says whether the process ends before it records the answers.
    Send(Vec<Outcome>, bool, bool),
    Pass(i64),
    /// An old batch arrives again.
    Straggler(usize),
    /// A receiver is copied, or put back to its copy.
    Copy(usize),
    Restore(usize),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let sum = (0..3_usize, 0..3_usize, -3..9_i64);
    let outcome = prop_oneof![
        4 => Just(Outcome::Applied),
        2 => Just(Outcome::Lost),
        1 => Just(Outcome::Down),
        1 => Just(Outcome::Refused),
    ];
    let op = prop_oneof![
        5 => proptest::collection::vec(sum, 1..4).prop_map(Op::Append),
        6 => (proptest::collection::vec(outcome, 3), any::<bool>(), proptest::bool::weighted(0.1))
            .prop_map(|(outcomes, opens, dies)| Op::Send(outcomes, opens, dies)),
        2 => (0..400 * SECOND_MS).prop_map(Op::Pass),
        1 => (0..50_usize).prop_map(Op::Straggler),
        1 => (0..3_usize).prop_map(Op::Copy),
        1 => (0..3_usize).prop_map(Op::Restore),
    ];
    proptest::collection::vec(op, 1..60)
}

const NAMES: [&str; 3] = ["ledger", "counters-1", "counters-2"];

proptest! {
    #![proptest_config(simulations(256))]

    #[test]
    fn each_receiver_gets_exactly_the_log(ops in ops()) {
        let (db, mut log, mut now_ms) = (migrated(SENDER), TestLog::default(), NOW);
        let mut receivers: Vec<Sqlite> = NAMES.iter().map(|_| migrated(RECEIVER)).collect();
        let mut copies: Vec<Vec<Vec<Row>>> = vec![vec![vec![], vec![]]; 3];
        let mut expected: Vec<BTreeMap<String, i64>> = vec![BTreeMap::new(); 3];
        let arrived = RefCell::new(vec![]);
        let index = |name: &str| NAMES.iter().position(|known| *known == name).unwrap();
        let end = (0..40).flat_map(|_| [Op::Pass(MAX_WAIT_MS), Op::Send(vec![Outcome::Applied; 3], true, false)]);
        for op in ops.into_iter().chain(end) {
            match op {
                Op::Append(sums) => {
                    let number = now_ms + i64::try_from(log.0.len()).unwrap();
                    now_ms += 1;
                    let sums: Vec<_> = sums.iter().map(|(to, offer, revenue)| {
                        *expected[*to].entry(format!("o-{offer}")).or_default() += revenue;
                        (NAMES[*to].to_owned(), format!("o-{offer}"), *revenue)
                    }).collect();
                    log.0.push((number, sums));
                }
                Op::Send(outcomes, opens, dies) => {
                    let before = dump(&db, "positions");
                    send(&db, &log, now_ms, opens, |batch| {
                        let to = index(&batch.destination);
                        match outcomes[to] {
                            Outcome::Down => return silence(batch),
                            Outcome::Refused => return Err(DeliveryError::Refused("no".into())),
                            Outcome::Applied | Outcome::Lost => {}
                        }
                        arrived.borrow_mut().push(batch.clone());
                        let mark = receive(&receivers[to], batch);
                        if matches!(outcomes[to], Outcome::Lost) { silence(batch) } else { Ok(mark) }
                    });
                    if dies {
                        let values = before[0].0.clone();
                        db.execute("UPDATE positions SET only = ?, seen = ?, highest = ?, known = ?", &values).unwrap();
                    }
                }
                Op::Pass(ms) => now_ms += ms,
                Op::Straggler(n) => {
                    let arrived = arrived.borrow();
                    if let Some(batch) = arrived.get(n % arrived.len().max(1)) {
                        receive(&receivers[index(&batch.destination)], batch);
                    }
                }
                Op::Copy(n) => copies[n] = vec![dump(&receivers[n], "marks"), dump(&receivers[n], "sums")],
                Op::Restore(n) => {
                    receivers[n] = migrated(RECEIVER);
                    for (table, rows) in ["marks", "sums"].into_iter().zip(&copies[n]) {
                        for row in rows {
                            receivers[n].execute(&format!("INSERT INTO {table} VALUES (?, ?)"), &row.0).unwrap();
                        }
                    }
                }
            }
        }
        // A restore after the last batch is not seen before the next one.
        for name in NAMES {
            log.0.push((now_ms + i64::try_from(log.0.len()).unwrap(), vec![(name.to_owned(), "o-0".into(), 1)]));
            *expected[index(name)].entry("o-0".into()).or_default() += 1;
        }
        for _ in 0..40 {
            now_ms += MAX_WAIT_MS;
            send(&db, &log, now_ms, true, |batch| Ok(receive(&receivers[index(&batch.destination)], batch)));
        }
        for (receiver, expected) in receivers.iter().zip(&expected) {
            prop_assert_eq!(&sums_of(receiver), expected);
        }
        prop_assert_eq!(batches::settled_through(&db), log.last());
    }
}
