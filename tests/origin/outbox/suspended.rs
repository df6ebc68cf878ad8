//! The rewards of a suspended publisher, which wait. Also the count of rewards that were paid before an offer had a cap.

use super::*;
use contract::outbox::{ClaimApp, SetOffer};
use domain::conversions::{state::Reason, table::Action};
use origin::objects::outbox::conversions::steps;

pub const APPROVED: Result<(&str, bool), &str> = Ok(("approved", false));
const PENDING: Result<(&str, bool), &str> = Ok(("pending", false));
pub const CAPPED: Result<(&str, bool), &str> = Err("conversion_capped");

pub fn suspend(db: &Sqlite, world: &World, revision: i64, is_suspended: bool) {
    let settings = CallbackSettings { is_suspended, ..settings(revision, true) };
    endpoint::store_settings(db, world, shard(), &settings).unwrap();
}

/// Judges the conversions that a suspension held. Returns the outcomes, and whether there may be more.
pub fn release(db: &Sqlite, world: &World) -> Vec<Result<(&'static str, bool), &'static str>> {
    let outcomes = RefCell::new(Vec::new());
    let convert = async |conversion: &Conversion| {
        let answer = send_postback(db, world, conversion).await;
        outcomes.borrow_mut().push(told(answer.clone()));
        answer
    };
    assert_eq!(now(steps::release_step(db, world, convert)), Ok(false));
    outcomes.into_inner()
}

pub fn told(answer: Result<Answer, Failure>) -> Result<(&'static str, bool), &'static str> {
    match answer {
        Ok(answer) => Ok((answer.status.as_str(), answer.duplicate)),
        Err(Failure::Refused(refusal)) => Err(refusal.code),
        Err(Failure::Internal(cause)) => panic!("{cause}"),
    }
}

#[test]
fn a_suspended_publishers_rewards_are_held_and_judged_again_when_it_is_admitted() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(send(&db, &world, &conversion(9)), APPROVED);
    suspend(&db, &world, 2, true);
    assert!(!endpoint::read(&db).unwrap().unwrap().has_endpoint());
    let of_ann = |n| conversion(n).user("ann");
    for held in [of_ann(1), of_ann(2), conversion(3), conversion(4).txn("t")] {
        assert_eq!(send(&db, &world, &held), PENDING);
        assert_eq!(send(&db, &world, &held), Ok(("pending", true)));
    }
    assert_eq!(entry(&db, &reward_id(1))["code"], "suspended");
    // A reversal of a held conversion ends it.
    assert_eq!(send(&db, &world, &conversion(3).status(Status::Reversed)), Ok(("rejected", false)));
    world.cap(Some(1));
    suspend(&db, &world, 3, false);
    assert!(endpoint::read(&db).unwrap().unwrap().has_endpoint());
    // One of Ann's two clicks is paid; then the cap is spent.
    assert_eq!(release(&db, &world), [APPROVED, Err("already_rewarded"), CAPPED]);
    assert_eq!(entry(&db, &reward_id(2))["code"], "already_rewarded");
    assert_eq!(entry(&db, &reward_id(4))["code"], "conversion_capped");
    world.cap(Some(2));
    assert_eq!(send(&db, &world, &conversion(4).txn("t")), APPROVED);
}

#[test]
fn another_hold_stands_when_the_suspension_ends_and_a_new_one_ends_the_judging() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(send(&db, &world, &conversion(9)), APPROVED);
    suspend(&db, &world, 2, true);
    assert_eq!(send(&db, &world, &conversion(1)), PENDING);
    suspend(&db, &world, 3, false);
    suspend(&db, &world, 4, true);
    assert_eq!(db.query_integer(outbox::sql::GET_RELEASED, &[]).unwrap(), None);
    suspend(&db, &world, 5, false);
    world.hold(|offer, _| offer.min_seconds_to_convert = Some(86_401));
    assert_eq!(release(&db, &world), [PENDING]);
    assert_eq!(entry(&db, &reward_id(1))["code"], "too_fast");
    // The operator's approval overrides a suspension only if it names the suspension.
    world.hold(|offer, _| offer.min_seconds_to_convert = None);
    world.cap(Some(0));
    assert_eq!(send(&db, &world, &conversion(2)), CAPPED);
    suspend(&db, &world, 6, true);
    let approve = |despite: &[Reason]| super::settlement::settle(&db, &world, &reward_id(2), Action::Approve, despite);
    assert_eq!(approve(&[]), Err("suspended"));
    assert_eq!(approve(&[Reason::Suspended]), APPROVED);
}

/// It came before the suspension, and waited because the counters did not answer.
#[test]
fn a_reward_that_waits_for_its_cap_is_held_if_its_publisher_is_suspended_meanwhile() {
    for taken in [false, true] {
        let (db, world) = (outbox(), World::capped(1));
        assert_eq!(send(&db, &world, &conversion(9)), APPROVED);
        world.cap(Some(3));
        // With `taken`, only the answer of the counters is lost.
        world.counters_answer.set(taken);
        world.hold_answers.set(taken);
        let postback = conversion(1).txn("t");
        let mut waiting = Box::pin(send_postback(&db, &world, &postback));
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(waiting.as_mut().poll(&mut context).is_pending(), taken);
        drop(waiting);
        suspend(&db, &world, 2, true);
        world.counters_answer.set(true);
        world.hold_answers.set(false);
        world.pass(DAY_MS);
        now(commit::resume_overdue(&db, &world)).unwrap();
        assert_eq!(entry(&db, &reward_id(1))["code"], "suspended");
        assert_eq!(payments(&db).len(), 1);
        assert_eq!(send(&db, &world, &postback), Ok(("pending", true)));
        suspend(&db, &world, 3, false);
        assert_eq!(release(&db, &world), [APPROVED]);
        assert!(dump(&db, "reservations").is_empty());
    }
}

#[test]
fn a_suspension_that_comes_during_a_take_holds_the_reward() {
    let (db, world) = (outbox(), World::capped(3));
    assert_eq!(send(&db, &world, &conversion(9)), APPROVED);
    world.hold_answers.set(true);
    let postback = conversion(1);
    let mut waiting = Box::pin(send_postback(&db, &world, &postback));
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    suspend(&db, &world, 2, true);
    world.hold_answers.set(false);
    let Poll::Ready(answer) = waiting.as_mut().poll(&mut context) else {
        panic!("it waits");
    };
    assert_eq!(told(answer), PENDING);
    assert_eq!(payments(&db).len(), 1);
    suspend(&db, &world, 3, false);
    assert_eq!(release(&db, &world), [APPROVED]);
}

#[test]
fn an_erased_user_is_not_paid_when_the_suspension_ends() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(send(&db, &world, &conversion(9)), APPROVED);
    suspend(&db, &world, 2, true);
    assert_eq!(send(&db, &world, &conversion(1)), PENDING);
    outbox::erasure::erase(&db, NOW, shard(), "user-1").unwrap();
    suspend(&db, &world, 3, false);
    assert_eq!(release(&db, &world), [Err("user_erased")]);
}

/// Runs the statements for suspensions and caps.
pub fn run_every_statement(db: &Sqlite, world: &World) {
    set_cap(db, world, None);
    let known = endpoint::read(db).unwrap().unwrap().callback.revision;
    suspend(db, world, known + 1, true);
    suspend(db, world, known + 2, false);
    release(db, world);
    for is_final in [false, true] {
        let claim = ClaimApp { outbox_shards: 8, is_final };
        endpoint::claim_app(db, shard(), claim).unwrap();
    }
}

#[test]
fn the_number_of_outboxes_that_was_claimed_first_stands() {
    let db = outbox();
    for (claimed, stands) in [(8, 8), (1, 8), (64, 8)] {
        let claim = ClaimApp { outbox_shards: claimed, is_final: true };
        assert_eq!(endpoint::claim_app(&db, shard(), claim).unwrap().outbox_shards, stands);
    }
    // An outbox with conversions knows the number without a claim, and a claim changes nothing.
    let (db, world) = (outbox(), World::new());
    assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
    let before = dump(&db, "outbox");
    let claim = ClaimApp { outbox_shards: 64, is_final: true };
    assert_eq!(endpoint::claim_app(&db, shard(), claim).unwrap().outbox_shards, 8);
    assert_eq!(dump(&db, "outbox"), before);
}

/// Sets a cap as the catalog pushes it. Returns what was paid today without one.
fn set_cap(db: &Sqlite, world: &World, cap: Option<u32>) -> u32 {
    world.cap(cap);
    push(db, world, world.catalog.borrow().current(OFFER).offer.unwrap())
}

fn push(db: &Sqlite, world: &World, current: CurrentOffer) -> u32 {
    let offer = OfferId::parse(OFFER).unwrap();
    let counted = outbox::terms::set_offer(db, world, shard(), &SetOffer { offer, current });
    counted.unwrap().uncapped
}

#[test]
fn rewards_paid_today_without_a_cap_are_counted_once_a_cap_is_set() {
    let (db, world) = (outbox(), World::new());
    let midnight_ms = NOW - NOW.rem_euclid(DAY_MS) + DAY_MS;
    // Neither yesterday's rewards nor pending conversions count.
    assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
    let pending = conversion(2).status(Status::Pending);
    assert_eq!(send(&db, &world, &pending), PENDING);
    world.now_ms.set(midnight_ms);
    for n in [3, 4] {
        assert_eq!(send(&db, &world, &conversion(n)), APPROVED);
    }
    assert_eq!(send(&db, &world, &conversion(2)), APPROVED, "yesterday's entry, paid today");
    send(&db, &world, &conversion(3).status(Status::Reversed)).unwrap();
    assert_eq!(set_cap(&db, &world, Some(5)), 3);
    // Rewards taken from the cap are not counted again, but later rewards without a cap are.
    assert_eq!(send(&db, &world, &conversion(5)), APPROVED);
    assert_eq!(set_cap(&db, &world, None), 3);
    assert_eq!(send(&db, &world, &conversion(6)), APPROVED);
    assert_eq!(set_cap(&db, &world, Some(0)), 4);
    assert_eq!(send(&db, &world, &conversion(7)), CAPPED);
    // An older push changes nothing.
    world.has_snapshot.set(false);
    let mut older = world.catalog.borrow().current(OFFER).offer.unwrap();
    older.revision -= 1;
    older.conversion_cap = None;
    push(&db, &world, older);
    assert_eq!(send(&db, &world, &conversion(8)), CAPPED);
}

/// A cap that is pushed while a conversion waits for another object holds for it, too.
#[test]
fn a_cap_that_comes_while_a_conversion_waits_is_taken() {
    let (db, world) = (outbox(), World::new());
    world.hold_catalog.set(true);
    let postback = conversion(1);
    let mut waiting = Box::pin(send_postback(&db, &world, &postback));
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    set_cap(&db, &world, Some(0));
    world.hold_catalog.set(false);
    for _ in 0..3 {
        if let Poll::Ready(answer) = waiting.as_mut().poll(&mut context) {
            assert_eq!(refusal(answer).code, "conversion_capped");
            return;
        }
    }
    panic!("it waits");
}
