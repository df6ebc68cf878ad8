//! The tester of callbacks, with receivers that misbehave, and as an attacker would use it.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener},
};

use serde_json::{Value, json};
use standardwebhooks::Webhook;

use super::{Browser, signed_in};
use crate::harness::{
    Answer, Behaviour, OfferWall, Received, Receiver, SECRET, Setup, Signpost, callback, demo, eventually,
};

const OTHER_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
const LEGACY_SECRET: &str = "legacy/secret+1";

/// A publisher with an app and a developer. Tests are limited for each publisher, so most cases have their own.
struct Tester<'s> {
    wall: OfferWall<'s>,
    developer: Browser<'s>,
}

impl<'s> Tester<'s> {
    fn new(signpost: &'s Signpost, id: &str, app: &str) -> Self {
        let wall = signpost.unpublished_offer_wall(id, app, None);
        let publisher = signpost.existing_publisher(id);
        Self { developer: signed_in(signpost, &publisher, "developer"), wall }
    }

    /// One whose callback is this.
    fn with(signpost: &'s Signpost, id: &str, app: &str, callback: &Value) -> Self {
        let tester = Self::new(signpost, id, app);
        tester.wall.put_app(&json!({ "callback": callback }));
        tester
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        self.developer.post(&format!("apps/{}/callback/{path}", self.wall.app), body)
    }

    fn test(&self, sign_with: &str) -> Value {
        self.post("test", &json!({ "sign_with": sign_with })).expect(200).json()
    }

    /// The same after the pause between two tests.
    fn test_again(&self, sign_with: &str) -> Value {
        std::thread::sleep(std::time::Duration::from_secs(6));
        self.test(sign_with)
    }
}

/// The codes of the findings of this severity.
fn codes(report: &Value, severity: &str) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap();
    let of_severity = findings.iter().filter(|finding| finding["severity"] == severity);
    of_severity.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

fn verifies(secret: &str, received: &Received) -> bool {
    let payload = if received.method == "GET" { received.query() } else { &received.body };
    let webhook = Webhook::new(secret).unwrap();
    webhook.verify(payload.as_bytes(), &received.headers).is_ok()
}

/// A receiver that checks signatures by a secret.
fn checking(secret: &'static str) -> Behaviour {
    Behaviour::decide(move |received| Behaviour::status(if verifies(secret, received) { 200 } else { 401 }))
}

#[test]
fn the_answer_is_diagnosed() {
    let signpost = Setup::new().var("CALLBACK_TIMEOUT_MS", "1500").start();
    let elsewhere = Receiver::start();
    let cases: Vec<(Behaviour, Value, &str)> = vec![
        (Behaviour::answer(201, &[("Location", "/rewards/7")], ""), json!(201), "accepted"),
        (Behaviour::Redirect(elsewhere.base()), json!(302), "redirect"),
        (Behaviour::status(403), json!(403), "signature_refused"),
        (Behaviour::status(404), json!(404), "not_found"),
        (Behaviour::status(405), json!(405), "method_refused"),
        (Behaviour::status(410), json!(410), "gone"),
        (Behaviour::status(503), json!(503), "server_error"),
        (Behaviour::answer(500, &[("webhook-delivery", "disable")], ""), json!(500), "server_error asks_to_disable"),
        (Behaviour::Half(200), json!("broken_answer"), "broken_answer"),
        (Behaviour::Silent, json!("unreachable"), "unreachable"),
        (Behaviour::Hang, json!("timeout"), "timeout"),
        // Answers that Cloudflare's network gives in place of a receiver behind it.
        (Behaviour::answer(522, &[], "x"), json!("unreachable"), "unreachable"),
        (Behaviour::answer(526, &[], "x"), json!("tls"), "tls"),
    ];
    for (number, (behaviour, outcome, found)) in cases.into_iter().enumerate() {
        let receiver = Receiver::start();
        receiver.set(behaviour);
        let url = format!("{}/cb", receiver.base());
        let (id, app) = (format!("tester-answer-{number}"), format!("791001{number:02}"));
        let tester = Tester::with(&signpost, &id, &app, &callback(&url, "GET"));
        let report = tester.test("both");
        let shown = if outcome.is_number() {
            assert_eq!(report["error"], Value::Null, "{report}");
            let redirected = (found == "redirect").then(|| elsewhere.base());
            assert_eq!(report["response"]["location"], json!(redirected), "{report}");
            &report["response"]["http_status"]
        } else {
            assert_eq!(report["response"], Value::Null, "{report}");
            &report["error"]["code"]
        };
        assert_eq!(*shown, outcome, "{report}");
        let severity = if found == "accepted" { "ok" } else { "problem" };
        let codes = codes(&report, severity);
        let expected: Vec<_> = found.split(' ').collect();
        assert!(codes.iter().take(expected.len()).eq(expected.iter()), "{report}");
        assert_eq!(receiver.count(), 1, "one request each");
    }
    assert_eq!(elsewhere.count(), 0, "a redirect was followed");
}

/// The port of a server without TLS, which answers whatever it reads.
fn plain_server() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut stream = stream;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            let _ = stream.read(&mut [0; 1_024]);
        }
    });
    port
}

#[test]
fn failures_to_connect_are_told_alike_and_tls_is_told_apart() {
    let signpost = demo();
    let closed = Receiver::start().port;
    let plain = plain_server();
    let mut reports = Vec::new();
    for (number, (url, code)) in [
        (format!("http://127.0.0.1:{closed}/cb"), "unreachable"),
        (format!("https://127.0.0.1:{closed}/cb"), "unreachable"),
        ("https://no-such.invalid/cb".to_owned(), "unreachable"),
        (format!("https://127.0.0.1:{plain}/cb"), "tls"),
    ]
    .into_iter()
    .enumerate()
    {
        let (id, app) = (format!("tester-closed-{number}"), format!("791002{number:02}"));
        let report = Tester::with(&signpost, &id, &app, &callback(&url, "GET")).test("both");
        assert_eq!(report["error"], json!({ "code": code }), "{url}: {report}");
        assert_eq!(report["response"], Value::Null, "{url}");
        assert!(!report.to_string().contains("reference"), "{report}");
        reports.push(report["findings"].clone());
    }
    assert_eq!(reports[1], reports[2]);
}

#[test]
fn a_rotation_is_proven_by_two_tests_and_a_careless_receiver_is_found_by_get() {
    prove_a_rotation(0, "GET");
}

#[test]
fn a_rotation_is_proven_by_two_tests_and_a_careless_receiver_is_found_by_post() {
    prove_a_rotation(1, "POST");
}

/// One method in a test, because an app may be tested once in 5 s.
fn prove_a_rotation(number: usize, method: &str) {
    let signpost = demo();
    let receiver = Receiver::start();
    let mut rotating = callback(&format!("{}/cb", receiver.base()), method);
    rotating["secret"] = json!(OTHER_SECRET);
    rotating["previous_secret"] = json!(SECRET);
    let (id, app) = (format!("tester-rotation-{number}"), format!("791003{number:02}"));
    let tester = Tester::with(&signpost, &id, &app, &rotating);

    // The receiver still has the old secret.
    receiver.set(checking(SECRET));
    assert_eq!(codes(&tester.test("both"), "ok")[0], "accepted");
    assert_eq!(codes(&tester.test_again("current"), "problem")[0], "signature_refused");
    // It has the new one.
    receiver.set(checking(OTHER_SECRET));
    assert_eq!(codes(&tester.test_again("current"), "ok")[0], "accepted");
    assert_eq!(codes(&tester.test_again("wrong"), "ok")[0], "wrong_signature_refused");
    // It checks nothing.
    receiver.set(Behaviour::status(200));
    let careless = tester.test_again("wrong");
    assert_eq!(codes(&careless, "problem"), ["accepts_wrong_signature"]);
    // All were the same but for their times, ids and signatures.
    for received in receiver.received() {
        assert_eq!(received.header("webhook-test"), "true");
        assert!(received.header("webhook-id").starts_with("test-"), "{received:?}");
        assert_eq!((received.method.as_str(), received.path()), (method, "/cb"));
    }
}

#[test]
fn the_report_has_the_bytes_that_were_received_and_the_texts_that_were_signed() {
    let signpost = demo();
    for (number, method) in ["GET", "POST"].into_iter().enumerate() {
        let receiver = Receiver::start();
        let url = format!("{}/cb?key=1", receiver.base());
        let (id, app) = (format!("tester-bytes-{number}"), format!("791004{number:02}"));
        let report = Tester::with(&signpost, &id, &app, &callback(&url, method)).test("both");
        let received = receiver.wait(1).remove(0);
        let request = &report["request"];
        assert_eq!(request["method"], method);
        assert_eq!(request["url"], format!("{}{}", receiver.base(), received.target));
        assert_eq!(request["body"].as_str().unwrap_or_default(), received.body);
        for (name, value) in request["headers"].as_object().unwrap() {
            assert_eq!(received.header(name), value, "{name}");
        }
        let id = received.header("webhook-id");
        let content = request["signed_content"][0]["content"].as_str().unwrap();
        let payload = if method == "GET" { received.query() } else { &received.body };
        assert_eq!(content, format!("{id}.{}.{payload}", received.header("webhook-timestamp")));
        assert!(verifies(SECRET, &received));
    }
}

#[test]
fn no_secret_is_shown_whatever_the_receiver_answers() {
    let signpost = demo();
    let encoded = LEGACY_SECRET.replace('/', "%2F").replace('+', "%2B");
    let bare = SECRET.trim_start_matches("whsec_");
    let said = [SECRET, OTHER_SECRET, LEGACY_SECRET, &encoded, bare].join(" ");
    for (number, method) in ["GET", "POST"].into_iter().enumerate() {
        let receiver = Receiver::start();
        let elsewhere = format!("/cb?{}", said.replace(' ', "&"));
        receiver.set(Behaviour::answer(302, &[("Location", &elsewhere)], &said));
        let url = format!("{}/cb?key={SECRET}&old={encoded}", receiver.base());
        let mut callback = callback(&url, method);
        callback["previous_secret"] = json!(OTHER_SECRET);
        callback["legacy_md5"] = json!({ "secret": LEGACY_SECRET });
        let (id, app) = (format!("tester-secrets-{number}"), format!("791005{number:02}"));
        let tester = Tester::with(&signpost, &id, &app, &callback);
        let mut answers = vec![tester.test("both").to_string()];
        answers.push(tester.test_again("wrong").to_string());
        let draft = json!({ "callback": { "url": url, "method": method, "events": ["approved"] } });
        let preview = tester.post("preview", &draft).expect(200).json();
        for answer in &answers {
            for secret in said.split(' ') {
                assert!(!answer.contains(secret), "{secret}: {answer}");
            }
            assert!(answer.contains("********"), "{answer}");
        }
        // A preview shows the draft as it was typed, and is signed by none of the secrets.
        assert_eq!(preview["request"]["signed_content"][0]["signature"], "webhook-signature");
        let has_legacy = preview["request"]["signed_content"].to_string().contains("md5");
        assert!(has_legacy, "{preview}");
        assert_eq!(receiver.count(), 2, "a preview sends nothing");
    }
}

#[test]
fn tests_are_limited_for_all_apps_of_a_publisher_and_stand_in_its_audit() {
    let signpost = demo();
    let receiver = Receiver::start();
    let url = format!("{}/cb", receiver.base());
    let tester = Tester::with(&signpost, "tester-rate", "79100600", &callback(&url, "GET"));
    let other = Tester::with(&signpost, "tester-rate-other", "79100601", &callback(&url, "GET"));
    tester.test("both");
    for _ in 0..3 {
        let refused = tester.post("test", &json!({ "sign_with": "wrong" })).expect_error(429, "rate_limit_exceeded");
        let wait: u32 = refused.header("Retry-After").unwrap().parse().unwrap();
        assert!((1..=6).contains(&wait), "{wait}");
    }
    other.test("both");
    assert_eq!(receiver.count(), 2);
    // A body that is refused takes nothing from the rate, and neither does a preview.
    std::thread::sleep(std::time::Duration::from_secs(6));
    for wrong in [json!({ "sign_with": "none" }), json!({ "sign_with": "both", "url": url })] {
        tester.post("test", &wrong).expect(400);
    }
    tester.post("preview", &json!({ "callback": { "url": url, "method": "GET" } })).expect(200);
    tester.test("wrong");
    let audit = tester.developer.get("audit").expect(200).json();
    let tested: Vec<_> = audit["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["action"] == "callback_tested")
        .map(|entry| (entry["by"].clone(), entry["subject"].clone(), entry["detail"].clone()))
        .collect();
    let row = |detail: &str| (json!("The developer"), json!("79100600"), json!(detail));
    assert_eq!(tested, [row("wrong"), row("both")]);
}

#[test]
fn a_test_mints_no_reward_and_nobody_chooses_its_ids() {
    let signpost = demo();
    let receiver = Receiver::start();
    let url = format!("{}/cb", receiver.base());
    let tester = Tester::with(&signpost, "tester-mint", "79100700", &callback(&url, "POST"));
    for more in ["user_id", "transaction_id", "url", "value", "status"] {
        let body = json!({ "sign_with": "both", more: "u-1" });
        tester.post("test", &body).expect_error(400, "unknown_field");
    }
    assert_eq!(receiver.count(), 0);
    tester.test("both");
    let body: Value = serde_json::from_str(&receiver.wait(1)[0].body).unwrap();
    assert_eq!(body["user_id"], "signpost-test");
    assert!(body["transaction_id"].as_str().unwrap().starts_with("test-"));
    assert_eq!(tester.wall.entries(""), [] as [Value; 0]);
}

#[test]
fn an_app_without_a_callback_and_one_of_another_publisher_are_not_tested() {
    let signpost = demo();
    let receiver = Receiver::start();
    let none = Tester::new(&signpost, "tester-none", "79100800");
    let url = format!("{}/cb", receiver.base());
    let theirs = Tester::with(&signpost, "tester-theirs", "79100801", &callback(&url, "GET"));
    let sign = json!({ "sign_with": "both" });
    none.post("test", &sign).expect_error(409, "no_callback");
    let draft = json!({ "callback": { "url": url, "method": "GET" } });
    for (path, body) in [("test", &sign), ("preview", &draft)] {
        let bodies = [theirs.wall.app.as_str(), "79100899", "0", "a%2Fb"].map(|app| {
            none.developer.post(&format!("apps/{app}/callback/{path}"), body).expect_error(404, "not_found").body
        });
        assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
    }
    assert_eq!(receiver.count(), 0);
}

#[test]
fn a_url_that_is_no_longer_allowed_is_not_called() {
    let mut signpost = Setup::new().start();
    let receiver = Receiver::start();
    let url = format!("{}/cb", receiver.base());
    Tester::with(&signpost, "tester-guard", "79100900", &callback(&url, "GET"));
    signpost.restart_with("ALLOW_PRIVATE_CALLBACKS", "false");
    let publisher = signpost.existing_publisher("tester-guard");
    let developer = signed_in(&signpost, &publisher, "developer");
    let body = json!({ "sign_with": "both" });
    let report = developer.post("apps/79100900/callback/test", &body).expect(200).json();
    assert_eq!(report["error"], json!({ "code": "forbidden" }), "{report}");
    assert_eq!(receiver.count(), 0);
    for url in [url.as_str(), "https://localhost:8787/cb", "https://10.0.0.1/cb", "https://t.signpost.example/cb"] {
        let draft = json!({ "callback": { "url": url, "method": "GET" } });
        let refused = developer.post("apps/79100900/callback/preview", &draft);
        refused.expect_error(400, "invalid_field");
    }
}

#[test]
fn a_preview_shows_the_request_of_a_draft_and_refuses_what_could_not_be_sent() {
    let signpost = demo();
    let tester = Tester::new(&signpost, "tester-preview", "79101000");
    let preview = |callback: Value| tester.post("preview", &json!({ "callback": callback }));
    let draft = |url: &str, method: &str| json!({ "url": url, "method": method });
    let shown =
        preview(draft("https://hooks.example/r?u={user_id}&t=[transaction_id]&v={value}", "GET")).expect(200).json();
    let url = shown["request"]["url"].as_str().unwrap();
    assert!(url.starts_with("https://hooks.example/r?u=signpost-test&t=[transaction_id]&v=1250&ts="), "{url}");
    assert_eq!(codes(&shown, "problem"), ["no_transaction_id", "foreign_placeholder"]);
    assert_eq!(shown["findings"][3]["subject"], "[transaction_id]", "{shown}");
    let post = preview(draft("https://hooks.example/r", "POST")).expect(200).json();
    let body: Value = serde_json::from_str(post["request"]["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["app_id"], "79101000");
    assert_eq!(codes(&post, "ok"), ["sends_all_fields"]);
    for (url, method, words) in [
        ("https://hooks.example/r?u={user}", "GET", "unknown macro {user}"),
        ("https://hooks.example/r?u={user_id}", "POST", "must not have macros if the method is POST"),
        ("https://hooks.example/r?signature=1", "GET", "parameter signature"),
        ("https://hooks.example:22/r", "GET", "port"),
        ("ftp://hooks.example/r", "GET", "must be an http or https URL"),
    ] {
        let refused = preview(draft(url, method)).expect_error(400, "invalid_field");
        let error = refused.json()["error"].as_str().unwrap().to_owned();
        assert!(error.starts_with("callback.url: ") && error.contains(words), "{error}");
    }
    let mut twice = draft("https://hooks.example/r", "GET");
    twice["events"] = json!(["approved", "approved"]);
    preview(twice).expect_error(400, "invalid_field");
    let mut secret = draft("https://hooks.example/r", "GET");
    secret["secret"] = json!(SECRET);
    preview(secret).expect_error(400, "unknown_field");
}

#[test]
fn a_member_switches_on_an_endpoint_that_switched_itself_off() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("tester-enable", "79000290", Some(&receiver));
    let publisher = signpost.existing_publisher("tester-enable");
    let developer = signed_in(&signpost, &publisher, "developer");
    receiver.set(Behaviour::status(410));
    let id = wall.pay("u-1");
    eventually(&json!("disabled"), || wall.endpoint()["state"].clone());
    receiver.set(Behaviour::status(200));
    developer.post("apps/79000290/callback/enable", &json!({})).expect(204);
    eventually(&"delivered".to_owned(), || wall.state(&id));
    // An app without a callback has nothing to switch on.
    wall.put_app(&json!({ "callback": null }));
    developer.post("apps/79000290/callback/enable", &json!({})).expect_error(409, "no_callback");
}
