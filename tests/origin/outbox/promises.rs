//! Promised rewards are paid to those who were promised them: owners of goals, standing rewards, and how late an
//! approval or a reversal may come.

use super::{retention::night, settlement::settle, *};
use domain::{
    catalog::offer::OncePer,
    conversions::table::Action::{Approve, Reject, Reverse},
    model::time::UtcDay,
};

const APPROVED: Result<(&str, bool), &str> = Ok(("approved", false));
const REVERSED: Result<(&str, bool), &str> = Ok(("reversed", false));
const REPEATED: Result<(&str, bool), &str> = Ok(("approved", true));
const TAKEN: Result<(&str, bool), &str> = Err("already_rewarded");
const FOREIGN: Result<(&str, bool), &str> = Err("invalid_token");
const CLOSED: Result<(&str, bool), &str> = Err("conversion_window_closed");

fn by(name: &str, conversion: Conversion) -> Conversion {
    Conversion { advertiser: Some(advertiser(name)), ..conversion }
}

/// The offer moves from `brand` to `rival`, and gains a goal.
fn move_offer(world: &World) {
    world.change(|offer| {
        offer.advertiser_id = advertiser("rival");
        offer.goals.push(goal("g-9", "deposit", 50_000_000));
    });
}

#[test]
fn the_terms_that_have_a_goal_decide_who_may_report_it() {
    let (db, world) = (outbox(), World::new());
    move_offer(&world);
    let (old, newer) = (conversion(1), conversion(2).under_current(&world));
    for (sender, conversion, answer) in [
        ("brand", old.clone().goal("deposit"), FOREIGN),
        ("rival", old.clone().goal("install"), FOREIGN),
        ("rival", old.clone(), FOREIGN),
        ("third", old.clone().goal("no such goal"), FOREIGN),
        ("brand", old.clone().goal("no such goal"), Err("unknown_goal")),
        ("rival", old.clone().goal("no such goal"), Err("unknown_goal")),
        ("brand", old.clone(), APPROVED),
        ("rival", old.goal("deposit"), APPROVED),
        ("brand", newer.clone(), FOREIGN),
        ("rival", newer, APPROVED),
    ] {
        let named = conversion.goal.clone();
        assert_eq!(send(&db, &world, &by(sender, conversion)), answer, "{sender} {named:?}");
    }
}

#[test]
fn a_goal_that_got_another_name_pays_what_the_click_was_promised() {
    for name in ["signup", "Signup", "install"] {
        let (db, world) = (outbox(), World::new());
        world.change(|offer| {
            offer.advertiser_id = advertiser("rival");
            offer.goals[0] = goal("g-1", "signup", 5_000_000);
        });
        let old = conversion(1).goal(name);
        assert_eq!(send(&db, &world, &by("rival", old.clone())), FOREIGN, "{name}");
        assert_eq!(send(&db, &world, &by("brand", old)), APPROVED, "{name}");
        assert_eq!(entry(&db, &reward_id(1))["payout"], 0.75, "{name}");
    }
}

#[test]
fn a_known_conversion_belongs_to_the_advertiser_that_it_was_accepted_from() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
    let pending = conversion(2).status(Status::Pending);
    assert_eq!(send(&db, &world, &pending), Ok(("pending", false)));
    world.cap(Some(0));
    assert_eq!(send(&db, &world, &conversion(3)), Err("conversion_capped"));
    world.cap(None);
    move_offer(&world);
    world.catalog.borrow_mut().offer_since(OFFER, NOW / SECOND_MS);
    let reversal = conversion(1).status(Status::Reversed);
    assert_eq!(send(&db, &world, &by("rival", reversal.clone())), FOREIGN);
    assert_eq!(send(&db, &world, &reversal), REVERSED);
    assert_eq!(send(&db, &world, &by("rival", conversion(2))), FOREIGN);
    assert_eq!(send(&db, &world, &conversion(2)), APPROVED);
    assert_eq!(send(&db, &world, &conversion(2).goal("g-1")), REPEATED);
    // A refused conversion counts as accepted from nobody, and is judged again.
    assert_eq!(send(&db, &world, &conversion(3)), FOREIGN);
    assert_eq!(send(&db, &world, &by("rival", conversion(3))), APPROVED);
}

#[test]
fn a_goal_is_found_in_other_letters_where_nothing_else_can_be_meant() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(send(&db, &world, &conversion(1).goal("INSTALL")), APPROVED);
    assert_eq!(send(&db, &world, &conversion(1).goal("Install")), REPEATED);
    assert_eq!(send(&db, &world, &conversion(1).goal("G-1")), REPEATED);
    // A code that was saved with a blank.
    world.change(|offer| offer.goals.push(goal("g-5", "purchase5 ", 1_000_000)));
    assert_eq!(send(&db, &world, &conversion(4).under_current(&world).goal("purchase5")), APPROVED);
    // Another goal that is alike makes it ambiguous, whatever terms have it. Exact names stay exact.
    world.change(|offer| offer.goals.push(goal("g-4", "Install", 9_000_000)));
    assert_eq!(send(&db, &world, &conversion(2).goal("iNSTALL")), Err("unknown_goal"));
    assert_eq!(send(&db, &world, &conversion(2).goal("install")), APPROVED);
    assert_eq!(send(&db, &world, &conversion(2).goal("Install")), APPROVED);
    assert_eq!(send(&db, &world, &conversion(1).goal("INSTALL")), REPEATED);
}

#[test]
fn a_forced_reward_stands_against_the_next_click() {
    let (db, world) = (outbox(), World::new());
    let of_ann = |n| conversion(n).user("ann");
    assert_eq!(send(&db, &world, &of_ann(1)), APPROVED);
    assert_eq!(send(&db, &world, &of_ann(2)), TAKEN);
    assert_eq!(settle(&db, &world, &reward_id(2), Approve, &[]), APPROVED);
    assert_eq!(send(&db, &world, &of_ann(1).status(Status::Reversed)), REVERSED);
    assert_eq!(send(&db, &world, &of_ann(3)), TAKEN);
    assert_eq!(send(&db, &world, &of_ann(2).status(Status::Reversed)), REVERSED);
    assert_eq!(send(&db, &world, &of_ann(3)), APPROVED);
}

#[test]
fn a_reward_that_each_click_was_promised_stands_against_one_for_each_user() {
    let (db, world) = (outbox(), World::paying_each_click());
    let of_ann = |n| conversion(n).user("ann");
    let (first, second) = (of_ann(1), of_ann(2));
    assert_eq!(send(&db, &world, &first), APPROVED);
    world.change(|offer| offer.once_per = OncePer::User);
    assert_eq!(send(&db, &world, &of_ann(3).under_current(&world)), TAKEN);
    // The second click was promised a reward of its own.
    assert_eq!(send(&db, &world, &second), APPROVED);
}

/// Lets the click of [`conversion`] be so many days old.
fn days(world: &World, days: i64) {
    world.now_ms.set(conversion(1).click.clicked_at_ms + days * DAY_MS);
}

#[test]
fn a_conversion_is_reported_approved_and_reversed_until_its_days() {
    // The day of the first postback and its answer; the day of the operator's approval; the day of the reversal.
    for (reported, first, approved, approval, reversed, reversal) in [
        (1, APPROVED, 1, REPEATED, 90, REVERSED),
        (1, APPROVED, 1, REPEATED, 399, REVERSED),
        (1, APPROVED, 1, REPEATED, 400, CLOSED),
        (1, APPROVED, 1, REPEATED, 1, REVERSED),
        (1, APPROVED, 90, REPEATED, 97, REVERSED),
        (90, APPROVED, 97, REPEATED, 98, REVERSED),
        (90, APPROVED, 97, REPEATED, 100, REVERSED),
        (97, CLOSED, 98, APPROVED, 100, REVERSED),
        (98, CLOSED, 100, APPROVED, 399, REVERSED),
        (100, CLOSED, 399, APPROVED, 400, REVERSED),
        (100, CLOSED, 399, APPROVED, 401, REVERSED),
        (100, CLOSED, 399, APPROVED, 429, REVERSED),
        (100, CLOSED, 399, APPROVED, 430, CLOSED),
        (399, CLOSED, 400, CLOSED, 401, CLOSED),
        (399, CLOSED, 399, APPROVED, 429, REVERSED),
        (400, CLOSED, 400, Err("not_found"), 401, Err("not_found")),
        (401, CLOSED, 430, Err("not_found"), 430, Err("not_found")),
        (399, CLOSED, 401, CLOSED, 430, CLOSED),
        (430, CLOSED, 430, Err("not_found"), 430, Err("not_found")),
    ] {
        let case = format!("{reported} {approved} {reversed}");
        let (db, world) = (outbox(), World::new());
        world.first(|offer| offer.conversion_window_days = 90);
        let conversion = conversion(1);
        days(&world, reported);
        assert_eq!(send(&db, &world, &conversion), first, "{case}");
        // The payout falls, the catalog forgets nothing, and every night is swept.
        world.change(|offer| offer.goals[0].payout_micro_usd = 1);
        days(&world, approved);
        night(&db, world.now_ms.get());
        assert_eq!(settle(&db, &world, &reward_id(1), Approve, &[]), approval, "{case}");
        let paid = sum_of_day(&db, UtcDay::of_ms(world.now_ms.get()));
        if approval == APPROVED {
            assert_eq!(paid, 750_000, "{case}");
        }
        send_all(&db, world.now_ms.get(), 200);
        days(&world, reversed);
        night(&db, world.now_ms.get());
        assert_eq!(settle(&db, &world, &reward_id(1), Reverse, &[]), reversal, "{case}");
        if reversal == REVERSED {
            let reversal = entry(&db, &id_of(1, "g-1", Movement::Reversal));
            assert_eq!(reversal["payout"], -0.75, "{case}");
        }
    }
}

/// The payments of a UTC day as batches have them, in micro-USD.
fn sum_of_day(db: &Sqlite, day: UtcDay) -> i64 {
    let rows = payments(db).into_iter().filter(|row| row.integer(0) == Ok(day.number()));
    rows.map(|row| row.integer(4).unwrap()).sum()
}

#[test]
fn the_log_and_the_sums_name_one_day_though_midnight_comes_between() {
    for before_ms in 0..12 {
        let (db, world) = (outbox(), World::new());
        // The outbox learns the terms before, so that only the commit crosses midnight.
        assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
        let midnight_ms = UtcDay::of_ms(NOW).minus(-1).start_ms();
        world.now_ms.set(midnight_ms - before_ms);
        world.tick_ms.set(1);
        let id = convert(&db, &world, &conversion(2)).unwrap().transaction_id;
        world.tick_ms.set(0);
        let logged_s = entry(&db, &id)["conversion_ts"].as_i64().unwrap();
        let day = UtcDay::of_ms(logged_s * SECOND_MS);
        let others = if day == UtcDay::of_ms(NOW) { 750_000 } else { 0 };
        assert_eq!(sum_of_day(&db, day), 750_000 + others, "{before_ms}");
    }
}

#[test]
fn a_user_who_is_erased_while_an_action_waits_is_not_sent() {
    let (db, world) = (outbox(), World::new());
    world.cap(Some(0));
    assert_eq!(send(&db, &world, &conversion(1)), Err("conversion_capped"));
    let settle =
        Settle { transaction_id: reward_id(1), action: Approve, reason: "checked".into(), despite: Vec::new() };
    let action = outbox::conversions::settlement::conversion(&db, NOW, shard(), &settle).unwrap();
    outbox::erasure::erase(&db, NOW, shard(), "user-1").unwrap();
    assert_eq!(send(&db, &world, &action), Err("user_erased"));
}

#[test]
fn a_user_who_is_erased_while_a_rejection_waits_is_not_named_in_its_notice() {
    let (db, world) = (outbox(), World::new());
    world.events.set(Events { pending: true, rejected: true, ..Events::NONE });
    assert_eq!(send(&db, &world, &conversion(1).status(Status::Pending)), Ok(("pending", false)));
    send_all(&db, NOW, 200);
    let settle = Settle { transaction_id: reward_id(1), action: Reject, reason: "checked".into(), despite: Vec::new() };
    let action = outbox::conversions::settlement::conversion(&db, NOW, shard(), &settle).unwrap();
    outbox::erasure::erase(&db, NOW, shard(), "user-1").unwrap();
    assert_eq!(send(&db, &world, &action), Ok(("rejected", false)));
    let named = "SELECT COUNT(*) FROM entries WHERE fields LIKE '%user-1%' OR user_id IS NOT NULL";
    assert_eq!(db.query_integer(named, &[]), Ok(Some(0)));
}

/// The claim arrives, its answer does not, and the repeat is refused for its window.
#[test]
fn a_refusal_for_the_window_frees_a_txn_that_was_claimed_before() {
    let (db, world) = (outbox(), World::new());
    let late = conversion(1).txn("t");
    let claim = Txn {
        advertiser: advertiser("brand"),
        goal: "g-1".into(),
        txn: "t".into(),
        nonce: late.nonce.clone(),
        number: txns::next_number(db_of(&db, &world)).unwrap(),
    };
    assert!(txns::claim(&world.keeper, NOW, shard(), &claim).unwrap());
    world.pass(31 * DAY_MS);
    assert_eq!(send(&db, &world, &late), CLOSED);
    let mut other = conversion(2).txn("t");
    other.click.clicked_at_ms = world.now_ms.get();
    assert_eq!(send(&db, &world, &other), APPROVED);
}

/// The outbox, which knows its app since an earlier conversion.
fn db_of<'a>(db: &'a Sqlite, world: &World) -> &'a Sqlite {
    assert_eq!(send(db, world, &conversion(9)), APPROVED);
    db
}
