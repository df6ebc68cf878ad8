//! The console's search on a real deployment: ids, credentials, a click id, a transaction, a user; and how it reads a
//! stranger's text.

use serde_json::{Value, json};

use super::{Browser, signed_in};
use crate::harness::{demo, eventually, with};

fn search(browser: &Browser<'_>, text: &str, app: Option<&str>) -> (Vec<Value>, bool) {
    let mut body = json!({ "text": text });
    if let Some(app) = app {
        body["app_id"] = app.into();
    }
    let found = browser.post("/v1/operator/search", &body).expect(200).json();
    let matches = found["matches"].as_array().unwrap().clone();
    (matches, found["needs_app"].as_bool().unwrap())
}

fn kinds(found: &(Vec<Value>, bool)) -> Vec<&str> {
    let matches = found.0.iter();
    matches.map(|found| found["kind"].as_str().unwrap()).collect()
}

#[test]
fn a_pasted_id_or_credential_opens_its_resource() {
    let signpost = demo();
    let browser = signed_in(&signpost, "The finder", "support");
    let wall = signpost.offer_wall("console-search", "79000191", None);
    let click = wall.click_id("search-user");
    let find = |text: &str, app| search(&browser, text, app);

    for (text, kind) in [
        ("lumen-arcade", "publisher"),
        (wall.app.as_str(), "app"),
        (wall.token.as_str(), "token"),
        (&format!("  {}\n", wall.goal("1")), "goal"),
    ] {
        assert_eq!(kinds(&find(text, None)), [kind], "{text}");
    }
    let (before, _) = find(&click, None);
    assert_eq!(before[0]["kind"], "click");
    assert_eq!(before[0]["user_id"], "search-user");
    assert_eq!(before[0]["country"], "DE");
    assert_eq!(before[0]["rewards"], json!([]));

    let paid = wall.pay("search-user");
    let (reward, _) = find(&paid, None);
    assert_eq!(reward, [json!({ "kind": "reward", "app_id": wall.app, "transaction_id": paid, "state": "approved" })]);
    // The reward belongs to the click that was paid, not to the one before.
    assert_eq!(find(&click, None).0[0]["rewards"], json!([]));
    let converted = wall.click_id("search-converted");
    wall.convert(&converted, "").expect(200);
    let (after, _) = find(&converted, None);
    assert_eq!(after[0]["rewards"][0]["state"], "approved");
    assert_eq!(after[0]["rewards"][0]["goal_id"], wall.goal("1"));

    // The activities, which are asked without an app, hear of a reward some seconds later.
    eventually(&vec!["user".to_owned()], || {
        let found = find("search-user", None);
        kinds(&found).into_iter().map(str::to_owned).collect()
    });
    for app in [None, Some(wall.app.as_str())] {
        let (user, needs_app) = find("search-user", app);
        assert_eq!((user.len(), needs_app), (1, false));
        assert_eq!(user[0]["app_id"], wall.app.as_str());
        assert_eq!(user[0]["rewards"][0]["transaction_id"], paid.as_str());
    }
    assert_eq!(find("nobody-here", None), (Vec::new(), true));
    assert_eq!(find("nobody-here", Some(&wall.app)), (Vec::new(), false));
    let unknown = format!("{}{}", &paid[..24], "000000000000");
    assert_eq!(find(&unknown, None).0, [] as [Value; 0]);
    let named = find("UMEN-ARC", None);
    assert_eq!((kinds(&named), &named.0[0]["publisher_id"]), (vec!["publisher"], &json!("lumen-arcade")));
}

#[test]
fn a_user_id_in_the_form_of_a_transaction_id_is_found_with_its_app() {
    let signpost = demo();
    let browser = signed_in(&signpost, "The seeker", "support");
    let wall = signpost.offer_wall("console-search-uuid", "79000197", None);
    // The second would be a transaction of app 00000042.
    for user in ["fa072672-d432-41c4-885a-eb1cdec4bb13", "00000000-2ad4-41c4-885a-eb1cdec4bb13"] {
        let paid = wall.pay(user);
        eventually(&true, || kinds(&search(&browser, user, None)) == ["user"]);
        let (found, _) = search(&browser, user, Some(&wall.app));
        assert_eq!(found[0]["kind"], "user", "{user}");
        assert_eq!(found[0]["rewards"][0]["transaction_id"], paid.as_str());
        // With the app or without, the transaction is what it is.
        for app in [None, Some(wall.app.as_str()), Some("10000001")] {
            assert_eq!(kinds(&search(&browser, &paid, app)), ["reward"], "{app:?}");
        }
    }
}

#[test]
fn a_report_key_or_its_beginning_names_its_publisher() {
    let signpost = demo();
    let browser = signed_in(&signpost, "The keeper", "support");
    let publisher = signpost.publisher("console-keys");
    let label = json!({ "label": "BI" });
    let key = publisher.operator("POST", "report_keys", Some(&label)).expect(201).json();
    let key = key["api_key"].as_str().unwrap();
    let find = |text: &str| search(&browser, text, None).0;
    assert_eq!(find(key)[0]["publisher_id"], "console-keys");
    assert_eq!(find(key)[0]["is_issued"], true);
    assert_eq!(find(key)[0]["label"], "BI");
    let beginning = find(&key[..20]);
    assert_eq!((&beginning[0]["publisher_id"], &beginning[0]["is_issued"]), (&json!("console-keys"), &json!(false)));
    assert_eq!(find("sk_nobody_0011"), [] as [Value; 0]);
    let key_id = find(key)[0]["key_id"].as_str().unwrap().to_owned();
    publisher.operator("DELETE", &format!("report_keys/{key_id}"), None).expect(204);
    let revoked = &find(key)[0];
    assert_eq!((&revoked["is_issued"], &revoked["key_id"]), (&json!(true), &Value::Null));
    for wrong in [json!({}), json!({ "text": "" }), json!({ "text": " " }), json!({ "text": "x".repeat(2_049) })] {
        let refused = browser.post("/v1/operator/search", &wrong);
        assert_eq!(refused.status, 400, "{wrong}: {refused:?}");
    }
}

#[test]
fn support_sends_at_most_100_callbacks_again_at_a_time() {
    let signpost = demo();
    let receiver = crate::harness::Receiver::start();
    let wall = signpost.offer_wall("console-replays", "79000192", Some(&receiver));
    for number in 0..101 {
        wall.pay(&format!("replayed-{number}"));
    }
    eventually(&101, || wall.entries("state=delivered&limit=200").len());
    let path = format!("/v1/operator/apps/{}/replays", wall.app);
    let support = signed_in(&signpost, "The helper", "support");
    let order = |browser: &Browser<'_>, filter: &Value, key: &str| {
        let dry = json!({ "filter": filter, "dry_run": true });
        let counted = browser.post(&path, &dry).expect(200).json();
        let filter = with(filter.clone(), &json!({ "until": counted["until"] }));
        let body = json!({ "filter": filter }).to_string();
        let headers = [
            ("Host", super::HOST),
            ("Sec-Fetch-Site", "same-origin"),
            ("Origin", super::ORIGIN),
            ("Content-Type", "application/json"),
            ("Cookie", browser.cookie.as_deref().unwrap()),
            ("Idempotency-Key", key),
        ];
        (counted["count"].clone(), signpost.send("POST", &path, &headers, body.as_bytes()))
    };
    // The activity hears of an outbox some seconds after its first reward.
    eventually(&json!(101), || {
        let dry = json!({ "filter": { "delivery": "delivered" }, "dry_run": true });
        support.post(&path, &dry).json()["count"].clone()
    });
    let (count, refused) = order(&support, &json!({ "delivery": "delivered" }), "all");
    assert_eq!(count, 101);
    refused.expect_error(403, "too_many_for_support");
    let (count, started) = order(&support, &json!({ "user_id": "replayed-7" }), "one");
    assert_eq!(count, 1);
    let replay = started.expect(202).json()["replay_id"].as_str().unwrap().to_owned();
    eventually(&json!("done"), || support.get(&format!("{path}/{replay}")).expect(200).json()["state"].clone());
    support.send("DELETE", &format!("{path}/{replay}"), Some(&json!({}))).expect_error(403, "role_forbids");
    let admin = signed_in(&signpost, "The chief", "admin");
    let (_, started) = order(&admin, &json!({ "delivery": "delivered" }), "all");
    started.expect(202);
}
