//! The request log: each logged request writes exactly one line, and no line contains a secret or a user's identity.

use std::{cell::Cell, thread::sleep, time::Duration};

use serde_json::{Value, json};

use crate::{
    faults::inject_faults,
    harness::{
        Behaviour, OPERATOR_TOKEN, OfferWall, Publisher, REPORT, Receiver, SECRET, Setup, Signpost, callback,
        default_setting, eventually_within, now_ms,
    },
};
use domain::model::time::MINUTE_MS;
use platform::log::Line;

/// Part of every value that a user, a publisher or an attacker sends here and that must not be logged.
const NEEDLE: &str = "needle";
const CLICK: &str = "user_id=needle-user@1.x_y&gaid=needle-gaid&idfa=needle-idfa&c1=needle-c1&c2=needle-c2&c3=needle-c3\
    &c4=needle-c4&c5=needle-c5&placement=needle-place";
const RAY: &str = "8f2c1a9b0d3e4f56-FRA";

/// A Signpost whose new log lines are compared with expected ones.
struct Watched<'s> {
    signpost: &'s Signpost,
    /// Secrets, which must not be in the log.
    secrets: Vec<String>,
    /// The number of kinds of requests checked.
    kinds: Cell<usize>,
}

impl Watched<'_> {
    /// The lines about requests and callbacks, without those about faults behind them.
    fn lines(&self) -> Vec<Value> {
        let mut lines = self.signpost.log_lines();
        lines.retain(|line| line["event"] != "fault");
        lines
    }

    /// Fails the test unless `done` causes exactly these lines, in any order. Lines may have more members.
    #[track_caller]
    fn leaves(&self, expected: &[Value], act: impl FnOnce()) {
        // Avoid the end of a minute, at which the sampling of lines starts again.
        let left_ms = MINUTE_MS - now_ms().rem_euclid(MINUTE_MS);
        if left_ms < 4_000 {
            sleep(Duration::from_millis(left_ms.unsigned_abs()));
        }
        let before = self.lines();
        act();
        eventually_within(10_000, &true, || self.lines().len() >= before.len() + expected.len());
        // Surplus lines come before the line of the fence, which is the last.
        let fence = self.signpost.fence();
        let mut lines = self.lines();
        let last = lines.pop().expect("the fence");
        assert_eq!(last["publisher"], fence, "after the fence: {last} in {lines:#?}");
        // Two descriptors are read into one file, so new lines need not be at its end.
        for line in before {
            let at = lines.iter().position(|new| *new == line);
            lines.remove(at.expect("a log that only grows"));
        }
        for expected in expected {
            let matches = |line: &Value| {
                let mut members = expected.as_object().expect("members").iter();
                members.all(|(name, value)| line[name] == *value)
            };
            let at = lines.iter().position(matches);
            let at = at.unwrap_or_else(|| panic!("no {expected} in {lines:#?}"));
            lines.remove(at);
        }
        assert_eq!(lines, Vec::<Value>::new(), "more than {expected:?}");
        self.kinds.set(self.kinds.get() + 1);
    }
}

#[test]
fn each_logged_request_writes_one_line_without_secrets() {
    let receiver = Receiver::start();
    let (signpost, pub_key) = Setup::new().config("faults.capnp").var("CALLBACK_SCHEDULE", "0,1").start_with_fixtures();
    let wall = signpost.offer_wall("watched", "70000001", Some(&receiver));
    let mut secrets = vec![
        NEEDLE.to_owned(),
        OPERATOR_TOKEN.to_owned(),
        SECRET.trim_start_matches("whsec_").to_owned(),
        wall.token.clone(),
        pub_key,
    ];
    for keys in ["CLICK_KEYS", "STORE_KEYS", "EDGE_KEYS", "REPORT_KEY_MAC", "TOKEN_MAC", "ACCOUNT_MAC"] {
        let setting = default_setting(keys);
        secrets.push(setting.rsplit(':').next().expect("a key").to_owned());
    }
    // Wait for the log lines of the setup.
    signpost.fence();
    let mut watched = Watched { signpost: &signpost, secrets, kinds: Cell::new(0) };
    conversions(&mut watched, &wall);
    callbacks(&watched, &wall, &receiver);
    reports(&mut watched, &signpost.existing_publisher("watched"));
    operators(&watched, &wall);
    credentials(&watched);
    outages(&watched, &wall);
    check(&watched);
    let kinds = watched.kinds.get();
    println!("{kinds} kinds of requests, each with exactly its lines, none with a secret");
    assert!(kinds >= 20, "{kinds}");
}

/// Sends a click. Returns the click id, which is added to the secrets.
fn click_id(watched: &mut Watched<'_>, wall: &OfferWall<'_>) -> String {
    let query = format!("rid={}&app={}&{CLICK}", wall.goal("1"), wall.app);
    let location = watched.signpost.click(&query, "DE").expect(302).location().to_owned();
    let (_, id) = location.split_once("clickid=").expect("a click id");
    watched.secrets.push(id.to_owned());
    id.to_owned()
}

fn conversions(watched: &mut Watched<'_>, wall: &OfferWall<'_>) {
    let id = click_id(watched, wall);
    let query = format!("click_id={id}&token={}&txn=needle-txn", wall.token);
    let convert = |more: &str| {
        let headers = [("cf-ray", RAY)];
        watched.signpost.get(&format!("/v2/tracking/conversion?{query}{more}"), &headers)
    };
    let route = "/v2/tracking/conversion";
    let paid = json!({"event": "conversion", "level": "info", "route": route, "method": "GET", "ray": RAY,
        "status": 200, "outcome": "approved", "duplicate": false, "app": "70000001", "offer": "watched"});
    watched.leaves(&[paid], || drop(convert("").expect(200)));
    let again = json!({"event": "conversion", "outcome": "approved", "duplicate": true});
    watched.leaves(&[again], || drop(convert("").expect(200)));
    let unknown = json!({"event": "conversion", "outcome": "refused", "status": 400, "code": "unknown_goal",
        "app": "70000001"});
    watched.leaves(&[unknown], || drop(convert("&goal=needle-goal").expect(400)));
    // At most 10 lines a minute for a known offer, and 1 for requests that anybody can send.
    let wrong = json!({"event": "refused", "level": "warn", "status": 401, "code": "invalid_token",
        "app": "70000001", "offer": "watched"});
    watched.leaves(&vec![wrong; 10], || {
        for _ in 0..15 {
            let query = format!("click_id={id}&token=needle-token");
            watched.signpost.convert(&query).expect_error(401, "invalid_token");
        }
    });
    let junk = json!({"event": "conversion", "outcome": "refused", "status": 400, "code": "invalid_click_id"});
    watched.leaves(&[junk], || {
        for _ in 0..5 {
            let query = format!("click_id=needle{id}&token={}", wall.token);
            watched.signpost.convert(&query).expect_error(400, "invalid_click_id");
        }
    });
}

fn callbacks(watched: &Watched<'_>, wall: &OfferWall<'_>, receiver: &Receiver) {
    // A receiver that answers with the request it got, and then one that closes the connection.
    receiver.set(Behaviour::decide(|received| {
        Behaviour::answer(500, &[], &format!("{} {:?} {SECRET}", received.target, received.headers))
    }));
    let transaction_id = std::cell::RefCell::new(String::new());
    let pay = || {
        transaction_id.replace(wall.pay("needle-user"));
    };
    let first = json!({"event": "callback", "level": "warn", "app": "70000001", "offer": "watched", "try": 1,
        "status": 500, "dead": false});
    let last = json!({"event": "callback", "level": "error", "try": 2, "status": 500, "dead": true});
    watched.leaves(&[json!({"event": "conversion"}), first, last], pay);
    let id = transaction_id.take();
    let lines = watched.lines();
    let transaction_lines = lines.iter().filter(|line| line["transaction_id"] == *id);
    assert_eq!(transaction_lines.count(), 3, "all lines of a reward have its transaction id: {lines:#?}");

    receiver.set(Behaviour::Silent);
    let failed = |made: u32| json!({"event": "callback", "try": made, "cause": "connection"});
    watched.leaves(&[json!({"event": "conversion"}), failed(1), failed(2)], pay);
    receiver.set(Behaviour::status(200));
    let replay = json!({"event": "operator", "status": 200, "app": "70000001", "item": id,
        "route": "/v1/operator/apps/{}/conversions/{}/replay"});
    watched.leaves(&[replay], || drop(wall.replay(&id).expect(200)));
    let url = format!("{}/cb?needle=needle", receiver.base());
    let put = json!({"event": "operator", "method": "PUT", "status": 200, "app": "70000001"});
    watched.leaves(&[put], || wall.put_app(&json!({"callback": callback(&url, "POST")})));
}

fn reports(watched: &mut Watched<'_>, publisher: &Publisher<'_>) {
    let signpost = watched.signpost;
    let keys = [publisher.create_key("needle-label"), publisher.create_key("other")];
    watched.secrets.extend(keys.iter().map(|key| key.api_key.clone()));
    signpost.fence();
    let body = json!({"date_range": {"start_date": "2026-11-01", "end_date": "2026-11-02"},
        "dimensions": ["date"], "metrics": ["clicks"]});
    let ask = |key: &str, body: &[u8]| {
        let headers = [("X-Api-Key", key), ("Content-Type", "application/json"), ("cf-ray", RAY)];
        signpost.send("POST", REPORT, &headers, body)
    };
    let body = body.to_string();
    let empty = json!({"event": "report", "level": "info", "publisher": "watched", "status": 204, "rows": 0,
        "ray": RAY, "key": domain::model::credentials::fingerprint(&keys[0].api_key)});
    watched.leaves(&[empty], || drop(ask(&keys[0].api_key, body.as_bytes()).expect(204)));
    let limited = json!({"event": "report", "status": 429, "code": "rate_limit_exceeded", "publisher": "watched"});
    watched.leaves(&[limited], || {
        for _ in 0..5 {
            let answer = ask(&keys[0].api_key, body.as_bytes()).expect_error(429, "rate_limit_exceeded");
            assert!(answer.header("Retry-After").is_some() && answer.header("RateLimit").is_some(), "{answer:?}");
        }
    });
    let wrong = json!({"event": "report", "status": 400, "code": "invalid_json", "publisher": "watched"});
    watched.leaves(&[wrong], || drop(ask(&keys[1].api_key, b"{\"needle").expect(400)));
    let revoked = json!({"event": "operator", "method": "DELETE", "status": 204, "item": keys[1].id});
    watched.leaves(&[revoked], || publisher.revoke_key(&keys[1]));
    let refused = json!({"event": "refused", "status": 401, "code": "invalid_api_key", "publisher": "watched"});
    let guessed = json!({"event": "refused", "status": 401, "code": "invalid_api_key", "publisher": null});
    watched.leaves(&[refused, guessed], || {
        ask(&keys[1].api_key, body.as_bytes()).expect_error(401, "invalid_api_key");
        ask("sk_needle_needle_needle", body.as_bytes()).expect_error(401, "invalid_api_key");
    });
}

fn operators(watched: &Watched<'_>, wall: &OfferWall<'_>) {
    let signpost = watched.signpost;
    let erased = json!({"event": "operator", "method": "POST", "status": 200, "app": "70000001",
        "route": "/v1/operator/apps/{}/erase_user"});
    watched.leaves(&[erased], || drop(wall.erase("needle-user")));
    let import = json!({"event": "operator", "status": 400, "route": "/v1/operator/import"});
    watched.leaves(&[import], || {
        let line = format!("{{\"kind\":\"app\",\"id\":\"needle\",\"needle\":\"needle\",\"secret\":\"{SECRET}\"}}");
        signpost.import(&line).expect(400);
    });
    let bad = json!({"event": "operator", "method": "PUT", "status": 400, "offer": "o-1", "code": "unknown_field"});
    watched.leaves(&[bad], || {
        let body = json!({"needle": SECRET});
        signpost.operator("PUT", "offers/o-1", Some(&body)).expect(400);
    });
    // A secret where an id should be.
    let lost = json!({"event": "operator", "method": "DELETE", "status": 404, "advertiser": null, "item": null});
    watched.leaves(&[lost], || {
        let path = format!("advertisers/watched/token/{}", wall.token);
        signpost.operator("DELETE", &path, None).expect(404);
    });
    let junk = json!({"event": "operator", "method": "PUT", "publisher": "watched", "code": "invalid_facts"});
    watched.leaves(&[junk], || {
        let facts = signpost.existing_publisher("watched").put_facts("2026-11-01", "needle\nneedle\n");
        facts.expect(400);
    });
}

fn credentials(watched: &Watched<'_>) {
    let signpost = watched.signpost;
    let operator = json!({"event": "refused", "code": "invalid_operator_token", "route": "/v1/operator/apps/{}"});
    watched.leaves(&[operator], || {
        for _ in 0..3 {
            let headers = [("Authorization", "Bearer needle-operator"), ("cf-ray", "needle-ray")];
            signpost.send("PUT", "/v1/operator/apps/70000001", &headers, b"{}").expect(401);
        }
    });
    let pub_key = json!({"event": "refused", "code": "invalid_credentials", "route": "/v1/offer/api"});
    watched.leaves(&[pub_key], || {
        for _ in 0..3 {
            let body = json!({"page": 1, "size": 1});
            signpost.offers("70000001", "needle-pub-key", &body).expect(401);
        }
    });
    // Clicks, offers and the operator's reads write no line, refused or not.
    watched.leaves(&[], || {
        for _ in 0..3 {
            signpost.click("rid=410271&app=10000001&user_id=needle", "DE").expect(302);
            signpost.click("rid=needle&app=10000001&user_id=needle", "DE").expect(404);
            signpost.operator("GET", "apps/70000001", None).expect(200);
            signpost.operator("GET", "apps/needle", None).expect(404);
            signpost.get("/needle", &[]).expect(404);
        }
    });
}

fn outages(watched: &Watched<'_>, wall: &OfferWall<'_>) {
    let signpost = watched.signpost;
    inject_faults(signpost, "outboxes");
    let conversion = json!({"event": "conversion", "level": "error", "outcome": "unavailable", "status": 503,
        "code": "unavailable", "app": "70000001"});
    watched.leaves(&[conversion], || {
        wall.convert(&wall.click_id("needle"), "").expect_error(503, "unavailable");
    });
    inject_faults(signpost, "catalog");
    let change = json!({"event": "operator", "level": "error", "method": "PUT", "status": 503});
    watched.leaves(&[change], || drop(wall.try_put_app(&json!({})).expect(503)));
    let read = json!({"event": "request", "level": "error", "method": "GET", "status": 503});
    watched.leaves(&[read], || drop(signpost.operator("GET", "apps", None).expect(503)));
    inject_faults(signpost, "counters");
    // A failure for everybody is frequent: at most 10 lines of a kind in a minute.
    let click = json!({"event": "request", "level": "error", "status": 503, "route": "/v2/tracking/click"});
    watched.leaves(&vec![click; 10], || {
        for _ in 0..30 {
            signpost.click("rid=606012&app=10000003&user_id=needle", "DE").expect(503);
        }
    });
    inject_faults(signpost, "");
    let faults = signpost.log_lines();
    let click_faults = faults.iter().filter(|line| line["where"] == "click").count();
    assert_eq!(click_faults, 10, "faults are logged 10 times a minute, too");
    assert!(faults.iter().any(|line| line["where"] == "objects" && line["what"].is_string()));
}

#[track_caller]
fn check(watched: &Watched<'_>) {
    let log = watched.signpost.log();
    for secret in &watched.secrets {
        let shown = log.lines().find(|line| line.contains(secret.as_str()));
        assert_eq!(shown, None, "{secret} is in the log");
    }
    for line in watched.signpost.log_lines() {
        for name in line.as_object().expect("an object").keys() {
            assert!(Line::FIELDS.contains(&name.as_str()), "{name} is not a field: {line}");
        }
        let level = line["level"].as_str().expect("a level");
        assert!(["info", "warn", "error"].contains(&level) && line["ts"].is_i64(), "{line}");
    }
    let others = log.lines().filter(|line| line.contains("\"level\"") && !line.starts_with("{\"ts\":"));
    assert_eq!(others.count(), 0, "a line is split: {log}");
}
