//! The operator's actions on callbacks: replaying one or many, and reading and enabling the endpoint.

use serde_json::json as j;

use super::*;
use contract::outbox::{EndpointState, Standing};
use domain::callbacks::health::{FAILING_AFTER, Health};
use origin::objects::outbox::callbacks::replay::{enable, replay, standing};

const NOW_S: i64 = NOW / SECOND_MS;

/// Rewards of clicks 1 to 6, one minute apart: 1 and 4 delivered, 2 and 5 dead, 3 and 6 waiting for hours.
fn with_ended_callbacks() -> Sqlite {
    let (db, world) = (outbox(), World::new());
    for n in 1..=6 {
        convert(&db, &world, &conversion(n)).unwrap();
        let now_ms = world.now_ms.get();
        for callback in claim(&db, now_ms) {
            match n % 3 {
                1 => answer(&db, now_ms, &callback, 200),
                2 => abort(&db, now_ms, &callback),
                _ => {
                    let late = Judgement {
                        next: domain::callbacks::delivery::Next::At(NOW + DAY_MS),
                        ..judge_answer(&callback, now_ms, 500, None)
                    };
                    attempts::conclude(&db, now_ms, &callback, &attempt(now_ms, 500), &late).unwrap();
                }
            }
        }
        world.pass(60_000);
    }
    db
}

#[test]
fn a_replay_starts_a_new_schedule_at_once() {
    let db = with_ended_callbacks();
    let later = NOW + 3_600_000;
    for n in [1, 2, 3] {
        let shown = json(replay(&db, later, &reward_id(n), CLAIM_MS).unwrap());
        assert_eq!(shown, entry(&db, &reward_id(n)));
        assert_eq!((&shown["state"], &shown["next_try_ts"]), (&j!("waiting"), &j!(later / SECOND_MS)));
        assert_eq!(shown["attempts"].as_array().unwrap().len(), 1);
        assert_eq!(delivery_state(&db, &reward_id(n)), (Some(0), Some(later), 0));
    }
    let fields = claim(&db, later).remove(0).fields;
    assert_eq!((fields.transaction_id, fields.conversion_ts), (reward_id(1), NOW_S), "the content is unchanged");
}

#[test]
fn a_replay_without_an_endpoint_waits_for_one() {
    let db = with_ended_callbacks();
    apply_settings(&db, NOW, &settings(2, false));
    let shown = json(replay(&db, NOW, &reward_id(1), CLAIM_MS).unwrap());
    assert_eq!((&shown["state"], shown.get("next_try_ts")), (&j!("no_endpoint"), None));
}

#[test]
fn an_entry_without_a_callback_cannot_be_replayed() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    convert(&db, &world, &conversion(2).status(Status::Reversed)).unwrap();
    world.cap(Some(0));
    convert(&db, &world, &conversion(3)).unwrap_err();
    let before = dump(&db, "entries");
    for n in 1..=3 {
        let refused = refusal(replay(&db, NOW, &reward_id(n), CLAIM_MS));
        assert_eq!((refused.status, refused.code), (409, "nothing_to_send"));
    }
    let refused = refusal(replay(&db, NOW, &reward_id(4), CLAIM_MS));
    assert_eq!((refused.status, refused.code), (404, "not_found"));
    assert_eq!(dump(&db, "entries"), before);
}

#[test]
fn a_reversal_waits_for_a_reward_that_was_replayed_in_an_earlier_step() {
    let (db, world) = with_rewards(1);
    world.pass(SECOND_MS);
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    send_all(&db, world.now_ms.get(), 200);
    send_all(&db, world.now_ms.get(), 200);
    let later = NOW + DAY_MS;
    assert_eq!(replay_in(&db, later, RewardDelivery::Delivered, 1), 2);
    assert_eq!(ids(&claim(&db, later)), [reward_id(1)]);
    assert_eq!(delivery_state(&db, &reversal_id(1)), (Some(0), None, 0));
}

#[test]
fn a_delivered_reversal_is_sent_again_once_although_its_reward_is_delivered_between_two_steps() {
    // The reversal matches the filter, or comes after its end.
    for (until, replayed) in [(None, 2), (Some(NOW_S + 1), 1)] {
        let (db, world) = with_rewards(1);
        world.pass(SECOND_MS);
        convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
        send_all(&db, world.now_ms.get(), 200);
        let later = NOW + DAY_MS;
        let filter = RewardFilter { delivery: Some(RewardDelivery::Delivered), until, ..RewardFilter::default() };
        let (mut sum, mut after) = (0, Some(0));
        while let Some(from) = after {
            let made = bulk_replay_filters::step(&db, later, &filter, from, 1_000, 1);
            send_all(&db, later, 200);
            (sum, after) = (sum + made.replayed, made.next);
        }
        assert_eq!(sum, replayed);
        for id in [reward_id(1), reversal_id(1)] {
            let attempts = entry(&db, &id)["attempts"].as_array().unwrap().len();
            assert_eq!(attempts, 2, "{until:?}");
        }
    }
}

#[test]
fn a_replayed_reward_is_followed_by_its_reversal() {
    for many in [false, true] {
        let (db, world) = with_rewards(1);
        let dies = claim(&db, NOW).remove(0);
        abort(&db, NOW, &dies);
        convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
        assert_eq!(send_all(&db, world.now_ms.get(), 200), [reversal_id(1)]);
        let later = NOW + DAY_MS;
        if many {
            replay_many(&db, later, RewardDelivery::Dead);
        } else {
            replay(&db, later, &reward_id(1), CLAIM_MS).unwrap();
        }
        assert_eq!(send_all(&db, later, 200), [reward_id(1), reversal_id(1)]);
    }
}

#[test]
fn a_waiting_reversal_waits_for_its_replayed_reward() {
    for many in [false, true] {
        let (db, world) = with_rewards(1);
        abort(&db, NOW, &claim(&db, NOW).remove(0));
        convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
        let now_ms = world.now_ms.get();
        let reversal = claim(&db, now_ms).remove(0);
        assert_eq!(reversal.fields.transaction_id, reversal_id(1));
        answer(&db, now_ms, &reversal, 500);
        let later = NOW + DAY_MS;
        if many {
            replay_many(&db, later, RewardDelivery::Dead);
        } else {
            replay(&db, later, &reward_id(1), CLAIM_MS).unwrap();
        }
        assert_eq!(send_all(&db, later, 200), [reward_id(1), reversal_id(1)]);
    }
}

#[test]
fn a_replay_does_not_affect_an_attempt_in_flight() {
    let (db, _) = with_rewards(1);
    let callback = claim(&db, NOW).remove(0);
    replay(&db, NOW + 1, &reward_id(1), CLAIM_MS).unwrap();
    replay_many(&db, NOW + 1, RewardDelivery::Waiting);
    assert!(claim(&db, NOW + 2).is_empty());
    answer(&db, NOW + 3, &callback, 200);
    assert_eq!(entry(&db, &reward_id(1))["state"], "delivered");
}

#[test]
fn enabling_writes_only_callbacks_that_are_not_due_with_a_new_schedule() {
    let (db, world) = with_rewards(5);
    let now_ms = world.now_ms.get();
    let mut callbacks = claim(&db, now_ms);
    answer(&db, now_ms, &callbacks.remove(0), 500);
    let written = || {
        enable(&db, now_ms + DAY_MS, CLAIM_MS, now_ms + DAY_MS).unwrap();
        let attempts = "SELECT COUNT(*) FROM entries WHERE delivery = 0 AND attempts_made = 0 AND due_ms <= ?";
        let whole = db.query_first(attempts, params![now_ms + DAY_MS]).unwrap().unwrap();
        assert_eq!(whole.integer(0).unwrap(), 5);
        dump(&db, "writes").len()
    };
    db.execute("CREATE TABLE writes (entry INTEGER) STRICT", &[]).unwrap();
    let counted = "CREATE TRIGGER counted AFTER UPDATE ON entries BEGIN INSERT INTO writes VALUES (new.entry); END";
    db.execute(counted, &[]).unwrap();
    assert_eq!(written(), 1, "the one that had failed");
    assert_eq!(written(), 1);
}

#[test]
fn the_endpoints_state_is_shown() {
    let db = outbox();
    let none = Standing::default();
    assert_eq!(standing(&db), Ok(none));
    assert_eq!(enable(&db, NOW, CLAIM_MS, NOW), Ok(none));
    apply_settings(&db, NOW, &settings(1, false));
    assert_eq!(standing(&db), Ok(none));

    let db = with_ended_callbacks();
    let shown = |state, consecutive_failures, next_try_ts| {
        let shown = Standing { state, consecutive_failures, next_try_ts, waiting: 2, dead: 2, reserving: 0 };
        assert_eq!(standing(&db), Ok(shown));
    };
    shown(EndpointState::Healthy, 1, Some(NOW_S + 86_400));
    let resumes_ms = NOW + 2 * DAY_MS;
    let failing = Health { failures: FAILING_AFTER, resumes_ms };
    endpoint::set_health(&db, failing, None).unwrap();
    shown(EndpointState::Failing, 5, Some(resumes_ms / SECOND_MS));
    endpoint::set_health(&db, failing, Some(NOW)).unwrap();
    shown(EndpointState::Disabled, 5, None);
    let enabled = enable(&db, NOW + 3_600_000, CLAIM_MS, NOW + 3_600_000).unwrap();
    assert_eq!(Ok(enabled), standing(&db));
    shown(EndpointState::Healthy, 0, Some(NOW_S + 3_600));
    apply_settings(&db, NOW, &settings(2, false));
    shown(EndpointState::None, 0, None);
}

#[test]
fn reserved_conversions_are_counted() {
    let (db, world) = (outbox(), World::capped(1));
    world.counters_answer.set(false);
    for n in 1..=3 {
        convert(&db, &world, &conversion(n)).unwrap_err();
    }
    let shown = standing(&db).unwrap();
    assert_eq!((shown.reserving, shown.waiting), (3, 0));
}
