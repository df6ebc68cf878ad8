//! What an app's outbox is told when it asks.

use contract::catalog::{GetTerms, IssueToken, Put, RevokeToken};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    Catalog, Faults, NOON, app, app_calling, body, demo::Demo, offer, refused, sqlite::Sqlite, with,
};
use contract::{
    catalog::{CallbackSettings, Command, GoalTerms, OfferTerms, Resource},
    operation::{Bytes, Command as _},
};
use domain::model::{CurrencyRate, MicroUsd, OfferId, credentials, money::PerUsd};
use origin::catalog::schema::MIGRATIONS;
use platform::{database::Database, migrations::migrate, params};

const APP: &str = "10000001";

fn with_app() -> Catalog {
    let catalog = Catalog::small();
    catalog.put(Resource::App, APP, &app("acme"));
    catalog
}

fn of_offer(catalog: &Catalog, offer: &str) -> OfferTerms {
    catalog.terms(APP, &[offer]).offers[&OfferId::parse(offer).unwrap()].clone()
}

#[test]
fn an_outbox_is_told_what_an_app_and_the_offers_asked_for_pay() {
    let catalog = Catalog::of_fixtures();
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
        for (id, told) in &terms.offers {
            let document = &demo.offers[id.as_str()];
            assert_eq!(told.advertiser_id.as_str(), document["advertiser_id"]);
            let days = document["conversion_window_days"].as_u64().unwrap_or(30);
            assert_eq!(u64::from(told.conversion_window_days), days, "{id}");
            let cap = document["conversion_cap"]["lim"].as_u64();
            assert_eq!(told.conversion_cap.map(u64::from), cap, "{id}");
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
            assert!(told.goals.iter().cloned().eq(expected), "{id}: {told:?}");
        }
    }
}

#[test]
fn an_app_that_is_not_there_is_refused_and_not_noted() {
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
fn offers_that_are_not_there_are_left_out() {
    let catalog = with_app();
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    let paused = json!({ "active": false, "ends_at": 1 });
    catalog.put(Resource::Offer, "o-2", &with(offer(&["g-2"]), &paused));
    let asked = ["o-3", "o-2", "o-1", "o-2", "o_1", "", "O-1"];
    let told = catalog.terms(APP, &asked).offers;
    assert!(told.keys().map(OfferId::as_str).eq(["o-1", "o-2"]), "{told:?}");
    assert!(catalog.terms(APP, &[]).offers.is_empty());
}

#[test]
fn a_cap_carries_the_change_that_it_is_from() {
    let catalog = with_app();
    let told = |cap: Value| {
        let members = json!({ "conversion_cap": cap, "conversion_window_days": 7 });
        catalog.put(Resource::Offer, "o-1", &with(offer(&["g-1"]), &members));
        let told = of_offer(&catalog, "o-1");
        assert_eq!(told.conversion_window_days, 7);
        (told.conversion_cap, told.revision)
    };
    let (cap, first) = told(json!({ "dur": "DAILY", "lim": 5 }));
    assert_eq!(cap, Some(5));
    let (cap, second) = told(json!({ "dur": "DAILY", "lim": 0 }));
    assert!(cap == Some(0) && second > first, "{cap:?} of {second}");
    let (cap, third) = told(Value::Null);
    assert!(cap.is_none() && third > second, "{cap:?} of {third}");
    assert_eq!(told(Value::Null), (None, third), "a repeated PUT is no change");
}

#[test]
fn a_retired_goal_is_told_as_such_and_in_its_place() {
    let catalog = with_app();
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1", "g-2", "g-3"]));
    catalog.put(Resource::Offer, "o-1", &offer(&["g-3"]));
    catalog.put(Resource::Offer, "o-2", &offer(&["g-0"]));
    catalog.wait(400 * 86_400_000);
    let goals = of_offer(&catalog, "o-1").goals;
    let told: Vec<_> = goals
        .iter()
        .map(|goal| (goal.id.as_str(), goal.retired))
        .collect();
    assert_eq!(told, [("g-1", true), ("g-2", true), ("g-3", false)]);
    assert!(goals.iter().all(|goal| goal.payout_micro_usd == 1_250_000));
}

#[test]
fn the_tokens_are_the_advertisers_two_newest_that_are_not_revoked() {
    let catalog = with_app();
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    catalog.put(Resource::Advertiser, "southwind", &json!({ "name": "Southwind" }));
    let issue = |advertiser: &str| {
        let advertiser_id = advertiser.into();
        let issued = body(
            &catalog
                .send(Command::IssueToken(IssueToken { advertiser_id }))
                .unwrap(),
            201,
        );
        let hash = credentials::hash(issued["token"].as_str().unwrap());
        let id = issued["token_id"].as_str().unwrap().to_owned();
        (id, Bytes(hash.to_vec()))
    };
    let told = || of_offer(&catalog, "o-1").tokens;
    assert_eq!(told(), []);
    issue("southwind");
    let [a, b, c] = [0; 3].map(|_| issue("northwind"));
    assert!(!told().contains(&a.1));
    assert_eq!(told(), [b.1.clone(), c.1]);
    let (advertiser_id, token_id) = ("northwind".into(), c.0);
    let revoke = Command::RevokeToken(RevokeToken {
        advertiser_id,
        token_id,
    });
    catalog.send(revoke).unwrap();
    assert_eq!(told(), [b.1]);
}

#[test]
fn terms_stand_until_the_operator_changes_them_and_not_a_question_longer() {
    let catalog = with_app();
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    let ask = |since: Option<i64>| {
        let asked = catalog.send(Command::Terms(GetTerms {
            app_id: APP.into(),
            offers: vec!["o-1".into()],
            since,
        }));
        asked.unwrap()
    };
    let stands = |since: i64| ask(Some(since)).status == 204;
    let advertiser_id = || "northwind".to_owned();
    let issue = || {
        let advertiser_id = advertiser_id();
        let issued = catalog
            .send(Command::IssueToken(IssueToken { advertiser_id }))
            .unwrap();
        body(&issued, 201)["token_id"].as_str().unwrap().to_owned()
    };
    let token_id = issue();
    let changes: [(&str, &dyn Fn()); 6] = [
        ("a payout", &|| {
            let goals =
                json!({ "goals": [with(offer(&["g-1"])["goals"][0].clone(), &json!({ "payout_usd": 9 }))] });
            catalog.put(Resource::Offer, "o-1", &with(offer(&["g-1"]), &goals));
        }),
        ("a token", &|| drop(issue())),
        ("a token revoked", &|| {
            let revoke = Command::RevokeToken(RevokeToken {
                advertiser_id: advertiser_id(),
                token_id: token_id.clone(),
            });
            catalog.send(revoke).unwrap();
        }),
        ("a callback", &|| {
            catalog.put(Resource::App, APP, &app_calling("https://acme.example.com/cb"));
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
        assert!(stands(before.change), "before {what}");
        change();
        let told = ask(Some(before.change));
        assert_eq!(told, ask(None), "after {what}");
        assert_ne!(before, catalog.terms(APP, &["o-1"]), "{what} shows");
    }
    // As of a change that is still to come nothing stands.
    let last = catalog.terms(APP, &["o-1"]).change;
    assert!(stands(last) && !stands(last + 1) && !stands(0));
}

#[test]
fn a_callback_is_told_sealed_and_opens_for_its_app() {
    let catalog = Catalog::small();
    let document = app_calling("https://acme.example.com/cb?u={user_id}");
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
fn only_the_first_question_writes() {
    let asked_before = || {
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
    assert_eq!(catalog.dump(), asked_before().dump());
    let terms = Command::Terms(GetTerms {
        app_id: APP.into(),
        offers: Vec::new(),
        since: None,
    });
    assert!(terms.is_idempotent());
}

#[test]
fn an_app_from_before_there_were_outboxes_has_its_callback_still() {
    let old = Catalog {
        db: Sqlite::in_memory(),
        ..Catalog::empty()
    };
    migrate(&old.db, NOON, &MIGRATIONS[..1]).unwrap();
    let document = app("acme").to_string();
    for (id, sealed) in [("10000001", Some(vec![1, 2, 3])), ("10000002", None)] {
        let insert = "INSERT INTO apps (id, publisher_id, document, callback_sealed) VALUES (?, ?, ?, ?)";
        old.db
            .execute(insert, params![id, "acme", document.as_str(), sealed])
            .unwrap();
    }
    migrate(&old.db, NOON, MIGRATIONS).unwrap();
    for (id, sealed) in [("10000001", Some(Bytes(vec![1, 2, 3]))), ("10000002", None)] {
        let expected = CallbackSettings { revision: 0, sealed };
        assert_eq!(old.terms(id, &[]).callback, expected);
    }
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
        let told = catalog.terms(APP, &[]).currency;
        prop_assert_eq!((told.per_usd, told.decimals), (PerUsd(per_usd), decimals));
    }
}
