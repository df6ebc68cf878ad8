//! After an erasure no answer of a route, no row and no value of KV names the user, whether the user's clicks converted
//! or not, and whatever postbacks arrive for them later.

use serde_json::{Value, json};

use crate::dashboard::signed_in;
use crate::harness::{Behaviour, OfferWall, Receiver, Setup, Signpost, demo, eventually, expect_accepted};

const USER: &str = "erased-user-7f3a";
const DEVICE: &str = "5f4dcc3b-5aa7-45d6-b3d1-c2b9a1e0f4a7";
const CUSTOM: &str = "custom-value-91bc";

/// The click id of a real click of the user. If it would exceed the offer's limit, it is a short id with a record.
fn click(wall: &OfferWall<'_>, more: &str) -> String {
    let address =
        format!("/v2/tracking/click?rid={}-1&app={}&user_id={USER}&gaid={DEVICE}&c1={CUSTOM}{more}", wall.id, wall.app);
    let answer = wall.signpost.get(&address, &[]).expect(302);
    let (_, id) = answer.location().split_once("clickid=").expect("a click id");
    id.split('&').next().expect("an id").to_owned()
}

/// Every answer that may name a user of the wall.
fn answers(wall: &OfferWall<'_>, clicks: &[String], rewards: &[String]) -> Vec<(String, String)> {
    let signpost = wall.signpost;
    let mut all = Vec::new();
    let mut get = |method: &str, path: &str, body: Option<Value>| {
        let answer = signpost.operator(method, path, body.as_ref()).expect(200);
        all.push((format!("{method} {path} {body:?}"), answer.body));
    };
    let app = format!("apps/{}", wall.app);
    get("GET", &format!("{app}/conversions"), None);
    get("POST", &format!("{app}/conversions"), Some(json!({ "user_id": USER })));
    for id in rewards {
        get("GET", &format!("{app}/conversions/{id}"), None);
        get("GET", &format!("{app}/conversions/{id}/story"), None);
        get("POST", "search", Some(json!({ "text": id })));
    }
    for id in clicks {
        get("POST", "search", Some(json!({ "text": id })));
        for token in [wall.token.as_str(), "nonsense"] {
            let url = format!("https://track.example/v2/tracking/conversion?click_id={id}&token={token}");
            get("POST", "postback_check", Some(json!({ "url": url })));
        }
    }
    get("GET", &format!("advertisers/{}/postbacks", wall.id), None);
    get("GET", "attention", None);
    get("GET", &format!("publishers/{}/activity", wall.id), None);
    all
}

fn expect_no_user(wall: &OfferWall<'_>, clicks: &[String], rewards: &[String]) {
    for (request, body) in answers(wall, clicks, rewards) {
        for name in [USER, DEVICE, CUSTOM] {
            assert!(!body.contains(name), "{name} in {request}: {body}");
        }
    }
}

/// Everything in the databases and in KV that names the user.
fn stored(signpost: &Signpost) -> Vec<String> {
    signpost.stored_with(|text| [USER, DEVICE, CUSTOM].iter().any(|name| text.contains(name)))
}

#[test]
fn an_erased_user_is_in_no_answer_row_or_value() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("erased-everywhere", "79000811", Some(&receiver));
    signpost.refresh();
    let long = format!("&c2={0}&c3={0}&c4={0}", "x".repeat(128));
    let clicks = [click(&wall, ""), click(&wall, ""), click(&wall, &long), click(&wall, "")];
    let [paid, unpaid, short, late] = &clicks;
    let mut rewards = vec![
        expect_accepted(wall.convert(paid, "&txn=t-1"), "approved", false),
        expect_accepted(wall.convert(short, "&goal=&status=pending"), "pending", false),
    ];
    wall.signpost.convert(&format!("click_id={unpaid}")).expect(400);
    receiver.wait(1);
    eventually(&json!("delivered"), || json!(wall.state(&rewards[0])));
    // Before the erasure these answers name the user.
    let before = answers(&wall, &clicks, &rewards);
    let naming = before.iter().filter(|(_, body)| body.contains(USER)).count();
    assert!(naming >= 8, "{naming} answers name the user");
    assert!(!stored(&signpost).is_empty());

    assert_eq!(wall.erase(USER)["waiting"], 0);
    expect_no_user(&wall, &clicks, &rewards);
    eventually(&json!([]), || json!(stored(&signpost)));

    // A postback for a click before the erasure is paid and sent to the publisher; then its user is erased.
    rewards.push(expect_accepted(wall.convert(late, ""), "approved", false));
    receiver.wait(2);
    eventually(&json!("delivered"), || json!(wall.state(&rewards[2])));
    expect_no_user(&wall, &clicks, &rewards);
    eventually(&json!([]), || json!(stored(&signpost)));
    // A click after the erasure is one of a new user.
    let again = click(&wall, "");
    let found = signpost.operator("POST", "search", Some(&json!({ "text": again })));
    assert!(found.body.contains(USER), "{}", found.body);
    for line in signpost.log_lines() {
        assert!(!line.to_string().contains(USER), "{line}");
    }
}

#[test]
fn an_app_without_a_callback_erases_at_once() {
    let signpost = demo();
    let wall = signpost.offer_wall("erased-at-once", "79000812", None);
    signpost.refresh();
    let id = click(&wall, "");
    let reward = expect_accepted(wall.convert(&id, ""), "approved", false);
    assert_eq!(wall.entry(&reward)["user_id"], USER);
    assert_eq!(wall.erase(USER), json!({ "erased": 1, "waiting": 0 }));
    assert_eq!(wall.entry(&reward)["user_id"], Value::Null);
    let found = wall.operator("POST", "conversions", Some(&json!({ "user_id": USER })));
    assert!(!found.expect(200).body.contains(&reward));
}

/// By a key with the erasure scope or by the owner, in all apps of the publisher and in no other publisher's.
#[test]
fn a_publisher_erases_a_user_of_all_its_apps_by_key_and_in_the_dashboard() {
    let signpost = Setup::new().start();
    let wall = signpost.offer_wall("erased-by-key", "79000813", None);
    let other = signpost.offer_wall("erased-elsewhere", "79000815", None);
    let second = signpost.offer_wall("erased-by-key", "79000814", None);
    let publisher = signpost.existing_publisher(&wall.id);
    let pay = |wall: &OfferWall<'_>| expect_accepted(wall.convert(&click(wall, ""), ""), "approved", false);
    let [first, another, elsewhere] = [&wall, &second, &other].map(pay);

    let [key, reports] =
        ["ia-privacy.WRITE", "ia-reporting.READ"].map(|scope| publisher.create_key_for(scope, "backend").api_key);
    let ask = |call: &str, key: &str, body: &Value| {
        let headers = [("X-Api-Key", key), ("Content-Type", "application/json")];
        signpost.send("POST", &format!("/v1/core/users/{call}"), &headers, body.to_string().as_bytes())
    };
    let user = json!({ "user_id": USER });
    for (key, status, code) in [
        ("", 401, "invalid_api_key"),
        ("sk_lumen-arcade_0", 401, "invalid_api_key"),
        (reports.as_str(), 403, "insufficient_scope"),
    ] {
        ask("erase", key, &user).expect_error(status, code);
    }
    signpost.report_with(&key, b"{}").expect_error(401, "invalid_api_key");

    let stored = ask("export", &key, &user).expect(200).json();
    let ids: Vec<_> =
        stored["conversions"].as_array().expect("a list").iter().map(|story| &story["transaction_id"]).collect();
    assert_eq!(ids, [&json!(first), &json!(another)]);
    assert_eq!(stored["cursor"], Value::Null);
    for name in [USER, DEVICE, CUSTOM] {
        assert!(stored.to_string().contains(name), "{name}: {stored}");
    }
    ask("erase", &key, &user).expect_error(429, "rate_limit_exceeded");
    std::thread::sleep(std::time::Duration::from_millis(1_050));
    for (wrong, code) in [
        (json!({}), "missing_field"),
        (json!({ "user_id": " " }), "invalid_field"),
        (json!({ "user_id": "u", "cursor": "1" }), "invalid_field"),
    ] {
        ask("erase", &key, &wrong).expect_error(400, code);
        std::thread::sleep(std::time::Duration::from_millis(1_050));
    }
    let erased = ask("erase", &key, &user).expect(200).json();
    assert_eq!(erased, json!({ "apps": 2, "erased": 2, "waiting": 0, "cursor": null }));
    for (wall, reward) in [(&wall, &first), (&second, &another)] {
        assert_eq!(wall.entry(reward)["user_id"], Value::Null);
    }
    assert_eq!(other.entry(&elsewhere)["user_id"], USER);

    let reward = pay(&second);
    let owner = signed_in(&signpost, &publisher, "owner");
    let stored = owner.post("users/export", &user).expect(200).json();
    assert_eq!(stored["conversions"][0]["transaction_id"], reward);
    let erased = owner.post("users/erase", &user).expect(200).json();
    assert_eq!(erased["erased"], 1);
    let developer = signed_in(&signpost, &publisher, "developer");
    developer.post("users/erase", &user).expect_error(403, "role_forbids");
    let privacy = json!({ "label": "mine", "scope": "ia-privacy.WRITE" });
    developer.post("report_keys", &privacy).expect_error(403, "role_forbids");
    owner.post("report_keys", &privacy).expect(201);

    let audit = publisher.operator("GET", "audit", None).expect(200);
    let entries = audit.json()["entries"].clone();
    let by = |action: &str| {
        let mut by: Vec<_> =
            entries.as_array().expect("a list").iter().filter(|entry| entry["action"] == action).collect();
        by.reverse();
        by.iter()
            .map(|entry| entry["by"].as_str().unwrap_or_default().split(" (").next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(by("user_exported"), ["key backend", "The owner"]);
    assert_eq!(by("user_erased"), ["key backend", "The owner"]);
    assert!(!audit.body.contains(USER));
    for line in signpost.log_lines() {
        assert!(!line.to_string().contains(USER), "{line}");
    }
}

/// Callbacks that wait are still sent, and then no user is left. Its keys and sessions end, and nobody can reopen it.
#[test]
fn a_closed_publisher_cannot_be_reopened_and_keeps_no_user() {
    let signpost = Setup::new().start();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("closed-for-good", "79000816", Some(&receiver));
    signpost.refresh();
    let publisher = signpost.existing_publisher(&wall.id);
    let key = publisher.create_key("backend").api_key;
    let owner = signed_in(&signpost, &publisher, "owner");
    let [paid, pending, waits, late] = [(); 4].map(|()| click(&wall, ""));
    expect_accepted(wall.convert(&paid, ""), "approved", false);
    expect_accepted(wall.convert(&pending, "&status=pending"), "pending", false);
    receiver.wait(1);
    receiver.set(Behaviour::status(503));
    let waiting = expect_accepted(wall.convert(&waits, ""), "approved", false);
    receiver.wait(2);
    receiver.set(Behaviour::status(200));

    let path = format!("publishers/{}", wall.id);
    let put = |approved: bool, closed: bool| {
        let document = json!({ "name": "Closed", "approved": approved, "closed": closed });
        signpost.operator("PUT", &path, Some(&document))
    };
    put(true, true).expect_error(400, "invalid_field");
    assert_eq!(put(false, true).expect(200).json()["closed"], true);
    // The edge knows it within two minutes.
    let after = click(&wall, "");
    put(true, false).expect_error(409, "publisher_closed");
    put(false, false).expect_error(409, "publisher_closed");
    let line = json!({ "kind": "publisher", "id": wall.id, "name": "Open", "approved": true });
    let import = [("Content-Type", "application/x-ndjson")];
    let import = signpost.operate("POST", "import", &import, line.to_string().as_bytes());
    assert!((400..500).contains(&import.status) && import.body.contains("permanently closed"), "{import:?}");
    signpost.report_with(&key, b"{}").expect_error(401, "invalid_api_key");
    owner.get("overview").expect_error(403, "account_suspended");
    signpost.refresh();
    let again = format!("/v2/tracking/click?rid={}-1&app={}&user_id={USER}", wall.id, wall.app);
    signpost.get(&again, &[]).expect(403);

    eventually(&json!("delivered"), || json!(wall.state(&waiting)));
    eventually(&json!([]), || json!(stored(&signpost)));
    for id in [&late, &after] {
        expect_accepted(wall.convert(id, ""), "pending", false);
        eventually(&json!([]), || json!(stored(&signpost)));
    }
    expect_no_user(&wall, &[paid, pending, waits, late, after], &[waiting]);
}

/// SQLite keeps the bytes of a deleted row until it reuses their page, at no certain time. A new file has none of them.
#[test]
fn no_vacuumed_file_has_the_bytes_of_an_erased_user() {
    let signpost = Setup::new().start();
    let wall = signpost.offer_wall("erased-bytes", "79000817", None);
    signpost.refresh();
    for _ in 0..20 {
        expect_accepted(wall.convert(&click(&wall, ""), ""), "approved", false);
    }
    wall.erase(USER);
    eventually(&json!([]), || json!(stored(&signpost)));
    let erased = signpost.places_in_files(USER);
    for n in 0..500 {
        wall.pay(&format!("other-{n}"));
    }
    let later = signpost.places_in_files(USER);
    println!("the user's id is {erased} times in the files once erased, {later} times after 500 conversions");
    assert!(erased > 0);
    signpost.restart_after(|| signpost.vacuum());
    assert_eq!([USER, DEVICE, CUSTOM].map(|name| signpost.places_in_files(name)), [0; 3]);
}
