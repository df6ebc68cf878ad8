//! One reward for a user and a goal, whatever clicks the user makes.

use super::*;

const APPROVED: Result<(&str, bool), &str> = Ok(("approved", false));
const TAKEN: Result<(&str, bool), &str> = Err("already_rewarded");

fn of_ann(n: u8) -> Conversion {
    conversion(n).user("ann")
}

#[test]
fn of_24_clicks_of_a_user_one_is_rewarded() {
    let (db, world) = (outbox(), World::new());
    let answers: Vec<_> = (1..=24).map(|n| send(&db, &world, &of_ann(n))).collect();
    assert_eq!(answers[0], APPROVED);
    assert_eq!(answers[1..], [TAKEN; 23]);
    // The refused clicks are in the log, and a repeat of the first click is a duplicate.
    let (refused, _) = page(&db, Some("refused"), None, 100, None);
    assert_eq!(refused.len(), 23);
    assert!(refused.iter().all(|entry| entry["code"] == "already_rewarded"));
    assert_eq!(send(&db, &world, &of_ann(1)), Ok(("approved", true)));
    assert_eq!(send(&db, &world, &of_ann(1).goal("install")), Ok(("approved", true)));
    // Another goal and another user are rewarded, and users and goals do not run into each other.
    assert_eq!(send(&db, &world, &of_ann(25).goal("g-2")), APPROVED);
    assert_eq!(send(&db, &world, &conversion(26).user("anng")), APPROVED);
}

#[test]
fn an_offer_may_pay_each_click_of_a_user() {
    let (db, world) = (outbox(), World::paying_each_click());
    for n in 1..=3 {
        assert_eq!(send(&db, &world, &of_ann(n)), APPROVED);
    }
}

#[test]
fn a_reversal_frees_the_reward_and_an_erasure_does_not() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(send(&db, &world, &of_ann(1)), APPROVED);
    send_all(&db, NOW, 200);
    outbox::erasure::erase(&db, NOW, shard(), "ann").unwrap();
    assert_eq!(send(&db, &world, &of_ann(2)), TAKEN);
    assert_eq!(send(&db, &world, &of_ann(1).status(Status::Reversed)), Ok(("reversed", false)));
    assert_eq!(send(&db, &world, &of_ann(2)), APPROVED);
    assert_eq!(send(&db, &world, &of_ann(3)), TAKEN);
}

/// Only money claims the reward: a pending conversion does not, and finds it taken when it is approved.
#[test]
fn a_pending_conversion_claims_nothing() {
    let (db, world) = (outbox(), World::new());
    let pending = of_ann(1).status(Status::Pending);
    assert_eq!(send(&db, &world, &pending), Ok(("pending", false)));
    assert_eq!(send(&db, &world, &of_ann(2)), APPROVED);
    assert_eq!(send(&db, &world, &of_ann(1)), TAKEN);
    assert_eq!(send(&db, &world, &pending), Ok(("pending", true)));
    assert_eq!(send(&db, &world, &of_ann(3).status(Status::Pending)), TAKEN);
    send(&db, &world, &of_ann(2).status(Status::Reversed)).unwrap();
    assert_eq!(send(&db, &world, &of_ann(1)), APPROVED);
}

#[test]
fn a_conversion_that_waits_for_its_cap_has_the_reward_until_the_cap_refuses_it() {
    let (db, world) = (outbox(), World::capped(1));
    world.counters_answer.set(false);
    assert_eq!(send(&db, &world, &of_ann(1)), Err("unavailable"));
    assert_eq!(send(&db, &world, &of_ann(2)), TAKEN);
    world.counters_answer.set(true);
    assert_eq!(send(&db, &world, &conversion(3)), APPROVED);
    assert_eq!(send(&db, &world, &of_ann(1)), Err("conversion_capped"));
    world.cap(Some(2));
    assert_eq!(send(&db, &world, &of_ann(2)), APPROVED);
    assert_eq!(send(&db, &world, &of_ann(1)), TAKEN);
}

#[test]
fn a_refused_click_keeps_no_txn() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(send(&db, &world, &of_ann(1)), APPROVED);
    assert_eq!(send(&db, &world, &of_ann(2).txn("t")), TAKEN);
    now(txns::free_due(&db, &world)).unwrap();
    assert_eq!(send(&db, &world, &conversion(3).txn("t")), APPROVED);
    // The txn is judged first.
    assert_eq!(send(&db, &world, &of_ann(4).txn("t")), Err("duplicate_txn"));
}
