//! Notices: a publisher may choose to be told of conversions that are not paid.

use super::*;
use domain::{
    callbacks::fields::Status as Told,
    conversions::{ids::Kind, state::Reason, table::Action},
};
use retention::night;
use settlement::settle;
use suspended::{CAPPED, release, suspend};

const ALL: Events = Events { approved: true, reversed: true, pending: true, rejected: true };

/// A world whose publisher is told of everything.
fn told_of_all() -> (Sqlite, World) {
    let world = World::new();
    world.events.set(ALL);
    (outbox(), world)
}

fn notice_id(n: u8, kind: Kind) -> String {
    let row = RowKey { app: app(), shard: shard().number, nonce: [n; 12], goal: "g-1" };
    transaction_id(&row, kind)
}

/// The next callbacks: the statuses and transaction ids. Every callback is delivered.
fn delivered(db: &Sqlite, now_ms: i64, events: Events) -> Vec<(Told, String)> {
    let callbacks = claim_of(db, now_ms, events);
    for callback in &callbacks {
        answer(db, now_ms, callback, 200);
    }
    let sent = callbacks.into_iter();
    sent.map(|callback| (callback.fields.status, callback.fields.transaction_id)).collect()
}

#[test]
fn a_notice_has_an_id_of_its_own_and_pays_nothing() {
    let (db, world) = told_of_all();
    send(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    send(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    let pending = claim_of(&db, NOW, ALL).remove(0).fields;
    assert_eq!(pending.transaction_id, notice_id(1, Kind::Pending));
    assert_eq!(pending.original_transaction_id, Some(reward_id(1)));
    assert_eq!((pending.value.as_str(), pending.payout.as_str()), ("0", "0"));
    assert_eq!(pending.pending_value.unwrap().as_str(), "75");
    let shown = entry(&db, &notice_id(1, Kind::Pending));
    assert_eq!((&shown["status"], &shown["state"]), (&"pending".into(), &"waiting".into()));
    assert!(shown.get("payout").is_none() && shown.get("value").is_none());
    assert_eq!(shown["original_transaction_id"], reward_id(1));
    // The reward itself has its own id, and no money has moved.
    assert!(entry(&db, &reward_id(1))["state"].is_null());
    assert!(payments(&db).is_empty());

    assert_eq!(settle(&db, &world, &reward_id(1), Action::Reject, &[]), Ok(("rejected", false)));
    let rejected = claim_of(&db, NOW, ALL).remove(0).fields;
    assert_eq!(rejected.transaction_id, notice_id(1, Kind::Rejected));
    assert_eq!((rejected.status, rejected.value.as_str()), (Told::Rejected, "0"));
    assert_eq!(rejected.reason.as_deref(), Some("checked by hand"));
    assert!(claim_of(&db, NOW, ALL).is_empty());
    let today = domain::model::time::UtcDay::of_ms(NOW);
    let read = contract::outbox::ReadDay { day: today, after: 0, mark: 0 };
    assert!(day::read(&db, read, day::STEP).unwrap().offers.is_empty());
}

#[test]
fn each_side_is_told_of_each_event_once() {
    let id = |kind| notice_id(1, kind);
    let (reward, reversal) = (reward_id(1), reversal_id(1));
    let (pending, rejected) = (id(Kind::Pending), id(Kind::Rejected));
    // The postbacks, then the callbacks of a publisher that wants every event. Each is delivered at once.
    let table = [
        (vec![Status::Approved], vec![(Told::Approved, &reward)]),
        (
            vec![Status::Approved, Status::Pending, Status::Reversed, Status::Rejected],
            vec![(Told::Approved, &reward), (Told::Reversed, &reversal)],
        ),
        (vec![Status::Pending, Status::Approved], vec![(Told::Pending, &pending), (Told::Approved, &reward)]),
        (
            vec![Status::Pending, Status::Reversed, Status::Approved],
            vec![(Told::Pending, &pending), (Told::Rejected, &rejected)],
        ),
        (vec![Status::Rejected, Status::Pending], vec![(Told::Rejected, &rejected)]),
        (vec![Status::Reversed, Status::Rejected, Status::Approved], vec![]),
    ];
    for (postbacks, expected) in table {
        for events in [ALL, DEFAULT_EVENTS] {
            let (db, world) = (outbox(), World::new());
            world.events.set(events);
            let mut sent = Vec::new();
            for status in &postbacks {
                send(&db, &world, &conversion(1).status(*status)).unwrap();
                sent.extend(delivered(&db, NOW, events));
            }
            let wanted = expected.iter().filter(|(status, _)| events.contains(*status));
            let wanted: Vec<_> = wanted.map(|(status, id)| (*status, (*id).clone())).collect();
            assert_eq!(sent, wanted, "{postbacks:?} {events:?}");
        }
    }
}

#[test]
fn a_hold_is_told_as_pending_and_its_end_as_what_it_is() {
    for (action, status, id) in [
        (Action::Approve, Told::Approved, reward_id(1)),
        (Action::Reject, Told::Rejected, notice_id(1, Kind::Rejected)),
    ] {
        let (db, world) = told_of_all();
        world.hold(|offer, _| offer.min_seconds_to_convert = Some(2 * 86_400));
        send(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
        send(&db, &world, &conversion(1)).unwrap();
        let told = delivered(&db, NOW, ALL);
        assert_eq!(told, [(Told::Pending, notice_id(1, Kind::Pending))]);
        settle(&db, &world, &reward_id(1), action, &[Reason::TooFast]).unwrap();
        assert_eq!(delivered(&db, NOW, ALL), [(status, id)]);
    }
}

/// The sender reports it again after its release was refused.
#[test]
fn a_conversion_that_waits_again_is_told_of_once() {
    let (db, world) = told_of_all();
    convert(&db, &world, &conversion(9)).unwrap();
    delivered(&db, NOW, ALL);
    suspend(&db, &world, 2, true);
    send(&db, &world, &conversion(1)).unwrap();
    suspend(&db, &world, 3, false);
    assert_eq!(delivered(&db, NOW, ALL), [(Told::Pending, notice_id(1, Kind::Pending))]);
    world.cap(Some(0));
    assert_eq!(release(&db, &world), [CAPPED]);
    let again = send(&db, &world, &conversion(1).status(Status::Pending));
    assert_eq!(again, Ok(("pending", false)));
    assert!(delivered(&db, NOW, ALL).is_empty());
    world.cap(None);
    send(&db, &world, &conversion(1)).unwrap();
    assert_eq!(delivered(&db, NOW, ALL), [(Told::Approved, reward_id(1))]);
}

#[test]
fn a_notice_that_is_overtaken_is_not_sent() {
    let (db, world) = told_of_all();
    send(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    send(&db, &world, &conversion(1)).unwrap();
    assert_eq!(delivered(&db, NOW, ALL), [(Told::Approved, reward_id(1))]);
    assert_eq!(entry(&db, &notice_id(1, Kind::Pending))["state"], "not_wanted");
}

#[test]
fn a_callback_that_the_publisher_does_not_want_ends_without_an_attempt() {
    let (db, world) = (outbox(), World::new());
    for n in 1..=20 {
        send(&db, &world, &conversion(n)).unwrap();
    }
    send(&db, &world, &conversion(20).status(Status::Reversed)).unwrap();
    retention(&db, "user-20");
    let only_reversed = Events { approved: false, ..DEFAULT_EVENTS };
    // Every due callback is examined, and the reversal no longer waits for its reward.
    assert_eq!(delivered(&db, NOW, only_reversed), [(Told::Reversed, reversal_id(20))]);
    let (ended, _) = page(&db, None, Some("not_wanted"), 100, None);
    assert_eq!(ended.len(), 20);
    assert!(ended.iter().all(|entry| entry["attempts"] == Json::Array(vec![])));
    assert!(entry(&db, &reward_id(20))["user_id"].is_null());
    assert_eq!(entry(&db, &reward_id(1))["user_id"], "user-1");
    // Skipped rewards can still be replayed.
    operator::replay(&db, NOW, &reward_id(1), CLAIM_MS).unwrap();
    assert_eq!(delivered(&db, NOW, ALL), [(Told::Approved, reward_id(1))]);
}

fn retention(db: &Sqlite, user: &str) {
    outbox::erasure::erase(db, NOW, shard(), user).unwrap();
}

#[test]
fn notices_leave_with_their_conversion() {
    for statuses in [
        &[Status::Pending][..],
        &[Status::Pending, Status::Rejected],
        &[Status::Pending, Status::Approved, Status::Reversed],
    ] {
        let (db, world) = told_of_all();
        for status in statuses {
            send(&db, &world, &conversion(1).status(*status)).unwrap();
            if *status != Status::Pending {
                delivered(&db, NOW, ALL);
            }
        }
        send_batches(&db, NOW);
        // A reward that was paid later than its entry was made leaves a night later.
        for nights in [399, 402, 403] {
            let night = NOW + nights * DAY_MS;
            while outbox::retention::sweep(&db, night).unwrap() == Some(night + SECOND_MS) {}
            let left = dump(&db, "entries").len();
            assert!((left > 0) == (nights == 399) || nights == 402, "{statuses:?} {nights}: {left}");
        }
        assert!(dump(&db, "conversions").is_empty());
    }
}

#[test]
fn a_user_who_was_erased_is_told_of_and_erased_again() {
    let (db, world) = told_of_all();
    send(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    delivered(&db, NOW, ALL);
    retention(&db, "user-1");
    // The operator's rejection does not know the user, so the publisher is not told.
    let (other, other_world) = (db, world);
    send(&other, &other_world, &conversion(1).status(Status::Rejected)).unwrap();
    assert_eq!(delivered(&other, NOW, ALL), [(Told::Rejected, notice_id(1, Kind::Rejected))]);
    assert!(entries(&other).iter().all(|entry| entry["user_id"].is_null()));
    let (db, world) = told_of_all();
    send(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    delivered(&db, NOW, ALL);
    retention(&db, "user-1");
    settle(&db, &world, &reward_id(1), Action::Reject, &[]).unwrap();
    assert!(delivered(&db, NOW, ALL).is_empty());
}

#[test]
fn many_unwanted_callbacks_end_in_several_turns() {
    let (db, world) = (outbox(), World::new());
    send(&db, &world, &conversion(1)).unwrap();
    fill(&db, 1_200);
    let claims = || attempts::claim(&db, NOW, MAX_IN_FLIGHT, CLAIM_MS, Events::NONE).unwrap();
    let ended: Vec<_> = (0..4).map(|_| claims().skipped.len()).collect();
    assert!(ended[0] < 600 && ended[1] < 600, "{ended:?}");
    assert_eq!((ended.iter().sum::<usize>(), ended[3]), (1_200, 0));
}

/// A notice leaves with its conversion, but only once the receivers of batches have its number. If the witness has a
/// number that the log lacks, the outbox assumes that it was put back.
#[test]
fn a_conversion_stays_while_the_number_of_its_notice_waits() {
    let (db, world) = told_of_all();
    let rows = |db: &Sqlite| dump(db, "entries").len();
    convert(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    send_batches(&db, NOW);
    world.pass(SECOND_MS);
    convert(&db, &world, &conversion(1).status(Status::Rejected)).unwrap();
    assert_eq!(rows(&db), 3);
    night(&db, NOW + 402 * DAY_MS);
    assert_eq!(rows(&db), 3);
    send_batches(&db, NOW);
    night(&db, NOW + 403 * DAY_MS);
    assert_eq!(rows(&db), 0);
}
