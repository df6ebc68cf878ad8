//! Reversals: one more callback with its own id, the id of the reward, and the exact negative of its amounts.

use serde_json::{Value, json};

use crate::{
    callbacks::wait_for_state,
    harness::{Receiver, callback, demo, expect_accepted},
};

#[test]
fn a_reversal_is_sent_once_with_its_own_id_and_the_exact_negative() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("cb-reversed", "79000261", Some(&receiver));
    let currency = json!({"name": "Gems", "per_usd": 3.3, "decimals": 2, "rounding": "up"});
    let url = format!("{}/cb", receiver.base());
    wall.put_app(&json!({"callback": callback(&url, "GET"), "currency": currency}));
    let click = wall.click_id("u-1");
    let id = expect_accepted(wall.convert(&click, "&goal=purchase"), "approved", false);
    let reward = receiver.wait(1).remove(0);
    assert_eq!(reward.transaction_id(), id);
    wait_for_state(&wall, &id, "delivered");
    // A reversal negates the paid amount, not the current one.
    wall.put_offer(&json!({"goals": [{"id": "cb-reversed-3", "ttl": "T", "instr": "1. I", "payout_usd": 5, "ord": 1,
        "gl_val": "purchase"}]}));
    wall.put_app(&json!({"callback": callback(&url, "GET")}));
    for duplicate in [false, true, true] {
        let answer = wall.convert(&click, "&goal=purchase&status=reversed");
        assert_eq!(expect_accepted(answer, "reversed", duplicate), id);
    }
    let reversal = receiver.wait(2).remove(1);
    let own_id = reversal.transaction_id().to_owned();
    assert_ne!(own_id, id);
    let value = reward.parameter("value").unwrap();
    for (name, expected) in [
        ("transaction_id", own_id.as_str()),
        ("original_transaction_id", &id),
        ("status", "reversed"),
        ("payout", "-99.999999"),
        ("value", &format!("-{value}")),
        ("currency", "Gems"),
    ] {
        assert_eq!(reversal.parameter(name).as_deref(), Some(expected), "{reversal:?}");
    }
    for name in ["user_id", "offer_id", "goal_id", "goal_value", "app_id", "country", "click_ts"] {
        assert_eq!(reversal.parameter(name), reward.parameter(name), "{name}");
    }
    assert_eq!(reward.parameter("original_transaction_id"), None);

    let entry = wait_for_state(&wall, &own_id, "delivered");
    assert_eq!(entry["original_transaction_id"], id.as_str(), "{entry}");
    assert_eq!((&entry["status"], &entry["payout"]), (&json!("reversed"), &json!(-99.999_999)));
    let paid = wall.entry(&id);
    assert_eq!((&paid["status"], &paid["state"]), (&json!("reversed"), &json!("delivered")));
    assert_eq!(paid["payout"], json!(99.999_999), "{paid}");
    assert_eq!(paid.get("original_transaction_id"), None, "{paid}");
    assert_eq!(entry["value"].as_f64().map(|value| -value), paid["value"].as_f64());
    let listed: Vec<Value> = wall.entries("");
    assert_eq!(listed, [entry, paid], "newest first");
    assert_eq!(receiver.count(), 2, "a repeat sent another callback");
}
