//! The story of a reward: all that its publisher may know, nothing for another publisher, and a part for an analyst.

use super::*;
use contract::{
    outbox::{ReadReward, ReplayReward},
    rewards::RewardState,
};
use domain::model::PublisherId;
use origin::objects::outbox::{erasure, story};

/// Asks for a story as an owner.
pub fn of(publisher: &str, transaction_id: &str) -> ReadReward {
    ReadReward {
        publisher: PublisherId::parse(publisher).unwrap(),
        transaction_id: transaction_id.to_owned(),
        is_analyst: false,
    }
}

fn told(db: &Sqlite, read: &ReadReward) -> Json {
    json(story::read(db, read).unwrap())
}

fn replay(db: &Sqlite, now_ms: i64, publisher: &str, transaction_id: &str) -> Result<u16, &'static str> {
    let replay =
        ReplayReward { publisher: PublisherId::parse(publisher).unwrap(), transaction_id: transaction_id.to_owned() };
    match story::replay_one(db, now_ms, &replay, CLAIM_MS) {
        Ok(reply) => Ok(reply.status),
        Err(Failure::Refused(refusal)) => Err(refusal.code),
        Err(Failure::Internal(cause)) => panic!("{cause}"),
    }
}

/// A reward that was delivered at the second attempt and then reversed.
fn reversed() -> (Sqlite, World) {
    let (db, world) = with_rewards(1);
    apply_settings(&db, NOW, &settings(1, true));
    let callback = claim(&db, NOW).remove(0);
    answer(&db, NOW, &callback, 503);
    let (_, due_ms, _) = delivery_state(&db, &reward_id(1));
    let callback = claim(&db, due_ms.unwrap()).remove(0);
    answer(&db, due_ms.unwrap(), &callback, 200);
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    (db, world)
}

#[test]
fn a_click_leads_to_its_conversions_and_to_no_others() {
    let (db, _) = reversed();
    let of_click = |n: u8| {
        let rewards = story::of_click(&db, &read_click(n, None)).unwrap().rewards.into_iter();
        rewards.map(|reward| (reward.transaction_id, reward.goal_id, reward.state)).collect::<Vec<_>>()
    };
    let expected = (reward_id(1), "g-1".to_owned(), RewardState::Reversed);
    assert_eq!(of_click(1), [expected]);
    assert_eq!(of_click(2), []);
}

#[test]
fn a_story_has_click_terms_amounts_and_every_callback_with_its_attempts() {
    let (db, _) = reversed();
    let story = told(&db, &of("acme", &reward_id(1)));
    // The reversal's id leads to the same story.
    assert_eq!(told(&db, &of("acme", &reversal_id(1))), story);
    assert_eq!(story["transaction_id"], reward_id(1));
    assert_eq!((&story["state"], &story["app_id"]), (&"reversed".into(), &APP.into()));
    assert_eq!((&story["value"], &story["payout"]), (&75.into(), &serde_json::json!(0.75)));
    assert_eq!(story["click"]["c5"], "c-five");
    assert_eq!((&story["click"]["placement"], &story["click"]["country"]), (&"home".into(), &"DE".into()));
    assert_eq!(story["terms"]["offer_at_click"], FIRST);
    assert_eq!(story["user_id"], "user-1");
    let callbacks = story["callbacks"].as_array().unwrap();
    let shown: Vec<_> = callbacks
        .iter()
        .map(|callback| (callback["event"].as_str().unwrap(), callback["delivery"].as_str().unwrap()))
        .collect();
    assert_eq!(shown, [("approved", "delivered"), ("reversed", "waiting")]);
    let attempts = callbacks[0]["attempts"].as_array().unwrap();
    let answers: Vec<_> = attempts
        .iter()
        .map(|attempt| (attempt["http_status"].as_i64().unwrap(), attempt["body"].as_str().unwrap()))
        .collect();
    assert_eq!(answers, [(503, "answer 503"), (200, "answer 200")]);
    assert_eq!(callbacks[0]["attempts_total"], 2);
    assert_eq!(callbacks[0]["fields"]["user_id"], "user-1");
    assert_eq!(callbacks[1]["value"], -75);
    assert_eq!(callbacks[1]["transaction_id"], reversal_id(1));
}

#[test]
fn a_story_has_the_newest_50_attempts_of_each_callback_and_their_number() {
    let (db, _) = reversed();
    let more = |sql: &str, transaction_id: &str| db.execute(sql, params![transaction_id]).unwrap();
    let add = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 60)
        INSERT INTO attempts (entry, at_ms, ms, http_status, body)
        SELECT entry, n * 1000, 1, 500, '' FROM n, entries WHERE transaction_id = ?";
    more(add, &reward_id(1));
    more(add, &reversal_id(1));
    let story = told(&db, &of("acme", &reward_id(1)));
    for (nth, total) in [(0, 62), (1, 60)] {
        let callback = &story["callbacks"][nth];
        assert_eq!(callback["attempts_total"], total);
        let attempts = callback["attempts"].as_array().unwrap();
        let times: Vec<_> = attempts.iter().map(|attempt| attempt["at"].as_i64().unwrap()).collect();
        assert_eq!(times, (11..=60).collect::<Vec<_>>());
    }
}

#[test]
fn another_publishers_reward_is_answered_like_an_unknown_one() {
    let (db, _) = reversed();
    let refusals =
        [story::read(&db, &of("other", &reward_id(1))), story::read(&db, &of("acme", &reward_id(9)))].map(refusal);
    assert_eq!(refusals[0], refusals[1]);
    assert_eq!((refusals[0].status, refusals[0].code), (404, "not_found"));
    assert_eq!(replay(&db, NOW, "other", &reward_id(1)), Err("not_found"));
    assert_eq!(replay(&db, NOW, "acme", &reward_id(9)), Err("not_found"));
    assert_eq!(delivery_state(&db, &reward_id(1)).0, Some(1));
}

#[test]
fn an_analyst_sees_ids_offer_state_amounts_times_and_statuses() {
    let (db, _) = reversed();
    let read = ReadReward { is_analyst: true, ..of("acme", &reward_id(1)) };
    let story = told(&db, &read);
    let names: Vec<_> = story.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = [
        "app_id",
        "transaction_id",
        "state",
        "offer_id",
        "goal_id",
        "value",
        "payout",
        "currency",
        "click_ts",
        "received_ts",
        "conversion_ts",
        "callbacks",
    ];
    expected.sort_unstable();
    assert_eq!(names, expected);
    let text = story.to_string();
    for hidden in ["user-1", "gaid", "c-five", "answer", "home"] {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
    assert_eq!(story["callbacks"][0]["attempts"][0]["http_status"], 503);
}

#[test]
fn a_held_or_refused_conversion_tells_its_reason_and_an_erased_one_nothing_of_its_user() {
    let (db, world) = (outbox(), World::new());
    world.hold(|_, app| app.max_rewards_per_user_day = Some(1));
    convert(&db, &world, &conversion(1).user("ann")).unwrap();
    convert(&db, &world, &conversion(2).user("ann").goal("g-2")).unwrap();
    let held = told(&db, &of("acme", &id_of(2, "g-2", Movement::Reward)));
    assert_eq!((&held["state"], &held["code"]), (&"held".into(), &"too_many_today".into()));
    assert_eq!(held["callbacks"], serde_json::json!([]));
    send_all(&db, NOW, 200);
    erasure::erase(&db, NOW, shard(), "ann").unwrap();
    let erased = told(&db, &of("acme", &reward_id(1)));
    assert_eq!((&erased["is_erased"], &erased["user_id"]), (&true.into(), &Json::Null));
    assert!(!erased.to_string().contains("ann"));
}

#[test]
fn a_publisher_replays_its_reward_which_the_answer_says_is_accepted() {
    let (db, _) = reversed();
    assert_eq!(replay(&db, NOW + DAY_MS, "acme", &reward_id(1)), Ok(202));
    assert_eq!(delivery_state(&db, &reward_id(1)), (Some(0), Some(NOW + DAY_MS), 0));
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1).status(Status::Pending)).unwrap();
    assert_eq!(replay(&db, NOW, "acme", &reward_id(1)), Err("nothing_to_send"));
}
