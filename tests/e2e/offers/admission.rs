//! Admission to the offers interface: credentials, approval and the rate limit.

use std::time::Duration;

use serde_json::Value;

use super::{GOOD, JSON, PATH, Served, UNAPPROVED_APP, page};
use crate::harness::{ANDROID_APP, IOS_APP, Setup, WEB_APP};

#[test]
fn all_wrong_credentials_get_the_same_answer() {
    let served = Served::shared();
    let key = served.pub_key.as_str();
    let (lower, longer, shorter) = (key.to_lowercase(), format!("{key}0"), &key[1..]);
    let cases: &[&[(&str, &str)]] = &[
        &[],
        &[("App-Id", ANDROID_APP)],
        &[("Pub-Key", key)],
        &[("App-Id", ""), ("Pub-Key", key)],
        &[("App-Id", ANDROID_APP), ("Pub-Key", "")],
        // An unknown app, and invalid app ids.
        &[("App-Id", "10000004"), ("Pub-Key", key)],
        &[("App-Id", "1000001"), ("Pub-Key", key)],
        &[("App-Id", "010000001"), ("Pub-Key", key)],
        &[("App-Id", "lumen-arcade"), ("Pub-Key", key)],
        // Wrong keys.
        &[("App-Id", ANDROID_APP), ("Pub-Key", &lower)],
        &[("App-Id", ANDROID_APP), ("Pub-Key", &longer)],
        &[("App-Id", ANDROID_APP), ("Pub-Key", shorter)],
        &[("App-Id", ANDROID_APP), ("Pub-Key", "00000000000000000000000000000000")],
        // Valid credentials of two publishers.
        &[("App-Id", ANDROID_APP), ("Pub-Key", &served.unapproved_key)],
        &[("App-Id", UNAPPROVED_APP), ("Pub-Key", key)],
        // A repeated header.
        &[("App-Id", ANDROID_APP), ("App-Id", IOS_APP), ("Pub-Key", key)],
    ];
    let mut bodies = Vec::new();
    for credentials in cases {
        let post = [*credentials, &[JSON]].concat();
        // Without valid credentials the answer does not depend on the rest of the request.
        for body in [GOOD, b"{"] {
            let answer = served.signpost.send("POST", PATH, &post, body);
            bodies.push(answer.expect_error(401, "invalid_credentials").body);
        }
        for query in ["?page=1&size=1", ""] {
            let answer = served.signpost.get(&format!("{PATH}{query}"), credentials);
            bodies.push(answer.expect_error(401, "invalid_credentials").body);
        }
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");

    for app in [ANDROID_APP, IOS_APP, WEB_APP] {
        served.list(app, &page(1, 1)).expect(200);
    }
}

#[test]
fn an_unapproved_publisher_with_the_right_key_is_answered_403() {
    let served = Served::shared();
    let ask = |key: &str| served.signpost.offers(UNAPPROVED_APP, key, &page(1, 1));
    ask(&served.unapproved_key).expect_error(403, "publisher_not_approved");
    for wrong in ["", &served.pub_key] {
        ask(wrong).expect_error(401, "invalid_credentials");
    }
}

#[test]
fn an_app_beyond_its_rate_is_answered_429_with_retry_after() {
    let served = Served::start(Setup::new().var("OFFERS_RATE", "5,5"));
    let ask = |app| served.list(app, &page(1, 1));
    for _ in 0..5 {
        ask(ANDROID_APP).expect(200);
    }
    // The bucket refills during the requests, but more slowly than they arrive.
    let refused = (0..500).map(|_| ask(ANDROID_APP)).find(|answer| answer.status != 200);
    let refused = refused.expect("a request beyond the rate").expect_error(429, "rate_limit_exceeded");
    assert_eq!(refused.json()["error"], "rate limit exceeded");
    let wait_s: u64 = refused.header("Retry-After").unwrap().parse().unwrap();
    assert!((1..=5).contains(&wait_s), "{refused:?}");
    // Another app has its own rate, and requests with wrong credentials do not use it up.
    ask(IOS_APP).expect(200);
    let stranger = served.signpost.offers(ANDROID_APP, "", &page(1, 1));
    stranger.expect_error(401, "invalid_credentials");
    std::thread::sleep(Duration::from_secs(wait_s));
    ask(ANDROID_APP).expect(200);
}

#[test]
fn a_rate_of_0_disables_the_rate_limit() {
    let served = Served::shared();
    for _ in 0..20 {
        served.list(ANDROID_APP, &page(1, 1)).expect(200);
    }
}

#[test]
fn without_a_snapshot_requests_are_answered_503() {
    let signpost = Setup::new().start();
    for body in [page(1, 1), Value::Null] {
        let answer = signpost.offers(ANDROID_APP, "", &body).expect_error(503, "unavailable");
        assert!(answer.header("Retry-After").is_some(), "{answer:?}");
    }
}
