//! The journal that an outbox keeps for another. `outbox_simulation::restored` puts outboxes back.

use std::{cell::Cell, collections::BTreeMap, time::Duration};

use super::*;
use contract::{
    operation::{CallError, ObjectAddress, Operation, Unanswered},
    outbox::{Command, ReadJournal},
};
use domain::conversions::log_number::first_number;
use origin::objects::outbox::{
    conversions::steps,
    erasure, gap,
    sums::journal::{self as journals, add, read, refill, sweep, witness},
};
use platform::traits::ObjectCall;

/// A runtime that reaches the witness.
pub struct Witness {
    pub db: Sqlite,
    pub now_ms: i64,
    /// How often it still answers.
    pub answers: Cell<usize>,
}

impl Witness {
    pub fn new() -> Self {
        Self { db: outbox(), now_ms: NOW, answers: Cell::new(usize::MAX) }
    }
}

impl Clock for Witness {
    fn now_ms(&self) -> i64 {
        self.now_ms
    }
}

impl ObjectCall for Witness {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        if to.name == contract::attention::OBJECT_NAME {
            return Err(Unanswered::default().into());
        }
        assert_eq!(to.name, witness(shard(), 8).object_name());
        let left = self.answers.get().checked_sub(1);
        self.answers.set(left.ok_or(CallError::Unanswered(Unanswered::default()))?);
        let command: Command = serde_json::from_value(serde_json::to_value(operation.into()).unwrap()).unwrap();
        let answer = match command {
            Command::AddJournal(batch) => serde_json::to_value(add(&self.db, &batch).unwrap()),
            Command::ReadJournal(question) => serde_json::to_value(read(&self.db, &question).unwrap()),
            other => panic!("{other:?}"),
        };
        Ok(serde_json::from_value(answer.unwrap()).unwrap())
    }
}

/// Sends the log's entries after a number.
pub fn journal(db: &Sqlite, witness: &Witness, after: i64) -> i64 {
    journal_to(db, witness, after, MAX_INTEGER)
}

fn journal_to(db: &Sqlite, witness: &Witness, after: i64, number: i64) -> i64 {
    let batch = Batch { destination: "witness".into(), after, number, sums: BTreeMap::new() };
    now(journals::send(db, witness, (shard(), 8), &batch, &Cell::new(false))).unwrap().mark
}

/// Runs every statement of the journal. Those that put an outbox back run on an outbox that has lost everything.
pub fn run_every_statement(db: &Sqlite, now_ms: i64) {
    let witness = Witness { now_ms, ..Witness::new() };
    journal(db, &witness, 0);
    for table in LOSE {
        db.execute(table, &[]).unwrap();
    }
    now(refill(db, &witness, shard(), Some(8))).unwrap();
    let mark = first_number(now_ms) + 1;
    batches::learn_mark(db, now_ms, "ledger", Mark { mark }).unwrap();
    now(gap::note(db, &witness, shard())).unwrap();
    let batch = contract::outbox::AddJournal {
        source: "another".into(),
        after: 0,
        batch: read(&witness.db, &ReadJournal { source: shard().object_name(), after: 0 }).unwrap().next.unwrap(),
    };
    add(db, &batch).unwrap();
    read(db, &ReadJournal { source: "another".into(), after: 0 }).unwrap();
}

pub const LOSE: [&str; 2] = ["DELETE FROM entries", "DELETE FROM conversions"];

/// The journal's data about users: each user's name and `c1`, once.
fn users(witness: &Witness) -> Vec<String> {
    let sql = "SELECT value ->> '$.user_id' FROM journal, json_each(users) WHERE value IS NOT NULL";
    let rows = witness.db.query(sql, &[]).unwrap();
    rows.iter().map(|row| row.text(0).unwrap().to_owned()).collect()
}

#[test]
fn the_journal_names_a_user_for_three_days_or_until_the_user_is_erased() {
    let (db, world, witness) = (outbox(), World::new(), Witness::new());
    for n in 1..=3 {
        convert(&db, &world, &conversion(n)).unwrap();
    }
    journal(&db, &witness, 0);
    assert_eq!(users(&witness), ["user-1", "user-2", "user-3"]);
    erasure::erase_journal(&witness.db, "user-2").unwrap();
    assert_eq!(users(&witness), ["user-1", "user-3"]);
    let texts = format!("{:?}", dump(&witness.db, "journal"));
    assert!(!texts.contains("user-2") && texts.contains("user-3"), "{texts}");
    sweep(&witness.db, NOW + 3 * DAY_MS - SECOND_MS, 0).unwrap();
    assert_eq!(users(&witness).len(), 2);
    sweep(&witness.db, NOW + 3 * DAY_MS + SECOND_MS, 0).unwrap();
    let texts = format!("{:?}", dump(&witness.db, "journal"));
    assert!(!texts.contains("user-") && !texts.contains("gaid"), "{texts}");

    // After a restore an erased user is still erased.
    for table in LOSE {
        db.execute(table, &[]).unwrap();
    }
    now(refill(&db, &witness, shard(), Some(8))).unwrap();
    assert_eq!(send(&db, &world, &conversion(2)), Ok(("approved", true)));
    assert!(!format!("{:?}", dump(&db, "entries")).contains("user-"));
}

/// The witness is put back to a time before a user was erased. The erasure's batch comes from the outbox again.
#[test]
fn a_restored_journal_forgets_a_user_with_the_batch_that_erases_the_user() {
    let (db, world, witness) = (outbox(), World::paying_each_click(), Witness::new());
    for n in 1..=3 {
        let postback = conversion(n).user(if n == 2 { "kept" } else { "gone" });
        convert(&db, &world, &postback).unwrap();
        send_all(&db, world.now_ms.get(), 200);
    }
    let mark = journal(&db, &witness, 0);
    erasure::erase(&db, NOW + 1, shard(), "gone").unwrap();
    assert_eq!(users(&witness), ["gone", "kept", "gone"]);
    journal(&db, &witness, mark);
    assert_eq!(users(&witness), ["kept"]);
    let texts = format!("{:?}", dump(&witness.db, "journal"));
    assert!(!texts.contains("gone") && texts.contains("kept"), "{texts}");
}

#[test]
fn a_batch_begins_at_the_end_of_the_last_and_the_last_stays() {
    let (db, world, witness) = (outbox(), World::new(), Witness::new());
    let mut marks = vec![0];
    for n in 1..=3 {
        convert(&db, &world, &conversion(n)).unwrap();
        let last = *marks.last().unwrap();
        marks.push(journal(&db, &witness, last));
        // A repeated batch is not accepted, nor is one that leaves entries out.
        for after in [last, last + 1] {
            assert_eq!(journal(&db, &witness, after), marks[usize::from(n)]);
        }
    }
    assert_eq!(dump(&witness.db, "journal").len(), 3);
    sweep(&witness.db, NOW + 31 * DAY_MS - SECOND_MS, 0).unwrap();
    assert_eq!(dump(&witness.db, "journal").len(), 3);
    sweep(&witness.db, NOW + 32 * DAY_MS, 0).unwrap();
    assert_eq!(dump(&witness.db, "journal").len(), 1);
    assert_eq!(journal(&db, &witness, 0), marks[3]);
}

/// A row has 2 MB at most, and a character up to 3 bytes.
#[test]
fn a_batch_has_room_for_the_longest_entries() {
    let (db, world, witness) = (outbox(), World::new(), Witness::new());
    let long = || Some("\u{7f}".repeat(255).into());
    let first = conversion(1);
    let longest = Conversion {
        click: Click {
            user_id: "\u{7f}".repeat(255).into(),
            custom: [long(), long(), long(), long(), long()],
            placement: long(),
            ..first.click.clone()
        },
        reason: Some("\u{7f}".repeat(255)),
        txn: Some("\u{7f}".repeat(255)),
        ..first
    };
    convert(&db, &world, &longest).unwrap();
    let copies = "WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 600)
        INSERT INTO entries SELECT entry + value * 64, transaction_id || value, nonce, goal, after, at_ms, payout_micro_usd,
          movement + value * 64, 1, NULL, attempts_made, erase, superseded, uncapped, notice, reason, offer_terms, app_terms,
          placement, user_id, txn, first_at_ms, first_ms, first_status, first_body, first_error, fields FROM entries, n";
    db.execute(copies, &[]).unwrap();
    let last = db.query_integer("SELECT MAX(entry) FROM entries", &[]).unwrap().unwrap();
    let mut mark = 0;
    while mark < last {
        mark = journal(&db, &witness, mark);
    }
    assert_eq!(dump(&witness.db, "journal").len(), 601_usize.div_ceil(200));
    let sizes = "SELECT MAX(LENGTH(entries) + LENGTH(users)) FROM journal";
    let bytes = witness.db.query_integer(sizes, &[]).unwrap().unwrap();
    assert!(bytes < 1_000_000, "{bytes}");
}

/// The ledger has a payment that neither the log nor the journal has.
#[test]
fn clicks_of_a_gap_are_held_for_72_hours_and_judged_again() {
    let (db, world, witness) = (outbox(), World::paying_each_click(), Witness::new());
    convert(&db, &world, &conversion(1)).unwrap();
    journal(&db, &witness, 0);
    world.pass(SECOND_MS);
    convert(&db, &world, &conversion(2)).unwrap();
    // This one waits for its cap when the outbox is put back.
    world.cap(Some(5));
    world.counters_answer.set(false);
    convert(&db, &world, &conversion(4)).unwrap_err();
    world.counters_answer.set(true);
    let lost = "SELECT MAX(movement) FROM entries";
    let mark = db.query_integer(lost, &[]).unwrap().unwrap();
    for table in LOSE {
        db.execute(table, &[]).unwrap();
    }
    world.state_cache.clear();
    batches::learn_mark(&db, world.now_ms.get(), "ledger", Mark { mark }).unwrap();
    now(refill(&db, &witness, shard(), Some(8))).unwrap();
    for _ in 0..2 {
        now(gap::note(&db, &witness, shard())).unwrap();
    }
    assert_eq!(send(&db, &world, &conversion(1)), Ok(("approved", true)));
    assert_eq!(send(&db, &world, &conversion(2)), Ok(("pending", false)));
    assert_eq!(entry(&db, &reward_id(2))["code"], "after_restore");
    world.pass(SECOND_MS);
    let mut later = conversion(3);
    later.click.clicked_at_ms = world.now_ms();
    assert_eq!(send(&db, &world, &later), Ok(("approved", false)));

    let release = || {
        let convert = async |conversion: &Conversion| send_postback(&db, &world, conversion).await;
        now(steps::release_step(&db, &world, convert)).unwrap()
    };
    world.pass(3 * DAY_MS - 3 * SECOND_MS);
    assert!(!release());
    assert_eq!(send(&db, &world, &conversion(2)), Ok(("pending", true)));
    now(commit::resume_overdue(&db, &world)).unwrap();
    assert_eq!(entry(&db, &reward_id(4))["code"], "after_restore");
    world.pass(3 * SECOND_MS);
    assert!(!release());
    assert_eq!(send(&db, &world, &conversion(2)), Ok(("approved", true)));
}

/// A batch has an entry as it was when the batch was made, also if it was paid long after the batch's end.
#[test]
fn a_refill_that_is_cut_off_goes_on_where_it_was() {
    let (db, world, witness) = (outbox(), World::new(), Witness::new());
    convert(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    for n in [2, 3] {
        world.pass(SECOND_MS);
        convert(&db, &world, &conversion(n)).unwrap();
    }
    world.pass(SECOND_MS);
    convert(&db, &world, &conversion(1)).unwrap();
    let before = dump(&db, "conversions");
    let numbers = db.query("SELECT entry FROM entries ORDER BY entry", &[]).unwrap();
    let mut mark = 0;
    for number in numbers {
        mark = journal_to(&db, &witness, mark, number.integer(0).unwrap());
    }
    journal(&db, &witness, mark);
    for table in LOSE {
        db.execute(table, &[]).unwrap();
    }
    for answers in [1, 1, 2] {
        witness.answers.set(answers);
        let _ = now(refill(&db, &witness, shard(), Some(8)));
    }
    witness.answers.set(usize::MAX);
    now(refill(&db, &witness, shard(), Some(8))).unwrap();
    assert_eq!(dump(&db, "conversions"), before);
    assert_eq!(dump(&db, "entries").len(), 3);
}
