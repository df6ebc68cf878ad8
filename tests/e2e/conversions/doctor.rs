//! The doctor of postbacks: which ones are shown with which verdict, in a flood and in an outage; and the check, which
//! has no effect. [`super::refusals`] tests that it answers as the postback would.

use std::{
    thread::{self, sleep},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    clicks::{click_id_at, expect_redirect},
    conversions::{accepted_id, expect_conversion_error},
    faults::inject_faults,
    harness::{
        CONVERSION, OfferWall, Setup, Signpost, away_from_midnight, demo, eventually_within, expect_accepted, now_ms,
        seal,
    },
};
use domain::{
    model::time::{DAY_MS, SECOND_MS},
    tracking::keys::KeyRing,
};

/// Longer than a report takes, also on a busy machine.
const PATIENCE_MS: i64 = 20 * SECOND_MS;
const OTHER_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

fn page(wall: &OfferWall<'_>, query: &str) -> Value {
    let path = format!("advertisers/{}/postbacks?{query}", wall.id);
    wall.signpost.operator("GET", &path, None).expect(200).json()
}

fn codes(page: &Value) -> Vec<&str> {
    let postbacks = page["postbacks"].as_array().unwrap().iter();
    postbacks.map(|postback| postback["code"].as_str().unwrap()).collect()
}

/// The page, once it has the postbacks with these codes, the newest first.
#[track_caller]
fn page_with(wall: &OfferWall<'_>, expected: &[&str]) -> Value {
    eventually_within(PATIENCE_MS, &json!(expected), || json!(codes(&page(wall, ""))));
    page(wall, "")
}

fn came(page: &Value) -> u64 {
    let shown = page["postbacks"].as_array().unwrap().len();
    page["not_shown"].as_u64().unwrap() + u64::try_from(shown).unwrap()
}

fn check(signpost: &Signpost, url: &str) -> Value {
    let body = json!({ "url": url });
    signpost.operator("POST", "postback_check", Some(&body)).expect(200).json()
}

fn parameter<'p>(postback: &'p Value, name: &str) -> &'p str {
    let parameters = postback["parameters"].as_array().unwrap();
    let found = parameters.iter().find(|parameter| parameter["name"] == name);
    found.unwrap()["value"].as_str().unwrap()
}

#[test]
fn the_refused_postbacks_of_all_advertisers_are_in_one_list() {
    let signpost = Setup::new().start();
    let walls = [("refused-a", "79000188"), ("refused-b", "79000189")];
    let walls = walls.map(|(id, app)| signpost.offer_wall(id, app, None));
    signpost.refresh();
    let list = |query: &str| {
        let path = format!("refused_postbacks?{query}");
        signpost.operator("GET", &path, None).expect(200).json()
    };
    for (before, wall) in walls.iter().enumerate() {
        wall.pay("user");
        let refused = signpost.convert(&format!("click_id=wrong&token={}", wall.token));
        expect_conversion_error(refused, 400, "invalid_click_id");
        eventually_within(PATIENCE_MS, &(before + 1), || codes(&list("")).len());
    }
    let all = list("");
    assert_eq!(codes(&all), ["invalid_click_id"; 2]);
    let of = |n: usize| &all["postbacks"][n]["advertiser_id"];
    assert_eq!([of(0), of(1)], ["refused-b", "refused-a"]);
    assert_eq!(list("limit=1")["postbacks"][0], all["postbacks"][0]);
    assert_eq!(codes(&list("code=invalid_token")), [""; 0]);
    // The list of an advertiser has the accepted ones, too, and does not repeat whose it is.
    let own = page_with(&walls[0], &["invalid_click_id", "approved"]);
    assert!(own["postbacks"][0]["advertiser_id"].is_null());
    signpost.operator("GET", "refused_postbacks?code=nonsense", None).expect_error(400, "invalid_field");
}

#[test]
fn revoked_tokens_duplicates_and_strangers_are_shown_with_their_codes() {
    let signpost = demo();
    let wall = signpost.offer_wall("doctor-codes", "79000181", None);
    assert_eq!(page(&wall, ""), json!({"postbacks": [], "tokens": [], "not_shown": 0, "since": null, "cursor": null}));
    let click = wall.click_id("doctor-user");
    let paid = expect_accepted(wall.convert(&click, "&email=jo@example.com&txn=t-1"), "approved", false);
    assert_eq!(accepted_id(wall.convert(&click, "")), paid);

    let (token_id, revoked) = wall.issue_token();
    let path = format!("advertisers/{}/token/{token_id}", wall.id);
    signpost.operator("DELETE", &path, None).expect(204);
    signpost.refresh();
    let refused = signpost.convert(&format!("click_id={click}&token={revoked}"));
    expect_conversion_error(refused, 401, "invalid_token");
    // With the token alone, and with the click alone.
    let refused = signpost.convert(&format!("click_id=wrong&token={}", wall.token));
    expect_conversion_error(refused, 400, "invalid_click_id");
    expect_conversion_error(signpost.convert(&format!("cid={click}&status=paid")), 400, "missing_field");
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let body = format!("click_id={click}&token=guessed");
    let refused = signpost.send("POST", CONVERSION, &form, body.as_bytes());
    expect_conversion_error(refused, 401, "invalid_token");
    // Strangers: a click id under another key and a made-up token, and nothing at all.
    let keys = KeyRing::parse(&format!("1:seal:{OTHER_KEY}")).unwrap();
    let forged = seal(&keys, &wall.click("doctor-user", now_ms()));
    let refused = signpost.convert(&format!("click_id={forged}&token=at_{}_1_x", wall.id));
    expect_conversion_error(refused, 400, "invalid_click_id");

    let all = ["invalid_token", "missing_field", "invalid_click_id", "invalid_token", "duplicate", "approved"];
    // In any order: reports of an isolate may overtake each other.
    eventually_within(PATIENCE_MS, &6, || page(&wall, "")["postbacks"].as_array().unwrap().len());
    let shown = page(&wall, "");
    let mut sorted = codes(&shown);
    sorted.sort_unstable();
    let mut expected = all;
    expected.sort_unstable();
    assert_eq!(sorted, expected, "{shown}");
    assert_eq!(shown["not_shown"], 0, "{shown}");

    let tokens = shown["tokens"].as_array().unwrap();
    let used: Vec<_> = tokens.iter().map(|token| token["token_id"].as_str().unwrap()).collect();
    assert_eq!(used.len(), 2, "the valid one and the revoked one: {shown}");
    assert!(used.contains(&token_id.as_str()), "{shown}");
    assert!(tokens.iter().all(|token| token["last_used_at"].as_i64().unwrap() > 1_700_000_000));

    let of_code = |code: &str| page(&wall, &format!("code={code}"))["postbacks"].clone();
    let first = of_code("approved")[0].clone();
    assert_eq!((&first["transaction_id"], &first["http_status"]), (&json!(paid), &json!(200)));
    assert_eq!(
        (&first["app_id"], &first["offer_id"], &first["goal_id"]),
        (&json!("79000181"), &json!("doctor-codes"), &json!("doctor-codes-1"))
    );
    assert_eq!((parameter(&first, "click_id"), parameter(&first, "txn")), (click.as_str(), "t-1"));
    assert_eq!(parameter(&first, "email"), "… (14 characters)");
    assert_eq!(of_code("duplicate")[0]["transaction_id"], json!(paid));
    let refused = of_code("invalid_token");
    let methods: Vec<_> = refused.as_array().unwrap().iter().collect();
    let by_token = methods.iter().find(|postback| postback["method"] == "GET").unwrap();
    assert_eq!(parameter(by_token, "token"), format!("at_{}_{token_id}_…", wall.id));
    assert!(by_token["verdict"].as_str().unwrap().contains("revoked"), "{by_token}");
    assert!(!by_token["remedy"].as_str().unwrap().is_empty());
    let text = shown.to_string();
    for secret in [&wall.token, &revoked, "guessed", "jo@example.com", "doctor-user"] {
        assert!(!text.contains(secret), "{secret}");
    }

    let first = page(&wall, "limit=4");
    let cursor = first["cursor"].as_str().unwrap();
    let rest = page(&wall, &format!("limit=4&cursor={cursor}"));
    assert_eq!((codes(&first).len(), codes(&rest).len()), (4, 2));
    assert_eq!(rest["cursor"], json!(null));
    for (path, status, code) in [
        ("advertisers/doctor-nobody/postbacks", 404, "not_found"),
        ("advertisers/doctor-codes/postbacks?code=nothing", 400, "invalid_field"),
        ("advertisers/doctor-codes/postbacks?limit=201", 400, "invalid_field"),
        ("advertisers/doctor-codes/postbacks?cursor=x", 400, "invalid_field"),
    ] {
        signpost.operator("GET", path, None).expect_error(status, code);
    }
}

#[test]
fn the_advertiser_of_a_short_click_id_is_found_without_a_token() {
    let signpost = demo();
    let wall = signpost.unpublished_offer_wall("doctor-short", "79000182", None);
    wall.put_offer(&json!({"click_id_max": 50}));
    signpost.refresh();
    let rid = wall.goal("1");
    let query = format!("rid={rid}&app={}&user_id=u-1&c1={}", wall.app, "x".repeat(128));
    let click = click_id_at(&expect_redirect(signpost.click(&query, "DE")));
    assert!(click.len() <= 50, "{click}");
    let refused = || signpost.convert(&format!("click_id={click}&token=guessed"));
    // At most one is looked up in a second.
    eventually_within(PATIENCE_MS, &true, || {
        expect_conversion_error(refused(), 401, "invalid_token");
        !codes(&page(&wall, "")).is_empty()
    });
    let postback = page(&wall, "")["postbacks"][0].clone();
    assert_eq!(postback["offer_id"], "doctor-short", "{postback}");
    let checked = check(&signpost, &format!("click_id={click}&token={}", wall.token));
    assert_eq!((&checked["code"], &checked["click"]["user_id"]), (&json!("approved"), &json!("u-1")));
}

#[test]
fn a_flood_is_counted_and_not_shown() {
    const SENDERS: u64 = 6;
    const EACH: u64 = 50;
    let signpost = demo();
    let wall = signpost.offer_wall("doctor-flood", "79000183", None);
    let click = wall.click_id("u-1");
    // The slower they come, the more of them are shown.
    thread::scope(|scope| {
        for _ in 0..SENDERS {
            scope.spawn(|| (0..EACH).for_each(|_| drop(accepted_id(wall.convert(&click, "")))));
        }
    });
    let all_came = || {
        let first = page(&wall, "limit=200");
        let rest = first["cursor"]
            .as_str()
            .map_or(0, |cursor| codes(&page(&wall, &format!("limit=200&cursor={cursor}"))).len());
        came(&first) + u64::try_from(rest).unwrap()
    };
    // A batch whose answer was late is counted again with the next.
    eventually_within(PATIENCE_MS, &true, || all_came() >= SENDERS * EACH);
    let page = page(&wall, "");
    assert!(page["not_shown"].as_u64().unwrap() > 0, "{page}");
    assert!(page["since"].as_i64().unwrap() <= now_ms() / SECOND_MS);
}

#[test]
fn an_object_that_does_not_answer_costs_no_conversion_anything() {
    let signpost = Setup::new().config("faults.capnp").start_with_fixtures().0;
    let wall = signpost.offer_wall("doctor-outage", "79000184", None);
    for faults in ["postbacks", "postbacks-hangs"] {
        inject_faults(&signpost, faults);
        expect_accepted(wall.convert(&wall.click_id(faults), ""), "approved", false);
        // Its report is made, and fails.
        sleep(Duration::from_millis(2_500));
    }
    inject_faults(&signpost, "");
    expect_accepted(wall.convert(&wall.click_id("u-2"), ""), "approved", false);
    let known = page_with(&wall, &["approved"]);
    assert!(came(&known) >= 1, "{known}");
}

#[test]
fn a_check_changes_nothing_and_names_what_would_hold_a_conversion() {
    away_from_midnight();
    let signpost = demo();
    let wall = signpost.unpublished_offer_wall("doctor-check", "79000185", None);
    wall.put_offer(
        &json!({"conversion_cap": {"dur": "DAILY", "lim": 1}, "min_seconds_to_convert": 60, "once_per": "user"}),
    );
    signpost.refresh();
    let earlier = now_ms() - 100 * SECOND_MS;
    let [one, two] = ["u-1", "u-2"].map(|user| wall.click_id_at(user, earlier));
    let url = |click: &str, more: &str| {
        let token = &wall.token;
        format!("https://localhost/v2/tracking/conversion?click_id={click}&token={token}{more}")
    };
    for _ in 0..3 {
        let checked = check(&signpost, &url(&one, "&txn=t-1"));
        assert_eq!((&checked["http_status"], &checked["code"]), (&json!(200), &json!("approved")));
        assert_eq!(
            checked["click"],
            json!({
                "app_id": "79000185", "offer_id": "doctor-check", "goal_id": "doctor-check-1", "user_id": "u-1",
                "clicked_at": earlier / SECOND_MS, "country": "DE", "placement": null,
            })
        );
    }
    assert_eq!(wall.entries(""), [] as [Value; 0]);
    let expected = check(&signpost, &url(&one, "&txn=t-1"))["transaction_id"].clone();
    let paid = expect_accepted(wall.convert(&one, "&txn=t-1"), "approved", false);
    assert_eq!(expected, json!(paid));

    let of = |url: &str| {
        let checked = check(&signpost, url);
        let text = |name: &str| checked[name].as_str().unwrap_or_default().to_owned();
        (checked["http_status"].as_u64().unwrap(), text("code"), text("reason"))
    };
    let told = |status: u64, code: &str, reason: &str| (status, code.to_owned(), reason.to_owned());
    assert_eq!(of(&url(&one, "&txn=t-1")), told(200, "duplicate", ""));
    assert_eq!(of(&url(&one, "&status=reversed")), told(200, "reversed", ""));
    assert_eq!(of(&url(&two, "&txn=t-1")), told(409, "duplicate_txn", ""));
    assert_eq!(of(&url(&two, "")), told(409, "conversion_capped", ""));
    assert_eq!(of(&url(&two, "&status=pending")), told(200, "pending", ""));
    let again = wall.click_id_at("u-1", earlier);
    assert_eq!(of(&url(&again, "")), told(409, "already_rewarded", ""));
    let fast = wall.click_id("u-3");
    assert_eq!(of(&url(&fast, "")), told(200, "pending", "too_fast"));
    expect_accepted(wall.convert(&fast, ""), "pending", false);
    assert_eq!(of(&url(&fast, "")), told(200, "duplicate", "too_fast"));
    assert_eq!(of(&url(&wall.click_id_at("u-4", now_ms() - 401 * DAY_MS), "")).1, "conversion_window_closed");
    let link = format!("https://localhost/v2/tracking/click?rid={}", wall.goal("1"));
    assert_eq!(of(&link), told(404, "not_found", ""));
    assert_eq!(wall.entries("").len(), 2);

    for (body, code) in [
        (json!({}), "missing_field"),
        (json!({"url": "x", "other": 1}), "unknown_field"),
        (json!({"url": "x".repeat(17 << 10)}), "invalid_field"),
    ] {
        signpost.operator("POST", "postback_check", Some(&body)).expect_error(400, code);
    }
}
