//! The fast path answers like the ordinary path: the same random requests are sent to both.

use std::cell::Cell;

use proptest::{
    prelude::*,
    sample::select,
    test_runner::{Config, TestRunner},
};
use serde_json::{Value, json};

use crate::harness::{self, ANDROID_APP, Answer, Setup, Signpost, click_keys, eventually};
use domain::tracking::{
    click::Click,
    click_id::{self, Opened},
    keys::KeyRing,
};

const CLICKS: u32 = 400;
const COLD_CLICKS: u32 = 40;
const PAGES: u32 = 150;

/// Queries of every kind: live, capped, paused and unknown goals, apps of each platform, and texts that are encoded,
/// too long, empty, repeated or not allowed.
fn query(live: Vec<String>) -> impl Strategy<Value = String> {
    let goals = goals();
    let text = || {
        prop_oneof![
            40 => "[A-Za-z0-9_@.-]{1,40}",
            10 => "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            10 => "[0-9]{1,20}",
            1 => "[a-z]{100,140}",
            1 => Just("{user_id}".to_owned()),
            2 => select(vec!["null", "(null)", "0", "__C1__", "%c1%", "%257Bc1%257D"]).prop_map(str::to_owned),
            1 => "%[0-9a-f]{0,2}[a-z%+/ é]{0,4}",
            1 => Just(String::new()),
        ]
    };
    let more = ["c1", "c2", "c3", "c4", "c5", "gaid", "idfa", "placement", "utm"];
    (
        prop_oneof![12 => select(live), 5 => select(goals), 1 => "[0-9]{1,6}"],
        prop_oneof![9 => select(vec!["10000001", "10000001", "10000001", "10000002", "10000003", "10000004"]), 1 => Just("99999999"), 1 => Just("x")],
        text(),
        proptest::collection::vec((select(more.to_vec()), text()), 0..4),
    )
        .prop_map(|(rid, app, user_id, more)| {
            let mut query = format!("rid={rid}&app={app}&user_id={user_id}");
            for (name, value) in more {
                query.push_str(&format!("&{name}={value}"));
            }
            query.replace(' ', "+").replace('é', "%C3%A9")
        })
}

/// The goal that a tracking URL names.
fn rid(tracking_url: &Value) -> String {
    let (_, rest) = tracking_url.as_str().unwrap().split_once("rid=").unwrap();
    rest.split('&').next().unwrap().to_owned()
}

/// Every goal of the fixtures.
fn goals() -> Vec<String> {
    let catalog = include_str!("../../fixtures/catalog.ndjson");
    let goals = catalog.lines().flat_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let goals = line["goals"].as_array().cloned().unwrap_or_default();
        goals.into_iter().map(|goal| goal["id"].as_str().unwrap().to_owned())
    });
    let goals: Vec<_> = goals.collect();
    assert!(goals.len() > 100);
    goals
}

fn headers() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let agents = [
        "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/129.0.0.0 Mobile Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Gecko/20100101 Firefox/131.0",
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        "okhttp/4.12",
        "",
    ];
    let maybe = |name: &'static str, values: Vec<&'static str>| {
        proptest::option::of(select(values)).prop_map(move |value| value.map(|value| (name, value.to_owned())))
    };
    (
        maybe("CF-IPCountry", vec!["DE", "DE", "DE", "US", "US", "JP", "de", "XX", "T1", "ZZ", ""]),
        maybe("User-Agent", agents.to_vec()),
        maybe("Sec-Purpose", vec!["prefetch", "prefetch;prerender", "", "x"]),
        maybe("Purpose", vec!["prefetch", "navigate"]),
        maybe("X-Purpose", vec!["preview", "x"]),
        maybe("X-Moz", vec!["prefetch", "x"]),
        maybe("Accept", vec!["text/html,*/*", "application/json"]),
    )
        .prop_map(|(country, agent, sec_purpose, purpose, x_purpose, x_moz, accept)| {
            [country, agent, sec_purpose, purpose, x_purpose, x_moz, accept].into_iter().flatten().collect()
        })
}

/// An answer without the parts that differ between any two clicks: nonce and time.
#[derive(Debug, PartialEq)]
struct Comparable {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
    click: Option<Click<'static>>,
}

fn comparable(keys: &KeyRing, answer: &Answer) -> Comparable {
    let mut headers = comparable_headers(answer);
    let mut click = None;
    for (_, value) in headers.iter_mut().filter(|(name, _)| name == "location") {
        // In a `referrer` the equals sign before the click id is encoded.
        let decoded = value.replace("%3D", "=");
        let is_id = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
        let parts = decoded.split(|character| !is_id(character)).map(str::to_owned);
        for id in parts.filter(|part| click_id::is_in_form(part)).collect::<Vec<_>>() {
            *value = value.replace(&id, "{click_id}");
            click = match click_id::open(keys, &id) {
                Ok(Opened::Whole { click, .. }) => Some(Click { clicked_at_ms: 0, ..click }),
                Ok(Opened::Short { .. }) => None,
                Err(error) => panic!("{error:?} of {id}"),
            };
        }
    }
    Comparable { status: answer.status, headers, body: answer.body.clone(), click }
}

/// The number of answers of a kind in all, and of those on the fast path.
fn answer_counts(signpost: &Signpost, base: &str, kind: &str) -> (u64, u64) {
    let count = |name| signpost.metric_at(base, &format!("signpost_isolate_{name}_total{{what=\"{kind}\"}}"));
    (count("answered"), count("fast_path"))
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() })
}

fn comparable_headers(answer: &Answer) -> Vec<(String, String)> {
    let mut headers = answer.headers();
    headers.retain(|(name, _)| name != "date");
    headers.sort();
    headers
}

/// The goals that Germany is offered.
fn live_goals(signpost: &Signpost, pub_key: &str) -> Vec<String> {
    let in_germany = json!([{"dim": "country", "match": {"type": "any", "value": ["DE"]}}]);
    let offers = signpost.list(ANDROID_APP, pub_key, &in_germany);
    offers.iter().map(|offer| rid(&offer["trk_url"])).collect()
}

/// One offer has few clicks a day, and only one path would get the last. So both isolates use up its cap first.
fn use_up_cap(signpost: &Signpost) {
    for base in [signpost.base(), signpost.control()] {
        let capped = format!("{base}/v2/tracking/click?rid=606012&app=10000002&user_id=u");
        while signpost.get(&capped, &[]).status == 302 {}
    }
}

/// The answers to the same click: from the edge's entry, then from the ordinary path.
fn both_answers(signpost: &Signpost, query: &str, headers: &[(&'static str, String)]) -> [Comparable; 2] {
    let keys = click_keys();
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    [signpost.base(), signpost.control()].map(|base| {
        let answer = signpost.get(&format!("{base}/v2/tracking/click?{query}"), &headers);
        comparable(&keys, &answer)
    })
}

#[test]
fn both_paths_redirect_alike() {
    let (signpost, pub_key) = Setup::new().config("ordinary_path.capnp").start_with_fixtures();
    let live = live_goals(&signpost, &pub_key);
    use_up_cap(&signpost);
    let (before, _) = answer_counts(&signpost, &signpost.base(), "redirect");
    let compared = runner(CLICKS).run(&(query(live), headers()), |(query, headers)| {
        let [fast, ordinary] = both_answers(&signpost, &query, &headers);
        prop_assert_eq!(fast, ordinary);
        Ok(())
    });
    compared.unwrap();

    let (total, fast) = answer_counts(&signpost, &signpost.base(), "redirect");
    let redirected = total - before;
    assert!(redirected > u64::from(CLICKS) / 10, "{redirected} of {CLICKS} were redirects");
    assert!(fast > redirected / 2, "{fast} of {redirected} took the fast path");
    assert_eq!(answer_counts(&signpost, &signpost.control(), "redirect"), (redirected, 0));
}

#[test]
fn the_first_click_of_an_isolate_is_answered_like_the_ordinary_path() {
    let (signpost, pub_key) = Setup::new().config("ordinary_path.capnp").start_with_fixtures();
    let live = live_goals(&signpost, &pub_key);
    use_up_cap(&signpost);
    let fast = Cell::new(0);
    // Each starts workerd again, so that the click finds nothing in memory.
    let compared = runner(COLD_CLICKS).run(&(query(live), headers()), |(query, headers)| {
        signpost.restart();
        let [cold, ordinary] = both_answers(&signpost, &query, &headers);
        prop_assert_eq!(cold, ordinary);
        let (_, on_fast_path) = answer_counts(&signpost, &signpost.base(), "redirect");
        fast.set(fast.get() + on_fast_path);
        Ok(())
    });
    compared.unwrap();
    let fast = fast.get();
    assert!(
        // Few of so few random clicks are redirects.
        fast > 0,
        "{fast} of {COLD_CLICKS} took the fast path"
    );
}

#[test]
fn clicks_of_a_cold_isolate_take_the_fast_path() {
    let (signpost, _) = Setup::new().start_with_fixtures();
    let redirects = |signpost: &Signpost| answer_counts(signpost, &signpost.base(), "redirect");
    signpost.restart();
    assert_eq!(redirects(&signpost), (0, 0));
    // The second click needs other shards, or another place in the same ones.
    for (number, query) in [(1, "rid=410271&app=10000001"), (2, "rid=57880&app=10000002")] {
        signpost.click(&format!("{query}&user_id=u"), "DE").expect(302);
        assert_eq!(redirects(&signpost), (number, number), "{query}");
    }
    // An unknown goal also loads shards, and is then refused as on the ordinary path.
    signpost.click("rid=1&app=10000001&user_id=u", "DE").expect(404);
    assert_eq!(redirects(&signpost), (2, 2));
}

/// The clicks in the counters' logs, before they are folded.
fn clicks_counted(signpost: &Signpost) -> i64 {
    let sql = "SELECT COALESCE(SUM(value ->> 1), 0) FROM flushes, json_each(sums)";
    let sums = signpost.stored("signpost-counters", sql, |row| row.get::<_, i64>(0));
    sums.iter().sum()
}

#[test]
fn many_first_clicks_at_once_are_redirected() {
    let (signpost, _) = Setup::new().start_with_fixtures();
    signpost.restart();
    let click = |user: u32| {
        let query = format!("rid=410271&app=10000001&user_id=u{user}");
        signpost.click(&query, "DE").expect(302);
    };
    // More than read KV by themselves.
    std::thread::scope(|scope| (0..40).for_each(|user| drop(scope.spawn(move || click(user)))));
    eventually(&40, || clicks_counted(&signpost));
}

#[test]
fn clicks_on_the_fast_path_are_counted() {
    let (signpost, _) = Setup::new().start_with_fixtures();
    for user in 0..50 {
        let query = format!("rid=410271&app=10000001&user_id=u{user}");
        signpost.click(&query, "DE").expect(302);
    }
    let (redirected, fast) = answer_counts(&signpost, &signpost.base(), "redirect");
    assert!(redirected == 50 && fast >= 49, "{fast} of {redirected}");
    eventually(&50, || clicks_counted(&signpost));
}

/// Requests for pages, mostly valid and often repeated: body, app, media type, and whether the Pub-Key is right.
fn pages() -> impl Strategy<Value = (String, &'static str, &'static str, bool)> {
    let filter = prop_oneof![
        4 => select(vec!["DE", "us", "JP", "QQ"]).prop_map(|value| json!({"dim": "country", "match": {"type": "any", "value": [value]}})),
        2 => select(vec!["android", "ios", "web", "x"]).prop_map(|value| json!({"dim": "platform", "match": {"type": "exact", "values": [value]}})),
        1 => Just(json!({"dim": "offer_id", "match": {"type": "any", "value": ["23817", "nothing"]}})),
        1 => Just(json!({"dim": "x"})),
    ];
    let body = (0..4_u32, select(vec![1_u32, 2, 20, 1_000, 1_001]), proptest::collection::vec(filter, 0..3))
        .prop_map(|(page, size, filt)| json!({"page": page, "size": size, "filt": filt}).to_string());
    let body = prop_oneof![
        12 => body,
        1 => Just(String::new()),
        1 => Just("{\"page\":1".to_owned()),
        1 => Just(format!("{{\"page\":1,\"size\":1,\"filt\":[],\"x\":\"{}\"}}", "x".repeat(70_000))),
    ];
    (
        body,
        prop_oneof![9 => select(vec!["10000001", "10000002", "10000003"]), 1 => Just("10000004"), 1 => Just("")],
        prop_oneof![9 => Just("application/json"), 1 => Just("Application/JSON; charset=utf-8"), 1 => Just("text/csv")],
        prop_oneof![9 => Just(true), 1 => Just(false)],
    )
}

#[test]
fn both_paths_return_the_same_page() {
    let (signpost, pub_key) = Setup::new().config("ordinary_path.capnp").var("OFFERS_RATE", "0").start_with_fixtures();
    let compared = runner(PAGES).run(&pages(), |(body, app, media_type, has_key)| {
        let pub_key = if has_key { pub_key.as_str() } else { "pk_of_nobody" };
        let headers = [("App-Id", app), ("Pub-Key", pub_key), ("Content-Type", media_type)];
        let [fast, ordinary] = [signpost.base(), signpost.control()].map(|base| {
            let answer = signpost.send("POST", &format!("{base}/v1/offer/api"), &headers, body.as_bytes());
            let mut headers = comparable_headers(&answer);
            // `max-age` may be a second less in the later answer.
            headers.retain(|(name, value)| name != "cache-control" || value == "no-store");
            (answer.status, headers, answer.body)
        });
        prop_assert_eq!(fast, ordinary);
        Ok(())
    });
    compared.unwrap();

    let (total, fast) = answer_counts(&signpost, &signpost.base(), "offers");
    assert!(total > u64::from(PAGES) / 10, "{total} of {PAGES} were pages");
    assert!(fast > total / 2, "{fast} of {total} took the fast path");
    assert_eq!(answer_counts(&signpost, &signpost.control(), "offers"), (total, 0));
}

/// The answer to these bytes, without the headers that depend on the time.
fn answer_to(base: &str, request: &str) -> String {
    let answer = harness::answer_to(base, request.as_bytes());
    let lines = answer.lines().filter(|line| !line.starts_with("Cache-Control: private"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn both_paths_answer_odd_requests_alike() {
    let (signpost, pub_key) = Setup::new().config("ordinary_path.capnp").start_with_fixtures();
    let body = r#"{"page":1,"size":1,"filt":[]}"#;
    let post = |path: &str, host: &str, length: usize, body: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nApp-Id: {ANDROID_APP}\r\nPub-Key: {pub_key}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
    };
    let offers = "/v1/offer/api";
    for (request, status) in [
        (post(offers, "o.example", body.len(), body), "200"),
        (post("/x/../v1/offer/api", "o.example", body.len(), body), ""),
        (post("/x/v1/offer/api", "o.example", body.len(), body), "404"),
        (post("/v1/offer/api?", "o.example", body.len(), body), "200"),
        (post("/v1/operator/import?/v1/offer/api", "o.example", body.len(), body), "421"),
        (post(offers, "O.EXAMPLE:80", body.len(), body), "200"),
        (post(offers, "[::", body.len(), body), ""),
        (post(offers, "", body.len(), body), ""),
        (post(offers, "o.example", 0, ""), "400"),
    ] {
        let [fast, ordinary] = [signpost.base(), signpost.control()].map(|base| answer_to(&base, &request));
        assert_eq!(fast, ordinary, "{request}");
        assert!(fast.starts_with("HTTP/1.1 ") && fast[9..].starts_with(status), "{request}\n{fast}");
    }
    // A truncated body does not affect the next request.
    for base in [signpost.base(), signpost.control()] {
        answer_to(&base, &post(offers, "o.example", 500, body));
        let whole = answer_to(&base, &post(offers, "o.example", body.len(), body));
        assert!(whole.starts_with("HTTP/1.1 200"), "{whole}");
    }
}
