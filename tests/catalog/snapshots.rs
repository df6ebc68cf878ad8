//! The two snapshots equal the catalog: compared with a naive model over the fixtures, and at the boundaries of dates.

use contract::catalog::IssuePubKey;
use serde_json::{Value, json};

use crate::{
    Catalog, NOON, app, body,
    demo::{self, Demo},
    offer, with,
};
use contract::catalog::{Command, Resource};
use domain::{
    catalog::Offer,
    model::{AppId, Country, OfferId, OfferType, Platform, credentials},
};

/// The seconds on both sides of every date in the fixtures, and noon, in UNIX seconds.
fn instants(demo: &Demo) -> Vec<i64> {
    let dates = |offer: &Value| ["starts_at", "ends_at"].map(|date| offer[date].as_i64());
    let mut instants: Vec<_> = demo.offers.values().flat_map(dates).flatten().collect();
    instants.sort_unstable();
    instants.dedup();
    assert!(instants.len() > 5, "{instants:?}");
    let around = instants.iter().flat_map(|date| [date - 1, *date]);
    around.chain([NOON / 1_000]).collect()
}

#[test]
fn the_tracking_snapshot_shows_exactly_the_catalog() {
    let catalog = Catalog::from_fixtures();
    let publisher_id = "lumen-arcade".to_owned();
    let issued = catalog.send(Command::IssuePubKey(IssuePubKey { publisher_id })).unwrap();
    let pub_key = body(&issued, 201)["pub_key"].as_str().unwrap().to_owned();
    let demo = Demo::read();
    let tracking = catalog.tracking();

    for (id, app) in &demo.apps {
        let shown = tracking.app(AppId::parse(id).unwrap()).unwrap();
        let publisher = app["publisher_id"].as_str().unwrap();
        assert_eq!((shown.id.to_string(), shown.publisher.id), (id.clone(), publisher));
        assert_eq!(shown.publisher.approved, demo.publishers[publisher]["approved"] == true);
        let key_hash = (publisher == "lumen-arcade").then(|| credentials::hash(&pub_key));
        assert_eq!(shown.publisher.pub_key_hash.copied(), key_hash);
        assert_eq!(app["platform"], shown.platform.as_str());
        assert_eq!(json!(shown.currency()), app["currency"], "app {id}");
        assert_eq!(shown.fallback_url, app["fallback_url"].as_str());
        let mut blocked: Vec<_> = demo::strings(&app["blocked_offers"]).collect();
        blocked.sort_unstable();
        let mut shown_blocked: Vec<_> = shown.blocked_offers().collect();
        shown_blocked.sort_unstable();
        assert_eq!(shown_blocked, blocked);
    }
    assert!(tracking.app(AppId::parse("10000004").unwrap()).is_none());

    let mut goals = 0;
    for (id, offer) in &demo.offers {
        let parsed: Offer = serde_json::from_value(offer.clone()).unwrap();
        for goal in &parsed.goals {
            goals += 1;
            let shown = tracking.goal(goal.id.as_str()).unwrap();
            assert_eq!((shown.id, shown.offer.id, shown.retired), (goal.id.as_str(), id.as_str(), false));
        }
        let shown = tracking.goal(parsed.goals[0].id.as_str()).unwrap().offer;
        let url = offer["target_url"].as_str().or(offer["lp_url"].as_str()).unwrap();
        assert_eq!(shown.target, domain::tracking::target::Template::parse(url).unwrap().as_str());
        assert_eq!(offer["os"], shown.os.as_str());
        for country in Country::all() {
            let expected = demo::is_for(offer, country.as_str());
            assert_eq!(shown.countries.contains(country), expected, "{id} in {country}");
        }
        let includes = demo::strings(&offer["geo_tgt"]["include"]).count();
        assert_eq!(shown.includes_countries, includes > 0);
        let number = |value: &Value| value.as_u64().map(|number| u32::try_from(number).unwrap());
        assert_eq!(shown.click_cap, number(&offer["click_cap"]["lim"]));
        assert_eq!(shown.click_id_max, number(&offer["click_id_max"]));
        let cap = number(&offer["conversion_cap"]["lim"]);
        assert_eq!(shown.current().conversion_cap, cap);
        for instant in instants(&demo) {
            assert_eq!(shown.is_live(instant * 1_000), demo::is_live(offer, instant), "{id} at {instant}");
        }
    }
    assert!(goals > demo.offers.len());
    assert!(tracking.goal("none").is_none() && tracking.goal("").is_none());
}

#[test]
fn the_listing_shows_exactly_the_offers_that_are_live() {
    let catalog = Catalog::from_fixtures();
    let demo = Demo::read();
    for instant in instants(&demo) {
        catalog.now_ms.set(instant * 1_000);
        let live: Vec<_> =
            demo.offers.iter().filter(|(_, offer)| demo::is_live(offer, instant)).map(|(id, _)| id.as_str()).collect();
        assert_eq!(catalog.listed(), live, "at {instant}");
    }

    catalog.now_ms.set(NOON);
    let listing = catalog.listing();
    assert_eq!(listing.built_at_ms(), NOON);
    for row in 0..listing.len() {
        let id = listing.id(row).unwrap();
        assert_eq!(listing.find(&OfferId::parse(id).unwrap()), Some(row));
        let offer = &demo.offers[id];
        let index = row as usize;
        assert_eq!(offer["off_type"], OfferType::from_code(listing.off_types()[index]).unwrap().as_str());
        assert_eq!(offer["os"], Platform::from_code(listing.platforms()[index]).unwrap().as_str());
        for country in Country::all() {
            let is_targeted = listing.for_country(country).nth(index).unwrap();
            assert_eq!(is_targeted, demo::is_for(offer, country.as_str()), "{id} in {country}");
        }
        let figures = listing.figures(row).unwrap();
        assert_eq!((figures.clicks, figures.conversions, figures.payout.0), (0, 0, 0));
        let lim = |cap: &str| offer[cap]["lim"].as_u64();
        assert_eq!(figures.conversion_left.map(u64::from), lim("conversion_cap"), "{id}");
        assert_eq!(figures.click_left.map(u64::from), lim("click_cap"), "{id}");
    }
    assert_eq!(listing.find(&OfferId::parse("none").unwrap()), None);
}

#[test]
fn an_offer_is_live_from_its_first_millisecond_to_its_last() {
    let catalog = Catalog::small();
    let (starts_at, ends_at) = (NOON / 1_000, NOON / 1_000 + 60);
    let dates = json!({ "starts_at": starts_at, "ends_at": ends_at });
    catalog.put(Resource::Offer, "o-1", &with(offer(&["g-1"]), &dates));
    for (now_ms, is_live) in [(NOON - 1, false), (NOON, true), (NOON + 59_999, true), (NOON + 60_000, false)] {
        catalog.now_ms.set(now_ms);
        assert_eq!(catalog.listed().len(), usize::from(is_live), "{now_ms}");
        // A tracking snapshot holds every offer, and each click compares its own time.
        assert_eq!(catalog.tracking().goal("g-1").unwrap().offer.is_live(now_ms), is_live, "{now_ms}");
    }
}

#[test]
fn the_operators_changes_are_in_the_next_snapshots() {
    let catalog = Catalog::small();
    catalog.put(Resource::App, "10000001", &with(app("acme"), &json!({ "blocked_offers": ["o-1", "o-9"] })));
    let blocked = || {
        let tracking = catalog.tracking();
        let app = tracking.app(AppId::parse("10000001").unwrap()).unwrap();
        app.blocked_offers().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(blocked(), ["o-1", "o-9"], "also offers that do not exist yet");
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));

    let live = |id: &str| {
        let tracking = catalog.tracking();
        let offer = tracking.goal("g-1").unwrap().offer;
        assert_eq!(offer.id, id);
        (offer.is_live(catalog.now()), catalog.listed().len())
    };
    assert_eq!(live("o-1"), (true, 1));
    let revision = |tracking: &crate::tracking::Tracking| tracking.goal("g-1").unwrap().offer.revision;
    let before = revision(&catalog.tracking());
    catalog.put(Resource::Offer, "o-1", &with(offer(&["g-1"]), &json!({ "active": false })));
    assert_eq!(live("o-1"), (false, 0));
    assert!(revision(&catalog.tracking()) > before);
    let changed = json!({ "os": "web", "lp_url": "https://example.com/?c={click_id}" });
    catalog.put(Resource::Offer, "o-1", &with(offer(&["g-2", "g-1"]), &changed));
    assert_eq!(live("o-1"), (true, 1));
    let tracking = catalog.tracking();
    let shown = tracking.goal("g-2").unwrap().offer;
    assert_eq!((shown.os, shown.target), (Platform::Web, "https://example.com/?c={click_id}"));
}
