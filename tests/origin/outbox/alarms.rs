//! The outbox's alarm: a safety net for due work, the due time of other work, and no alarm without work.

use super::*;
use domain::{
    callbacks::health::{FAILING_AFTER, Health},
    model::time::{HOUR_MS, UtcDay},
};
const NET_MS: i64 = 15_000;

/// The alarm of an outbox that has reported to the activity, which would set it to a second.
pub fn next_alarm(db: &Sqlite, now_ms: i64) -> Result<Option<i64>, platform::database::DatabaseError> {
    feed::report_all(db, now_ms);
    outbox::next_alarm(db, now_ms)
}

fn next_sweep() -> i64 {
    UtcDay::of_ms(NOW).minus(-1).start_ms() + HOUR_MS
}

#[test]
fn an_empty_outbox_sets_no_alarm() {
    let db = outbox();
    assert_eq!(next_alarm(&db, NOW), Ok(None));
    apply_settings(&db, NOW, &settings(1, true));
    assert_eq!(next_alarm(&db, NOW), Ok(None));
}

#[test]
fn due_callbacks_get_a_safety_net_and_others_their_due_time() {
    let (db, _) = with_rewards(1);
    // Its batch is the first work, at most 5 s later.
    let opens_ms = next_alarm(&db, NOW).unwrap().unwrap();
    assert!((NOW + 1..=NOW + outbox::COALESCE_MS).contains(&opens_ms));
    send_batches(&db, NOW);
    assert_eq!(next_alarm(&db, NOW), Ok(Some(NOW + NET_MS)));
    let callback = claim(&db, NOW).remove(0);
    assert_eq!(next_alarm(&db, NOW), Ok(Some(NOW + CLAIM_MS)));
    answer(&db, NOW, &callback, 500);
    let (_, due_ms, _) = delivery_state(&db, &reward_id(1));
    assert_eq!(next_alarm(&db, NOW), Ok(due_ms));
    let callback = claim(&db, due_ms.unwrap()).remove(0);
    answer(&db, due_ms.unwrap(), &callback, 200);
    assert_eq!(next_alarm(&db, NOW), Ok(Some(next_sweep())));
}

#[test]
fn the_outboxes_of_an_app_open_their_batches_in_turn() {
    let (db, _) = with_rewards(1);
    for outboxes in [1, 8, 64] {
        let opens_ms = |outbox: i64, now_ms: i64| {
            let sql = "UPDATE outbox SET shard = ?, outbox_shards = ?";
            db.execute(sql, params![outbox, outboxes]).unwrap();
            next_alarm(&db, now_ms).unwrap().unwrap()
        };
        let mut all: Vec<_> = (0..outboxes).map(|outbox| opens_ms(outbox, NOW)).collect();
        for (outbox, first) in (0..).zip(&all) {
            assert_eq!(opens_ms(outbox, *first), first + outbox::COALESCE_MS);
        }
        all.sort_unstable();
        let gap_ms = outbox::COALESCE_MS / outboxes;
        assert!(all.windows(2).all(|two| (gap_ms..=gap_ms + 1).contains(&(two[1] - two[0]))));
    }
}

#[test]
fn callbacks_without_an_enabled_endpoint_set_no_alarm() {
    let (db, _) = with_rewards(1);
    send_batches(&db, NOW);
    apply_settings(&db, NOW, &settings(2, false));
    assert_eq!(next_alarm(&db, NOW), Ok(Some(next_sweep())));
    apply_settings(&db, NOW, &settings(3, true));
    assert_eq!(next_alarm(&db, NOW), Ok(Some(NOW + NET_MS)));
    answer(&db, NOW, &claim(&db, NOW)[0], 410);
    assert_eq!(next_alarm(&db, NOW), Ok(Some(next_sweep())));
}

#[test]
fn a_failing_endpoint_is_called_again_after_its_pause() {
    let (db, _) = with_rewards(1);
    send_batches(&db, NOW);
    let resumes_ms = NOW + 25_000;
    endpoint::set_health(&db, Health { failures: FAILING_AFTER, resumes_ms }, None).unwrap();
    assert_eq!(next_alarm(&db, NOW), Ok(Some(resumes_ms)));
    assert_eq!(next_alarm(&db, resumes_ms), Ok(Some(resumes_ms + NET_MS)));
}

#[test]
fn a_reversal_behind_its_reward_sets_no_alarm() {
    let (db, world) = with_rewards(1);
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    send_batches(&db, NOW);
    let callback = claim(&db, NOW).remove(0);
    let late = Judgement {
        next: domain::callbacks::delivery::Next::At(NOW + 3 * HOUR_MS),
        ..judge_answer(&callback, NOW, 500, None)
    };
    attempts::conclude(&db, NOW, &callback, &attempt(NOW, 500), &late).unwrap();
    assert_eq!(next_alarm(&db, NOW), Ok(Some(NOW + 3 * HOUR_MS)));
}

#[test]
fn a_refused_conversion_only_sets_the_alarm_of_the_sweep() {
    let (db, world) = (outbox(), World::capped(0));
    convert(&db, &world, &conversion(1)).unwrap_err();
    send_batches(&db, NOW);
    assert_eq!(next_alarm(&db, NOW), Ok(Some(next_sweep())));
    let night = next_sweep() - 1;
    assert_eq!(next_alarm(&db, night), Ok(Some(next_sweep())));
    // The daily report to the operator's attention, which has an item.
    assert_eq!(next_alarm(&db, next_sweep()), Ok(Some(NOW + DAY_MS)));
}

#[test]
fn an_outbox_behind_with_its_settings_is_woken_to_ask_for_them() {
    let (db, world) = with_rewards(1);
    send_batches(&db, NOW);
    world.catalog.borrow_mut().set_callback(settings(7, true));
    world.catalog_answers.set(false);
    convert(&db, &world, &conversion(1)).unwrap();
    let state = endpoint::read(&db).unwrap().unwrap();
    assert!(state.is_behind() && !state.has_endpoint());
    assert_eq!(next_alarm(&db, NOW), Ok(Some(NOW + NET_MS)));
    // The settings come with the app's terms, although those are known.
    world.catalog_answers.set(true);
    now(outbox::terms::learn_app(&db, &world, shard(), FIRST)).unwrap();
    let state = endpoint::read(&db).unwrap().unwrap();
    assert_eq!((state.callback.revision, state.has_endpoint()), (7, true));
    let asked = world.catalog.borrow().questions.len();
    now(outbox::terms::learn_app(&db, &world, shard(), FIRST)).unwrap();
    assert_eq!(world.catalog.borrow().questions.len(), asked);
}

#[test]
fn settings_that_a_restored_catalog_has_lost_are_not_asked_for_again() {
    let (db, world) = with_rewards(1);
    apply_settings(&db, NOW, &settings(2, true));
    // An edge that still has the snapshot from before the restore knows newer settings.
    let mut later = conversion(2);
    later.current.app = Some(CurrentApp { revision: 10, callback_revision: 9, ..world.catalog.borrow().app.clone() });
    world.has_snapshot.set(false);
    convert(&db, &world, &later).unwrap();
    let state = || endpoint::read(&db).unwrap().unwrap();
    assert!(state().is_behind());
    now(outbox::terms::learn_app(&db, &world, shard(), FIRST)).unwrap();
    assert!(!state().is_behind() && state().has_endpoint());
    assert_eq!(claim(&db, world.now_ms.get()).len(), 2);
}
