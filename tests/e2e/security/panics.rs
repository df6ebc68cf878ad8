//! A panic costs only its own request: the caller gets a 500 at once, concurrent and later requests are served, and no
//! object loses data. The tests use a bundle with fault injection (`src/platform/faults.rs`), in which a test can make
//! any place panic, for example each database call of an object.

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
        ANDROID_APP, Answer, CONVERSION, PUBLISHER, REPORT, Setup, Signpost, encoded, eventually, eventually_within,
        now_ms, timed,
    },
    reports,
};
use domain::model::time::SECOND_MS;

/// The route that sets the place that panics (`src/platform/faults.rs`).
const FAULTS: &str = "/v1/signpost-faults";
/// The longest that a caller may wait for the answer to a request that panics.
const AT_ONCE: Duration = Duration::from_secs(1);
const CLICK: &str = "/v2/tracking/click?rid=410271&app=10000001&user_id=u-1";

fn faulty() -> Setup {
    Setup::new().config("security/panics.capnp").var("CALLBACK_TIMEOUT_MS", "1000")
}

/// Makes a place panic this many times. Returns how often the previous place panicked, and the places passed since
/// then.
#[track_caller]
fn arm(signpost: &Signpost, when: &str, what: &str, times: u32) -> (u64, Vec<String>) {
    let query = format!("when={}&what={}&times={times}", encoded(when), encoded(what));
    let state = signpost.get(&format!("{FAULTS}?{query}"), &[]).expect(200).json();
    let passed = state["passed"].as_array().unwrap().iter();
    (state["fired"].as_u64().unwrap(), passed.map(|place| place.as_str().unwrap().to_owned()).collect())
}

/// Fails the test unless the place that is set has panicked this many times. Clears it.
#[track_caller]
fn fired(signpost: &Signpost, times: u64) {
    assert_eq!(arm(signpost, "", "", 0).0, times, "panics");
}

/// Fails the test unless this is the JSON error 500 of a panic.
#[track_caller]
fn internal_error(answer: Answer) {
    let answer = answer.expect_error(500, "internal_error");
    assert_eq!(answer.header("Content-Type"), Some("application/json"), "{answer:?}");
    assert_eq!(answer.header("Cache-Control"), Some("no-store"), "{answer:?}");
    assert!(!answer.body.contains("panic") && !answer.body.contains("asked for it"), "{answer:?}");
}

#[test]
fn a_panic_at_the_edge_is_answered_500_and_the_next_request_is_served() {
    let (signpost, pub_key) = faulty().start_with_fixtures();
    let page = json!({"page": 1, "size": 3}).to_string();
    let offers = [("App-Id", ANDROID_APP), ("Pub-Key", &pub_key), ("Content-Type", "application/json")];
    let click = [("CF-IPCountry", "DE")];
    let operator = [("Authorization", "Bearer local-operator-token")];
    // An offers request with a query and a click by HEAD take the ordinary path, not the fast path.
    type Row<'r> = (&'r str, &'r str, &'r [(&'r str, &'r str)], &'r [u8]);
    let requests: [Row<'_>; 7] = [
        ("HEAD", CLICK, &click, b""),
        ("POST", "/v1/offer/api?", &offers, page.as_bytes()),
        ("POST", REPORT, &[("Content-Type", "application/json"), ("X-Api-Key", "sk_none")], b"{}"),
        ("GET", CONVERSION, &[], b""),
        ("GET", "/v1/operator/publishers", &operator, b""),
        ("PUT", "/v1/operator/publishers/lumen-arcade/facts/2026-01-01", &operator, &[b'x'; 300_000]),
        ("GET", "/healthz", &[], b""),
    ];
    for when in ["edge", "answered"] {
        for (method, path, headers, body) in requests {
            let usual = signpost.send(method, path, headers, body);
            // The edge passes the operator's requests on.
            let when = if path.starts_with("/v1/operator") && when == "edge" { "origin" } else { when };
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
            assert_eq!((next.status, next.body.len()), (usual.status, usual.body.len()), "{next:?}");
        }
    }
}

/// The edge calls objects without the origin's own handler in between, so the object's entry is what notices the abort.
#[test]
fn a_conversion_after_an_abort_in_an_object_is_paid() {
    let signpost = faulty().without_api_check().start();
    let wall = signpost.offer_wall("aborted-object", "79000734", None);
    wall.pay("user-1");
    let click = wall.click_id("user-2");
    signpost.get(&format!("{FAULTS}?when=before&what=&times=1&abort="), &[]).expect(200);
    assert!(wall.convert(&click, "").status >= 500);
    eventually(&200, || wall.convert(&click, "").status);
    wall.pay("user-3");
}

/// An abort, such as a stack overflow, ends WebAssembly's memory with every object's struct.
#[test]
fn after_an_abort_every_object_is_constructed_again_and_answers_as_before() {
    let (signpost, _) = faulty().without_api_check().start_with_fixtures();
    let wall = signpost.offer_wall("aborted", "79000733", None);
    wall.pay("user-1");
    let paths = [
        "offers/23817".to_owned(),
        format!("publishers/{}/report_keys", wall.id),
        format!("publishers/{}/members", wall.id),
        format!("apps/{}/conversions", wall.app),
    ];
    let read = |path: &String| signpost.operator("GET", path, None);
    let before: Vec<_> = paths.iter().map(|path| read(path).expect(200).body).collect();
    let query = format!("when=origin&what={}&times=1&abort=", encoded("/v1/operator/offers"));
    signpost.get(&format!("{FAULTS}?{query}"), &[]).expect(200);
    let aborted = read(&paths[0]);
    assert!(aborted.status >= 500, "{aborted:?}");
    for (path, before) in paths.iter().zip(before) {
        eventually(&(200, before), || {
            let answer = read(path);
            (answer.status, answer.body)
        });
    }
    wall.pay("user-2");
}

#[test]
fn requests_concurrent_with_a_panic_are_served_and_the_isolate_keeps_its_state() {
    let (signpost, pub_key) = faulty().var("OFFERS_RATE", "1,400").start_with_fixtures();
    let publisher = signpost.existing_publisher(PUBLISHER);
    let csv = reports::csv(&["2026-01-01,70000001,,DE,home,tag,alpha,1,1,1,1,1,1"]);
    // State during the panics: a half-sent upload, clicks in a batch, and a half-empty token bucket of offers.
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
        assert_eq!(failed, 3, "one request per panic, round {round}: {statuses:?}");
        sent += statuses.iter().step_by(3).filter(|status| **status == 302).count() as u64;
        assert_eq!(finish(upload, &csv), 200);
    }
    // All redirected clicks are counted, also those that were in a batch during a panic.
    eventually_within(20 * SECOND_MS, &sent, || publisher.clicks());
    // The token bucket was neither refilled nor reset by the panics.
    let admitted = (0..400).filter(|_| signpost.offers(ANDROID_APP, &pub_key, &body).status == 200).count();
    assert!((200..=340).contains(&admitted), "{admitted}");
}

/// Sends the rest of a half-sent upload. Returns the status of its answer.
fn finish(mut upload: TcpStream, csv: &str) -> u16 {
    upload.write_all(&csv.as_bytes()[csv.len() / 2..]).unwrap();
    let mut answer = [0; 12];
    upload.read_exact(&mut answer).unwrap();
    std::str::from_utf8(&answer[9..]).unwrap().parse().unwrap()
}

#[test]
fn a_panic_on_the_fast_path_falls_back_to_the_ordinary_path() {
    let (signpost, pub_key) = faulty().start_with_fixtures();
    let publisher = signpost.existing_publisher(PUBLISHER);
    let body = json!({"page": 1, "size": 3});
    let fast = |what: &str| signpost.metric(&format!("signpost_isolate_fast_path_total{{what=\"{what}\"}}"));
    let click = || signpost.click("rid=410271&app=10000001&user_id=u-1", "DE").expect(302);
    click();
    click();
    let page = signpost.offers(ANDROID_APP, &pub_key, &body).expect(200).json();
    signpost.offers(ANDROID_APP, &pub_key, &body).expect(200);
    let (redirects, pages) = (fast("redirect"), fast("offers"));
    arm(&signpost, "fast_path", "a click", 1);
    click();
    fired(&signpost, 1);
    arm(&signpost, "fast_path", "offers", 1);
    assert_eq!(signpost.offers(ANDROID_APP, &pub_key, &body).expect(200).json(), page);
    fired(&signpost, 1);
    // Neither request was counted for the fast path, and the next ones are.
    assert_eq!((fast("redirect"), fast("offers")), (redirects, pages));
    let (mut sent, until_ms) = (3, now_ms() + 5 * SECOND_MS);
    while fast("redirect") == redirects && now_ms() < until_ms {
        click();
        sent += 1;
    }
    signpost.offers(ANDROID_APP, &pub_key, &body).expect(200);
    assert!(fast("redirect") > redirects && fast("offers") > pages);
    eventually_within(20 * SECOND_MS, &sent, || publisher.clicks());
}

#[test]
fn a_click_batch_whose_flush_panics_is_counted_once() {
    let (signpost, _) = faulty().start_with_fixtures();
    let publisher = signpost.existing_publisher(PUBLISHER);
    let mut sent = 0;
    for when in ["before", "after"] {
        arm(&signpost, "click_flush", when, 1);
        for _ in 0..5 {
            signpost.click("rid=410271&app=10000001&user_id=u-1", "DE").expect(302);
            sent += 1;
        }
        eventually_within(15 * SECOND_MS, &sent, || publisher.clicks());
        fired(&signpost, 1);
    }
}

#[test]
fn the_operator_is_told_of_panics_in_any_isolate() {
    let (signpost, _) = faulty().var("REVALIDATE_SECONDS", "0").start_with_fixtures();
    let panics = || signpost.reported("panics", None);
    assert_eq!(panics(), 0);
    arm(&signpost, "click_flush", "before", 1);
    signpost.click("rid=410271&app=10000001&user_id=u-1", "DE").expect(302);
    eventually_within(20 * SECOND_MS, &true, || {
        signpost.get("/healthz", &[]).expect(200);
        panics() > 0
    });
}

#[test]
fn an_alarm_that_panics_runs_again_and_completes_its_work() {
    let (signpost, pub_key) = faulty().var("REVALIDATE_SECONDS", "0").start_with_fixtures();
    let publisher = signpost.existing_publisher(PUBLISHER);
    let app = json!({
        "publisher_id": PUBLISHER, "name": "Renamed", "platform": "android",
        "currency": {"name": "Stars", "per_usd": 10, "decimals": 0, "rounding": "down"}
    });
    let currency = || -> Value {
        let body = json!({"page": 1, "size": 1});
        let page = signpost.offers(ANDROID_APP, &pub_key, &body).expect(200).json();
        page["offers"][0]["inapp_pyt"]["cur"].clone()
    };
    // Changes are published only by the alarm, which waits some seconds for further changes.
    arm(&signpost, "alarm", "catalog", 1);
    signpost.put(&format!("apps/{ANDROID_APP}"), &app);
    eventually_within(40 * SECOND_MS, &json!("Stars"), currency);
    fired(&signpost, 1);

    // Clicks reach the ledger only by the alarm of the counters.
    arm(&signpost, "alarm", "counters", 2);
    signpost.click("rid=410271&app=10000001&user_id=u-1", "DE").expect(302);
    eventually_within(40 * SECOND_MS, &1, || publisher.clicks());
    fired(&signpost, 2);

    // Revenue reaches the ledger only by the alarm of the outbox.
    let wall = signpost.offer_wall("panics-alarm", "79000711", None);
    arm(&signpost, "alarm", "outbox", 2);
    wall.pay("u-1");
    let wall_publisher = signpost.existing_publisher(&wall.id);
    eventually_within(60 * SECOND_MS, &1.25, || revenue(&wall_publisher));
    fired(&signpost, 2);
}

/// Returns how often the place that is set has panicked, and leaves it set.
fn arm_count(signpost: &Signpost) -> u64 {
    signpost.get(&format!("{FAULTS}?look"), &[]).expect(200).json()["fired"].as_u64().unwrap()
}
