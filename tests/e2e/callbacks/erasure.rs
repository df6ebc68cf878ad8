//! Erasure of a user: the log no longer names the user of its conversions, and repeats are still recognized.

use serde_json::{Value, json};

use crate::{
    callbacks::{ATTEMPTS_MS, quick, wait_for_state},
    harness::{Behaviour, Receiver, eventually_within, expect_accepted},
};

#[test]
fn erasure_removes_the_user_id_and_keeps_the_conversions() {
    let signpost = quick();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("cb-erased", "79000293", Some(&receiver));
    let user = "gone@example.com";
    let clicks = [0, 1, 2].map(|_| wall.click_id(user));
    let mut ids = Vec::new();
    for click in &clicks[..2] {
        let id = expect_accepted(wall.convert(click, ""), "approved", false);
        wait_for_state(&wall, &id, "delivered");
        ids.push(id);
    }
    let other = wall.pay("another");
    wait_for_state(&wall, &other, "delivered");
    // One callback is still waiting: it is sent with the user id, which is erased after that.
    receiver.set(Behaviour::status(500));
    ids.push(expect_accepted(wall.convert(&clicks[2], ""), "approved", false));
    receiver.wait(4);
    let erase = || wall.erase("gone@example.com");
    let erased = erase();
    receiver.set(Behaviour::status(200));
    assert_eq!(erased, json!({"erased": 2, "waiting": 1}));
    for id in &ids[..2] {
        let entry = wall.entry(id);
        assert_eq!(entry["user_id"], Value::Null, "{entry}");
        assert_eq!((&entry["status"], &entry["state"]), (&json!("approved"), &json!("delivered")));
    }
    wait_for_state(&wall, &ids[2], "delivered");
    let last = receiver.received().pop().unwrap();
    assert_eq!((last.transaction_id(), last.parameter("user_id").as_deref()), (ids[2].as_str(), Some(user)));
    eventually_within(ATTEMPTS_MS, &Value::Null, || wall.entry(&ids[2])["user_id"].clone());
    assert_eq!(erase(), json!({"erased": 0, "waiting": 0}));
    assert_eq!(wall.entry(&other)["user_id"], "another");

    // Nothing is left to replay, and repeated postbacks are still recognized.
    let count = receiver.count();
    for (click, id) in clicks.iter().zip(&ids) {
        wall.replay(id).expect_error(409, "erased");
        assert_eq!(expect_accepted(wall.convert(click, ""), "approved", true), *id);
    }
    // Only the other user's is left.
    wall.replay_all(&json!({"delivery": "delivered"}), 1);
    wait_for_state(&wall, &other, "delivered");
    eventually_within(ATTEMPTS_MS, &(count + 1), || receiver.count());
}
