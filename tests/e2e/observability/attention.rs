//! `GET /v1/operator/attention`: the open items of all apps, each of which leaves when its state ends.

use serde_json::{Value, json};

use crate::harness::{Behaviour, OfferWall, Receiver, Setup, Signpost, eventually_within};

/// A report comes within about a second; the machine may be busy.
const PATIENCE_MS: i64 = 30_000;

fn page(signpost: &Signpost, query: &str) -> Value {
    let path = format!("attention?{query}");
    signpost.operator("GET", &path, None).expect(200).json()
}

/// The kinds, subjects and reasons of a wall's items, in order.
fn open(wall: &OfferWall<'_>, app: &str) -> Vec<[String; 3]> {
    let page = page(wall.signpost, &format!("app_id={app}"));
    let text = |item: &Value, member: &str| item[member].as_str().expect("a text").to_owned();
    let items = page["items"].as_array().expect("items").iter();
    items.map(|item| ["kind", "subject", "reason"].map(|member| text(item, member))).collect()
}

#[track_caller]
fn becomes(wall: &OfferWall<'_>, app: &str, expected: &[[&str; 3]]) {
    let expected: Vec<_> = expected.iter().map(|item| item.map(str::to_owned)).collect();
    eventually_within(PATIENCE_MS, &expected, || open(wall, app));
}

fn settle(wall: &OfferWall<'_>, id: &str, action: &str, despite: &[&str]) {
    let body = json!({"reason": "a real player", "despite": despite});
    wall.operator("POST", &format!("conversions/{id}/{action}"), Some(&body)).expect(200);
}

#[test]
fn a_held_and_a_capped_conversion_are_listed_until_they_are_settled() {
    let signpost = Setup::new().start();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("at-held", "79000401", Some(&receiver));
    let paid = wall.pay("u-1");
    wall.put_offer(&json!({"min_seconds_to_convert": 3_600}));
    signpost.refresh();
    wall.convert(&wall.click_id("u-2"), "").expect(200);
    let held = wall.entries("status=held")[0]["transaction_id"].as_str().expect("an id").to_owned();
    becomes(&wall, "79000401", &[["held", &held, "too_fast"]]);
    let listed = page(&signpost, "kind=held");
    let item = &listed["items"][0];
    assert_eq!((&item["app_id"], &item["publisher_id"]), (&json!("79000401"), &json!("at-held")));
    assert!(item["payout_usd"].as_f64().expect("a payout") > 0.0, "{item}");
    assert_eq!(listed["counts"]["held"], 1);
    assert_eq!(listed["not_listed"]["held"], 0);
    // An approved reward that was delivered is not there.
    assert_eq!(wall.state(&paid), "delivered");

    // The conversion that was paid before counts towards the cap.
    wall.put_offer(&json!({"conversion_cap": {"dur": "DAILY", "lim": 2}}));
    signpost.refresh();
    wall.pay("u-3");
    wall.convert(&wall.click_id("u-4"), "").expect_error(409, "conversion_capped");
    let capped = wall.entries("reason=conversion_capped")[0]["transaction_id"].as_str().expect("an id").to_owned();
    becomes(&wall, "79000401", &[["held", &held, "too_fast"], ["capped", &capped, "conversion_capped"]]);
    // Page by page, the oldest first; it survives a power cut.
    signpost.restart();
    let first = page(&signpost, "limit=1");
    assert_eq!(first["items"][0]["subject"], *held);
    let cursor = first["cursor"].as_str().expect("a cursor");
    let second = page(&signpost, &format!("limit=1&cursor={cursor}"));
    assert_eq!(second["items"][0]["subject"], *capped);
    assert_eq!(second["cursor"], json!(null));

    settle(&wall, &held, "reject", &[]);
    settle(&wall, &capped, "approve", &["conversion_capped"]);
    becomes(&wall, "79000401", &[]);
    for wrong in ["kind=unknown", "app_id=1", "cursor=x", "limit=1001"] {
        signpost.operator("GET", &format!("attention?{wrong}"), None).expect_error(400, "invalid_field");
    }
}

#[test]
fn a_dead_callback_and_a_disabled_endpoint_are_listed_until_they_are_well() {
    let signpost = Setup::new().var("CALLBACK_SCHEDULE", "0,600").start();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("at-dead", "79000402", Some(&receiver));
    receiver.set(Behaviour::answer(400, &[("webhook-delivery", "abort-message")], "who?"));
    let dead = wall.pay("u-1");
    becomes(&wall, "79000402", &[["dead", &dead, "http_400"]]);
    receiver.set(Behaviour::status(410));
    wall.pay("u-2");
    let disabled = ["disabled", "callback", "switched_itself_off"];
    becomes(&wall, "79000402", &[["dead", &dead, "http_400"], disabled]);

    receiver.set(Behaviour::status(200));
    wall.operator("POST", "callback/enable", None).expect(200);
    becomes(&wall, "79000402", &[["dead", &dead, "http_400"]]);
    wall.replay(&dead).expect(200);
    becomes(&wall, "79000402", &[]);
    eventually_within(PATIENCE_MS, &json!(0), || page(&signpost, "")["behind_ms"].clone());
    assert_eq!(page(&signpost, "")["counts"]["dead"], 0);
}
