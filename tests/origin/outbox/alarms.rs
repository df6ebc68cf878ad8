//! When an outbox has itself woken: for what is due a net, for the rest its time, and nothing where nothing can be done.

use super::*;
use domain::{
    callbacks::health::{FAILING_AFTER, Health},
    model::time::{HOUR_MS, UtcDay},
};
use origin::{batches, outbox::next_alarm};

const NET_MS: i64 = 15_000;

/// Takes the sums for other objects out of the way, which would have the alarm come in seconds.
fn told(db: &Sqlite, now_ms: i64) {
    batches::prepare(db, now_ms).unwrap();
    for batch in batches::outstanding(db, now_ms).unwrap() {
        batches::acknowledge(db, &batch).unwrap();
    }
}

fn next_sweep() -> i64 {
    UtcDay::of_ms(NOW).minus(-1).start_ms() + HOUR_MS
}

#[test]
fn an_outbox_that_has_nothing_is_never_woken() {
    let db = outbox();
    assert_eq!(next_alarm(&db, NOW), Ok(None));
    learn(&db, NOW, &settings(1, true));
    assert_eq!(next_alarm(&db, NOW), Ok(None));
}

#[test]
fn what_is_due_has_a_net_and_what_is_not_has_its_time() {
    let (db, _) = with_rewards(1);
    assert_eq!(next_alarm(&db, NOW), Ok(Some(NOW + batches::COALESCE_MS)));
    told(&db, NOW);
    assert_eq!(next_alarm(&db, NOW), Ok(Some(NOW + NET_MS)));
    let tried = claim(&db, NOW).remove(0);
    assert_eq!(next_alarm(&db, NOW), Ok(Some(NOW + UNDER_WAY_MS)));
    answer(&db, NOW, &tried, 500);
    let (_, due_ms, _) = standing(&db, &reward_id(1));
    assert_eq!(next_alarm(&db, NOW), Ok(due_ms));
    let tried = claim(&db, due_ms.unwrap()).remove(0);
    answer(&db, due_ms.unwrap(), &tried, 200);
    assert_eq!(next_alarm(&db, NOW), Ok(Some(next_sweep())));
}

#[test]
fn callbacks_that_may_not_go_out_wake_nobody() {
    let (db, _) = with_rewards(1);
    told(&db, NOW);
    learn(&db, NOW, &settings(2, false));
    assert_eq!(next_alarm(&db, NOW), Ok(Some(next_sweep())));
    learn(&db, NOW, &settings(3, true));
    assert_eq!(next_alarm(&db, NOW), Ok(Some(NOW + NET_MS)));
    answer(&db, NOW, &claim(&db, NOW)[0], 410);
    assert_eq!(next_alarm(&db, NOW), Ok(Some(next_sweep())));
}

#[test]
fn a_failing_endpoint_is_called_again_when_it_has_been_left_alone() {
    let (db, _) = with_rewards(1);
    told(&db, NOW);
    let resumes_ms = NOW + 25_000;
    endpoint::set_health(
        &db,
        Health {
            failures: FAILING_AFTER,
            resumes_ms,
        },
        None,
    )
    .unwrap();
    assert_eq!(next_alarm(&db, NOW), Ok(Some(resumes_ms)));
    assert_eq!(next_alarm(&db, resumes_ms), Ok(Some(resumes_ms + NET_MS)));
}

#[test]
fn a_reversal_that_waits_for_its_reward_has_no_time_of_its_own() {
    let (db, world) = with_rewards(1);
    convert(&db, &world, &conversion(1).says(Status::Reversed)).unwrap();
    told(&db, NOW);
    let tried = claim(&db, NOW).remove(0);
    let late = Judgement {
        next: domain::callbacks::delivery::Next::At(NOW + 3 * HOUR_MS),
        ..judged(&tried, NOW, 500, None)
    };
    sent::conclude(&db, NOW, &tried, &attempt(NOW, 500), &late).unwrap();
    assert_eq!(next_alarm(&db, NOW), Ok(Some(NOW + 3 * HOUR_MS)));
}

#[test]
fn a_refused_conversion_is_only_swept_one_day() {
    let (db, world) = (outbox(), World::capped(0));
    convert(&db, &world, &conversion(1)).unwrap_err();
    assert_eq!(next_alarm(&db, NOW), Ok(Some(next_sweep())));
    let night = next_sweep() - 1;
    assert_eq!(next_alarm(&db, night), Ok(Some(next_sweep())));
    assert_eq!(next_alarm(&db, next_sweep()), Ok(Some(next_sweep() + DAY_MS)));
}

#[test]
fn what_a_callback_releases_is_woken_for_although_the_postback_that_brought_it_is_refused() {
    let (db, world) = (outbox(), World::new());
    world.terms.borrow_mut().callback = settings(1, false);
    convert(&db, &world, &conversion(1)).unwrap();
    world.terms.borrow_mut().callback = settings(2, true);
    let forged = Conversion {
        token: token(9),
        ..conversion(2)
    };
    for woken_for in [1, 0] {
        world.commits.set(0);
        assert_eq!(super::told(&db, &world, &forged), Err("invalid_token"));
        assert_eq!(world.commits.get(), woken_for);
    }
}
