//! `GET /healthz`: the status of each host for a load balancer, during outages of its dependencies and after them.

use std::cell::Cell;

use serde_json::{Value, json};

use crate::{
    faults::inject_faults,
    harness::{
        Answer, CONVERSION, OfferWall, REPORT, Setup, Signpost, away_from_publication, default_setting,
        eventually_within, now_ms,
    },
};
use contract::kv;
use domain::{
    conversions::token::{self, Serial},
    model::{
        PublisherId,
        mac::MacKeys,
        time::{DAY_MS, SECOND_MS},
    },
    reporting::keys,
};

const TRACKING: &str = "track.example.com";
const OFFERS: &str = "offers.example.com";
const REPORTING: &str = "reporting.example.com";
const OPERATOR: &str = "127.0.0.1";

/// A Signpost with a host for each interface, as in production, whose isolate revalidates its snapshots on every
/// request.
fn setup() -> Setup {
    Setup::new()
        .config("faults.capnp")
        .var("REVALIDATE_SECONDS", "0")
        .var("TRACKING_HOST", TRACKING)
        .var("OFFERS_HOST", OFFERS)
        .var("REPORTING_HOST", REPORTING)
        .var("CONSOLE_URL", "")
        .var("OPERATOR_HOST", OPERATOR)
}

fn ask(signpost: &Signpost, host: &str) -> Answer {
    let answer = signpost.get("/healthz", &[("Host", host)]);
    assert_eq!(answer.header("Cache-Control"), Some("no-store"), "{answer:?}");
    assert_eq!(answer.json()["version"], env!("CARGO_PKG_VERSION"), "{answer:?}");
    let head = signpost.send("HEAD", "/healthz", &[("Host", host)], &[]);
    assert_eq!((head.status, head.body.as_str()), (answer.status, ""), "{head:?}");
    answer
}

/// The statuses of the hosts for tracking, offers, reporting and the operator.
fn statuses(signpost: &Signpost) -> [u16; 4] {
    [TRACKING, OFFERS, REPORTING, OPERATOR].map(|host| signpost.get("/healthz", &[("Host", host)]).status)
}

/// Checks the statuses of the four hosts, and counts the checks.
#[derive(Default)]
struct Hosts {
    states: Cell<usize>,
}

impl Hosts {
    /// Fails the test unless the statuses are as expected now.
    #[track_caller]
    fn check(&self, signpost: &Signpost, expected: [u16; 4]) {
        assert_eq!(statuses(signpost), expected);
        self.states.set(self.states.get() + 1);
    }

    /// Fails the test unless the statuses become as expected within 20 s.
    #[track_caller]
    fn wait_for(&self, signpost: &Signpost, expected: [u16; 4]) {
        eventually_within(20_000, &expected, || statuses(signpost));
        self.states.set(self.states.get() + 1);
    }

    #[track_caller]
    fn report(&self, least: usize) {
        let states = self.states.get();
        println!("{states} states of 4 hosts, all reported correctly");
        assert!(states >= least, "{states}");
    }
}

/// Fails the test unless an interface is reported with these members.
#[track_caller]
fn part(answer: &Answer, name: &str, expected: &Value) {
    let part = &answer.json()["interfaces"][name];
    for (member, value) in expected.as_object().expect("members") {
        assert_eq!(&part[member], value, "{name} in {answer:?}");
    }
}

#[test]
fn each_host_reports_the_interfaces_it_serves_during_and_after_outages() {
    let (signpost, hosts) = (setup().start_with_fixtures().0, Hosts::default());
    hosts.wait_for(&signpost, [200; 4]);
    let tracking = ask(&signpost, TRACKING).expect(200);
    let body = tracking.json();
    assert_eq!((&body["status"], body["snapshot_age_s"].as_i64() < Some(60)), (&json!("ok"), true), "{body}");
    assert_eq!(
        body["interfaces"],
        json!({"clicks": {"served": true}, "conversions": {"served": true}}),
        "a host reports only its own interfaces"
    );
    part(&ask(&signpost, OFFERS), "offers", &json!({"served": true}));

    // Interfaces served from memory go on.
    inject_faults(&signpost, "kv,catalog");
    hosts.wait_for(&signpost, [200, 200, 200, 503]);
    let operator = ask(&signpost, OPERATOR).expect_unhealthy();
    assert!(operator.header("Retry-After").is_some(), "{operator:?}");
    part(&operator, "operator", &json!({"served": false, "why": "catalog_unreachable"}));
    // Their outboxes have the terms.
    part(&ask(&signpost, TRACKING), "conversions", &json!({"served": true}));
    // If a ledger and the catalog do not answer, all objects count as unreachable.
    let report = |publisher: &str, status: u16| {
        let key = issued_key(publisher);
        let headers = [("Host", REPORTING), ("Content-Type", "application/json"), ("X-Api-Key", key.as_str())];
        signpost.send("POST", REPORT, &headers, b"{}").expect(status);
    };
    inject_faults(&signpost, "catalog,ledger");
    report("lumen-arcade", 503);
    hosts.wait_for(&signpost, [200, 200, 503, 503]);
    part(&ask(&signpost, REPORTING), "reports", &json!({"served": false, "why": "objects_unreachable"}));

    // If the catalog answers, one ledger that does not is that publisher's problem; several in a row are an outage.
    inject_faults(&signpost, "ledger");
    hosts.wait_for(&signpost, [200; 4]);
    report("lumen-arcade", 503);
    report("lumen-arcade", 503);
    ask(&signpost, REPORTING).expect(200);
    report("a-second", 503);
    report("a-third", 503);
    part(
        &ask(&signpost, REPORTING).expect_unhealthy(),
        "reports",
        &json!({"served": false, "why": "ledgers_unreachable"}),
    );
    inject_faults(&signpost, "");
    // A ledger answers that the key is unknown.
    report("lumen-arcade", 401);
    hosts.wait_for(&signpost, [200; 4]);
    hosts.report(5);
}

#[test]
fn conversions_are_reported_down_when_the_outboxes_of_several_apps_do_not_answer() {
    let (signpost, hosts) = (setup().start_with_fixtures().0, Hosts::default());
    hosts.wait_for(&signpost, [200; 4]);
    // The app need not exist, since only its outbox knows that.
    let postback = |app: &str| {
        let wall = OfferWall {
            signpost: &signpost,
            app: app.to_owned(),
            id: "silent".to_owned(),
            token: issued_token("silent"),
            token_id: String::new(),
            terms: Default::default(),
            shards: 8,
        };
        let query = format!("click_id={}&token={}", wall.click_id("u-1"), wall.token);
        signpost.get(&format!("{CONVERSION}?{query}"), &[("Host", TRACKING)])
    };
    let conversions = |expected: &Value| part(&ask(&signpost, TRACKING).expect(200), "conversions", expected);
    inject_faults(&signpost, "outboxes");
    for app in ["70000021", "70000022", "70000022"] {
        postback(app).expect_error(503, "unavailable");
        conversions(&json!({"served": true}));
    }
    postback("70000023").expect_error(503, "unavailable");
    conversions(&json!({"served": false, "why": "outboxes_unreachable"}));
    // The host's status depends on clicks alone, because clicks cannot be retried.
    hosts.check(&signpost, [200; 4]);
    inject_faults(&signpost, "");
    postback("70000021").expect_error(400, "invalid_click_id");
    conversions(&json!({"served": true}));
    hosts.report(2);
}

/// A token with a valid MAC. The advertiser need not exist: the snapshot may be older.
fn issued_token(advertiser: &str) -> String {
    let keys = MacKeys::parse(token::SETTING, &default_setting(token::SETTING)).expect("keys");
    token::issue(&keys, advertiser, Serial(now_ms() / SECOND_MS), [7; 8])
}

/// A report key with a valid MAC. The publisher need not exist, since only its ledger knows that.
fn issued_key(publisher: &str) -> String {
    let keys = MacKeys::parse(keys::SETTING, &default_setting(keys::SETTING)).expect("keys");
    let publisher = PublisherId::parse(publisher).expect("a publisher");
    keys::issue(&keys, &publisher, [7; 16])
}

#[test]
fn a_cold_start_without_kv_and_catalog_is_reported_at_once_and_recovers() {
    let (signpost, hosts) = (setup().start_with_fixtures().0, Hosts::default());
    signpost.restart();
    inject_faults(&signpost, "kv,catalog");
    hosts.check(&signpost, [503, 503, 200, 503]);
    part(&ask(&signpost, TRACKING), "clicks", &json!({"served": false, "why": "no_snapshot"}));
    // The operator is told why, by the isolate itself.
    eventually_within(20 * SECOND_MS, &true, || {
        ask(&signpost, TRACKING);
        signpost.reported("unhealthy", Some("no_snapshot")) > 0
    });
    // Health checks alone are enough to recover.
    inject_faults(&signpost, "");
    hosts.wait_for(&signpost, [200; 4]);

    // A hanging dependency delays the answer by a bounded time.
    signpost.restart();
    inject_faults(&signpost, "kv-hangs,catalog");
    let asked_ms = now_ms();
    ask(&signpost, TRACKING).expect_unhealthy();
    assert!(now_ms() - asked_ms < 4_500, "GET and HEAD took {} ms", now_ms() - asked_ms);
    hosts.check(&signpost, [503, 503, 200, 503]);
    inject_faults(&signpost, "");
    hosts.wait_for(&signpost, [200; 4]);
    hosts.report(4);
}

#[test]
fn credentials_need_a_snapshot_confirmed_within_a_day_and_clicks_do_not() {
    let (signpost, hosts) = (setup().start_with_fixtures().0, Hosts::default());
    away_from_publication();
    hosts.wait_for(&signpost, [200; 4]);
    let path = signpost.state.path().join("kv").join(kv::KEY);
    let fresh = std::fs::read(&path).expect("a pointer");
    signpost.restart_after(|| {
        let mut old = kv::Pointer::parse(&fresh).expect("a pointer");
        old.confirmed_at_ms -= DAY_MS + 60_000;
        std::fs::write(&path, old.to_value().expect("a value")).expect("written");
    });
    // The isolate's shards come from KV, too.
    inject_faults(&signpost, "catalog");
    let offers = ask(&signpost, OFFERS).expect_unhealthy();
    part(&offers, "offers", &json!({"served": false, "why": "snapshot_unconfirmed"}));
    assert!(offers.json()["snapshot_age_s"].as_i64() > Some(86_400), "{offers:?}");
    hosts.check(&signpost, [200, 503, 200, 503]);
    let wall = OfferWall {
        signpost: &signpost,
        app: "10000001".to_owned(),
        id: "brindlefox-games".to_owned(),
        token: issued_token("brindlefox-games"),
        token_id: String::new(),
        terms: Default::default(),
        shards: 8,
    };
    let click = wall.click_id("u-1");
    for (token, status, code) in [(&*wall.token, 503, "unavailable"), ("at_made_up", 401, "invalid_token")] {
        let path = format!("{CONVERSION}?click_id={click}&token={token}");
        signpost.get(&path, &[("Host", TRACKING)]).expect_error(status, code);
    }
    signpost
        .get("/v2/tracking/click?rid=410271&app=10000001&user_id=u", &[("Host", TRACKING), ("CF-IPCountry", "DE")])
        .expect(302);
    inject_faults(&signpost, "");
    std::fs::write(&path, fresh).expect("written");
    hosts.wait_for(&signpost, [200; 4]);
    hosts.report(3);
}

#[test]
fn with_a_broken_configuration_no_host_is_served() {
    let signpost = Setup::new().var("CLICK_KEYS", "nonsense").start();
    signpost.get("/healthz", &[]).expect_error(503, "unavailable");
    signpost.get("/v2/tracking/click", &[]).expect_error(500, "internal_error");
    eventually_within(10_000, &true, || {
        signpost.log_lines().iter().any(|line| line["where"] == "configuration" && line["level"] == "error")
    });
    // The edge does not know the token, so it is the origin that says so.
    let without = Setup::new().config("both_workers.capnp").var("OPERATOR_TOKEN", "").start();
    let of_origin = without.get(&format!("{}/healthz", without.control()), &[]);
    assert_eq!(of_origin.json()["old_seals"], 0, "{of_origin:?}");
    part(&of_origin, "operator", &json!({"served": false, "why": "no_operator_token"}));
}
