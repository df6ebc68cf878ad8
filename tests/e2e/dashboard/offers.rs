//! The dashboard shows an app's offers byte for byte as the offers API answers them. Clicks on its links count.

use std::fs;

use serde_json::{Value, json};

use super::{Browser, signed_in};
use crate::harness::{ANDROID_APP, Answer, IOS_APP, PUBLISHER, Setup, Signpost, WEB_APP, demo, eventually, now_ms};

/// Offers on a page of the dashboard.
const PAGE: usize = 20;
const CLICK_SECRET: &str = "click_secret_of_the_offers_tests_";

fn offers(browser: &Browser<'_>, app: &str, body: &Value) -> Answer {
    browser.post(&format!("apps/{app}/offers"), body)
}

fn link(browser: &Browser<'_>, app: &str, body: &Value) -> Answer {
    browser.post(&format!("apps/{app}/tracking_url"), body)
}

/// Compares all pages with those of the offers API, byte for byte. Returns the offers.
#[track_caller]
fn check(signpost: &Signpost, browser: &Browser<'_>, pub_key: &str, app: &str, filter: &Value) -> Vec<Value> {
    let mut filters = Vec::new();
    for dim in ["country", "platform"] {
        if let Some(value) = filter[dim].as_str() {
            filters.push(json!({ "dim": dim, "match": { "type": "exact", "value": [value] } }));
        }
    }
    let (mut seen, mut page, mut cursor) = (Vec::new(), 1, Value::Null);
    loop {
        let mut body = filter.clone();
        body["cursor"] = cursor;
        let shown = offers(browser, app, &body).expect(200);
        let asked = json!({ "page": page, "size": PAGE, "filt": filters });
        let listed = signpost.offers(app, pub_key, &asked).expect(200);
        let listed = listed.body.strip_suffix('}').unwrap();
        assert!(shown.body.starts_with(&format!("{listed},")), "{app} {filter}:\n{}\n{listed}", shown.body);
        let shown = shown.json();
        seen.extend(shown["offers"].as_array().unwrap().iter().cloned());
        cursor = shown["cursor"].clone();
        page += 1;
        if cursor.is_null() {
            assert_eq!(shown["total"], seen.len());
            return seen;
        }
    }
}

#[test]
fn an_apps_users_see_what_the_api_lists_byte_for_byte() {
    let (signpost, pub_key) = Setup::new().start_with_fixtures();
    let publisher = signpost.existing_publisher(PUBLISHER);
    let developer = signed_in(&signpost, &publisher, "developer");
    // More than a page, with a cap that is reached, one that is not, and figures.
    for number in 0..2 * PAGE {
        signpost.put_offer(&format!("seen-{number:02}"), &json!({}));
    }
    signpost.put_offer("seen-capped", &json!({ "click_cap": { "dur": "DAILY", "lim": 1 } }));
    signpost.put_offer("seen-open", &json!({ "click_cap": { "dur": "DAILY", "lim": 7 } }));
    signpost.refresh();
    for offer in ["seen-capped", "seen-open"] {
        let clicked = format!("rid={offer}-g&app={ANDROID_APP}&user_id=u-1");
        signpost.click(&clicked, "DE").expect(302);
    }
    eventually(&(false, json!(6), true), || {
        signpost.refresh();
        let find = |id: &str| {
            let filter = json!([{ "dim": "offer_id", "match": { "type": "exact", "value": [id] } }]);
            signpost.list(ANDROID_APP, &pub_key, &filter)
        };
        let open = find("seen-open").remove(0);
        let has_figures = open["metrics"].is_array();
        (!find("seen-capped").is_empty(), open["click_cap"]["lim"].clone(), has_figures)
    });
    for app in [ANDROID_APP, IOS_APP, WEB_APP] {
        let all = check(&signpost, &developer, &pub_key, app, &json!({}));
        assert!(all.len() > 2 * PAGE, "{}", all.len());
        let of = |id: &str| all.iter().find(|offer| offer["id"] == id);
        assert_eq!(of("seen-capped"), None);
        // One click, nothing converted.
        assert_eq!(of("seen-open").unwrap()["metrics"], json!([{ "m_type": "GLOBAL", "cr": 0, "epc": 0 }]));
        for filter in [
            json!({ "country": "DE" }),
            json!({ "country": "BR", "platform": "web" }),
            json!({ "platform": "android" }),
            json!({ "country": null, "platform": "ios" }),
        ] {
            check(&signpost, &developer, &pub_key, app, &filter);
        }
    }
    let shown = |app: &str| offers(&developer, app, &json!({})).expect(200).json();
    // A change of the app shows at once, and without KV the catalog has the listing.
    let first = shown(ANDROID_APP)["offers"][0]["id"].clone();
    let mut app = signpost.operator("GET", &format!("apps/{ANDROID_APP}"), None).expect(200).json();
    app.as_object_mut()
        .unwrap()
        .retain(|name, _| !["app_id", "terms_revision", "updated_at", "callback"].contains(&name.as_str()));
    let mut blocked = app["blocked_offers"].as_array().cloned().unwrap_or_default();
    blocked.push(first.clone());
    app["blocked_offers"] = json!(blocked);
    signpost.put(&format!("apps/{ANDROID_APP}"), &app);
    let before = shown(ANDROID_APP);
    assert_ne!(before["offers"][0]["id"], first);
    fs::remove_dir_all(signpost.state.path().join("kv")).unwrap();
    fs::create_dir(signpost.state.path().join("kv")).unwrap();
    assert_eq!(shown(ANDROID_APP), before);
}

#[test]
fn a_request_for_offers_is_checked() {
    let signpost = demo();
    let wall = signpost.unpublished_offer_wall("dash-offers", "79200000", None);
    let publisher = signpost.existing_publisher("dash-offers");
    let developer = signed_in(&signpost, &publisher, "developer");
    for (body, code) in [
        (json!({ "country": "XX" }), "invalid_field"),
        (json!({ "country": 1 }), "invalid_field"),
        (json!({ "platform": "linux" }), "invalid_field"),
        (json!({ "cursor": "0" }), "invalid_field"),
        (json!({ "cursor": "-1" }), "invalid_field"),
        (json!({ "cursor": "4294967296" }), "invalid_field"),
        (json!({ "page": 2 }), "unknown_field"),
        (json!([]), "invalid_json"),
    ] {
        offers(&developer, &wall.app, &body).expect_error(400, code);
    }
    let beyond = offers(&developer, &wall.app, &json!({ "cursor": "4294967295" })).expect(200);
    let beyond = beyond.json();
    assert_eq!((&beyond["offers"], &beyond["cursor"]), (&json!([]), &json!(null)));
    let bodies = [ANDROID_APP, "79200099", "x"].map(|app| {
        let answers = [
            offers(&developer, app, &json!({})),
            link(&developer, app, &json!({ "offer_id": "dash-offers", "user_id": "u" })),
        ];
        answers.map(|answer| answer.expect_error(404, "not_found").body)
    });
    let first = &bodies[0][0];
    assert!(bodies.as_flattened().iter().all(|body| body == first), "{bodies:?}");
}

#[test]
fn the_builders_links_make_counted_clicks() {
    let signpost = demo();
    let plain = signpost.unpublished_offer_wall("dash-link", "79200100", None);
    let signing = signpost.unpublished_offer_wall("dash-link-signed", "79200101", None);
    signing.put_app(&json!({ "click_secret": CLICK_SECRET }));
    plain.put_app(&json!({ "blocked_offers": ["dash-link-signed"] }));
    signpost.refresh();
    let developer = |id: &str| {
        let publisher = signpost.existing_publisher(id);
        signed_in(&signpost, &publisher, "developer")
    };
    for (wall, signs) in [(&plain, false), (&signing, true)] {
        let developer = developer(&wall.id);
        let body = json!({ "offer_id": wall.id, "user_id": "a@b.c-_", "c1": "x", "gaid": null });
        let made = link(&developer, &wall.app, &body).expect(200).json();
        let url = made["url"].as_str().unwrap();
        let (_, query) = url.split_once("/v2/tracking/click?").unwrap();
        let expected = format!("rid={}&app={}&user_id=a%40b.c-_&c1=x", wall.goal("1"), wall.app);
        let rest = query.strip_prefix(&expected).unwrap_or_else(|| panic!("{url}"));
        assert_eq!(rest.starts_with("&exp="), signs, "{url}");
        let now = now_ms() / 1_000;
        match made["expires_at"].as_i64() {
            Some(expires_at) => assert!((now + 86_000..=now + 86_460).contains(&expires_at)),
            None => assert!(!signs),
        }
        let clicked = signpost.click(query, "DE").expect(302);
        assert!(clicked.location().starts_with("https://adv.example/"), "{clicked:?}");
        if signs {
            let other = query.replace("user_id=a%40b", "user_id=b%40b");
            signpost.click(&other, "DE").expect_error(403, "invalid_signature");
        }
    }
    let developer = developer(&plain.id);
    for (changes, status, code) in [
        (json!({ "user_id": "a b" }), 400, "invalid_user_id"),
        (json!({ "user_id": "{user_id}" }), 400, "invalid_user_id"),
        (json!({ "user_id": "" }), 400, "missing_field"),
        (json!({ "c5": "a/b" }), 400, "invalid_custom_parameter"),
        (json!({ "placement": "a/b" }), 400, "invalid_parameter"),
        (json!({ "sig": "0" }), 400, "unknown_field"),
        (json!({ "app": ANDROID_APP }), 400, "unknown_field"),
        (json!({ "offer_id": "a b" }), 400, "invalid_field"),
        (json!({ "offer_id": "dash-no-offer" }), 404, "offer_not_listed"),
        (json!({ "offer_id": "dash-link-signed" }), 404, "offer_not_listed"),
    ] {
        let body = crate::harness::with(json!({ "offer_id": plain.id, "user_id": "u" }), &changes);
        link(&developer, &plain.app, &body).expect_error(status, code);
    }
}
