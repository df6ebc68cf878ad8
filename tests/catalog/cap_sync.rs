//! Pushes of conversion caps to the outboxes that pay for an offer, and of suspensions to those of a publisher's apps.

use std::{future::pending, time::Duration};

use futures_util::FutureExt;
use serde_json::{Value, json};

use crate::{Catalog, NOON, app, offer, with};
use contract::{
    catalog::Resource,
    operation::{CallError, ObjectAddress, Operation},
};
use domain::model::{OfferId, PublisherId};
use origin::{
    delivery::push::{FIRST_PUSH_MS, Push, PushQueue},
    objects::catalog::{
        callback_sync,
        cap_sync::{QueuedCap, queued_of},
        schedule::next_alarm,
    },
};
use platform::{
    failure::Failure,
    traits::{Clock, ObjectCall, Sleep},
};

const APP: &str = "10000001";

fn with_offers() -> Catalog {
    let catalog = Catalog::small();
    catalog.put(Resource::App, APP, &app("acme"));
    for (id, goal) in [("o-1", "g-1"), ("o-2", "g-2")] {
        catalog.put(Resource::Offer, id, &offer(&[goal]));
    }
    catalog
}

fn put_cap(catalog: &Catalog, id: &str, lim: Option<u32>) {
    let goal = id.replace('o', "g");
    let cap = lim.map_or(Value::Null, |lim| json!({ "dur": "DAILY", "lim": lim }));
    let document = with(offer(&[&goal]), &json!({ "conversion_cap": cap }));
    catalog.put(Resource::Offer, id, &document);
}

/// The outboxes that have yet to get an offer's cap, and the cap.
fn queued(catalog: &Catalog, id: &str) -> Vec<(u8, Option<u32>)> {
    let queued = queued_of(&catalog.db, &OfferId::parse(id).unwrap()).unwrap();
    queued.iter().map(|queued| (queued.shard.number, queued.offer.current.conversion_cap)).collect()
}

fn confirm(catalog: &Catalog, id: &str) {
    for queued in queued_of(&catalog.db, &OfferId::parse(id).unwrap()).unwrap() {
        queued.confirm(&catalog.db).unwrap();
    }
}

#[test]
fn each_change_of_a_cap_is_pushed_to_the_outboxes_that_asked_and_no_other() {
    let catalog = with_offers();
    put_cap(&catalog, "o-1", Some(9));
    assert_eq!(queued(&catalog, "o-1"), [], "nobody can pay for it yet");
    put_cap(&catalog, "o-1", None);
    for shard in [0, 3, 3, 7] {
        catalog.outbox_asks("o-1", APP, shard);
    }
    catalog.outbox_asks("o-2", APP, 5);
    assert_eq!(queued(&catalog, "o-1"), [], "the answer had the cap");
    // The first, a lower, none, and 0.
    for cap in [Some(5), Some(4), None, Some(0)] {
        put_cap(&catalog, "o-1", cap);
        assert_eq!(queued(&catalog, "o-1"), [(0, cap), (3, cap), (7, cap)]);
        let due_ms = NOON + FIRST_PUSH_MS;
        assert_eq!(QueuedCap::next_ms(&catalog.db), Ok(Some(due_ms)));
        assert!(next_alarm(&catalog.db, catalog.now()).unwrap() <= due_ms);
        confirm(&catalog, "o-1");
        assert_eq!(queued(&catalog, "o-1"), []);
        assert_eq!(queued(&catalog, "o-2"), []);
    }
    // Another change and a repeat push nothing.
    let renamed = json!({ "conversion_cap": { "dur": "DAILY", "lim": 0 }, "name": "Another" });
    catalog.put(Resource::Offer, "o-1", &with(offer(&["g-1"]), &renamed));
    catalog.put(Resource::Offer, "o-1", &with(offer(&["g-1"]), &renamed));
    let click_cap = json!({ "click_cap": { "dur": "DAILY", "lim": 3 } });
    let click_cap = with(with(offer(&["g-1"]), &renamed), &click_cap);
    catalog.put(Resource::Offer, "o-1", &click_cap);
    assert_eq!(queued(&catalog, "o-1"), []);
}

/// The outbox needs these terms to pay a held conversion, even without a further postback.
#[test]
fn terms_that_pay_earlier_clicks_are_pushed_too() {
    let catalog = with_offers();
    catalog.outbox_asks("o-1", APP, 3);
    let since = catalog.now() / 1_000 - 100;
    let put = |changes: Value| {
        let document = with(offer(&["g-1"]), &json!({ "terms_since": since }));
        catalog.put(Resource::Offer, "o-1", &with(document, &changes));
        let pushed = queued(&catalog, "o-1");
        confirm(&catalog, "o-1");
        pushed
    };
    assert_eq!(put(json!({})), [(3, None)]);
    assert_eq!(put(json!({})), [], "nothing has changed");
    assert_eq!(put(json!({ "name": "Another" })), []);
    // The same time, and other terms.
    assert_eq!(put(json!({ "conversion_window_days": 7 })), [(3, None)]);
}

#[test]
fn an_answer_to_an_older_push_confirms_no_newer_cap() {
    let catalog = with_offers();
    catalog.outbox_asks("o-1", APP, 3);
    put_cap(&catalog, "o-1", Some(5));
    let older = queued_of(&catalog.db, &OfferId::parse("o-1").unwrap()).unwrap();
    put_cap(&catalog, "o-1", Some(4));
    older[0].confirm(&catalog.db).unwrap();
    assert_eq!(queued(&catalog, "o-1"), [(3, Some(4))]);
    confirm(&catalog, "o-1");
    assert_eq!(queued(&catalog, "o-1"), []);
}

#[test]
fn an_import_queues_caps_too() {
    let catalog = with_offers();
    catalog.outbox_asks("o-1", APP, 3);
    let line = json!({ "kind": "offer", "id": "o-1", "conversion_cap": { "dur": "DAILY", "lim": 2 } });
    let text = with(offer(&["g-1"]), &line).to_string();
    assert_eq!(catalog.import(&text).unwrap().status, 200);
    assert_eq!(queued(&catalog, "o-1"), [(3, Some(2))]);
}

#[test]
fn a_suspension_and_its_end_are_pushed_to_the_outboxes_of_all_apps() {
    let catalog = with_offers();
    catalog.put(Resource::App, "10000002", &app("acme"));
    catalog.put(Resource::Publisher, "other", &json!({ "name": "Other", "approved": true }));
    catalog.put(Resource::App, "10000003", &app("other"));
    for app in [APP, "10000002", "10000003"] {
        catalog.ask_app(app);
    }
    let before = catalog.ask_app(APP);
    assert!(!before.callback.is_suspended);
    let publisher = PublisherId::parse("acme").unwrap();
    let mut last = before.callback.revision;
    for approved in [false, true] {
        let document = json!({ "name": "Acme", "approved": approved });
        catalog.put(Resource::Publisher, "acme", &document);
        let queued = callback_sync::settings_of_publisher(&catalog.db, &publisher).unwrap();
        let apps: Vec<_> = queued.iter().map(|queued| queued.shard.app.to_string()).collect();
        assert_eq!(apps, [APP, "10000002"]);
        for queued in &queued {
            assert_eq!(queued.settings.is_suspended, !approved);
            assert!(queued.settings.revision > last);
        }
        last = queued[0].settings.revision;
        let asked = catalog.ask_app(APP);
        assert_eq!(asked.callback, queued[0].settings);
        // Snapshots carry the revision, so that an outbox that the push did not reach asks for the settings.
        assert_eq!(asked.current.callback_revision, last);
        for queued in queued {
            queued.confirm(&catalog.db).unwrap();
        }
        assert_eq!(callback_sync::settings_of_publisher(&catalog.db, &publisher), Ok(vec![]));
    }
    // A PUT of an app leaves the suspension as it is, and one of the publisher's name pushes nothing.
    let renamed = json!({ "name": "Acme & Sons", "approved": true });
    catalog.put(Resource::Publisher, "acme", &renamed);
    assert_eq!(callback_sync::settings_of_publisher(&catalog.db, &publisher), Ok(vec![]));
    catalog.put(Resource::Publisher, "acme", &json!({ "name": "Acme", "approved": false }));
    catalog.put(Resource::App, APP, &with(app("acme"), &json!({ "name": "Renamed" })));
    assert!(catalog.ask_app(APP).callback.is_suspended);
}

/// No outbox answers, and time passes at once.
struct Hanging;

impl Clock for Hanging {
    fn now_ms(&self) -> i64 {
        NOON
    }
}

impl Sleep for Hanging {
    async fn sleep(&self, _time: Duration) {}
}

impl ObjectCall for Hanging {
    async fn call<O: Operation>(
        &self,
        _to: &ObjectAddress,
        _operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        pending().await
    }
}

#[test]
fn a_put_does_not_wait_for_all_outboxes_that_hang() {
    let catalog = with_offers();
    for shard in 0..8 {
        catalog.outbox_asks("o-1", APP, shard);
    }
    put_cap(&catalog, "o-1", Some(5));
    let queued = queued_of(&catalog.db, &OfferId::parse("o-1").unwrap()).unwrap();
    let queue = PushQueue::<_, _, QueuedCap>::new(&catalog.db, &Hanging);
    let required = queue.require("offer", queued).now_or_never().unwrap();
    let Err(Failure::Refused(refusal)) = required else {
        panic!("{required:?}");
    };
    assert_eq!(refusal.status, 503);
    assert!(refusal.message.contains("but only 0 of 8 outboxes"), "{}", refusal.message);
}
