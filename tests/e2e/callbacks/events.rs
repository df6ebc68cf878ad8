//! The events that a publisher receives: the callbacks of each kind of receiver. A receiver that only keeps transaction
//! ids unique must pay the right amounts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::harness::{Receiver, callback, demo, eventually, now_ms, with};
use domain::model::time::HOUR_MS;

/// By user: the statuses that a receiver was sent, in any order.
type Told = BTreeMap<String, BTreeSet<String>>;

fn told(receiver: &Receiver) -> Told {
    let mut told = Told::new();
    for callback in receiver.received() {
        let user = callback.parameter("user_id").expect("a user");
        let status = callback.parameter("status").expect("a status");
        told.entry(user).or_default().insert(status);
    }
    told
}

/// The coins that a receiver pays to each user, if it adds up `value` once for each transaction id, whatever the status is.
fn paid(receiver: &Receiver) -> BTreeMap<String, i64> {
    let (mut seen, mut paid) = (BTreeSet::new(), BTreeMap::new());
    for callback in receiver.received() {
        if seen.insert(callback.transaction_id().to_owned()) {
            let user = callback.parameter("user_id").expect("a user");
            let value: i64 = callback.parameter("value").expect("a value").parse().expect("coins");
            *paid.entry(user).or_default() += value;
        }
    }
    paid
}

#[test]
fn each_receiver_is_told_of_its_events_and_none_is_led_to_pay_too_much() {
    let signpost = demo();
    let kinds = [
        ("all", json!({"events": ["approved", "reversed", "pending", "rejected"]})),
        ("usual", json!({})),
        ("legacy", json!({"legacy_md5": {"secret": "an older one"}})),
        ("approved", json!({"events": ["approved"]})),
    ];
    // By user: the statuses of postbacks and the operator's actions, the statuses that a receiver of "all" gets, and
    // the coins due to the user. Held users have clicks too new to be paid without the operator.
    let users: [(&str, &[&str], &[&str], i64); 12] = [
        ("held", &["approved", "approved"], &["pending"], 0),
        ("held, approved", &["approved", "", "approve"], &["pending", "approved"], 1_250),
        ("held, rejected", &["approved", "", "reject"], &["pending", "rejected"], 0),
        ("taken back", &["approved", "reverse"], &["approved", "reversed"], 0),
        ("turned down", &["pending", "", "reject"], &["pending", "rejected"], 0),
        ("vouched for", &["pending", "", "approve"], &["pending", "approved"], 1_250),
        ("paid", &["approved", "approved", "pending"], &["approved"], 1_250),
        ("reversed", &["approved", "reversed"], &["approved", "reversed"], 0),
        ("waits", &["pending", "pending"], &["pending"], 0),
        ("later", &["pending", "", "approved"], &["pending", "approved"], 1_250),
        ("refused", &["pending", "", "rejected", "approved"], &["pending", "rejected"], 0),
        ("unknown", &["rejected", "reversed"], &["rejected"], 0),
    ];
    for (nth, (kind, changes)) in kinds.into_iter().enumerate() {
        let receiver = Receiver::start();
        let wall = signpost.unpublished_offer_wall(&format!("cb-events-{kind}"), &format!("7900034{nth}"), None);
        wall.put_offer(&json!({"min_seconds_to_convert": 3_600}));
        let settings = with(callback(&format!("{}/cb", receiver.base()), "GET"), &changes);
        wall.put_app(&json!({ "callback": settings }));
        signpost.refresh();
        let wanted = |status: &str| match kind {
            "all" => true,
            "approved" => status == "approved",
            _ => ["approved", "reversed"].contains(&status),
        };
        let mut expected = Told::new();
        let mut due = BTreeMap::new();
        for (user, events, statuses, coins) in users {
            let user = &user.replace([' ', ','], "-");
            let age_ms = if user.starts_with("held") { 0 } else { 2 * HOUR_MS };
            let click = wall.click_id_at(user, now_ms() - age_ms);
            let mut transaction_id = String::new();
            for event in events {
                if event.is_empty() {
                    // A notice that is overtaken is not sent, so the next postback waits for it.
                    if wanted("pending") {
                        eventually(&true, || told(&receiver).contains_key(user));
                    }
                } else if ["approve", "reject", "reverse"].contains(event) {
                    let path = format!("conversions/{transaction_id}/{event}");
                    wall.operator("POST", &path, Some(&json!({"reason": "checked"}))).expect(200);
                } else {
                    let answer = wall.convert(&click, &format!("&status={event}")).expect(200);
                    transaction_id = answer.json()["transaction_id"].as_str().unwrap().to_owned();
                }
            }
            let statuses: BTreeSet<_> = statuses.iter().filter(|status| wanted(status)).copied().collect();
            if !statuses.is_empty() {
                expected.insert(user.clone(), statuses.into_iter().map(str::to_owned).collect());
                let is_told_of_reversals = wanted("reversed");
                due.insert(user.to_owned(), if is_told_of_reversals || coins > 0 { coins } else { 1_250 });
            }
        }
        eventually(&expected, || told(&receiver));
        assert_eq!(paid(&receiver), due, "{kind}");
        let ended = |state: &str| wall.entries(&format!("state={state}&limit=100"));
        eventually(&0, || ended("waiting").len());
        let unwanted: Vec<Value> = ended("not_wanted");
        assert_eq!(unwanted.len(), if kind == "approved" { 2 } else { 0 }, "{unwanted:?}");
    }
}

#[test]
fn events_that_old_receivers_would_take_for_rewards_are_refused() {
    let signpost = demo();
    let wall = signpost.offer_wall("cb-events-wrong", "79000289", None);
    for (changes, problem) in [
        (
            json!({"events": ["approved", "pending"], "legacy_md5": {"secret": "s"}}),
            "callback.events: must not have pending or rejected if legacy_md5 is set",
        ),
        (
            json!({"events": ["rejected"], "legacy_md5": {"secret": "s"}}),
            "callback.events: must not have pending or rejected if legacy_md5 is set",
        ),
        (json!({"events": []}), "callback.events: must not be empty"),
        (json!({"events": ["approved", "approved"]}), "callback.events[1]: appears twice in the list"),
        (json!({"events": ["paid"]}), "callback.events[0]: must be one of "),
    ] {
        let settings = with(callback("https://x.example/cb", "GET"), &changes);
        let refused = wall.try_put_app(&json!({ "callback": settings })).expect_error(400, "invalid_field");
        let error = refused.json()["error"].as_str().expect("a text").to_owned();
        assert!(error.starts_with(problem), "{error}");
    }
}
