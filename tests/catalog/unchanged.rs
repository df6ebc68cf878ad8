//! Apps sent again exactly as stored, secrets included. An import of them changes nothing; a PUT makes the outbox try
//! the endpoint again.

use serde_json::{Value, json};

use crate::{
    Catalog, STORE_KEYS, app, app_with_url, body,
    callback_sync::id,
    demo::{self, Demo},
    with,
};
use contract::{
    catalog::{CallbackSettings, Resource},
    outbox::OutboxShard,
};
use domain::model::credentials::Vault;
use origin::{
    delivery::push::Push,
    objects::catalog::{
        callback_sync::{QueuedSettings, settings_of},
        revisions,
        schedule::tracking_due_ms,
    },
};

const APP: &str = "10000001";
const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const OTHER_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

/// An app whose callback has all three secrets.
fn app_with_secrets() -> Value {
    let mut document = app_with_url("https://acme.example.com/cb?u={user_id}&t={transaction_id}&v={value}");
    document["callback"]["previous_secret"] = json!(SECRET);
    document["callback"]["legacy_md5"] = json!({ "secret": "for the old receiver" });
    document
}

/// A catalog with that app, whose outbox has its settings, and with no work due.
fn synced_catalog() -> Catalog {
    let catalog = Catalog::small();
    catalog.put(Resource::App, APP, &app_with_secrets());
    sync(&catalog);
    catalog
}

fn sync(catalog: &Catalog) {
    let settings = settings(catalog);
    let shard = OutboxShard { app: id(APP), number: 5 };
    crate::confirm(&catalog.db, shard, &settings).unwrap();
    revisions::clear(&catalog.db, revisions::TRACKING_DIRTY_SINCE).unwrap();
    assert!(!is_anything_due(catalog));
    catalog.wait(86_400_000);
}

fn settings(catalog: &Catalog) -> CallbackSettings {
    catalog.ask_app(APP).callback
}

/// The settings to push to the app's outbox.
fn due(catalog: &Catalog) -> Option<CallbackSettings> {
    let due = settings_of(&catalog.db, id(APP)).unwrap().pop();
    due.map(|due| due.settings)
}

fn is_anything_due(catalog: &Catalog) -> bool {
    QueuedSettings::next_ms(&catalog.db).unwrap().is_some() || tracking_due_ms(&catalog.db).unwrap().is_some()
}

#[track_caller]
fn opened(vault: &Vault, settings: &CallbackSettings) -> Value {
    let sealed = settings.sealed.as_ref().unwrap();
    let plain = vault.open(&format!("callback/{APP}"), &sealed.0).unwrap();
    serde_json::from_slice(&plain).unwrap()
}

fn put(catalog: &Catalog, document: &Value) {
    catalog.put(Resource::App, APP, document);
}

fn import(catalog: &Catalog, document: &Value) {
    let line = with(document.clone(), &json!({ "kind": "app", "id": APP })).to_string();
    let imported = body(&catalog.import(&line).unwrap(), 200);
    assert_eq!(imported, json!({ "imported": 1 }));
}

type Send = fn(&Catalog, &Value);

const BOTH: [(&str, Send); 2] = [("PUT", put), ("import", import)];

/// Documents that each differ from [`app_with_secrets`] in one property of the callback.
fn changed() -> Vec<Value> {
    let another = |members: &Value| {
        let mut document = app_with_secrets();
        document["callback"] = with(document["callback"].take(), members);
        document
    };
    let without = |member: &str| {
        let mut document = app_with_secrets();
        document["callback"].as_object_mut().unwrap().remove(member);
        document
    };
    vec![
        another(&json!({ "secret": OTHER_SECRET })),
        another(&json!({ "previous_secret": OTHER_SECRET })),
        another(&json!({ "legacy_md5": { "secret": "for the new receiver" } })),
        another(&json!({ "secret": SECRET, "previous_secret": app_with_secrets()["callback"]["secret"] })),
        another(&json!({ "url": "https://acme.example.com/cb?u={value}" })),
        // A POST allows no macros in its URL.
        another(&json!({ "url": "https://acme.example.com/cb", "method": "POST" })),
        without("previous_secret"),
        without("legacy_md5"),
    ]
}

#[test]
fn an_import_of_the_stored_app_changes_nothing() {
    let catalog = synced_catalog();
    let before = catalog.dump();
    for _ in 0..3 {
        import(&catalog, &app_with_secrets());
        catalog.wait(86_400_000);
        assert_eq!(catalog.dump(), before);
        assert!(!is_anything_due(&catalog));
    }
}

#[test]
fn a_repeated_import_of_a_whole_catalog_changes_nothing() {
    let with_callbacks: String = Demo::read()
        .apps
        .iter()
        .map(|(id, document)| {
            let line = json!({ "kind": "app", "id": id, "callback": app_with_secrets()["callback"] });
            with(document.clone(), &line).to_string() + "\n"
        })
        .collect();
    for (text, count) in [(demo::text(), 84), (with_callbacks, Demo::read().apps.len())] {
        let catalog = Catalog::from_fixtures();
        assert_eq!(catalog.import(&text).unwrap().status, 200);
        for app in Demo::read().apps.keys() {
            catalog.ask_app(app);
        }
        revisions::clear(&catalog.db, revisions::TRACKING_DIRTY_SINCE).unwrap();
        let before = catalog.dump();
        catalog.wait(86_400_000);
        let again = body(&catalog.import(&text).unwrap(), 200);
        assert_eq!(again, json!({ "imported": count }));
        assert_eq!(catalog.dump(), before);
        assert!(!is_anything_due(&catalog));
    }
}

#[test]
fn an_import_of_the_stored_app_keeps_its_pending_callback_push() {
    let catalog = synced_catalog();
    put(&catalog, &changed()[0]);
    let (settings, before) = (due(&catalog).unwrap(), catalog.dump());
    catalog.wait(1_000);
    import(&catalog, &changed()[0]);
    assert_eq!(catalog.dump(), before);
    assert_eq!(due(&catalog), Some(settings));
}

#[test]
fn every_change_of_the_callback_is_pushed_after_put_and_import() {
    for (how, send) in BOTH {
        for document in changed() {
            let catalog = synced_catalog();
            let before = settings(&catalog);
            send(&catalog, &document);
            let after = settings(&catalog);
            let sent = &document["callback"];
            assert!(after.revision > before.revision, "{how}: {sent}");
            assert_eq!(due(&catalog), Some(after.clone()), "{how}: {sent}");
            assert_eq!(opened(&catalog.vault, &after), *sent, "{how}");
            assert!(tracking_due_ms(&catalog.db).unwrap().is_some(), "{how}: {sent}");
        }
        let catalog = synced_catalog();
        let before = settings(&catalog);
        send(&catalog, &app("acme"));
        let removal = settings(&catalog);
        assert!(removal.revision > before.revision && removal.sealed.is_none(), "{how}");
        assert_eq!(due(&catalog), Some(removal.clone()), "{how}");
        send(&catalog, &app_with_secrets());
        let again = settings(&catalog);
        assert!(again.revision > removal.revision, "{how}");
        assert_eq!(opened(&catalog.vault, &again), app_with_secrets()["callback"], "{how}");
    }
}

#[test]
fn a_put_of_the_stored_app_makes_the_outbox_try_the_endpoint_again() {
    let catalog = synced_catalog();
    let mut before = settings(&catalog);
    for _ in 0..3 {
        put(&catalog, &app_with_secrets());
        let after = settings(&catalog);
        assert!(after.revision > before.revision);
        assert_ne!(after.sealed, before.sealed);
        assert_eq!(opened(&catalog.vault, &after), app_with_secrets()["callback"]);
        assert_eq!(due(&catalog), Some(after.clone()));
        sync(&catalog);
        before = after;
    }
}

#[test]
fn an_import_that_changes_only_other_fields_pushes_no_callback() {
    let catalog = synced_catalog();
    let before = settings(&catalog);
    let renamed = with(app_with_secrets(), &json!({ "name": "Renamed" }));
    import(&catalog, &renamed);
    assert_eq!(catalog.get(Resource::App, APP)["name"], "Renamed");
    assert!(tracking_due_ms(&catalog.db).unwrap().is_some());
    assert_eq!((due(&catalog), settings(&catalog)), (None, before.clone()));
    // A PUT makes the outbox try the endpoint again, whatever else changed.
    put(&catalog, &app_with_secrets());
    assert!(due(&catalog).unwrap().revision > before.revision);
}

#[test]
fn an_import_encrypts_a_secret_again_that_no_key_decrypts() {
    const NEW_KEY: &str = "2:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
    let mut catalog = synced_catalog();
    let before = settings(&catalog);
    // The stored ciphertext stays as long as the old key is listed.
    catalog.vault = Vault::parse("STORE_KEYS", &format!("{NEW_KEY},{STORE_KEYS}")).unwrap();
    import(&catalog, &app_with_secrets());
    assert_eq!((due(&catalog), settings(&catalog)), (None, before.clone()));

    catalog.vault = Vault::parse("STORE_KEYS", NEW_KEY).unwrap();
    import(&catalog, &app_with_secrets());
    let resealed = settings(&catalog);
    assert!(resealed.revision > before.revision);
    assert_eq!(due(&catalog), Some(resealed.clone()));
    assert_eq!(opened(&catalog.vault, &resealed), app_with_secrets()["callback"]);
}
