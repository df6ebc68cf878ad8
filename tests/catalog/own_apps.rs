//! A publisher's own apps: what its members may read, change and set up.

use serde_json::{Value, json};

use crate::{Catalog, app, body, callback_sync::id, refused, with};
use contract::{
    catalog::{
        ChangeOwnApp, Command, CreateOwnApp, GetOfferTerms, GetOwnApp, KnownOffer, ListOwnApps, OwnAppChange,
        PutTestApp, Resource, SecretChange, callback_purpose,
    },
    operation::OperatorReply,
};
use domain::{
    callbacks::settings::Callback,
    model::{AppId, OfferId, PublisherId},
    offers::test_offers,
    tracking::signature,
};
use platform::{database::Database, failure::Failure};

const APP: &str = "10000001";

fn publisher(id: &str) -> PublisherId {
    PublisherId::parse(id).unwrap()
}

/// A catalog with an app of `acme`, and another publisher's.
fn catalog() -> Catalog {
    let catalog = Catalog::small();
    let approved = json!({ "name": "Other", "approved": true });
    catalog.put(Resource::Publisher, "other", &approved);
    catalog.put(Resource::App, APP, &app("acme"));
    catalog.put(Resource::App, "10000002", &app("other"));
    catalog
}

fn read(catalog: &Catalog, app: &str) -> Result<OperatorReply, Failure> {
    catalog.send(Command::GetOwnApp(GetOwnApp { publisher_id: publisher("acme"), app_id: id(app) }))
}

fn revision(catalog: &Catalog) -> i64 {
    body(&read(catalog, APP).unwrap(), 200)["revision"].as_i64().unwrap()
}

fn change(catalog: &Catalog, app: &str, change: OwnAppChange) -> Result<OperatorReply, Failure> {
    catalog.send(Command::ChangeOwnApp(ChangeOwnApp { publisher_id: publisher("acme"), app_id: id(app), change }))
}

/// Changes the document as it is now.
fn patch(catalog: &Catalog, document: &Value) -> Result<OperatorReply, Failure> {
    let document = OwnAppChange::Document { revision: revision(catalog), body: document.to_string() };
    change(catalog, APP, document)
}

fn secret(catalog: &Catalog, of: SecretChange) -> Result<OperatorReply, Failure> {
    change(catalog, APP, OwnAppChange::Secret(of))
}

fn create(catalog: &Catalog, key: &str, document: &Value) -> Result<OperatorReply, Failure> {
    catalog.send(Command::CreateOwnApp(CreateOwnApp {
        publisher_id: publisher("acme"),
        key: key.into(),
        body: document.to_string(),
    }))
}

/// The callback that the outboxes are sent.
fn callback(catalog: &Catalog) -> Option<Callback> {
    let row = &catalog.rows(&format!("SELECT callback_sealed FROM apps WHERE id = '{APP}'"))[0];
    let sealed = row.optional_blob(0).unwrap()?;
    let opened = catalog.vault.open(&callback_purpose(APP), sealed).unwrap();
    Some(serde_json::from_slice(&opened).unwrap())
}

fn new_callback() -> Value {
    json!({ "url": "https://acme.example/new", "method": "GET", "events": ["approved"] })
}

fn new_app() -> Value {
    json!({ "name": "Second", "platform": "ios", "currency": { "name": "Gems", "per_usd": 10 } })
}

#[test]
fn an_app_of_another_publisher_is_as_one_that_does_not_exist() {
    let catalog = catalog();
    for app in ["10000002", "10000003"] {
        let expected = ("not_found", "no resource has this id".to_owned());
        assert_eq!(refused(read(&catalog, app)), expected);
        let document = OwnAppChange::Document { revision: 1, body: "{}".into() };
        assert_eq!(refused(change(&catalog, app, document)), expected);
        let renew = OwnAppChange::Secret(SecretChange::RenewCallback);
        assert_eq!(refused(change(&catalog, app, renew)), expected);
    }
}

#[test]
fn a_member_points_the_fallback_url_to_https_on_port_443() {
    let catalog = catalog();
    let allowed = with(app("acme"), &json!({ "fallback_hosts": ["more.example"] }));
    catalog.put(Resource::App, APP, &allowed);
    for (url, problem) in [
        ("http://more.example/", "must begin with https://"),
        ("https://more.example:8443/", "must be on port 443, not 8443"),
    ] {
        let expected = ("invalid_field", format!("fallback_url: {problem}"));
        assert_eq!(refused(patch(&catalog, &json!({ "fallback_url": url }))), expected);
    }
    body(&patch(&catalog, &json!({ "fallback_url": "https://more.example:443/" })).unwrap(), 201);
}

#[test]
fn a_change_keeps_what_it_does_not_name_and_publishes_the_app() {
    let catalog = catalog();
    let document = with(
        app("acme"),
        &json!({ "max_rewards_per_user_day": 7, "callback": {
            "url": "https://acme.example/cb", "method": "POST", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        } }),
    );
    catalog.put(Resource::App, APP, &document);
    let before = catalog.get(Resource::App, APP);
    catalog.db.query("UPDATE tracking_slots SET change = NULL", &[]).unwrap();
    let changed = body(&patch(&catalog, &json!({ "blocked_offers": ["31906"] })).unwrap(), 201);
    assert_eq!(changed["blocked_offers"], json!(["31906"]));
    let expected = with(before, &json!({ "blocked_offers": ["31906"] }));
    assert_eq!(catalog.get(Resource::App, APP), expected);
    let marked = catalog.rows("SELECT 1 FROM tracking_slots WHERE change IS NOT NULL");
    assert_eq!(marked.len(), 1, "the app's shard is published again");
    assert_eq!(callback(&catalog).unwrap().url, "https://acme.example/cb");
}

#[test]
fn a_change_without_effect_stores_nothing_and_restarts_no_callback() {
    let catalog = catalog();
    patch(&catalog, &json!({ "callback": new_callback() })).unwrap();
    let before = catalog.dump();
    body(&patch(&catalog, &json!({ "callback": new_callback() })).unwrap(), 200);
    body(&secret(&catalog, SecretChange::EndPreviousCallback).unwrap(), 200);
    body(&secret(&catalog, SecretChange::EndClick).unwrap(), 200);
    assert_eq!(catalog.dump(), before);
    // The name is no part of the callback's settings.
    let settings = |catalog: &Catalog| catalog.rows("SELECT callback_revision FROM apps WHERE publisher_id = 'acme'");
    let before = settings(&catalog);
    body(&patch(&catalog, &json!({ "name": "Renamed" })).unwrap(), 201);
    assert_eq!(settings(&catalog), before);
}

#[test]
fn a_change_of_what_was_changed_meanwhile_is_refused() {
    let catalog = catalog();
    let seen = revision(&catalog);
    patch(&catalog, &json!({ "name": "First" })).unwrap();
    let late = OwnAppChange::Document { revision: seen, body: json!({ "name": "Late" }).to_string() };
    assert_eq!(refused(change(&catalog, APP, late)).0, "precondition_failed");
    assert_eq!(catalog.get(Resource::App, APP)["name"], "First");
}

#[test]
fn a_first_callback_shows_its_secret_once_and_a_renewed_one_signs_beside_the_former() {
    let catalog = catalog();
    assert_eq!(refused(secret(&catalog, SecretChange::RenewCallback)).0, "no_callback");
    let set = body(&patch(&catalog, &json!({ "callback": new_callback() })).unwrap(), 201);
    let first = set["callback_secret"].as_str().unwrap().to_owned();
    assert_eq!(callback(&catalog).unwrap().secret, first);
    let again = json!({ "callback": with(new_callback(), &json!({ "url": "https://acme.example/b" })) });
    let again = body(&patch(&catalog, &again).unwrap(), 201);
    assert_eq!(again["callback_secret"], Value::Null);

    let renewed = body(&secret(&catalog, SecretChange::RenewCallback).unwrap(), 201);
    let both = callback(&catalog).unwrap();
    assert_eq!(renewed["secret"], both.secret);
    assert_eq!(both.previous_secret, Some(first.clone()));
    let shown = body(&read(&catalog, APP).unwrap(), 200);
    assert_eq!(shown["callback"]["has_previous_secret"], true);
    assert!(!shown.to_string().contains("whsec_"), "{shown}");
    body(&secret(&catalog, SecretChange::EndPreviousCallback).unwrap(), 201);
    assert_eq!(callback(&catalog).unwrap().previous_secret, None);
}

#[test]
fn the_operator_writes_back_a_document_whose_secrets_the_publisher_drew() {
    let catalog = catalog();
    patch(&catalog, &json!({ "callback": new_callback() })).unwrap();
    secret(&catalog, SecretChange::RenewCallback).unwrap();
    secret(&catalog, SecretChange::RenewClick).unwrap();
    secret(&catalog, SecretChange::RenewClick).unwrap();
    let opened = |catalog: &Catalog| {
        let row = &catalog.rows(&format!("SELECT click_secrets_sealed FROM apps WHERE id = '{APP}'"))[0];
        let purpose = signature::purpose(APP);
        let click = catalog.edge_vault.open(&purpose, row.blob(0).unwrap()).unwrap();
        (callback(catalog).unwrap(), click)
    };
    let before = opened(&catalog);
    let mut document = catalog.get(Resource::App, APP);
    for added in ["app_id", "terms_revision"] {
        document.as_object_mut().unwrap().remove(added);
    }
    document["max_rewards_per_user_day"] = json!(3);
    catalog.put(Resource::App, APP, &document);
    assert_eq!(opened(&catalog), before);
    // A previous secret that is left out ends.
    document["callback"].as_object_mut().unwrap().remove("previous_secret");
    catalog.put(Resource::App, APP, &document);
    assert_eq!(callback(&catalog).unwrap().previous_secret, None);
    assert_eq!(callback(&catalog).unwrap().secret, before.0.secret);
    // Another app has no secret to keep.
    let refused = refused(catalog.try_put(Resource::App, "10000009", &document));
    assert_eq!(refused.0, "invalid_field");
}

#[test]
fn click_secrets_begin_rotate_and_end() {
    let catalog = catalog();
    let signs = |catalog: &Catalog| {
        let app = body(&read(catalog, APP).unwrap(), 200);
        (app["signs_clicks"].as_bool(), app["has_previous_click_secret"].as_bool())
    };
    for (of, expected) in [
        (SecretChange::RenewClick, (Some(true), Some(false))),
        (SecretChange::RenewClick, (Some(true), Some(true))),
        (SecretChange::EndPreviousClick, (Some(true), Some(false))),
        (SecretChange::EndClick, (Some(false), Some(false))),
    ] {
        body(&secret(&catalog, of).unwrap(), 201);
        assert_eq!(signs(&catalog), expected, "{of:?}");
    }
}

#[test]
fn bad_values_are_refused_and_change_nothing() {
    let catalog = catalog();
    let before = catalog.dump();
    for document in [
        json!({ "callback": { "url": "https://127.0.0.1/cb", "method": "GET", "events": ["approved"] } }),
        json!({ "callback": { "url": "http://acme.example/cb", "method": "GET", "events": ["approved"] } }),
        json!({ "currency": { "name": "Coins", "per_usd": -1 } }),
        json!({ "blocked_offers": ["no id!"] }),
        json!({ "name": "" }),
    ] {
        assert_eq!(refused(patch(&catalog, &document)).0, "invalid_field", "{document}");
    }
    assert_eq!(catalog.dump(), before);
}

#[test]
fn an_app_is_set_up_once_for_a_key() {
    let catalog = catalog();
    let made = body(&create(&catalog, "a", &new_app()).unwrap(), 201);
    let again = body(&create(&catalog, "a", &new_app()).unwrap(), 200);
    assert_eq!(made, again);
    let other = with(new_app(), &json!({ "name": "Third" }));
    assert_eq!(refused(create(&catalog, "a", &other)).0, "idempotency_key_reused");
    let second = body(&create(&catalog, "b", &new_app()).unwrap(), 201);
    assert_ne!(second["app_id"], made["app_id"]);
    let id = made["app_id"].as_str().unwrap();
    assert_eq!(catalog.get(Resource::App, id)["publisher_id"], "acme");
}

#[test]
fn a_publisher_sets_up_as_many_apps_as_it_may() {
    let catalog = catalog();
    for key in 1..20 {
        body(&create(&catalog, &key.to_string(), &new_app()).unwrap(), 201);
    }
    assert_eq!(refused(create(&catalog, "20", &new_app())).0, "too_many_apps");
    let raised = json!({ "name": "Acme", "approved": true, "max_apps": 21 });
    catalog.put(Resource::Publisher, "acme", &raised);
    body(&create(&catalog, "20", &new_app()).unwrap(), 201);
    let ended = json!({ "name": "Acme", "approved": false });
    catalog.put(Resource::Publisher, "acme", &ended);
    assert_eq!(refused(create(&catalog, "21", &new_app())).0, "publisher_not_approved");
}

#[test]
fn the_list_has_the_publishers_own_apps_in_pages() {
    let catalog = catalog();
    for number in 0..120 {
        catalog.put(Resource::App, &format!("2000{number:04}"), &app("acme"));
    }
    let list = |cursor: Option<String>| {
        let list = ListOwnApps { publisher_id: publisher("acme"), cursor };
        body(&catalog.send(Command::ListOwnApps(list)).unwrap(), 200)
    };
    let first = list(None);
    let second = list(first["cursor"].as_str().map(str::to_owned));
    let ids = |page: &Value| page["apps"].as_array().unwrap().len();
    assert_eq!((ids(&first), ids(&second)), (100, 21));
    assert_eq!(second["cursor"], Value::Null);
    assert_eq!(first["apps"][0]["app_id"], APP);
}

fn put_test(catalog: &Catalog, name: &str, callback: &Value) -> Result<OperatorReply, Failure> {
    catalog.send(Command::PutTestApp(PutTestApp {
        publisher_id: publisher("acme"),
        body: json!({ "name": name, "callback": callback }).to_string(),
    }))
}

#[test]
fn a_key_sets_up_test_apps_under_ids_of_their_own_and_up_to_a_limit_of_their_own() {
    let catalog = catalog();
    let put = |name: &str| body(&put_test(&catalog, name, &new_callback()).unwrap(), 201);
    let first = put("test 0");
    let id = first["app_id"].as_str().unwrap();
    assert!(AppId::parse(id).unwrap().is_test() && first["test"] == true, "{first}");
    let stored = catalog.get(Resource::App, id);
    assert_eq!((&stored["outbox_shards"], &stored["platform"]), (&json!(1), &json!("web")));
    // The name finds it again, with a new secret and without the former one.
    let again = put("test 0");
    assert_eq!(again["app_id"], first["app_id"]);
    assert_ne!(again["callback_secret"], first["callback_secret"]);
    assert_eq!(catalog.get(Resource::App, id)["callback"].get("previous_secret"), None);
    for n in 1..20 {
        put(&format!("test {n}"));
    }
    let (code, _) = refused(put_test(&catalog, "test 20", &new_callback()));
    assert_eq!(code, "too_many_test_apps");
    put("test 19");
    // A member's test apps count with them, and other apps do not.
    let test = with(new_app(), &json!({ "test": true }));
    assert_eq!(refused(create(&catalog, "k-1", &test)).0, "too_many_test_apps");
    let made = body(&create(&catalog, "k-2", &new_app()).unwrap(), 201);
    assert!(!AppId::parse(made["app_id"].as_str().unwrap()).unwrap().is_test());
    assert_eq!(made["test"], false);
}

#[test]
fn the_rules_of_callbacks_hold_for_test_apps() {
    let catalog = catalog();
    for (callback, code) in [
        (json!({ "url": "https://acme.example:8443/", "method": "GET", "events": ["approved"] }), "invalid_field"),
        (json!({ "url": "https://acme.example/", "method": "PUT", "events": ["approved"] }), "invalid_field"),
        (json!({ "url": "https://acme.example/", "method": "GET", "events": [] }), "invalid_field"),
        (Value::Null, "invalid_field"),
    ] {
        assert_eq!(refused(put_test(&catalog, "test", &callback)).0, code, "{callback}");
    }
    let unapproved = json!({ "name": "acme", "approved": false });
    catalog.put(Resource::Publisher, "acme", &unapproved);
    assert_eq!(refused(put_test(&catalog, "test", &new_callback())).0, "publisher_not_approved");
}

#[test]
fn outboxes_learn_the_terms_of_test_offers_and_nobody_is_recorded() {
    let catalog = catalog();
    for offer in &test_offers::ALL {
        let question = GetOfferTerms {
            offer_id: OfferId::parse(offer.id).unwrap(),
            revision: offer.current().terms.revision,
            outbox: Some((AppId::parse("99000001").unwrap(), 0)),
        };
        let known = catalog.send(Command::OfferTerms(question)).unwrap();
        let known: KnownOffer = serde_json::from_str(&known.body).unwrap();
        assert_eq!(Some((known.terms, known.current)), offer.terms());
    }
    assert!(catalog.rows("SELECT offer_id FROM offer_outboxes").is_empty());
}
