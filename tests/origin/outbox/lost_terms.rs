//! Postbacks whose terms the catalog has lost. They are kept and decided later.

use super::{
    suspended::{APPROVED, CAPPED, told},
    *,
};
use contract::catalog::LOST_TERMS;
use domain::{conversions::table::Action, model::time::MINUTE_MS};
use origin::objects::outbox::{
    conversions::{goals, kept},
    retention,
};

/// Sends a postback like the service, which keeps it if its terms are lost.
async fn convert_or_keep(db: &Sqlite, world: &World, postback: &Conversion) -> Result<Answer, Failure> {
    let mut conversion = postback.clone();
    conversion.current = world.catalog.borrow().current(&conversion.click.offer);
    match outbox::terms::of(db, world, shard(), &conversion).await {
        Ok(_) => send_postback(db, world, postback).await,
        Err(failure) => Err(kept::keep(db, world.now_ms.get(), &conversion, failure).unwrap()),
    }
}

fn send_or_keep(db: &Sqlite, world: &World, postback: &Conversion) -> Result<(&'static str, bool), &'static str> {
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

/// Runs the statements for kept postbacks.
pub fn run_every_statement(db: &Sqlite, world: &World) {
    let lost = LOST_TERMS.with_message("app 1").into();
    kept::keep(db, NOW - DAY_MS, &conversion(99), lost).unwrap();
    decide(db, world);
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
    assert!(dues.windows(3).all(|three| three[2] - three[1] >= three[1] - three[0]), "{dues:?}");
    world.catalog.borrow_mut().find(OFFER);
    // The window closed meanwhile, and the postbacks came in time.
    world.pass(40 * DAY_MS);
    assert_eq!(decide(&db, &world), 2);
    assert_eq!(entry(&db, &reward_id(1))["payout"], 5);
    assert_eq!(entry(&db, &reward_id(2))["status"], "reversed");
    assert_eq!((missing(&db), dump(&db, "kept").len()), (vec![], 0));
    assert_eq!(send_or_keep(&db, &world, &late), Ok(("approved", true)));
}

#[test]
fn a_kept_postback_is_taken_from_the_cap_of_the_day_on_which_it_came() {
    // After three weeks, the counters may have forgotten that day.
    for (days, decided) in [(1, APPROVED), (20, APPROVED), (21, CAPPED)] {
        let (db, world) = (outbox(), World::capped(1));
        let late = conversion(1).under_current(&world);
        world.catalog.borrow_mut().lose(OFFER);
        assert_eq!(send_or_keep(&db, &world, &late), Err("unavailable"));
        world.catalog.borrow_mut().find(OFFER);
        world.pass(days * DAY_MS);
        assert_eq!(send(&db, &world, &conversion(2)), APPROVED);
        assert_eq!(decide(&db, &world), 1);
        assert_eq!(send(&db, &world, &late).map(|(status, _)| (status, false)), decided);
    }
}

/// Two advertisers claim to have sent it. The terms name the right one, and until they are back nobody knows which.
#[test]
fn a_strangers_postback_takes_no_place_of_another_that_is_kept() {
    let (db, world) = (outbox(), World::new());
    world.change(|offer| offer.advertiser_id = advertiser("rival"));
    let own = Conversion { advertiser: Some(advertiser("rival")), ..conversion(1).under_current(&world) };
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
    let action = Conversion { event: Event::Action(Action::Approve), ..late };
    let failure = kept::keep(&db, NOW, &action, LOST_TERMS.into()).unwrap();
    assert!(matches!(failure, Failure::Refused(refusal) if refusal.status == 503));
    assert_eq!(dump(&db, "kept").len(), 0);
}
