//! A publisher's people set up and change its apps, over HTTP.

use serde_json::{Value, json};

use super::{Browser, signed_in};
use crate::harness::{Answer, Signpost, demo};

fn put_app(signpost: &Signpost, publisher: &str, app: &str) {
    let document = json!({
        "publisher_id": publisher, "name": "An app", "platform": "android",
        "currency": { "name": "Coins", "per_usd": 1000 }, "max_rewards_per_user_day": 7,
        "fallback_url": "https://more.example/",
    });
    signpost.operator("PUT", &format!("apps/{app}"), Some(&document)).expect(200);
}

fn patch(browser: &Browser<'_>, app: &str, revision: &str, body: &Value) -> Answer {
    let path = format!("/v1/dashboard/apps/{app}");
    browser.send_with("PATCH", &path, &[("If-Match", revision)], Some(body))
}

fn create(browser: &Browser<'_>, key: &str, body: &Value) -> Answer {
    let headers = [("Idempotency-Key", key)];
    browser.send_with("POST", "/v1/dashboard/apps", &headers, Some(body))
}

fn delete(browser: &Browser<'_>, path: &str) -> Answer {
    browser.send("DELETE", &format!("/v1/dashboard/{path}"), Some(&json!({})))
}

#[test]
fn a_change_is_in_force_for_clicks_and_callbacks_and_stands_in_the_audit() {
    let signpost = demo();
    let publisher = signpost.publisher("apps-change");
    put_app(&signpost, "apps-change", "91000001");
    let developer = signed_in(&signpost, &publisher, "developer");
    let read = developer.get("apps/91000001").expect(200);
    let tag = read.header("ETag").unwrap().to_owned();
    let body = json!({
        "currency": { "name": "Gems", "per_usd": 10, "decimals": 1 },
        "callback": { "url": "https://hooks.example/cb?u={user_id}&t={transaction_id}", "method": "GET", "events": ["approved"] },
        "blocked_offers": ["31906"],
    });
    // A proxy that compresses answers makes tags weak.
    let changed = patch(&developer, "91000001", &format!("W/{tag}"), &body).expect(200);
    assert_ne!(changed.header("ETag").unwrap(), tag);
    let secret = changed.json()["callback_secret"].as_str().unwrap().to_owned();
    assert!(secret.starts_with("whsec_"));
    let operators = signpost.operator("GET", "apps/91000001", None).expect(200).json();
    assert_eq!(operators["currency"]["name"], "Gems");
    assert_eq!(operators["max_rewards_per_user_day"], 7);
    assert_eq!(operators["callback"]["url"], "https://hooks.example/cb?u={user_id}&t={transaction_id}");

    // The tag names a version that has been replaced.
    patch(&developer, "91000001", &tag, &json!({ "name": "Late" })).expect_error(412, "precondition_failed");
    let path = "/v1/dashboard/apps/91000001";
    developer.send("PATCH", path, Some(&json!({ "name": "Blind" }))).expect_error(428, "precondition_required");

    let owner = signed_in(&signpost, &publisher, "owner");
    let audit = owner.get("audit").expect(200).json();
    let entry = &audit["entries"].as_array().unwrap().iter();
    let entry = entry.clone().find(|entry| entry["action"] == "app_changed").unwrap();
    assert_eq!(entry["subject"], "91000001");
    assert_eq!(entry["detail"], "currency, callback, blocked_offers");
    assert_eq!(entry["is_unconfirmed"], false);
    // A refused change leaves no entry.
    let entries = audit["entries"].as_array().unwrap().iter();
    assert_eq!(entries.filter(|entry| entry["action"] == "app_changed").count(), 1);
}

#[test]
fn fields_that_only_the_operator_sets_are_refused_by_name() {
    let signpost = demo();
    let publisher = signpost.publisher("apps-refused");
    put_app(&signpost, "apps-refused", "91000002");
    let owner = signed_in(&signpost, &publisher, "owner");
    let tag = owner.get("apps/91000002").expect(200).header("ETag").unwrap().to_owned();
    let callback = |url: &str| json!({ "callback": { "url": url, "method": "GET", "events": ["approved"] } });
    for (body, code, field) in [
        (json!({}), "invalid_field", "body"),
        (json!({ "publisher_id": "x" }), "unknown_field", "publisher_id"),
        (json!({ "outbox_shards": 1 }), "unknown_field", "outbox_shards"),
        (callback("https://hooks.example:8443/"), "invalid_field", "callback.url"),
        (callback("https://hooks.example/?x={nobody}"), "invalid_field", "callback.url"),
        (json!({ "fallback_url": "https://elsewhere.example/" }), "invalid_field", "fallback_url"),
        (json!({ "currency": { "name": "X", "per_usd": 0 } }), "invalid_field", "currency.per_usd"),
    ] {
        let refused = patch(&owner, "91000002", &tag, &body).expect_error(400, code);
        let error = refused.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains(field), "{body}: {error}");
    }
    patch(&owner, "91000002", &tag, &json!({ "fallback_url": "https://more.example/else" })).expect(200);
}

#[test]
fn secrets_are_drawn_rotated_and_ended() {
    let signpost = demo();
    let publisher = signpost.publisher("apps-secrets");
    put_app(&signpost, "apps-secrets", "91000003");
    let owner = signed_in(&signpost, &publisher, "owner");
    owner.post("apps/91000003/callback/secret", &json!({})).expect_error(409, "no_callback");
    let tag = owner.get("apps/91000003").expect(200).header("ETag").unwrap().to_owned();
    let callback = json!({ "url": "https://hooks.example/cb", "method": "POST", "events": ["approved"] });
    patch(&owner, "91000003", &tag, &json!({ "callback": callback })).expect(200);
    owner.post("apps/91000003/callback/secret", &json!({})).expect(201);
    let app = owner.get("apps/91000003").expect(200).json();
    assert_eq!(app["callback"]["has_previous_secret"], true);
    delete(&owner, "apps/91000003/callback/previous_secret").expect(204);
    delete(&owner, "apps/91000003/callback/previous_secret").expect(204);
    let app = owner.get("apps/91000003").expect(200).json();
    assert_eq!(app["callback"]["has_previous_secret"], false);

    let drawn = owner.post("apps/91000003/click_secret", &json!({})).expect(201).json();
    assert_eq!(drawn["secret"].as_str().unwrap().len(), 64);
    owner.post("apps/91000003/click_secret", &json!({})).expect(201);
    delete(&owner, "apps/91000003/previous_click_secret").expect(204);
    delete(&owner, "apps/91000003/click_secret").expect(204);
    let app = owner.get("apps/91000003").expect(200).json();
    assert_eq!(app["signs_clicks"], false);
}

#[test]
fn an_app_is_set_up_once_and_its_publisher_alone_lists_it() {
    let signpost = demo();
    let publisher = signpost.publisher("apps-new");
    let owner = signed_in(&signpost, &publisher, "owner");
    let new = json!({ "name": "Second", "platform": "ios", "currency": { "name": "Gems", "per_usd": 10 } });
    let made = create(&owner, "one", &new).expect(201).json();
    let again = create(&owner, "one", &new).expect(201).json();
    assert_eq!(made, again);
    create(&owner, "", &new).expect_error(400, "invalid_field");
    let other = json!({ "name": "Third", "platform": "ios", "currency": { "name": "Gems", "per_usd": 10 } });
    create(&owner, "one", &other).expect_error(409, "idempotency_key_reused");
    let listed = owner.get("apps").expect(200).json();
    assert_eq!(listed["apps"].as_array().unwrap().len(), 1);
    assert_eq!(listed["apps"][0]["app_id"], made["app_id"]);

    let stranger = signpost.publisher("apps-stranger");
    let analyst = signed_in(&signpost, &stranger, "analyst");
    assert_eq!(analyst.get("apps").expect(200).json()["apps"], json!([]));
}
