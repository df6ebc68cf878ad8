//! Apps that are sent again as they are stored, secrets included: an import of them changes nothing, a PUT says that the
//! endpoint is to be tried again.

use serde_json::{Value, json};

use crate::{
    Catalog, STORE_KEYS, app, app_calling, body,
    callback_sync::id,
    demo::{self, Demo},
    with,
};
use contract::catalog::{CallbackSettings, Resource};
use domain::model::credentials::Vault;
use origin::catalog::{
    callback_sync::queue::{next_ms, of_app, told},
    revisions,
    schedule::tracking_due_ms,
};

const APP: &str = "10000001";
const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const OTHER_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

/// An app whose callback has all three secrets.
fn calling() -> Value {
    let mut document = app_calling("https://acme.example.com/cb?u={user_id}");
    document["callback"]["previous_secret"] = json!(SECRET);
    document["callback"]["legacy_md5"] = json!({ "secret": "for the old receiver" });
    document
}

/// With such an app, whose outbox has its settings, and with nothing left to do.
fn settled() -> Catalog {
    let catalog = Catalog::small();
    catalog.put(Resource::App, APP, &calling());
    settle(&catalog);
    catalog
}

fn settle(catalog: &Catalog) {
    let settings = settings(catalog);
    told(&catalog.db, id(APP), settings.revision).unwrap();
    revisions::clear(&catalog.db, revisions::TRACKING_DIRTY_SINCE).unwrap();
    assert!(!is_anything_due(catalog));
    catalog.wait(86_400_000);
}

fn settings(catalog: &Catalog) -> CallbackSettings {
    catalog.terms(APP, &[]).callback
}

/// What is to be handed over to the app's outbox.
fn due(catalog: &Catalog) -> Option<CallbackSettings> {
    of_app(&catalog.db, id(APP)).unwrap().map(|due| due.settings)
}

fn is_anything_due(catalog: &Catalog) -> bool {
    next_ms(&catalog.db).unwrap().is_some() || tracking_due_ms(&catalog.db).unwrap().is_some()
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
    let imported = body(&catalog.import("i", &line).unwrap(), 200);
    assert_eq!(imported, json!({ "imported": 1 }));
}

type Send = fn(&Catalog, &Value);

const BOTH: [(&str, Send); 2] = [("PUT", put), ("import", import)];

/// Documents that differ from [`calling`] in one thing of the callback each.
fn changed() -> Vec<Value> {
    let another = |members: &Value| {
        let mut document = calling();
        document["callback"] = with(document["callback"].take(), members);
        document
    };
    let without = |member: &str| {
        let mut document = calling();
        document["callback"].as_object_mut().unwrap().remove(member);
        document
    };
    vec![
        another(&json!({ "secret": OTHER_SECRET })),
        another(&json!({ "previous_secret": OTHER_SECRET })),
        another(&json!({ "legacy_md5": { "secret": "for the new receiver" } })),
        another(&json!({ "secret": SECRET, "previous_secret": calling()["callback"]["secret"] })),
        another(&json!({ "url": "https://acme.example.com/cb?u={value}" })),
        // A POST has no macros in its URL.
        another(&json!({ "url": "https://acme.example.com/cb", "method": "POST" })),
        without("previous_secret"),
        without("legacy_md5"),
    ]
}

#[test]
fn an_import_of_what_is_stored_changes_nothing() {
    let catalog = settled();
    let (before, drawn) = (catalog.dump(), catalog.drawn.get());
    for _ in 0..3 {
        import(&catalog, &calling());
        catalog.wait(86_400_000);
        assert_eq!(catalog.dump(), before);
        assert!(!is_anything_due(&catalog));
    }
    assert_eq!(catalog.drawn.get(), drawn, "nothing was sealed");
}

#[test]
fn a_repeated_import_of_a_whole_catalog_changes_nothing() {
    let with_callbacks: String = Demo::read()
        .apps
        .iter()
        .map(|(id, document)| {
            let line = json!({ "kind": "app", "id": id, "callback": calling()["callback"] });
            with(document.clone(), &line).to_string() + "\n"
        })
        .collect();
    for (text, count) in [(demo::text(), 84), (with_callbacks, Demo::read().apps.len())] {
        let catalog = Catalog::of_fixtures();
        assert_eq!(catalog.import("first", &text).unwrap().status, 200);
        for app in Demo::read().apps.keys() {
            catalog.terms(app, &[]);
        }
        revisions::clear(&catalog.db, revisions::TRACKING_DIRTY_SINCE).unwrap();
        let before = catalog.dump();
        catalog.wait(86_400_000);
        let again = body(&catalog.import("again", &text).unwrap(), 200);
        assert_eq!(again, json!({ "imported": count }));
        assert_eq!(catalog.dump(), before);
        assert!(!is_anything_due(&catalog));
    }
}

#[test]
fn an_import_of_what_is_stored_leaves_due_what_the_outbox_was_not_told_yet() {
    let catalog = settled();
    put(&catalog, &changed()[0]);
    let (settings, before) = (due(&catalog).unwrap(), catalog.dump());
    catalog.wait(1_000);
    import(&catalog, &changed()[0]);
    assert_eq!(catalog.dump(), before);
    assert_eq!(due(&catalog), Some(settings));
}

#[test]
fn anything_of_the_callback_that_changed_is_a_change_however_it_is_sent() {
    for (how, send) in BOTH {
        for document in changed() {
            let catalog = settled();
            let before = settings(&catalog);
            send(&catalog, &document);
            let after = settings(&catalog);
            let sent = &document["callback"];
            assert!(after.revision > before.revision, "{how}: {sent}");
            assert_eq!(due(&catalog), Some(after.clone()), "{how}: {sent}");
            assert_eq!(opened(&catalog.vault, &after), *sent, "{how}");
            assert!(tracking_due_ms(&catalog.db).unwrap().is_some(), "{how}: {sent}");
        }
        let catalog = settled();
        let before = settings(&catalog);
        send(&catalog, &app("acme"));
        let removal = settings(&catalog);
        assert!(
            removal.revision > before.revision && removal.sealed.is_none(),
            "{how}"
        );
        assert_eq!(due(&catalog), Some(removal.clone()), "{how}");
        send(&catalog, &calling());
        let again = settings(&catalog);
        assert!(again.revision > removal.revision, "{how}");
        assert_eq!(opened(&catalog.vault, &again), calling()["callback"], "{how}");
    }
}

#[test]
fn a_put_of_what_is_stored_has_the_endpoint_tried_again_each_time() {
    let catalog = settled();
    let mut before = settings(&catalog);
    for _ in 0..3 {
        put(&catalog, &calling());
        let after = settings(&catalog);
        assert!(after.revision > before.revision);
        assert_ne!(after.sealed, before.sealed);
        assert_eq!(opened(&catalog.vault, &after), calling()["callback"]);
        assert_eq!(due(&catalog), Some(after.clone()));
        settle(&catalog);
        before = after;
    }
}

#[test]
fn an_import_that_changes_an_app_but_not_its_callback_is_not_handed_over() {
    let catalog = settled();
    let before = settings(&catalog);
    let renamed = with(calling(), &json!({ "name": "Renamed" }));
    import(&catalog, &renamed);
    assert_eq!(catalog.get(Resource::App, APP)["name"], "Renamed");
    assert!(tracking_due_ms(&catalog.db).unwrap().is_some());
    assert_eq!((due(&catalog), settings(&catalog)), (None, before.clone()));
    // By a PUT the endpoint is tried again, whatever else changes.
    put(&catalog, &calling());
    assert!(due(&catalog).unwrap().revision > before.revision);
}

#[test]
fn a_seal_that_no_key_opens_any_more_is_made_anew_by_an_import() {
    const NEW_KEY: &str = "2:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
    let mut catalog = settled();
    let before = settings(&catalog);
    // As long as the old key is listed, the seal stands.
    catalog.vault = Vault::parse(&format!("{NEW_KEY},{STORE_KEYS}")).unwrap();
    import(&catalog, &calling());
    assert_eq!((due(&catalog), settings(&catalog)), (None, before.clone()));

    catalog.vault = Vault::parse(NEW_KEY).unwrap();
    import(&catalog, &calling());
    let anew = settings(&catalog);
    assert!(anew.revision > before.revision);
    assert_eq!(due(&catalog), Some(anew.clone()));
    assert_eq!(opened(&catalog.vault, &anew), calling()["callback"]);
}
