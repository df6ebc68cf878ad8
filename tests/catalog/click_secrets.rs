//! The click secrets of apps: sealed for the edge, never shown, and sealed again only when needed.

use serde_json::{Value, json};

use crate::{Catalog, app, body, refused, with};
use contract::catalog::Resource;
use domain::{model::credentials::Vault, tracking::signature};
use origin::objects::catalog::{revisions, schedule::tracking_due_ms};

const APP: &str = "10000001";
const SECRET: &str = "demo_click_secret_of_lumen_arcade";
const PREVIOUS: &str = "the-click-secret-before-that-one-";

fn signing_app(secrets: &Value) -> Value {
    with(app("acme"), secrets)
}

/// The secrets that the edge opens in the tracking snapshot.
fn opened(catalog: &Catalog) -> Option<String> {
    let tracking = catalog.tracking();
    let app = tracking.app(crate::callback_sync::id(APP)).unwrap();
    let opened = catalog.edge_vault.open(&signature::purpose(APP), app.click_secrets?);
    Some(String::from_utf8(opened.unwrap()).unwrap())
}

fn sealed(catalog: &Catalog) -> Vec<u8> {
    let rows = catalog.rows("SELECT click_secrets_sealed FROM apps");
    rows[0].blob(0).unwrap().to_vec()
}

fn import(catalog: &Catalog, document: &Value) {
    let line = with(document.clone(), &json!({ "kind": "app", "id": APP })).to_string();
    let imported = body(&catalog.import(&line).unwrap(), 200);
    assert_eq!(imported, json!({ "imported": 1 }));
}

#[test]
fn click_secrets_are_sealed_for_the_edge_and_never_shown() {
    let catalog = Catalog::small();
    let secrets = json!({ "click_secret": SECRET, "previous_click_secret": PREVIOUS });
    let shown = catalog.put(Resource::App, APP, &signing_app(&secrets));
    assert_eq!(shown["click_secret"], "********");
    assert_eq!(shown["previous_click_secret"], "********");
    let stored = format!("{:?} {shown}", catalog.rows("SELECT * FROM apps"));
    assert!(!stored.contains(SECRET) && !stored.contains(PREVIOUS), "{stored}");
    assert_eq!(opened(&catalog), Some(format!("{SECRET}\n{PREVIOUS}")));
    assert_eq!(catalog.vault.open(&signature::purpose(APP), &sealed(&catalog)), None);

    catalog.put(Resource::App, APP, &signing_app(&json!({ "click_secret": SECRET })));
    assert_eq!(opened(&catalog).as_deref(), Some(SECRET));
    catalog.put(Resource::App, APP, &app("acme"));
    assert_eq!(opened(&catalog), None);
}

#[test]
fn a_staged_app_is_sealed() {
    let catalog = Catalog::small();
    let secrets = json!({ "kind": "app", "id": APP, "click_secret": SECRET, "previous_click_secret": PREVIOUS });
    let line = signing_app(&secrets).to_string();
    assert!(catalog.stage(1, &line).unwrap().is_empty());
    let staged = catalog.rows("SELECT document FROM import_lines");
    let staged = String::from_utf8_lossy(staged[0].blob(0).unwrap()).into_owned();
    for text in [SECRET, PREVIOUS, "acme"] {
        assert!(!staged.contains(text), "{staged}");
    }
    catalog.check_and_apply(1).unwrap();
    assert_eq!(opened(&catalog), Some(format!("{SECRET}\n{PREVIOUS}")));
}

#[test]
fn a_wrong_click_secret_is_refused_and_changes_nothing() {
    let catalog = Catalog::small();
    let stored = signing_app(&json!({ "click_secret": SECRET }));
    catalog.put(Resource::App, APP, &stored);
    let before = catalog.dump();
    for (secrets, field) in [
        // No previous secret exists that the mask could keep.
        (json!({ "click_secret": SECRET, "previous_click_secret": "********" }), "previous_click_secret"),
        (json!({ "click_secret": "short" }), "click_secret"),
        (json!({ "click_secret": SECRET, "previous_click_secret": "" }), "previous_click_secret"),
        (json!({ "previous_click_secret": PREVIOUS }), "previous_click_secret"),
    ] {
        let (code, message) = refused(catalog.try_put(Resource::App, APP, &signing_app(&secrets)));
        assert_eq!(code, "invalid_field", "{secrets}");
        assert!(message.starts_with(&format!("{field}: ")), "{message}");
    }
    assert_eq!(catalog.dump(), before);
}

#[test]
fn an_import_seals_click_secrets_again_only_if_they_changed_or_do_not_open() {
    let mut catalog = Catalog::small();
    let document = signing_app(&json!({ "click_secret": SECRET }));
    catalog.put(Resource::App, APP, &document);
    revisions::clear(&catalog.db, revisions::TRACKING_DIRTY_SINCE).unwrap();
    let before = catalog.dump();
    import(&catalog, &document);
    assert_eq!(catalog.dump(), before);

    // The masked documents are equal.
    let changed = signing_app(&json!({ "click_secret": PREVIOUS }));
    import(&catalog, &changed);
    assert_eq!(opened(&catalog).as_deref(), Some(PREVIOUS));
    assert!(tracking_due_ms(&catalog.db).unwrap().is_some(), "it is published");

    let new_key = format!("2:{}", "ff".repeat(32));
    catalog.edge_vault = Vault::parse("EDGE_KEYS", &new_key).unwrap();
    import(&catalog, &changed);
    assert_eq!(opened(&catalog).as_deref(), Some(PREVIOUS));
}

#[test]
fn a_put_seals_click_secrets_under_the_newest_key() {
    let mut catalog = Catalog::small();
    let document = signing_app(&json!({ "click_secret": SECRET }));
    catalog.put(Resource::App, APP, &document);
    assert_eq!(sealed(&catalog)[0], 1);
    let keys = format!("2:{},{}", "ff".repeat(32), crate::EDGE_KEYS);
    catalog.edge_vault = Vault::parse("EDGE_KEYS", &keys).unwrap();
    catalog.put(Resource::App, APP, &document);
    assert_eq!(sealed(&catalog)[0], 2);
    assert_eq!(opened(&catalog).as_deref(), Some(SECRET));
}
