//! The console's questions to the catalog besides resources: search, terms, figures, caps near their end, a check.

use contract::catalog::{CheckOffer, Command, ListTerms, ReadOfferFigures, Resource, Search};
use serde_json::{Value, json};

use crate::{Catalog, app, body, offer, refused, with};
use contract::{
    catalog::{CountWaiting, IssuePubKey, IssueToken, OfferNames, RevokeToken},
    counters::OfferStats,
};
use domain::model::{OfferId, time::UtcDay};
use origin::objects::catalog::{offer_figures::NearCaps, publication::store_stats, sql};
use platform::params;

const O: Resource = Resource::Offer;

fn search(catalog: &Catalog, text: &str) -> Vec<Value> {
    let found = catalog.send(Command::Search(Search { text: text.into() })).unwrap();
    body(&found, 200)["matches"].as_array().unwrap().clone()
}

fn id(text: &str) -> OfferId {
    OfferId::parse(text).unwrap()
}

fn capped(click: u32, conversion: u32) -> Value {
    let cap = |lim: u32| json!({ "dur": "DAILY", "lim": lim });
    json!({ "click_cap": cap(click), "conversion_cap": cap(conversion) })
}

fn taken(catalog: &Catalog, offer: &str, clicks_taken: u32, conversions_taken: u32) {
    let stats = OfferStats {
        offer: id(offer),
        clicks: 1_000,
        conversions: 30,
        payout_micro_usd: 45_500_000,
        clicks_taken,
        conversions_taken,
        apps: vec![],
    };
    store_stats(&catalog.db, "counters-1", UtcDay::of_ms(catalog.now()), &[stats]).unwrap();
}

#[test]
fn a_search_finds_what_an_id_or_a_credential_names() {
    let catalog = Catalog::small();
    catalog.put(Resource::App, "10000001", &app("acme"));
    catalog.put(O, "o-1", &offer(&["g-1"]));
    let publisher_id = "acme".to_owned();
    let key = body(&catalog.send(Command::IssuePubKey(IssuePubKey { publisher_id })).unwrap(), 201);
    let advertiser_id = "northwind".to_owned();
    let issue = Command::IssueToken(IssueToken { advertiser_id });
    let token = body(&catalog.send(issue).unwrap(), 201);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let token_match = |is_issued: bool, is_valid: bool| {
        json!({ "kind": "token", "advertiser_id": "northwind", "token_id": token["token_id"], "is_issued": is_issued,
            "is_valid": is_valid })
    };
    let whole = text(&token["token"]);
    let beginning = whole.rsplit_once('_').unwrap().0;

    let kinds = |text: &str| {
        let found = search(&catalog, text).into_iter();
        found.map(|found| found["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kinds("acme"), ["publisher"]);
    assert_eq!(kinds("10000001"), ["app"]);
    assert_eq!(kinds("northwind"), ["advertiser"]);
    assert_eq!(kinds("o-1"), ["offer"]);
    assert_eq!(
        search(&catalog, "g-1"),
        [json!({ "kind": "goal", "goal_id": "g-1", "offer_id": "o-1", "title": offer(&["g-1"])["goals"][0]["ttl"] })]
    );
    assert_eq!(search(&catalog, &text(&key["pub_key"])), [json!({ "kind": "pub_key", "publisher_id": "acme" })]);
    assert_eq!(search(&catalog, &whole), [token_match(true, true)]);
    assert_eq!(search(&catalog, beginning), [token_match(false, true)]);
    let revoke =
        Command::RevokeToken(RevokeToken { advertiser_id: "northwind".into(), token_id: text(&token["token_id"]) });
    catalog.send(revoke).unwrap();
    assert_eq!(search(&catalog, &whole), [token_match(true, false)]);
    assert_eq!(search(&catalog, beginning), [] as [Value; 0]);
    let long = "x".repeat(100);
    for unknown in ["", "nobody", "o 1", "at_northwind_1_0011223344556677_00", &long] {
        assert_eq!(search(&catalog, unknown), [] as [Value; 0], "{unknown}");
    }
}

#[test]
fn a_search_finds_parts_of_names_and_ids() {
    let catalog = Catalog::small();
    let named = |document: Value, name: &str| with(document, &json!({ "name": name }));
    catalog.put(Resource::App, "10000001", &named(app("acme"), "Puzzle 50%_off"));
    for (offer_id, name) in [("o-1", "Bay of gold"), ("o-2", "Goldfinch"), ("o-3", "Öko Gold")] {
        catalog.put(O, offer_id, &named(offer(&[&format!("g-{offer_id}")]), name));
    }
    let ids = |text: &str| {
        let found = search(&catalog, text).into_iter();
        found
            .map(|found| {
                let id = ["app_id", "offer_id", "publisher_id", "advertiser_id"];
                let id = id.into_iter().find_map(|name| found.get(name));
                id.unwrap().as_str().unwrap().to_owned()
            })
            .collect::<Vec<_>>()
    };
    // Offers whose name begins with the text come first.
    assert_eq!(ids("GOLD"), ["o-2", "o-1", "o-3"]);
    assert_eq!(ids("1000000"), ["10000001"]);
    assert_eq!(ids("50%_"), ["10000001"], "no character is special");
    for none in ["%", "g%d", "_old", "x", "gold gold"] {
        assert_eq!(ids(none), [] as [&str; 0], "{none}");
    }
    // A name that has changed is found as it is now, and documents are not read.
    catalog.put(O, "o-2", &named(offer(&["g-o-2"]), "Silver"));
    assert_eq!(ids("gold"), ["o-1", "o-3"]);
    for find in [sql::FIND_PUBLISHERS, sql::FIND_APPS, sql::FIND_ADVERTISERS, sql::FIND_OFFERS] {
        let steps = catalog.plan(find, params!["x", 10_u32]);
        assert!(steps[0].contains("USING COVERING INDEX"), "{steps:?}");
    }
}

#[test]
fn offers_and_goals_are_named() {
    let catalog = Catalog::small();
    catalog.put(O, "o-1", &with(offer(&["g-1", "g-2"]), &json!({ "name": "Bay of gold" })));
    let names = |ids: &[&str]| {
        let offer_ids = ids.iter().map(|id| (*id).to_owned()).collect();
        let names = Command::OfferNames(OfferNames { offer_ids });
        body(&catalog.send(names).unwrap(), 200)
    };
    let title = offer(&["g-1"])["goals"][0]["ttl"].clone();
    assert_eq!(
        names(&["o-1", "nobody"]),
        json!({ "offers": { "o-1": "Bay of gold" }, "goals": { "g-1": title, "g-2": title } })
    );
    assert_eq!(names(&[]), json!({ "offers": {}, "goals": {} }));
}

#[test]
fn publishers_and_requests_that_wait_in_the_catalog_are_counted() {
    let catalog = Catalog::small();
    let count = || body(&catalog.send(Command::CountWaiting(CountWaiting {})).unwrap(), 200);
    let waiting = |publishers: i64| json!({ "publishers": publishers, "pub_key_requests": 0, "near_caps": 0 });
    assert_eq!(count(), waiting(0));
    let publisher = |approved: bool, closed: bool| {
        let closed = closed.then_some(json!({ "closed": true })).unwrap_or(json!({}));
        with(json!({ "name": "New", "approved": approved }), &closed)
    };
    for (id, approved, closed) in [("new", false, false), ("ended", false, true), ("known", true, false)] {
        catalog.put(Resource::Publisher, id, &publisher(approved, closed));
    }
    assert_eq!(count(), waiting(1));
    // A publisher that was approved before is suspended, and does not wait.
    catalog.put(Resource::Publisher, "known", &publisher(false, false));
    assert_eq!(count(), waiting(1));
}

#[test]
fn one_text_may_be_the_id_of_several_things() {
    let catalog = Catalog::small();
    catalog.put(Resource::Advertiser, "acme", &json!({ "name": "Acme Ads" }));
    catalog.put(O, "acme", &with(offer(&["acme"]), &json!({ "advertiser_id": "acme" })));
    let found = search(&catalog, "acme");
    let kinds: Vec<_> = found.iter().map(|found| &found["kind"]).collect();
    assert_eq!(kinds, ["publisher", "advertiser", "offer", "goal"]);
}

#[test]
fn terms_are_listed_from_the_newest_on() {
    let catalog = Catalog::small();
    catalog.put(O, "o-1", &offer(&["g-1"]));
    catalog.wait(5_000);
    let mut dearer = offer(&["g-1"]);
    dearer["goals"][0]["payout_usd"] = json!(2.5);
    let current = catalog.put(O, "o-1", &dearer)["terms_revision"].clone();
    let offer_id = id("o-1");
    let terms = body(&catalog.send(Command::Terms(ListTerms { offer_id })).unwrap(), 200);
    assert_eq!(terms["current"], current);
    assert_eq!(terms["terms_since"], Value::Null);
    let revisions = terms["revisions"].as_array().unwrap();
    assert_eq!(revisions.len(), 2);
    assert_eq!(revisions[0]["revision"], current);
    assert_eq!(revisions[0]["superseded_at"], Value::Null);
    assert_eq!(revisions[0]["terms"]["goals"][0]["payout_usd"], json!(2.5));
    assert_eq!(revisions[1]["superseded_at"], json!(catalog.now() / 1_000));
    let offer_id = id("o-2");
    assert_eq!(refused(catalog.send(Command::Terms(ListTerms { offer_id }))).0, "not_found");
}

#[test]
fn figures_are_of_30_days_and_caps_of_today() {
    let catalog = Catalog::small();
    catalog.put(O, "o-1", &with(offer(&["g-1"]), &capped(10, 5)));
    catalog.put(O, "o-2", &offer(&["g-2"]));
    taken(&catalog, "o-1", 4, 1);
    let ask = |ids: &[&str]| {
        let offer_ids = ids.iter().map(|text| id(text)).collect();
        catalog.send(Command::OfferFigures(ReadOfferFigures { offer_ids }))
    };
    let figures = body(&ask(&["o-1", "o-2", "o-3"]).unwrap(), 200);
    let caps = json!({
        "click": { "dur": "DAILY", "lim": 10, "used": 4 },
        "conversion": { "dur": "DAILY", "lim": 5, "used": 1 },
    });
    assert_eq!(
        figures["figures"],
        json!({
            "o-1": { "clicks": 1_000, "conversions": 30, "payout_usd": 45.5, "caps": caps },
            "o-2": { "clicks": 0, "conversions": 0, "payout_usd": 0, "caps": { "click": null, "conversion": null } },
        })
    );
    let many: Vec<String> = (0..101).map(|n| format!("o-{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(refused(ask(&many)).0, "invalid_field");
}

#[test]
fn the_fullest_caps_are_found_whatever_the_size_of_the_steps() {
    let catalog = Catalog::small();
    for (offer_id, goal, click, conversion) in [("o-1", "g-1", 10, 100), ("o-2", "g-2", 100, 4), ("o-3", "g-3", 0, 9)] {
        catalog.put(O, offer_id, &with(offer(&[goal]), &capped(click, conversion)));
    }
    taken(&catalog, "o-1", 8, 79);
    taken(&catalog, "o-2", 79, 4);
    taken(&catalog, "o-3", 0, 7);
    let find = || {
        let mut near = NearCaps::default();
        while near.step(&catalog.db, catalog.now()).unwrap() {}
        body(&near.finish(&catalog.db).unwrap(), 200)["caps"].clone()
    };
    let caps = find();
    let found: Vec<_> = caps.as_array().unwrap().iter().map(|cap| (&cap["offer_id"], &cap["kind"])).collect();
    assert_eq!(found, [(&json!("o-2"), &json!("conversion")), (&json!("o-1"), &json!("click"))]);
    assert_eq!(caps[0]["used"], 4);
    // Yesterday's use is not today's.
    catalog.wait(24 * 3_600_000);
    assert_eq!(find(), json!([]));
}

#[test]
fn a_check_refuses_what_a_put_would_and_changes_nothing() {
    let catalog = Catalog::small();
    catalog.put(O, "o-1", &offer(&["g-1"]));
    let before = catalog.dump();
    let check = |offer_id: &str, document: &Value| {
        let (offer_id, body) = (id(offer_id), document.to_string());
        catalog.send(Command::CheckOffer(CheckOffer { offer_id, body }))
    };
    let checked = body(&check("o-2", &offer(&["g-2"])).unwrap(), 200);
    assert_eq!(checked["goals"][0]["id"], "g-2");
    body(&check("o-1", &with(offer(&["g-1"]), &json!({ "active": false }))).unwrap(), 200);
    for document in [
        with(offer(&["g-9"]), &json!({ "advertiser_id": "nobody" })),
        offer(&["g-1"]),
        with(offer(&["g-9"]), &json!({ "off_type": "???" })),
    ] {
        assert_eq!(refused(check("o-9", &document)), refused(catalog.try_put(O, "o-9", &document)),);
    }
    assert_eq!(catalog.dump(), before);
}
