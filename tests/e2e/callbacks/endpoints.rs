//! Endpoints that receive no callbacks for a while, because they asked for it or because none is configured. Their
//! callbacks are kept.

use serde_json::{Value, json};

use crate::{
    callbacks::{ATTEMPTS_MS, healthy, quick, statuses, wait_for_state},
    harness::{Behaviour, OfferWall, Receiver, SECRET, callback, eventually_within},
};

/// The answers by which an endpoint disables itself.
fn disabling_answers() -> [Behaviour; 3] {
    [
        Behaviour::status(410),
        Behaviour::answer(410, &[("webhook-delivery", "disable")], "gone"),
        Behaviour::answer(500, &[("webhook-delivery", "disable")], ""),
    ]
}

#[track_caller]
fn is_disabled(wall: &OfferWall<'_>) {
    eventually_within(ATTEMPTS_MS, &json!("disabled"), || wall.endpoint()["state"].clone());
}

#[test]
fn an_endpoint_that_disables_itself_is_not_called_until_it_is_enabled() {
    let signpost = quick();
    let receivers = disabling_answers().map(|_| Receiver::start());
    let walls = [0, 1, 2].map(|number: usize| {
        let app = format!("7900025{number}");
        signpost.sharded_offer_wall(&format!("cb-gone-{number}"), &app, Some(&receivers[number]), 1)
    });
    signpost.refresh();
    let mut all = Vec::new();
    for (stop, (receiver, wall)) in disabling_answers().into_iter().zip(receivers.iter().zip(&walls)) {
        receiver.set(stop);
        all.push(vec![wall.pay("u-1")]);
    }
    for (ids, (receiver, wall)) in all.iter_mut().zip(receivers.iter().zip(&walls)) {
        receiver.wait(1);
        is_disabled(wall);
        receiver.set(Behaviour::status(200));
        // Conversions are still accepted.
        ids.extend([wall.pay("u-2"), wall.pay("u-3")]);
    }
    // Longer than the delay until the next attempt.
    std::thread::sleep(std::time::Duration::from_secs(3));
    for (ids, (receiver, wall)) in all.iter().zip(receivers.iter().zip(&walls)) {
        assert_eq!(receiver.count(), 1);
        for id in ids {
            assert_eq!(wall.state(id), "waiting");
        }
        let endpoint = wall.endpoint();
        assert_eq!(
            (&endpoint["state"], &endpoint["waiting"], &endpoint["dead"]),
            (&json!("disabled"), &json!(3), &json!(0)),
            "{endpoint}"
        );
    }
    // The operator enables an endpoint, or a changed callback does; also after a power cut.
    signpost.restart();
    std::thread::sleep(std::time::Duration::from_secs(2));
    let enabled = walls[0].operator("POST", "callback/enable", None).expect(200).json();
    assert_ne!(enabled["state"], "disabled", "{enabled}");
    for (receiver, wall) in receivers.iter().zip(&walls).skip(1) {
        assert_eq!(receiver.count(), 1);
        let url = format!("{}/cb?again=1", receiver.base());
        wall.put_app(&json!({"callback": callback(&url, "GET")}));
    }
    for (ids, (receiver, wall)) in all.iter().zip(receivers.iter().zip(&walls)) {
        for id in ids {
            wait_for_state(wall, id, "delivered");
        }
        assert_eq!(receiver.count(), 4);
        eventually_within(ATTEMPTS_MS, &healthy(), || wall.endpoint());
    }
}

#[test]
fn an_endpoint_that_disables_itself_to_one_outbox_is_not_called_by_the_others() {
    let signpost = quick();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("cb-gone-told", "79000259", Some(&receiver));
    let users = wall.users();
    users.iter().for_each(|user| drop(wall.pay(user)));
    receiver.wait(users.len());
    receiver.set(Behaviour::status(410));
    wall.pay(&users[0]);
    receiver.wait(users.len() + 1);
    is_disabled(&wall);
    std::thread::sleep(std::time::Duration::from_secs(1));
    users.iter().for_each(|user| drop(wall.pay(user)));
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(receiver.count(), users.len() + 1);
    // All of them start again with the endpoint.
    receiver.set(Behaviour::status(200));
    wall.operator("POST", "callback/enable", None).expect(200);
    receiver.wait_for_transactions(ATTEMPTS_MS, 2 * users.len() + 1);
}

#[test]
fn an_endpoint_can_abort_one_callback_and_accept_the_others() {
    let signpost = quick();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("cb-abort", "79000255", Some(&receiver));
    receiver.set(Behaviour::decide(|request| {
        if request.parameter("user_id").as_deref() == Some("not-ours") {
            Behaviour::answer(400, &[("webhook-delivery", "abort-message")], "who?")
        } else {
            Behaviour::status(200)
        }
    }));
    let aborted = wall.pay("not-ours");
    let accepted = wall.pay("ours");
    let entry = wait_for_state(&wall, &aborted, "dead");
    assert_eq!(statuses(&entry), json!([400]));
    wait_for_state(&wall, &accepted, "delivered");
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(receiver.transactions(), [(aborted.clone(), 1), (accepted, 1)].into());
    // It can be replayed like any dead letter.
    receiver.set(Behaviour::status(200));
    wall.replay(&aborted).expect(200);
    wait_for_state(&wall, &aborted, "delivered");
}

#[test]
fn rewards_wait_until_the_app_has_a_callback() {
    let signpost = quick();
    let wall = signpost.offer_wall("cb-none", "79000256", None);
    let ids: Vec<_> = (0..5).map(|user| wall.pay(&format!("u-{user}"))).collect();
    for id in &ids {
        let entry = wall.entry(id);
        assert_eq!((&entry["status"], &entry["state"]), (&json!("approved"), &json!("no_endpoint")));
        assert_eq!(entry["attempts"], json!([]));
    }
    assert_eq!(wall.endpoint()["state"], "none");
    assert_eq!(wall.entries("state=no_endpoint").len(), 5);
    assert_eq!(wall.replay(&ids[0]).expect(200).json()["state"], "no_endpoint");
    wall.operator("POST", "callback_test", None).expect_error(409, "no_callback");

    // A change without a callback releases nothing.
    wall.put_app(&json!({"name": "Renamed"}));
    assert_eq!(wall.state(&ids[0]), "no_endpoint");
    let receiver = Receiver::start();
    wall.put_app(&json!({"callback": callback(&format!("{}/cb", receiver.base()), "GET")}));
    // They were released before the operator's request was answered.
    assert_eq!(wall.entries("state=no_endpoint"), [] as [Value; 0]);
    let called = receiver.wait_for_transactions(ATTEMPTS_MS, 5);
    assert!(ids.iter().all(|id| called.get(id) == Some(&1)), "{called:?}");
    for id in &ids {
        wait_for_state(&wall, id, "delivered");
    }
    assert_eq!(wall.endpoint(), healthy());
}

#[test]
fn a_changed_callback_applies_from_the_next_attempt_on() {
    let signpost = quick();
    let [old, new] = [(); 2].map(|()| Receiver::start());
    old.set(Behaviour::status(500));
    let wall = signpost.offer_wall("cb-moved", "79000257", Some(&old));
    let id = wall.pay("u-1");
    old.wait(1);
    let mut moved = callback(&format!("{}/moved", new.base()), "POST");
    moved["previous_secret"] = json!(SECRET);
    wall.put_app(&json!({ "callback": moved }));
    let entry = wait_for_state(&wall, &id, "delivered");
    assert_eq!(entry["attempts"].as_array().unwrap().last().unwrap()["http_status"], 200);
    let received = new.received();
    assert_eq!((received.len(), received[0].method.as_str()), (1, "POST"));
    assert_eq!(received[0].transaction_id(), id);
}
