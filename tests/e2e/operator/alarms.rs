//! Alarms on workerd: a publisher and the operator hear of a receiver that fails, also after a kill, and an address that
//! misbehaves delays no callback.

use std::{collections::BTreeMap, thread, time::Duration};

use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::{
    dashboard::signed_in,
    harness::{Behaviour, Received, Receiver, Setup},
};

/// How long an alarm may take after its cause, in milliseconds.
const WITHIN_MS: i64 = 60_000;

fn body(received: &Received) -> Value {
    serde_json::from_str(&received.body).expect("JSON")
}

/// The alarms of a type among the messages, a digest's entries too.
fn alarms(messages: &[Received], kind: &str) -> Vec<Value> {
    let of = |received: &Received| match body(received)["data"]["alarms"].as_array() {
        Some(alarms) => alarms.clone(),
        None => vec![body(received)["data"].clone()],
    };
    let all = messages.iter().flat_map(of);
    all.filter(|alarm| alarm["type"] == kind).collect()
}

/// The first alarm of a type, as soon as the address has it.
#[track_caller]
fn first(address: &Receiver, kind: &str) -> Value {
    let came = address.wait_until(WITHIN_MS, |messages| !alarms(messages, kind).is_empty());
    assert!(came, "no {kind} in {:?}", address.received());
    alarms(&address.received(), kind).remove(0)
}

fn verifies(received: &Received, secret: &str) -> bool {
    let webhook = Webhook::new(secret).expect("a secret");
    webhook
        .verify(received.body.as_bytes(), &received.headers)
        .is_ok()
}

#[test]
fn a_failing_receiver_is_told_to_the_publisher_and_the_operator_also_after_a_kill() {
    let signpost = Setup::new().var("CALLBACK_SCHEDULE", "0,1,1,1,1,1").start();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("alarm-wall", "79000881", Some(&receiver));
    let publisher = signpost.existing_publisher(&wall.id);
    let owner = signed_in(&signpost, &publisher, "owner");
    let (own, operators) = (Receiver::start(), Receiver::start());
    let url = |address: &Receiver| json!({ "url": format!("{}/hook?key=0123456789abcdef", address.base()) });

    // Without an address there is nothing to test, and a wrong one is refused.
    assert_eq!(owner.get("alarms").expect(200).json(), json!({ "address": null }));
    owner
        .post("alarms/test", &json!({}))
        .expect_error(409, "no_address");
    for wrong in ["nonsense", "ftp://x.example/", "https://x.example/{user_id}"] {
        let body = json!({ "url": wrong });
        owner
            .send("PUT", "/v1/dashboard/alarms", Some(&body))
            .expect_error(400, "invalid_field");
    }
    let set = owner
        .send("PUT", "/v1/dashboard/alarms", Some(&url(&own)))
        .expect(200);
    let secret = set.json()["secret"].as_str().expect("a secret").to_owned();
    signpost
        .operator("PUT", "alarms", Some(&url(&operators)))
        .expect(200);
    thread::sleep(Duration::from_secs(5));
    let tested = owner.post("alarms/test", &json!({})).expect(200).json();
    assert_eq!(tested["http_status"], 200, "{tested}");
    let test = &own.received()[0];
    assert!(test.header("webhook-id").starts_with("test-"), "{test:?}");
    assert!(verifies(test, &secret), "{test:?}");
    let shown = owner.get("alarms").expect(200).json();
    assert_eq!(
        shown["address"]["url"],
        format!("{}/hook?key=********", own.base())
    );
    assert_eq!(shown["address"]["last_try"]["http_status"], 200);

    // The receiver fails. The address of the operator hangs, and workerd is killed meanwhile.
    receiver.set(Behaviour::status(500));
    operators.set(Behaviour::Hang);
    let paid = wall.pay("user-1");
    first(&own, "endpoint.failing");
    assert!(operators.wait_until(WITHIN_MS, |requests| !requests.is_empty()));
    signpost.restart_after(|| {});
    operators.set(Behaviour::status(204));
    for (address, publisher_id) in [(&own, Value::Null), (&operators, json!("alarm-wall"))] {
        let given_up = first(address, "reward.given_up");
        let failing = first(address, "endpoint.failing");
        assert_eq!(
            (&failing["subject"], &failing["publisher_id"]),
            (&json!("79000881"), &publisher_id)
        );
        assert!(
            failing["page"]
                .as_str()
                .is_some_and(|page| page.ends_with("/apps/79000881")),
            "{failing}"
        );
        assert_eq!(given_up["count"], 1, "{given_up}");
        // A repeat has the id of the first attempt.
        let mut by_body = BTreeMap::new();
        for received in address.received() {
            let id = received.header("webhook-id").to_owned();
            assert_eq!(
                by_body.entry(received.body.clone()).or_insert_with(|| id.clone()),
                &id
            );
        }
    }
    assert!(own.received().iter().all(|received| verifies(received, &secret)));

    // It recovers, and the reward is paid after all.
    receiver.set(Behaviour::status(200));
    wall.replay(&paid).expect(200);
    first(&own, "endpoint.recovered");
    assert!(receiver.transactions()[&paid] > 0);

    owner.send("DELETE", "/v1/dashboard/alarms", None).expect(204);
    assert_eq!(owner.get("alarms").expect(200).json(), json!({ "address": null }));
    signpost.operator("DELETE", "alarms", None).expect(204);
    assert_eq!(
        signpost.operator("GET", "alarms", None).expect(200).json(),
        json!({ "address": null })
    );
    let audit = owner.get("audit").expect(200).json();
    let actions: Vec<_> = audit["entries"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["action"].clone())
        .collect();
    for action in ["alarm_address_set", "alarms_tested", "alarm_address_ended"] {
        assert!(actions.contains(&json!(action)), "{actions:?}");
    }
    for wrong in [
        json!({}),
        json!({ "url": 1 }),
        json!({ "url": "https://x.example", "secret": "s" }),
    ] {
        let refused = signpost.operator("PUT", "alarms", Some(&wrong));
        assert_eq!(refused.status, 400, "{refused:?}");
    }
}
