//! Selection of listed offers: visibility, filters and pages, compared with the naive model.

use serde_json::{Value, json};

use super::{APPS, Served, demo, filter, id, now_s, page};
use crate::harness::{ANDROID_APP, IOS_APP, WEB_APP};

const TYPES: [&str; 8] = ["CPR", "CPI", "CPL", "CPC", "CPE", "CPA", "APK_INSTALL", "APK_REGISTER"];

/// Whether an offer passes a filter, which must be valid.
fn passes(id: &str, offer: &Value, filter: &Value) -> bool {
    let matching = &filter["match"];
    let values = if matching["value"].is_array() { &matching["value"] } else { &matching["values"] };
    demo::strings(values).any(|value| match filter["dim"].as_str().unwrap() {
        "offer_type" => offer["off_type"] == value,
        "platform" => offer["os"] == value,
        "country" => demo::is_for(offer, &value.to_uppercase()),
        "offer_id" => id == value,
        other => panic!("{other}"),
    })
}

/// Requests offers with these filters and checks ids, order and total. Returns the total.
#[track_caller]
fn check(served: &Served, app: &str, filters: &Value) -> usize {
    let visible = served.demo.visible(app, now_s());
    let all_pass = |(id, offer): &(&String, &Value)| {
        let mut filters = filters.as_array().unwrap().iter();
        filters.all(|filter| passes(id, offer, filter))
    };
    let expected: Vec<_> = visible.filter(all_pass).map(|(id, _)| id.clone()).collect();
    let answer = served.list(app, &json!({ "page": 1, "size": 1000, "filt": filters })).expect(200);
    let body = answer.json();
    let listed: Vec<_> = body["offers"].as_array().unwrap().iter().map(id).collect();
    assert_eq!(listed, expected, "{answer:?}");
    assert_eq!(body["total"], expected.len(), "{answer:?}");
    expected.len()
}

#[test]
fn each_app_lists_unblocked_live_offers_for_its_platform() {
    let served = Served::shared();
    let counts = APPS.map(|app| check(&served, app, &json!([])));
    // The fixtures have an offer for each reason.
    assert!(counts.iter().all(|&count| count > 7), "{counts:?}");
    let android = served.ids(ANDROID_APP);
    for (id, why) in
        [("48120", "blocked for this app"), ("60733", "not active"), ("60501", "ended"), ("41588", "starts in 2031")]
    {
        assert!(served.demo.offers.contains_key(id) && !android.iter().any(|listed| listed == id), "{id}: {why}");
    }
    assert!(served.ids(IOS_APP).contains(&"48120".into()), "blocked elsewhere");
    assert!(android.is_sorted() && android.first().unwrap().as_str() == "118203", "bytewise");
}

#[test]
fn each_filter_lists_the_matching_offers() {
    let served = Served::shared();
    let mut countries: Vec<_> = served
        .demo
        .offers
        .values()
        .flat_map(|offer| ["include", "exclude"].map(|list| demo::strings(&offer["geo_tgt"][list])))
        .flatten()
        .collect();
    countries.extend(["ZW", "NR", "XK"]);
    countries.sort_unstable();
    countries.dedup();
    assert!(countries.len() > 80, "{countries:?}");

    for app in APPS {
        let mut sum = 0;
        for off_type in TYPES {
            sum += check(&served, app, &json!([filter("offer_type", "any", &[off_type])]));
            check(&served, app, &json!([filter("offer_type", "exact", &[off_type])]));
        }
        assert_eq!(sum, check(&served, app, &json!([])));
        for platform in ["ios", "android", "web"] {
            check(&served, app, &json!([filter("platform", "any", &[platform])]));
        }
    }
    for (n, country) in countries.iter().enumerate() {
        // Upper case, lower case, and one of each.
        let country = match n / 3 % 3 {
            0 => (*country).to_owned(),
            1 => country.to_lowercase(),
            _ => country[..1].to_owned() + &country[1..].to_lowercase(),
        };
        check(&served, APPS[n % 3], &json!([filter("country", "exact", &[&country])]));
    }
    // Ids of listed, blocked, inactive and unknown offers, and invalid ids.
    for ids in [
        &["60231"][..],
        &["48120"],
        &["60733"],
        &["no-such-offer"],
        &["no such/id", ""],
        &["60231", "24106", "60231", "none", "118203"],
    ] {
        check(&served, ANDROID_APP, &json!([filter("offer_id", "any", ids)]));
    }
    assert_eq!(check(&served, ANDROID_APP, &json!([filter("offer_id", "exact", &["60231"])])), 1);
}

#[test]
fn an_offer_must_match_every_filter_and_any_of_its_values() {
    let served = Served::shared();
    let mut passed = 0;
    for off_type in TYPES {
        for platform in ["ios", "android", "web"] {
            for country in ["DE", "us", "MY"] {
                let filters = json!([
                    filter("offer_type", "exact", &[off_type]),
                    filter("platform", "any", &[platform]),
                    filter("country", "any", &[country]),
                ]);
                passed += check(&served, ANDROID_APP, &filters);
            }
        }
    }
    assert!(passed > 10, "{passed}");
    let by_country = |countries: &[&str]| filter("country", "any", countries);
    for filters in [
        json!([filter("offer_type", "any", &["CPI", "CPE"])]),
        json!([filter("offer_type", "any", &TYPES)]),
        json!([filter("platform", "any", &["ios", "web", "android"])]),
        json!([by_country(&["JP", "kr", "TW"])]),
        // Two filters of one dimension: both apply.
        json!([by_country(&["DE"]), by_country(&["FR"])]),
        json!([filter("offer_type", "any", &["CPI", "CPC"]), filter("offer_type", "any", &["CPC", "CPL"])]),
        json!([filter("platform", "exact", &["ios"]), filter("platform", "exact", &["web"])]),
        json!([
            filter("offer_id", "any", &["60231", "60255", "24106"]),
            by_country(&["GB"]),
            filter("platform", "exact", &["web"]),
        ]),
    ] {
        for app in APPS {
            check(&served, app, &filters);
        }
    }
}

#[test]
fn value_and_values_are_synonyms() {
    let served = Served::shared();
    let filt = |matching: Value| json!([{ "dim": "offer_type", "match": matching }]);
    let value = json!(["CPC", "CPL"]);
    let counts = [
        json!({ "type": "any", "value": value }),
        json!({ "type": "any", "values": value }),
        json!({ "type": "any", "value": value, "values": value }),
    ]
    .map(|matching| check(&served, WEB_APP, &filt(matching)));
    assert!(counts[0] > 0 && counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    let different = json!({ "type": "any", "value": value, "values": ["CPC"] });
    let answer = served.list(WEB_APP, &json!({ "page": 1, "size": 9, "filt": filt(different) }));
    answer.expect_error(400, "invalid_filter");
    for none in [json!(null), json!([])] {
        let body = json!({ "page": 1, "size": 1000, "filt": none });
        assert_eq!(served.list(WEB_APP, &body).expect(200).json()["offers"], json!(served.all(WEB_APP)));
    }
}

#[test]
fn pages_cover_the_list_without_gaps_or_repeats() {
    let served = Served::shared();
    for app in APPS {
        let all = served.all(app);
        for size in [1, 7, 1000] {
            let mut seen = Vec::new();
            for number in 1.. {
                let body = served.list(app, &page(number, size)).expect(200).json();
                assert_eq!(body["total"], all.len());
                let offers = body["offers"].as_array().unwrap().clone();
                let left = all.len() - seen.len();
                assert_eq!(offers.len(), left.min(size as usize), "page {number} of {size}");
                if offers.is_empty() {
                    break;
                }
                seen.extend(offers);
            }
            assert_eq!(seen, all, "pages of {size}");
        }
        for beyond in [1_000, u32::MAX] {
            let body = served.list(app, &page(beyond, 1000)).expect(200).json();
            assert_eq!(body, json!({ "offers": [], "total": all.len() }));
        }
    }
    let filters = json!([filter("offer_type", "any", &["CPC"])]);
    let clicks = served.signpost.list(WEB_APP, &served.pub_key, &filters);
    for (number, offer) in (1..).zip(&clicks) {
        let body = json!({ "page": number, "size": 1, "filt": filters });
        let body = served.list(WEB_APP, &body).expect(200).json();
        assert_eq!(body, json!({ "offers": [offer], "total": clicks.len() }));
    }
}
