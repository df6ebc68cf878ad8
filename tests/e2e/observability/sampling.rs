//! Sampling of the log by owner: unauthenticated requests use up no log lines of known tenants nor count as theirs.

use serde_json::{Value, json};

use crate::{
    faults::inject_faults,
    harness::{OfferWall, Setup, Signpost, eventually, eventually_within, now_ms, seal},
    overload::{fill_limit, postback},
};
use domain::tracking::keys::KeyRing;
use edge::limits::Pool;
use platform::concurrency_limit::Limit;

const CONVERSIONS: Limit = Pool::Conversions.limit();

/// More than the lines logged in a minute for unknown senders, and fewer than for known tenants.
const MANY: usize = 5;

fn lines(signpost: &Signpost, about: &Value) -> Vec<Value> {
    let mut lines = signpost.log_lines();
    lines.retain(|line| {
        let mut members = about.as_object().expect("members").iter();
        members.all(|(name, value)| line[name] == *value)
    });
    lines
}

fn conversions(signpost: &Signpost, outcome: &str) -> u64 {
    signpost.metric(&format!("signpost_isolate_conversions_total{{outcome=\"{outcome}\"}}"))
}

#[test]
fn a_flood_of_click_ids_under_unknown_keys_hides_no_failed_conversion() {
    let signpost = Setup::new().config("faults.capnp").start();
    let wall = signpost.offer_wall("whose", "70000011", None);
    let unknown = "200:seal:0f0e0d0c0b0a09080706050403020100f0e0d0c0b0a090807060504030201000";
    let unknown = seal(&KeyRing::parse(unknown).expect("keys"), &wall.click("u-1", now_ms()));
    for _ in 0..MANY {
        wall.convert(&unknown, "").expect_error(503, "unavailable");
    }
    inject_faults(&signpost, "outboxes");
    for n in 0..MANY {
        wall.convert(&wall.click_id(&format!("u-{n}")), "").expect_error(503, "unavailable");
    }
    let own = json!({"event": "conversion", "outcome": "unavailable", "app": wall.app, "offer": wall.id});
    eventually(&MANY, || lines(&signpost, &own).len());
    let unknown_senders = lines(&signpost, &json!({"event": "conversion", "outcome": "unread"}));
    // One a minute; a minute may end during the test.
    assert!((1..=2).contains(&unknown_senders.len()), "{unknown_senders:#?}");
    assert!(unknown_senders.iter().all(|line| line.get("app").is_none()), "{unknown_senders:#?}");
    assert_eq!(conversions(&signpost, "unread"), MANY as u64);
    assert_eq!(conversions(&signpost, "unavailable"), MANY as u64);
}

#[test]
fn junk_tokens_for_one_app_use_up_no_log_lines_of_another() {
    let signpost = Setup::new().config("faults.capnp").start();
    let flooded = signpost.offer_wall("flooded", "70000012", None);
    let other = signpost.offer_wall("beside", "70000013", None);
    let id = flooded.click_id("u-1");
    let junk = |wall: &OfferWall<'_>, click_id: &str| {
        let query = format!("click_id={click_id}&token=at_junk");
        wall.signpost.convert(&query)
    };
    for _ in 0..15 {
        junk(&flooded, &id).expect_error(401, "invalid_token");
    }
    junk(&other, &other.click_id("u-1")).expect_error(401, "invalid_token");
    let wrong = |wall: &OfferWall<'_>| json!({"event": "refused", "code": "invalid_token", "app": wall.app});
    eventually(&1, || lines(&signpost, &wrong(&other)).len());

    // More than the limit of lines about failures.
    inject_faults(&signpost, "outboxes");
    for _ in 0..70 {
        flooded.convert(&id, "").expect_error(503, "unavailable");
    }
    other.convert(&other.click_id("u-2"), "").expect_error(503, "unavailable");
    let lost = |wall: &OfferWall<'_>| json!({"event": "conversion", "outcome": "unavailable", "app": wall.app});
    eventually(&1, || lines(&signpost, &lost(&other)).len());
}

#[test]
fn a_postback_beyond_the_concurrency_limit_is_logged_with_its_app_and_offer() {
    let signpost = Setup::new().config("faults.capnp").start();
    let wall = signpost.offer_wall("whose", "70000011", None);
    let requests: Vec<_> = (0..CONVERSIONS.per_owner).map(|n| postback(&wall, &format!("u-{n}"))).collect();
    fill_limit(
        &signpost,
        ("conversion", "outboxes-hangs"),
        &requests,
        || wall.convert(&wall.click_id("one-too-many"), ""),
        || {
            let shed = json!({"event": "conversion", "status": 503, "app": wall.app, "offer": wall.id});
            eventually(&1, || lines(&signpost, &shed).len());
        },
    );
}

fn assert_key_refused(signpost: &Signpost, api_key: &str) {
    signpost.report_with(api_key, b"{}").expect_error(401, "invalid_api_key");
}

#[test]
fn guesses_at_report_keys_do_not_hide_the_use_of_a_revoked_one() {
    let signpost = Setup::new().start();
    let publisher = signpost.publisher("whose-keys");
    let key = publisher.create_key("gone");
    publisher.revoke_key(&key);
    for _ in 0..MANY {
        assert_key_refused(&signpost, "sk_a_0_0");
    }
    assert_key_refused(&signpost, &key.api_key);
    let known = json!({"event": "refused", "code": "invalid_api_key", "publisher": "whose-keys"});
    eventually_within(10_000, &1, || lines(&signpost, &known).len());
    assert!(lines(&signpost, &known)[0]["key"].is_string());
    // The holder of a revoked key cannot write any number of lines either.
    for _ in 0..30 {
        assert_key_refused(&signpost, &key.api_key);
    }
    let code = json!({"event": "refused", "code": "invalid_api_key"});
    assert!(lines(&signpost, &code).len() < 25, "{:#?}", lines(&signpost, &code));
}
