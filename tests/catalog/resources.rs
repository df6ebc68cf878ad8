//! Commands on resources: what a `PUT` stores, refuses and leaves as it was.

use contract::{
    catalog::{Command, Get, Put, PutCondition, Resource},
    operation::OperatorReply,
};
use domain::model::document::tag;
use platform::failure::Failure;
use serde_json::{Value, json};

use crate::{Catalog, app, app_with_url, body, demo::Demo, lists::pages, offer, refused, under_every_fault, with};

const O: Resource = Resource::Offer;

#[test]
fn a_stored_resource_reads_back_and_is_listed() {
    let catalog = Catalog::from_fixtures();
    let demo = Demo::read();
    for (resource, documents) in [
        (Resource::Publisher, &demo.publishers),
        (Resource::App, &demo.apps),
        (Resource::Advertiser, &demo.advertisers),
        (Resource::Offer, &demo.offers),
    ] {
        let member = format!("{}_id", resource.singular());
        for (id, document) in documents {
            let read = catalog.get(resource, id);
            assert_eq!(read[&member], **id);
            for (name, value) in document.as_object().unwrap() {
                assert_eq!(&read[name], value, "{member} {id}: {name}");
            }
            assert_eq!(catalog.put(resource, id, document), read);
        }
        // Lists all of them page by page, ordered by the bytes of their ids.
        let pages = pages(&catalog, resource, 5);
        assert!(pages.iter().all(|ids| ids.len() <= 5));
        assert!(pages.concat().iter().eq(documents.keys()), "{pages:?}");
    }
    let id = "none".to_owned();
    let unknown = refused(catalog.send(Command::Get(Get { resource: O, id })));
    assert_eq!(unknown.0, "not_found");
}

#[test]
fn a_put_with_an_unknown_reference_is_refused_and_changes_nothing() {
    let catalog = Catalog::small();
    catalog.put(Resource::Publisher, "beta", &json!({ "name": "Beta", "approved": true }));
    catalog.put(Resource::App, "10000001", &app("acme"));
    let before = catalog.dump();
    let with_code = |code: &str| {
        let mut document = offer(&["g"]);
        document["goals"][0]["gl_val"] = code.into();
        document
    };
    let with_md5 = |secret: &str| {
        let mut document = app_with_url("https://t.example/cb");
        document["callback"]["legacy_md5"] = json!({ "secret": secret });
        document
    };
    for (resource, id, document, named) in [
        (Resource::App, "10000002", app("nobody"), "publisher_id"),
        (Resource::App, "10000001", app("beta"), "publisher_id"),
        (Resource::App, "1000001", app("acme"), "app_id"),
        (O, "o", with(offer(&["g"]), &json!({ "advertiser_id": "nobody" })), "advertiser_id"),
        (O, "o_1", offer(&["g"]), "offer_id"),
        (O, "o", offer(&["g", "g"]), "goals[1].id"),
        (O, "o", offer(&[]), "goals"),
        (O, "o", with_code("{event}"), "goals[0].gl_val"),
        (O, "o", with_code(" Null "), "goals[0].gl_val"),
        (Resource::App, "10000002", with_md5("abc\n"), "callback.legacy_md5.secret"),
    ] {
        let (code, message) = refused(catalog.try_put(resource, id, &document));
        assert_eq!(code, "invalid_field", "{message}");
        assert!(message.starts_with(named), "{message}");
        assert_eq!(catalog.dump(), before, "{message}");
    }
}

#[test]
fn a_goal_belongs_to_one_offer_and_can_be_retired_and_restored() {
    let catalog = Catalog::small();
    catalog.put(O, "o-1", &offer(&["g-1", "g-2", "g-3"]));
    let (code, message) = refused(catalog.try_put(O, "o-2", &offer(&["g-4", "g-2"])));
    assert_eq!((code, message.as_str()), ("invalid_field", "goals[1].id: goal g-2 belongs to offer o-1"));

    catalog.wait(1_000);
    let left = catalog.put(O, "o-1", &offer(&["g-3"]));
    assert_eq!(left["retired_goals"], json!(["g-1", "g-2"]));
    let retired_at_ms = "SELECT id, retired_at_ms FROM goals ORDER BY id";
    let retired_at = |index: usize| catalog.rows(retired_at_ms)[index].optional_integer(1).unwrap();
    assert_eq!(retired_at(0), Some(catalog.now()));
    // A retired goal still belongs to its offer.
    refused(catalog.try_put(O, "o-2", &offer(&["g-1"])));

    catalog.wait(1_000);
    let back = catalog.put(O, "o-1", &offer(&["g-2", "g-3"]));
    assert_eq!(back["retired_goals"], json!(["g-1"]));
    let times = [retired_at(0), retired_at(1), retired_at(2)];
    assert_eq!(times, [Some(catalog.now() - 1_000), None, None], "g-1 was retired the first time");
    let all = catalog.put(O, "o-1", &offer(&["g-1", "g-2", "g-3"]));
    assert_eq!(all.get("retired_goals"), None);
}

#[test]
fn a_retired_goal_stays_in_the_snapshot_while_it_can_convert() {
    const DAY_MS: i64 = 86_400_000;
    let catalog = Catalog::small();
    catalog.put(O, "o-1", &offer(&["g-1", "g-2"]));
    catalog.put(O, "o-1", &offer(&["g-2"]));
    let retired = |after_ms: i64| {
        catalog.now_ms.set(crate::NOON + after_ms);
        let tracking = catalog.tracking();
        assert!(tracking.goal("g-2").is_some_and(|goal| !goal.retired));
        tracking.goal("g-1").map(|goal| goal.retired)
    };
    assert_eq!(retired(0), Some(true));
    // The longest conversion window is 90 days, plus a week for late postbacks.
    assert_eq!(retired(97 * DAY_MS), Some(true));
    assert_eq!(retired(97 * DAY_MS + 1), None);
    refused(catalog.try_put(O, "o-2", &offer(&["g-1"])));
}

#[test]
fn an_offer_leaves_the_tracking_snapshot_97_days_after_its_end() {
    const DAY_MS: i64 = 86_400_000;
    let catalog = Catalog::small();
    let since = catalog.now();
    let end_ms = since + 150 * DAY_MS;
    let ends_at = json!({ "ends_at": end_ms / 1_000 });
    catalog.put(O, "ended", &with(offer(&["g-ended"]), &ends_at));
    catalog.put(O, "inactive", &with(offer(&["g-inactive"]), &json!({ "active": false })));
    catalog.put(O, "live", &offer(&["g-live"]));
    let kept_at = |now_ms: i64| {
        catalog.now_ms.set(now_ms);
        let tracking = catalog.tracking();
        ["ended", "inactive", "live"].map(|id| {
            let offer = tracking.offer(id).is_some();
            assert_eq!(tracking.goal(&format!("g-{id}")).is_some(), offer, "{id}");
            offer
        })
    };
    assert_eq!(kept_at(since + 97 * DAY_MS - 1), [true, true, true]);
    assert_eq!(kept_at(since + 98 * DAY_MS), [true, false, true]);
    assert_eq!(kept_at(end_ms + 97 * DAY_MS), [true, false, true]);
    assert_eq!(kept_at(end_ms + 97 * DAY_MS + 1), [false, false, true]);
    catalog.put(O, "inactive", &offer(&["g-inactive"]));
    assert_eq!(kept_at(end_ms + 98 * DAY_MS), [false, true, true]);
}

#[test]
fn a_repeated_put_changes_neither_revision_nor_update_time() {
    let catalog = Catalog::small();
    let document = with(offer(&["g-1"]), &json!({ "click_cap": { "dur": "DAILY", "lim": 5 } }));
    let first = catalog.put(O, "o-1", &document);
    let before = catalog.dump();
    catalog.wait(60_000);
    assert_eq!(catalog.put(O, "o-1", &document), first);
    // The same document with other order, spacing and number format.
    let mut reordered: Vec<_> = document.as_object().unwrap().iter().rev().collect();
    reordered.rotate_left(3);
    let members: Vec<_> = reordered.iter().map(|(name, value)| format!("\"{name}\" : {value}")).collect();
    let rewritten = format!(" {{ {} }} ", members.join(", ")).replace("1.25", "1.250");
    let again = Command::Put(Put { resource: O, id: "o-1".into(), body: rewritten, condition: None });
    assert_eq!(body(&catalog.send(again).unwrap(), 200), first);
    assert_eq!(catalog.dump(), before);

    let changed = catalog.put(O, "o-1", &with(document, &json!({ "name": "Another" })));
    let time = |read: &Value| read["updated_at"].as_i64().unwrap();
    assert_eq!(time(&changed), time(&first) + 60);
}

#[test]
fn a_put_with_a_condition_undoes_nobody_elses_change() {
    let catalog = Catalog::small();
    let put = |id: &str, name: &str, condition: PutCondition| {
        let document = with(offer(&["g-1"]), &json!({ "name": name }));
        let put =
            Command::Put(Put { resource: O, id: id.into(), body: document.to_string(), condition: Some(condition) });
        catalog.send(put)
    };
    let refused = |outcome: Result<OperatorReply, Failure>| match outcome {
        Err(Failure::Refused(refusal)) => (refusal.status, refusal.code),
        other => panic!("{other:?}"),
    };
    let read = |tag: &str| PutCondition::Read(tag.into());
    let precondition_failed = (412, "precondition_failed");
    assert_eq!(refused(put("o-1", "None yet", read("0"))), precondition_failed);

    let created = put("o-1", "First", PutCondition::New).unwrap();
    // A repeat whose first answer was lost.
    assert_eq!(put("o-1", "First", PutCondition::New).unwrap(), created);
    let before = catalog.dump();
    assert_eq!(refused(put("o-1", "Another's", PutCondition::New)), precondition_failed);
    assert_eq!(catalog.dump(), before);

    let first = tag(&created.body);
    let changed = put("o-1", "Second", read(&first)).unwrap();
    assert_eq!(put("o-1", "Second", read(&first)).unwrap(), changed);
    assert_eq!(refused(put("o-1", "Third", read(&first))), precondition_failed);
    assert_eq!(catalog.get(O, "o-1")["name"], "Second");
    put("o-1", "Third", read(&tag(&changed.body))).unwrap();
}

/// The documents of both are equal, because secrets are masked in them.
#[test]
fn a_conditional_put_that_changes_only_a_secret_is_no_repeat() {
    let catalog = Catalog::small();
    let put = |secret: &str| {
        let mut document = app_with_url("https://acme.example/cb");
        document["callback"]["secret"] = json!(secret);
        catalog.send(Command::Put(Put {
            resource: Resource::App,
            id: "10000001".into(),
            body: document.to_string(),
            condition: Some(PutCondition::New),
        }))
    };
    let first = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let created = put(first).unwrap();
    assert_eq!(put(first).unwrap(), created);
    let before = catalog.dump();
    let Err(Failure::Refused(refusal)) = put("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA") else {
        panic!("it was stored");
    };
    assert_eq!((refusal.status, refusal.code), (412, "precondition_failed"));
    assert_eq!(catalog.dump(), before);
}

#[test]
fn a_put_that_fails_leaves_the_old_or_the_new_offer() {
    let prepared = || {
        let catalog = Catalog::small();
        catalog.put(O, "o-1", &offer(&["g-1", "g-2"]));
        catalog
    };
    let new = with(offer(&["g-2", "g-3"]), &json!({ "name": "New", "active": false }));
    let old_state = prepared().dump();
    let new_state = {
        let catalog = prepared();
        catalog.put(O, "o-1", &new);
        catalog.dump()
    };
    under_every_fault(prepared, |catalog, fault| {
        let outcome = catalog.try_put(O, "o-1", &new);
        let state = catalog.dump();
        assert!(state == old_state || state == new_state, "{fault}");
        assert!(state == new_state || outcome.is_err(), "{fault}");
        catalog.db.inject(crate::Faults::none());
        assert_eq!(catalog.put(O, "o-1", &new)["retired_goals"], json!(["g-1"]), "{fault}");
        assert_eq!(catalog.dump(), new_state, "{fault}");
    });
}
