//! Terms as immutable revisions, and the answers that outboxes get for them.

use std::collections::BTreeSet;

use contract::catalog::Put;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{Catalog, Faults, STORE_KEYS, app, app_with_url, demo::Demo, goal, offer, refused, token_mac, with};
use contract::catalog::{CallbackSettings, Command, Resource};
use domain::{
    callbacks::guard::Guard,
    conversions::terms::{GoalTerms, TermsInForce},
    model::{AppId, CurrencyRate, MicroUsd, credentials::Vault, money::PerUsd},
};
use platform::database::Database as _;

const APP: &str = "10000001";
const DAY_MS: i64 = 86_400_000;

fn with_app() -> Catalog {
    let catalog = Catalog::small();
    catalog.put(Resource::App, APP, &app("acme"));
    catalog
}

/// The offer o-1 whose goal g-1 pays `payout_usd`.
fn paying(payout_usd: f64) -> Value {
    let goal = with(goal("g-1"), &json!({ "payout_usd": payout_usd }));
    with(offer(&["g-1"]), &json!({ "goals": [goal] }))
}

/// The snapshot's terms in force of the offer o-1.
fn in_force(catalog: &Catalog) -> TermsInForce {
    catalog.tracking().offer("o-1").unwrap().terms
}

/// The payout by a revision; none if it is lost.
fn payout(catalog: &Catalog, revision: i64) -> Option<i64> {
    match catalog.try_ask_offer("o-1", revision) {
        Ok(_) => Some(catalog.ask_offer("o-1", revision).terms.goals[0].payout_micro_usd),
        lost => {
            assert_eq!(refused(lost).0, "terms_lost");
            None
        }
    }
}

#[test]
fn an_outbox_gets_the_terms_that_the_snapshot_names() {
    let catalog = Catalog::from_fixtures();
    let demo = Demo::read();
    let tracking = catalog.tracking();
    for (app, document) in &demo.apps {
        let known = catalog.ask_app(app);
        assert_eq!(tracking.app(AppId::parse(app).unwrap()).unwrap().current(), Some(known.current.clone()));
        assert_eq!(known.current.publisher_id.as_str(), document["publisher_id"]);
        let currency: CurrencyRate = serde_json::from_value(document["currency"].clone()).unwrap();
        assert_eq!(known.terms.currency, currency);
        let publisher = &demo.publishers[document["publisher_id"].as_str().unwrap()];
        let none = CallbackSettings {
            revision: 0,
            sealed: None,
            is_suspended: publisher["approved"] == false,
            is_closed: false,
        };
        assert_eq!(known.callback, none);
    }
    for (id, document) in &demo.offers {
        let current = tracking.offer(id).unwrap().current();
        let known = catalog.ask_offer(id, current.terms.revision);
        assert_eq!(known.current, current);
        assert_eq!(known.terms.advertiser_id.as_str(), document["advertiser_id"]);
        let days = document["conversion_window_days"].as_u64().unwrap_or(30);
        assert_eq!(u64::from(known.terms.conversion_window_days), days, "{id}");
        let cap = document["conversion_cap"]["lim"].as_u64();
        assert_eq!(current.conversion_cap.map(u64::from), cap, "{id}");
        let mut goals: Vec<_> = document["goals"].as_array().unwrap().iter().collect();
        goals.sort_by_key(|goal| (goal["ord"].as_u64(), goal["id"].as_str()));
        let expected = goals.into_iter().map(|goal| GoalTerms {
            id: goal["id"].as_str().unwrap().into(),
            gl_val: goal["gl_val"].as_str().map(str::to_owned),
            payout_micro_usd: serde_json::from_value::<MicroUsd>(goal["payout_usd"].clone()).unwrap().0,
        });
        assert!(known.terms.goals.iter().cloned().eq(expected), "{id}: {known:?}");
    }
}

#[test]
fn an_unknown_app_or_offer_is_refused_and_not_stored() {
    let catalog = with_app();
    let before = catalog.dump();
    let (code, message) = refused(catalog.try_ask_app("10000002"));
    assert_eq!((code, message), ("not_found", "no app has the id 10000002".into()));
    let (code, message) = refused(catalog.try_ask_offer("o-1", 1));
    assert_eq!((code, message), ("not_found", "no offer has the id o-1".into()));
    assert_eq!(catalog.dump(), before);
}

#[test]
fn only_changed_terms_make_a_revision() {
    let catalog = with_app();
    let put = |document: &Value| {
        catalog.put(Resource::Offer, "o-1", document);
        in_force(&catalog).revision
    };
    let first = put(&paying(1.0));
    assert!(first >= catalog.now() / 1_000);
    catalog.wait(1);
    let same = [
        json!({}),
        json!({ "name": "Another name", "active": false }),
        json!({ "conversion_cap": { "dur": "DAILY", "lim": 5 }, "ends_at": 2_000_000_000 }),
        json!({ "conversion_window_days": 30 }),
    ];
    for members in same {
        assert_eq!(put(&with(paying(1.0), &members)), first, "{members}");
    }
    let mut last = first;
    let another_goal = json!({ "goals": [goal("g-1"), with(goal("g-2"), &json!({ "ord": 2 }))] });
    for members in
        [another_goal, json!({ "conversion_window_days": 7 }), json!({}), json!({ "goals": paying(2.0)["goals"] })]
    {
        let revision = put(&with(paying(1.0), &members));
        assert!(revision > last, "{members}: {revision} after {last}");
        last = revision;
    }
    assert_eq!((payout(&catalog, first), payout(&catalog, last)), (Some(1_000_000), Some(2_000_000)));
}

#[test]
fn a_cap_is_current_and_carries_the_offers_revision() {
    let catalog = with_app();
    let put_cap = |cap: Value| {
        catalog.put(Resource::Offer, "o-1", &with(offer(&["g-1"]), &json!({ "conversion_cap": cap })));
        let current = catalog.ask_offer("o-1", in_force(&catalog).revision).current;
        (current.conversion_cap, current.revision)
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
fn terms_since_only_rises_and_stays_where_a_document_leaves_it_out() {
    let catalog = with_app();
    let now_s = catalog.now() / 1_000;
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    let documents = [(Resource::Offer, "o-1", offer(&["g-1"])), (Resource::App, APP, app("acme"))];
    for (resource, id, document) in documents {
        let since = || match resource {
            Resource::Offer => in_force(&catalog).since,
            _ => catalog.ask_app(APP).current.terms.since,
        };
        let put = |since: i64| catalog.try_put(resource, id, &with(document.clone(), &json!({ "terms_since": since })));
        assert_eq!(since(), 0);
        put(now_s - 100).unwrap();
        assert_eq!(since(), now_s - 100);
        catalog.put(resource, id, &document);
        assert_eq!(since(), now_s - 100);
        assert_eq!(catalog.get(resource, id)["terms_since"], now_s - 100);
        let (code, message) = refused(put(now_s - 101));
        assert_eq!(code, "invalid_field");
        assert_eq!(
            message,
            format!("terms_since: must not be less than {}, because the time can only be moved later", now_s - 100)
        );
        // Milliseconds, sent by mistake, would pay all clicks for ever by the current terms.
        for future in [now_s + 1, catalog.now()] {
            let (code, message) = refused(put(future));
            assert_eq!(code, "invalid_field");
            assert!(message.starts_with("terms_since: must be UNIX seconds"), "{message}");
        }
        put(now_s).unwrap();
        assert_eq!(since(), now_s);
    }
}

#[test]
fn superseded_terms_are_kept_as_long_as_a_click_may_need_them() {
    let catalog = with_app();
    let put = |payout| {
        catalog.put(Resource::Offer, "o-1", &paying(payout));
        in_force(&catalog).revision
    };
    let revisions = [put(1.0), put(2.0)];
    let payouts = || revisions.map(|revision| payout(&catalog, revision));
    let sweep = || origin::objects::catalog::terms::sweep(&catalog.db, catalog.now()).unwrap();
    catalog.wait(431 * DAY_MS);
    sweep();
    assert_eq!(payouts(), [Some(1_000_000), Some(2_000_000)]);
    catalog.wait(1);
    sweep();
    assert_eq!(payouts(), [None, Some(2_000_000)]);
    // The current terms stay for ever.
    catalog.wait(1_000 * DAY_MS);
    sweep();
    assert_eq!(payouts(), [None, Some(2_000_000)]);
}

/// Terms as the operator enters them.
fn terms_paying(payout_usd: f64) -> Value {
    json!({
        "advertiser_id": "northwind", "conversion_window_days": 30, "once_per": "user",
        "goals": [{ "id": "g-1", "gl_val": null, "payout_usd": payout_usd }],
    })
}

#[test]
fn entered_terms_are_checked_and_replace_none() {
    let catalog = with_app();
    catalog.put(Resource::Offer, "o-1", &paying(1.0));
    let current = in_force(&catalog).revision;
    let good = terms_paying(2.0);
    let before = catalog.dump();
    for (offer, revision, terms, code, part) in [
        ("o-2", 5, good.clone(), "not_found", "o-2"),
        ("o-1", 0, good.clone(), "invalid_field", "revision"),
        ("o-1", current + 1_000_000, good.clone(), "invalid_field", "revision"),
        ("o-1", current, good.clone(), "terms_exist", "never change"),
        ("o-1", 5, with(good.clone(), &json!({ "goals": [] })), "invalid_field", "goals"),
        ("o-1", 5, with(good.clone(), &json!({ "conversion_window_days": 91 })), "invalid_field", "90"),
        ("o-1", 5, with(good.clone(), &json!({ "name": "x" })), "unknown_field", "name"),
    ] {
        let (found, message) = refused(catalog.enter(offer, revision, &terms));
        assert!(found == code && message.contains(part), "{found}: {message}");
    }
    assert_eq!(catalog.dump(), before);
    // The terms that GET lists can be entered again. For an app they are its currency.
    catalog.enter("o-1", 5, &good).unwrap();
    let listed = catalog
        .send(Command::Terms(contract::catalog::ListTerms { offer_id: domain::model::OfferId::parse("o-1").unwrap() }));
    let listed: Value = serde_json::from_str(&listed.unwrap().body).unwrap();
    catalog.enter("o-1", 6, &listed["revisions"][1]["terms"]).unwrap();
    assert_eq!(payout(&catalog, 6), Some(2_000_000));
    let currency = json!({ "currency": app("acme")["currency"] });
    let entered = catalog.send(Command::EnterTerms(contract::catalog::EnterTerms {
        resource: Resource::App,
        id: APP.into(),
        revision: "5".into(),
        body: currency.to_string(),
    }));
    assert_eq!(entered.unwrap().status, 200);
}

#[test]
fn an_outbox_gets_a_sealed_callback_that_opens_for_its_app() {
    let catalog = Catalog::small();
    let document = app_with_url("https://acme.example.com/cb?u={user_id}&t={transaction_id}&v={value}");
    catalog.put(Resource::App, APP, &document);
    let reply = catalog.try_ask_app(APP).unwrap();
    assert!(!reply.body.contains("whsec_") && !reply.body.contains("acme.example.com"));
    let known = catalog.ask_app(APP);
    assert!(known.callback.revision > 0, "{known:?}");
    assert_eq!(known.current.callback_revision, known.callback.revision);
    let sealed = known.callback.sealed.unwrap();
    let opened = catalog.vault.open(&format!("callback/{APP}"), &sealed.0).unwrap();
    let opened: Value = serde_json::from_slice(&opened).unwrap();
    assert_eq!(opened, document["callback"]);
}

#[test]
fn only_the_first_question_of_an_outbox_writes() {
    let catalog = with_app();
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    catalog.db.inject(Faults::none());
    catalog.ask_app(APP);
    let writes = catalog.db.writes();
    catalog.ask_app(APP);
    assert_eq!(catalog.db.writes(), writes);
    catalog.outbox_asks("o-1", APP, 3);
    let asked = catalog.dump();
    catalog.outbox_asks("o-1", APP, 3);
    assert_eq!(catalog.dump(), asked);
}

/// A copy of a catalog's resources, as a backup has them.
fn backup(catalog: &Catalog) -> Catalog {
    let restored = Catalog {
        now_ms: catalog.now_ms.clone(),
        vault: Vault::parse("STORE_KEYS", STORE_KEYS).unwrap(),
        token_mac: token_mac().unwrap(),
        guard: Guard::default(),
        ..Catalog::empty()
    };
    for table in ["state", "publishers", "apps", "advertisers", "offers", "offer_documents", "goals", "terms"] {
        for row in catalog.rows(&format!("SELECT * FROM {table}")) {
            let places = vec!["?"; row.0.len()].join(", ");
            let sql = format!("INSERT INTO {table} VALUES ({places})");
            restored.db.execute(&sql, &row.0).unwrap();
        }
    }
    restored
}

/// All revisions: of the offer's terms, of the app's terms, of the offer, of the app.
fn revisions(catalog: &Catalog) -> [i64; 4] {
    let newest = in_force(catalog).revision;
    let (offer, app) = (catalog.ask_offer("o-1", newest).current, catalog.ask_app(APP).current);
    [offer.terms.revision, app.terms.revision, offer.revision, app.revision]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_restored_catalog_reuses_no_revision(
        before in proptest::collection::vec((0..4_u8, 0..3_000_i64), 1..8),
        lost in proptest::collection::vec((0..4_u8, 1_000..3_000_i64), 1..8),
        after in proptest::collection::vec((0..4_u8, 0..3_000_i64), 1..8),
    ) {
        let catalog = with_app();
        let change = |catalog: &Catalog, changes: &[(u8, i64)]| {
            let mut made = Vec::new();
            for &(value, wait_ms) in changes {
                catalog.wait(wait_ms);
                let known = revisions(catalog);
                catalog.put(Resource::Offer, "o-1", &paying(f64::from(value)));
                let currency = with(app("acme")["currency"].clone(), &json!({ "per_usd": value + 1 }));
                catalog.put(Resource::App, APP, &with(app("acme"), &json!({ "currency": currency })));
                let now = revisions(catalog);
                for (known, now) in known.into_iter().zip(now) {
                    prop_assert!(now >= known);
                }
                made.push(now);
            }
            Ok(made)
        };
        catalog.put(Resource::Offer, "o-1", &paying(9.0));
        change(&catalog, &before)?;
        let at_backup = revisions(&catalog);
        let restored = backup(&catalog);
        let lost = change(&catalog, &lost)?;
        // Changes that follow one another within a second take numbers ahead of the time, and a restore takes longer.
        let last = lost.iter().flat_map(|made| made[..2].to_vec()).max().unwrap_or_default();
        restored.now_ms.set((catalog.now() + 1_000).max((last + 1) * 1_000));
        for (nth, known) in at_backup.into_iter().enumerate() {
            for made in change(&restored, &after)? {
                let is_reused = made[nth] != known && lost.iter().any(|lost| lost[nth] == made[nth]);
                prop_assert!(!is_reused, "{made:?} was used before the restore: {lost:?}");
            }
        }
        // A click under lost terms is paid by no others, unless a person enters them.
        let lost: BTreeSet<_> = lost.into_iter().map(|lost| lost[0]).collect();
        for lost in lost.into_iter().filter(|lost| *lost > at_backup[0]) {
            prop_assert_eq!(payout(&restored, lost), None);
            let enter = |payout: f64| restored.enter("o-1", lost, &terms_paying(payout));
            enter(7.0).unwrap();
            enter(7.0).unwrap();
            prop_assert_eq!(refused(enter(8.0)).0, "terms_exist");
            prop_assert_eq!(payout(&restored, lost), Some(7_000_000));
        }
    }

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
        let put = Command::Put(Put { resource: Resource::App, id: APP.into(), body: written, condition: None });
        catalog.send(put).unwrap();
        let found = catalog.ask_app(APP).terms.currency;
        prop_assert_eq!((found.per_usd, found.decimals), (PerUsd(per_usd), decimals));
    }
}
