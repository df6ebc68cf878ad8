//! Changes by the operator reach the listing: at once after a refresh, and otherwise by the publications of the alarm.

use std::time::Duration;

use serde_json::{Value, json};

use super::{APPS, Served, demo::Demo, fields::check_every_field, id, page};
use crate::harness::{ANDROID_APP, IOS_APP, PUBLISHER, Setup, WEB_APP};

/// An offer for all platforms.
const WEB_OFFER: &str = "60231";

impl Served {
    fn shows(&self, app: &str, offer: &str) -> bool {
        self.ids(app).iter().any(|listed| listed == offer)
    }

    fn offer(&self, app: &str, offer: &str) -> Value {
        let mut offers = self.all(app).into_iter();
        offers.find(|listed| id(listed) == offer).unwrap()
    }
}

#[test]
fn an_offer_is_listed_while_its_settings_allow_it() {
    let mut served = Served::unlimited();
    let in_all = |served: &Served| APPS.map(|app| served.shows(app, WEB_OFFER));
    let before = APPS.map(|app| served.ids(app));

    served.change("offers", WEB_OFFER, &json!({ "active": false }));
    assert_eq!(in_all(&served), [true; 3], "before the rebuild");
    served.signpost.refresh();
    for (app, before) in APPS.iter().zip(&before) {
        let mut expected = before.clone();
        expected.retain(|id| id != WEB_OFFER);
        assert_eq!(served.ids(app), expected);
        assert_eq!(served.list(app, &page(1, 1)).expect(200).json()["total"], expected.len());
    }
    served.change("offers", WEB_OFFER, &json!({ "active": true }));
    served.signpost.refresh();
    assert_eq!(APPS.map(|app| served.ids(app)), before);

    served.change("apps", IOS_APP, &json!({ "blocked_offers": [WEB_OFFER] }));
    served.signpost.refresh();
    assert_eq!(in_all(&served), [true, false, true], "blocked for one app");
    served.change("apps", IOS_APP, &json!({ "blocked_offers": [] }));
    served.change("offers", WEB_OFFER, &json!({ "ends_at": 1_700_000_000 }));
    served.signpost.refresh();
    assert_eq!(in_all(&served), [false; 3], "ended");
    served.change("offers", WEB_OFFER, &json!({ "ends_at": null, "starts_at": 4_000_000_000_i64 }));
    served.signpost.refresh();
    assert_eq!(in_all(&served), [false; 3], "not started");
    served.change("offers", WEB_OFFER, &json!({ "starts_at": 1_700_000_000, "os": "ios" }));
    served.signpost.refresh();
    assert_eq!(in_all(&served), [false, true, false], "for another platform");
    served.change("offers", WEB_OFFER, &json!({ "os": "web", "conversion_cap": { "dur": "DAILY", "lim": 0 } }));
    served.signpost.refresh();
    assert_eq!(in_all(&served), [false; 3], "no conversions left");
    served.change("offers", WEB_OFFER, &json!({ "conversion_cap": { "dur": "DAILY", "lim": 1 } }));
    served.signpost.refresh();
    assert_eq!(in_all(&served), [true; 3]);
    assert_eq!(served.offer(WEB_APP, WEB_OFFER)["conversion_cap"]["lim"], 1);
    // An offer can be blocked before it exists.
    served.change("apps", WEB_APP, &json!({ "blocked_offers": ["a-new-one", "48120"] }));
    let mut new = served.demo.offers[WEB_OFFER].clone();
    new["goals"][0]["id"] = json!("a-new-goal");
    served.demo.offers.insert("a-new-one".into(), new);
    served.change("offers", "a-new-one", &json!({ "name": "Begins here" }));
    served.signpost.refresh();
    assert_eq!(APPS.map(|app| served.shows(app, "a-new-one")), [true, true, false]);
    assert_eq!(served.ids(IOS_APP).last().unwrap(), "a-new-one", "letters follow digits");
    check_every_field(&served, IOS_APP);
}

#[test]
fn changed_texts_goals_and_currencies_are_listed() {
    let mut served = Served::unlimited();
    let before = served.offer(IOS_APP, "25963");
    let goals = served.demo.offers["25963"]["goals"].clone();

    served.change(
        "offers",
        "25963",
        &json!({
            "name": "Now with a \"name\" \\ of its own",
            "desc": "Line one\nLine two & more,\u{2028}and three",
            "lp_url": "https://apps.apple.com/gb/app/id1?a=1&b=2",
            "ctg": ["NEW", "DEPOSIT"],
            "geo_tgt": { "include": [], "exclude": ["FR"] },
            "goals": [
                { "id": "25963-x", "ttl": "First now", "instr": "1. Go", "payout_usd": 0.000_001, "ord": 0, "gl_val": null },
                goals[3], goals[1],
            ],
            "click_cap": { "dur": "DAILY", "lim": 1_000_000_000 },
        }),
    );
    served.signpost.refresh();
    for app in APPS {
        check_every_field(&served, app);
    }
    let after = served.offer(IOS_APP, "25963");
    assert!(after["upd_ts"].as_i64() >= before["upd_ts"].as_i64());
    assert_eq!(after["name"], json!("Now with a \"name\" \\ of its own"));
    assert_eq!(after["desc"]["raw"], "Line one\nLine two & more,\u{2028}and three");
    assert_eq!(after["gls"].as_array().unwrap().len(), 3);
    assert!(after["trk_url"].as_str().unwrap().contains("?rid=25963-x&app=10000002&user_id={your_user_id}"));

    for currency in [
        json!({ "name": "Stars \"✦\"", "per_usd": 33.3, "decimals": 0, "rounding": "down" }),
        json!({ "name": "Kr", "per_usd": 0.000_007, "decimals": 6, "rounding": "up" }),
        json!({ "name": "Ducats", "per_usd": 123_456.789, "decimals": 1, "rounding": "nearest" }),
        json!({ "name": "Lira", "per_usd": 1_000_000_000, "decimals": 0, "rounding": "down" }),
    ] {
        served.change("apps", IOS_APP, &json!({ "currency": currency }));
        served.signpost.refresh();
        check_every_field(&served, IOS_APP);
        assert_eq!(served.offer(IOS_APP, "25963")["inapp_pyt"]["cur"], currency["name"]);
    }
    check_every_field(&served, ANDROID_APP);
}

#[test]
fn a_replaced_key_or_a_withdrawn_approval_ends_access() {
    let mut served = Served::unlimited();
    let old_key = served.pub_key.clone();
    let codes = |served: &Served, key: &str| {
        APPS.map(|app| match served.signpost.offers(app, key, &page(1, 1)) {
            answer if answer.status == 200 => "shown".to_owned(),
            answer => answer.code(),
        })
    };
    served.pub_key = served.signpost.issue_pub_key(PUBLISHER);
    assert_ne!(served.pub_key, old_key);
    served.signpost.refresh();
    assert_eq!(codes(&served, &old_key), ["invalid_credentials"; 3]);
    assert_eq!(codes(&served, &served.pub_key), ["shown"; 3]);

    served.change("publishers", PUBLISHER, &json!({ "approved": false }));
    served.signpost.refresh();
    assert_eq!(codes(&served, &served.pub_key), ["publisher_not_approved"; 3]);
    assert_eq!(codes(&served, &old_key), ["invalid_credentials"; 3]);
    served.change("publishers", PUBLISHER, &json!({ "approved": true }));
    served.signpost.refresh();
    assert_eq!(codes(&served, &served.pub_key), ["shown"; 3], "the key is unchanged");
}

#[test]
fn clicks_change_the_listed_metrics_and_the_remaining_cap() {
    // Five clicks a day, from everywhere, on the web.
    const CAPPED: &str = "60240";
    let served = Served::unlimited();
    let click = |user: &str| {
        let query = format!("rid=606012&app={WEB_APP}&user_id={user}");
        served.signpost.click(&query, "DE")
    };
    assert_eq!(served.offer(WEB_APP, CAPPED).get("metrics"), None);
    click("a").expect(302);
    click("b").expect(302);
    // Counts are flushed a second later.
    let counted = (0..50).any(|_| {
        std::thread::sleep(Duration::from_millis(200));
        served.signpost.refresh();
        served.offer(WEB_APP, CAPPED).get("metrics").is_some()
    });
    assert!(counted, "clicks were not counted");
    let offer = served.offer(WEB_APP, CAPPED);
    assert_eq!(offer["metrics"], json!([{ "m_type": "GLOBAL", "cr": 0, "epc": 0 }]));
    assert_eq!(offer["click_cap"], json!({ "dur": "DAILY", "lim": 3 }));
    for user in ["c", "d", "e"] {
        click(user).expect(302);
    }
    served.signpost.refresh();
    assert_eq!(APPS.map(|app| served.shows(app, CAPPED)), [false; 3], "no clicks left");
}

#[test]
fn a_list_survives_a_crash() {
    let served = Served::unlimited();
    let lists = || APPS.map(|app| served.list(app, &page(1, 1000)).expect(200));
    let before = lists();
    for _ in 0..2 {
        served.signpost.restart();
        for (before, after) in before.iter().zip(&lists()) {
            assert_eq!(before.body, after.body);
            assert_eq!(before.header("ETag"), after.header("ETag"));
        }
    }
}

#[test]
fn a_catalog_and_a_regenerated_pub_key_reach_the_edge_without_a_refresh() {
    let signpost = Setup::new().start();
    signpost.import(&super::demo::text()).expect(200);
    let mut served = Served {
        pub_key: signpost.issue_pub_key(PUBLISHER),
        unapproved_key: String::new(),
        signpost,
        demo: Demo::read(),
    };
    let is_shown = |served: &Served, key: &str| match served.signpost.offers(ANDROID_APP, key, &page(1, 1)).status {
        200 => true,
        401 | 503 => false,
        status => panic!("{status}"),
    };
    let within = |seconds: u64, mut holds: Box<dyn FnMut() -> bool + '_>| {
        let pause = Duration::from_millis(250);
        (0..seconds * 4).any(|_| {
            let done = holds();
            std::thread::sleep(if done { Duration::ZERO } else { pause });
            done
        })
    };
    assert!(
        // The first tracking snapshot may predate the key. The next follows after 10 seconds, and the edge looks for it
        // within 20 more.
        within(45, Box::new(|| is_shown(&served, &served.pub_key))),
        "a new catalog"
    );
    assert!(served.all(ANDROID_APP).len() > 7);

    let old_key = served.pub_key;
    served.pub_key = served.signpost.issue_pub_key(PUBLISHER);
    let replaced = || {
        let (old, new) = (is_shown(&served, &old_key), is_shown(&served, &served.pub_key));
        // The old key was checked first, so the new one is valid if the old one is not.
        assert!(old || new, "neither key is valid");
        !old && new
    };
    assert!(within(45, Box::new(replaced)), "a regenerated key");
}
