//! Callback deliveries: the order of sending, the effect of answers, and the effect of setting, changing, disabling or
//! failing an endpoint on waiting callbacks.

use super::*;
use domain::callbacks::health::{FAILING_AFTER, Health};

const WAITING: Option<i64> = Some(0);
const DELIVERED: Option<i64> = Some(1);
const DEAD: Option<i64> = Some(2);

fn health(db: &Sqlite) -> (Health, Option<i64>) {
    let about = endpoint::read(db).unwrap().unwrap();
    (about.health, about.disabled_ms)
}

fn due_ms(db: &Sqlite) -> Option<i64> {
    attempts::due_ms(db, endpoint::read(db).unwrap().as_ref()).unwrap()
}

/// Claims at most so many.
fn claim_most(db: &Sqlite, now_ms: i64, most: usize) -> Vec<ClaimedCallback> {
    let claimed = attempts::claim(db, now_ms, most, CLAIM_MS, DEFAULT_EVENTS).unwrap();
    claimed.callbacks
}

#[test]
fn callbacks_are_claimed_once_and_the_longest_waiting_first() {
    let (db, world) = with_rewards(5);
    let now_ms = world.now_ms.get();
    let first = claim_most(&db, now_ms, 3);
    assert_eq!(ids(&first), [reward_id(1), reward_id(2), reward_id(3)]);
    let second = claim_most(&db, now_ms, 3);
    assert_eq!(ids(&second), [reward_id(4), reward_id(5)]);
    assert!(claim_most(&db, now_ms, 3).is_empty());
    assert!(claim_most(&db, now_ms + CLAIM_MS, 0).is_empty());
    assert_eq!(first[0].attempts_made, 0);
    assert_eq!(first[0].fields.user_id, "user-1");
}

#[test]
fn a_claim_postpones_a_callback_by_the_time_limit_of_an_attempt() {
    let (db, _) = with_rewards(1);
    assert!(claim_most(&db, NOW - 1, 6).is_empty());
    let lost = claim(&db, NOW);
    assert_eq!(delivery_state(&db, &reward_id(1)), (WAITING, Some(NOW + CLAIM_MS), 0));
    assert!(claim(&db, NOW + CLAIM_MS - 1).is_empty());
    assert_eq!(claim(&db, NOW + CLAIM_MS), lost);
}

#[test]
fn an_attempts_answer_decides_the_callbacks_state() {
    // By answer: the callback's new state and delay, and whether the endpoint counts as working.
    let cases = [
        (200, None, DELIVERED, 0, true),
        (299, None, DELIVERED, 0, true),
        (500, None, WAITING, 5_000, false),
        (302, None, WAITING, 5_000, false),
        (410, None, WAITING, 0, false),
        (503, Some("disable"), WAITING, 0, false),
        (400, Some("abort-message"), DEAD, 0, true),
    ];
    for (status, header, delivery, wait_ms, works) in cases {
        let (db, _) = with_rewards(1);
        endpoint::set_health(&db, Health { failures: 2, resumes_ms: 0 }, None).unwrap();
        let callback = claim(&db, NOW).remove(0);
        let ended_ms = NOW + 700;
        let judgement = judge_answer(&callback, ended_ms, status, header);
        attempts::conclude(&db, ended_ms, &callback, &attempt(NOW, status), &judgement).unwrap();
        let (found, due_ms, callbacks) = delivery_state(&db, &reward_id(1));
        assert_eq!((found, callbacks), (delivery, 1), "{status} {header:?}");
        // The random part of the delay is at its middle, so the delay is within a millisecond of the schedule.
        assert!((due_ms.unwrap() - ended_ms - wait_ms).abs() <= 1, "{status}: {due_ms:?}");
        let (health, disabled_ms) = health(&db);
        assert_eq!(health.failures, if works { 0 } else { 3 }, "{status} {header:?}");
        let disables = status == 410 || header == Some("disable");
        assert_eq!(disabled_ms, disables.then_some(ended_ms), "{status} {header:?}");
        assert_eq!(tries(&db), 1);
    }
}

#[test]
fn a_callback_is_dead_after_the_last_attempt_of_its_schedule() {
    let (db, _) = with_rewards(1);
    let mut now_ms = NOW;
    let attempts = Schedule::default().attempts();
    for made in 1..=attempts {
        let callback = claim(&db, now_ms).remove(0);
        assert_eq!(callback.attempts_made, made - 1);
        answer(&db, now_ms, &callback, 500);
        let (delivery, due_ms, _) = delivery_state(&db, &reward_id(1));
        assert_eq!(delivery, if made < attempts { WAITING } else { DEAD });
        now_ms = due_ms.unwrap();
    }
    assert!(claim(&db, now_ms + 1_000 * DAY_MS).is_empty());
    assert_eq!(tries(&db), attempts as usize);
    let hours = (now_ms - NOW) / 3_600_000;
    assert!((95..=97).contains(&hours), "{hours}");
}

#[test]
fn an_attempt_from_before_a_replay_ends_the_new_schedule_only_if_delivered() {
    for (status, delivery, attempts) in [(500, WAITING, 0), (200, DELIVERED, 2)] {
        let (db, _) = with_rewards(1);
        answer(&db, NOW, &claim(&db, NOW)[0], 500);
        let later = NOW + DAY_MS;
        let in_flight = claim(&db, later).remove(0);
        outbox::callbacks::replay::replay(&db, later, &reward_id(1), CLAIM_MS).unwrap();
        answer(&db, later + 5, &in_flight, status);
        assert_eq!(delivery_state(&db, &reward_id(1)).0, delivery, "{status}");
        assert_eq!(delivery_state(&db, &reward_id(1)).2, attempts, "{status}");
        assert_eq!(tries(&db), 2, "the attempt is still logged");
    }
}

#[test]
fn a_late_failure_does_not_reopen_a_delivered_callback() {
    let (db, _) = with_rewards(1);
    let slow = claim(&db, NOW).remove(0);
    let again = claim(&db, NOW + CLAIM_MS).remove(0);
    answer(&db, NOW + CLAIM_MS + 1, &again, 200);
    answer(&db, NOW + CLAIM_MS + 2, &slow, 500);
    assert_eq!(delivery_state(&db, &reward_id(1)).0, DELIVERED);
    assert!(claim(&db, NOW + DAY_MS).is_empty());
}

#[test]
fn a_failing_endpoint_pauses_and_one_success_resets_it() {
    let (db, _) = with_rewards(6);
    let callbacks = claim(&db, NOW + DAY_MS);
    for (failures, callback) in (1..).zip(&callbacks[..5]) {
        answer(&db, NOW + DAY_MS, callback, 500);
        assert_eq!(health(&db).0.failures, failures);
    }
    let (failing, _) = health(&db);
    assert!(failing.is_failing() && failing.failures == FAILING_AFTER);
    // Due callbacks wait until the endpoint is called again.
    let resumes_ms = failing.resumes_ms;
    assert!(resumes_ms > NOW + DAY_MS);
    let first = (1..=5).filter_map(|n| delivery_state(&db, &reward_id(n)).1).min();
    assert_eq!(due_ms(&db), first.max(Some(resumes_ms)));
    endpoint::set_health(&db, Health { resumes_ms: resumes_ms + DAY_MS, ..failing }, None).unwrap();
    assert_eq!(due_ms(&db), Some(resumes_ms + DAY_MS));
    answer(&db, NOW + DAY_MS, &callbacks[5], 200);
    assert_eq!(health(&db), (Health::default(), None));
}

#[test]
fn nothing_is_due_without_an_enabled_endpoint() {
    let (db, world) = (outbox(), World::new());
    world.catalog.borrow_mut().callback = settings(1, false);
    convert(&db, &world, &conversion(1)).unwrap();
    assert_eq!(due_ms(&db), None);
    assert_eq!(entry(&db, &reward_id(1))["state"], "no_endpoint");
    assert!(apply_settings(&db, NOW + 5, &settings(2, true)));
    assert_eq!(due_ms(&db), Some(NOW));
    let callback = claim(&db, NOW + 5).remove(0);
    answer(&db, NOW + 6, &callback, 410);
    assert_eq!(due_ms(&db), None);
    assert!(!endpoint::read(&db).unwrap().unwrap().has_endpoint());
}

#[test]
fn settings_that_are_sealed_again_change_nothing_but_the_seal() {
    let (db, world) = with_rewards(1);
    let now_ms = world.now_ms.get();
    apply_settings(&db, now_ms, &settings(2, true));
    let callbacks = claim(&db, now_ms);
    answer(&db, now_ms, &callbacks[0], 410);
    let again = CallbackSettings { sealed: Some(Bytes(vec![8; 40])), ..settings(2, true) };
    apply_settings(&db, now_ms, &again);
    let state = endpoint::read(&db).unwrap().unwrap();
    assert_eq!(state.callback.sealed, again.sealed);
    assert!(!state.has_endpoint(), "it stays switched off");
    // An older revision changes nothing.
    apply_settings(&db, now_ms, &settings(1, true));
    assert_eq!(endpoint::read(&db).unwrap().unwrap().callback.sealed, again.sealed);
}

#[test]
fn enabling_and_new_settings_release_all_callbacks_not_in_flight() {
    type Release = fn(&Sqlite, i64);
    let releases: [(&str, Release); 2] = [
        ("enable", |db, now_ms| {
            outbox::callbacks::replay::enable(db, now_ms, CLAIM_MS, now_ms).unwrap();
        }),
        ("settings", |db, now_ms| {
            assert!(apply_settings(db, now_ms, &settings(2, true)));
        }),
    ];
    for (how, release) in releases {
        let (db, world) = with_rewards(4);
        let now_ms = world.now_ms.get();
        // 1 waits for hours, 2 is in flight, 3 disables the endpoint, 4 was delivered before.
        let callbacks = claim(&db, now_ms);
        let late = Judgement {
            next: domain::callbacks::delivery::Next::At(now_ms + 5 * 3_600_000),
            ..judge_answer(&callbacks[0], now_ms, 500, None)
        };
        attempts::conclude(&db, now_ms, &callbacks[0], &attempt(now_ms, 500), &late).unwrap();
        answer(&db, now_ms, &callbacks[3], 200);
        answer(&db, now_ms, &callbacks[2], 410);
        assert!(!endpoint::read(&db).unwrap().unwrap().has_endpoint());
        release(&db, now_ms + 10);
        assert_eq!(health(&db), (Health::default(), None), "{how}");
        assert_eq!(ids(&claim(&db, now_ms + 10)), [reward_id(3), reward_id(1)], "{how}");
        assert_eq!(delivery_state(&db, &reward_id(2)), (WAITING, Some(now_ms + CLAIM_MS), 0), "{how}");
        // A released callback starts its schedule again.
        assert_eq!(delivery_state(&db, &reward_id(1)).2, 0, "{how}");
    }
}

#[test]
fn the_settings_of_the_highest_revision_apply_in_any_order() {
    let (db, world) = with_rewards(1);
    assert!(apply_settings(&db, NOW, &settings(9, true)));
    let callback = claim(&db, NOW + DAY_MS).remove(0);
    answer(&db, NOW + DAY_MS, &callback, 410);
    let before = endpoint::read(&db).unwrap();
    for older in [settings(9, false), settings(8, false), settings(1, true)] {
        assert!(!apply_settings(&db, NOW + DAY_MS, &older));
        assert_eq!(endpoint::read(&db).unwrap(), before);
    }
    assert!(apply_settings(&db, NOW + DAY_MS, &settings(10, false)));
    let after = endpoint::read(&db).unwrap().unwrap();
    assert_eq!((after.callback, after.disabled_ms), (settings(10, false), None));
    assert_eq!(after.current, Some(world.catalog.borrow().app.clone()));
}

#[test]
fn an_outbox_with_pushed_settings_gets_its_publisher_from_the_first_conversion() {
    let (db, world) = (outbox(), World::new());
    assert!(apply_settings(&db, NOW, &settings(4, true)));
    assert_eq!(endpoint::read(&db).unwrap().unwrap().current, None);
    // The callback that comes with the terms has revision 1, which is older than the pushed one.
    convert(&db, &world, &conversion(1)).unwrap();
    let known = endpoint::read(&db).unwrap().unwrap();
    assert_eq!(known.current, Some(world.catalog.borrow().app.clone()));
    assert_eq!((known.shard, known.callback), (shard(), settings(4, true)));
}

#[test]
fn a_reversal_waits_until_its_reward_is_delivered_or_dead() {
    type End = fn(&Sqlite, i64, &ClaimedCallback);
    let ends: [(Option<i64>, End); 2] = [(DELIVERED, |db, at, callback| answer(db, at, callback, 200)), (DEAD, abort)];
    for (delivery, end) in ends {
        let (db, world) = with_rewards(1);
        convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
        assert_eq!(delivery_state(&db, &reversal_id(1)), (WAITING, None, 0));
        assert_eq!(ids(&claim(&db, NOW + DAY_MS)), [reward_id(1)]);
        let retried = claim(&db, NOW + 2 * DAY_MS).remove(0);
        answer(&db, NOW + 2 * DAY_MS, &retried, 500);
        assert_eq!(delivery_state(&db, &reversal_id(1)), (WAITING, None, 0));
        // A new endpoint releases callbacks that wait for a time, but not one that waits for another callback.
        apply_settings(&db, NOW + 2 * DAY_MS, &settings(3, true));
        let last_ms = NOW + 3 * DAY_MS;
        let callbacks = claim(&db, last_ms);
        assert_eq!(ids(&callbacks), [reward_id(1)]);
        end(&db, last_ms, &callbacks[0]);
        assert_eq!(delivery_state(&db, &reward_id(1)).0, delivery);
        assert_eq!(delivery_state(&db, &reversal_id(1)), (WAITING, Some(last_ms), 0));
        assert_eq!(ids(&claim(&db, last_ms)), [reversal_id(1)]);
    }
}

#[test]
fn a_reversal_of_a_delivered_reward_is_due_at_once() {
    let (db, world) = with_rewards(1);
    assert_eq!(send_all(&db, NOW, 200), [reward_id(1)]);
    world.pass(DAY_MS);
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    assert_eq!(delivery_state(&db, &reversal_id(1)), (WAITING, Some(world.now_ms.get()), 0));
}

#[test]
fn a_replayed_reversal_still_waits_for_its_reward() {
    let (db, world) = with_rewards(1);
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    outbox::callbacks::replay::replay(&db, NOW + 1, &reversal_id(1), CLAIM_MS).unwrap();
    for at_ms in [NOW + 1, NOW + DAY_MS] {
        assert_eq!(ids(&claim(&db, at_ms)), [reward_id(1)]);
        assert_eq!(delivery_state(&db, &reversal_id(1)), (WAITING, None, 0));
        replay_many(&db, NOW + DAY_MS, RewardDelivery::Waiting);
    }
}

/// The reward is replayed during an attempt of its reversal, which fails.
#[test]
fn a_reversal_that_is_retried_waits_for_its_replayed_reward() {
    let (db, world) = with_rewards(1);
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    assert_eq!(send_all(&db, NOW + DAY_MS, 200), [reward_id(1), reversal_id(1)]);
    let replay = |at_ms, id: &str| outbox::callbacks::replay::replay(&db, at_ms, id, CLAIM_MS).unwrap();
    let later = NOW + 2 * DAY_MS;
    replay(later, &reversal_id(1));
    let reversal = claim(&db, later).remove(0);
    replay(later, &reward_id(1));
    answer(&db, later, &reversal, 500);
    let latest = later + DAY_MS;
    let reward = claim(&db, latest);
    assert_eq!(ids(&reward), [reward_id(1)]);
    answer(&db, latest, &reward[0], 200);
    assert_eq!(ids(&claim(&db, latest)), [reversal_id(1)]);
}

/// The publisher wants reversals only, so the reward ends when it is claimed.
#[test]
fn a_reversal_is_sent_after_a_reward_that_the_publisher_does_not_want() {
    let (db, world) = with_rewards(1);
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    outbox::callbacks::replay::replay(&db, NOW + 1, &reversal_id(1), CLAIM_MS).unwrap();
    let reversals = Events { reversed: true, ..Events::NONE };
    assert_eq!(ids(&claim_of(&db, NOW + 1, reversals)), [reversal_id(1)]);
}

#[test]
fn rewards_and_reversals_replayed_together_keep_their_order() {
    let (db, world) = with_rewards(1);
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    for expected in [reward_id(1), reversal_id(1)] {
        let callbacks = claim(&db, NOW + DAY_MS);
        assert_eq!(ids(&callbacks), [expected]);
        abort(&db, NOW + DAY_MS, &callbacks[0]);
    }
    let later = NOW + 2 * DAY_MS;
    replay_many(&db, later, RewardDelivery::Dead);
    for expected in [reward_id(1), reversal_id(1)] {
        let callbacks = claim(&db, later);
        assert_eq!(ids(&callbacks), [expected]);
        answer(&db, later, &callbacks[0], 200);
    }
    // A callback that is replayed alone waits for nothing.
    outbox::callbacks::replay::replay(&db, later, &reversal_id(1), CLAIM_MS).unwrap();
    assert_eq!(ids(&claim(&db, later)), [reversal_id(1)]);
}

#[test]
fn an_answer_of_a_replaced_endpoint_does_not_affect_the_new_one() {
    let (db, _) = with_rewards(1);
    let callback = claim(&db, NOW).remove(0);
    assert!(apply_settings(&db, NOW + 5, &settings(2, true)));
    answer(&db, NOW + 6, &callback, 410);
    assert_eq!(health(&db), (Health::default(), None));
    assert_eq!(ids(&claim(&db, NOW + 7)), [reward_id(1)]);
}

#[test]
fn an_unreadable_callback_does_not_block_others() {
    let (db, world) = with_rewards(2);
    let now_ms = world.now_ms.get();
    db.execute(
        "UPDATE entries SET fields = json_remove(fields, '$.user_id') WHERE entry = (SELECT MIN(entry) FROM entries)",
        &[],
    )
    .unwrap();
    assert_eq!(ids(&claim(&db, now_ms)), [reward_id(2)]);
    assert_eq!(ids(&claim(&db, now_ms + 1)), Vec::<String>::new());
    let entry = entry(&db, &reward_id(1));
    assert_eq!(entry["state"], "waiting");
    assert!(entry["attempts"][0]["error"].is_string(), "{entry}");
}
