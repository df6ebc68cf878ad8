//! Conversions under a cap: each takes once, for the day on which it arrived, even if the take is interrupted.

use super::*;
use contract::counters::CapKind;
use domain::model::time::UtcDay;
use origin::{
    delivery::backoff::wait_ms,
    objects::outbox::conversions::{
        Admission, Claim, End, admit,
        reservations::{MAX_OF_OFFER, MAX_RESERVED},
        settle,
    },
};

const APPROVED: Result<(&str, bool), &str> = Ok(("approved", false));
const CAPPED: Result<(&str, bool), &str> = Err("conversion_capped");
const NET_MS: i64 = 15_000;

fn resume_overdue(db: &Sqlite, world: &World) -> Result<(), Failure> {
    now(commit::resume_overdue(db, world)).map(drop)
}

/// The only reservation: its due time and its number of attempts.
fn reservation(db: &Sqlite) -> (i64, i64) {
    let rows = db.query("SELECT due_ms, attempts FROM reservations", &[]).unwrap();
    assert_eq!(rows.len(), 1);
    (rows[0].integer(0).unwrap(), rows[0].integer(1).unwrap())
}

#[test]
fn each_capped_conversion_takes_once_with_all_parameters() {
    let (db, world) = (outbox(), World::capped(10));
    let postback = conversion(0xab).goal("purchase");
    assert_eq!(send(&db, &world, &postback), APPROVED);
    for status in Status::ALL {
        convert(&db, &world, &postback.clone().status(status)).unwrap();
    }
    let take = Take {
        kind: CapKind::Conversion,
        key: format!("{}/g-2", "ab".repeat(12)),
        offer: OfferId::parse(OFFER).unwrap(),
        day: UtcDay::of_ms(NOW),
        limit: 10,
        revision: 2,
        by_force: false,
        asker: None,
    };
    assert_eq!(*world.takes.borrow(), [take]);
    assert!(dump(&db, "reservations").is_empty());
}

#[test]
fn only_approved_conversions_take_from_the_cap() {
    let (db, world) = (outbox(), World::capped(10));
    for (n, status) in (1..).zip([Status::Pending, Status::Rejected, Status::Reversed]) {
        convert(&db, &world, &conversion(n).status(status)).unwrap();
    }
    assert!(world.takes.borrow().is_empty());
    world.cap(None);
    convert(&db, &world, &conversion(9)).unwrap();
    assert!(world.takes.borrow().is_empty());
}

#[test]
fn a_spent_cap_refuses_until_it_is_raised_or_the_day_ends() {
    let (db, world) = (outbox(), World::capped(2));
    let outcomes: Vec<_> = (1..=4).map(|n| send(&db, &world, &conversion(n))).collect();
    assert_eq!(outcomes, [APPROVED, APPROVED, CAPPED, CAPPED]);
    assert_eq!(refusal(convert(&db, &world, &conversion(4))).status, 409);
    assert_eq!(send(&db, &world, &conversion(1)), Ok(("approved", true)));
    // A reversal gives nothing back to the cap.
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    assert_eq!(send(&db, &world, &conversion(3)), CAPPED);
    world.cap(Some(3));
    assert_eq!(send(&db, &world, &conversion(3)), APPROVED);
    assert_eq!(send(&db, &world, &conversion(4)), CAPPED);
    world.pass(DAY_MS / 2 - 1);
    assert_eq!(send(&db, &world, &conversion(4)), CAPPED);
    world.pass(1);
    assert_eq!(send(&db, &world, &conversion(4)), APPROVED);
    assert_eq!(entries(&db).len(), 5);
}

#[test]
fn a_capped_conversion_is_logged_once_and_does_not_use_its_txn() {
    let (db, world) = (outbox(), World::capped(0));
    for _ in 0..3 {
        assert_eq!(send(&db, &world, &conversion(1).txn("t")), CAPPED);
    }
    assert_eq!(entries(&db).len(), 1);
    assert_eq!(entry(&db, &reward_id(1))["code"], "conversion_capped");
    assert!(dump(&world.keeper, "txns").is_empty());
    world.cap(None);
    assert_eq!(send(&db, &world, &conversion(2).txn("t")), APPROVED);
    assert_eq!(send(&db, &world, &conversion(1).txn("t")), Err("duplicate_txn"));
    assert_eq!(entry(&db, &reward_id(1))["code"], "duplicate_txn");
}

#[test]
fn a_txn_is_in_use_during_the_take() {
    let (db, world) = (outbox(), World::capped(5));
    world.counters_answer.set(false);
    assert_eq!(send(&db, &world, &conversion(1).txn("t")), Err("unavailable"));
    assert_eq!(send(&db, &world, &conversion(2).txn("t")), Err("duplicate_txn"));
}

#[test]
fn a_pending_conversion_that_finds_the_cap_spent_stays_pending() {
    let (db, world) = (outbox(), World::capped(0));
    convert(&db, &world, &conversion(1).txn("t").status(Status::Pending)).unwrap();
    let before = dump(&db, "entries");
    assert_eq!(send(&db, &world, &conversion(1).txn("t")), CAPPED);
    assert_eq!(send(&db, &world, &conversion(1).status(Status::Pending)), Ok(("pending", true)));
    assert_eq!(dump(&db, "entries"), before);
    assert_eq!(send(&db, &world, &conversion(2).txn("t")), Err("duplicate_txn"));
    world.cap(Some(1));
    // The window is over, but the conversion was checked when it arrived.
    world.pass(200 * DAY_MS);
    assert_eq!(send(&db, &world, &conversion(1).txn("t")), APPROVED);
}

#[test]
fn the_alarm_finishes_a_conversion_when_the_counters_did_not_answer() {
    let (db, world) = (outbox(), World::capped(1));
    world.counters_answer.set(false);
    let refused = refusal(convert(&db, &world, &conversion(1)));
    assert_eq!(refused, common::UNAVAILABLE);
    assert!(refused.retry_after_s.is_some() && world.commits.get() > 0);
    assert!(entries(&db).is_empty());
    assert_eq!(reservation(&db), (NOW + NET_MS, 0));
    assert_eq!(super::alarms::next_alarm(&db, NOW), Ok(Some(NOW + NET_MS)));
    // The reservation is not resumed before it is due.
    world.pass(NET_MS - 1);
    resume_overdue(&db, &world).unwrap();
    assert_eq!(world.takes.borrow().len(), 1);
    world.pass(1);
    for attempt in 0..4 {
        assert_eq!(refusal(resume_overdue(&db, &world)), common::UNAVAILABLE);
        let due_ms = world.now_ms.get() + wait_ms(attempt);
        assert_eq!(reservation(&db), (due_ms, i64::from(attempt) + 1));
        assert_eq!(super::alarms::next_alarm(&db, world.now_ms.get()), Ok(Some(due_ms)));
        world.now_ms.set(due_ms);
    }
    world.counters_answer.set(true);
    resume_overdue(&db, &world).unwrap();
    assert_eq!(entry(&db, &reward_id(1))["status"], "approved");
    assert!(dump(&db, "reservations").is_empty());
    assert_eq!(send(&db, &world, &conversion(1)), Ok(("approved", true)));
    let takes = world.takes.borrow();
    assert!(takes.iter().all(|take| *take == takes[0]));
}

#[test]
fn a_limited_number_of_conversions_waits_for_counters_that_do_not_answer() {
    let (db, world) = (outbox(), World::capped(2_000));
    world.counters_answer.set(false);
    convert(&db, &world, &conversion(1)).unwrap_err();
    let copies_of = "WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT ?1)
        INSERT INTO reservations
        SELECT randomblob(12), goal, due_ms, attempts, number, ?2, erase, user_id, rewarded, approval
          FROM (SELECT * FROM reservations LIMIT 1), n";
    let offer = conversion(1).click.offer.to_string();
    let copy = |copies: usize, offer: &str| db.execute(copies_of, params![copies, offer]).unwrap();
    copy(MAX_OF_OFFER - 2, &offer);
    for n in [2, 3] {
        assert_eq!(refusal(convert(&db, &world, &conversion(n))), common::UNAVAILABLE);
        assert_eq!(dump(&db, "reservations").len(), MAX_OF_OFFER, "those of one offer");
    }
    db.execute("UPDATE reservations SET offer = 'another'", &[]).unwrap();
    copy(MAX_RESERVED - MAX_OF_OFFER - 1, "a third");
    for n in [3, 4] {
        assert_eq!(refusal(convert(&db, &world, &conversion(n))), common::UNAVAILABLE);
        assert_eq!(dump(&db, "reservations").len(), MAX_RESERVED, "all");
    }
    // A copy of a waiting conversion needs no reservation of its own.
    world.counters_answer.set(true);
    assert_eq!(send(&db, &world, &conversion(2)), Ok(("approved", true)));
    assert_eq!(send(&db, &world, &conversion(4)), APPROVED);
}

#[test]
fn an_alarm_resumes_every_overdue_reservation_although_one_fails() {
    let (db, world) = (outbox(), World::capped(4));
    world.counters_answer.set(false);
    for n in 1..=8 {
        convert(&db, &world, &conversion(n)).unwrap_err();
    }
    world.pass(NET_MS);
    refusal(resume_overdue(&db, &world));
    assert_eq!(world.takes.borrow().len(), 8 + 8, "each was resumed, although the first failed");
    world.counters_answer.set(true);
    world.pass(wait_ms(0));
    resume_overdue(&db, &world).unwrap();
    resume_overdue(&db, &world).unwrap();
    assert!(dump(&db, "reservations").is_empty());
    let paid = entries(&db).iter().filter(|entry| entry["status"] == "approved").count();
    assert_eq!((paid, entries(&db).len()), (4, 8));
}

#[test]
fn a_later_copy_finishes_the_first_ones_reservation_on_its_day() {
    let (db, world) = (outbox(), World::capped(5));
    let midnight = NOW + DAY_MS / 2;
    world.now_ms.set(midnight - 1);
    world.counters_answer.set(false);
    convert(&db, &world, &conversion(1)).unwrap_err();
    world.now_ms.set(midnight + 1);
    world.counters_answer.set(true);
    // Neither the new limit nor the new status changes the started conversion.
    world.cap(Some(9));
    let reversed = convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    assert_eq!((reversed.status, reversed.duplicate), (Status::Reversed, false));
    assert_eq!(send(&db, &world, &conversion(2)), APPROVED);
    let takes = world.takes.borrow();
    assert_eq!(takes.len(), 3);
    assert_eq!(takes[0], takes[1]);
    assert_eq!((takes[0].day, takes[0].limit), (UtcDay::of_ms(NOW), 5));
    assert_eq!((takes[2].day, takes[2].limit), (UtcDay::of_ms(midnight), 9));
}

#[test]
fn a_copy_after_a_refused_conversion_is_decided_again() {
    let (db, world) = (outbox(), World::capped(0));
    world.counters_answer.set(false);
    convert(&db, &world, &conversion(1)).unwrap_err();
    world.counters_answer.set(true);
    world.cap(Some(1));
    assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
    assert_eq!(entries(&db).len(), 1);
}

#[test]
fn concurrent_copies_are_one_conversion() {
    let (db, world) = (outbox(), World::capped(1));
    let first = conversion(1);
    let second = conversion(1).goal("install").txn("t");
    let mut context = Context::from_waker(Waker::noop());
    world.hold_answers.set(true);
    let mut first = pin!(send_postback(&db, &world, &first));
    let mut second = pin!(send_postback(&db, &world, &second));
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    world.hold_answers.set(false);
    // The later copy is answered first and pays the earlier copy's reservation.
    let Poll::Ready(Ok(later)) = second.poll(&mut context) else {
        panic!("the postback is not answered");
    };
    let Poll::Ready(Ok(earlier)) = first.poll(&mut context) else {
        panic!("the postback is not answered");
    };
    assert_eq!((earlier.status, earlier.duplicate), (Status::Approved, false));
    assert_eq!((later.status, later.duplicate), (Status::Approved, true));
    assert_eq!(earlier.transaction_id, later.transaction_id);
    assert_eq!(entries(&db).len(), 1);
    let takes = world.takes.borrow();
    assert_eq!((takes.len(), &takes[0]), (2, &takes[1]));
}

#[test]
fn an_approval_is_refused_if_another_request_settled_it_as_refused() {
    for pending in [false, true] {
        let (db, world) = (outbox(), World::capped(0));
        if pending {
            convert(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
        }
        let copy = conversion(1);
        world.hold_answers.set(true);
        let mut context = Context::from_waker(Waker::noop());
        let mut waiting = pin!(send_postback(&db, &world, &copy));
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        world.hold_answers.set(false);
        world.pass(NET_MS);
        resume_overdue(&db, &world).unwrap();
        let Poll::Ready(outcome) = waiting.poll(&mut context) else {
            panic!("the postback is not answered");
        };
        assert_eq!(refusal(outcome).code, "conversion_capped", "pending: {pending}");
    }
}

#[test]
fn a_reservation_is_settled_once() {
    let (db, world) = (outbox(), World::capped(5));
    world.counters_answer.set(false);
    convert(&db, &world, &conversion(1)).unwrap_err();
    let (_, reservation) = outbox::conversions::reservations::overdue(&db, NOW + NET_MS, 1).unwrap().remove(0);
    for (end, expected) in [(End::Taken, "approved"), (End::Spent, "approved"), (End::Taken, "approved")] {
        let answer = settle(&db, &world, &reservation, end).unwrap().unwrap();
        assert_eq!(answer.status.as_str(), expected);
    }
    assert_eq!(entries(&db).len(), 1);
    assert_eq!(payments(&db).len(), 1);
}

#[test]
fn a_late_refusal_does_not_end_a_newer_reservation() {
    let (db, world) = (outbox(), World::capped(1));
    let mut postback = conversion(1);
    postback.current = world.catalog.borrow().current(OFFER);
    let terms = now(outbox::terms::of(&db, &world, shard(), &postback)).unwrap();
    let reserve = |now_ms| {
        world.now_ms.set(now_ms);
        match admit(&db, &world, &postback, &terms, &Claim::Open).unwrap() {
            Admission::Reserved { reservation, .. } => reservation,
            other => panic!("{other:?}"),
        }
    };
    let first = reserve(NOW);
    settle(&db, &world, &first, End::Spent).unwrap().unwrap_err();
    let second = reserve(NOW + 2);
    settle(&db, &world, &first, End::Spent).unwrap().unwrap_err();
    let answer = settle(&db, &world, &second, End::Taken).unwrap().unwrap();
    assert_eq!((answer.status, answer.duplicate), (Status::Approved, false));
}

#[test]
fn a_repeat_keeps_the_reserved_goal_after_goals_change() {
    let (db, world) = (outbox(), World::capped(5));
    world.counters_answer.set(false);
    convert(&db, &world, &conversion(1)).unwrap_err();
    world.counters_answer.set(true);
    // Another goal is first now.
    world.change(|offer| offer.goals.reverse());
    world.catalog.borrow_mut().offer_since(OFFER, NOW / SECOND_MS);
    let answer = convert(&db, &world, &conversion(1)).unwrap();
    assert_eq!(answer.transaction_id, reward_id(1));
    world.pass(NET_MS);
    resume_overdue(&db, &world).unwrap();
    assert_eq!(entries(&db).len(), 1);
}

#[test]
fn an_ended_reservation_takes_nothing() {
    let (db, world) = (outbox(), World::capped(0));
    world.counters_answer.set(false);
    for n in [1, 2] {
        convert(&db, &world, &conversion(n)).unwrap_err();
    }
    world.counters_answer.set(true);
    world.pass(NET_MS);
    // The alarm has read both and waits for the first while a copy of the second is refused.
    world.hold_answers.set(true);
    let mut context = Context::from_waker(Waker::noop());
    let mut alarm = pin!(commit::resume_overdue(&db, &world));
    assert!(alarm.as_mut().poll(&mut context).is_pending());
    world.hold_answers.set(false);
    assert_eq!(send(&db, &world, &conversion(2)), CAPPED);
    let takes = world.takes.borrow().len();
    assert!(alarm.poll(&mut context).is_ready());
    assert_eq!(world.takes.borrow().len(), takes);
}

#[test]
fn erasure_also_covers_a_reserved_conversion() {
    let (db, world) = (outbox(), World::capped(1));
    world.counters_answer.set(false);
    let waiting = conversion(1);
    convert(&db, &world, &waiting).unwrap_err();
    let erased = json(origin::objects::outbox::erasure::erase(&db, NOW, shard(), &waiting.click.user_id).unwrap());
    assert_eq!((&erased["erased"], &erased["waiting"]), (&0.into(), &1.into()));
    world.counters_answer.set(true);
    assert_eq!(send(&db, &world, &conversion(1)), Ok(("approved", true)));
    send_all(&db, world.now_ms.get(), 200);
    assert_eq!(entry(&db, &reward_id(1))["user_id"], Json::Null);
}
