//! What waits for something else than a cap: the rewards of a suspended publisher, postbacks whose terms are lost, and the count
//! of what was paid before an offer had a cap.

use super::*;
use contract::{
    catalog::LOST_TERMS,
    outbox::{ClaimApp, SetOffer, SettleFilter, SettleMany},
};
use domain::conversions::{state::Reason, table::Action};
use origin::objects::outbox::conversions::{kept, settlement};

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

/// Judges what a suspension held, as the alarm does.
fn release(db: &Sqlite, world: &World) -> Vec<Result<(&'static str, bool), &'static str>> {
    assert_eq!(db.query_integer(outbox::sql::GET_RELEASED, &[]).unwrap(), Some(0));
    let held = SettleMany {
        filter: SettleFilter {
            status: "held".into(),
            reason: Some("suspended".into()),
            ..SettleFilter::default()
        },
        action: Action::Approve,
        reason: String::new(),
        despite: Vec::new(),
        dry_run: false,
        after: 0,
    };
    let (ids, next) = settlement::matching(db, &held).unwrap();
    assert_eq!(next, None);
    let judge = |id: &String| {
        let (_, _, conversion) = settlement::of_entry(db, shard(), id).unwrap();
        send(db, world, &conversion)
    };
    ids.iter().map(judge).collect()
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
    // A reversal of what is held ends it.
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
    // The operator's word goes beyond a suspension only if it names it.
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
    outbox::retention::erase(&db, "user-1").unwrap();
    suspend(&db, &world, 3, false);
    assert_eq!(release(&db, &world), [Err("user_erased")]);
}

/// Sends a postback like the service, which keeps it if its terms are lost.
fn send_or_keep(
    db: &Sqlite,
    world: &World,
    postback: &Conversion,
) -> Result<(&'static str, bool), &'static str> {
    let mut conversion = postback.clone();
    conversion.current = world.catalog.borrow().current(&conversion.click.offer);
    match now(outbox::terms::of(db, world, shard(), &conversion)) {
        Ok(_) => send(db, world, postback),
        Err(failure) => match kept::keep(db, world.now_ms.get(), &conversion, failure).unwrap() {
            Failure::Refused(refusal) => Err(refusal.code),
            Failure::Internal(cause) => panic!("{cause}"),
        },
    }
}

/// Runs the statements of what waits.
pub fn run_every_statement(db: &Sqlite, world: &World) {
    let lost = LOST_TERMS.with_message("app 1").into();
    kept::keep(db, NOW, &conversion(99), lost).unwrap();
    for postback in kept::due(db, NOW + DAY_MS).unwrap() {
        kept::drop_one(db, postback.number).unwrap();
    }
    set_cap(db, world, None);
    db.execute(outbox::sql::SET_RELEASED, params![Option::<i64>::None])
        .unwrap();
    db.query_integer(outbox::sql::GET_RELEASED, &[]).unwrap();
    let claim = ClaimApp { outbox_shards: 8 };
    endpoint::claim_app(db, shard(), claim).unwrap();
}

#[test]
fn the_number_of_outboxes_that_was_claimed_first_stands() {
    let db = outbox();
    for (claimed, stands) in [(8, 8), (1, 8), (64, 8)] {
        let claim = ClaimApp {
            outbox_shards: claimed,
        };
        assert_eq!(
            endpoint::claim_app(&db, shard(), claim).unwrap().outbox_shards,
            stands
        );
    }
    // One that has conversions knows it without a claim, and a claim changes nothing else.
    let (db, world) = (outbox(), World::new());
    assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
    let before = dump(&db, "outbox");
    let claim = ClaimApp { outbox_shards: 64 };
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
    // What was sealed before is paid meanwhile.
    assert_eq!(send_or_keep(&db, &world, &conversion(3)), APPROVED);
    // While they are missing, each try is later than the one before.
    let mut dues = Vec::new();
    for _ in 0..10 {
        let due_ms = db.query_integer(outbox::sql::FIRST_KEPT, &[]).unwrap();
        world.now_ms.set(due_ms.unwrap());
        for postback in kept::due(&db, world.now_ms.get()).unwrap() {
            assert_eq!(
                send_or_keep(&db, &world, &postback.conversion),
                Err("unavailable")
            );
        }
        dues.push(world.now_ms.get());
    }
    assert!(
        dues.windows(3)
            .all(|three| three[2] - three[1] >= three[1] - three[0]),
        "{dues:?}"
    );
    world.catalog.borrow_mut().find(OFFER);
    world.pass(DAY_MS);
    for postback in kept::due(&db, world.now_ms.get()).unwrap() {
        let outcome = convert(&db, &world, &postback.conversion);
        assert!(kept::decides(&outcome));
        kept::drop_one(&db, postback.number).unwrap();
    }
    assert_eq!(entry(&db, &reward_id(1))["payout"], 5);
    assert_eq!(entry(&db, &reward_id(2))["status"], "reversed");
    assert_eq!((missing(&db), dump(&db, "kept").len()), (vec![], 0));
    assert_eq!(send_or_keep(&db, &world, &late), Ok(("approved", true)));
}

#[test]
fn what_is_kept_of_an_erased_user_goes_and_other_failures_keep_nothing() {
    let (db, world) = (outbox(), World::new());
    world.change(|offer| offer.goals[0].payout_micro_usd = 5);
    let late = conversion(1).under_current(&world);
    world.catalog.borrow_mut().lose(OFFER);
    assert_eq!(send_or_keep(&db, &world, &late), Err("unavailable"));
    outbox::retention::erase(&db, "user-1").unwrap();
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
fn what_was_paid_today_without_a_cap_is_counted_when_there_is_one() {
    let (db, world) = (outbox(), World::new());
    let midnight_ms = NOW - NOW.rem_euclid(DAY_MS) + DAY_MS;
    // Yesterday's count for nothing, and neither does what is pending.
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
    // What is taken is not counted again, and what follows without a cap is.
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
