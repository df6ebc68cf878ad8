//! Handing callback settings over to the outboxes of their apps, step by step.

use serde_json::{Value, json};

use crate::{Catalog, Faults, NOON, app, app_calling, body, under_every_fault, with};
use contract::catalog::{CallbackSettings, Resource};
use domain::model::AppId;
use origin::catalog::{
    callback_sync::queue::{AGAIN_MS, OWN_TRY_MS, claim, next_ms, of_app, told},
    revisions,
    schedule::next_alarm,
    sql,
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

/// What is to be handed over for the app.
fn due(catalog: &Catalog) -> Option<CallbackSettings> {
    of_app(&catalog.db, id(APP)).unwrap().map(|due| due.settings)
}

fn tell(catalog: &Catalog, settings: &CallbackSettings) {
    told(&catalog.db, id(APP), settings.revision).unwrap();
}

/// The URL that settings hold; none without a callback.
fn url(catalog: &Catalog, settings: &CallbackSettings) -> Option<String> {
    let sealed = settings.sealed.as_ref()?;
    let plain = catalog.vault.open(&format!("callback/{APP}"), &sealed.0).unwrap();
    let callback: Value = serde_json::from_slice(&plain).unwrap();
    Some(callback["url"].as_str().unwrap().to_owned())
}

/// With an app without a callback, whose outbox has asked.
fn asked() -> Catalog {
    let catalog = Catalog::small();
    put(&catalog, APP, &app("acme"));
    catalog.terms(APP, &[]);
    catalog
}

#[test]
fn only_an_outbox_that_has_asked_is_told() {
    let catalog = Catalog::small();
    put(&catalog, APP, &app_calling(ONE));
    put(&catalog, "10000002", &app_calling(ONE));
    assert_eq!((due(&catalog), next_ms(&catalog.db)), (None, Ok(None)));
    let terms = catalog.terms(APP, &[]);
    assert_eq!(url(&catalog, &terms.callback).as_deref(), Some(ONE));
    assert_eq!(due(&catalog), None, "it has just been told");
    for app in [APP, "10000002"] {
        put(&catalog, app, &app_calling(TWO));
    }
    let settings = due(&catalog).unwrap();
    assert!(settings.revision > terms.callback.revision);
    assert_eq!(url(&catalog, &settings).as_deref(), Some(TWO));
    assert_eq!(of_app(&catalog.db, id("10000002")), Ok(None));
    assert_eq!(of_app(&catalog.db, id("10000003")), Ok(None));
}

#[test]
fn a_callback_that_is_set_changed_repeated_or_removed_is_handed_over() {
    let catalog = asked();
    let mut before = catalog.terms(APP, &[]).callback;
    for (document, expected) in [
        (app_calling(ONE), Some(ONE)),
        (app_calling(TWO), Some(TWO)),
        // The endpoint is to be tried again.
        (app_calling(TWO), Some(TWO)),
        (with(app_calling(TWO), &json!({ "name": "Renamed" })), Some(TWO)),
        (app("acme"), None),
        (app_calling(ONE), Some(ONE)),
    ] {
        put(&catalog, APP, &document);
        let settings = due(&catalog).unwrap();
        assert!(settings.revision > before.revision);
        assert_eq!(url(&catalog, &settings).as_deref(), expected);
        assert_eq!(catalog.terms(APP, &[]).callback, settings);
        assert_eq!(due(&catalog).as_ref(), Some(&settings), "an answer may be lost");
        tell(&catalog, &settings);
        assert_eq!((due(&catalog), next_ms(&catalog.db)), (None, Ok(None)));
        before = settings;
    }
}

#[test]
fn what_is_no_change_of_the_callback_is_not_handed_over() {
    let catalog = asked();
    let before = catalog.terms(APP, &[]).callback;
    put(&catalog, APP, &app("acme"));
    put(&catalog, APP, &with(app("acme"), &json!({ "name": "Renamed" })));
    catalog.put(
        Resource::Publisher,
        "acme",
        &json!({ "name": "Acme & Sons", "approved": true }),
    );
    assert_eq!((due(&catalog), catalog.terms(APP, &[]).callback), (None, before));

    // What is due stays so, and with it the revision of what was set.
    put(&catalog, APP, &app_calling(ONE));
    put(&catalog, APP, &app("acme"));
    let removal = due(&catalog).unwrap();
    assert_eq!(removal.sealed, None);
    put(&catalog, APP, &app("acme"));
    put(&catalog, APP, &with(app("acme"), &json!({ "name": "Renamed" })));
    assert_eq!(due(&catalog), Some(removal));
}

#[test]
fn an_older_revision_that_was_told_leaves_the_newer_one_due() {
    let catalog = asked();
    put(&catalog, APP, &app_calling(ONE));
    let older = due(&catalog).unwrap();
    put(&catalog, APP, &app_calling(TWO));
    let newer = due(&catalog).unwrap();
    tell(&catalog, &older);
    assert_eq!(due(&catalog).as_ref(), Some(&newer));
    tell(&catalog, &newer);
    assert_eq!(due(&catalog), None);
    tell(&catalog, &older);
    assert_eq!(due(&catalog), None);
}

#[test]
fn the_alarm_leaves_the_first_try_to_the_put_and_waits_between_its_own() {
    let catalog = asked();
    catalog.now_ms.set(NOON + 50_000);
    revisions::set(&catalog.db, revisions::LISTING_BUILT_AT, NOON).unwrap();
    let published = || revisions::clear(&catalog.db, revisions::TRACKING_DIRTY_SINCE).unwrap();
    put(&catalog, APP, &app_calling(ONE));
    published();
    let put_at = catalog.now();
    let claimed = || {
        let now_ms = catalog.now();
        claim(&catalog.db, now_ms, now_ms, 48).unwrap().len()
    };
    let alarm = || next_alarm(&catalog.db, catalog.now()).unwrap();
    assert_eq!(alarm(), put_at + OWN_TRY_MS);
    catalog.wait(OWN_TRY_MS - 1);
    assert_eq!(claimed(), 0);
    catalog.wait(1);
    assert_eq!(claimed(), 1);
    for _ in 0..3 {
        assert_eq!((claimed(), alarm()), (0, catalog.now() + AGAIN_MS));
        catalog.wait(AGAIN_MS - 1);
        assert_eq!(claimed(), 0);
        catalog.wait(1);
        assert_eq!(claimed(), 1);
    }
    // A new PUT tries for itself, and the alarm soon after it.
    put(&catalog, APP, &app_calling(TWO));
    assert!(alarm() <= catalog.now() + OWN_TRY_MS);
    tell(&catalog, &due(&catalog).unwrap());
    published();
    assert_eq!(alarm(), NOON + 300_000, "nothing but the listing");
}

#[test]
fn those_that_fail_do_not_hold_up_the_others() {
    let catalog = Catalog::small();
    let apps: Vec<_> = (0..10).map(|n| format!("1000000{n}")).collect();
    for app in &apps {
        put(&catalog, app, &app_calling(ONE));
        catalog.terms(app, &[]);
    }
    for app in &apps {
        put(&catalog, app, &app_calling(TWO));
        catalog.wait(1);
    }
    catalog.wait(OWN_TRY_MS);
    let claimed = || {
        let claimed = claim(&catalog.db, catalog.now(), catalog.now(), 4).unwrap();
        claimed.iter().map(|due| due.app.to_string()).collect::<Vec<_>>()
    };
    let mut tried = Vec::new();
    while tried.len() < apps.len() {
        let page = claimed();
        assert!((1..=4).contains(&page.len()), "{page:?}");
        assert!(
            next_alarm(&catalog.db, catalog.now()).unwrap() <= catalog.now()
                || tried.len() + page.len() == 10
        );
        tried.extend(page);
        catalog.wait(1);
    }
    assert_eq!(tried, apps, "the longest due first");
    assert_eq!(claimed(), [""; 0]);
}

#[test]
fn an_import_hands_over_what_it_changed() {
    let catalog = Catalog::small();
    let apps: Vec<_> = (0..5).map(|n| format!("1000000{n}")).collect();
    for app in &apps {
        put(&catalog, app, &app_calling(ONE));
    }
    for app in &apps[..3] {
        catalog.terms(app, &[]);
    }
    let line = |document: Value, id: &str| with(document, &json!({ "kind": "app", "id": id })).to_string();
    let lines = [
        line(app("acme"), &apps[0]),
        line(app_calling(TWO), &apps[1]),
        line(app_calling(TWO), &apps[3]),
        line(app_calling(TWO), "10000009"),
    ];
    body(&catalog.import("i", &lines.join("\n")).unwrap(), 200);
    let now_ms = catalog.now();
    assert_eq!(
        claim(&catalog.db, now_ms, now_ms, 48),
        Ok(Vec::new()),
        "not the alarm's yet"
    );
    let own = || claim(&catalog.db, now_ms, now_ms + OWN_TRY_MS, 48).unwrap();
    let claimed: Vec<_> = own().iter().map(|due| due.app.to_string()).collect();
    assert_eq!(claimed, apps[..2]);
    assert_eq!(own(), [], "each once");

    let wrong = lines.join("\n") + "\nnonsense";
    let before = catalog.dump();
    body(&catalog.import("i", &wrong).unwrap(), 400);
    assert_eq!(catalog.dump(), before);
}

#[test]
fn a_put_that_breaks_has_changed_the_settings_and_their_handover_or_neither() {
    let prepared = || {
        let catalog = asked();
        put(&catalog, APP, &app_calling(ONE));
        tell(&catalog, &due(&catalog).unwrap());
        catalog
    };
    for new in [app_calling(TWO), app("acme")] {
        let expected = new["callback"]["url"].as_str();
        under_every_fault(prepared, |catalog, fault| {
            let outcome = catalog.try_put(Resource::App, APP, &new);
            catalog.db.inject(Faults::none());
            let current = catalog.terms(APP, &[]).callback;
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
fn what_breaks_while_handing_over_is_handed_over_again_or_is_done() {
    let prepared = || {
        let catalog = asked();
        put(&catalog, APP, &app_calling(ONE));
        catalog.wait(OWN_TRY_MS);
        catalog
    };
    under_every_fault(prepared, |catalog, fault| {
        let before = due(catalog).unwrap();
        let now_ms = catalog.now();
        let outcome = claim(&catalog.db, now_ms, now_ms, 48).and_then(|claimed| {
            claimed
                .iter()
                .try_for_each(|due| told(&catalog.db, due.app, due.settings.revision))
        });
        match due(catalog) {
            None => assert_eq!(next_ms(&catalog.db), Ok(None), "{fault}"),
            Some(settings) => {
                assert!(outcome.is_err(), "{fault}");
                assert_eq!(settings, before, "{fault}");
                assert!(
                    next_ms(&catalog.db).unwrap().unwrap() <= now_ms + AGAIN_MS,
                    "{fault}"
                );
            }
        }
    });
}

#[test]
fn a_first_question_that_breaks_is_asked_again() {
    let prepared = || {
        let catalog = Catalog::small();
        put(&catalog, APP, &app_calling(ONE));
        catalog
    };
    under_every_fault(prepared, |catalog, fault| {
        let noted = catalog.try_terms(APP, &[]).is_ok();
        catalog.db.inject(Faults::none());
        if !noted {
            catalog.terms(APP, &[]);
        }
        put(catalog, APP, &app_calling(TWO));
        assert!(due(catalog).is_some(), "{fault}");
    });
}

#[test]
fn no_statement_of_a_handover_reads_all_apps_or_all_outboxes() {
    let catalog = asked();
    for sql in [
        sql::GET_NEXT_HANDOVER,
        sql::LIST_HANDOVERS,
        sql::GET_HANDOVER,
        sql::MARK_HANDOVER,
        sql::PUT_OFF_HANDOVER,
        sql::SETTLE_HANDOVER,
        sql::GET_APP_TERMS,
        sql::LIST_GOAL_TERMS,
    ] {
        let mut plan: Vec<_> = Vec::new();
        for row in catalog.rows(&format!("EXPLAIN QUERY PLAN {}", sql.replace('?', "1"))) {
            plan.push(row.text(3).unwrap().to_owned());
        }
        let reads = |step: &&String| step.starts_with("SCAN") && !step.contains("outboxes_due");
        assert_eq!(plan.iter().find(reads), None, "{sql}: {plan:?}");
    }
}
