//! Keys that are retired: a pass seals all secrets again with the newest key, and the old one can be removed.

use serde_json::json;

use crate::{
    Catalog, app_with_url, body,
    service::{Kv, publish_tracking},
    with,
};
use contract::catalog::{Command, GetOwnApp, GetPubKey, GetStatus, IssuePubKey, ReadHealth, Resource};
use domain::model::{AppId, PublisherId, Vault};
use origin::{
    delivery::push::Push,
    objects::catalog::{
        callback_sync::settings_of,
        resealing::{self, Resealing},
        revisions, schedule,
    },
};
use platform::{Database, params};

const NEW: &str = "7:ff00000000000000000000000000000000000000000000000000000000000000";
const SECRET: &str = "demo_click_secret_of_lumen_arcade";
const APPS: u32 = 120;

fn app_id(number: u32) -> String {
    format!("100{number:05}")
}

fn catalog() -> Catalog {
    let catalog = Catalog::small();
    let secret = json!({ "click_secret": SECRET });
    for number in 0..APPS {
        catalog.put(Resource::App, &app_id(number), &with(app_with_url("https://a.example.com/cb?k=v"), &secret));
    }
    let publisher_id = "acme".to_owned();
    body(&catalog.send(Command::IssuePubKey(IssuePubKey { publisher_id })).unwrap(), 201);
    catalog
}

/// Keeps the old keys behind the new one.
fn rotate(catalog: &mut Catalog) {
    let both = |old: &str| format!("{NEW},{old}");
    catalog.vault = Vault::parse("STORE_KEYS", &both(crate::STORE_KEYS)).unwrap();
    catalog.edge_vault = Vault::parse("EDGE_KEYS", &both(crate::EDGE_KEYS)).unwrap();
}

fn begin(catalog: &Catalog) -> bool {
    catalog.with_context(|context| resealing::begin(&catalog.db, context)).unwrap()
}

/// Runs a pass, and returns its steps.
fn reseal(catalog: &Catalog) -> usize {
    let mut pass = Resealing::default();
    let mut steps = 1;
    while catalog.with_context(|context| pass.step(&catalog.db, context)).unwrap() {
        steps += 1;
    }
    steps
}

fn old_seals(catalog: &Catalog) -> i64 {
    let [status, health] = [Command::Status(GetStatus {}), Command::Health(ReadHealth {})].map(|command| {
        let answer = catalog.send(command).unwrap();
        body(&answer, 200)["old_seals"].as_i64().unwrap()
    });
    assert_eq!(status, health);
    health
}

fn read_all(catalog: &Catalog) -> Vec<String> {
    let publisher_id = "acme".to_owned();
    let pub_key = catalog.send(Command::GetPubKey(GetPubKey { publisher_id })).unwrap();
    let apps = (0..APPS).map(|number| {
        let app = Command::GetOwnApp(GetOwnApp {
            publisher_id: PublisherId::parse("acme").unwrap(),
            app_id: AppId::parse(&app_id(number)).unwrap(),
        });
        catalog.send(app).unwrap().body
    });
    [pub_key.body].into_iter().chain(apps).collect()
}

#[test]
fn after_a_pass_the_old_key_can_be_removed() {
    let mut catalog = catalog();
    begin(&catalog);
    reseal(&catalog);
    let before = read_all(&catalog);
    assert_eq!(old_seals(&catalog), 0);
    // The same keys need no other pass.
    begin(&catalog);
    assert_eq!(revisions::get(&catalog.db, revisions::RESEAL_FROM), Ok(None));

    rotate(&mut catalog);
    begin(&catalog);
    assert_eq!(old_seals(&catalog), i64::from(2 * APPS) + 1);
    assert!(schedule::next_alarm(&catalog.db, catalog.now()).unwrap() <= catalog.now());
    assert!(reseal(&catalog) > 4);
    assert_eq!(old_seals(&catalog), 0);
    let publish = |catalog: &Catalog| {
        let kv = Kv::default();
        while publish_tracking(catalog, &kv).unwrap() {}
        kv.pointer().unwrap()
    };
    publish(&catalog);

    catalog.vault = Vault::parse("STORE_KEYS", NEW).unwrap();
    catalog.edge_vault = Vault::parse("EDGE_KEYS", NEW).unwrap();
    begin(&catalog);
    assert_eq!(revisions::get(&catalog.db, revisions::RESEAL_FROM), Ok(None));
    assert_eq!(read_all(&catalog), before);
}

#[test]
fn outboxes_get_callbacks_that_are_sealed_again() {
    let mut catalog = catalog();
    let app = app_id(3);
    let outbox = "INSERT INTO outboxes (app_id, shard) VALUES (?, 5)";
    catalog.db.execute(outbox, params![app.as_str()]).unwrap();
    rotate(&mut catalog);
    begin(&catalog);
    reseal(&catalog);
    let app = AppId::parse(&app).unwrap();
    let queued = settings_of(&catalog.db, app);
    let [queued] = queued.unwrap().try_into().unwrap();
    assert_eq!(queued.settings.sealed.as_ref().unwrap().0[0], 7);
    // A push that began before the pass does not confirm the new text.
    let mut before = queued.clone();
    before.settings.sealed.as_mut().unwrap().0[0] = 1;
    before.confirm(&catalog.db).unwrap();
    assert_eq!(settings_of(&catalog.db, app).unwrap(), std::slice::from_ref(&queued));
    queued.confirm(&catalog.db).unwrap();
    assert_eq!(settings_of(&catalog.db, app).unwrap(), []);
}

#[test]
fn a_secret_that_no_listed_key_decrypts_stays_and_is_counted() {
    let mut catalog = catalog();
    let lost = "UPDATE apps SET callback_sealed = x'63' || substr(callback_sealed, 2) WHERE id = ?";
    let lost = lost.replace("x'63' || substr(callback_sealed, 2)", "CAST(x'63' || substr(callback_sealed, 2) AS BLOB)");
    catalog.db.execute(&lost, params![app_id(0)]).unwrap();
    rotate(&mut catalog);
    begin(&catalog);
    reseal(&catalog);
    assert_eq!(old_seals(&catalog), 1);
    assert_eq!(revisions::get(&catalog.db, revisions::RESEAL_FROM), Ok(None));
    // The operator lists the lost key again, behind the same first key.
    let found = "UPDATE apps SET callback_sealed = CAST(x'01' || substr(callback_sealed, 2) AS BLOB) WHERE id = ?";
    catalog.db.execute(found, params![app_id(0)]).unwrap();
    assert!(begin(&catalog));
    reseal(&catalog);
    assert_eq!((old_seals(&catalog), begin(&catalog)), (0, false));
}
