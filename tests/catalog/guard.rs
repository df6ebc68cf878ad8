//! Every way to configure a callback or a fallback URL applies the network guard. The guard's rules have tests of their own.

use serde_json::{Value, json};

use crate::{Catalog, app_with_url, body, refused, with};
use contract::catalog::Resource;
use domain::callbacks::guard::Guard;

const APP: Resource = Resource::App;

/// URLs that production refuses, each with a part of the message and whether a local run accepts it.
const REFUSED: [(&str, &str, bool); 13] = [
    ("http://acme.example.com/cb", "https://", true),
    ("http://127.0.0.1:9000/cb", "https://", true),
    ("https://127.0.0.1:9000/cb", "loopback", true),
    ("https://0x7f000001/cb", "loopback", true),
    ("https://[::1]/cb", "loopback", true),
    ("https://localhost:9000/cb", "localhost", true),
    ("https://10.1.2.3/cb?u={user_id}&t={transaction_id}&v={value}", "private", true),
    ("https://169.254.169.254/latest/meta-data", "169.254.169.254", false),
    ("https://printer.local/cb", "local", false),
    ("https://metadata.google.internal/cb", "internal", false),
    ("https://acme.example.com:22/cb", "port", false),
    ("https://track.example.com/cb", "own hosts", false),
    ("https://billing/cb", "full host name", false),
];

fn catalog(allow_private: bool) -> Catalog {
    let guard = Guard { allow_private, own_hosts: vec!["track.example.com".into()] };
    Catalog { guard, ..Catalog::small() }
}

#[test]
fn a_put_with_a_forbidden_callback_is_refused_and_changes_nothing() {
    for allow_private in [false, true] {
        let catalog = catalog(allow_private);
        for (url, problem, local) in REFUSED {
            let before = catalog.dump();
            let outcome = catalog.try_put(APP, "10000001", &app_with_url(url));
            if allow_private && local {
                assert_eq!(body(&outcome.unwrap(), 200)["callback"]["url"], url);
                continue;
            }
            let (code, message) = refused(outcome);
            assert_eq!(code, "invalid_field", "{url}");
            assert!(message.starts_with("callback.url: must "), "{url}: {message}");
            assert!(message.contains(problem), "{url}: {message}");
            assert_eq!(catalog.dump(), before, "{url}");
        }
    }
}

#[test]
fn an_import_line_with_a_forbidden_callback_is_reported() {
    for allow_private in [false, true] {
        let catalog = catalog(allow_private);
        let url = |n: usize| REFUSED.map(|(url, ..)| url)[n];
        let lines: Vec<_> = (0..REFUSED.len())
            .map(|n| {
                let line = json!({ "kind": "app", "id": format!("{}", 10_000_000 + n) });
                with(app_with_url(url(n)), &line).to_string()
            })
            .collect();
        let expected: Vec<_> = (1..)
            .zip(REFUSED)
            .filter(|(_, (.., local))| !(allow_private && *local))
            .map(|(line, _)| json!(line))
            .collect();
        let before = catalog.dump();
        let reply = body(&catalog.import(&lines.join("\n")).unwrap(), 400);
        let wrong = reply["lines"].as_array().unwrap();
        let reported_lines: Vec<_> = wrong.iter().map(|line| line["line"].clone()).collect();
        assert_eq!(reported_lines, expected);
        for line in wrong {
            let message = line["message"].as_str().unwrap();
            assert!(message.starts_with("callback.url: "), "{message}");
        }
        assert_eq!(catalog.dump(), before);
    }
    let local: Vec<_> = REFUSED
        .iter()
        .filter(|(.., local)| *local)
        .zip(10_000_001..)
        .map(|((url, ..), id)| {
            let line = json!({ "kind": "app", "id": id.to_string() });
            with(app_with_url(url), &line).to_string()
        })
        .collect();
    let imported = body(&catalog(true).import(&local.join("\n")).unwrap(), 200);
    assert_eq!(imported["imported"], local.len());
}

#[test]
fn an_app_with_a_now_forbidden_callback_can_be_put_without_it() {
    let mut catalog = catalog(true);
    let local = app_with_url("http://127.0.0.1:9000/cb");
    catalog.put(APP, "10000001", &local);
    catalog.guard.allow_private = false;
    refused(catalog.try_put(APP, "10000001", &local));
    catalog.put(APP, "10000001", &crate::app("acme"));
}

#[test]
fn a_post_with_macros_in_its_url_is_refused() {
    let catalog = catalog(false);
    let mut document = app_with_url("https://acme.example.com/cb?u={user_id}&t={transaction_id}&v={value}");
    catalog.put(APP, "10000001", &document);
    document["callback"]["method"] = json!("POST");
    let (code, message) = refused(catalog.try_put(APP, "10000001", &document));
    assert_eq!(code, "invalid_field");
    let problem = "must not have macros if the method is POST, because the body has every field";
    assert_eq!(message, format!("callback.url: {problem}"));
}

/// Fallback URLs that production refuses, each with the message.
const REFUSED_FALLBACKS: [(&str, &str); 3] = [
    ("http://acme.example.com/more", "must begin with https://"),
    ("https://acme.example.com:8443/more", "must be on port 443, not 8443"),
    ("http://127.0.0.1:9000/more", "must begin with https://"),
];

fn app_with_fallback(url: &str) -> Value {
    with(crate::app("acme"), &json!({ "fallback_url": url }))
}

#[test]
fn a_fallback_url_is_https_on_port_443_unless_the_run_is_local() {
    for (url, problem) in REFUSED_FALLBACKS {
        let catalog = catalog(false);
        let before = catalog.dump();
        let expected = ("invalid_field", format!("fallback_url: {problem}"));
        assert_eq!(refused(catalog.try_put(APP, "10000001", &app_with_fallback(url))), expected);
        let line = with(app_with_fallback(url), &json!({ "kind": "app", "id": "10000001" }));
        let reply = body(&catalog.import(&line.to_string()).unwrap(), 400);
        assert_eq!(reply["lines"][0]["message"], format!("fallback_url: {problem}"));
        assert_eq!(catalog.dump(), before, "{url}");
        let local = self::catalog(true);
        local.put(APP, "10000001", &app_with_fallback(url));
    }
    let allowed = "https://acme.example.com:443/more";
    catalog(false).put(APP, "10000001", &app_with_fallback(allowed));
}

#[test]
fn a_fallback_url_from_before_the_rule_stays_until_it_changes() {
    let mut catalog = catalog(true);
    let stored = "http://acme.example.com/more";
    catalog.put(APP, "10000001", &app_with_fallback(stored));
    catalog.guard.allow_private = false;
    assert_eq!(catalog.get(APP, "10000001")["fallback_url"], stored);
    let renamed = with(app_with_fallback(stored), &json!({ "name": "Another name" }));
    catalog.put(APP, "10000001", &renamed);
    let other = app_with_fallback("http://acme.example.com/else");
    let (code, message) = refused(catalog.try_put(APP, "10000001", &other));
    assert_eq!((code, message.as_str()), ("invalid_field", "fallback_url: must begin with https://"));
    catalog.put(APP, "10000001", &app_with_fallback("https://acme.example.com/more"));
    refused(catalog.try_put(APP, "10000001", &app_with_fallback(stored)));
}
