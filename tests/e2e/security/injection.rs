//! Injection: input that could become part of a URL, a header, a second response, markup, a formula, a parameter or a
//! log line. Values are sent unencoded, byte for byte; correctly encoded ones are tested in `clicks/targets.rs`.

use serde_json::{Value, json};
use standardwebhooks::Webhook;
use url::{Url, form_urlencoded};

use crate::harness::{
    ANDROID_APP, Answer, OPERATOR_TOKEN, Receiver, SECRET, callback, click_keys, demo, encoded, expect_accepted,
    now_ms, seal,
};
use domain::tracking::{click::Click, parameters::NAMES};

/// All parameter names of a click, one of postbacks, and an invalid one.
fn parameters() -> impl Iterator<Item = &'static str> {
    NAMES.into_iter().chain(["click_id", "%0d%0aX-Injected:%20x%0d%0a"])
}

/// Bytes of a request line that no client library would send.
const HOSTILE: [&[u8]; 36] = [
    b"\t",
    b"a\tb",
    b"\x0b\x0c\x7f",
    b"\xff\xfe",
    b"\xc0\xaf\xc0\xafevil.example",
    b"\xe0\x80\xaf",
    b"\xed\xa0\x80",
    "。evil.example".as_bytes(),
    "／／evil.example".as_bytes(),
    "＠evil．example".as_bytes(),
    "\u{202e}elpmaxe.live\u{2066}".as_bytes(),
    "\u{2028}X-Injected: x".as_bytes(),
    "嘊嘍X-Injected: x".as_bytes(),
    b"%c0%af%c0%afevil.example",
    b"%e0%80%8d%e0%80%8aX-Injected:x",
    b"%u002f%u002f",
    b"%EF%BC%8F%EF%BC%8Fevil.example",
    b"%E2%80%AE",
    b"%0d%0a%0d%0aHTTP/1.1%20200%20OK%0d%0a%0d%0a<html>",
    b"%0aX-Injected:%20x",
    b"%250d%250aX-Injected:%20x",
    b"%25250aX",
    b"%00",
    b"%0",
    b"\\\\evil.example\\",
    b"#@evil.example/",
    b"?clickid=forged",
    b";clickid=forged",
    b"..%2f..%2f",
    b"%2e%2e",
    b"..",
    b":99@evil.example",
    b"javascript:alert(1)",
    b"data:text/html,x",
    b"{click_id}",
    b"%25%37%42user_id%25%37%44",
];

/// The parameter names of a query, in order.
fn names(query: &str) -> Vec<String> {
    form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name.into_owned()).collect()
}

#[test]
fn no_byte_of_a_click_becomes_a_header_a_second_response_or_another_part_of_the_url() {
    let signpost = demo();
    let everywhere =
        "https://adv.example:8443/t/x{user_id}/{c1}y?c={click_id}&u={user_id}&g={gaid}&cc={country}#f={c2}";
    let play = "https://play.google.com/store/apps/details?id=com.a.b&referrer=u%3D{user_id}%26c%3D{c1}";
    signpost.put_offer("ta-places", &json!({"target_url": everywhere}));
    signpost.put_offer("ta-play", &json!({"target_url": play}));
    signpost.put_offer("ta-over", &json!({"ends_at": now_ms() / 1_000 - 1}));
    let fallback = "https://fallback.example:8444/gone?a=1#b";
    let app = json!({"publisher_id": "lumen-arcade", "name": "Falls back", "platform": "android", "fallback_url": fallback,
        "currency": {"name": "Coins", "per_usd": 1, "decimals": 0, "rounding": "down"}});
    signpost.put("apps/77000101", &app);
    signpost.refresh();

    let assert_location = |offer: &str, answer: &Answer| {
        let location = answer.location();
        assert!(location.bytes().all(|byte| byte.is_ascii_graphic()), "{answer:?}");
        let url = Url::parse(location).unwrap();
        assert_eq!((url.username(), url.password()), ("", None), "{answer:?}");
        let segments: Vec<_> = url.path_segments().unwrap().collect();
        match offer {
            "ta-places" => {
                assert!(location.starts_with("https://adv.example:8443/t/x"), "{answer:?}");
                assert_eq!(segments.len(), 3, "{answer:?}");
                assert!(segments[2].ends_with('y'), "{answer:?}");
                assert_eq!(names(url.query().unwrap()), ["c", "u", "g", "cc"], "{answer:?}");
                assert!(url.fragment().unwrap().starts_with("f="), "{answer:?}");
            }
            "ta-play" => {
                assert!(
                    location.starts_with("https://play.google.com/store/apps/details?id=com.a.b&referrer="),
                    "{answer:?}"
                );
                assert_eq!(names(url.query().unwrap()), ["id", "referrer"], "{answer:?}");
                // Google Play decodes it once and passes it to the app, which reads it as a query.
                let (_, referrer) = url.query_pairs().nth(1).unwrap();
                assert_eq!(names(&referrer), ["u", "c", "click_id"], "{answer:?}");
                assert_eq!(url.fragment(), None, "{answer:?}");
            }
            _ => assert_eq!(location, fallback, "{answer:?}"),
        }
    };
    let long = [b'a'; 12_000];
    let mut raw = signpost.raw();
    let (mut redirects, mut refused) = (0, 0);
    for value in HOSTILE.into_iter().chain([&long[..]]) {
        for (offer, app) in [("ta-places", ANDROID_APP), ("ta-play", ANDROID_APP), ("ta-over", "77000101")] {
            for name in parameters() {
                let goal = format!("{offer}-g");
                let right = [("rid", goal.as_str()), ("app", app), ("user_id", "u-1")];
                let rest = right.iter().filter(|(known, _)| *known != name);
                let query: String = rest.map(|(name, value)| format!("{name}={value}&")).collect();
                let target = format!("/v2/tracking/click?{query}{name}=");
                let answer = raw.get(&[target.as_bytes(), value].concat());
                let mut headers: Vec<_> = answer.headers().into_iter().map(|(name, _)| name).collect();
                headers.sort();
                if answer.status == 302 {
                    redirects += 1;
                    assert_location(offer, &answer);
                    assert_eq!(
                        headers,
                        ["cache-control", "content-length", "location", "referrer-policy"],
                        "{answer:?}"
                    );
                    assert_eq!(answer.body, "", "{answer:?}");
                } else {
                    refused += 1;
                    assert!([400, 404].contains(&answer.status), "{answer:?}");
                    assert_eq!(headers, ["cache-control", "content-length", "content-type"], "{answer:?}");
                    assert_eq!(answer.header("Content-Type"), Some("application/json"), "{answer:?}");
                    answer.json();
                }
            }
        }
        // A second response to one of the requests would be read here.
        let health = raw.get(b"/healthz").expect(200);
        assert!(health.json().is_object(), "{health:?}");
    }
    println!("{} hostile clicks: {refused} refused, {redirects} redirected to their own offer", refused + redirects);
    assert!(redirects > 300, "{redirects} of the clicks were redirected");
    assert!(refused > 700, "{refused} of the clicks were refused");
}

#[test]
fn no_page_and_no_error_contains_markup_from_a_request() {
    let signpost = demo();
    let markup = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>";
    for name in parameters() {
        for (name, value) in [(name, encoded(markup)), (&*encoded(markup), "%zz".to_owned())] {
            let right = [("rid", "410271"), ("app", ANDROID_APP), ("user_id", "u-1")];
            let rest = right.iter().filter(|(known, _)| *known != name);
            let query: String = rest.map(|(name, value)| format!("{name}={value}&")).collect();
            let address = format!("/v2/tracking/click?{query}{name}={value}");
            let answer = signpost.get(&address, &[("Accept", "text/html"), ("Referer", markup)]);
            if answer.status == 302 {
                continue;
            }
            assert!([400, 404].contains(&answer.status), "{answer:?}");
            assert_eq!(answer.header("Content-Type"), Some("text/html; charset=utf-8"), "{answer:?}");
            assert_eq!(answer.header("X-Content-Type-Options"), Some("nosniff"), "{answer:?}");
            let policy = answer.header("Content-Security-Policy").unwrap_or_default();
            assert!(policy.starts_with("default-src 'none';"), "{answer:?}");
            for part in ["script", "alert", "onerror", "img"] {
                assert!(!answer.body.contains(part), "{answer:?}");
            }
        }
    }
    // All other answers that quote a request are JSON.
    let pub_key = signpost.pub_key();
    let filter = json!({"page": 1, "size": 1, "filt": [{(markup): 1}]});
    let echoes = [
        signpost.offers(ANDROID_APP, &pub_key, &filter).expect_error(400, "invalid_filter"),
        signpost.operator("PUT", "publishers/ta-markup", Some(&json!({"name": "x", "approved": true, (markup): 1}))),
        signpost.operator("PUT", &format!("publishers/{}", encoded(markup)), Some(&json!({}))),
        signpost.import(&json!({"kind": "publisher", "id": markup, "name": 1}).to_string()),
        signpost.get(&format!("/{}", encoded(markup)), &[("Accept", "text/html"), ("Host", "x")]),
        signpost.operator("PUT", &format!("publishers/x/facts/{}", encoded(markup)), None),
    ];
    for answer in echoes {
        assert!(answer.status >= 400, "{answer:?}");
        assert_eq!(answer.header("Content-Type"), Some("application/json"), "{answer:?}");
        assert!(answer.json()["error"].is_string(), "{answer:?}");
    }
}

/// Parses CSV (RFC 4180) into lines of fields.
fn fields(csv: &str) -> Vec<Vec<String>> {
    let (mut lines, mut line, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut characters = csv.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => field.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => line.push(std::mem::take(&mut field)),
            '\r' if !quoted => {
                assert_eq!(characters.next(), Some('\n'), "a line ends in CRLF: {csv}");
                line.push(std::mem::take(&mut field));
                lines.push(std::mem::take(&mut line));
            }
            _ => field.push(character),
        }
    }
    assert!(!quoted && field.is_empty() && line.is_empty(), "the last line is not ended: {csv}");
    lines
}

#[test]
fn a_formula_in_a_report_stays_one_field_as_uploaded() {
    let signpost = demo();
    let publisher = signpost.publisher("ta-formula");
    let mut values = vec![
        "\"=1+1\",\"=2+2\"",
        "+1+1",
        "-2+3",
        "=HYPERLINK(\"https://evil.example\",\"click\")",
        "=cmd|' /C calc'!A0",
        "@SUM(A1:A2)",
        "a,b;c|d",
        "{\"clicks\":9}",
        "\u{202e}evil",
        "'",
    ];
    values.sort_unstable();
    let line = |value: &str| {
        json!({"app_id": "77000102", "country": "DE", "placement_id": value, "ad_tag": "t", "demand_source": "d",
            "sdk_v": "s", "ad_requests": 1, "ad_responses": 1, "impressions": 1, "clicks": 1, "revenue": 0})
        .to_string()
            + "\n"
    };
    let send = |body: &str| {
        let headers = [("Content-Type", "application/x-ndjson")];
        publisher.send_facts("PUT", "facts/2026-01-05", &headers, body.as_bytes())
    };
    let loaded: String = values.iter().map(|value| line(value)).collect();
    send(&loaded).expect(200);
    let query = json!({"date_range": {"start_date": "2026-01-05", "end_date": "2026-01-05"},
        "dimensions": ["placement_id"], "metrics": ["clicks"], "order_by": [{"column": "placement_id", "ascending": true}]});
    let answer = publisher.report_as("text/csv", &query).expect(200);
    let content_type = answer.header("Content-Type").unwrap_or_default();
    assert!(content_type.starts_with("text/csv"), "{answer:?}");
    let found = fields(&answer.body);
    assert_eq!(found[0], ["placement_id", "clicks"]);
    let rows: Vec<_> = found[1..].iter().map(Vec::as_slice).collect();
    assert_eq!(rows, values.iter().map(|value| [*value, "1"]).collect::<Vec<_>>());
    let answer = publisher.report_as("application/x-ndjson", &query).expect(200);
    let found: Vec<Value> = answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected: Vec<_> = values.iter().map(|value| json!({"placement_id": value, "clicks": 1})).collect();
    assert_eq!(found, expected);
    // No value may contain a line break of any kind, so that a row is always one line.
    for value in ["a\nb", "a\rb", "a\u{85}b", "a\u{0}b", "a\u{b}b"] {
        send(&line(value)).expect_error(400, "invalid_facts");
    }
}

#[test]
fn no_request_can_forge_a_line_of_the_log_or_of_the_metrics() {
    let signpost = demo();
    let forged = "\r\n\nforged-line_total 1 \u{2028}{\"level\":\"error\"}";
    let sent = encoded(forged);
    let publisher = signpost.publisher("ta-log");
    let token = format!("Bearer {OPERATOR_TOKEN}");
    for name in parameters() {
        signpost.click(&format!("rid=410271&app={ANDROID_APP}&{name}={sent}"), "DE");
    }
    for name in ["click_id", "tid", "token", "goal", "txn", "status", "x"] {
        signpost.convert(&format!("click_id=x&token=y&{name}={sent}"));
    }
    for path in [
        format!("/{sent}"),
        format!("/v1/operator/apps/{sent}"),
        format!("/v1/operator/apps/{ANDROID_APP}/conversions?cursor={sent}&status={sent}"),
        format!("/v1/operator/publishers?cursor={sent}"),
        format!("/v1/operator/advertisers/{sent}/token/{sent}"),
    ] {
        signpost.get(&path, &[("Authorization", &token), ("User-Agent", "forged-line_total 1")]);
    }
    publisher.operator("POST", "report_keys", Some(&json!({"label": forged})));
    publisher.put_facts("2026-01-05", forged);
    signpost.import(forged);
    signpost.import(&json!({"kind": forged, "id": forged}).to_string());
    publisher.report(&json!({"date_range": forged, "dimensions": [forged], "metrics": [forged]}));

    let metrics = signpost.operator("GET", "metrics", None).expect(200).body;
    assert!(!metrics.contains("forged"), "{metrics}");
    // Wait for the log lines of the last requests.
    signpost.fence();
    let log = signpost.log();
    let forged = log.lines().find(|line| line.trim_start().starts_with("forged"));
    assert_eq!(forged, None);
}

#[test]
fn no_value_of_a_callback_becomes_a_parameter_a_header_or_another_reward() {
    let signpost = demo();
    let receiver = Receiver::start();
    let wall = signpost.offer_wall("ta-pollution", "77000103", None);
    // Clicks with such values are refused, so the click ids are sealed here.
    let hostile = "x&value=999#\r\nX-Injected: 1\r\n\0\",\"value\":9,%26\\";
    let refused = signpost.click(&format!("rid={}&app=77000103&user_id=x%26value%3D999", wall.goal("1")), "DE");
    refused.expect_error(400, "invalid_user_id");
    let keys = click_keys();
    let click = || -> Click<'_> {
        Click {
            user_id: hostile.into(),
            custom: [Some(hostile.into()), None, None, None, None],
            ..wall.click("u", now_ms())
        }
    };
    let base = receiver.base();
    let fields = [
        "user_id",
        "value",
        "currency",
        "payout",
        "transaction_id",
        "offer_id",
        "goal_id",
        "goal_value",
        "app_id",
        "c1",
        "country",
        "click_ts",
        "conversion_ts",
        "status",
        "ts",
        "signature",
    ];
    let plain: Vec<_> = ["key"].into_iter().chain(fields).collect();
    for (number, (url, method, expected)) in [
        (format!("{base}/cb?key=1"), "GET", plain.as_slice()),
        (
            format!("{base}/x{{user_id}}/cb?u={{user_id}}&t={{transaction_id}}&value={{value}}&c={{c1}}"),
            "GET",
            &["u", "t", "value", "c", "ts", "signature"],
        ),
        (format!("{base}/cb"), "POST", &[]),
    ]
    .into_iter()
    .enumerate()
    {
        wall.put_app(&json!({"callback": callback(&url, method)}));
        expect_accepted(wall.convert(&seal(&keys, &click()), ""), "approved", false);
        let received = receiver.wait(number + 1).remove(number);
        assert!(received.headers.get("x-injected").is_none(), "{received:?}");
        let payload = if method == "GET" {
            let mut found: Vec<_> = received.pairs().iter().map(|(name, _)| *name).collect();
            let mut expected = expected.to_vec();
            // The signature in the URL covers everything before it, so it must come last.
            assert_eq!(found.last(), expected.last(), "{received:?}");
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{received:?}");
            assert_eq!(received.parameter("value").as_deref(), Some("1250"), "{received:?}");
            let user = received.parameter("user_id").or(received.parameter("u"));
            assert_eq!(user.as_deref(), Some(hostile), "{received:?}");
            assert_eq!(received.path().matches('/').count(), if number == 0 { 1 } else { 2 }, "{received:?}");
            received.query()
        } else {
            let body: Value = serde_json::from_str(&received.body).unwrap();
            assert_eq!((&body["value"], &body["user_id"]), (&json!(1_250), &json!(hostile)));
            // Quotes in values are escaped.
            assert_eq!(received.body.matches(",\"value\":").count(), 1, "{received:?}");
            &received.body
        };
        let webhook = Webhook::new(SECRET).unwrap();
        webhook.verify(payload.as_bytes(), &received.headers).unwrap();
    }
}
