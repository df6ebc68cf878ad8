//! Terms that an app's outbox receives from the catalog.

use contract::catalog::{GetTerms, Put};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{Catalog, Faults, app, app_with_url, demo::Demo, offer, refused, with};
use contract::{
    catalog::{CallbackSettings, Command, GoalTerms, OfferTerms, Resource},
    operation::Command as _,
};
use domain::model::{CurrencyRate, MicroUsd, OfferId, money::PerUsd};

const APP: &str = "10000001";

fn with_app() -> Catalog {
    let catalog = Catalog::small();
    catalog.put(Resource::App, APP, &app("acme"));
    catalog
}

fn offer_terms(catalog: &Catalog, offer: &str) -> OfferTerms {
    catalog.terms(APP, &[offer]).offers[&OfferId::parse(offer).unwrap()].clone()
}

#[test]
fn an_outbox_receives_the_terms_of_its_app_and_the_requested_offers() {
    let catalog = Catalog::from_fixtures();
    let demo = Demo::read();
    let offers: Vec<_> = demo.offers.keys().map(String::as_str).collect();
    for (app, document) in &demo.apps {
        let terms = catalog.terms(app, &offers);
        assert_eq!(terms.publisher_id.as_str(), document["publisher_id"]);
        let currency: CurrencyRate = serde_json::from_value(document["currency"].clone()).unwrap();
        assert_eq!(terms.currency, currency);
        let none = CallbackSettings {
            revision: 0,
            sealed: None,
        };
        assert_eq!(terms.callback, none);
        assert!(
            terms
                .offers
                .keys()
                .map(OfferId::as_str)
                .eq(offers.iter().copied())
        );
        for (id, found) in &terms.offers {
            let document = &demo.offers[id.as_str()];
            assert_eq!(found.advertiser_id.as_str(), document["advertiser_id"]);
            let days = document["conversion_window_days"].as_u64().unwrap_or(30);
            assert_eq!(u64::from(found.conversion_window_days), days, "{id}");
            let cap = document["conversion_cap"]["lim"].as_u64();
            assert_eq!(found.conversion_cap.map(u64::from), cap, "{id}");
            let mut goals: Vec<_> = document["goals"].as_array().unwrap().iter().collect();
            goals.sort_by_key(|goal| (goal["ord"].as_u64(), goal["id"].as_str()));
            let expected = goals.into_iter().map(|goal| GoalTerms {
                id: goal["id"].as_str().unwrap().into(),
                ord: u32::try_from(goal["ord"].as_u64().unwrap()).unwrap(),
                gl_val: goal["gl_val"].as_str().map(str::to_owned),
                payout_micro_usd: serde_json::from_value::<MicroUsd>(goal["payout_usd"].clone())
                    .unwrap()
                    .0,
                retired: false,
            });
            assert!(found.goals.iter().cloned().eq(expected), "{id}: {found:?}");
        }
    }
}

#[test]
fn an_unknown_app_is_refused_and_not_stored() {
    let catalog = with_app();
    let before = catalog.dump();
    for unknown in ["10000002", "1000000", "x", ""] {
        let (code, message) = refused(catalog.try_terms(unknown, &["o-1"]));
        assert_eq!(
            (code, message),
            ("not_found", format!("there is no app {unknown}"))
        );
    }
    assert_eq!(catalog.dump(), before);
}

#[test]
fn unknown_offers_are_left_out() {
    let catalog = with_app();
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    let paused = json!({ "active": false, "ends_at": 1 });
    catalog.put(Resource::Offer, "o-2", &with(offer(&["g-2"]), &paused));
    let requested = ["o-3", "o-2", "o-1", "o-2", "o_1", "", "O-1"];
    let found = catalog.terms(APP, &requested).offers;
    assert!(found.keys().map(OfferId::as_str).eq(["o-1", "o-2"]), "{found:?}");
    assert!(catalog.terms(APP, &[]).offers.is_empty());
}

#[test]
fn a_cap_carries_its_revision() {
    let catalog = with_app();
    let put_cap = |cap: Value| {
        let members = json!({ "conversion_cap": cap, "conversion_window_days": 7 });
        catalog.put(Resource::Offer, "o-1", &with(offer(&["g-1"]), &members));
        let found = offer_terms(&catalog, "o-1");
        assert_eq!(found.conversion_window_days, 7);
        (found.conversion_cap, found.revision)
    };
    let (cap, first) = put_cap(json!({ "dur": "DAILY", "lim": 5 }));
    assert_eq!(cap, Some(5));
    let (cap, second) = put_cap(json!({ "dur": "DAILY", "lim": 0 }));
    assert!(cap == Some(0) && second > first, "{cap:?} of {second}");
    let (cap, third) = put_cap(Value::Null);
    assert!(cap.is_none() && third > second, "{cap:?} of {third}");
    assert_eq!(put_cap(Value::Null), (None, third), "a repeated PUT is no change");
}

#[test]
fn terms_list_retired_goals_in_order() {
    let catalog = with_app();
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1", "g-2", "g-3"]));
    catalog.put(Resource::Offer, "o-1", &offer(&["g-3"]));
    catalog.put(Resource::Offer, "o-2", &offer(&["g-0"]));
    catalog.wait(400 * 86_400_000);
    let goals = offer_terms(&catalog, "o-1").goals;
    let found: Vec<_> = goals
        .iter()
        .map(|goal| (goal.id.as_str(), goal.retired))
        .collect();
    assert_eq!(found, [("g-1", true), ("g-2", true), ("g-3", false)]);
    assert!(goals.iter().all(|goal| goal.payout_micro_usd == 1_250_000));
}

#[test]
fn terms_are_current_until_the_operator_changes_them() {
    let catalog = with_app();
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    let ask = |since: Option<i64>| {
        let requested = catalog.send(Command::Terms(GetTerms {
            app_id: APP.into(),
            offers: vec!["o-1".into()],
            since,
        }));
        requested.unwrap()
    };
    let is_current = |since: i64| ask(Some(since)).status == 204;
    let changes: [(&str, &dyn Fn()); 4] = [
        ("a payout", &|| {
            let goals =
                json!({ "goals": [with(offer(&["g-1"])["goals"][0].clone(), &json!({ "payout_usd": 9 }))] });
            catalog.put(Resource::Offer, "o-1", &with(offer(&["g-1"]), &goals));
        }),
        ("a callback", &|| {
            catalog.put(Resource::App, APP, &app_with_url("https://acme.example.com/cb"));
        }),
        ("a currency", &|| {
            let currency =
                json!({ "currency": with(app("acme")["currency"].clone(), &json!({ "per_usd": 7 })) });
            catalog.put(Resource::App, APP, &with(app("acme"), &currency));
        }),
        ("an import", &|| {
            let line = with(offer(&["g-1", "g-2"]), &json!({ "kind": "offer", "id": "o-1" }));
            assert_eq!(catalog.import("i", &format!("{line}\n")).unwrap().status, 200);
        }),
    ];
    for (what, change) in changes {
        let before = catalog.terms(APP, &["o-1"]);
        assert!(is_current(before.change), "before {what}");
        change();
        let found = ask(Some(before.change));
        assert_eq!(found, ask(None), "after {what}");
        assert_ne!(before, catalog.terms(APP, &["o-1"]), "terms change after {what}");
    }
    // A client ahead of the last change has to fetch the terms.
    let last = catalog.terms(APP, &["o-1"]).change;
    assert!(is_current(last) && !is_current(last + 1) && !is_current(0));
}

#[test]
fn terms_carry_a_sealed_callback_that_opens_for_its_app() {
    let catalog = Catalog::small();
    let document = app_with_url("https://acme.example.com/cb?u={user_id}");
    catalog.put(Resource::App, APP, &document);
    let reply = catalog.try_terms(APP, &[]).unwrap();
    assert!(!reply.body.contains("whsec_") && !reply.body.contains("acme.example.com"));
    let settings = catalog.terms(APP, &[]).callback;
    assert!(settings.revision > 0, "{settings:?}");
    let sealed = settings.sealed.unwrap();
    let opened = catalog.vault.open(&format!("callback/{APP}"), &sealed.0).unwrap();
    let opened: Value = serde_json::from_slice(&opened).unwrap();
    assert_eq!(opened, document["callback"]);
}

#[test]
fn only_the_first_request_for_terms_writes() {
    let with_known_outbox = || {
        let catalog = with_app();
        catalog.terms(APP, &[]);
        catalog
    };
    let catalog = with_app();
    catalog.db.inject(Faults::none());
    catalog.terms(APP, &[]);
    assert_eq!(catalog.db.writes(), 1);
    catalog.terms(APP, &[]);
    assert_eq!(catalog.db.writes(), 1);
    assert_eq!(catalog.dump(), with_known_outbox().dump());
    let terms = Command::Terms(GetTerms {
        app_id: APP.into(),
        offers: Vec::new(),
        since: None,
    });
    assert!(terms.is_idempotent());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_rate_of_six_decimals_reaches_the_outbox_exactly(
        per_usd in prop_oneof![1..=1_000_000_000_000_000_i64, 1..=100_i64],
        decimals in 0..=6_u8,
    ) {
        let catalog = Catalog::small();
        let (whole, rest) = (per_usd / 1_000_000, per_usd % 1_000_000);
        let document = app("acme").to_string();
        let written = document.replace("\"per_usd\":1000", &format!("\"per_usd\":{whole}.{rest:06}"));
        let written = written.replace("\"decimals\":0", &format!("\"decimals\":{decimals}"));
        let put = Command::Put(Put { resource: Resource::App, id: APP.into(), body: written });
        catalog.send(put).unwrap();
        let found = catalog.terms(APP, &[]).currency;
        prop_assert_eq!((found.per_usd, found.decimals), (PerUsd(per_usd), decimals));
    }
}
