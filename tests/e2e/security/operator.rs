//! Attacks on the operator's interface: every method on every path without the token, spellings of paths and hosts, an
//! empty token setting, and calls from a browser.

use std::collections::BTreeSet;

use super::{request, status};
use crate::harness::{METRICS_TOKEN, OPERATOR_TOKEN, Setup, Signpost, answer_to, demo};
use origin::http::routes::routes;
use platform::http::{hosts::BearerToken, router::RouteName};

/// The methods that workerd parses, and three that it refuses. Cloudflare passes on any.
const METHODS: [&str; 30] = [
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "PATCH",
    "OPTIONS",
    "TRACE",
    "COPY",
    "LOCK",
    "MKCOL",
    "MOVE",
    "PROPFIND",
    "PROPPATCH",
    "SEARCH",
    "UNLOCK",
    "ACL",
    "REPORT",
    "MKACTIVITY",
    "CHECKOUT",
    "MERGE",
    "MSEARCH",
    "NOTIFY",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
    "PURGE",
    "QUERY",
    "get",
    "Put",
    "ANYTHING",
];
/// Headers that must not change the method or the URL of a request.
const OVERRIDES: [&[u8]; 6] = [
    b"X-HTTP-Method-Override: GET",
    b"X-HTTP-Method: GET",
    b"X-Method-Override: GET",
    b"X-Original-URL: /healthz",
    b"X-Rewrite-URL: /healthz",
    b"X-Forwarded-Host: operator.example",
];

/// The paths of the operator's route table, for an app and a publisher of the demo catalog.
fn addresses() -> BTreeSet<String> {
    let paths = routes().filter(|route| route.name == RouteName::Operator).map(|route| route.pattern);
    let addresses: BTreeSet<_> = paths
        .map(|path| {
            let id = if path.contains("/apps/") { "10000001" } else { "lumen-arcade" };
            path.replacen("{}", id, 1).replace("{}", "2026-01-05")
        })
        .collect();
    assert!(addresses.len() >= 20, "{addresses:?}");
    addresses
}

fn ask(signpost: &Signpost, method: &str, target: &str, lines: &[&[u8]]) -> String {
    answer_to(&signpost.base(), &request(&format!("{method} {target}"), lines, ""))
}

fn authorization() -> Vec<u8> {
    format!("Authorization: Bearer {OPERATOR_TOKEN}").into_bytes()
}

#[test]
fn without_the_token_every_method_on_every_path_gets_the_same_401() {
    let signpost = demo();
    let refusal = ask(&signpost, "GET", "/v1/operator/publishers", &[]);
    assert_eq!(status(&refusal), 401, "{refusal}");
    let (head, body) = refusal.split_once("\r\n\r\n").unwrap();
    let head_lines: Vec<_> = head.split("\r\n").filter(|line| !line.starts_with("Content-Length")).collect();
    assert!(body.contains("invalid_operator_token"), "{refusal}");
    let unknown = ["/v1/operator/", "/v1/operator/nowhere", "/v1/operator/publishers/x/y/z"];
    let unknown = unknown.into_iter().map(str::to_owned);
    let (mut refused, mut no_method) = (0, 0);
    for address in addresses().into_iter().chain(unknown) {
        for method in METHODS {
            let lines = if method == "POST" { &OVERRIDES[..] } else { &[] };
            let answer = ask(&signpost, method, &address, lines);
            match method {
                "HEAD" => assert_eq!(answer.trim_end(), head_lines.join("\r\n"), "{address}"),
                // The runtime does not support the method.
                "get" | "Put" | "ANYTHING" => {
                    assert_eq!(status(&answer), 501, "{method} {address}: {answer}");
                    no_method += 1;
                    continue;
                }
                _ => assert_eq!(answer, refusal, "{method} {address}"),
            }
            refused += 1;
        }
    }
    println!(
        "{} methods and addresses without the token: {refused} refused alike, {no_method} by the runtime",
        refused + no_method
    );
    assert!(refused >= 780, "{refused}");
}

#[test]
fn with_the_token_no_header_or_parameter_overrides_the_method() {
    let signpost = demo();
    let token = authorization();
    for address in addresses() {
        for method in METHODS.into_iter().filter(|method| !matches!(*method, "GET" | "POST" | "PUT" | "DELETE")) {
            let answer = ask(&signpost, method, &address, &[&token]);
            let refused = if matches!(method, "get" | "Put" | "ANYTHING") { 501 } else { 405 };
            assert_eq!(status(&answer), refused, "{method} {address}: {answer}");
            assert!(refused == 501 || answer.contains("Allow: "), "{method} {address}: {answer}");
        }
    }
    // Override headers and parameters do not change a GET.
    for method in ["DELETE", "PUT", "POST"] {
        let lines = [
            token.clone(),
            format!("X-HTTP-Method-Override: {method}").into_bytes(),
            format!("X-HTTP-Method: {method}").into_bytes(),
        ];
        let lines: Vec<_> = lines.iter().map(Vec::as_slice).collect();
        let target = format!("/v1/operator/publishers/lumen-arcade?_method={method}");
        let answer = ask(&signpost, "GET", &target, &lines);
        assert_eq!(status(&answer), 200, "{answer}");
    }
    // The public interfaces refuse other methods, too: one taken for a GET would count a click or pay a conversion.
    let wall = signpost.offer_wall("trust-methods", "78060301", None);
    let click = format!("/v2/tracking/click?rid={}&app={}&user_id=u", wall.goal("1"), wall.app);
    for method in METHODS.into_iter().filter(|method| !matches!(*method, "GET" | "HEAD" | "POST")) {
        let click_id = wall.click_id("u-1");
        let conversion = format!("/v2/tracking/conversion?click_id={click_id}&token={}", wall.token);
        for target in [click.as_str(), &conversion, "/v1/offer/api", "/healthz"] {
            let answer = ask(&signpost, method, target, &[]);
            assert!(matches!(status(&answer), 405 | 501), "{method} {target}: {answer}");
        }
    }
    assert_eq!(wall.entries("").len(), 0);
}

/// Other spellings of `/v1/operator/publishers`, and detours to it.
const SPELLINGS: [&str; 38] = [
    "//v1/operator/publishers",
    "/v1//operator/publishers",
    "/v1/operator//publishers",
    "/v1/./operator/publishers",
    "/x/../v1/operator/publishers",
    "/v1/operator/../operator/publishers",
    "/v1/%2e%2e/v1/operator/publishers",
    "/v1/%2E/operator/publishers",
    "/v1/x/.%2e/operator/publishers",
    "/v1/operator/%2e%2e/operator/publishers",
    "/v1%2foperator/publishers",
    "/v1/operator%2Fpublishers",
    "/v1/operator%5cpublishers",
    "/v1\\operator\\publishers",
    "/v1/%6fperator/publishers",
    "/%76%31/operator/publishers",
    "/v1/operator%00/publishers",
    "/v1/operator/publishers%00",
    "/v1/operator/publishers%20",
    "/v1/operator\t/publishers",
    "/v1/operator;x=y/publishers",
    "/v1;/operator/publishers",
    "/v1/operator/publishers;x",
    "/v1/operator/publishers/",
    "/v1/operator/publishers.json",
    "/V1/operator/publishers",
    "/v1/Operator/publishers",
    "/v1/OPERATOR/PUBLISHERS",
    "/v1/oper\u{430}tor/publishers",
    "/v1/\u{ff4f}perator/publishers",
    "/v1/operator",
    "/v1/operator?/publishers",
    "/v1/operator#/publishers",
    "/healthz/../v1/operator/publishers",
    "/healthz%00/../v1/operator/publishers",
    "/v1/offer/api/../../operator/publishers",
    "/v2/tracking/click/../../../v1/operator/publishers",
    "/?url=/v1/operator/publishers",
];

/// `METRICS_TOKEN` opens the metrics alone, and the edge does not know the operator's token.
#[test]
fn metrics_have_a_token_of_their_own() {
    let signpost = demo();
    let [metrics, operators] = [METRICS_TOKEN, OPERATOR_TOKEN].map(|token| format!("Bearer {token}"));
    for (path, with_metrics, with_operators) in [
        ("/metrics", 200, 401),
        ("/v1/operator/metrics", 200, 200),
        ("/v1/operator/service", 401, 200),
        ("/v1/operator/publishers", 401, 200),
        ("/v1/operator/nothing", 401, 404),
    ] {
        for (authorization, status) in [(&metrics, with_metrics), (&operators, with_operators)] {
            let answer = signpost.get(path, &[("Authorization", authorization)]);
            assert_eq!(answer.status, status, "{path} {authorization}");
        }
    }
    let other = [("Authorization", metrics.as_str())];
    signpost.send("POST", "/v1/operator/metrics", &other, b"").expect(401);
    let without = Setup::new().var("METRICS_TOKEN", "").start();
    for authorization in ["Bearer ", "Bearer", &metrics, &operators] {
        without.get("/metrics", &[("Authorization", authorization)]).expect_error(401, "invalid_operator_token");
    }
}

#[test]
fn a_local_run_answers_the_operator_only_by_the_names_of_its_machine() {
    let signpost = demo();
    for (path, token) in [
        ("/v1/operator/publishers", OPERATOR_TOKEN),
        ("/v1/operator/metrics", OPERATOR_TOKEN),
        ("/v1/operator/nothing", OPERATOR_TOKEN),
        ("/metrics", METRICS_TOKEN),
    ] {
        let authorization = format!("Bearer {token}");
        let ask = |host: &str| signpost.get(path, &[("Host", host), ("Authorization", &authorization)]);
        for host in ["rebound.example", "rebound.example:8787", "localhost.example:8787", "10.0.0.1:8787"] {
            ask(host).expect_error(421, "misdirected_request");
            // The token makes no difference.
            signpost.get(path, &[("Host", host)]).expect_error(421, "misdirected_request");
        }
        let status = if path.ends_with("nothing") { 404 } else { 200 };
        for host in ["localhost", "localhost:8787", "127.0.0.1:9", "[::1]:8787"] {
            ask(host).expect(status);
        }
    }
}

#[test]
fn where_hosts_are_set_the_operator_needs_one_of_its_own() {
    for own in ["", "track.example"] {
        let signpost =
            Setup::new().var("TRACKING_HOST", "track.example").var("CONSOLE_URL", "").var("OPERATOR_HOST", own).start();
        let authorization = format!("Bearer {OPERATOR_TOKEN}");
        for host in ["track.example", "127.0.0.1", "operator.example"] {
            let headers = [("Host", host), ("Authorization", authorization.as_str())];
            signpost.get("/v1/operator/publishers", &headers).expect_error(404, "not_found");
        }
    }
}

#[test]
fn no_spelling_of_a_path_or_host_bypasses_the_token() {
    let signpost = Setup::new()
        .var("CONSOLE_URL", "")
        .var("OPERATOR_HOST", "operator.example")
        .var("TRACKING_HOST", "track.example")
        .start();
    let token = authorization();
    let send = |target: &str, host: &str, lines: &[&[u8]]| {
        let lines: Vec<_> = lines.iter().map(|line| [line, &b"\r\n"[..]].concat()).collect();
        let head = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        answer_to(&signpost.base(), &[head.as_bytes(), &lines.concat(), b"\r\n"].concat())
    };
    let right = send("/v1/operator/publishers", "operator.example", &[&token]);
    assert!(status(&right) == 200 && right.contains("\"publishers\""), "{right}");
    for path in SPELLINGS {
        let answer = send(path, "operator.example", &[]);
        assert!(matches!(status(&answer), 401 | 404), "{path}: {answer}");
        for lines in [&[][..], &[&token[..]]] {
            let answer = send(path, "track.example", lines);
            assert_eq!(status(&answer), 404, "{path}: {answer}");
        }
    }
    // The runtime refuses a target that is not a path.
    for target in [
        "http://operator.example/v1/operator/publishers",
        "https://operator.example/v1/operator/publishers",
        "http://track.example@operator.example/v1/operator/publishers",
        "v1/operator/publishers",
        "*",
    ] {
        let answer = send(target, "track.example", &[&token]);
        assert!(matches!(status(&answer), 400 | 404 | 500), "{target}: {answer}");
        assert!(!answer.contains("publishers\":"), "{target}: {answer}");
    }

    // A host is compared in any case and with any port. Headers that name another host are ignored.
    for host in ["operator.example", "OPERATOR.example", "operator.example:443", "Operator.Example:80"] {
        assert_eq!(status(&send("/v1/operator/publishers", host, &[&token])), 200, "{host}");
        assert_eq!(status(&send("/v1/operator/publishers", host, &[])), 401, "{host}");
    }
    for host in [
        "",
        "track.example",
        "operator.example.",
        "operator.example.track.example",
        "xoperator.example",
        "track.example:80:operator.example",
        "operator.example@track.example",
        "track.example@operator.example",
        "operator.example:x@track.example",
        "track.example/operator.example",
        "operator.example/",
        "operator.example?",
        "operator.example#",
        "track.example#operator.example",
        "track.example\\operator.example",
        "operator.example\\track.example",
        "operator.example, track.example",
        "operator%2eexample",
        "operator\u{3002}example",
        "\u{43e}perator.example",
        "[operator.example]",
        "[::1]",
        "127.0.0.1",
        "localhost",
        "track.example\r\nHost: operator.example",
        "operator.example\r\nHost: track.example",
        "track.example\r\nX-Forwarded-Host: operator.example",
        "track.example\r\nForwarded: host=operator.example",
        "track.example\r\nX-Host: operator.example\r\nX-Original-Host: operator.example",
        "track.example\r\n operator.example",
    ] {
        let answer = send("/v1/operator/publishers", host, &[&token]);
        assert!(matches!(status(&answer), 400 | 404 | 500), "{host}: {answer}");
        assert!(!answer.contains("publishers\":"), "{host}: {answer}");
    }
    // 503 before the first publication.
    let health = status(&send("/healthz", "track.example", &[]));
    assert!(matches!(health, 200 | 503), "it runs: {health}");
}

/// Authorization headers that could match an empty or missing token setting.
const EMPTY_TOKENS: [&str; 12] = [
    "",
    " ",
    "Bearer",
    "Bearer ",
    "Bearer  ",
    "bearer \t",
    "Bearer null",
    "Bearer undefined",
    "Bearer \"\"",
    "Bearer None",
    "Bearer \u{feff}",
    "Basic Og==",
];

#[test]
fn an_empty_or_missing_token_setting_locks_the_interface() {
    let signpost = Setup::new().var("OPERATOR_TOKEN", "").start();
    let nothing = ask(&signpost, "GET", "/v1/operator/publishers", &[]);
    assert_eq!(status(&nothing), 401, "{nothing}");
    for value in EMPTY_TOKENS.into_iter().chain([OPERATOR_TOKEN]) {
        let line = format!("Authorization: {value}");
        for method in ["GET", "POST", "PUT", "DELETE"] {
            let answer = ask(&signpost, method, "/v1/operator/publishers", &[line.as_bytes()]);
            assert_eq!(answer, nothing, "{line:?}");
        }
    }
    for unset in [None, Some(String::new())] {
        let token = BearerToken::read(|_| unset.clone().filter(|text| !text.is_empty()), "OPERATOR_TOKEN");
        for value in EMPTY_TOKENS {
            assert!(!token.authorizes(Some(value)), "{value:?}");
        }
        assert!(!token.authorizes(None));
    }
}

#[test]
fn a_page_in_a_browser_gets_no_cross_origin_access() {
    let signpost = demo();
    let wall = signpost.offer_wall("trust-browser", "78060302", None);
    let click_id = wall.click_id("u-1");
    let conversion = format!("/v2/tracking/conversion?click_id={click_id}&token=x");
    let targets = addresses().into_iter().chain(
        ["/v1/offer/api", crate::harness::REPORT, "/healthz", "/v2/tracking/click?rid=410271&app=10000001&user_id=u"]
            .map(str::to_owned)
            .into_iter()
            .chain([conversion]),
    );
    for target in targets {
        let is_operators = target.starts_with("/v1/operator/");
        for (method, lines) in [
            // A CORS preflight request, and requests that need none.
            (
                "OPTIONS",
                &[&b"Access-Control-Request-Method: PUT"[..], b"Access-Control-Request-Headers: authorization"][..],
            ),
            ("GET", &[b"Cookie: token=local-operator-token"]),
            ("POST", &[b"Content-Type: text/plain", b"Cookie: token=local-operator-token"]),
            ("POST", &[b"Content-Type: application/x-www-form-urlencoded"]),
        ] {
            let origin =
                [&b"Origin: https://evil.example"[..], b"Referer: https://evil.example/", b"Sec-Fetch-Mode: cors"];
            let answer = ask(&signpost, method, &target, &[lines, &origin].concat());
            assert!(!answer.to_ascii_lowercase().contains("access-control-"), "{method} {target}: {answer}");
            if is_operators {
                assert_eq!(status(&answer), 401, "{method} {target}: {answer}");
            }
            assert!(!answer.contains("Set-Cookie"), "{method} {target}: {answer}");
        }
    }
}
