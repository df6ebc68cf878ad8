//! Pushes of callback settings to the outboxes of their apps, step by step.

use serde_json::{Value, json};

use crate::{Catalog, Faults, NOON, app, app_with_url, body, under_every_fault, with};
use contract::{
    catalog::{CallbackSettings, Resource},
    outbox::OutboxShard,
};
use domain::model::AppId;
use origin::{
    delivery::push::{FIRST_PUSH_MS, Push, RETRY_MS, claim},
    objects::catalog::{
        callback_sync::{QueuedSettings, settings_of},
        revisions,
        schedule::next_alarm,
        sql,
    },
};

const APP: &str = "10000001";
const ONE: &str = "https://acme.example.com/one";
const TWO: &str = "https://acme.example.com/two";

pub fn id(app: &str) -> AppId {
    AppId::parse(app).unwrap()
}

pub fn put(catalog: &Catalog, app: &str, document: &Value) {
    catalog.put(Resource::App, app, document);
}

/// The settings to push for the app.
fn due(catalog: &Catalog) -> Option<CallbackSettings> {
    let due = settings_of(&catalog.db, id(APP)).unwrap().pop();
    due.map(|due| due.settings)
}

fn confirm(catalog: &Catalog, settings: &CallbackSettings) {
    let shard = OutboxShard { app: id(APP), number: 5 };
    crate::confirm(&catalog.db, shard, settings).unwrap();
}

/// The URL in these settings, if they have a callback.
fn url(catalog: &Catalog, settings: &CallbackSettings) -> Option<String> {
    let sealed = settings.sealed.as_ref()?;
    let plain = catalog.vault.open(&format!("callback/{APP}"), &sealed.0).unwrap();
    let callback: Value = serde_json::from_slice(&plain).unwrap();
    Some(callback["url"].as_str().unwrap().to_owned())
}

/// A catalog with an app without a callback, whose outbox has requested terms.
fn with_known_outbox() -> Catalog {
    let catalog = Catalog::small();
    put(&catalog, APP, &app("acme"));
    catalog.ask_app(APP);
    catalog
}

#[test]
fn callbacks_are_pushed_only_to_outboxes_that_requested_terms() {
    let catalog = Catalog::small();
    put(&catalog, APP, &app_with_url(ONE));
    put(&catalog, "10000002", &app_with_url(ONE));
    assert_eq!((due(&catalog), QueuedSettings::next_ms(&catalog.db)), (None, Ok(None)));
    let terms = catalog.ask_app(APP);
    assert_eq!(url(&catalog, &terms.callback).as_deref(), Some(ONE));
    assert_eq!(due(&catalog), None, "the answer carried the settings");
    for app in [APP, "10000002"] {
        put(&catalog, app, &app_with_url(TWO));
    }
    let settings = due(&catalog).unwrap();
    assert!(settings.revision > terms.callback.revision);
    assert_eq!(url(&catalog, &settings).as_deref(), Some(TWO));
    assert_eq!(settings_of(&catalog.db, id("10000002")), Ok(Vec::new()));
    assert_eq!(settings_of(&catalog.db, id("10000003")), Ok(Vec::new()));
}

#[test]
fn a_callback_that_is_set_changed_repeated_or_removed_is_pushed() {
    let catalog = with_known_outbox();
    let mut before = catalog.ask_app(APP).callback;
    for (document, expected) in [
        (app_with_url(ONE), Some(ONE)),
        (app_with_url(TWO), Some(TWO)),
        // A repeated PUT makes the outbox try the endpoint again.
        (app_with_url(TWO), Some(TWO)),
        (with(app_with_url(TWO), &json!({ "name": "Renamed" })), Some(TWO)),
        (app("acme"), None),
        (app_with_url(ONE), Some(ONE)),
    ] {
        put(&catalog, APP, &document);
        let settings = due(&catalog).unwrap();
        assert!(settings.revision > before.revision);
        assert_eq!(url(&catalog, &settings).as_deref(), expected);
        assert_eq!(catalog.ask_app(APP).callback, settings);
        assert_eq!(due(&catalog).as_ref(), Some(&settings), "an answer may be lost");
        confirm(&catalog, &settings);
        assert_eq!((due(&catalog), QueuedSettings::next_ms(&catalog.db)), (None, Ok(None)));
        before = settings;
    }
}

#[test]
fn changes_of_other_fields_push_no_callback() {
    let catalog = with_known_outbox();
    let before = catalog.ask_app(APP).callback;
    put(&catalog, APP, &app("acme"));
    put(&catalog, APP, &with(app("acme"), &json!({ "name": "Renamed" })));
    catalog.put(Resource::Publisher, "acme", &json!({ "name": "Acme & Sons", "approved": true }));
    assert_eq!((due(&catalog), catalog.ask_app(APP).callback), (None, before));

    // Pending settings stay pending and keep their revision.
    put(&catalog, APP, &app_with_url(ONE));
    put(&catalog, APP, &app("acme"));
    let removal = due(&catalog).unwrap();
    assert_eq!(removal.sealed, None);
    put(&catalog, APP, &app("acme"));
    put(&catalog, APP, &with(app("acme"), &json!({ "name": "Renamed" })));
    assert_eq!(due(&catalog), Some(removal));
}

#[test]
fn confirming_an_older_revision_leaves_the_newer_one_due() {
    let catalog = with_known_outbox();
    put(&catalog, APP, &app_with_url(ONE));
    let older = due(&catalog).unwrap();
    put(&catalog, APP, &app_with_url(TWO));
    let newer = due(&catalog).unwrap();
    confirm(&catalog, &older);
    assert_eq!(due(&catalog).as_ref(), Some(&newer));
    confirm(&catalog, &newer);
    assert_eq!(due(&catalog), None);
    confirm(&catalog, &older);
    assert_eq!(due(&catalog), None);
}

#[test]
fn the_put_pushes_first_and_the_alarm_retries_at_intervals() {
    let catalog = with_known_outbox();
    catalog.now_ms.set(NOON + 50_000);
    revisions::set(&catalog.db, revisions::LISTING_BUILT_AT, NOON).unwrap();
    let published = || revisions::clear(&catalog.db, revisions::TRACKING_DIRTY_SINCE).unwrap();
    put(&catalog, APP, &app_with_url(ONE));
    published();
    let put_at = catalog.now();
    let claimed = || {
        let now_ms = catalog.now();
        claim::<QueuedSettings>(&catalog.db, now_ms, now_ms, 48).unwrap().len()
    };
    let alarm = || next_alarm(&catalog.db, catalog.now()).unwrap();
    assert_eq!(alarm(), put_at + FIRST_PUSH_MS);
    catalog.wait(FIRST_PUSH_MS - 1);
    assert_eq!(claimed(), 0);
    catalog.wait(1);
    assert_eq!(claimed(), 1);
    for _ in 0..3 {
        assert_eq!((claimed(), alarm()), (0, catalog.now() + RETRY_MS));
        catalog.wait(RETRY_MS - 1);
        assert_eq!(claimed(), 0);
        catalog.wait(1);
        assert_eq!(claimed(), 1);
    }
    // A new PUT makes the first attempt itself, and the alarm follows soon after.
    put(&catalog, APP, &app_with_url(TWO));
    assert!(alarm() <= catalog.now() + FIRST_PUSH_MS);
    confirm(&catalog, &due(&catalog).unwrap());
    published();
    assert_eq!(alarm(), NOON + 300_000, "only the listing is due");
}

#[test]
fn failing_outboxes_do_not_delay_others() {
    let catalog = Catalog::small();
    let apps: Vec<_> = (0..10).map(|n| format!("1000000{n}")).collect();
    for app in &apps {
        put(&catalog, app, &app_with_url(ONE));
        catalog.ask_app(app);
    }
    for app in &apps {
        put(&catalog, app, &app_with_url(TWO));
        catalog.wait(1);
    }
    catalog.wait(FIRST_PUSH_MS);
    let claimed = || {
        let claimed = claim::<QueuedSettings>(&catalog.db, catalog.now(), catalog.now(), 4).unwrap();
        claimed.iter().map(|due| due.shard.app.to_string()).collect::<Vec<_>>()
    };
    let mut tried = Vec::new();
    while tried.len() < apps.len() {
        let page = claimed();
        assert!((1..=4).contains(&page.len()), "{page:?}");
        assert!(next_alarm(&catalog.db, catalog.now()).unwrap() <= catalog.now() || tried.len() + page.len() == 10);
        tried.extend(page);
        catalog.wait(1);
    }
    assert_eq!(tried, apps, "the earliest due first");
    assert_eq!(claimed(), [""; 0]);
}

#[test]
fn an_import_pushes_the_callbacks_it_changed() {
    let catalog = Catalog::small();
    let apps: Vec<_> = (0..5).map(|n| format!("1000000{n}")).collect();
    for app in &apps {
        put(&catalog, app, &app_with_url(ONE));
    }
    for app in &apps[..3] {
        catalog.ask_app(app);
    }
    let line = |document: Value, id: &str| with(document, &json!({ "kind": "app", "id": id })).to_string();
    let lines = [
        line(app("acme"), &apps[0]),
        line(app_with_url(TWO), &apps[1]),
        line(app_with_url(TWO), &apps[3]),
        line(app_with_url(TWO), "10000009"),
    ];
    body(&catalog.import(&lines.join("\n")).unwrap(), 200);
    let now_ms = catalog.now();
    assert_eq!(claim::<QueuedSettings>(&catalog.db, now_ms, now_ms, 48), Ok(Vec::new()), "not due for the alarm yet");
    let own = || claim::<QueuedSettings>(&catalog.db, now_ms, now_ms + FIRST_PUSH_MS, 48).unwrap();
    let claimed: Vec<_> = own().iter().map(|due| due.shard.app.to_string()).collect();
    assert_eq!(claimed, apps[..2]);
    assert_eq!(own(), [], "each once");

    let wrong = lines.join("\n") + "\nnonsense";
    let before = catalog.dump();
    body(&catalog.import(&wrong).unwrap(), 400);
    assert_eq!(catalog.dump(), before);
}

#[test]
fn a_put_that_fails_changes_settings_and_queue_together_or_not_at_all() {
    let prepared = || {
        let catalog = with_known_outbox();
        put(&catalog, APP, &app_with_url(ONE));
        confirm(&catalog, &due(&catalog).unwrap());
        catalog
    };
    for new in [app_with_url(TWO), app("acme")] {
        let expected = new["callback"]["url"].as_str();
        under_every_fault(prepared, |catalog, fault| {
            let outcome = catalog.try_put(Resource::App, APP, &new);
            catalog.db.inject(Faults::none());
            let current = catalog.ask_app(APP).callback;
            let is_new = url(catalog, &current).as_deref() == expected;
            assert!(is_new || outcome.is_err(), "{fault}");
            assert_eq!(due(catalog), is_new.then_some(current), "{fault}");
            put(catalog, APP, &new);
            let settings = due(catalog).unwrap();
            assert_eq!(url(catalog, &settings).as_deref(), expected, "{fault}");
        });
    }
}

#[test]
fn a_push_that_fails_is_retried_or_was_recorded() {
    let prepared = || {
        let catalog = with_known_outbox();
        put(&catalog, APP, &app_with_url(ONE));
        catalog.wait(FIRST_PUSH_MS);
        catalog
    };
    under_every_fault(prepared, |catalog, fault| {
        let before = due(catalog).unwrap();
        let now_ms = catalog.now();
        let outcome = claim::<QueuedSettings>(&catalog.db, now_ms, now_ms, 48)
            .and_then(|claimed| claimed.iter().try_for_each(|due| due.confirm(&catalog.db)));
        match due(catalog) {
            None => assert_eq!(QueuedSettings::next_ms(&catalog.db), Ok(None), "{fault}"),
            Some(settings) => {
                assert!(outcome.is_err(), "{fault}");
                assert_eq!(settings, before, "{fault}");
                assert!(QueuedSettings::next_ms(&catalog.db).unwrap().unwrap() <= now_ms + RETRY_MS, "{fault}");
            }
        }
    });
}

#[test]
fn a_first_request_for_terms_that_fails_can_be_repeated() {
    let prepared = || {
        let catalog = Catalog::small();
        put(&catalog, APP, &app_with_url(ONE));
        catalog
    };
    under_every_fault(prepared, |catalog, fault| {
        let answered = catalog.try_ask_app(APP).is_ok();
        catalog.db.inject(Faults::none());
        if !answered {
            catalog.ask_app(APP);
        }
        put(catalog, APP, &app_with_url(TWO));
        assert!(due(catalog).is_some(), "{fault}");
    });
}

#[test]
fn no_statement_of_the_push_queue_scans_all_apps_or_outboxes() {
    let catalog = with_known_outbox();
    for sql in [
        sql::GET_NEXT_DUE_SETTINGS,
        sql::LIST_DUE_SETTINGS,
        sql::LIST_QUEUED_SETTINGS,
        sql::QUEUE_SETTINGS,
        sql::POSTPONE_SETTINGS,
        sql::UNQUEUE_SETTINGS,
        sql::GET_CURRENT_APP,
        sql::GET_TERMS,
    ] {
        let plan = catalog.plan(&sql.replace('?', "1"), &[]);
        let reads = |step: &&String| step.starts_with("SCAN") && !step.contains("outboxes_due");
        assert_eq!(plan.iter().find(reads), None, "{sql}: {plan:?}");
    }
}
