//! The log of conversions and of every try of their callbacks, and the test callback; each app's for itself.

use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::{
    callbacks::{TRIES_MS, becomes, quick, twice},
    harness::{Behaviour, OPERATOR_TOKEN, Receiver, SECRET, accepted, callback, demo, in_time, now_ms},
};

#[test]
fn every_try_is_logged_with_its_answer_and_without_secrets() {
    let signpost = twice();
    let receiver = Receiver::start();
    let wall = signpost.wall("cb-log", "79000281", Some(&receiver));
    let (previous, of_md5) = ("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", "an-older-secret-of-41");
    let mut secrets = callback(&format!("{}/cb", receiver.base()), "GET");
    secrets["previous_secret"] = json!(previous);
    secrets["legacy_md5"] = json!({ "secret": of_md5 });
    wall.put_app(&json!({ "callback": secrets }));
    let bare = SECRET.trim_start_matches("whsec_");
    // Longer than what is kept, of characters of several bytes, with a secret where it is cut.
    let long = format!("{}{SECRET}{}", "ü".repeat(500), "x".repeat(3_000));
    let bodies = [
        String::new(),
        format!("secret={SECRET}&old={previous}&older={of_md5}&raw={bare};"),
        long,
        "taken".to_owned(),
    ];
    let mut ids = Vec::new();
    for body in &bodies {
        receiver.set(Behaviour::answer(
            if body == "taken" { 200 } else { 500 },
            &[],
            body,
        ));
        let id = wall.pay("u-1");
        if body == "taken" {
            becomes(&wall, &id, "delivered");
        } else {
            becomes(&wall, &id, "dead");
        }
        ids.push(id);
    }
    let bodies_of = |id: &str| -> Vec<String> {
        let entry = wall.entry(id);
        let attempts = entry["attempts"].as_array().unwrap().iter();
        let now = now_ms() / 1_000;
        attempts
            .map(|attempt| {
                let members: Vec<_> = attempt.as_object().unwrap().keys().map(String::as_str).collect();
                assert_eq!(members, ["at", "body", "http_status", "ms"], "{attempt}");
                assert!(
                    (now - 120..=now + 2).contains(&attempt["at"].as_i64().unwrap()),
                    "{attempt}"
                );
                assert!((0..500).contains(&attempt["ms"].as_i64().unwrap()), "{attempt}");
                attempt["body"].as_str().unwrap().to_owned()
            })
            .collect()
    };
    assert_eq!(bodies_of(&ids[0]), ["", ""]);
    assert_eq!(bodies_of(&ids[3]), ["taken"]);
    for body in bodies_of(&ids[1]) {
        assert!(body.starts_with("secret=") && body.ends_with(';'), "{body}");
        for secret in [SECRET, previous, of_md5, bare] {
            assert!(!body.contains(secret), "{secret} in {body}");
        }
    }
    for body in bodies_of(&ids[2]) {
        assert!(
            body.starts_with("üüü") && body.len() <= 1_024 + 8,
            "{} bytes: {body}",
            body.len()
        );
        assert!(!body.contains(&SECRET[..16]), "{body}");
    }
    let all = wall.operator("GET", "conversions", None).expect(200).body;
    for secret in [SECRET, previous, of_md5, bare] {
        assert!(!all.contains(secret), "{secret} in the log");
    }
}

#[test]
fn an_entry_says_what_was_converted_and_what_came_of_it() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.wall("cb-entry", "79000282", Some(&receiver));
    let clicked_at = now_ms() / 1_000 - 5_000;
    let click = wall.click_id_of("u-1", clicked_at * 1_000 + 999);
    let id = accepted(wall.convert(&click, "&goal=level_10&txn=t-1"), "approved", false);
    let entry = becomes(&wall, &id, "delivered");
    let (attempt, converted_at) = (&entry["attempts"][0], &entry["conversion_ts"]);
    assert_eq!(
        entry,
        json!({
            "transaction_id": id, "user_id": "u-1", "offer_id": "cb-entry", "goal_id": "cb-entry-2", "txn": "t-1",
            "click_ts": clicked_at, "conversion_ts": converted_at, "payout": 20.5, "value": 20_500,
            "status": "approved", "state": "delivered",
            "attempts": [{"at": attempt["at"], "http_status": 200, "ms": attempt["ms"], "body": ""}]
        })
    );
    assert!(
        (now_ms() / 1_000 - converted_at.as_i64().unwrap()).abs() < 60,
        "{entry}"
    );

    let pending = accepted(
        wall.convert(&wall.click_id("u-2"), "&status=pending"),
        "pending",
        false,
    );
    let entry = wall.entry(&pending);
    assert_eq!(
        (&entry["status"], &entry["state"], &entry["attempts"]),
        (&json!("pending"), &Value::Null, &json!([]))
    );
    wall.replay(&pending).refused(409, "nothing_to_send");
    assert_eq!(wall.entries("status=pending"), [entry]);
    assert_eq!(wall.entries("status=approved&state=delivered").len(), 1);
    for filter in ["status=delivered", "state=approved", "status=", "state=DEAD"] {
        wall.operator("GET", &format!("conversions?{filter}"), None)
            .refused(400, "invalid_field");
    }
}

#[test]
fn a_test_callback_shows_what_is_sent_and_what_came_back() {
    let signpost = quick();
    let receiver = Receiver::start();
    let wall = signpost.wall("cb-test", "79000283", Some(&receiver));
    receiver.set(Behaviour::answer(404, &[], "no such page"));
    for (number, method) in ["GET", "POST"].into_iter().enumerate() {
        let url = format!("{}/cb", receiver.base());
        wall.put_app(&json!({"callback": callback(&url, method)}));
        let told = wall.operator("POST", "callback_test", None).expect(200).json();
        let received = receiver.wait(number + 1).remove(number);
        let request = &told["request"];
        assert_eq!(request["method"], method, "{told}");
        assert_eq!(
            request["url"],
            format!("{}{}", receiver.base(), received.target),
            "{told}"
        );
        for header in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
            assert_eq!(request["headers"][header], received.header(header), "{told}");
        }
        let response = &told["response"];
        assert_eq!(
            (&response["http_status"], &response["body"]),
            (&json!(404), &json!("no such page"))
        );
        assert!(response["ms"].is_i64(), "{told}");
        assert!(!told.to_string().contains(SECRET), "{told}");
        // It is marked, and signed like any other.
        let id = received.transaction_id();
        assert!(id.starts_with("test-"), "{received:?}");
        let payload = if method == "GET" {
            assert_eq!(received.parameter("user_id").as_deref(), Some("signpost-test"));
            assert_eq!(received.parameter("transaction_id").as_deref(), Some(id));
            received.query()
        } else {
            let body: Value = serde_json::from_str(&received.body).unwrap();
            assert_eq!(
                (&body["user_id"], &body["transaction_id"]),
                (&json!("signpost-test"), &json!(id))
            );
            assert_eq!(request["body"], received.body.as_str(), "{told}");
            &received.body
        };
        let webhook = Webhook::new(SECRET).unwrap();
        webhook.verify(payload.as_bytes(), &received.headers).unwrap();
    }
    // What gives no answer is told, too.
    for silent in [Behaviour::Silent, Behaviour::Hang] {
        receiver.set(silent);
        let told = wall.operator("POST", "callback_test", None).expect(200).json();
        assert_eq!(told["response"], Value::Null, "{told}");
        assert!(
            told["error"].as_str().is_some_and(|error| !error.is_empty()),
            "{told}"
        );
    }
    // It is in no log, and not tried again.
    let count = receiver.count();
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(receiver.count(), count);
    assert_eq!(wall.entries(""), [] as [Value; 0]);
    assert_eq!(wall.endpoint()["waiting"], 0);
}

#[test]
fn an_app_sees_nothing_of_another_and_an_unknown_one_has_nothing() {
    let signpost = demo();
    let receiver = Receiver::start();
    let one = signpost.unpublished_wall("cb-one", "79000284", Some(&receiver));
    let other = signpost.unpublished_wall("cb-other", "79000285", Some(&receiver));
    signpost.refresh();
    let id = one.pay("u-1");
    becomes(&one, &id, "delivered");
    let other_id = other.pay("u-1");
    becomes(&other, &other_id, "delivered");
    let path = format!("conversions/{id}");
    other.operator("GET", &path, None).refused(404, "not_found");
    other.replay(&id).refused(404, "not_found");
    assert_eq!(other.entries("").len(), 1);
    let since = json!({"since": 0, "state": "delivered"});
    let replayed = other
        .operator("POST", "conversions/replay", Some(&since))
        .expect(200);
    assert_eq!(replayed.json()["replayed"], 1);
    let erased = other.operator("DELETE", "users/u-1", None).expect(200).json();
    assert_eq!(
        erased["erased"].as_i64().unwrap() + erased["waiting"].as_i64().unwrap(),
        1,
        "{erased}"
    );
    in_time(TRIES_MS, &Value::Null, || {
        other.entry(&other_id)["user_id"].clone()
    });
    assert_eq!(one.entry(&id)["user_id"], "u-1");
    assert_eq!(receiver.transactions().get(&id), Some(&1));
    one.operator("GET", "conversions/no-such-id", None)
        .refused(404, "not_found");
    one.replay("00000000-0000-8000-8000-000000000000")
        .refused(404, "not_found");

    let calls = [
        ("GET", "conversions"),
        ("GET", path.as_str()),
        ("POST", &format!("{path}/replay")),
        ("POST", "conversions/replay"),
        ("POST", "callback_test"),
        ("POST", "callback/enable"),
        ("GET", "callback"),
        ("DELETE", "users/u-1"),
    ];
    for app in ["79999999", "not-an-app", "1"] {
        for (method, rest) in calls {
            let body = rest.ends_with("conversions/replay").then(|| json!({"since": 0}));
            signpost
                .operator(method, &format!("apps/{app}/{rest}"), body.as_ref())
                .refused(404, "not_found");
        }
    }
    // None of them without the operator's token.
    for authorization in [
        String::new(),
        "Bearer wrong".into(),
        format!("Bearer {OPERATOR_TOKEN}x"),
    ] {
        for (method, rest) in calls {
            let address = format!("/v1/operator/apps/{}/{rest}", one.app);
            signpost
                .send(method, &address, &[("Authorization", &authorization)], b"")
                .refused(401, "invalid_operator_token");
        }
    }
}
