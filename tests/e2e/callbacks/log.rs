//! The log of an app's conversions with every attempt of their callbacks, and the test callback.

use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::{
    callbacks::{ATTEMPTS_MS, quick, twice, wait_for_state},
    harness::{
        Behaviour, OPERATOR_TOKEN, Receiver, SECRET, callback, demo, eventually_within, expect_accepted, now_ms,
    },
};

#[test]
fn every_attempt_is_logged_with_its_answer_and_without_secrets() {
    let signpost = twice();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("cb-log", "79000281", Some(&receiver));
    let (previous, md5_secret) = ("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", "an-older-secret-of-41");
    let mut secrets = callback(&format!("{}/cb", receiver.base()), "GET");
    secrets["previous_secret"] = json!(previous);
    secrets["legacy_md5"] = json!({ "secret": md5_secret });
    wall.put_app(&json!({ "callback": secrets }));
    let bare = SECRET.trim_start_matches("whsec_");
    // Longer than the logged part, with characters of several bytes, and with a secret where the log cuts it.
    let long = format!("{}{SECRET}{}", "ü".repeat(500), "x".repeat(3_000));
    let bodies = [
        String::new(),
        format!("secret={SECRET}&old={previous}&older={md5_secret}&raw={bare};"),
        long,
        "taken".to_owned(),
    ];
    let mut ids = Vec::new();
    for body in &bodies {
        receiver.set(Behaviour::answer(if body == "taken" { 200 } else { 500 }, &[], body));
        let id = wall.pay("u-1");
        if body == "taken" {
            wait_for_state(&wall, &id, "delivered");
        } else {
            wait_for_state(&wall, &id, "dead");
        }
        ids.push(id);
    }
    let logged_bodies = |id: &str| -> Vec<String> {
        let entry = wall.entry(id);
        let attempts = entry["attempts"].as_array().unwrap().iter();
        let now = now_ms() / 1_000;
        attempts
            .map(|attempt| {
                let members: Vec<_> = attempt.as_object().unwrap().keys().map(String::as_str).collect();
                assert_eq!(members, ["at", "body", "http_status", "ms"], "{attempt}");
                assert!((now - 120..=now + 2).contains(&attempt["at"].as_i64().unwrap()), "{attempt}");
                assert!((0..500).contains(&attempt["ms"].as_i64().unwrap()), "{attempt}");
                attempt["body"].as_str().unwrap().to_owned()
            })
            .collect()
    };
    assert_eq!(logged_bodies(&ids[0]), ["", ""]);
    assert_eq!(logged_bodies(&ids[3]), ["taken"]);
    for body in logged_bodies(&ids[1]) {
        assert!(body.starts_with("secret=") && body.ends_with(';'), "{body}");
        for secret in [SECRET, previous, md5_secret, bare] {
            assert!(!body.contains(secret), "{secret} in {body}");
        }
    }
    for body in logged_bodies(&ids[2]) {
        assert!(body.starts_with("üüü") && body.len() <= 1_024 + 8, "{} bytes: {body}", body.len());
        assert!(!body.contains(&SECRET[..16]), "{body}");
    }
    let all = wall.operator("GET", "conversions", None).expect(200).body;
    for secret in [SECRET, previous, md5_secret, bare] {
        assert!(!all.contains(secret), "{secret} in the log");
    }
}

#[test]
fn a_log_entry_shows_the_conversion_and_its_callback() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("cb-entry", "79000282", Some(&receiver));
    let clicked_at = now_ms() / 1_000 - 5_000;
    let click = wall.click_id_at("u-1", clicked_at * 1_000 + 999);
    let id = expect_accepted(wall.convert(&click, "&goal=level_10&txn=t-1"), "approved", false);
    let entry = wait_for_state(&wall, &id, "delivered");
    let (attempt, converted_at) = (&entry["attempts"][0], &entry["conversion_ts"]);
    assert_eq!(
        entry,
        json!({
            "transaction_id": id, "user_id": "u-1", "offer_id": "cb-entry", "goal_id": "cb-entry-2", "txn": "t-1",
            "click_ts": clicked_at, "conversion_ts": converted_at, "payout": 20.5, "value": 20_500,
            "status": "approved", "state": "delivered", "offer_name": entry["offer_name"], "goal_name": entry["goal_name"],
            "attempts": [{"at": attempt["at"], "http_status": 200, "ms": attempt["ms"], "body": ""}]
        })
    );
    for name in ["offer_name", "goal_name"] {
        assert!(entry[name].is_string(), "{entry}");
    }
    assert!((now_ms() / 1_000 - converted_at.as_i64().unwrap()).abs() < 60, "{entry}");

    let pending = expect_accepted(wall.convert(&wall.click_id("u-2"), "&status=pending"), "pending", false);
    let entry = wall.entry(&pending);
    assert_eq!((&entry["status"], &entry["state"], &entry["attempts"]), (&json!("pending"), &Value::Null, &json!([])));
    wall.replay(&pending).expect_error(409, "nothing_to_send");
    assert_eq!(wall.entries("status=pending"), [entry]);
    assert_eq!(wall.entries("status=approved&state=delivered").len(), 1);
    for filter in ["status=delivered", "state=approved", "status=", "state=DEAD"] {
        wall.operator("GET", &format!("conversions?{filter}"), None).expect_error(400, "invalid_field");
    }
}

#[test]
fn a_test_callback_shows_the_request_and_the_response() {
    let signpost = quick();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("cb-test", "79000283", Some(&receiver));
    receiver.set(Behaviour::answer(404, &[], "no such page"));
    for (number, method) in ["GET", "POST"].into_iter().enumerate() {
        let url = format!("{}/cb", receiver.base());
        wall.put_app(&json!({"callback": callback(&url, method)}));
        let test = wall.operator("POST", "callback_test", None).expect(200).json();
        let received = receiver.wait(number + 1).remove(number);
        let request = &test["request"];
        assert_eq!(request["method"], method, "{test}");
        assert_eq!(request["url"], format!("{}{}", receiver.base(), received.target), "{test}");
        for header in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
            assert_eq!(request["headers"][header], received.header(header), "{test}");
        }
        let response = &test["response"];
        assert_eq!((&response["http_status"], &response["body"]), (&json!(404), &json!("no such page")));
        assert!(response["ms"].is_i64(), "{test}");
        assert!(!test.to_string().contains(SECRET), "{test}");
        // It is marked as a test, and signed like any other.
        let id = received.transaction_id();
        assert!(id.starts_with("test-"), "{received:?}");
        let payload = if method == "GET" {
            assert_eq!(received.parameter("user_id").as_deref(), Some("signpost-test"));
            assert_eq!(received.parameter("transaction_id").as_deref(), Some(id));
            received.query()
        } else {
            let body: Value = serde_json::from_str(&received.body).unwrap();
            assert_eq!((&body["user_id"], &body["transaction_id"]), (&json!("signpost-test"), &json!(id)));
            assert_eq!(request["body"], received.body.as_str(), "{test}");
            &received.body
        };
        let webhook = Webhook::new(SECRET).unwrap();
        webhook.verify(payload.as_bytes(), &received.headers).unwrap();
    }
    // A request without an answer is reported as an error.
    for silent in [Behaviour::Silent, Behaviour::Hang] {
        receiver.set(silent);
        let test = wall.operator("POST", "callback_test", None).expect(200).json();
        assert_eq!(test["response"], Value::Null, "{test}");
        assert!(test["error"].as_str().is_some_and(|error| !error.is_empty()), "{test}");
    }
    // It is not logged and not retried.
    let count = receiver.count();
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(receiver.count(), count);
    assert_eq!(wall.entries(""), [] as [Value; 0]);
    assert_eq!(wall.endpoint()["waiting"], 0);
}

#[test]
fn an_apps_log_shows_no_other_app_and_an_unknown_app_is_not_found() {
    let signpost = demo();
    let receiver = Receiver::start();
    let one = signpost.unpublished_offer_wall("cb-one", "79000284", Some(&receiver));
    let other = signpost.unpublished_offer_wall("cb-other", "79000285", Some(&receiver));
    signpost.refresh();
    let id = one.pay("u-1");
    wait_for_state(&one, &id, "delivered");
    let other_id = other.pay("u-1");
    wait_for_state(&other, &other_id, "delivered");
    let path = format!("conversions/{id}");
    other.operator("GET", &path, None).expect_error(404, "not_found");
    other.replay(&id).expect_error(404, "not_found");
    assert_eq!(other.entries("").len(), 1);
    other.replay_all(&json!({"delivery": "delivered"}), 1);
    let erased = other.erase("u-1");
    assert_eq!(erased["erased"].as_i64().unwrap() + erased["waiting"].as_i64().unwrap(), 1, "{erased}");
    eventually_within(ATTEMPTS_MS, &Value::Null, || other.entry(&other_id)["user_id"].clone());
    assert_eq!(one.entry(&id)["user_id"], "u-1");
    assert_eq!(receiver.transactions().get(&id), Some(&1));
    one.operator("GET", "conversions/no-such-id", None).expect_error(404, "not_found");
    one.replay("00000000-0000-8000-8000-000000000000").expect_error(404, "not_found");

    let calls = [
        ("GET", "conversions"),
        ("GET", path.as_str()),
        ("POST", &format!("{path}/replay")),
        ("POST", "replays"),
        ("POST", "callback_test"),
        ("POST", "callback/enable"),
        ("GET", "callback"),
        ("POST", "erase_user"),
    ];
    for app in ["79999999", "not-an-app", "1"] {
        for (method, rest) in calls {
            signpost.operator(method, &format!("apps/{app}/{rest}"), None).expect_error(404, "not_found");
        }
    }
    // Every call needs the operator's token.
    for authorization in [String::new(), "Bearer wrong".into(), format!("Bearer {OPERATOR_TOKEN}x")] {
        for (method, rest) in calls {
            let address = format!("/v1/operator/apps/{}/{rest}", one.app);
            signpost
                .send(method, &address, &[("Authorization", &authorization)], b"")
                .expect_error(401, "invalid_operator_token");
        }
    }
}
