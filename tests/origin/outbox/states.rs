//! Every event in every state, cell by cell as in docs/DECISIONS.md, "Conversions"; and every reason that may stand against
//! a conversion, in every state in which it is judged.

use super::*;
use Event::{Action as Act, Postback as Sent};
use domain::conversions::{
    log_number::first_number,
    state::{Reason, State},
    table::Action,
};

const EVENTS: [Event; 7] = [
    Sent(Status::Approved),
    Sent(Status::Pending),
    Sent(Status::Rejected),
    Sent(Status::Reversed),
    Act(Action::Approve),
    Act(Action::Reject),
    Act(Action::Reverse),
];

/// An event of click 1. All conversions of these tests are of one user.
fn event(event: Event) -> Conversion {
    let postback = of_click(1);
    match event {
        Sent(status) => postback.status(status),
        Act(_) | Event::Release => Conversion { advertiser: None, event, ..postback },
    }
}

fn of_click(n: u8) -> Conversion {
    conversion(n).user("ann").txn(&format!("t-{n}"))
}

/// Lets a reason stand against click 1.
fn stand(db: &Sqlite, world: &World, reason: Reason) {
    match reason {
        Reason::WindowClosed => world.pass(40 * DAY_MS),
        Reason::DuplicateTxn => {
            let other = of_click(2).txn("t-1").goal("g-1").user("bob");
            convert(db, world, &other).unwrap();
        }
        Reason::AlreadyRewarded => drop(convert(db, world, &of_click(3)).unwrap()),
        Reason::AfterRestore => lose(db, world, Some(NOW + DAY_MS)),
        Reason::Suspended => suspend(db, world, true),
        Reason::TooFast => world.hold(|offer, _| offer.min_seconds_to_convert = Some(2 * 86_400)),
        Reason::TooManyToday => {
            world.hold(|_, app| app.max_rewards_per_user_day = Some(1));
            convert(db, world, &of_click(4).goal("g-2")).unwrap();
        }
        Reason::Capped => world.cap(Some(0)),
    }
}

/// Suspends the publisher, or admits it again.
fn suspend(db: &Sqlite, world: &World, is_suspended: bool) {
    let known = endpoint::read(db).unwrap().map_or(1, |state| state.callback.revision);
    let settings = CallbackSettings { is_suspended, ..settings(known + 1, true) };
    endpoint::store_settings(db, world, shard(), &settings).unwrap();
}

/// Makes the outbox assume that payments of the clicks so far are lost. It holds such clicks until a time.
fn lose(db: &Sqlite, world: &World, until_ms: Option<i64>) {
    suspend(db, world, false);
    let sql = "UPDATE outbox SET lost = ?, gap_until_ms = ?";
    db.execute(sql, params![first_number(NOW), until_ms]).unwrap();
    world.state_cache.clear();
}

/// Makes it stand no longer.
fn relieve(db: &Sqlite, world: &World, reason: Reason) {
    let reverse = |conversion: Conversion| convert(db, world, &conversion.status(Status::Reversed)).unwrap();
    match reason {
        Reason::WindowClosed => world.now_ms.set(NOW),
        // A claim is kept for ever, so another id is sent (see `event_after`).
        Reason::DuplicateTxn => {}
        Reason::AlreadyRewarded => drop(reverse(of_click(3))),
        Reason::AfterRestore => lose(db, world, None),
        Reason::Suspended => suspend(db, world, false),
        Reason::TooFast => world.hold(|offer, _| offer.min_seconds_to_convert = None),
        Reason::TooManyToday => drop(reverse(of_click(4).goal("g-2"))),
        Reason::Capped => world.cap(None),
    }
}

/// Click 1 in a state, in a world in which nothing stands against it any more.
fn in_state(state: Option<State>) -> (Sqlite, World) {
    let (db, world) = (outbox(), World::new());
    let sent = |status| drop(convert(&db, &world, &event(Sent(status))));
    match state {
        None => {}
        Some(State::Pending) => sent(Status::Pending),
        Some(State::Approved) => sent(Status::Approved),
        Some(State::Rejected) => sent(Status::Rejected),
        Some(State::Reversed) => {
            sent(Status::Approved);
            sent(Status::Reversed);
        }
        Some(State::Tombstone) => sent(Status::Reversed),
        Some(State::Refused(reason) | State::Held(reason)) => {
            stand(&db, &world, reason);
            sent(Status::Approved);
            relieve(&db, &world, reason);
        }
    }
    (db, world)
}

/// The stored state of click 1.
fn stored(db: &Sqlite) -> Option<State> {
    let sql = "SELECT state FROM conversions WHERE nonce = ? AND goal = 'g-1'";
    let row = db.query_first(sql, params![vec![1_u8; 12]]).unwrap();
    row.map(|row| outbox::log::states::state_of(row.integer(0).unwrap()).unwrap())
}

/// Whether click 1 has a callback for its reward, and for its reversal. Nothing is sent here.
fn callbacks(db: &Sqlite) -> (bool, bool) {
    let waits = |id: &str| match written::get(db, id) {
        Ok(reply) => json(reply)["state"] == "waiting",
        Err(_) => false,
    };
    (waits(&reward_id(1)), waits(&reversal_id(1)))
}

/// The effect of an event on click 1, in one word.
fn outcome(db: &Sqlite, world: &World, conversion: &Conversion) -> &'static str {
    let (before, called) = (stored(db), callbacks(db));
    let answer = send(db, world, conversion);
    let (after, calls) = (stored(db), callbacks(db));
    let word = match (answer, after) {
        (Err(code), _) if before == after => code,
        (Err(code), Some(State::Refused(reason))) if reason.code() == code => "refused",
        (Ok((_, true)), _) if before == after => "same",
        (Ok(("approved", false)), Some(State::Approved)) => "paid",
        (Ok(("pending", false)), Some(State::Pending)) => "pending",
        (Ok(("pending", false)), Some(State::Held(_))) => "held",
        (Ok(("rejected", false)), Some(State::Rejected)) => "rejected",
        (Ok(("reversed", false)), Some(State::Tombstone)) => "tombstone",
        (Ok(("reversed", false)), Some(State::Reversed)) => "taken back",
        other => panic!("{other:?}"),
    };
    let moved = (called.0 || word == "paid", called.1 || word == "taken back");
    assert_eq!(calls, moved, "{word}");
    word
}

#[test]
fn every_event_in_every_state_does_what_the_table_says() {
    const GONE: &str = "not_found";
    const NO: &str = "wrong_state";
    let unpaid = ["paid", "pending", "rejected", "tombstone", "paid", "rejected", NO];
    let held = ["same", "same", "rejected", "rejected", "paid", "rejected", NO];
    let mut table = vec![
        (None, ["paid", "pending", "rejected", "tombstone", GONE, GONE, GONE]),
        (Some(State::Pending), ["paid", "same", "rejected", "rejected", "paid", "rejected", NO]),
        (Some(State::Approved), ["same", "same", "taken back", "taken back", "same", NO, "taken back"]),
        (Some(State::Rejected), ["same", "same", "same", "same", NO, "same", NO]),
        (Some(State::Reversed), ["same", "same", "same", "same", NO, NO, "same"]),
        (Some(State::Tombstone), ["same", "same", "same", "same", NO, NO, NO]),
    ];
    for reason in Reason::ALL {
        if reason.holds() {
            table.push((Some(State::Held(reason)), held));
        } else {
            table.push((Some(State::Refused(reason)), unpaid));
        }
    }
    for (state, cells) in table {
        for (sent, expected) in EVENTS.into_iter().zip(cells) {
            let (db, world) = in_state(state);
            assert_eq!(stored(&db), state);
            let mut sent = event(sent);
            if state == Some(State::Refused(Reason::DuplicateTxn)) && sent.advertiser.is_some() {
                sent.txn = Some("t-other".into());
            }
            assert_eq!(outcome(&db, &world, &sent), expected, "{state:?} {:?}", sent.event);
        }
    }
}

#[test]
fn every_reason_stands_where_it_is_judged() {
    // The order of `Reason::ALL`: window, txn, once, lost, suspended, too fast, too many, cap.
    let refused = |code| ["refused", "refused", "refused", "held", "held", "held", "held", code];
    let stays = ["paid", "duplicate_txn", "already_rewarded", "held", "held", "held", "held", "conversion_capped"];
    let named = [
        "paid",
        "duplicate_txn",
        "already_rewarded",
        "after_restore",
        "suspended",
        "too_fast",
        "too_many_today",
        "paid",
    ];
    let mut pending = refused("pending");
    pending[3..].fill("pending");
    let table = [
        (None, Sent(Status::Approved), refused("refused")),
        (None, Sent(Status::Pending), pending),
        (Some(State::Pending), Sent(Status::Approved), stays),
        (Some(State::Pending), Act(Action::Approve), named),
        (
            Some(State::Refused(Reason::Capped)),
            Sent(Status::Approved),
            ["refused", "refused", "refused", "held", "held", "held", "held", "conversion_capped"],
        ),
        (Some(State::Refused(Reason::Capped)), Act(Action::Approve), named),
        (
            Some(State::Held(Reason::TooFast)),
            Act(Action::Approve),
            [
                "paid",
                "duplicate_txn",
                "already_rewarded",
                "after_restore",
                "suspended",
                "paid",
                "too_many_today",
                "paid",
            ],
        ),
    ];
    for (state, sent, cells) in table {
        for (reason, expected) in Reason::ALL.into_iter().zip(cells) {
            let (db, world) = in_state(state);
            // The click's own claim would keep the txn from the other click.
            let mut sent = event(sent);
            if reason == Reason::DuplicateTxn {
                sent.txn = Some("t-2".into());
                convert(&db, &world, &of_click(2).user("bob")).unwrap();
            } else {
                stand(&db, &world, reason);
            }
            assert_eq!(outcome(&db, &world, &sent), expected, "{state:?} {:?} {reason:?}", sent.event);
            let is_named = matches!(sent.event, Act(_)) && expected == reason.code();
            if is_named {
                sent.despite = vec![reason];
                assert_eq!(outcome(&db, &world, &sent), "paid", "{state:?} despite {reason:?}");
            }
        }
    }
}

#[test]
fn an_approval_by_the_operator_is_counted_by_the_cap() {
    let (db, world) = (outbox(), World::capped(1));
    send(&db, &world, &conversion(2)).unwrap();
    assert_eq!(outcome(&db, &world, &event(Sent(Status::Approved))), "refused");
    assert_eq!(outcome(&db, &world, &event(Act(Action::Approve))), "paid");
    let taken = "SELECT COUNT(*) FROM takes";
    assert_eq!(world.counters.query_integer(taken, &[]).unwrap(), Some(2));
    // A third does not fit, and the cap may be raised by one for it.
    assert_eq!(send(&db, &world, &conversion(5)), Err("conversion_capped"));
    world.cap(Some(3));
    assert_eq!(send(&db, &world, &conversion(5)), Ok(("approved", false)));
}

#[test]
fn reversing_a_forced_approval_leaves_the_other_click_its_reward() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &of_click(3)).unwrap();
    assert_eq!(outcome(&db, &world, &event(Sent(Status::Approved))), "refused");
    assert_eq!(outcome(&db, &world, &event(Act(Action::Approve))), "paid");
    assert_eq!(outcome(&db, &world, &event(Act(Action::Reverse))), "taken back");
    // The other click still has the reward.
    assert_eq!(send(&db, &world, &of_click(6)), Err("already_rewarded"));
}

#[test]
fn a_conversion_reversed_before_it_arrived_is_never_paid() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(send(&db, &world, &conversion(1).status(Status::Reversed)), Ok(("reversed", false)));
    for status in Status::ALL {
        assert_eq!(send(&db, &world, &conversion(1).status(status)), Ok(("reversed", true)));
    }
    assert_eq!(entries(&db).len(), 1);
    assert!(entry(&db, &reward_id(1))["state"].is_null());
    assert!(payments(&db).is_empty());
    assert!(claim(&db, NOW).is_empty());
}
