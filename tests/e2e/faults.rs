//! The service during outages of KV, the catalog and the counters.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::Barrier,
    thread::{self, sleep},
    time::Duration,
};

use serde_json::json;

use crate::harness::{ANDROID_APP, PUBLISHER, Setup, Signpost, eventually_within};
use domain::model::time::SECOND_MS;

/// A Signpost with injectable faults whose isolate looks for newer snapshots on every request.
fn unreliable() -> (Signpost, String) {
    Setup::new().config("faults.capnp").var("REVALIDATE_SECONDS", "0").start_with_fixtures()
}

/// Injects these faults of `faults.js`, separated by commas, and ends all others.
pub fn inject_faults(signpost: &Signpost, faults: &str) {
    let answer = signpost.get(&format!("{}/{faults}", signpost.control()), &[]).expect(200);
    assert_eq!(answer.body.trim(), format!("broken: {}", faults.replace(',', " ")).trim(), "{answer:?}");
}

fn click(signpost: &Signpost) -> crate::harness::Answer {
    signpost.click("rid=410271&app=10000001&user_id=u-1", "DE")
}

#[test]
fn with_kv_and_the_catalog_down_a_warm_isolate_still_redirects_and_lists() {
    let (signpost, pub_key) = unreliable();
    let offers = |page: u32| {
        signpost.offers(ANDROID_APP, &pub_key, &json!({ "page": page, "size": 3, "filt": [] })).expect(200).json()
    };
    let before = offers(1);
    for faults in ["kv", "catalog", "counters", "kv,catalog,counters"] {
        inject_faults(&signpost, faults);
        for _ in 0..5 {
            assert!(click(&signpost).expect(302).location().starts_with("https://go."), "{faults}");
            assert_eq!(offers(1), before, "{faults}");
            assert_eq!(offers(2)["total"], before["total"], "{faults}");
            sleep(Duration::from_millis(50));
        }
        signpost.get("/healthz", &[]).expect(200);
    }
}

#[test]
fn with_the_catalog_down_the_operators_api_answers_503() {
    let (signpost, _) = unreliable();
    inject_faults(&signpost, "catalog");
    let answer = signpost.operator("GET", "publishers", None).expect_error(503, "unavailable");
    assert!(answer.header("Retry-After").is_some(), "{answer:?}");
    assert!(!answer.body.contains("order"), "the cause is only for the log: {answer:?}");
    signpost.operator("POST", "refresh", None).expect_error(503, "unavailable");
    inject_faults(&signpost, "");
    signpost.operator("GET", "publishers", None).expect(200);
}

#[test]
fn a_cold_isolate_loads_from_the_catalog_without_kv_and_answers_503_without_both() {
    let (signpost, pub_key) = unreliable();
    let body = json!({ "page": 1, "size": 3 });
    let before = signpost.offers(ANDROID_APP, &pub_key, &body).expect(200).json();
    for faults in ["kv", "kv-reads"] {
        signpost.restart();
        inject_faults(&signpost, faults);
        click(&signpost).expect(302);
        assert_eq!(signpost.offers(ANDROID_APP, &pub_key, &body).expect(200).json(), before, "{faults}");
    }
    signpost.restart();
    inject_faults(&signpost, "kv,catalog");
    for _ in 0..2 {
        let answer = click(&signpost).expect_error(503, "unavailable");
        assert!(answer.header("Retry-After").is_some(), "{answer:?}");
        signpost.offers(ANDROID_APP, &pub_key, &body).expect_error(503, "unavailable");
        signpost.get("/healthz", &[]).expect_unhealthy();
    }
    inject_faults(&signpost, "");
    sleep(Duration::from_millis(1_100));
    click(&signpost).expect(302);
}

#[test]
fn with_the_counters_down_only_clicks_on_capped_offers_are_answered_503() {
    let (signpost, _) = unreliable();
    inject_faults(&signpost, "counters");
    let capped = signpost.click("rid=606012&app=10000003&user_id=u-1", "DE").expect_error(503, "unavailable");
    assert!(capped.header("Retry-After").is_some(), "{capped:?}");
    click(&signpost).expect(302);
    inject_faults(&signpost, "");
    signpost.click("rid=606012&app=10000003&user_id=u-1", "DE").expect(302);
}

#[test]
fn clicks_during_an_outage_of_the_counters_are_counted_after_it() {
    let (signpost, _) = unreliable();
    let publisher = signpost.existing_publisher(PUBLISHER);
    inject_faults(&signpost, "counters");
    for _ in 0..20 {
        click(&signpost).expect(302);
    }
    // A batch was sent and failed.
    let has_failed = || signpost.log_lines().iter().any(|line| line["where"] == "click_flush");
    eventually_within(20 * SECOND_MS, &true, has_failed);
    inject_faults(&signpost, "");
    eventually_within(30 * SECOND_MS, &20, || publisher.clicks());
    // The next batch does not count them again.
    click(&signpost).expect(302);
    eventually_within(30 * SECOND_MS, &21, || publisher.clicks());
}

#[test]
fn a_click_during_the_retry_of_an_earlier_batch_is_counted() {
    let (signpost, _) = unreliable();
    let publisher = signpost.existing_publisher(PUBLISHER);
    inject_faults(&signpost, "counters");
    click(&signpost).expect(302);
    // The flush has given up after three attempts, and leaves the batch to the next click.
    let failures = || {
        let lines = signpost.log_lines();
        lines.iter().filter(|line| line["where"] == "click_flush").count()
    };
    eventually_within(20 * SECOND_MS, &3, failures);
    inject_faults(&signpost, "");
    click(&signpost).expect(302);
    eventually_within(30 * SECOND_MS, &2, || publisher.clicks());
}

#[test]
fn a_damaged_listing_in_kv_is_rejected_and_an_older_one_is_used() {
    let (signpost, pub_key) = unreliable();
    // Three versions, so that the pointer lists older ones.
    signpost.refresh();
    let newest = signpost.refresh().json();
    let file = format!("listing-{}", newest["listing_version"]);
    damage(&signpost.state.path().join("kv").join(file));
    signpost.restart();
    let offers = signpost.offers(ANDROID_APP, &pub_key, &json!({ "page": 1, "size": 3 })).expect(200).json();
    assert_eq!(offers["offers"].as_array().unwrap().len(), 3);
}

/// Changes a byte in the middle of a file.
pub fn damage(file: &Path) {
    let mut bytes = std::fs::read(file).expect("a value in KV");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x20;
    std::fs::write(file, bytes).expect("a value written");
}

fn a_publication_is_retried_after(fault: &str) {
    let (signpost, pub_key) = unreliable();
    inject_faults(&signpost, fault);
    let app = json!({
        "publisher_id": "lumen-arcade", "name": "Renamed", "platform": "android",
        "currency": {"name": "Stars", "per_usd": 10, "decimals": 0, "rounding": "down"}
    });
    signpost.put(&format!("apps/{ANDROID_APP}"), &app);
    // The alarm's publication fails, and the next alarm retries it.
    sleep(Duration::from_secs(2));
    inject_faults(&signpost, "");
    let currency = || {
        let page = signpost.offers(ANDROID_APP, &pub_key, &json!({ "page": 1, "size": 1 })).expect(200).json();
        page["offers"][0]["inapp_pyt"]["cur"].clone()
    };
    eventually_within(40 * SECOND_MS, &json!("Stars"), currency);
}

#[test]
fn a_publication_that_kv_refused_is_retried() {
    a_publication_is_retried_after("kv");
}

#[test]
fn a_publication_that_kv_left_without_an_answer_is_retried() {
    a_publication_is_retried_after("kv-writes-hang");
}

#[test]
fn refreshes_in_a_row_respect_the_write_rate_of_kv() {
    let (signpost, _) = unreliable();
    for _ in 0..3 {
        signpost.refresh();
    }
}

#[test]
fn simultaneous_refreshes_share_publications_that_began_after_them() {
    const TOGETHER: usize = 16;
    let (signpost, _) = unreliable();
    let start = Barrier::new(TOGETHER);
    let published: BTreeSet<u64> = thread::scope(|scope| {
        let refreshes: Vec<_> = (0..TOGETHER)
            .map(|n| {
                let (signpost, start) = (&signpost, &start);
                scope.spawn(move || {
                    let offer = format!("together-{n}");
                    start.wait();
                    signpost.put_offer(&offer, &json!({}));
                    let refreshed = signpost.refresh().json();
                    let goal = format!("rid={offer}-g&app={ANDROID_APP}&user_id=u-1");
                    signpost.click(&goal, "DE").expect(302);
                    refreshed["tracking_version"].as_u64().expect("a version")
                })
            })
            .collect();
        refreshes.into_iter().map(|refresh| refresh.join().expect("a refresh")).collect()
    });
    assert!(published.len() <= TOGETHER / 2, "{published:?}");
}

#[test]
fn a_slow_answer_of_kv_does_not_restore_an_older_snapshot() {
    let (signpost, pub_key) = unreliable();
    let body = json!({ "page": 1, "size": 1 });
    inject_faults(&signpost, "kv-slow");
    // This request reads KV in the background, and gets the current snapshot after a delay.
    signpost.offers(ANDROID_APP, &pub_key, &body).expect(200);
    let new_key = signpost.issue_pub_key("lumen-arcade");
    signpost.refresh();
    for _ in 0..25 {
        signpost.offers(ANDROID_APP, &pub_key, &body).expect_error(401, "invalid_credentials");
        signpost.offers(ANDROID_APP, &new_key, &body).expect(200);
        sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_cold_isolate_does_not_wait_for_a_hanging_kv() {
    let (signpost, _) = unreliable();
    signpost.restart();
    inject_faults(&signpost, "kv-hangs");
    click(&signpost).expect(302);
}

#[test]
fn clicks_that_hang_at_kv_hold_up_no_later_ones() {
    let (signpost, _) = unreliable();
    signpost.restart();
    inject_faults(&signpost, "kv-hangs");
    std::thread::scope(|scope| {
        (0..20).for_each(|_| drop(scope.spawn(|| click(&signpost).expect(302))));
    });
    inject_faults(&signpost, "");
    // Each of them has given its place among those that read KV back.
    let fast = || signpost.metric("signpost_isolate_fast_path_total{what=\"redirect\"}");
    let before = fast();
    click(&signpost).expect(302);
    assert_eq!(fast(), before + 1);
}

#[test]
fn a_cold_click_is_redirected_while_kv_fails_or_has_nothing() {
    let (signpost, _) = unreliable();
    for fault in ["kv", "kv-reads", "kv-slow"] {
        signpost.restart();
        inject_faults(&signpost, fault);
        click(&signpost).expect(302);
        inject_faults(&signpost, "");
    }
}
