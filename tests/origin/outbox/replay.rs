//! The operator's actions on callbacks: replaying one or many, and reading and enabling the endpoint.

use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::json as j;

use super::*;
use contract::outbox::{EndpointState, Replayed, Standing};
use domain::callbacks::health::{FAILING_AFTER, Health};
use origin::objects::outbox::callbacks::replay::{enable, replay, replay_in_steps, standing};

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

/// The clicks whose rewards are due at this time.
fn due(db: &Sqlite, now_ms: i64) -> Vec<u8> {
    let callbacks = claim(db, now_ms);
    assert!(callbacks.iter().all(|callback| callback.attempts_made == 0));
    let mut clicks: Vec<_> = (1..=6)
        .filter(|n| ids(&callbacks).contains(&reward_id(*n).as_str()))
        .collect();
    assert_eq!(clicks.len(), callbacks.len());
    clicks.sort();
    clicks
}

#[test]
fn a_replay_starts_a_new_schedule_at_once() {
    let db = with_ended_callbacks();
    let later = NOW + 3_600_000;
    for n in [1, 2, 3] {
        let shown = json(replay(&db, later, &reward_id(n), CLAIM_MS).unwrap());
        assert_eq!(shown, entry(&db, &reward_id(n)));
        assert_eq!(
            (&shown["state"], &shown["next_try_ts"]),
            (&j!("waiting"), &j!(later / SECOND_MS))
        );
        assert_eq!(shown["attempts"].as_array().unwrap().len(), 1);
        assert_eq!(delivery_state(&db, &reward_id(n)), (Some(0), Some(later), 0));
    }
    let fields = claim(&db, later).remove(0).fields;
    assert_eq!(
        (fields.transaction_id, fields.conversion_ts),
        (reward_id(1), NOW_S),
        "the content is unchanged"
    );
}

#[test]
fn a_replay_without_an_endpoint_waits_for_one() {
    let db = with_ended_callbacks();
    apply_settings(&db, NOW, &settings(2, false));
    let shown = json(replay(&db, NOW, &reward_id(1), CLAIM_MS).unwrap());
    assert_eq!(
        (&shown["state"], shown.get("next_try_ts")),
        (&j!("no_endpoint"), None)
    );
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
fn many_are_replayed_by_state_and_time() {
    let at = |minutes: i64| NOW_S + 60 * minutes;
    let cases = [
        (j!({ "since": 0 }), vec![2, 5]),
        (j!({ "since": 0, "state": "dead" }), vec![2, 5]),
        (j!({ "since": 0, "state": "delivered" }), vec![1, 4]),
        (j!({ "since": 0, "state": "waiting" }), vec![3, 6]),
        (j!({ "since": at(1) }), vec![2, 5]),
        (j!({ "since": at(1) + 1 }), vec![5]),
        (j!({ "since": at(1), "until": at(4) }), vec![2]),
        (j!({ "since": at(1), "until": at(4) + 1 }), vec![2, 5]),
        (j!({ "since": at(4), "until": at(4) }), vec![]),
        (
            j!({ "since": at(0), "until": null, "state": "delivered" }),
            vec![1, 4],
        ),
        (j!({ "since": at(60) }), vec![]),
    ];
    let later = NOW + 3_600_000;
    for (body, expected) in cases {
        let db = with_ended_callbacks();
        let replayed = replay_many(&db, later, &body.to_string()).unwrap();
        assert_eq!(usize::try_from(replayed).unwrap(), expected.len(), "{body}");
        assert_eq!(due(&db, later), expected, "{body}");
    }
}

#[test]
fn a_range_until_now_includes_the_current_second() {
    let db = with_ended_callbacks();
    let body = r#"{"since":0}"#;
    let of_2 = NOW + 60_000;
    assert_eq!(replay_many(&db, of_2, body).unwrap(), 1);
    assert_eq!(replay_many(&with_ended_callbacks(), of_2 - 1, body).unwrap(), 0);
}

#[test]
fn reversals_are_selected_by_their_own_time() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    send_all(&db, NOW, 200);
    world.pass(DAY_MS);
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    send_all(&db, NOW + DAY_MS, 200);
    let body = j!({ "since": NOW_S + 1, "state": "delivered" }).to_string();
    assert_eq!(replay_many(&db, NOW + 2 * DAY_MS, &body).unwrap(), 1);
    assert_eq!(ids(&claim(&db, NOW + 2 * DAY_MS)), [reversal_id(1)]);
}

#[test]
fn an_invalid_range_changes_nothing() {
    let db = with_ended_callbacks();
    let before = dump(&db, "entries");
    for (body, code, message) in [
        ("", "invalid_json", ""),
        ("[0]", "invalid_json", "object"),
        ("{\"since\":0}}", "invalid_json", ""),
        ("{}", "missing_field", "since"),
        ("{\"since\":\"0\"}", "invalid_field", "since"),
        ("{\"since\":0.5}", "invalid_field", "since"),
        ("{\"since\":-1}", "invalid_field", "since"),
        ("{\"since\":4503599627370497}", "invalid_field", "since"),
        ("{\"since\":5,\"until\":4}", "invalid_field", "until"),
        (
            "{\"since\":5,\"until\":4503599627370497}",
            "invalid_field",
            "until",
        ),
        ("{\"since\":0,\"state\":\"refused\"}", "invalid_field", "state"),
        ("{\"since\":0,\"state\":\"Dead\"}", "invalid_field", "state"),
        ("{\"since\":0,\"from\":0}", "unknown_field", "from"),
    ] {
        let refused = refusal(replay_many(&db, NOW, body));
        assert_eq!(
            (refused.status, refused.code),
            (400, code),
            "{body}: {}",
            refused.message
        );
        assert!(refused.message.contains(message), "{body}: {}", refused.message);
    }
    assert_eq!(dump(&db, "entries"), before);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_replay_sends_each_selected_callback_once_in_any_number_of_steps(
        ends in vec(select([None, Some(200), Some(400)].as_slice()), 1..12),
        step in 1..14_i64,
        (since, until) in (0..12_i64, option::of(0..12_i64)),
        (state, delivery) in select([("waiting", 0), ("delivered", 1), ("dead", 2)].as_slice()),
    ) {
        let (db, world) = (outbox(), World::new());
        for (n, end) in (1..).zip(&ends) {
            convert(&db, &world, &conversion(n)).unwrap();
            let now_ms = world.now_ms.get();
            let callbacks = claim(&db, now_ms);
            match end {
                Some(400) => abort(&db, now_ms, &callbacks[0]),
                Some(status) => answer(&db, now_ms, &callbacks[0], *status),
                // Its process died, so it is not due again for a while.
                None => {}
            }
            world.pass(SECOND_MS);
        }
        let is_meant = |n: i64, found: i64| {
            found == delivery && n > since && until.is_none_or(|until| n <= since + until)
        };
        let before = dump(&db, "entries");
        // A day later, so that only replayed callbacks are due by then.
        let later = NOW + DAY_MS;
        let body = j!({
            "since": NOW_S + since, "until": until.map(|until| NOW_S + since + until), "state": state,
        });
        let replayed = replay_in(&db, later, &body.to_string(), step).unwrap();
        let mut meant = 0;
        for (n, (was, is)) in (1..).zip(before.iter().zip(&dump(&db, "entries"))) {
            if is_meant(n, was.integer(7).unwrap()) {
                meant += 1;
                let stands = (is.integer(7).unwrap(), is.integer(8).unwrap(), is.integer(9).unwrap());
                prop_assert_eq!(stands, (0, later, 0));
            } else {
                prop_assert_eq!(was, is);
            }
        }
        prop_assert_eq!(replayed, meant);
    }
}

#[test]
fn until_now_means_the_time_of_the_first_step() {
    let (db, world) = with_rewards(2);
    world.pass(SECOND_MS);
    send_all(&db, world.now_ms.get(), 200);
    let steps = RefCell::new(vec![]);
    let ask = async |step: ReplayMany| {
        let ReplayMany { body, after, until } = step;
        let now_ms = world.now_ms.get();
        steps.borrow_mut().push((after > 0, until));
        let step = operator::replay_many(&db, now_ms, &body, after, until, CLAIM_MS, 1);
        // This reward is paid and delivered between two steps, and lies in the range of the second step.
        world.pass(10 * SECOND_MS);
        let n = u8::try_from(10 + steps.borrow().len()).unwrap();
        if n <= 12 {
            convert(&db, &world, &conversion(n)).unwrap();
            send_all(&db, world.now_ms.get(), 200);
        }
        step
    };
    let replayed = now(replay_in_steps(r#"{"since":0,"state":"delivered"}"#, None, ask)).unwrap();
    assert_eq!(replayed.replayed, 2);
    let until = Some(NOW_S + 4);
    let steps = steps.into_inner();
    let mut asked = steps.iter().copied();
    assert_eq!(asked.next(), Some((false, None)));
    assert!(
        asked.len() > 2 && asked.all(|step| step == (true, until)),
        "{steps:?}"
    );
    let attempts = |n| entry(&db, &reward_id(n))["attempts"].as_array().unwrap().len();
    assert_eq!([1, 2, 11, 12].map(attempts), [2, 2, 1, 1]);
}

#[test]
fn a_reversal_waits_for_a_reward_that_was_replayed_in_an_earlier_step() {
    let (db, world) = with_rewards(1);
    world.pass(SECOND_MS);
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    send_all(&db, world.now_ms.get(), 200);
    send_all(&db, world.now_ms.get(), 200);
    let later = NOW + DAY_MS;
    let replayed = replay_in(&db, later, r#"{"since":0,"state":"delivered"}"#, 1).unwrap();
    assert_eq!(replayed, 2);
    assert_eq!(ids(&claim(&db, later)), [reward_id(1)]);
    assert_eq!(delivery_state(&db, &reversal_id(1)), (Some(0), None, 0));
}

#[test]
fn a_delivered_reversal_is_sent_again_once_although_its_reward_is_delivered_between_two_steps() {
    // The reversal is in the period, or after it.
    for (until, replayed) in [(None, 2), (Some(NOW_S + 1), 1)] {
        let (db, world) = with_rewards(1);
        world.pass(SECOND_MS);
        convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
        send_all(&db, world.now_ms.get(), 200);
        let later = NOW + DAY_MS;
        let ask = async |ReplayMany { body, after, until }: ReplayMany| {
            let step = operator::replay_many(&db, later, &body, after, until, CLAIM_MS, 1);
            send_all(&db, later, 200);
            step
        };
        let body = j!({ "since": 0, "until": until, "state": "delivered" }).to_string();
        assert_eq!(now(replay_in_steps(&body, None, ask)).unwrap().replayed, replayed);
        for id in [reward_id(1), reversal_id(1)] {
            assert_eq!(
                entry(&db, &id)["attempts"].as_array().unwrap().len(),
                2,
                "{until:?}"
            );
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
            replay_many(&db, later, r#"{"since":0}"#).unwrap();
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
    replay_many(&db, NOW + 1, r#"{"since":0,"state":"waiting"}"#).unwrap();
    assert!(claim(&db, NOW + 2).is_empty());
    answer(&db, NOW + 3, &callback, 200);
    assert_eq!(entry(&db, &reward_id(1))["state"], "delivered");
}

#[test]
fn steps_end_with_the_first_error() {
    for steps in 0..3_u8 {
        let left = Cell::new(steps);
        let ask = async |_: ReplayMany| {
            let Some(fewer) = left.get().checked_sub(1) else {
                return Err(Failure::Internal("gone".into()));
            };
            left.set(fewer);
            Ok(Replayed {
                replayed: 1,
                next: Some(9),
                until: 5,
            })
        };
        let outcome = now(replay_in_steps("{}", None, ask));
        assert_eq!(outcome, Err(Failure::Internal("gone".into())));
    }
}

#[test]
fn enabling_writes_only_callbacks_that_are_not_due_with_a_new_schedule() {
    let (db, world) = with_rewards(5);
    let now_ms = world.now_ms.get();
    let mut callbacks = claim(&db, now_ms);
    answer(&db, now_ms, &callbacks.remove(0), 500);
    let written = || {
        enable(&db, now_ms + DAY_MS, CLAIM_MS, now_ms + DAY_MS).unwrap();
        let attempts =
            "SELECT COUNT(*) FROM entries WHERE delivery = 0 AND attempts_made = 0 AND due_ms <= ?";
        let whole = db
            .query_first(attempts, params![now_ms + DAY_MS])
            .unwrap()
            .unwrap();
        assert_eq!(whole.integer(0).unwrap(), 5);
        dump(&db, "writes").len()
    };
    db.execute("CREATE TABLE writes (entry INTEGER) STRICT", &[])
        .unwrap();
    let counted =
        "CREATE TRIGGER counted AFTER UPDATE ON entries BEGIN INSERT INTO writes VALUES (new.entry); END";
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
        let shown = Standing {
            state,
            consecutive_failures,
            next_try_ts,
            waiting: 2,
            dead: 2,
            reserving: 0,
        };
        assert_eq!(standing(&db), Ok(shown));
    };
    shown(EndpointState::Healthy, 1, Some(NOW_S + 86_400));
    let resumes_ms = NOW + 2 * DAY_MS;
    let failing = Health {
        failures: FAILING_AFTER,
        resumes_ms,
    };
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
