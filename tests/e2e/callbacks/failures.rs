//! Receivers that do not accept a callback: it is retried unchanged until it is accepted or the schedule ends.

use serde_json::{Value, json};

use crate::{
    callbacks::{ATTEMPTS_MS, quick, statuses, twice, wait_for_state},
    harness::{Behaviour, OfferWall, Receiver, Setup, eventually_within},
};

/// The parts that are the same in every attempt of a callback: id, path and query without time and signature.
fn constant_parts(received: &crate::harness::Received) -> (String, String, String) {
    let query = received.query();
    let (fields, _) = query.split_once("&ts=").expect("a time");
    (received.transaction_id().to_owned(), received.path().to_owned(), fields.to_owned())
}

#[test]
fn every_kind_of_failure_is_retried_until_the_callback_is_accepted() {
    let signpost = quick();
    let elsewhere = Receiver::start();
    // The first behaviour of a receiver, and what the log shows for it: the status, and whether there is an error.
    let redirect = format!("{}/elsewhere", elsewhere.base());
    let table = [
        (Behaviour::answer(500, &[], "broken"), json!(500), false),
        (Behaviour::status(404), json!(404), false),
        (Behaviour::status(429), json!(429), false),
        (Behaviour::Silent, Value::Null, true),
        (Behaviour::Half(200), Value::Null, true),
        (Behaviour::Half(500), Value::Null, true),
        (Behaviour::Hang, Value::Null, true),
        (Behaviour::Slow(4_000), Value::Null, true),
        (Behaviour::Redirect(redirect), json!(302), false),
        (Behaviour::answer(308, &[("Location", &elsewhere.base())], ""), json!(308), false),
    ];
    let receivers: Vec<_> = table.iter().map(|_| Receiver::start()).collect();
    let walls: Vec<_> = (0..)
        .zip(&receivers)
        .map(|(number, receiver)| {
            let app = format!("790002{}", 20 + number);
            signpost.unpublished_offer_wall(&format!("cb-fails-{number}"), &app, Some(receiver))
        })
        .collect();
    signpost.refresh();
    let mut ids = Vec::new();
    for ((behaviour, ..), (receiver, wall)) in table.iter().zip(receivers.iter().zip(&walls)) {
        receiver.set(Behaviour::once(behaviour.clone(), Behaviour::status(204)));
        ids.push(wall.pay("u-1"));
    }
    for ((_, status, is_error), (receiver, (wall, id))) in
        table.iter().zip(receivers.iter().zip(walls.iter().zip(&ids)))
    {
        let entry = wait_for_state(wall, id, "delivered");
        let first = &entry["attempts"][0];
        assert_eq!(first["http_status"], *status, "{entry}");
        let error = first["error"].as_str().unwrap_or_default();
        assert_eq!(!error.is_empty(), *is_error, "{entry}");
        let ms = first["ms"].as_i64().unwrap();
        assert!((0..=5_000).contains(&ms), "{entry}");
        let attempts = entry["attempts"].as_array().unwrap();
        assert!(attempts.len() >= 2, "{entry}");
        assert_eq!(attempts.last().unwrap()["http_status"], 204, "{entry}");
        assert_eq!(entry.get("next_try_ts"), None, "{entry}");
        let received = receiver.received();
        assert_eq!(receiver.transactions(), [(id.clone(), attempts.len())].into());
        // Attempts differ only in time and signatures.
        assert!(received.iter().all(|again| constant_parts(again) == constant_parts(&received[0])), "{received:?}");
        let first_ts = received[0].header("webhook-timestamp");
        let last = received.last().unwrap();
        if last.at_ms - received[0].at_ms > 1_500 {
            assert_ne!(last.header("webhook-timestamp"), first_ts);
            assert_ne!(last.header("webhook-signature"), received[0].header("webhook-signature"));
        }
    }
    assert_eq!(elsewhere.count(), 0, "a redirect was followed");
}

#[test]
fn a_slow_answer_counts_and_an_unreachable_receiver_is_retried() {
    let signpost = quick();
    let (slow, gone) = (Receiver::start(), Receiver::start());
    let slow_wall = signpost.unpublished_offer_wall("cb-slow", "79000238", Some(&slow));
    let gone_wall = signpost.unpublished_offer_wall("cb-gone", "79000239", Some(&gone));
    signpost.refresh();
    slow.set(Behaviour::Slow(200));
    let slow_id = slow_wall.pay("u-1");
    let port = gone.port;
    drop(gone);
    let gone_id = gone_wall.pay("u-1");

    // Attempts fail until a receiver listens on the port again.
    eventually_within(ATTEMPTS_MS, &true, || !gone_wall.entry(&gone_id)["attempts"].as_array().unwrap().is_empty());
    let back = Receiver::start_on(port);
    let entry = wait_for_state(&gone_wall, &gone_id, "delivered");
    assert_eq!(entry["attempts"][0]["http_status"], Value::Null, "{entry}");
    assert_eq!(back.transactions(), [(gone_id, 1)].into());

    let entry = wait_for_state(&slow_wall, &slow_id, "delivered");
    assert_eq!(statuses(&entry), json!([200]));
    assert!(entry["attempts"][0]["ms"].as_i64().unwrap() >= 190, "{entry}");
}

#[test]
fn a_callback_that_is_never_accepted_is_kept_and_can_be_replayed() {
    let signpost = Setup::new().var("CALLBACK_SCHEDULE", "0,1,1,1").start();
    let receiver = Receiver::start();
    receiver.set(Behaviour::answer(503, &[], "later"));
    let wall = signpost.offer_wall("cb-dead", "79000241", Some(&receiver));
    let id = wall.pay("u-0");
    let entry = wait_for_state(&wall, &id, "dead");
    assert_eq!(statuses(&entry), json!([503, 503, 503, 503]));
    assert_eq!(entry["status"], "approved", "{entry}");
    assert_eq!(entry.get("next_try_ts"), None, "{entry}");
    let attempts = receiver.received();
    assert_eq!(attempts.len(), 4);
    // One second between two attempts, with 20 % jitter.
    for pair in attempts.windows(2) {
        let ms = pair[1].at_ms - pair[0].at_ms;
        assert!(ms >= 750, "{ms} ms after the one before");
    }
    // A dead letter is not retried by itself. A replay by the operator starts a whole new schedule.
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(receiver.count(), 4);
    let again = wall.replay(&id).expect(200).json();
    assert_eq!((&again["state"], &again["transaction_id"]), (&json!("waiting"), &json!(id)));
    eventually_within(ATTEMPTS_MS, &true, || receiver.count() > 4);
    receiver.set(Behaviour::status(200));
    let entry = wait_for_state(&wall, &id, "delivered");
    assert!(statuses(&entry).as_array().unwrap().len() > 4, "{entry}");
    assert!(
        receiver.received().iter().all(|again| constant_parts(again) == constant_parts(&attempts[0])),
        "{:?}",
        receiver.received()
    );
}

#[test]
fn all_dead_letters_since_a_time_are_replayed_together() {
    let signpost = twice();
    let receiver = Receiver::start();
    receiver.set(Behaviour::status(500));
    let wall = signpost.sharded_offer_wall("cb-replay", "79000243", Some(&receiver), 1);
    signpost.refresh();
    let ids: Vec<_> = (0..3).map(|user| wall.pay(&format!("u-{user}"))).collect();
    for id in &ids {
        wait_for_state(&wall, id, "dead");
    }
    let endpoint = wall.endpoint();
    assert_eq!(
        (&endpoint["state"], &endpoint["dead"], &endpoint["waiting"], &endpoint["consecutive_failures"]),
        (&json!("failing"), &json!(3), &json!(0), &json!(6)),
        "{endpoint}"
    );
    assert_eq!(wall.entries("state=dead").len(), 3);
    receiver.set(Behaviour::status(200));

    let sent_at = wall.entry(&ids[0])["conversion_ts"].as_i64().unwrap();
    let dead_from = |from: i64| json!({"delivery": "dead", "from": from});
    wall.replay_all(&dead_from(sent_at), 3);
    for id in &ids {
        wait_for_state(&wall, id, "delivered");
    }
    let replay = |filter: Value| wall.operator("POST", "replays", Some(&json!({"filter": filter, "dry_run": true})));
    // A span of time includes its first second and excludes its last.
    for (filter, count) in [
        (json!({"from": sent_at + 3_600}), 0),
        (json!({"from": sent_at - 3_600, "until": sent_at}), 0),
        (dead_from(sent_at), 0),
        (json!({"from": sent_at, "until": sent_at + 3_600}), 3),
    ] {
        assert_eq!(replay(filter.clone()).expect(200).json()["count"], count, "{filter}");
    }
    for wrong in [json!({"from": "yesterday"}), json!({"delivery": "refused"}), json!({"deliveries": "dead"})] {
        replay(wrong).expect(400);
    }
    wall.replay_all(&json!({"from": sent_at - 1, "delivery": "delivered"}), 3);
    eventually_within(ATTEMPTS_MS, &vec![2; 3], || delivered(&wall));
}

/// The number of attempts of each callback that were answered 200.
fn delivered(wall: &OfferWall<'_>) -> Vec<usize> {
    let times = |entry: &Value| {
        let statuses = statuses(entry);
        let statuses = statuses.as_array().expect("statuses").iter();
        statuses.filter(|status| **status == 200).count()
    };
    wall.entries("").iter().map(times).collect()
}

#[test]
fn retry_after_delays_the_next_attempt() {
    let signpost = quick();
    let receiver = Receiver::start();
    receiver.set(Behaviour::answer(503, &[("Retry-After", "5")], "busy"));
    let wall = signpost.offer_wall("cb-later", "79000242", Some(&receiver));
    let id = wall.pay("u-1");
    receiver.wait(1);
    receiver.set(Behaviour::status(200));
    eventually_within(ATTEMPTS_MS, &true, || !wall.entry(&id)["attempts"].as_array().unwrap().is_empty());
    let entry = wall.entry(&id);
    if entry["state"] == "waiting" {
        let wait = entry["next_try_ts"].as_i64().unwrap() - entry["attempts"][0]["at"].as_i64().unwrap();
        assert!((4..=8).contains(&wait), "{entry}");
    }
    let entry = wait_for_state(&wall, &id, "delivered");
    assert_eq!(statuses(&entry), json!([503, 200]));
    let attempts = receiver.received();
    let ms = attempts[1].at_ms - attempts[0].at_ms;
    assert!(ms >= 4_500, "{ms} ms after Retry-After: 5");
}
