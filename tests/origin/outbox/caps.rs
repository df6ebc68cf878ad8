//! Conversions under a cap: one is asked for each, once, for the day it came on, whatever stops the asking half way.

use super::*;
use contract::counters::CapKind;
use domain::model::time::UtcDay;
use origin::{
    batches::wait_ms,
    outbox::conversions::{Admitted, admit, settle},
};

const APPROVED: Result<(&str, bool), &str> = Ok(("approved", false));
const CAPPED: Result<(&str, bool), &str> = Err("conversion_capped");
const NET_MS: i64 = 15_000;

fn resume_overdue(db: &Sqlite, world: &World) -> Result<(), Failure> {
    now(commit::resume_overdue(db, world)).map(drop)
}

/// The one reservation there is: when it is taken up, and how often it was.
fn reservation(db: &Sqlite) -> (i64, i64) {
    let rows = db
        .query("SELECT due_ms, attempts FROM reservations", &[])
        .unwrap();
    assert_eq!(rows.len(), 1);
    (rows[0].integer(0).unwrap(), rows[0].integer(1).unwrap())
}

#[test]
fn a_cap_is_asked_once_for_each_conversion_with_all_that_it_is_judged_by() {
    let (db, world) = (outbox(), World::capped(10));
    let sent = conversion(0xab).goal("purchase");
    assert_eq!(told(&db, &world, &sent), APPROVED);
    for status in Status::ALL {
        convert(&db, &world, &sent.clone().says(status)).unwrap();
    }
    let take = Take {
        kind: CapKind::Conversion,
        key: format!("{}/g-2", "ab".repeat(12)),
        offer: OfferId::parse(OFFER).unwrap(),
        day: UtcDay::of_ms(NOW),
        limit: 10,
        revision: 6,
    };
    assert_eq!(*world.takes.borrow(), [take]);
    assert!(dump(&db, "reservations").is_empty());
}

#[test]
fn only_what_is_paid_asks_for_the_cap() {
    let (db, world) = (outbox(), World::capped(10));
    for (n, status) in (1..).zip([Status::Pending, Status::Rejected, Status::Reversed]) {
        convert(&db, &world, &conversion(n).says(status)).unwrap();
    }
    assert!(world.takes.borrow().is_empty());
    world.cap(None);
    convert(&db, &world, &conversion(9)).unwrap();
    assert!(world.takes.borrow().is_empty());
}

#[test]
fn a_spent_cap_refuses_until_it_is_raised_or_the_day_is_over() {
    let (db, world) = (outbox(), World::capped(2));
    let outcomes: Vec<_> = (1..=4).map(|n| told(&db, &world, &conversion(n))).collect();
    assert_eq!(outcomes, [APPROVED, APPROVED, CAPPED, CAPPED]);
    assert_eq!(refusal(convert(&db, &world, &conversion(4))).status, 409);
    assert_eq!(told(&db, &world, &conversion(1)), Ok(("approved", true)));
    // A reversal gives nothing back.
    convert(&db, &world, &conversion(1).says(Status::Reversed)).unwrap();
    assert_eq!(told(&db, &world, &conversion(3)), CAPPED);
    world.cap(Some(3));
    assert_eq!(told(&db, &world, &conversion(3)), APPROVED);
    assert_eq!(told(&db, &world, &conversion(4)), CAPPED);
    world.pass(DAY_MS / 2 - 1);
    assert_eq!(told(&db, &world, &conversion(4)), CAPPED);
    world.pass(1);
    assert_eq!(told(&db, &world, &conversion(4)), APPROVED);
    assert_eq!(entries(&db).len(), 5);
}

#[test]
fn a_capped_conversion_is_logged_once_and_leaves_its_txn_to_others() {
    let (db, world) = (outbox(), World::capped(0));
    for _ in 0..3 {
        assert_eq!(told(&db, &world, &conversion(1).txn("t")), CAPPED);
    }
    assert_eq!(entries(&db).len(), 1);
    assert_eq!(entry(&db, &reward_id(1))["refusal"], "conversion_capped");
    assert!(dump(&db, "txns").is_empty());
    world.cap(None);
    assert_eq!(told(&db, &world, &conversion(2).txn("t")), APPROVED);
    assert_eq!(told(&db, &world, &conversion(1).txn("t")), Err("duplicate_txn"));
    assert_eq!(entry(&db, &reward_id(1))["refusal"], "duplicate_txn");
}

#[test]
fn a_txn_is_taken_while_the_cap_is_asked() {
    let (db, world) = (outbox(), World::capped(5));
    world.counters_answer.set(false);
    assert_eq!(told(&db, &world, &conversion(1).txn("t")), Err("unavailable"));
    assert_eq!(told(&db, &world, &conversion(2).txn("t")), Err("duplicate_txn"));
}

#[test]
fn a_pending_conversion_that_finds_the_cap_spent_stays_pending() {
    let (db, world) = (outbox(), World::capped(0));
    convert(&db, &world, &conversion(1).txn("t").says(Status::Pending)).unwrap();
    let before = dump(&db, "entries");
    assert_eq!(told(&db, &world, &conversion(1).txn("t")), CAPPED);
    assert_eq!(
        told(&db, &world, &conversion(1).says(Status::Pending)),
        Ok(("pending", true))
    );
    assert_eq!(dump(&db, "entries"), before);
    assert_eq!(told(&db, &world, &conversion(2).txn("t")), Err("duplicate_txn"));
    world.cap(Some(1));
    // Long after its window: it was judged when it came.
    world.pass(200 * DAY_MS);
    assert_eq!(told(&db, &world, &conversion(1).txn("t")), APPROVED);
}

#[test]
fn counters_that_do_not_answer_leave_the_conversion_to_the_alarm() {
    let (db, world) = (outbox(), World::capped(1));
    world.counters_answer.set(false);
    let refused = refusal(convert(&db, &world, &conversion(1)));
    assert_eq!(refused, common::UNAVAILABLE);
    assert!(refused.retry_after_s.is_some() && world.commits.get() > 0);
    assert!(entries(&db).is_empty());
    assert_eq!(reservation(&db), (NOW + NET_MS, 0));
    assert_eq!(outbox::next_alarm(&db, NOW), Ok(Some(NOW + NET_MS)));
    // Not before it is due.
    world.pass(NET_MS - 1);
    resume_overdue(&db, &world).unwrap();
    assert_eq!(world.takes.borrow().len(), 1);
    world.pass(1);
    for attempt in 0..4 {
        assert_eq!(refusal(resume_overdue(&db, &world)), common::UNAVAILABLE);
        let due_ms = world.now_ms.get() + wait_ms(attempt);
        assert_eq!(reservation(&db), (due_ms, i64::from(attempt) + 1));
        assert_eq!(outbox::next_alarm(&db, world.now_ms.get()), Ok(Some(due_ms)));
        world.now_ms.set(due_ms);
    }
    world.counters_answer.set(true);
    resume_overdue(&db, &world).unwrap();
    assert_eq!(entry(&db, &reward_id(1))["status"], "approved");
    assert!(dump(&db, "reservations").is_empty());
    assert_eq!(told(&db, &world, &conversion(1)), Ok(("approved", true)));
    let takes = world.takes.borrow();
    assert!(takes.iter().all(|take| *take == takes[0]));
}

#[test]
fn an_alarm_takes_up_what_others_left_although_one_of_them_fails() {
    let (db, world) = (outbox(), World::capped(4));
    world.counters_answer.set(false);
    for n in 1..=8 {
        convert(&db, &world, &conversion(n)).unwrap_err();
    }
    world.pass(NET_MS);
    refusal(resume_overdue(&db, &world));
    assert_eq!(
        world.takes.borrow().len(),
        8 + 8,
        "each is taken up, although the first failed"
    );
    world.counters_answer.set(true);
    world.pass(wait_ms(0));
    resume_overdue(&db, &world).unwrap();
    resume_overdue(&db, &world).unwrap();
    assert!(dump(&db, "reservations").is_empty());
    let paid = entries(&db)
        .iter()
        .filter(|entry| entry["status"] == "approved")
        .count();
    assert_eq!((paid, entries(&db).len()), (4, 8));
}

#[test]
fn the_next_copy_finishes_what_the_first_began_on_the_day_it_came() {
    let (db, world) = (outbox(), World::capped(5));
    let midnight = NOW + DAY_MS / 2;
    world.now_ms.set(midnight - 1);
    world.counters_answer.set(false);
    convert(&db, &world, &conversion(1)).unwrap_err();
    world.now_ms.set(midnight + 1);
    world.counters_answer.set(true);
    // Another limit by now, and another status: neither changes what was begun.
    world.cap(Some(9));
    let reversed = convert(&db, &world, &conversion(1).says(Status::Reversed)).unwrap();
    assert_eq!((reversed.status, reversed.duplicate), (Status::Reversed, false));
    assert_eq!(told(&db, &world, &conversion(2)), APPROVED);
    let takes = world.takes.borrow();
    assert_eq!(takes.len(), 3);
    assert_eq!(takes[0], takes[1]);
    assert_eq!((takes[0].day, takes[0].limit), (UtcDay::of_ms(NOW), 5));
    assert_eq!((takes[2].day, takes[2].limit), (UtcDay::of_ms(midnight), 9));
}

#[test]
fn a_copy_whose_forerunner_was_refused_is_judged_by_itself() {
    let (db, world) = (outbox(), World::capped(0));
    world.counters_answer.set(false);
    convert(&db, &world, &conversion(1)).unwrap_err();
    world.counters_answer.set(true);
    world.cap(Some(1));
    assert_eq!(told(&db, &world, &conversion(1)), APPROVED);
    assert_eq!(entries(&db).len(), 1);
}

#[test]
fn copies_at_once_are_one_conversion() {
    let (db, world) = (outbox(), World::capped(1));
    let first = conversion(1);
    let second = conversion(1).goal("install").txn("t");
    let mut context = Context::from_waker(Waker::noop());
    world.held.set(true);
    let mut first = pin!(sent(&db, &world, &first));
    let mut second = pin!(sent(&db, &world, &second));
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    world.held.set(false);
    // The later one hears first, and pays what the earlier one began.
    let Poll::Ready(Ok(later)) = second.poll(&mut context) else {
        panic!("it is answered");
    };
    let Poll::Ready(Ok(earlier)) = first.poll(&mut context) else {
        panic!("it is answered");
    };
    assert_eq!((earlier.status, earlier.duplicate), (Status::Approved, false));
    assert_eq!((later.status, later.duplicate), (Status::Approved, true));
    assert_eq!(earlier.transaction_id, later.transaction_id);
    assert_eq!(entries(&db).len(), 1);
    let takes = world.takes.borrow();
    assert_eq!((takes.len(), &takes[0]), (2, &takes[1]));
}

#[test]
fn an_approval_that_another_hand_saw_refused_is_refused() {
    for pending in [false, true] {
        let (db, world) = (outbox(), World::capped(0));
        if pending {
            convert(&db, &world, &conversion(1).says(Status::Pending)).unwrap();
        }
        let copy = conversion(1);
        world.held.set(true);
        let mut context = Context::from_waker(Waker::noop());
        let mut waiting = pin!(sent(&db, &world, &copy));
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        world.held.set(false);
        world.pass(NET_MS);
        resume_overdue(&db, &world).unwrap();
        let Poll::Ready(outcome) = waiting.poll(&mut context) else {
            panic!("it is answered");
        };
        assert_eq!(refusal(outcome).code, "conversion_capped", "pending: {pending}");
    }
}

#[test]
fn a_reservation_is_settled_once() {
    let (db, world) = (outbox(), World::capped(5));
    world.counters_answer.set(false);
    convert(&db, &world, &conversion(1)).unwrap_err();
    let (_, reservation) = outbox::reservations::overdue(&db, NOW + NET_MS, 1)
        .unwrap()
        .remove(0);
    for (taken, expected) in [(true, "approved"), (false, "approved"), (true, "approved")] {
        let answer = settle(&db, NOW, &reservation, taken).unwrap().unwrap();
        assert_eq!(answer.status.as_str(), expected);
    }
    assert_eq!(entries(&db).len(), 1);
    assert_eq!(
        dump(&db, "traffic").len(),
        2,
        "one sum for the ledger, one for the counters"
    );
}

#[test]
fn a_no_that_comes_late_ends_no_later_reservation() {
    let (db, world) = (outbox(), World::capped(1));
    let terms = world.terms.borrow().clone();
    learn(&db, NOW, &terms.callback);
    let reserve = |now_ms| match admit(&db, now_ms, &conversion(1), &terms).unwrap() {
        Admitted::Reserved { reservation, .. } => reservation,
        other => panic!("{other:?}"),
    };
    let first = reserve(NOW);
    settle(&db, NOW + 1, &first, false).unwrap().unwrap_err();
    let second = reserve(NOW + 2);
    settle(&db, NOW + 3, &first, false).unwrap().unwrap_err();
    let answer = settle(&db, NOW + 4, &second, true).unwrap().unwrap();
    assert_eq!((answer.status, answer.duplicate), (Status::Approved, false));
}

#[test]
fn a_repeat_is_of_the_goal_that_its_first_copy_reserved_whatever_became_of_the_goals() {
    let (db, world) = (outbox(), World::capped(5));
    world.counters_answer.set(false);
    convert(&db, &world, &conversion(1)).unwrap_err();
    world.counters_answer.set(true);
    // Another goal comes first now.
    world.change(|offer| offer.goals.iter_mut().find(|goal| goal.id == "g-2").unwrap().ord = 0);
    let answer = convert(&db, &world, &conversion(1)).unwrap();
    assert_eq!(answer.transaction_id, reward_id(1));
    world.pass(NET_MS);
    resume_overdue(&db, &world).unwrap();
    assert_eq!(entries(&db).len(), 1);
}

#[test]
fn nothing_is_taken_for_a_reservation_that_has_ended() {
    let (db, world) = (outbox(), World::capped(0));
    world.counters_answer.set(false);
    for n in [1, 2] {
        convert(&db, &world, &conversion(n)).unwrap_err();
    }
    world.counters_answer.set(true);
    world.pass(NET_MS);
    // The alarm has read both and waits for the first, as a copy of the second is told no.
    world.held.set(true);
    let mut context = Context::from_waker(Waker::noop());
    let mut alarm = pin!(commit::resume_overdue(&db, &world));
    assert!(alarm.as_mut().poll(&mut context).is_pending());
    world.held.set(false);
    assert_eq!(told(&db, &world, &conversion(2)), CAPPED);
    let asked = world.takes.borrow().len();
    assert!(alarm.poll(&mut context).is_ready());
    assert_eq!(world.takes.borrow().len(), asked);
}

#[test]
fn a_user_is_forgotten_also_of_a_conversion_that_waits_for_its_cap() {
    let (db, world) = (outbox(), World::capped(1));
    world.counters_answer.set(false);
    let waiting = conversion(1);
    convert(&db, &world, &waiting).unwrap_err();
    let erased = json(origin::outbox::retention::erase(&db, &waiting.click.user_id).unwrap());
    assert_eq!((&erased["erased"], &erased["waiting"]), (&0.into(), &1.into()));
    world.counters_answer.set(true);
    assert_eq!(told(&db, &world, &conversion(1)), Ok(("approved", true)));
    send_all(&db, world.now_ms.get(), 200);
    assert_eq!(entry(&db, &reward_id(1))["user_id"], Json::Null);
}
