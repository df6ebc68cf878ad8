//! Report keys and their rate limit of one request in 2 s for each key.

use std::{sync::Barrier, thread, time::Duration};

use serde_json::{Value, json};

use crate::{
    harness::{Answer, Publisher, ReportKey, Setup, Signpost, demo, now_ms},
    reports::{csv, query},
};

const THREADS: usize = 16;

/// A publisher with a fact.
fn with_fact<'s>(signpost: &'s Signpost, id: &str) -> Publisher<'s> {
    let publisher = signpost.publisher(id);
    let fact = csv(&["2026-01-05,76000001,,DE,p,t,d,s,4,3,2,1,1.25"]);
    publisher.put_facts("2026-01-05", &fact).expect(200);
    publisher
}

fn ask(signpost: &Signpost, key: &ReportKey) -> Answer {
    let body = query(&["date"], &["clicks"]).to_string();
    signpost.report_with(&key.api_key, body.as_bytes())
}

fn listed(publisher: &Publisher<'_>) -> Vec<Value> {
    let answer = publisher.operator("GET", "report_keys", None).expect(200).json();
    answer["report_keys"].as_array().expect("keys").clone()
}

#[test]
fn a_key_is_shown_once_listed_without_its_secret_and_revoked_at_once() {
    let signpost = Setup::new().start();
    let publisher = with_fact(&signpost, "keys-life");
    assert_eq!(listed(&publisher), [] as [Value; 0]);
    let before_s = now_ms() / 1_000;
    let created = publisher.operator("POST", "report_keys", Some(&json!({"label": "Nightly job"}))).expect(201).json();
    assert_eq!(created["scope"], "ia-reporting.READ", "{created}");
    assert_eq!(created.as_object().unwrap().len(), 3, "{created}");
    let key = ReportKey {
        id: created["key_id"].as_str().unwrap().into(),
        api_key: created["api_key"].as_str().unwrap().into(),
    };
    assert!(key.api_key.starts_with("sk_keys-life_"), "{created}");
    let other = publisher.create_key("Dashboard");
    assert!(other.id != key.id && other.api_key != key.api_key);

    let unused = listed(&publisher);
    assert_eq!(unused.len(), 2);
    ask(&signpost, &key).expect(200);
    for restarts in 0..2 {
        if restarts > 0 {
            signpost.restart();
        }
        let keys = listed(&publisher);
        let text = json!(keys).to_string();
        for api_key in [&key.api_key, &other.api_key] {
            for part in api_key.split('_').skip(2) {
                assert!(!text.contains(part), "a secret in {text}");
            }
        }
        let key_of = |id: &str| keys.iter().find(|key| key["key_id"] == id).unwrap();
        for (id, label) in [(&key.id, "Nightly job"), (&other.id, "Dashboard")] {
            let entry = key_of(id);
            assert_eq!(entry["label"], label, "{entry}");
            assert_eq!(entry["scope"], "ia-reporting.READ", "{entry}");
            let created_at = entry["created_at"].as_i64().unwrap();
            assert!((before_s..=now_ms() / 1_000).contains(&created_at), "{entry}");
        }
        assert!(key_of(&other.id)["last_used_at"].is_null(), "{keys:?}");
        let used_at = key_of(&key.id)["last_used_at"].as_i64().unwrap();
        assert!((before_s..=now_ms() / 1_000).contains(&used_at), "{keys:?}");
    }

    thread::sleep(Duration::from_millis(2_000));
    ask(&signpost, &key).expect(200);
    publisher.revoke_key(&key);
    let refused = ask(&signpost, &key).expect_error(401, "invalid_api_key");
    assert_eq!(refused.json()["error"], "invalid or inactive api key");
    assert_eq!(refused.header("RateLimit"), None, "{refused:?}");
    let path = format!("report_keys/{}", key.id);
    publisher.operator("DELETE", &path, None).expect_error(404, "not_found");
    publisher.operator("DELETE", "report_keys/0123456789abcdef", None).expect_error(404, "not_found");
    let keys = listed(&publisher);
    assert_eq!(keys.len(), 1);
    assert_eq!(keys[0]["key_id"], other.id.as_str());
    signpost.restart();
    ask(&signpost, &key).expect_error(401, "invalid_api_key");
    ask(&signpost, &other).expect(200);
}

#[test]
fn a_label_is_required_and_a_publisher_has_at_most_a_hundred_keys() {
    let signpost = demo();
    let publisher = signpost.publisher("keys-many");
    for wrong in [
        json!({}),
        json!({"label": 7}),
        json!({"label": "x".repeat(10_000)}),
        json!({"label": "a", "scope": "everything"}),
        json!([]),
    ] {
        let answer = publisher.operator("POST", "report_keys", Some(&wrong));
        assert_eq!(answer.status, 400, "{answer:?}");
    }
    let keys: Vec<_> = (0..100).map(|n| publisher.create_key(&format!("{n}"))).collect();
    let more = json!({"label": "one more"});
    publisher.operator("POST", "report_keys", Some(&more)).expect_error(409, "too_many_keys");
    publisher.revoke_key(&keys[50]);
    publisher.create_key("one more");
    assert_eq!(listed(&publisher).len(), 100);
}

#[test]
fn a_second_request_within_two_seconds_is_refused_and_does_not_extend_the_wait() {
    let signpost = demo();
    let publisher = with_fact(&signpost, "keys-rate");
    let (key, other) = (publisher.create_key("a"), publisher.create_key("b"));
    let sent_ms = now_ms();
    let first = ask(&signpost, &key).expect(200);
    assert_eq!(first.header("RateLimit-Policy"), Some("\"report\";q=1;w=2"));
    assert_eq!(first.header("RateLimit"), Some("\"report\";r=0;t=2"));
    let mut accepted_by_ms = now_ms();
    // Repeat until just before the 2 s are over.
    let mut refused = 0;
    while now_ms() < sent_ms + 1_800 {
        let answer = ask(&signpost, &key);
        if now_ms() >= sent_ms + 2_000 {
            // The machine is too busy for a reliable result. The key may have been used again.
            accepted_by_ms = now_ms();
            break;
        }
        let answer = answer.expect_error(429, "rate_limit_exceeded");
        assert_eq!(answer.json(), json!({"error": "rate limit exceeded", "code": "rate_limit_exceeded"}));
        assert_eq!(answer.header("RateLimit-Policy"), Some("\"report\";q=1;w=2"));
        let wait = answer.header("Retry-After").expect("Retry-After").to_owned();
        assert!(wait == "1" || wait == "2", "{answer:?}");
        let limit = format!("\"report\";r=0;t={wait}");
        assert_eq!(answer.header("RateLimit"), Some(limit.as_str()), "{answer:?}");
        refused += 1;
        thread::sleep(Duration::from_millis(150));
    }
    assert!(refused > 0, "nothing was refused");
    // Another key of the same publisher is not limited.
    ask(&signpost, &other).expect(200);
    let left_ms = accepted_by_ms + 2_005 - now_ms();
    thread::sleep(Duration::from_millis(u64::try_from(left_ms).unwrap_or(0)));
    ask(&signpost, &key).expect(200);
}

#[test]
fn an_invalid_request_with_a_valid_key_counts_against_its_rate() {
    let signpost = demo();
    let publisher = with_fact(&signpost, "keys-wrong-queries");
    let key = publisher.create_key("a");
    signpost.report_with(&key.api_key, b"{").expect_error(400, "invalid_json");
    ask(&signpost, &key).expect_error(429, "rate_limit_exceeded");
}

#[test]
fn of_many_concurrent_requests_with_one_key_one_is_accepted() {
    let signpost = demo();
    let publisher = with_fact(&signpost, "keys-at-once");
    for _ in 0..3 {
        let key = publisher.create_key("a");
        let start = Barrier::new(THREADS);
        let begun_ms = now_ms();
        let answers: Vec<Answer> = thread::scope(|scope| {
            let send = || {
                start.wait();
                ask(&signpost, &key)
            };
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(send)).collect();
            let joined = threads.into_iter().map(|thread| thread.join().unwrap());
            joined.collect()
        });
        let took_ms = now_ms() - begun_ms;
        let (accepted, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 200);
        // One request, and one more for every 2 s that a busy machine took.
        let most = 1 + usize::try_from(took_ms / 2_000).unwrap();
        assert!((1..=most).contains(&accepted.len()), "{accepted:?}");
        for answer in refused {
            answer.expect_error(429, "rate_limit_exceeded");
        }
    }
}
