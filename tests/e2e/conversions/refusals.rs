//! Refusals of postbacks: every rule, and which error is returned of several.

use serde_json::json;

use crate::{
    conversions::expect_conversion_error,
    harness::{CONVERSION, away_from_midnight, demo, expect_accepted, nonce, now_ms, seal},
};
use domain::{
    model::{
        AppId,
        time::{DAY_MS, SECOND_MS},
    },
    tracking::{
        click_id::{self, SHORT_MAX},
        keys::KeyRing,
    },
};

const OTHER_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

#[test]
fn of_several_errors_in_a_postback_the_first_is_returned() {
    away_from_midnight();
    let signpost = demo();
    let wall = signpost.unpublished_offer_wall("conv-refusals", "79000101", None);
    let stranger = signpost.unpublished_offer_wall("conv-stranger", "79000102", None);
    wall.put_offer_as("conv-spent", &json!({"conversion_cap": {"dur": "DAILY", "lim": 1}}));
    signpost.refresh();
    let click = || wall.click_id("u-1");
    let old = || wall.click_id_at("u-1", now_ms() - 31 * DAY_MS);
    let sealed_by = |keys: &str| seal(&KeyRing::parse(keys).unwrap(), &wall.click("u-1", now_ms()));
    let unknown_key = sealed_by(&format!("200:seal:{OTHER_KEY}"));
    let forged = sealed_by(&format!("1:seal:{OTHER_KEY}"));
    let spent_click = wall.click_on("conv-spent", "u-1", now_ms());
    let keys = crate::clicks::keys();
    let spent = || seal(&keys, &spent_click);
    // A short id without a record: records outlive every window, so the click has expired.
    let expired = click_id::seal(&keys, &wall.click("u-1", now_ms()), nonce(), SHORT_MAX);
    let expired = expired.id();

    // Click ids that are validly sealed but name an unknown app or offer, as after the loss of the store.
    let [mut unknown_app, mut unknown_offer] = [(); 2].map(|()| wall.click("u-1", now_ms()));
    unknown_app.app = AppId::from_number(79_000_999).unwrap();
    unknown_offer.offer = "conv-nothing".into();
    let [unknown_app, unknown_offer] = [unknown_app, unknown_offer].map(|click| seal(&keys, &click));

    let good = &wall.token;
    let (long_goal, long_txn) = ("g".repeat(201), "t".repeat(129));
    expect_accepted(wall.convert(&click(), "&txn=taken"), "approved", false);
    expect_accepted(wall.convert(&spent(), "&txn=taken"), "approved", false);

    let one = click();
    let table = [
        // Parameters: repetitions and encoding errors from left to right, then each parameter in its order.
        (String::new(), 400, "missing_field"),
        (format!("token={good}"), 400, "missing_field"),
        (format!("click_id=&token={good}"), 400, "missing_field"),
        (format!("click_id=%7Bclick_id%7D&token={good}"), 400, "missing_field"),
        (format!("click_id=abc&token={good}"), 400, "invalid_click_id"),
        (format!("click_id=abc&tid=def&token={good}"), 400, "invalid_click_id"),
        (format!("click_id={one}"), 400, "missing_field"),
        (format!("click_id={one}&token={{token}}"), 400, "missing_field"),
        (format!("click_id={one}&token={good}&token={good}x"), 400, "invalid_parameter"),
        (format!("click_id=abc&token={good}&status=%zz"), 400, "invalid_parameter"),
        (format!("click_id={one}&token={good}&goal={long_goal}"), 400, "invalid_parameter"),
        (format!("click_id={one}&token={good}&txn={long_txn}"), 400, "invalid_parameter"),
        (format!("click_id={one}&token={good}&status=1"), 400, "invalid_parameter"),
        (format!("click_id=abc&token={good}&status=1"), 400, "invalid_click_id"),
        (format!("click_id={one}&status=1"), 400, "missing_field"),
        (format!("click_id={unknown_key}&token={good}&status=1"), 400, "invalid_parameter"),
        // The click id.
        (format!("click_id={unknown_key}&token={good}"), 503, "unavailable"),
        (format!("click_id={unknown_key}&token=wrong&goal=nothing"), 503, "unavailable"),
        (format!("click_id={forged}&token={good}"), 400, "invalid_click_id"),
        (format!("click_id={forged}&token=wrong&goal=nothing"), 400, "invalid_click_id"),
        (format!("click_id={expired}&token={good}"), 410, "conversion_window_closed"),
        (format!("click_id={expired}&token=wrong"), 401, "invalid_token"),
        (format!("click_id={unknown_app}&token={good}&goal=nothing"), 400, "invalid_click_id"),
        (format!("click_id={unknown_offer}&token={good}&goal=nothing"), 400, "invalid_click_id"),
        // The token: unknown, and of another advertiser.
        (format!("click_id={one}&token=wrong"), 401, "invalid_token"),
        (format!("click_id={one}&token={}", stranger.token), 401, "invalid_token"),
        (format!("click_id={one}&token=wrong&goal=nothing"), 401, "invalid_token"),
        (format!("click_id={}&token=wrong", old()), 401, "invalid_token"),
        // The goal: unknown, of another offer, and one that is only like a goal.
        (format!("click_id={one}&token={good}&goal=nothing"), 400, "unknown_goal"),
        (format!("click_id={one}&token={good}&goal=conv-spent-1"), 400, "unknown_goal"),
        (format!("click_id={one}&token={good}&goal=INSTALLS"), 400, "unknown_goal"),
        (format!("click_id={}&token={good}&goal=nothing", old()), 400, "unknown_goal"),
        // The rules of conversions: the window, the sender's `txn`, the cap.
        (format!("click_id={}&token={good}", old()), 410, "conversion_window_closed"),
        (format!("click_id={}&token={good}&status=pending", old()), 410, "conversion_window_closed"),
        (format!("click_id={}&token={good}&txn=taken", old()), 410, "conversion_window_closed"),
        (format!("click_id={one}&token={good}&txn=taken"), 409, "duplicate_txn"),
        (format!("click_id={one}&token={good}&txn=taken&status=pending"), 409, "duplicate_txn"),
        (format!("click_id={}&token={good}&txn=taken", spent()), 409, "duplicate_txn"),
        (format!("click_id={}&token={good}", spent()), 409, "conversion_capped"),
    ];
    for (query, status, code) in &table {
        // The operator's check says the same.
        let body = json!({ "url": query });
        let checked = signpost.operator("POST", "postback_check", Some(&body)).expect(200).json();
        assert_eq!((&checked["http_status"], &checked["code"]), (&json!(status), &json!(code)), "{query}: {checked}");
        // GET and POST give the same error, also when repeated.
        expect_conversion_error(signpost.convert(query), *status, code);
        let posted = signpost.send("POST", CONVERSION, &[FORM], query.as_bytes());
        if !query.is_empty() {
            expect_conversion_error(posted, *status, code);
        }
    }
    // The refused postbacks do not affect a valid one.
    expect_accepted(wall.convert(&one, ""), "approved", false);
    // A rejection or reversal is recorded after any time, since it pays nothing.
    for status in ["rejected", "reversed"] {
        let query = format!("&txn=taken&status={status}");
        expect_accepted(wall.convert(&old(), &query), status, false);
    }
}

#[test]
fn a_refused_conversion_is_logged_and_judged_again_when_repeated() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-afresh", "79000103", None);
    wall.put_offer(&json!({"conversion_window_days": 1}));
    let click = wall.click_id_at("u-1", now_ms() - 2 * DAY_MS);
    for _ in 0..3 {
        expect_conversion_error(wall.convert(&click, "&txn=t-1"), 410, "conversion_window_closed");
    }
    let logged = wall.entries("status=refused");
    let [entry] = logged.as_slice() else {
        panic!("{logged:?}");
    };
    assert_eq!(entry["code"], "conversion_window_closed", "{entry}");
    assert_eq!((&entry["status"], &entry["state"]), (&json!("refused"), &json!("refused")));
    assert_eq!((&entry["goal_id"], &entry["txn"]), (&json!("conv-afresh-1"), &json!("t-1")));
    assert_eq!(entry["attempts"], json!([]), "{entry}");
    assert_eq!(wall.entries("state=refused"), logged);

    wall.put_offer(&json!({"conversion_window_days": 3, "terms_since": now_ms() / SECOND_MS}));
    signpost.refresh();
    let paid = expect_accepted(wall.convert(&click, "&txn=t-1"), "approved", false);
    assert_eq!(entry["transaction_id"], paid.as_str(), "it is the same conversion");
    assert_eq!(wall.entries("state=refused"), [] as [serde_json::Value; 0]);
    // A known conversion is not judged again.
    wall.put_offer(&json!({"conversion_window_days": 1}));
    assert_eq!(expect_accepted(wall.convert(&click, "&txn=t-1"), "approved", true), paid);
}

#[test]
fn only_get_and_post_with_a_short_form_are_accepted() {
    let signpost = demo();
    let wall = signpost.offer_wall("conv-methods", "79000104", None);
    let query = |user: &str| format!("click_id={}&token={}", wall.click_id(user), wall.token);
    let address = format!("{CONVERSION}?{}", query("u-1"));
    for method in ["PUT", "DELETE", "PATCH"] {
        let answer = signpost.send(method, &address, &[], b"");
        let answer = answer.expect_error(405, "method_not_allowed");
        assert_eq!(answer.header("Allow"), Some("GET, POST"), "{answer:?}");
    }
    signpost.send("HEAD", &address, &[], b"").expect(405);

    let post = |content_type: &str, body: &str| {
        signpost.send("POST", CONVERSION, &[("Content-Type", content_type)], body.as_bytes())
    };
    for content_type in ["application/json", "text/plain", "multipart/form-data; boundary=b"] {
        expect_conversion_error(post(content_type, &query("u-2")), 415, "unsupported_media_type");
    }
    // 16 KiB, and one byte more.
    let long = |bytes: usize| {
        let query = query("u-3");
        let padding = "x".repeat(bytes - query.len() - 3);
        format!("{query}&x={padding}")
    };
    expect_conversion_error(post(FORM.1, &long(16_385)), 413, "payload_too_large");
    expect_accepted(post(FORM.1, &long(16_384)), "approved", false);
    let with_charset = "application/x-www-form-urlencoded; charset=UTF-8";
    expect_accepted(post(with_charset, &query("u-4")), "approved", false);

    // Query and form are one list: the token is in the query, the rest in the form.
    let address = format!("{CONVERSION}?token={}", wall.token);
    let body = format!("click_id={}&goal=level_10", wall.click_id("u-5"));
    expect_accepted(signpost.send("POST", &address, &[FORM], body.as_bytes()), "approved", false);
    let answer = signpost.send("POST", &format!("{address}x"), &[FORM], query("u-6").as_bytes());
    expect_conversion_error(answer, 400, "invalid_parameter");
    assert_eq!(wall.entries("").len(), 3);
}
