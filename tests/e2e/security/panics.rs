//! A panic costs the request that it happens in, and nothing else: the caller has its 500 at once, whoever came beside it
//! and whoever comes next is served, and no object forgets anything. Of a bundle of its own, in which a test may have
//! any place panic (`src/faults.rs`); each of the places where an object asks its database is one.

mod sweep;

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    conversions::revenue::revenue,
    harness::{
        ANDROID_APP, Answer, CONVERSION, PUBLISHER, REPORT, Setup, Signpost, encoded, in_time, now_ms, timed,
    },
    reports,
};
use domain::model::time::SECOND_MS;

/// Where it is set which place panics (`src/faults.rs`).
const FAULTS: &str = "/v1/signpost-faults";
/// What a caller that met a panic waits at most.
const AT_ONCE: Duration = Duration::from_secs(1);
const CLICK: &str = "/v2/tracking/click?rid=410271&app=10000001&user_id=u-1";

fn faulty() -> Setup {
    Setup::new()
        .config("security/panics.capnp")
        .var("CALLBACK_TIMEOUT_MS", "1000")
}

/// Has a place panic so many times. Answers what came of the one before: how often it did, and what was passed since.
#[track_caller]
fn arm(signpost: &Signpost, when: &str, what: &str, times: u32) -> (u64, Vec<String>) {
    let query = format!("when={}&what={}&times={times}", encoded(when), encoded(what));
    let told = signpost.get(&format!("{FAULTS}?{query}"), &[]).expect(200).json();
    let passed = told["passed"].as_array().unwrap().iter();
    (
        told["fired"].as_u64().unwrap(),
        passed.map(|place| place.as_str().unwrap().to_owned()).collect(),
    )
}

/// Fails the test unless the last place that was set did panic, and sets none.
#[track_caller]
fn fired(signpost: &Signpost, times: u64) {
    assert_eq!(arm(signpost, "", "", 0).0, times, "panics");
}

/// Fails the test unless this is the 500 that a panic is answered by, as JSON.
#[track_caller]
fn internal_error(answer: Answer) {
    let answer = answer.refused(500, "internal_error");
    assert_eq!(
        answer.header("Content-Type"),
        Some("application/json"),
        "{answer:?}"
    );
    assert_eq!(answer.header("Cache-Control"), Some("no-store"), "{answer:?}");
    assert!(
        !answer.body.contains("panic") && !answer.body.contains("asked for it"),
        "{answer:?}"
    );
}

#[test]
fn a_panic_at_the_edge_is_its_callers_500_and_the_next_is_served() {
    let (signpost, pub_key) = faulty().start_with_fixtures();
    let page = json!({"page": 1, "size": 3}).to_string();
    let offers = [
        ("App-Id", ANDROID_APP),
        ("Pub-Key", &pub_key),
        ("Content-Type", "application/json"),
    ];
    let click = [("CF-IPCountry", "DE")];
    let operator = [("Authorization", "Bearer local-operator-token")];
    // With a query a request for offers does not take the express way; neither does a click by HEAD.
    type Row<'r> = (&'r str, &'r str, &'r [(&'r str, &'r str)], &'r [u8]);
    let requests: [Row<'_>; 7] = [
        ("HEAD", CLICK, &click, b""),
        ("POST", "/v1/offer/api?", &offers, page.as_bytes()),
        (
            "POST",
            REPORT,
            &[("Content-Type", "application/json"), ("X-Api-Key", "sk_none")],
            b"{}",
        ),
        ("GET", CONVERSION, &[], b""),
        ("GET", "/v1/operator/publishers", &operator, b""),
        (
            "PUT",
            "/v1/operator/publishers/lumen-arcade/facts/2026-01-01",
            &operator,
            &[b'x'; 300_000],
        ),
        ("GET", "/healthz", &[], b""),
    ];
    for when in ["edge", "answered"] {
        for (method, path, headers, body) in requests {
            let usual = signpost.send(method, path, headers, body);
            arm(&signpost, when, path.split('?').next().unwrap(), 1);
            let (answer, took) = timed(|| signpost.send(method, path, headers, body));
            fired(&signpost, 1);
            if method == "HEAD" {
                assert_eq!(answer.status, 500, "{answer:?}");
            } else {
                internal_error(answer);
            }
            assert!(took < AT_ONCE, "{took:?}: {method} {path}");
            let next = signpost.send(method, path, headers, body);
            assert_eq!(
                (next.status, next.body.len()),
                (usual.status, usual.body.len()),
                "{next:?}"
            );
        }
    }
}

#[test]
fn requests_beside_a_panic_are_served_and_the_isolate_forgets_nothing() {
    let (signpost, pub_key) = faulty().var("OFFERS_RATE", "1,400").start_with_fixtures();
    let publisher = signpost.known_publisher(PUBLISHER);
    let csv = reports::csv(&["2026-01-01,70000001,,DE,home,tag,alpha,1,1,1,1,1,1"]);
    // An upload is half way through, clicks wait in a batch, and a bucket of offers is half empty, all the while.
    let body = json!({"page": 1, "size": 3});
    for _ in 0..100 {
        signpost.offers(ANDROID_APP, &pub_key, &body).expect(200);
    }
    let mut sent = 0;
    for round in 0..5 {
        let upload = publisher.begin_facts("2026-01-01", &csv);
        arm(&signpost, "edge", "/", 3);
        let statuses: Vec<u16> = thread::scope(|scope| {
            let ask = |client: usize| match client % 3 {
                0 => signpost.click("rid=410271&app=10000001&user_id=u-1", "DE").status,
                1 => {
                    signpost
                        .get(
                            &format!("/v1/operator/publishers/{PUBLISHER}"),
                            &[("Authorization", "Bearer local-operator-token")],
                        )
                        .status
                }
                _ => signpost.get("/healthz", &[]).status,
            };
            let clients: Vec<_> = (0..24).map(|client| scope.spawn(move || ask(client))).collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        fired(&signpost, 3);
        let failed = statuses.iter().filter(|status| **status == 500).count();
        assert_eq!(failed, 3, "one each, round {round}: {statuses:?}");
        sent += statuses
            .iter()
            .step_by(3)
            .filter(|status| **status == 302)
            .count() as u64;
        assert_eq!(finish(upload, &csv), 200);
    }
    // All that were redirected are counted, those in a batch that a panic came across, too.
    in_time(20 * SECOND_MS, &sent, || publisher.clicks());
    // The bucket is as empty as it was: what a panic met was not given back or filled up.
    let admitted = (0..400)
        .filter(|_| signpost.offers(ANDROID_APP, &pub_key, &body).status == 200)
        .count();
    assert!((200..=340).contains(&admitted), "{admitted}");
}

/// Sends the rest of an upload that was half sent; the status of its answer.
fn finish(mut upload: TcpStream, csv: &str) -> u16 {
    upload.write_all(&csv.as_bytes()[csv.len() / 2..]).unwrap();
    let mut answer = [0; 12];
    upload.read_exact(&mut answer).unwrap();
    std::str::from_utf8(&answer[9..]).unwrap().parse().unwrap()
}

#[test]
fn a_panic_on_the_express_way_is_answered_the_ordinary_way() {
    let (signpost, pub_key) = faulty().start_with_fixtures();
    let publisher = signpost.known_publisher(PUBLISHER);
    let body = json!({"page": 1, "size": 3});
    let express =
        |what: &str| signpost.metric(&format!("signpost_isolate_fast_path_total{{what=\"{what}\"}}"));
    let click = || {
        signpost
            .click("rid=410271&app=10000001&user_id=u-1", "DE")
            .expect(302)
    };
    // The first opens the batch that the others join.
    click();
    click();
    let page = signpost.offers(ANDROID_APP, &pub_key, &body).expect(200).json();
    signpost.offers(ANDROID_APP, &pub_key, &body).expect(200);
    let (redirects, pages) = (express("redirect"), express("offers"));
    arm(&signpost, "fast_path", "a click", 1);
    click();
    fired(&signpost, 1);
    arm(&signpost, "fast_path", "offers", 1);
    assert_eq!(
        signpost.offers(ANDROID_APP, &pub_key, &body).expect(200).json(),
        page
    );
    fired(&signpost, 1);
    // Neither was counted as express, and the next ones are.
    assert_eq!((express("redirect"), express("offers")), (redirects, pages));
    let (mut sent, until_ms) = (3, now_ms() + 5 * SECOND_MS);
    while express("redirect") == redirects && now_ms() < until_ms {
        click();
        sent += 1;
    }
    signpost.offers(ANDROID_APP, &pub_key, &body).expect(200);
    assert!(express("redirect") > redirects && express("offers") > pages);
    in_time(20 * SECOND_MS, &sent, || publisher.clicks());
}

#[test]
fn a_batch_of_clicks_that_meets_a_panic_is_counted_once() {
    let (signpost, _) = faulty().start_with_fixtures();
    let publisher = signpost.known_publisher(PUBLISHER);
    let mut sent = 0;
    for when in ["before", "after"] {
        arm(&signpost, "click_flush", when, 1);
        for _ in 0..5 {
            signpost
                .click("rid=410271&app=10000001&user_id=u-1", "DE")
                .expect(302);
            sent += 1;
        }
        in_time(15 * SECOND_MS, &sent, || publisher.clicks());
        fired(&signpost, 1);
    }
}

#[test]
fn an_alarm_that_panics_goes_off_again_and_its_work_is_done() {
    let (signpost, pub_key) = faulty().var("REVALIDATE_SECONDS", "0").start_with_fixtures();
    let publisher = signpost.known_publisher(PUBLISHER);
    let app = json!({
        "publisher_id": PUBLISHER, "name": "Renamed", "platform": "android",
        "currency": {"name": "Stars", "per_usd": 10, "decimals": 0, "rounding": "down"}
    });
    let currency = || -> Value {
        let body = json!({"page": 1, "size": 1});
        let page = signpost.offers(ANDROID_APP, &pub_key, &body).expect(200).json();
        page["offers"][0]["inapp_pyt"]["cur"].clone()
    };
    // What changed is published by the alarm alone, which waits for some seconds of further changes.
    arm(&signpost, "alarm", "catalog", 1);
    signpost.put(&format!("apps/{ANDROID_APP}"), &app);
    in_time(40 * SECOND_MS, &json!("Stars"), currency);
    fired(&signpost, 1);

    // Clicks reach the ledger by the alarm of the counters alone.
    arm(&signpost, "alarm", "counters", 2);
    signpost
        .click("rid=410271&app=10000001&user_id=u-1", "DE")
        .expect(302);
    in_time(40 * SECOND_MS, &1, || publisher.clicks());
    fired(&signpost, 2);

    // And what a conversion paid, by that of its outbox.
    let wall = signpost.wall("panics-alarm", "79000711", None);
    arm(&signpost, "alarm", "outbox", 2);
    wall.pay("u-1");
    let of_wall = signpost.known_publisher(&wall.id);
    in_time(60 * SECOND_MS, &1.25, || revenue(&of_wall));
    fired(&signpost, 2);
}

/// How often the place that is set has panicked so far; it stays set.
fn arm_count(signpost: &Signpost) -> u64 {
    signpost.get(&format!("{FAULTS}?look"), &[]).expect(200).json()["fired"]
        .as_u64()
        .unwrap()
}
