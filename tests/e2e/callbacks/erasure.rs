//! Users who are forgotten: the log says no longer whose conversions they were, and nothing is paid twice for it.

use serde_json::{Value, json};

use crate::{
    callbacks::{TRIES_MS, becomes, quick},
    harness::{Behaviour, Receiver, accepted, in_time},
};

#[test]
fn an_erased_users_conversions_stay_and_say_no_longer_whose_they_are() {
    let signpost = quick();
    let receiver = Receiver::start();
    let wall = signpost.wall("cb-erased", "79000293", Some(&receiver));
    let user = "gone@example.com";
    let clicks = [0, 1, 2].map(|_| wall.click_id(user));
    let mut ids = Vec::new();
    for click in &clicks[..2] {
        let id = accepted(wall.convert(click, ""), "approved", false);
        becomes(&wall, &id, "delivered");
        ids.push(id);
    }
    let other = wall.pay("who-stays");
    becomes(&wall, &other, "delivered");
    // One is still on its way: it is sent as it was frozen, and then forgotten.
    receiver.set(Behaviour::status(500));
    ids.push(accepted(wall.convert(&clicks[2], ""), "approved", false));
    receiver.wait(4);
    // A `@` need not be encoded in a path, and often is.
    let erase = || {
        let answer = wall.operator("DELETE", "users/gone%40example.com", None);
        answer.expect(200).json()
    };
    let erased = erase();
    receiver.set(Behaviour::status(200));
    assert_eq!(erased, json!({"erased": 2, "waiting": 1}));
    for id in &ids[..2] {
        let entry = wall.entry(id);
        assert_eq!(entry["user_id"], Value::Null, "{entry}");
        assert_eq!(
            (&entry["status"], &entry["state"]),
            (&json!("approved"), &json!("delivered"))
        );
    }
    becomes(&wall, &ids[2], "delivered");
    let last = receiver.received().pop().unwrap();
    assert_eq!(
        (last.transaction_id(), last.parameter("user_id").as_deref()),
        (ids[2].as_str(), Some(user))
    );
    in_time(TRIES_MS, &Value::Null, || wall.entry(&ids[2])["user_id"].clone());
    assert_eq!(erase(), json!({"erased": 0, "waiting": 0}));
    assert_eq!(wall.entry(&other)["user_id"], "who-stays");

    // There is nothing left to send, and what is known against repeats is known still.
    let count = receiver.count();
    for (click, id) in clicks.iter().zip(&ids) {
        wall.replay(id).refused(409, "erased");
        assert_eq!(accepted(wall.convert(click, ""), "approved", true), *id);
    }
    let many = json!({"since": 0, "state": "delivered"});
    let replayed = wall
        .operator("POST", "conversions/replay", Some(&many))
        .expect(200)
        .json();
    assert_eq!(replayed["replayed"], 1, "that of who stays");
    becomes(&wall, &other, "delivered");
    in_time(TRIES_MS, &(count + 1), || receiver.count());
}
