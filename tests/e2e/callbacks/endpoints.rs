//! Endpoints that are told of nothing for a while: because they said so, or because there is none yet. What is for them
//! is kept.

use serde_json::{Value, json};

use crate::{
    callbacks::{TRIES_MS, becomes, healthy, quick, statuses},
    harness::{Behaviour, Receiver, SECRET, Wall, callback, in_time},
};

/// What an endpoint answers to say that it wants no more.
fn stops() -> [Behaviour; 3] {
    [
        Behaviour::status(410),
        Behaviour::answer(410, &[("webhook-delivery", "disable")], "gone"),
        Behaviour::answer(500, &[("webhook-delivery", "disable")], ""),
    ]
}

#[track_caller]
fn is_disabled(wall: &Wall<'_>) {
    in_time(TRIES_MS, &json!("disabled"), || wall.endpoint()["state"].clone());
}

#[test]
fn an_endpoint_that_says_so_is_called_no_more_until_it_is_enabled_again() {
    let signpost = quick();
    let receivers = stops().map(|_| Receiver::start());
    let walls = [0, 1, 2].map(|number: usize| {
        let app = format!("7900025{number}");
        signpost.unpublished_wall(&format!("cb-gone-{number}"), &app, Some(&receivers[number]))
    });
    signpost.refresh();
    let mut all = Vec::new();
    for (stop, (receiver, wall)) in stops().into_iter().zip(receivers.iter().zip(&walls)) {
        receiver.set(stop);
        all.push(vec![wall.pay("u-1")]);
    }
    for (ids, (receiver, wall)) in all.iter_mut().zip(receivers.iter().zip(&walls)) {
        receiver.wait(1);
        is_disabled(wall);
        receiver.set(Behaviour::status(200));
        // Conversions are taken as ever.
        ids.extend([wall.pay("u-2"), wall.pay("u-3")]);
    }
    // Longer than the time to the next try.
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
    // By the operator's word, or with a callback that was changed; also after a power cut.
    signpost.restart();
    std::thread::sleep(std::time::Duration::from_secs(2));
    let enabled = walls[0]
        .operator("POST", "callback/enable", None)
        .expect(200)
        .json();
    assert_ne!(enabled["state"], "disabled", "{enabled}");
    for (receiver, wall) in receivers.iter().zip(&walls).skip(1) {
        assert_eq!(receiver.count(), 1);
        let url = format!("{}/cb?again=1", receiver.base());
        wall.put_app(&json!({"callback": callback(&url, "GET")}));
    }
    for (ids, (receiver, wall)) in all.iter().zip(receivers.iter().zip(&walls)) {
        for id in ids {
            becomes(wall, id, "delivered");
        }
        assert_eq!(receiver.count(), 4);
        in_time(TRIES_MS, &healthy(), || wall.endpoint());
    }
}

#[test]
fn an_endpoint_may_end_one_callback_and_take_the_others() {
    let signpost = quick();
    let receiver = Receiver::start();
    let wall = signpost.wall("cb-abort", "79000255", Some(&receiver));
    receiver.set(Behaviour::of(|request| {
        if request.parameter("user_id").as_deref() == Some("not-ours") {
            Behaviour::answer(400, &[("webhook-delivery", "abort-message")], "who?")
        } else {
            Behaviour::status(200)
        }
    }));
    let ended = wall.pay("not-ours");
    let taken = wall.pay("ours");
    let entry = becomes(&wall, &ended, "dead");
    assert_eq!(statuses(&entry), json!([400]));
    becomes(&wall, &taken, "delivered");
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(receiver.transactions(), [(ended.clone(), 1), (taken, 1)].into());
    // It can be replayed as any that is dead.
    receiver.set(Behaviour::status(200));
    wall.replay(&ended).expect(200);
    becomes(&wall, &ended, "delivered");
}

#[test]
fn without_a_callback_rewards_wait_for_one() {
    let signpost = quick();
    let wall = signpost.wall("cb-none", "79000256", None);
    let ids: Vec<_> = (0..5).map(|user| wall.pay(&format!("u-{user}"))).collect();
    for id in &ids {
        let entry = wall.entry(id);
        assert_eq!(
            (&entry["status"], &entry["state"]),
            (&json!("approved"), &json!("no_endpoint"))
        );
        assert_eq!(entry["attempts"], json!([]));
    }
    assert_eq!(wall.endpoint()["state"], "none");
    assert_eq!(wall.entries("state=no_endpoint").len(), 5);
    assert_eq!(wall.replay(&ids[0]).expect(200).json()["state"], "no_endpoint");
    wall.operator("POST", "callback_test", None)
        .refused(409, "no_callback");

    // A change that brings no callback changes nothing.
    wall.put_app(&json!({"name": "Renamed"}));
    assert_eq!(wall.state(&ids[0]), "no_endpoint");
    let receiver = Receiver::start();
    wall.put_app(&json!({"callback": callback(&format!("{}/cb", receiver.base()), "GET")}));
    // They were released before the operator was answered.
    assert_eq!(wall.entries("state=no_endpoint"), [] as [Value; 0]);
    let called = receiver.wait_for_transactions(TRIES_MS, 5);
    assert!(ids.iter().all(|id| called.get(id) == Some(&1)), "{called:?}");
    for id in &ids {
        becomes(&wall, id, "delivered");
    }
    assert_eq!(wall.endpoint(), healthy());
}

#[test]
fn a_changed_callback_is_called_from_the_next_try_on() {
    let signpost = quick();
    let [old, new] = [(); 2].map(|()| Receiver::start());
    old.set(Behaviour::status(500));
    let wall = signpost.wall("cb-moved", "79000257", Some(&old));
    let id = wall.pay("u-1");
    old.wait(1);
    let mut moved = callback(&format!("{}/moved", new.base()), "POST");
    moved["previous_secret"] = json!(SECRET);
    wall.put_app(&json!({ "callback": moved }));
    let entry = becomes(&wall, &id, "delivered");
    assert_eq!(
        entry["attempts"].as_array().unwrap().last().unwrap()["http_status"],
        200
    );
    let received = new.received();
    assert_eq!((received.len(), received[0].method.as_str()), (1, "POST"));
    assert_eq!(received[0].transaction_id(), id);
}
