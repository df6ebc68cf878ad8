//! Refusals of clicks with valid parameters: unknown ids, country, platform, time, approval and their order.

use std::{thread, time::Duration};

use serde_json::json;

use crate::{
    clicks::{ANDROID, CLICK, DESKTOP, IPHONE, RIGHT, click, country, expect_click_error, expect_redirect},
    harness::{IOS_APP, Setup, demo, now_ms, with},
};

#[test]
fn an_unknown_goal_or_app_is_not_found() {
    let signpost = demo();
    for app in [
        "10000099",
        "1",
        "1000000",
        "100000010",
        "x0000001",
        "+1000001",
        "%D9%A1%D9%A1%D9%A1%D9%A1%D9%A1%D9%A1%D9%A1%D9%A1",
        "10000001%00",
        "..",
    ] {
        expect_click_error(click(&signpost, "410271", app, &[]), 404, "unknown_app");
    }
    // `rid` is not an offer's id.
    for rid in ["410270", "23817", "0410271", "%2E%2E", "'--", "%C3%A9"] {
        expect_click_error(click(&signpost, rid, "10000001", &[]), 404, "unknown_goal");
    }
    expect_click_error(click(&signpost, &"4".repeat(5_000), "10000001", &[]), 404, "unknown_goal");
    expect_redirect(click(&signpost, "410271", "10000001", &[]));
    for path in ["/v2/tracking", "/v2/tracking/clicks"] {
        expect_click_error(signpost.get(&format!("{path}?{RIGHT}"), &[]), 404, "not_found");
    }
}

/// The isolate asks the catalog about an unknown goal once in two seconds. The answer has every goal of that shard.
#[test]
fn a_new_goal_is_found_right_after_an_unknown_one() {
    let signpost = Setup::new().start_with_fixtures().0;
    expect_redirect(click(&signpost, "410271", "10000001", &[]));
    signpost.put_offer("fresh", &json!({}));
    expect_click_error(click(&signpost, "410270", "10000001", &[]), 404, "unknown_goal");
    expect_redirect(click(&signpost, "fresh-g", "10000001", &[]));
}

#[test]
fn a_click_from_a_country_outside_the_targeting_is_refused() {
    let signpost = demo();
    // Goal 263903 is for DE, AT, CH and LI; 58213 is for all but CN, RU, BY and IR; 410271 is for all.
    let table = [
        ("DE", true, true),
        ("de", true, true),
        ("LI", true, true),
        ("US", false, true),
        ("CN", false, false),
        ("IR", false, false),
        // Unknown: none, Tor, no country's code, empty.
        ("XX", false, true),
        ("T1", false, true),
        ("UK", false, true),
        ("EU", false, true),
        ("Germany", false, true),
        ("", false, true),
    ];
    for (code, included, not_excluded) in table {
        for (rid, allowed) in [("263903", included), ("58213", not_excluded), ("410271", true)] {
            let answer = click(&signpost, rid, "10000001", &country(code));
            if allowed {
                expect_redirect(answer);
            } else {
                expect_click_error(answer, 403, "not_available_in_country");
            }
        }
    }
    expect_click_error(click(&signpost, "263903", "10000001", &[]), 403, "not_available_in_country");
    expect_redirect(click(&signpost, "58213", "10000001", &[]));
}

#[test]
fn the_country_header_is_ignored_where_a_client_could_send_it() {
    let signpost = Setup::new().var("TRUST_COUNTRY_HEADER", "false").start_with_fixtures().0;
    let answer = click(&signpost, "263903", "10000001", &country("DE"));
    expect_click_error(answer, 403, "not_available_in_country");
    expect_redirect(click(&signpost, "58213", "10000001", &country("CN")));
}

#[test]
fn only_a_device_of_another_platform_is_refused() {
    let signpost = demo();
    signpost.put_offer("ios", &json!({"os": "ios"}));
    signpost.put_offer("web", &json!({"os": "web"}));
    signpost.refresh();
    let ipad = "Mozilla/5.0 (iPad; CPU OS 12_5_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 Mobile/15E148 Safari/604.1";
    // The device, and whether it may use an Android and an iOS offer.
    let table = [
        (ANDROID, true, false),
        ("Dalvik/2.1.0 (Linux; U; Android 12; Redmi Note 9)", true, false),
        (IPHONE, false, true),
        (ipad, false, true),
        (DESKTOP, true, true),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15", true, true),
        ("okhttp/4.12.0", true, true),
        ("Mozilla/5.0 (Windows Phone 10.0; Android 6.0.1; Microsoft; Lumia 950)", true, true),
        ("", true, true),
    ];
    for (user_agent, android, ios) in table {
        for (rid, allowed) in [("410271", android), ("ios-g", ios), ("web-g", true)] {
            let answer = click(&signpost, rid, "10000001", &[("User-Agent", user_agent)]);
            if allowed {
                expect_redirect(answer);
            } else {
                expect_click_error(answer, 403, "not_available_on_platform");
            }
        }
    }
}

#[test]
fn a_paused_ended_or_future_offer_is_gone() {
    let signpost = demo();
    let now_s = now_ms() / 1_000;
    let goal = |id: &str| json!({"id": id, "ttl": "Play", "instr": "1. Play", "payout_usd": 1, "ord": 1});
    signpost.put_offer("paused", &json!({"active": false}));
    signpost.put_offer("ended", &json!({"ends_at": now_s - 1}));
    signpost.put_offer("coming", &json!({"starts_at": now_s + 3_600}));
    signpost.put_offer("changed", &json!({"goals": [goal("old"), goal("kept")]}));
    signpost.put_offer("changed", &json!({"goals": [goal("new"), goal("kept")]}));
    signpost.refresh();
    // A refresh takes a second, and on a busy machine several.
    let ends_at = now_ms() / 1_000 + 10;
    signpost.put_offer("ending", &json!({"starts_at": ends_at - 11, "ends_at": ends_at}));
    signpost.refresh();
    for rid in ["ending-g", "kept", "new"] {
        expect_redirect(click(&signpost, rid, "10000001", &[]));
    }
    assert!(now_ms() < ends_at * 1_000, "too slow to see an offer end");
    for rid in ["paused-g", "ended-g", "coming-g", "old"] {
        expect_click_error(click(&signpost, rid, "10000001", &[]), 410, "offer_ended");
    }
    // The demo's Android app blocks offer 31906, and its iOS app does not.
    let us = country("US");
    expect_click_error(click(&signpost, "330871", "10000001", &us), 410, "offer_ended");
    expect_redirect(click(&signpost, "330871", IOS_APP, &us));

    // An offer ends at its time without a publication.
    let left_ms = u64::try_from(ends_at * 1_000 - now_ms()).unwrap_or(0);
    thread::sleep(Duration::from_millis(left_ms + 50));
    expect_click_error(click(&signpost, "ending-g", "10000001", &[]), 410, "offer_ended");

    // An offer or goal that is gone can return.
    signpost.put_offer("paused", &json!({}));
    signpost.put_offer("changed", &json!({"goals": [goal("old")]}));
    signpost.refresh();
    for rid in ["paused-g", "old"] {
        expect_redirect(click(&signpost, rid, "10000001", &[]));
    }
    expect_click_error(click(&signpost, "kept", "10000001", &[]), 410, "offer_ended");
}

#[test]
fn of_several_errors_the_first_in_the_documented_order_is_returned() {
    let signpost = demo();
    let everything_wrong = json!({
        "active": false, "os": "ios", "geo_tgt": {"include": ["DE"], "exclude": []},
        "click_cap": {"dur": "DAILY", "lim": 0}
    });
    let headers = [("User-Agent", ANDROID), ("CF-IPCountry", "US")];
    signpost.put_offer("o", &everything_wrong);
    signpost.refresh();
    let invalid = format!("{CLICK}?rid=nothing&app=10000009&user_id=!");
    expect_click_error(signpost.get(&invalid, &headers), 400, "invalid_user_id");
    expect_click_error(click(&signpost, "nothing", "10000009", &headers), 404, "unknown_goal");
    // Each corrected error reveals the next.
    let steps = [
        ("10000009", json!({}), 403, "publisher_not_approved"),
        ("10000001", json!({}), 410, "offer_ended"),
        ("10000001", json!({"active": true}), 403, "not_available_in_country"),
        ("10000001", json!({"geo_tgt": {}}), 403, "not_available_on_platform"),
        ("10000001", json!({"os": "android"}), 410, "offer_capped"),
    ];
    let mut offer = everything_wrong;
    for (app, correction, status, code) in steps {
        offer = with(offer, &correction);
        signpost.put_offer("o", &offer);
        signpost.refresh();
        expect_click_error(click(&signpost, "o-g", app, &headers), status, code);
    }
    offer["click_cap"] = json!({"dur": "DAILY", "lim": 1});
    signpost.put_offer("o", &offer);
    signpost.refresh();
    expect_redirect(click(&signpost, "o-g", "10000001", &headers));
}

#[test]
fn clicks_are_redirected_only_for_an_approved_publisher() {
    let signpost = demo();
    let approve = |approved: bool| {
        signpost.put("publishers/newcomer", &json!({"name": "Newcomer", "approved": approved}));
        signpost.refresh();
    };
    approve(false);
    let currency = json!({"name": "Pins", "per_usd": 200, "decimals": 0, "rounding": "down"});
    let app = json!({"publisher_id": "newcomer", "name": "N", "platform": "web", "currency": currency});
    signpost.put("apps/10000007", &app);
    signpost.refresh();
    expect_click_error(click(&signpost, "410271", "10000007", &[]), 403, "publisher_not_approved");
    approve(true);
    expect_redirect(click(&signpost, "410271", "10000007", &[]));
    approve(false);
    expect_click_error(click(&signpost, "410271", "10000007", &[]), 403, "publisher_not_approved");
}
