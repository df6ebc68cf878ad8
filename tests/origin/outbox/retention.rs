//! Retention of attempts and of the rows of conversions.

use super::*;
use domain::model::time::{HOUR_MS, UtcDay};
use origin::objects::outbox::{
    callbacks::replay::replay,
    retention::{due_ms, sweep},
};

/// Sweeps a whole night.
pub fn night(db: &Sqlite, now_ms: i64) {
    for step in 0.. {
        assert!(step < 100, "the sweep does not end");
        match sweep(db, now_ms).unwrap() {
            Some(next) if next == now_ms + SECOND_MS => {}
            next => return assert_eq!(next, due_ms(db, now_ms).unwrap()),
        }
    }
}

#[test]
fn attempts_are_kept_ninety_days() {
    let (db, world) = delivered();
    let later = NOW + DAY_MS + HOUR_MS;
    world.now_ms.set(later);
    replay(&db, later, &reward_id(1), CLAIM_MS).unwrap();
    send_all(&db, later, 200);
    let attempts = || tries(&db);
    night(&db, NOW + 90 * DAY_MS);
    assert_eq!(attempts(), 4);
    // First attempts expire with the age of their entries, plus a day, because they may come that much later.
    night(&db, NOW + 91 * DAY_MS + SECOND_MS);
    assert_eq!(attempts(), 1);
    let kept = entry(&db, &reward_id(1))["attempts"][0]["at"].clone();
    assert_eq!(kept, later / SECOND_MS);
    night(&db, NOW + 92 * DAY_MS);
    assert_eq!(attempts(), 0);
    assert_eq!(entry(&db, &reward_id(1))["state"], "delivered");
}

#[test]
fn a_sweep_runs_each_night_while_rows_exist() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(due_ms(&db, NOW), Ok(None));
    assert_eq!(sweep(&db, NOW), Ok(None));
    convert(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    let next = UtcDay::of_ms(NOW).minus(-1).start_ms() + HOUR_MS;
    assert_eq!(due_ms(&db, NOW), Ok(Some(next)));
    assert_eq!(sweep(&db, next), Ok(Some(next + DAY_MS)));
    assert_eq!(sweep(&db, next + HOUR_MS), Ok(Some(next + DAY_MS)));
}

fn rows(db: &Sqlite, table: &str) -> i64 {
    let sql = format!("SELECT COUNT(*) FROM {table}");
    db.query_first(&sql, &[]).unwrap().unwrap().integer(0).unwrap()
}

/// The bytes of the pages that hold rows.
fn bytes(db: &Sqlite) -> i64 {
    let row = db.query_first("SELECT SUM(pgsize) FROM dbstat", &[]).unwrap();
    row.unwrap().integer(0).unwrap()
}

/// Sends the sums of conversions to nowhere, as if they were confirmed.
fn confirm_sums(db: &Sqlite) {
    send_batches(db, NOW);
}

/// A year of an outbox: its answers, the rows that are left, and their size. The answers are to copies of the postbacks
/// of day 0, whose clicks are a day older.
#[test]
fn a_conversion_is_walked_from_its_first_day_to_its_last() {
    let (db, world) = (outbox(), World::new());
    let empty = bytes(&db);
    let many: u16 = 3_000;
    let approved = |n: u16| Conversion {
        nonce: Bytes([&n.to_be_bytes()[..], &[7; 10]].concat()),
        ..conversion(1).user(&format!("player-{n}"))
    };
    for n in 0..many {
        convert(&db, &world, &approved(n).txn(&format!("t-{n}"))).unwrap();
        send_all(&db, NOW, 200);
    }
    let pending = conversion(2).status(Status::Pending);
    convert(&db, &world, &pending).unwrap();
    let late_reversal = conversion(3);
    convert(&db, &world, &late_reversal).unwrap();
    send_all(&db, NOW, 200);
    let waits = conversion(4);
    convert(&db, &world, &waits).unwrap();
    confirm_sums(&db);
    // docs/OPERATING.md says 750 bytes a conversion, and 200 for the receiver's answer in the first 90 days.
    let weight = || (bytes(&db) - empty) / i64::from(many);
    let weighs = |day: i64, range: std::ops::Range<i64>| {
        assert!(range.contains(&weight()), "day {day}: {} bytes", weight());
    };

    let at = |day: i64| world.now_ms.set(NOW + day * DAY_MS);
    let state = |n: u8| {
        let shown = entry(&db, &reward_id(n));
        shown["status"].as_str().unwrap().to_owned()
    };
    let closed = Err("conversion_window_closed");
    for day in [1, 90, 91, 300] {
        at(day);
        night(&db, world.now_ms.get());
        assert_eq!(send(&db, &world, &approved(0).txn("t-0")), Ok(("approved", true)), "day {day}");
        assert_eq!(
            send(&db, &world, &conversion(5).txn("t-0").status(Status::Rejected)),
            if day == 1 { Ok(("rejected", false)) } else { Ok(("rejected", true)) }
        );
        assert_eq!(rows(&db, "entries"), i64::from(many) + 4);
        assert_eq!(tries(&db) > 0, day <= 91, "day {day}");
        weighs(day, if day <= 91 { 600..950 } else { 500..760 });
    }
    // The day before no postback is taken any more, a reward is taken back.
    at(398);
    let reversed = late_reversal.clone().status(Status::Reversed);
    assert_eq!(send(&db, &world, &reversed), Ok(("reversed", false)));
    send_all(&db, NOW + 398 * DAY_MS, 200);
    confirm_sums(&db);
    replay(&db, world.now_ms.get(), &reward_id(4), CLAIM_MS).unwrap();
    at(400);
    night(&db, world.now_ms.get());
    for postback in [approved(0), pending.clone(), reversed.clone(), conversion(9)] {
        assert_eq!(send(&db, &world, &postback), closed);
    }
    assert_eq!(rows(&db, "entries"), i64::from(many) + 5);
    weighs(400, 500..760);
    assert_eq!((state(2).as_str(), state(3).as_str()), ("pending", "reversed"));
    // A night later pending conversions have ended, and all rows are still there.
    at(401);
    night(&db, world.now_ms.get());
    assert_eq!(state(2), "rejected");
    assert_eq!(rows(&db, "entries"), i64::from(many) + 5);
    weighs(401, 500..760);
    // Then the rows leave, except the waiting callback and the reward that was taken back late.
    at(402);
    night(&db, world.now_ms.get());
    let left: Vec<_> = entries(&db).iter().map(|entry| entry["transaction_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(left, [reversal_id(3), id_of(5, "g-1", Movement::Reward), reward_id(4), reward_id(3)]);
    assert_eq!((rows(&db, "conversions"), tries(&db), rows(&db, "txns")), (3, 2, 0));
    weighs(402, 0..30);
    // A callback that waited leaves the night after its delivery, and a reward with its reversal.
    at(500);
    send_all(&db, NOW + 500 * DAY_MS, 200);
    night(&db, world.now_ms.get());
    assert_eq!(rows(&db, "entries"), 2);
    weighs(500, 0..30);
    at(800);
    night(&db, world.now_ms.get());
    assert_eq!([rows(&db, "entries"), rows(&db, "conversions"), rows(&db, "attempts")], [0; 3]);
    assert_eq!(due_ms(&db, world.now_ms.get()), Ok(None));
}

#[test]
fn rows_stay_while_their_sums_wait() {
    let (db, _) = delivered();
    night(&db, NOW + 402 * DAY_MS);
    assert_eq!(rows(&db, "entries"), 3);
    confirm_sums(&db);
    night(&db, NOW + 403 * DAY_MS);
    assert_eq!(rows(&db, "entries"), 0);
}

/// An approval may arrive more than a year after the pending postback. The conversion stays while it waits for its cap,
/// and then as long after its payment as any other.
#[test]
fn a_pending_conversion_that_is_approved_late_leaves_401_days_after_its_payment() {
    let (db, world) = (outbox(), World::capped(1));
    convert(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    world.pass(398 * DAY_MS);
    world.counters_answer.set(false);
    assert_eq!(refusal(convert(&db, &world, &conversion(1))), common::UNAVAILABLE);
    world.pass(4 * DAY_MS);
    night(&db, world.now_ms.get());
    assert_eq!(entry(&db, &reward_id(1))["status"], "pending");
    world.counters_answer.set(true);
    now(commit::resume_overdue(&db, &world)).unwrap();
    assert_eq!(entry(&db, &reward_id(1))["status"], "approved");
    send_all(&db, world.now_ms.get(), 200);
    confirm_sums(&db);
    for (days, left) in [(400, 1), (2, 0)] {
        world.pass(days * DAY_MS);
        for _ in 0..2 {
            night(&db, world.now_ms.get());
            world.pass(DAY_MS);
        }
        assert_eq!([rows(&db, "entries"), rows(&db, "conversions")], [left; 2]);
    }
}

#[test]
fn terms_that_no_click_can_need_leave() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    world.change(|offer| offer.goals[0].payout_micro_usd = 5);
    world.catalog.borrow_mut().change_app(|app| app.currency.name = "Gems".into());
    convert(&db, &world, &conversion(2).under_current(&world)).unwrap();
    assert_eq!(rows(&db, "terms"), 4);
    night(&db, NOW + 431 * DAY_MS);
    assert_eq!(rows(&db, "terms"), 4);
    night(&db, NOW + 432 * DAY_MS);
    assert_eq!(rows(&db, "terms"), 2, "those in force stay");
}

/// However long they were in force: a click of their last day may be approved 400 days later, and reversed 30 days after.
#[test]
fn superseded_terms_stay_431_days_after_the_newer_ones_were_learned() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    world.pass(300 * DAY_MS);
    let mut late = conversion(2).status(Status::Pending);
    late.click.clicked_at_ms = world.now_ms.get();
    convert(&db, &world, &late).unwrap();
    world.pass(DAY_MS);
    world.change(|offer| offer.goals[0].payout_micro_usd = 5);
    let mut newer = conversion(3).under_current(&world);
    newer.click.clicked_at_ms = world.now_ms.get();
    convert(&db, &world, &newer).unwrap();
    let asked = world.catalog.borrow().questions.len();
    world.pass(102 * DAY_MS);
    night(&db, world.now_ms.get());
    assert_eq!(rows(&db, "terms"), 3);
    assert_eq!(send(&db, &world, &late.status(Status::Approved)), Ok(("approved", false)));
    assert_eq!(entry(&db, &reward_id(2))["payout"], 0.75);
    assert_eq!(world.catalog.borrow().questions.len(), asked);
    world.pass(328 * DAY_MS);
    night(&db, world.now_ms.get());
    assert_eq!(rows(&db, "terms"), 3);
    world.pass(2 * DAY_MS);
    night(&db, world.now_ms.get());
    assert_eq!(rows(&db, "terms"), 2, "those in force stay");
}

/// Adds copies of the first entry.
fn fill(db: &Sqlite, more: u32) {
    let sql = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
        INSERT INTO entries (entry, transaction_id, nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, offer_terms,
          app_terms, user_id, fields)
        SELECT entry + n, 'more-' || CAST(n AS INTEGER), nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, offer_terms,
          app_terms, user_id, fields
          FROM n, (SELECT * FROM entries LIMIT 1)";
    db.execute(sql, params![more]).unwrap();
}

#[test]
fn a_sweep_takes_many_rows_in_steps() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    send_all(&db, NOW, 200);
    fill(&db, 12_000);
    confirm_sums(&db);
    let later = NOW + 402 * DAY_MS;
    let mut left = vec![];
    loop {
        let next = sweep(&db, later).unwrap();
        left.push(rows(&db, "entries"));
        if next != Some(later + SECOND_MS) {
            break;
        }
    }
    assert_eq!(left, [7_001, 2_001, 0, 0]);
}

/// docs/PERFORMANCE.md, "Rows and what they cost": the first attempt, the conversion and the entry.
#[test]
fn the_nights_sweeps_write_three_rows_for_a_conversion() {
    let (db, world) = (outbox(), World::new());
    for n in 1..=100 {
        convert(&db, &world, &conversion(n)).unwrap();
    }
    send_all(&db, NOW, 200);
    confirm_sums(&db);
    let changes = || db.query_integer("SELECT total_changes()", &[]).unwrap().unwrap();
    let before = changes();
    for days in [92, 402] {
        let later = NOW + days * DAY_MS;
        while sweep(&db, later).unwrap() == Some(later + SECOND_MS) {}
    }
    assert_eq!((rows(&db, "entries"), rows(&db, "conversions")), (0, 0));
    let nights = changes() - before - 300;
    assert!((0..20).contains(&nights), "{nights} rows more");
}

#[test]
fn the_log_of_a_test_app_leaves_as_any_other_although_nobody_gets_its_batches() {
    let (db, world) = with_rewards(3);
    send_all(&db, world.now_ms.get(), 200);
    db.execute("UPDATE outbox SET app = 99000001", &[]).unwrap();
    let received = Cell::new(0);
    let state = endpoint::read(&db).unwrap();
    let log = OutboxLog::of(&db, state.as_ref());
    let count = async |batch: &Batch| {
        received.set(received.get() + 1);
        Ok(Mark { mark: batch.number })
    };
    while now(batches::send(&db, &At(NOW), "s", &log, true, count)).unwrap() {}
    assert_eq!((received.get(), rows(&db, "entries")), (0, 3));
    world.now_ms.set(NOW + 403 * DAY_MS);
    night(&db, world.now_ms.get());
    assert_eq!((rows(&db, "entries"), rows(&db, "conversions")), (0, 0));
}
