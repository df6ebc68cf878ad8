//! Answers to clicks: methods, the app's fallback, a page for browsers and JSON for other clients.

use std::thread;

use serde_json::json;
use url::Url;

use crate::{
    clicks::{CLICK, DESKTOP, IPHONE, RIGHT, click, expect_click_error, expect_redirect},
    harness::{Setup, WEB_APP, demo, now_ms},
};

/// The fallback of the demo's web app.
const FALLBACK: &str = "https://play.lumen-arcade.example/rewards?notice=offer-unavailable";
const CHROME_ACCEPTS: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

#[test]
fn a_click_is_a_get_or_a_head() {
    let signpost = demo();
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        for query in [RIGHT, ""] {
            let address = format!("{CLICK}?{query}");
            let answer = expect_click_error(signpost.send(method, &address, &[], b""), 405, "method_not_allowed");
            assert_eq!(answer.header("Allow"), Some("GET, HEAD"), "{answer:?}");
        }
    }
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let answer = signpost.send("POST", CLICK, &form, RIGHT.as_bytes());
    expect_click_error(answer, 405, "method_not_allowed");

    // HEAD answers like GET, without the body.
    let both = |query: &str| ["GET", "HEAD"].map(|method| signpost.send(method, &format!("{CLICK}?{query}"), &[], b""));
    let [get, head] = both(RIGHT).map(expect_redirect);
    let [get, head] = [&get, &head].map(|answer| Url::parse(answer.location()).unwrap());
    assert_eq!((get.host(), get.path()), (head.host(), head.path()));
    for query in ["", "rid=410271&app=1&user_id=u-1", "rid=58213&app=10000009&user_id=u-1"] {
        let [get, head] = both(query);
        assert_eq!((get.status, head.body.as_str()), (head.status, ""), "{head:?}");
        assert!(!get.body.is_empty() && head.header("Cache-Control") == Some("no-store"), "{head:?}");
    }
}

#[test]
fn a_click_on_an_unavailable_offer_goes_to_the_apps_fallback() {
    let signpost = demo();
    let currency = json!({"name": "Pins", "per_usd": 200, "decimals": 0, "rounding": "down"});
    let other = "https://studio.example/?from={user_id}#x";
    let app = json!({
        "publisher_id": "unapproved-studio", "name": "B", "platform": "web", "currency": currency,
        "fallback_url": other
    });
    signpost.put("apps/10000008", &app);
    signpost.put_offer("capped", &json!({"click_cap": {"dur": "DAILY", "lim": 0}}));
    signpost.refresh();
    let table = [
        // Unapproved publisher; two with another country; another device; a paused offer; a spent cap.
        ("410271", "10000008", ("CF-IPCountry", "US"), other),
        ("263903", WEB_APP, ("CF-IPCountry", "US"), FALLBACK),
        ("263903", WEB_APP, ("Accept", CHROME_ACCEPTS), FALLBACK),
        ("410271", WEB_APP, ("User-Agent", IPHONE), FALLBACK),
        ("288120", WEB_APP, ("CF-IPCountry", "US"), FALLBACK),
        ("capped-g", WEB_APP, ("CF-IPCountry", "US"), FALLBACK),
    ];
    for (rid, app, header, fallback) in table {
        let address = format!("{CLICK}?rid={rid}&app={app}&user_id=u-1");
        for method in ["GET", "HEAD"] {
            let answer = expect_redirect(signpost.send(method, &address, &[header], b""));
            assert_eq!(answer.location(), fallback, "{answer:?}");
        }
    }
    // An error in the request itself is returned to the client.
    expect_click_error(click(&signpost, "nothing", WEB_APP, &[]), 404, "unknown_goal");
    let bad = format!("{CLICK}?rid=288120&app={WEB_APP}&user_id=!");
    expect_click_error(signpost.get(&bad, &[]), 400, "invalid_user_id");
    let missing = format!("{CLICK}?rid=288120&app={WEB_APP}");
    expect_click_error(signpost.get(&missing, &[]), 400, "missing_field");
    expect_redirect(click(&signpost, "410271", WEB_APP, &[("User-Agent", DESKTOP)]));
}

#[test]
fn an_error_is_a_page_for_browsers_and_json_for_other_clients() {
    let signpost = demo();
    let refusals = [
        ("", 400),
        ("rid=410271&app=10000001&user_id=%3Cscript%3Ealert(1)%3C/script%3E", 400),
        ("rid=%3Cscript%3E&app=10000001&user_id=u-1", 404),
        ("rid=410271&app=%22%3E%3Cimg&user_id=u-1", 404),
        ("rid=410271&app=10000001&user_id=u-1&c1=%26lt%3B", 400),
        ("rid=410271&app=10000009&user_id=u-1", 403),
        ("rid=288120&app=10000001&user_id=u-1", 410),
    ];
    for (query, status) in refusals {
        let address = format!("{CLICK}?{query}");
        let ask = |accept| signpost.get(&address, &[("Accept", accept)]).expect(status);
        let page = ask(CHROME_ACCEPTS);
        assert_eq!(page.header("Content-Type"), Some("text/html; charset=utf-8"), "{page:?}");
        assert_eq!(page.header("Cache-Control"), Some("no-store"), "{page:?}");
        assert_eq!(page.header("Location"), None, "{page:?}");
        assert!(page.body.starts_with("<!doctype html>") && page.body.len() < 1_000, "{page:?}");
        for accept in ["*/*", "application/json", "", "image/*"] {
            let code = ask(accept).code();
            let message = expect_click_error(ask(accept), status, &code).json()["error"].as_str().unwrap().to_owned();
            let escaped = message.replace('&', "&amp;").replace('<', "&lt;");
            assert!(page.body.contains(&escaped), "{message} is not in {page:?}");
        }
        for sent in ["<script", "<img", "alert", "&lt;"] {
            assert!(!page.body.contains(sent), "{page:?}");
        }
    }
    expect_redirect(signpost.get(&format!("{CLICK}?{RIGHT}"), &[("Accept", CHROME_ACCEPTS)]));
}

#[test]
fn without_a_catalog_every_click_is_quickly_answered_503() {
    let signpost = Setup::new().start();
    let start_ms = now_ms();
    let address = format!("{CLICK}?{RIGHT}");
    let answers: Vec<_> = thread::scope(|scope| {
        let ask = || signpost.get(&address, &[("Accept", "*/*")]);
        let clients: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    for answer in answers {
        let answer = expect_click_error(answer, 503, "unavailable");
        let retry_after = answer.header("Retry-After").unwrap().parse::<u32>();
        assert!(retry_after.is_ok_and(|seconds| seconds > 0), "{answer:?}");
    }
    let page = signpost.get(&address, &[("Accept", CHROME_ACCEPTS)]).expect(503);
    assert!(page.header("Retry-After").is_some() && page.body.starts_with("<!doctype"), "{page:?}");
    let waited_ms = now_ms() - start_ms;
    assert!(waited_ms < 4_000, "nine clicks waited for {waited_ms} ms");
}
