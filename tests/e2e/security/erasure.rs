//! After an erasure nobody finds the user: in no answer of any route, in no row and in no value of KV, whether the user's clicks
//! converted or not, and whatever comes for them later.

use serde_json::{Value, json};

use crate::harness::{OfferWall, Receiver, Signpost, demo, eventually, expect_accepted};

const USER: &str = "erased-user-7f3a";
const DEVICE: &str = "5f4dcc3b-5aa7-45d6-b3d1-c2b9a1e0f4a7";
const CUSTOM: &str = "custom-value-91bc";

/// The click id of a real click of the user. One that is longer than the offer allows is a short id, whose record is stored.
fn click(wall: &OfferWall<'_>, more: &str) -> String {
    let address = format!(
        "/v2/tracking/click?rid={}-1&app={}&user_id={USER}&gaid={DEVICE}&c1={CUSTOM}{more}",
        wall.id, wall.app
    );
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
    get(
        "POST",
        &format!("{app}/conversions"),
        Some(json!({ "user_id": USER })),
    );
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
    let clicks = [
        click(&wall, ""),
        click(&wall, ""),
        click(&wall, &long),
        click(&wall, ""),
    ];
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

    // A postback for a click from before is paid, told to the publisher, and forgotten.
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
