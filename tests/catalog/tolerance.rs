//! Rows that newer code has stored: unknown members stay, and a row that this code cannot read affects only itself.

use serde_json::{Value, json};

use crate::{
    Catalog, app, offer,
    service::{Kv, publish_listing, publish_tracking},
    with,
};
use contract::catalog::{ChangeOwnApp, Command, OwnAppChange, Resource, callback_purpose};
use domain::{
    model::{AppId, PublisherId},
    snapshot::{listing::Listing, tracking::Manifest},
};
use origin::objects::catalog::{publication::rebuild_after_other_code, schedule::listing_due_ms, tracking_slots};
use platform::{database::Database, params};

const APP: &str = "10000001";
const OTHER: &str = "10000002";

fn catalog() -> Catalog {
    let catalog = Catalog::small();
    catalog.put(Resource::App, APP, &app("acme"));
    catalog.put(Resource::App, OTHER, &app("acme"));
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    catalog.put(Resource::Offer, "o-2", &offer(&["g-2"]));
    catalog
}

/// Puts a member that this code does not know into a stored document.
fn add_member(catalog: &Catalog, table: &str, id: &str) {
    let sql = format!("UPDATE {table} SET document = json_set(document, '$.of_tomorrow', json('[1]')) WHERE id = ?");
    catalog.db.execute(&sql, params![id]).unwrap();
}

/// Changes the name of an app, as a member does.
fn change_name(catalog: &Catalog, name: &str) {
    let change = OwnAppChange::Document {
        revision: catalog.rows(&format!("SELECT revision FROM apps WHERE id = '{APP}'"))[0].integer(0).unwrap(),
        body: json!({ "name": name }).to_string(),
    };
    let change =
        ChangeOwnApp { publisher_id: PublisherId::parse("acme").unwrap(), app_id: AppId::parse(APP).unwrap(), change };
    catalog.send(Command::ChangeOwnApp(change)).unwrap();
}

/// The document as it is stored.
fn document(catalog: &Catalog, table: &str, id: &str) -> Value {
    let sql = format!("SELECT document FROM {table} WHERE id = '{id}'");
    catalog.rows(&sql)[0].json(0).unwrap()
}

#[test]
fn members_that_newer_code_has_stored_are_read_over_and_stay() {
    let catalog = catalog();
    let kinds = [
        (Resource::Publisher, "publishers", "acme", json!({ "name": "Acme 2", "approved": true })),
        (Resource::Advertiser, "advertisers", "northwind", json!({ "name": "Adv 2" })),
        (Resource::App, "apps", APP, with(app("acme"), &json!({ "name": "App 2" }))),
        (Resource::Offer, "offer_documents", "o-1", with(offer(&["g-1"]), &json!({ "name": "Offer 2" }))),
    ];
    for (resource, table, id, changed) in &kinds {
        add_member(&catalog, table, id);
        catalog.put(*resource, id, changed);
        let stored = document(&catalog, table, id);
        // A document can be put as it was read.
        assert_eq!(catalog.get(*resource, id).get("of_tomorrow"), None);
        assert_eq!((&stored["of_tomorrow"], &stored["name"]), (&json!([1]), &changed["name"]), "{stored}");
        // A member that this code knows leaves with the PUT that leaves it out.
        assert_eq!(stored.get("callback").is_some(), changed.get("callback").is_some(), "{stored}");
    }
    change_name(&catalog, "App 3");
    let stored = document(&catalog, "apps", APP);
    assert_eq!((&stored["of_tomorrow"], &stored["name"]), (&json!([1]), &json!("App 3")));
    assert!(catalog.tracking().app(AppId::parse(APP).unwrap()).is_some());
}

#[test]
fn a_row_that_this_code_cannot_read_stops_no_other() {
    let catalog = catalog();
    let break_it = |sql: &str| catalog.db.execute(sql, &[]).unwrap();
    break_it(&format!("UPDATE apps SET document = json_set(document, '$.platform', 'watch') WHERE id = '{APP}'"));
    break_it("UPDATE offers SET os = 99 WHERE id = 'o-1'");
    let tracking = catalog.tracking();
    assert!(tracking.app(AppId::parse(APP).unwrap()).is_none());
    assert!(tracking.app(AppId::parse(OTHER).unwrap()).is_some());
    assert!(tracking.goal("g-1").is_none() && tracking.goal("g-2").is_some());
    assert_eq!(catalog.listed(), ["o-2"]);
    // People's documents are as strict as before.
    let refused = catalog.try_put(Resource::App, APP, &with(app("acme"), &json!({ "of_tomorrow": 1 })));
    assert!(refused.is_err(), "{refused:?}");
    let nested = with(app("acme"), &json!({ "currency": { "name": "c", "per_usd": 1, "of_tomorrow": 1 } }));
    assert!(catalog.try_put(Resource::App, APP, &nested).is_err());
}

#[test]
fn a_callback_that_newer_code_has_sealed_stays_as_it_is_when_another_member_changes() {
    let catalog = catalog();
    let sealed = json!({
        "url": "https://acme.example/cb", "method": "GET", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "of_tomorrow": 1,
    });
    let sealed = catalog.vault.seal(&callback_purpose(APP), sealed.to_string().as_bytes(), [7; 12]).unwrap();
    let masked = json!({ "url": "https://acme.example/cb", "method": "GET", "secret": "********" });
    catalog
        .db
        .execute(
            "UPDATE apps SET callback_sealed = ?, document = json_set(document, '$.callback', json(?)) WHERE id = ?",
            params![sealed.clone(), masked.to_string(), APP],
        )
        .unwrap();
    change_name(&catalog, "App 4");
    let stored = catalog.rows(&format!("SELECT callback_sealed FROM apps WHERE id = '{APP}'"));
    assert_eq!(stored[0].blob(0).unwrap(), sealed);
}

#[test]
fn all_is_published_again_in_own_formats_after_other_code_has_published() {
    let (catalog, kv) = (catalog(), Kv::default());
    let publish = || {
        publish_tracking(&catalog, &kv).unwrap();
        publish_listing(&catalog, &kv).unwrap();
    };
    rebuild_after_other_code(&catalog.db, catalog.now()).unwrap();
    publish();
    let pointer = kv.pointer().unwrap();
    // The same code has nothing to build again.
    rebuild_after_other_code(&catalog.db, catalog.now()).unwrap();
    assert!(tracking_slots::changed(&catalog.db, 1).unwrap().is_empty());
    assert_eq!(kv.pointer().unwrap().manifest, pointer.manifest);

    // Newer code publishes, and is rolled back.
    let newer = "UPDATE snapshot_parts SET bytes = CAST(substr(bytes, 1, 5) || x'02' || substr(bytes, 7) AS BLOB)";
    catalog.db.execute(newer, &[]).unwrap();
    let by = "UPDATE state SET value = value + 1 WHERE name = 'published_by'";
    catalog.db.execute(by, &[]).unwrap();
    let key = contract::kv::listing_key(pointer.listing[0]);
    kv.values.borrow_mut().get_mut(&key).unwrap()[5] = 2;

    rebuild_after_other_code(&catalog.db, catalog.now()).unwrap();
    assert_eq!(tracking_slots::changed(&catalog.db, 9).unwrap().len(), 3, "every shard is built again");
    assert!(listing_due_ms(&catalog.db).unwrap() <= catalog.now());
    publish();
    let pointer = kv.pointer().unwrap();
    assert!(Manifest::open(pointer.manifest).is_ok());
    let newest = kv.get(&contract::kv::listing_key(pointer.listing[0])).unwrap();
    assert!(Listing::open(newest).is_ok());
}
