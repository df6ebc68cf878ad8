//! After an erasure: postbacks for earlier clicks, apps without a callback, and restores.

use serde_json::json as j;

use super::*;
use origin::objects::outbox::{
    callbacks::replay::replay,
    conversions::kept,
    erasure::{self, erase},
    retention::sweep,
    story as reward_story,
    sums::journal::refill,
};

const DAY_OF_CLICK_MS: i64 = NOW - DAY_MS;

/// All of the tables that name users.
fn dump_all(db: &Sqlite) -> String {
    let tables = ["entries", "attempts", "conversions", "reservations", "kept"];
    tables.map(|table| format!("{:?}", dump(db, table))).concat()
}

fn erase_ann(db: &Sqlite) {
    erase(db, NOW, shard(), "ann").unwrap();
}

fn of_ann(n: u8) -> Conversion {
    conversion(n).user("ann")
}

#[test]
fn a_postback_for_a_click_before_the_erasure_is_paid_and_leaves_no_user() {
    let (db, world) = (outbox(), World::paying_each_click());
    apply_settings(&db, NOW, &settings(1, true));
    erase_ann(&db);
    for (n, status) in [(1, Status::Approved), (2, Status::Pending), (3, Status::Rejected)] {
        convert(&db, &world, &of_ann(n).status(status)).unwrap();
    }
    // Only the waiting callback still has the user, and nobody can read it there.
    for id in [1, 2, 3].map(reward_id) {
        assert!(entry(&db, &id)["user_id"].is_null(), "{id}");
    }
    let callbacks = claim(&db, NOW);
    assert_eq!(ids(&callbacks), [reward_id(1)]);
    assert_eq!(callbacks[0].fields.user_id, "ann");
    answer(&db, NOW, &callbacks[0], 200);
    assert!(!dump_all(&db).contains("ann"));

    // A click after the erasure is one of a new user.
    let mut later = of_ann(4);
    later.click.clicked_at_ms = NOW + 1;
    world.pass(SECOND_MS);
    convert(&db, &world, &later.status(Status::Pending)).unwrap();
    assert_eq!(entry(&db, &reward_id(4))["user_id"], "ann");
}

#[test]
fn a_reservation_for_a_click_before_the_erasure_leaves_no_user() {
    let (db, world) = (outbox(), World::capped(1));
    apply_settings(&db, NOW, &settings(1, true));
    erase_ann(&db);
    world.counters_answer.set(false);
    assert_eq!(refusal(convert(&db, &world, &of_ann(1))), common::UNAVAILABLE);
    world.counters_answer.set(true);
    assert_eq!(send(&db, &world, &of_ann(1)), Ok(("approved", true)));
    send_all(&db, world.now_ms.get(), 200);
    assert!(!dump_all(&db).contains("ann"));
}

#[test]
fn an_erased_user_is_remembered_for_as_long_as_postbacks_are_taken() {
    let db = outbox();
    erase_ann(&db);
    let is_erased = |at_ms| erasure::is_erased(&db, "ann", at_ms).unwrap();
    assert!(is_erased(NOW) && is_erased(DAY_OF_CLICK_MS) && !is_erased(NOW + 1));
    assert!(!erasure::is_erased(&db, "bob", NOW).unwrap());
    for (days, erased) in [(400, true), (402, false)] {
        let night_ms = NOW + days * DAY_MS;
        while sweep(&db, night_ms).unwrap() == Some(night_ms + SECOND_MS) {}
        assert_eq!(is_erased(NOW), erased, "after {days} days");
    }
}

#[test]
fn a_click_of_an_erased_user_says_so() {
    let (db, world) = (outbox(), World::paying_each_click());
    convert(&db, &world, &of_ann(1)).unwrap();
    let read = |at_ms| reward_story::of_click(&db, &read_click(1, Some(("ann", at_ms)))).unwrap();
    assert!(!read(DAY_OF_CLICK_MS).is_erased);
    erase_ann(&db);
    assert!(read(DAY_OF_CLICK_MS).is_erased && !read(NOW + 1).is_erased);
    assert_eq!(read(DAY_OF_CLICK_MS).rewards.len(), 1);
}

#[test]
fn an_app_without_a_callback_erases_at_once() {
    let (db, world) = (outbox(), World::paying_each_click());
    apply_settings(&db, NOW, &settings(1, false));
    convert(&db, &world, &of_ann(1)).unwrap();
    convert(&db, &world, &of_ann(2).status(Status::Pending)).unwrap();
    let erased = json(erase(&db, NOW, shard(), "ann").unwrap());
    assert_eq!(erased, j!({ "erased": 2, "waiting": 0 }));
    assert!(!dump_all(&db).contains("ann"));
    // Later conversions are erased at once, too.
    convert(&db, &world, &of_ann(1).status(Status::Reversed)).unwrap();
    convert(&db, &world, &of_ann(2)).unwrap();
    convert(&db, &world, &of_ann(3)).unwrap();
    assert!(!dump_all(&db).contains("ann"));
    assert_eq!(payments(&db).len(), 4);
    assert_eq!(refusal(replay(&db, NOW, &reward_id(1), CLAIM_MS)).code, "erased");
}

#[test]
fn a_user_whose_callback_waits_is_erased_when_the_app_removes_its_callback() {
    let (db, world) = (outbox(), World::paying_each_click());
    apply_settings(&db, NOW, &settings(1, true));
    convert(&db, &world, &of_ann(1)).unwrap();
    convert(&db, &world, &conversion(2)).unwrap();
    let erased = json(erase(&db, NOW, shard(), "ann").unwrap());
    assert_eq!(erased, j!({ "erased": 0, "waiting": 1 }));
    apply_settings(&db, NOW, &settings(2, false));
    assert!(!dump_all(&db).contains("ann"));
    // Others wait for the next callback.
    apply_settings(&db, NOW, &settings(3, true));
    assert_eq!(ids(&claim(&db, NOW)), [reward_id(2)]);
}

/// Settings that the outbox has not received yet may have a callback.
#[test]
fn an_outbox_that_does_not_know_its_settings_ends_no_callback() {
    let (db, world) = (outbox(), World::paying_each_click());
    convert(&db, &world, &of_ann(1)).unwrap();
    erase_ann(&db);
    apply_settings(&db, NOW, &settings(1, true));
    assert_eq!(ids(&claim(&db, NOW)), [reward_id(1)]);
}

#[test]
fn nobody_finds_a_waiting_callback_by_its_erased_user() {
    let (db, world) = (outbox(), World::paying_each_click());
    apply_settings(&db, NOW, &settings(1, true));
    convert(&db, &world, &Conversion { reason: Some("ann won".into()), ..of_ann(1) }).unwrap();
    erase_ann(&db);
    let shown = format!("{:?}", entries(&db)) + &story_text(&db, &reward_id(1));
    for hidden in ["ann", "c-one", "gaid\":\""] {
        assert!(!shown.contains(hidden), "{hidden} in {shown}");
    }
    // The receiver's words may name the user, and the runtime's may have the URL.
    answer(&db, NOW, &claim(&db, NOW)[0], 500);
    assert_eq!(entry(&db, &reward_id(1))["attempts"][0]["body"], "");
}

fn story_text(db: &Sqlite, id: &str) -> String {
    let read = contract::outbox::ReadReward {
        publisher: domain::model::PublisherId::parse("acme").unwrap(),
        transaction_id: id.to_owned(),
        is_analyst: false,
    };
    json(reward_story::read(db, &read).unwrap()).to_string()
}

#[test]
fn a_postback_of_an_erased_user_is_not_kept() {
    let db = outbox();
    let lost = || Failure::from(LOST_TERMS.with_message("offer o-1, terms 1"));
    kept::keep(&db, NOW, &of_ann(1), lost()).unwrap();
    assert_eq!(dump(&db, "kept").len(), 1);
    erase_ann(&db);
    kept::keep(&db, NOW, &of_ann(2), lost()).unwrap();
    assert_eq!(dump(&db, "kept").len(), 0);
}

/// The journal records every user that an outbox has erased, even one without an entry.
#[test]
fn a_restored_outbox_remembers_whom_it_has_erased() {
    let (db, world, witness) = (outbox(), World::paying_each_click(), journal::Witness::new());
    convert(&db, &world, &conversion(9)).unwrap();
    let lost = Failure::from(LOST_TERMS.with_message("offer o-1, terms 1"));
    kept::keep(&db, NOW, &of_ann(1), lost).unwrap();
    let mark = journal::journal(&db, &witness, 0);
    let copy = db.copy();
    erase_ann(&db);
    journal::journal(&db, &witness, mark);
    now(refill(&copy, &witness, shard(), Some(8))).unwrap();
    assert!(!dump_all(&copy).contains("ann"));
    assert!(erasure::is_erased(&copy, "ann", DAY_OF_CLICK_MS).unwrap());
}

fn close(db: &Sqlite, world: &World) {
    let closed = CallbackSettings { is_suspended: true, is_closed: true, ..settings(2, true) };
    endpoint::store_settings(db, world, shard(), &closed).unwrap();
    while sweep(db, NOW).unwrap() == Some(NOW + SECOND_MS) {}
}

/// Callbacks that wait are sent, and then no user is left. Later postbacks are held and name nobody.
#[test]
fn a_closed_publisher_gets_its_waiting_callbacks_and_keeps_no_user() {
    let (db, world) = (outbox(), World::paying_each_click());
    apply_settings(&db, NOW, &settings(1, true));
    for n in 1..=250_u8 {
        convert(&db, &world, &conversion(n).user(&format!("user-of-{n}"))).unwrap();
    }
    for n in 251..=255_u8 {
        convert(&db, &world, &conversion(n).user("user-of-none").status(Status::Pending)).unwrap();
    }
    send_all(&db, NOW, 200);
    convert(&db, &world, &conversion(0).user("user-of-the-last")).unwrap();
    close(&db, &world);
    let left = dump_all(&db);
    assert!(left.contains("user-of-the-last"));
    assert_eq!(left.matches("user-of-").count(), left.matches("user-of-the-last").count());
    assert!(entry(&db, &reward_id(0))["user_id"].is_null());
    let waiting = claim(&db, NOW);
    assert_eq!(ids(&waiting), [reward_id(0)]);
    answer(&db, NOW, &waiting[0], 200);
    assert!(!dump_all(&db).contains("user-of-"));

    let late = conversion(9).user("user-of-late");
    let nonce = Bytes([vec![0], vec![9; 11]].concat());
    convert(&db, &world, &Conversion { nonce, ..late }).unwrap();
    assert!(!dump_all(&db).contains("user-of-"));
    // This includes a user who clicked before the edge knew that the publisher is closed.
    assert!(erasure::is_erased(&db, "user-of-later", NOW + 60_000).unwrap());
    // A repeat of the settings changes nothing.
    close(&db, &world);
}

#[test]
fn an_endpoint_that_is_disabled_keeps_no_user_of_a_closed_publisher() {
    let (db, world) = (outbox(), World::paying_each_click());
    apply_settings(&db, NOW, &settings(1, true));
    convert(&db, &world, &of_ann(1)).unwrap();
    answer(&db, NOW, &claim(&db, NOW)[0], 410);
    convert(&db, &world, &of_ann(2)).unwrap();
    close(&db, &world);
    // The endpoint is called once more.
    let callbacks = claim(&db, NOW);
    assert_eq!(callbacks.len(), 2);
    answer(&db, NOW, &callbacks[0], 410);
    answer(&db, NOW, &callbacks[1], 500);
    assert!(!dump_all(&db).contains("ann"));
}

#[test]
fn a_restored_outbox_remembers_that_its_publisher_was_closed() {
    let (db, world, witness) = (outbox(), World::paying_each_click(), journal::Witness::new());
    apply_settings(&db, NOW, &settings(1, false));
    convert(&db, &world, &of_ann(1)).unwrap();
    let mark = journal::journal(&db, &witness, 0);
    let copy = db.copy();
    close(&db, &world);
    journal::journal(&db, &witness, mark);
    now(refill(&copy, &witness, shard(), Some(8))).unwrap();
    while sweep(&copy, NOW).unwrap() == Some(NOW + SECOND_MS) {}
    assert!(entry(&copy, &reward_id(1))["user_id"].is_null());
    // Until it knows its settings again, a callback may have to be sent.
    apply_settings(&copy, NOW, &settings(3, false));
    assert!(!dump_all(&copy).contains("ann"));
}
