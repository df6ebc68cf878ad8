//! Every status in every state: the rows, answers and payments follow `domain::conversions::state`.

use super::*;
use domain::conversions::state::{Reason, State, next};

/// A row of click 1 in this state, and a world in which its obstacle is gone.
fn in_state(state: Option<State>) -> (Sqlite, World) {
    let (db, world) = (outbox(), World::new());
    let send = |status| convert(&db, &world, &conversion(1).status(status)).map(drop);
    match state {
        None => {}
        Some(State::Pending) => send(Status::Pending).unwrap(),
        Some(State::Approved) => send(Status::Approved).unwrap(),
        Some(State::Rejected) => send(Status::Rejected).unwrap(),
        Some(State::Reversed) => {
            send(Status::Approved).unwrap();
            send(Status::Reversed).unwrap();
        }
        Some(State::Tombstone) => send(Status::Reversed).unwrap(),
        Some(State::Refused(Reason::Capped)) => {
            world.cap(Some(0));
            send(Status::Approved).unwrap_err();
            world.cap(None);
        }
        Some(State::Refused(Reason::WindowClosed)) => {
            world.now_ms.set(NOW + 40 * DAY_MS);
            send(Status::Approved).unwrap_err();
            world.change(|offer| offer.conversion_window_days = 90);
            world.catalog.borrow_mut().offer_since(OFFER, NOW / SECOND_MS);
        }
        Some(State::Refused(Reason::DuplicateTxn)) => {
            convert(&db, &world, &conversion(2).txn("t")).unwrap();
            convert(&db, &world, &conversion(1).txn("t")).unwrap_err();
        }
        Some(State::Refused(Reason::AlreadyRewarded)) => {
            let other = conversion(2).user("user-1");
            convert(&db, &world, &other).unwrap();
            send(Status::Approved).unwrap_err();
            convert(&db, &world, &other.status(Status::Reversed)).unwrap();
        }
    }
    (db, world)
}

fn state_number(db: &Sqlite) -> i64 {
    let sql = "SELECT state FROM conversions WHERE nonce = ?";
    let row = db.query_first(sql, params![vec![1_u8; 12]]).unwrap().unwrap();
    row.integer(0).unwrap()
}

/// The numbers of rewards and reversals of click 1.
fn callbacks(db: &Sqlite) -> (usize, usize) {
    let count = |id: &str| match written::get(db, id) {
        Ok(reply) => usize::from(json(reply)["state"] == "waiting"),
        Err(_) => 0,
    };
    // Nothing is sent here, so a paid reward stays waiting.
    (count(&reward_id(1)), count(&reversal_id(1)))
}

#[test]
fn every_status_changes_every_state_as_the_table_defines() {
    let states = [
        None,
        Some(State::Pending),
        Some(State::Approved),
        Some(State::Rejected),
        Some(State::Reversed),
        Some(State::Tombstone),
        Some(State::Refused(Reason::Capped)),
        Some(State::Refused(Reason::WindowClosed)),
        Some(State::Refused(Reason::DuplicateTxn)),
        Some(State::Refused(Reason::AlreadyRewarded)),
    ];
    let numbered = |state: State| {
        states
            .iter()
            .position(|known| *known == Some(state))
            .map(|place| place as i64 - 1)
            .unwrap()
    };
    for state in states {
        for status in Status::ALL {
            let (db, world) = in_state(state);
            if let Some(state) = state {
                assert_eq!(state_number(&db), numbered(state), "{state:?}");
            }
            let before = callbacks(&db);
            let expected = next(state, status);
            let answer = convert(&db, &world, &conversion(1).status(status)).unwrap();
            assert_eq!(answer.transaction_id, reward_id(1), "{state:?} {status:?}");
            assert_eq!(
                (answer.status, answer.duplicate),
                (expected.state.answer().unwrap(), expected.duplicate),
                "{state:?} {status:?}"
            );
            assert_eq!(
                state_number(&db),
                numbered(expected.state),
                "{state:?} {status:?}"
            );
            let moved = match expected.movement {
                None => (0, 0),
                Some(Movement::Reward) => (1, 0),
                Some(Movement::Reversal) => (0, 1),
            };
            let after = callbacks(&db);
            assert_eq!(
                after,
                (before.0 + moved.0, before.1 + moved.1),
                "{state:?} {status:?}"
            );
        }
    }
}

#[test]
fn a_conversion_reversed_before_it_arrived_is_never_paid() {
    let (db, world) = (outbox(), World::new());
    assert_eq!(
        send(&db, &world, &conversion(1).status(Status::Reversed)),
        Ok(("reversed", false))
    );
    for status in Status::ALL {
        assert_eq!(
            send(&db, &world, &conversion(1).status(status)),
            Ok(("reversed", true))
        );
    }
    assert_eq!(entries(&db).len(), 1);
    assert!(entry(&db, &reward_id(1))["state"].is_null());
    assert!(dump(&db, "traffic").is_empty());
    assert!(claim(&db, NOW).is_empty());
}
