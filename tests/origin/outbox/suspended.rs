//! Conversions that wait, but not for a cap: the rewards of a suspended publisher, and postbacks whose terms are lost.
//! Also the count of rewards that were paid before an offer had a cap.

use super::*;
use contract::{
    catalog::LOST_TERMS,
    outbox::{ClaimApp, SetOffer},
};
use domain::{
    conversions::{state::Reason, table::Action},
    model::time::MINUTE_MS,
};
use origin::objects::outbox::{
    conversions::{goals, kept, steps},
    retention,
};

const APPROVED: Result<(&str, bool), &str> = Ok(("approved", false));
const PENDING: Result<(&str, bool), &str> = Ok(("pending", false));
const CAPPED: Result<(&str, bool), &str> = Err("conversion_capped");

fn suspend(db: &Sqlite, world: &World, revision: i64, is_suspended: bool) {
    let settings = CallbackSettings {
        is_suspended,
        ..settings(revision, true)
    };
    endpoint::store_settings(db, world, shard(), &settings).unwrap();
}

/// Judges the conversions that a suspension held. Returns the outcomes, and whether there may be more.
fn release(db: &Sqlite, world: &World) -> Vec<Result<(&'static str, bool), &'static str>> {
    let outcomes = RefCell::new(Vec::new());
    let convert = async |conversion: &Conversion| {
        let answer = send_postback(db, world, conversion).await;
        outcomes.borrow_mut().push(told(answer.clone()));
        answer
    };
    assert_eq!(now(steps::release_step(db, world, convert)), Ok(false));
    outcomes.into_inner()
}

fn told(answer: Result<Answer, Failure>) -> Result<(&'static str, bool), &'static str> {
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
    assert_eq!(
        send(&db, &world, &conversion(3).status(Status::Reversed)),
        Ok(("rejected", false))
    );
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
    let approve =
        |despite: &[Reason]| super::settlement::settle(&db, &world, &reward_id(2), Action::Approve, despite);
    assert_eq!(approve(&[]), Err("suspended"));
    assert_eq!(approve(&[Reason::Suspended]), APPROVED);
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

/// Sends a postback like the service, which keeps it if its terms are lost.
async fn convert_or_keep(db: &Sqlite, world: &World, postback: &Conversion) -> Result<Answer, Failure> {
    let mut conversion = postback.clone();
    conversion.current = world.catalog.borrow().current(&conversion.click.offer);
    match outbox::terms::of(db, world, shard(), &conversion).await {
        Ok(_) => send_postback(db, world, postback).await,
        Err(failure) => Err(kept::keep(db, world.now_ms.get(), &conversion, failure).unwrap()),
    }
}

fn send_or_keep(
    db: &Sqlite,
    world: &World,
    postback: &Conversion,
) -> Result<(&'static str, bool), &'static str> {
    told(now(convert_or_keep(db, world, postback)))
}

/// Decides the kept postbacks that are due, as the alarm does. Returns how many were tried.
fn decide(db: &Sqlite, world: &World) -> usize {
    let tried = Cell::new(0);
    let convert = async |conversion: &Conversion| {
        tried.set(tried.get() + 1);
        convert_or_keep(db, world, conversion).await
    };
    now(kept::decide_due(db, world, convert)).unwrap();
    tried.get()
}

/// Runs the statements for waiting conversions and postbacks.
pub fn run_every_statement(db: &Sqlite, world: &World) {
    let lost = LOST_TERMS.with_message("app 1").into();
    kept::keep(db, NOW - DAY_MS, &conversion(99), lost).unwrap();
    decide(db, world);
    set_cap(db, world, None);
    let known = endpoint::read(db).unwrap().unwrap().callback.revision;
    suspend(db, world, known + 1, true);
    suspend(db, world, known + 2, false);
    release(db, world);
    for is_final in [false, true] {
        let claim = ClaimApp {
            outbox_shards: 8,
            is_final,
        };
        endpoint::claim_app(db, shard(), claim).unwrap();
    }
}

#[test]
fn the_number_of_outboxes_that_was_claimed_first_stands() {
    let db = outbox();
    for (claimed, stands) in [(8, 8), (1, 8), (64, 8)] {
        let claim = ClaimApp {
            outbox_shards: claimed,
            is_final: true,
        };
        assert_eq!(
            endpoint::claim_app(&db, shard(), claim).unwrap().outbox_shards,
            stands
        );
    }
    // An outbox with conversions knows the number without a claim, and a claim changes nothing.
    let (db, world) = (outbox(), World::new());
    assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
    let before = dump(&db, "outbox");
    let claim = ClaimApp {
        outbox_shards: 64,
        is_final: true,
    };
    assert_eq!(endpoint::claim_app(&db, shard(), claim).unwrap().outbox_shards, 8);
    assert_eq!(dump(&db, "outbox"), before);
}

/// The open items of attention for lost terms.
fn missing(db: &Sqlite) -> Vec<String> {
    let rows = db.query("SELECT subject FROM attention WHERE kind = 10 AND is_open", &[]);
    let rows = rows.unwrap();
    rows.iter().map(|row| row.text(0).unwrap().to_owned()).collect()
}

#[test]
fn a_postback_whose_terms_are_lost_is_kept_and_paid_as_promised() {
    let (db, world) = (outbox(), World::new());
    world.change(|offer| offer.goals[0].payout_micro_usd = 5_000_000);
    let late = conversion(1).under_current(&world);
    let lost = world.catalog.borrow_mut().lose(OFFER);
    for _ in 0..2 {
        assert_eq!(send_or_keep(&db, &world, &late), Err("unavailable"));
    }
    let reversed = conversion(2).under_current(&world).status(Status::Reversed);
    assert_eq!(send_or_keep(&db, &world, &reversed), Err("unavailable"));
    assert_eq!(dump(&db, "kept").len(), 2);
    assert_eq!(missing(&db), [format!("offer {OFFER} {lost}")]);
    // Clicks that sealed earlier terms are paid meanwhile.
    assert_eq!(send_or_keep(&db, &world, &conversion(3)), APPROVED);
    // While they are missing, each try is later than the one before.
    let mut dues = Vec::new();
    for _ in 0..10 {
        let due_ms = db.query_integer(outbox::sql::FIRST_WAITING, &[]).unwrap();
        world.now_ms.set(due_ms.unwrap());
        // One try covers both postbacks.
        assert_eq!(decide(&db, &world), 1);
        dues.push(world.now_ms.get());
    }
    assert!(
        dues.windows(3)
            .all(|three| three[2] - three[1] >= three[1] - three[0]),
        "{dues:?}"
    );
    world.catalog.borrow_mut().find(OFFER);
    // The window closed meanwhile, and the postbacks came in time.
    world.pass(40 * DAY_MS);
    assert_eq!(decide(&db, &world), 2);
    assert_eq!(entry(&db, &reward_id(1))["payout"], 5);
    assert_eq!(entry(&db, &reward_id(2))["status"], "reversed");
    assert_eq!((missing(&db), dump(&db, "kept").len()), (vec![], 0));
    assert_eq!(send_or_keep(&db, &world, &late), Ok(("approved", true)));
}

/// Two advertisers claim to have sent it. The terms name the right one, and until they are back nobody knows which.
#[test]
fn a_strangers_postback_takes_no_place_of_another_that_is_kept() {
    let (db, world) = (outbox(), World::new());
    world.change(|offer| offer.advertiser_id = advertiser("rival"));
    let own = Conversion {
        advertiser: Some(advertiser("rival")),
        ..conversion(1).under_current(&world)
    };
    world.catalog.borrow_mut().lose(OFFER);
    for postback in [conversion(1).under_current(&world), own] {
        assert_eq!(send_or_keep(&db, &world, &postback), Err("unavailable"));
    }
    world.catalog.borrow_mut().find(OFFER);
    world.pass(DAY_MS);
    assert_eq!(decide(&db, &world), 2);
    assert_eq!(entry(&db, &reward_id(1))["status"], "approved");
}

/// A person entered the terms without the goal.
#[test]
fn a_kept_postback_whose_goal_no_terms_have_leaves_after_an_hour() {
    let (db, world) = (outbox(), World::new());
    kept::keep(&db, NOW, &conversion(1), LOST_TERMS.with_message("app 5").into()).unwrap();
    let convert = async |_: &Conversion| Err(common::UNAVAILABLE.with_message(goals::NOT_KNOWN_YET).into());
    for (minutes, left) in [(5, 1), (59, 1), (200, 0)] {
        world.now_ms.set(NOW + minutes * MINUTE_MS);
        now(kept::decide_due(&db, &world, convert)).unwrap();
        assert_eq!(dump(&db, "kept").len(), left, "{minutes} min");
    }
    assert!(missing(&db).is_empty());
}

/// Nobody enters the terms for as long as a catalog keeps any.
#[test]
fn a_kept_postback_leaves_with_the_terms_that_nobody_can_have_any_more() {
    let db = outbox();
    let lost = LOST_TERMS.with_message("app 5");
    for number in 1..=3 {
        kept::keep(&db, NOW, &conversion(number), lost.clone().into()).unwrap();
    }
    for (days, left) in [(400, 3), (402, 0)] {
        assert!(retention::due_ms(&db, NOW).unwrap().is_some());
        retention::sweep(&db, NOW + days * DAY_MS).unwrap();
        assert_eq!(dump(&db, "kept").len(), left);
    }
    assert!(missing(&db).is_empty());
    assert_eq!(retention::due_ms(&db, NOW), Ok(None));
}

/// Once the terms of the app are entered, those of the offer are still missing.
#[test]
fn the_item_of_attention_names_what_is_missing_now() {
    let (db, world) = (outbox(), World::new());
    let postback = conversion(1);
    for (lacks, items) in [("app 5", ["app 5"]), ("offer o 7", ["offer o 7"])] {
        kept::keep(&db, NOW, &postback, LOST_TERMS.with_message(lacks).into()).unwrap();
        assert_eq!(missing(&db), items);
    }
    assert_eq!(send(&db, &world, &postback), APPROVED);
    world.pass(DAY_MS);
    assert_eq!(decide(&db, &world), 1);
    assert!(missing(&db).is_empty());
}

/// The user is erased after the postback was read to be decided, and before it is paid.
#[test]
fn an_erasure_that_comes_while_a_kept_postback_is_decided_erases_it() {
    let (db, world) = (outbox(), World::new());
    kept::keep(&db, NOW, &conversion(1), LOST_TERMS.with_message("app 5").into()).unwrap();
    world.pass(DAY_MS);
    let convert = async |conversion: &Conversion| {
        outbox::erasure::erase(&db, NOW, shard(), "user-1").unwrap();
        send_postback(&db, &world, conversion).await
    };
    now(kept::decide_due(&db, &world, convert)).unwrap();
    send_all(&db, world.now_ms.get(), 200);
    let sql = "SELECT COUNT(*) FROM entries WHERE user_id IS NOT NULL AND NOT erase";
    assert_eq!(db.query_integer(sql, &[]).unwrap(), Some(0));
}

#[test]
fn an_erasure_deletes_kept_postbacks_and_other_failures_keep_none() {
    let (db, world) = (outbox(), World::new());
    world.change(|offer| offer.goals[0].payout_micro_usd = 5);
    let late = conversion(1).under_current(&world);
    world.catalog.borrow_mut().lose(OFFER);
    assert_eq!(send_or_keep(&db, &world, &late), Err("unavailable"));
    outbox::erasure::erase(&db, NOW, shard(), "user-1").unwrap();
    assert_eq!((missing(&db), dump(&db, "kept").len()), (vec![], 0));
    world.catalog_answers.set(false);
    assert_eq!(send_or_keep(&db, &world, &late), Err("unavailable"));
    let action = Conversion {
        event: Event::Action(Action::Approve),
        ..late
    };
    let failure = kept::keep(&db, NOW, &action, LOST_TERMS.into()).unwrap();
    assert!(matches!(failure, Failure::Refused(refusal) if refusal.status == 503));
    assert_eq!(dump(&db, "kept").len(), 0);
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
    assert_eq!(
        send(&db, &world, &conversion(2)),
        APPROVED,
        "yesterday's entry, paid today"
    );
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
