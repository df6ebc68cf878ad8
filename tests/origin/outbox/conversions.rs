//! Conversion rules on stored rows: advertisers, goals, windows, txns, and amounts frozen at the payment.

use super::*;
use domain::conversions::token::INVALID_TOKEN;

const APPROVED: Result<(&str, bool), &str> = Ok(("approved", false));
const REPEATED: Result<(&str, bool), &str> = Ok(("approved", true));

/// The tables that conversions are written to.
const TABLES: [&str; 4] = ["conversions", "entries", "reservations", "txns"];

/// Whether no row was written for a conversion.
fn no_trace(db: &Sqlite) -> bool {
    TABLES.iter().all(|table| dump(db, table).is_empty())
}

#[test]
fn only_the_offers_advertiser_reports_its_conversions() {
    let (db, world) = (outbox(), World::new());
    let other = Conversion { advertiser: Some(advertiser("other")), ..conversion(1) };
    assert_eq!(refusal(convert(&db, &world, &other)), INVALID_TOKEN);
    assert!(no_trace(&db));
    assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
}

#[test]
fn the_advertiser_of_a_repeat_is_checked_too() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    let wrong = Conversion { advertiser: Some(advertiser("other")), ..conversion(1).status(Status::Reversed) };
    assert_eq!(send(&db, &world, &wrong), Err("invalid_token"));
    assert_eq!(send(&db, &world, &conversion(1)), REPEATED);
}

#[test]
fn a_goal_is_named_by_id_or_event_code_and_defaults_to_the_first() {
    let (db, world) = (outbox(), World::new());
    let paid = |n, named: Option<&str>| {
        let postback = Conversion { goal: named.map(str::to_owned), ..conversion(n) };
        let id = convert(&db, &world, &postback).unwrap().transaction_id;
        let entry = entry(&db, &id);
        (entry["goal_id"].as_str().unwrap().to_owned(), entry["payout"].to_string())
    };
    // The click named g-2, but the click's goal does not select the conversion's.
    assert_eq!(paid(1, None), ("g-1".into(), "0.75".into()));
    assert_eq!(paid(2, Some("g-2")), ("g-2".into(), "2".into()));
    assert_eq!(paid(3, Some("purchase")), ("g-2".into(), "2".into()));
    // One click may reach several goals, each once.
    assert_eq!(paid(1, Some("purchase")), ("g-2".into(), "2".into()));
    assert_eq!(send(&db, &world, &conversion(1).goal("install")), REPEATED);
    assert_eq!(entries(&db).len(), 4);
}

#[test]
fn an_unknown_goal_leaves_no_trace() {
    let (db, world) = (outbox(), World::new());
    for goal in ["g-3", "Instal", "install ", ""] {
        assert_eq!(send(&db, &world, &conversion(1).goal(goal)), Err("unknown_goal"));
    }
    assert!(no_trace(&db));
}

#[test]
fn a_goal_name_keeps_its_goal_for_a_click() {
    let (db, world) = (outbox(), World::new());
    let unnamed = convert(&db, &world, &conversion(1)).unwrap();
    let named = convert(&db, &world, &conversion(1).goal("purchase")).unwrap();
    // The operator puts another goal first and gives its event code to a new goal, whose id was an event code before.
    world.change(|offer| {
        offer.goals = vec![
            goal("g-3", "install", 9_000_000),
            goal("purchase", "", 9_000_000),
            goal("g-2", "", 1),
            goal("g-1", "", 1),
        ];
    });
    world.catalog.borrow_mut().offer_since(OFFER, NOW / SECOND_MS);
    for (postback, first) in [
        (conversion(1), &unnamed),
        (conversion(1).goal("g-1"), &unnamed),
        (conversion(1).goal("purchase"), &named),
        (conversion(1).goal("g-2"), &named),
    ] {
        let again = convert(&db, &world, &postback).unwrap();
        assert_eq!((&again.transaction_id, again.duplicate), (&first.transaction_id, true));
    }
    // A new name and another click use the goals that are in force now.
    let new = convert(&db, &world, &conversion(1).goal("install")).unwrap();
    assert_eq!(new.transaction_id, id_of(1, "g-3", Movement::Reward));
    let other = convert(&db, &world, &conversion(2)).unwrap();
    assert_eq!(other.transaction_id, id_of(2, "g-3", Movement::Reward));
}

#[test]
fn a_goal_name_from_a_repeat_keeps_its_goal_too() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    assert_eq!(send(&db, &world, &conversion(1).goal("install")), REPEATED);
    world.change(|offer| offer.goals.push(goal("install", "", 9_000_000)));
    world.catalog.borrow_mut().offer_since(OFFER, NOW / SECOND_MS);
    assert_eq!(send(&db, &world, &conversion(1).goal("install")), REPEATED);
    assert_eq!(entries(&db).len(), 1);
}

#[test]
fn the_window_is_exact_to_the_millisecond_and_applies_to_new_conversions_only() {
    let (db, world) = (outbox(), World::new());
    let last_ms = NOW - DAY_MS + 30 * DAY_MS;
    world.now_ms.set(last_ms);
    assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
    assert_eq!(send(&db, &world, &conversion(2).status(Status::Pending)), Ok(("pending", false)));
    world.pass(1);
    let closed = refusal(convert(&db, &world, &conversion(3)));
    assert_eq!((closed.status, closed.code), (410, "conversion_window_closed"));
    assert!(closed.message.contains("30 days"));
    assert_eq!(send(&db, &world, &conversion(4).status(Status::Pending)), Err("conversion_window_closed"));
    // A rejection or reversal is accepted after the window, since it pays nothing.
    assert_eq!(send(&db, &world, &conversion(5).status(Status::Rejected)), Ok(("rejected", false)));
    assert_eq!(send(&db, &world, &conversion(6).status(Status::Reversed)), Ok(("reversed", false)));
    world.pass(300 * DAY_MS);
    assert_eq!(send(&db, &world, &conversion(1)), REPEATED);
    assert_eq!(send(&db, &world, &conversion(2)), APPROVED);
    assert_eq!(send(&db, &world, &conversion(1).status(Status::Reversed)), Ok(("reversed", false)));
}

#[test]
fn a_txn_is_unique_for_an_advertiser_and_a_goal() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(send(&db, &world, &conversion(1).txn("t")), APPROVED);
    assert_eq!(send(&db, &world, &conversion(1).txn("t")), REPEATED);
    assert_eq!(send(&db, &world, &conversion(2).txn("t")), Err("duplicate_txn"));
    assert_eq!(send(&db, &world, &conversion(2).txn("T")), APPROVED);
    assert_eq!(send(&db, &world, &conversion(3).txn("t").goal("purchase")), APPROVED);
    assert_eq!(send(&db, &world, &conversion(4).txn("t").status(Status::Pending)), Err("duplicate_txn"));
    assert_eq!(send(&db, &world, &conversion(4).txn("t").status(Status::Reversed)), Ok(("reversed", false)));
    // txns are separate for each advertiser, and for each app, which has its own outbox.
    world.change(|offer| offer.advertiser_id = advertiser("other"));
    let others =
        |n| Conversion { advertiser: Some(advertiser("other")), ..conversion(n).txn("t").under_current(&world) };
    assert_eq!(send(&db, &world, &others(5)), APPROVED);
    assert_eq!(send(&db, &world, &others(6)), Err("duplicate_txn"));
    let another = World::new();
    another.first(|offer| offer.advertiser_id = advertiser("other"));
    assert_eq!(send(&outbox(), &another, &others(6).under_current(&another)), APPROVED);
}

#[test]
fn a_pending_conversion_uses_its_txn() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1).txn("t").status(Status::Pending)).unwrap();
    assert_eq!(send(&db, &world, &conversion(2).txn("t")), Err("duplicate_txn"));
    // An approval without a txn leaves the one that the log shows.
    assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
    assert_eq!(entry(&db, &reward_id(1))["txn"], "t");
}

#[test]
fn a_pending_conversion_uses_the_txn_of_its_approval() {
    for cap in [None, Some(5)] {
        let (db, world) = (outbox(), World::new());
        world.cap(cap);
        convert(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
        assert_eq!(send(&db, &world, &conversion(1).txn("t")), APPROVED);
        assert_eq!(send(&db, &world, &conversion(2).txn("t")), Err("duplicate_txn"), "{cap:?}");
    }
}

#[test]
fn an_approval_with_a_used_txn_leaves_the_conversion_pending() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1).txn("t")).unwrap();
    convert(&db, &world, &conversion(2).status(Status::Pending)).unwrap();
    assert_eq!(send(&db, &world, &conversion(2).txn("t")), Err("duplicate_txn"));
    assert_eq!(send(&db, &world, &conversion(2).status(Status::Pending)), Ok(("pending", true)));
    assert_eq!(send(&db, &world, &conversion(2).txn("u")), APPROVED);
}

#[test]
fn a_conversion_that_is_never_paid_uses_no_txn() {
    for status in [Status::Rejected, Status::Reversed] {
        let (db, world) = (outbox(), World::new());
        convert(&db, &world, &conversion(1).txn("t").status(status)).unwrap();
        convert(&db, &world, &conversion(2).status(Status::Pending)).unwrap();
        convert(&db, &world, &conversion(2).txn("t").status(status)).unwrap();
        assert_eq!(send(&db, &world, &conversion(3).txn("t")), APPROVED, "{status:?}");
    }
}

#[test]
fn a_repeated_refusal_is_logged_once() {
    let (db, world) = (outbox(), World::new());
    world.now_ms.set(NOW + 60 * DAY_MS);
    for _ in 0..3 {
        assert_eq!(send(&db, &world, &conversion(1)), Err("conversion_window_closed"));
    }
    let before = entries(&db);
    assert_eq!(before.len(), 1);
    world.pass(DAY_MS);
    assert_eq!(send(&db, &world, &conversion(1)), Err("conversion_window_closed"));
    assert_eq!(entries(&db), before);
}

#[test]
fn a_repeat_under_another_goal_name_changes_no_logged_entry() {
    for status in [Status::Pending, Status::Rejected, Status::Reversed, Status::Approved] {
        let (db, world) = (outbox(), World::new());
        convert(&db, &world, &conversion(1).txn("t").status(status)).unwrap();
        let before = dump(&db, "entries");
        world.pass(DAY_MS);
        world.change(|offer| offer.goals[0].payout_micro_usd = 1);
        let again = conversion(1).goal("install").status(status);
        assert!(convert(&db, &world, &again).unwrap().duplicate);
        assert_eq!(dump(&db, "entries"), before, "{status:?}");
    }
}

#[test]
fn a_reward_is_worth_what_it_was_at_the_click_and_its_reversal_negates_it_exactly() {
    let (db, world) = (outbox(), World::new());
    world.first(|offer| offer.goals[0].payout_micro_usd = 1_234_567);
    let change = || {
        world.change(|offer| {
            offer.goals[0].payout_micro_usd += 5;
            offer.goals[0].gl_val = Some("other".into());
        });
        let mut catalog = world.catalog.borrow_mut();
        catalog.change_app(|app| app.currency.name.push('!'));
    };
    change();
    convert(&db, &world, &conversion(1).txn("t").status(Status::Pending)).unwrap();
    change();
    world.pass(DAY_MS);
    convert(&db, &world, &conversion(1)).unwrap();
    change();
    world.pass(DAY_MS);
    convert(&db, &world, &conversion(1).status(Status::Rejected)).unwrap();
    let said = |id: &str| {
        let sql = "SELECT fields, payout_micro_usd FROM entries WHERE transaction_id = ?";
        let row = db.query_first(sql, params![id]).unwrap().unwrap();
        let fields: Json = serde_json::from_str(row.text(0).unwrap()).unwrap();
        (fields, row.integer(1).unwrap())
    };
    let (reward, paid) = said(&reward_id(1));
    let day_s = DAY_MS / SECOND_MS;
    let expected = serde_json::json!({
        "user_id": "user-1", "value": "123.45", "payout": "1.234567", "currency": "Coins",
        "transaction_id": reward_id(1), "offer_id": "o-1", "goal_id": "g-1", "goal_value": "install",
        "app_id": "00000042", "gaid": "gaid", "c1": "c-one", "c5": "c-five", "country": "DE",
        "click_ts": NOW / SECOND_MS - day_s, "conversion_ts": NOW / SECOND_MS + day_s, "status": "approved",
    });
    assert_eq!((reward, paid), (expected.clone(), 1_234_567));
    let (reversal, taken_back) = said(&reversal_id(1));
    let mut negative = expected;
    negative["value"] = "-123.45".into();
    negative["payout"] = "-1.234567".into();
    negative["transaction_id"] = reversal_id(1).into();
    negative["original_transaction_id"] = reward_id(1).into();
    negative["conversion_ts"] = (NOW / SECOND_MS + 2 * day_s).into();
    negative["status"] = "reversed".into();
    assert_eq!((reversal, taken_back), (negative, -1_234_567));
}

#[test]
fn a_conversion_is_retryable_while_the_catalog_does_not_answer() {
    let (db, world) = (outbox(), World::new());
    world.catalog_answers.set(false);
    assert_eq!(refusal(convert(&db, &world, &conversion(1))), common::UNAVAILABLE);
    assert!(no_trace(&db));
    world.catalog_answers.set(true);
    assert_eq!(send(&db, &world, &conversion(1)), APPROVED);
}

#[test]
fn a_click_of_an_unknown_offer_is_invalid() {
    let (db, world) = (outbox(), World::new());
    for offer in ["o-2", "not an offer"] {
        let mut postback = conversion(1);
        postback.click.offer = offer.into();
        assert_eq!(send(&db, &world, &postback), Err("invalid_click_id"));
    }
    assert!(no_trace(&db));
}

#[test]
fn an_immediate_approval_leaves_the_same_rows_as_a_later_one() {
    let [at_once, later] = [outbox(), outbox()];
    let [world, other] = [World::new(), World::new()];
    // The keys of rewards depend on the salt, so both outboxes need the same one.
    for world in [&world, &other] {
        world.state_cache().set_salt(&[1; 16]);
    }
    let postback = || conversion(1).txn("t");
    assert_eq!(send(&at_once, &world, &postback()), Ok(("approved", false)));
    assert_eq!(send(&later, &other, &postback().status(Status::Pending)), Ok(("pending", false)));
    // A later payment has a number of its own.
    let all = |db: &Sqlite| {
        db.execute("UPDATE entries SET movement = entry WHERE movement > 0", &[]).unwrap();
        TABLES.map(|table| dump(db, table))
    };
    assert_ne!(all(&at_once), all(&later));
    assert_eq!(send(&later, &other, &postback()), Ok(("approved", false)));
    assert_eq!(all(&at_once), all(&later));
}
