//! Commands on resources and credentials.

use std::collections::BTreeMap;

use contract::{
    catalog::{
        APP_NAMES_PAGE, AppNames, Get, GetPubKey, IssuePubKey, IssueToken, List, ListFilter, Put,
        PutCondition, RevokeToken,
    },
    operation::Reply,
};
use serde_json::{Value, json};

use crate::{Catalog, app, app_with_url, body, demo::Demo, offer, refused, under_every_fault, with};
use contract::catalog::{Command, Resource};
use domain::{
    conversions::token::Token,
    model::{AppId, OfferState, OfferType, credentials, document::tag},
};
use platform::failure::Failure;

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

/// The ids on each page of a list.
fn pages(catalog: &Catalog, resource: Resource, limit: u32) -> Vec<Vec<String>> {
    let member = format!("{}_id", resource.singular());
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        let list = Command::List(List {
            resource,
            limit,
            cursor,
            owner: None,
            filter: ListFilter::default(),
        });
        let page = body(&catalog.send(list).unwrap(), 200);
        let listed = page[resource.plural()].as_array().unwrap().iter();
        pages.push(
            listed
                .map(|read| read[&member].as_str().unwrap().to_owned())
                .collect(),
        );
        cursor = page["cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return pages;
        }
    }
}

#[test]
fn apps_are_listed_by_their_publisher_and_offers_by_their_advertiser() {
    let catalog = Catalog::from_fixtures();
    let demo = Demo::read();
    for (resource, documents, member) in [
        (Resource::App, &demo.apps, "publisher_id"),
        (O, &demo.offers, "advertiser_id"),
    ] {
        let owners: BTreeMap<_, Vec<&str>> =
            documents
                .iter()
                .fold(BTreeMap::new(), |mut owners, (id, document)| {
                    owners
                        .entry(document[member].as_str().unwrap())
                        .or_default()
                        .push(id);
                    owners
                });
        assert!(owners.len() > 1, "{owners:?}");
        for (owner, ids) in owners.into_iter().chain([("nobody", Vec::new())]) {
            let (mut listed, mut cursor) = (Vec::new(), None);
            loop {
                let owner = Some(owner.to_owned());
                let list = List {
                    resource,
                    limit: 2,
                    cursor,
                    owner,
                    filter: ListFilter::default(),
                };
                let page = body(&catalog.send(Command::List(list)).unwrap(), 200);
                listed.extend(page[resource.plural()].as_array().unwrap().clone());
                cursor = page["cursor"].as_str().map(str::to_owned);
                if cursor.is_none() {
                    break;
                }
            }
            let id_member = format!("{}_id", resource.singular());
            let listed: Vec<_> = listed
                .iter()
                .map(|found| found[&id_member].as_str().unwrap())
                .collect();
            assert_eq!(listed, ids, "{owner}");
        }
    }
}

/// The ids of all pages under conditions, of which a call may give none.
fn ids_under(catalog: &Catalog, resource: Resource, filter: &ListFilter) -> (Vec<String>, usize) {
    let (mut ids, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let list = List {
            resource,
            limit: 2,
            cursor,
            owner: None,
            filter: filter.clone(),
        };
        let page = body(&catalog.send(Command::List(list)).unwrap(), 200);
        let items = page[resource.plural()].as_array().unwrap();
        let id = format!("{}_id", resource.singular());
        ids.extend(items.iter().map(|item| item[&id].as_str().unwrap().to_owned()));
        pages += 1;
        cursor = page["cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return (ids, pages);
        }
    }
}

#[test]
fn a_list_under_conditions_has_what_fulfils_them() {
    let catalog = Catalog::from_fixtures();
    let demo = Demo::read();
    let text = |text: &str| ListFilter {
        text: Some(text.to_owned()),
        ..ListFilter::default()
    };
    let names_with = |documents: &BTreeMap<String, Value>, part: &str| -> Vec<String> {
        let has_part = |id: &str, document: &Value| {
            let name = document["name"].as_str().unwrap();
            format!("{id}\n{name}\n{document}").to_lowercase().contains(part)
        };
        let found = documents.iter().filter(|(id, document)| has_part(id, document));
        found.map(|(id, _)| id.clone()).collect()
    };
    let found = ids_under(&catalog, O, &text("CinderWick")).0;
    assert!(found.len() > 1, "{found:?}");
    assert_eq!(found, names_with(&demo.offers, "cinderwick"));
    let goal = demo.offers["23817"]["goals"][0]["id"].as_str().unwrap();
    assert_eq!(ids_under(&catalog, O, &text(goal)).0, ["23817"]);
    assert_eq!(
        ids_under(&catalog, Resource::Publisher, &text("arcade")).0,
        ["lumen-arcade"]
    );
    assert_eq!(
        ids_under(&catalog, O, &text("no offer is called this")).0,
        [] as [String; 0]
    );

    for off_type in [OfferType::Cpe, OfferType::Cpc] {
        let filter = ListFilter {
            off_type: Some(off_type),
            ..ListFilter::default()
        };
        let expected = demo
            .offers
            .iter()
            .filter(|(_, offer)| offer["off_type"] == off_type.as_str());
        let expected: Vec<_> = expected.map(|(id, _)| id.clone()).collect();
        assert_eq!(ids_under(&catalog, O, &filter).0, expected, "{off_type:?}");
    }
    for approved in [true, false] {
        let filter = ListFilter {
            approved: Some(approved),
            ..ListFilter::default()
        };
        let expected = demo
            .publishers
            .iter()
            .filter(|(_, publisher)| publisher["approved"] == approved);
        let expected: Vec<_> = expected.map(|(id, _)| id.clone()).collect();
        assert_eq!(ids_under(&catalog, Resource::Publisher, &filter).0, expected);
    }
}

#[test]
fn a_list_of_offers_in_a_state_has_those_that_are_in_it_now() {
    let catalog = Catalog::small();
    let now_s = catalog.now().div_euclid(1_000);
    for (id, more) in [
        ("s-1", json!({})),
        ("s-2", json!({ "active": false, "ends_at": now_s - 1 })),
        ("s-3", json!({ "starts_at": now_s + 1 })),
        ("s-4", json!({ "starts_at": now_s, "ends_at": now_s + 1 })),
        ("s-5", json!({ "ends_at": now_s })),
    ] {
        catalog.put(O, id, &with(offer(&[&format!("{id}-1")]), &more));
    }
    for (state, expected) in [
        (OfferState::Active, &["s-1", "s-4"][..]),
        (OfferState::Off, &["s-2"]),
        (OfferState::NotStarted, &["s-3"]),
        (OfferState::Ended, &["s-5"]),
    ] {
        let filter = ListFilter {
            text: Some("s-".into()),
            offer_state: Some(state),
            ..ListFilter::default()
        };
        assert_eq!(ids_under(&catalog, O, &filter).0, expected, "{state:?}");
    }
}

#[test]
fn a_page_under_conditions_ends_after_a_thousand_resources_that_fulfil_none() {
    let catalog = Catalog::small();
    for number in 0..2_500 {
        let document = json!({ "name": format!("Advertiser {number}") });
        catalog.put(Resource::Advertiser, &format!("many-{number:04}"), &document);
    }
    let filter = ListFilter {
        text: Some("advertiser 2499".into()),
        ..ListFilter::default()
    };
    let (found, pages) = ids_under(&catalog, Resource::Advertiser, &filter);
    assert_eq!((found.as_slice(), pages), (&["many-2499".to_owned()][..], 3));
}

#[test]
fn a_page_of_a_list_ends_at_a_mebibyte_and_never_before_its_first_document() {
    let catalog = Catalog::small();
    let ids: Vec<String> = (100..250).map(|n| format!("o-{n}")).collect();
    for (id, n) in ids.iter().zip(0..) {
        // 30 KB of text, or none.
        let desc = if n % 3 == 0 {
            "語".repeat(10_000)
        } else {
            "a game".to_owned()
        };
        catalog.put(
            O,
            id,
            &with(offer(&[&format!("g-{id}")]), &json!({ "desc": desc })),
        );
    }
    let pages_of = |limit| pages(&catalog, O, limit);
    let lengths = |limit| pages_of(limit).iter().map(Vec::len).collect::<Vec<_>>();
    // 34 documents of 30 KB, every third.
    assert_eq!(lengths(1_000), [100, 50]);
    assert_eq!(pages_of(1_000).concat(), ids);
    assert_eq!(lengths(60), [60, 60, 30]);
    assert_eq!(lengths(75), [75, 75]);
    assert_eq!(lengths(120), [100, 50]);
}

#[test]
fn a_put_with_an_unknown_reference_is_refused_and_changes_nothing() {
    let catalog = Catalog::small();
    catalog.put(
        Resource::Publisher,
        "beta",
        &json!({ "name": "Beta", "approved": true }),
    );
    catalog.put(Resource::App, "10000001", &app("acme"));
    let before = catalog.dump();
    for (resource, id, document, named) in [
        (Resource::App, "10000002", app("nobody"), "publisher_id"),
        (Resource::App, "10000001", app("beta"), "publisher_id"),
        (Resource::App, "1000001", app("acme"), "app_id"),
        (
            O,
            "o",
            with(offer(&["g"]), &json!({ "advertiser_id": "nobody" })),
            "advertiser_id",
        ),
        (O, "o_1", offer(&["g"]), "offer_id"),
        (O, "o", offer(&["g", "g"]), "goals[1].id"),
        (O, "o", offer(&[]), "goals"),
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
    assert_eq!(
        (code, message.as_str()),
        ("invalid_field", "goals[1].id: goal g-2 belongs to offer o-1")
    );

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
    assert_eq!(
        times,
        [Some(catalog.now() - 1_000), None, None],
        "g-1 was retired the first time"
    );
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
    catalog.put(
        O,
        "inactive",
        &with(offer(&["g-inactive"]), &json!({ "active": false })),
    );
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
    let document = with(
        offer(&["g-1"]),
        &json!({ "click_cap": { "dur": "DAILY", "lim": 5 } }),
    );
    let first = catalog.put(O, "o-1", &document);
    let before = catalog.dump();
    catalog.wait(60_000);
    assert_eq!(catalog.put(O, "o-1", &document), first);
    // The same document with other order, spacing and number format.
    let mut reordered: Vec<_> = document.as_object().unwrap().iter().rev().collect();
    reordered.rotate_left(3);
    let members: Vec<_> = reordered
        .iter()
        .map(|(name, value)| format!("\"{name}\" : {value}"))
        .collect();
    let rewritten = format!(" {{ {} }} ", members.join(", ")).replace("1.25", "1.250");
    let again = Command::Put(Put {
        resource: O,
        id: "o-1".into(),
        body: rewritten,
        condition: None,
    });
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
        let put = Command::Put(Put {
            resource: O,
            id: id.into(),
            body: document.to_string(),
            condition: Some(condition),
        });
        catalog.send(put)
    };
    let refused = |outcome: Result<Reply, Failure>| match outcome {
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
    assert_eq!(
        refused(put("o-1", "Another's", PutCondition::New)),
        precondition_failed
    );
    assert_eq!(catalog.dump(), before);

    let first = tag(&created.body);
    let changed = put("o-1", "Second", read(&first)).unwrap();
    assert_eq!(put("o-1", "Second", read(&first)).unwrap(), changed);
    assert_eq!(refused(put("o-1", "Third", read(&first))), precondition_failed);
    assert_eq!(catalog.get(O, "o-1")["name"], "Second");
    put("o-1", "Third", read(&tag(&changed.body))).unwrap();
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
        assert_eq!(
            catalog.put(O, "o-1", &new)["retired_goals"],
            json!(["g-1"]),
            "{fault}"
        );
        assert_eq!(catalog.dump(), new_state, "{fault}");
    });
}

fn pub_key(catalog: &Catalog, command: fn(String) -> Command, status: u16) -> Option<String> {
    let reply = catalog.send(command("acme".into())).ok()?;
    Some(body(&reply, status)["pub_key"].as_str().unwrap().to_owned())
}

fn issued(catalog: &Catalog) -> Option<String> {
    pub_key(
        catalog,
        |publisher_id| Command::IssuePubKey(IssuePubKey { publisher_id }),
        201,
    )
}

fn shown(catalog: &Catalog) -> Option<String> {
    pub_key(
        catalog,
        |publisher_id| Command::GetPubKey(GetPubKey { publisher_id }),
        200,
    )
}

/// The subset of these Pub-Keys that the edge accepts.
fn valid<'k>(catalog: &Catalog, keys: &[&'k String]) -> Vec<&'k String> {
    let tracking = catalog.tracking();
    let app = tracking.app(AppId::parse("10000001").unwrap()).unwrap();
    let hash = app.publisher.pub_key_hash;
    let is_valid = |key: &&&String| hash.is_some_and(|hash| *hash == credentials::hash(key));
    keys.iter().filter(is_valid).copied().collect()
}

#[test]
fn only_the_last_pub_key_is_valid() {
    let with_app = || {
        let catalog = Catalog::small();
        catalog.put(Resource::App, "10000001", &app("acme"));
        catalog
    };
    let catalog = with_app();
    assert_eq!(shown(&catalog), None);
    let [first, second] = [0; 2].map(|_| issued(&catalog).unwrap());
    assert_eq!(shown(&catalog), Some(second.clone()));
    assert_eq!(valid(&catalog, &[&first, &second]), [&second]);
    // A repeated PUT of the publisher keeps its key.
    catalog.put(
        Resource::Publisher,
        "acme",
        &json!({ "name": "Acme", "approved": false }),
    );
    assert_eq!(shown(&catalog), Some(second.clone()));
    assert_eq!(valid(&catalog, &[&second]), [&second]);
    let publisher_id = "nobody".to_owned();
    assert_eq!(
        refused(catalog.send(Command::IssuePubKey(IssuePubKey { publisher_id }))).0,
        "not_found"
    );

    // After any failed write the operator still reads the key that the edge accepts.
    let prepared = || {
        let catalog = with_app();
        issued(&catalog).unwrap();
        catalog
    };
    under_every_fault(prepared, |catalog, fault| {
        let answered = issued(catalog);
        let shown = shown(catalog).unwrap();
        assert!(answered.is_none_or(|key| key == shown), "{fault}");
        assert_eq!(valid(catalog, &[&shown]), [&shown], "{fault}");
    });
}

fn issue_token(catalog: &Catalog) -> Option<(String, String)> {
    let advertiser_id = "northwind".to_owned();
    let reply = catalog
        .send(Command::IssueToken(IssueToken { advertiser_id }))
        .ok()?;
    let issued = body(&reply, 201);
    let text = |name: &str| issued[name].as_str().unwrap().to_owned();
    Some((text("token_id"), text("token")))
}

/// Whether the tracking snapshot accepts each of these tokens.
fn accepted(catalog: &Catalog, tokens: &[&(String, String)]) -> Vec<bool> {
    let tracking = catalog.tracking();
    tokens
        .iter()
        .map(|(_, token)| tracking.accepts(&Token::verify(&catalog.token_mac, token).unwrap()))
        .collect()
}

fn listed_tokens(catalog: &Catalog) -> Vec<String> {
    let advertiser = catalog.get(Resource::Advertiser, "northwind");
    let tokens = advertiser["tokens"].as_array().unwrap();
    tokens
        .iter()
        .map(|token| token["token_id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn an_advertisers_two_newest_tokens_are_valid_until_revoked() {
    let prepared = || {
        let catalog = Catalog::small();
        catalog.put(O, "o-1", &offer(&["g-1"]));
        catalog
    };
    let catalog = prepared();
    let [a, b, c] = [0; 3].map(|_| {
        catalog.wait(1_000);
        issue_token(&catalog).unwrap()
    });
    assert_eq!(accepted(&catalog, &[&a, &b, &c]), [false, true, true]);
    let advertiser = catalog.get(Resource::Advertiser, "northwind");
    let issued_at = crate::NOON / 1_000 + 2;
    assert_eq!(b.0, issued_at.to_string(), "a serial is at least the UNIX time");
    let expected = json!([
        { "token_id": b.0, "issued_at": issued_at }, { "token_id": c.0, "issued_at": issued_at + 1 },
    ]);
    assert_eq!(advertiser["tokens"], expected);
    // A PUT of the advertiser keeps its tokens.
    catalog.put(
        Resource::Advertiser,
        "northwind",
        &json!({ "name": "Northwind & Sons" }),
    );
    assert_eq!(accepted(&catalog, &[&a, &b, &c]), [false, true, true]);

    let revoke = |id: &str| {
        let (advertiser_id, token_id) = ("northwind".into(), id.into());
        catalog.send(Command::RevokeToken(RevokeToken {
            advertiser_id,
            token_id,
        }))
    };
    assert_eq!(refused(revoke(&a.0)).0, "not_found");
    assert_eq!(revoke(&c.0).unwrap().status, 204);
    assert_eq!(refused(revoke(&c.0)).0, "not_found");
    assert_eq!(accepted(&catalog, &[&a, &b, &c]), [false, true, false]);
    let before = catalog.tracking();
    let d = issue_token(&catalog).unwrap();
    assert_eq!(accepted(&catalog, &[&b, &c, &d]), [true, false, true]);
    // A snapshot from before its issue accepts it, too.
    assert!(before.accepts(&Token::verify(&catalog.token_mac, &d.1).unwrap()));
    let advertiser_id = "nobody".to_owned();
    assert_eq!(
        refused(catalog.send(Command::IssueToken(IssueToken { advertiser_id }))).0,
        "not_found"
    );

    let with_two = || {
        let catalog = prepared();
        assert!(issue_token(&catalog).is_some() && issue_token(&catalog).is_some());
        catalog
    };
    under_every_fault(with_two, |catalog, fault| {
        let answered = issue_token(catalog);
        let listed = listed_tokens(catalog);
        assert_eq!(listed.len(), 2, "{fault}");
        assert!(answered.is_none_or(|(id, _)| listed[1] == id), "{fault}");
    });
}

#[test]
fn the_longest_names_of_many_apps_come_in_pages() {
    let catalog = Catalog::small();
    let name = |id: u32| format!("{id:0>200}");
    // More than fit one value of SQLite.
    let ids = 10_000_001..10_012_001;
    for id in ids.clone() {
        let document = with(app("acme"), &json!({ "name": name(id) }));
        catalog.put(Resource::App, &id.to_string(), &document);
    }
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    loop {
        let page = Command::AppNames(AppNames {
            publisher_id: "acme".into(),
            after: names.last_key_value().map(|(id, _)| id.clone()),
        });
        let page: BTreeMap<String, String> =
            serde_json::from_value(body(&catalog.send(page).unwrap(), 200)).unwrap();
        let is_last = page.len() < APP_NAMES_PAGE;
        names.extend(page);
        if is_last {
            break;
        }
    }
    let expected: BTreeMap<_, _> = ids.map(|id| (id.to_string(), name(id))).collect();
    assert_eq!(names, expected);
}

#[test]
fn a_callbacks_secret_is_sealed_and_never_shown() {
    let catalog = Catalog::small();
    let document = app_with_url("https://acme.example.com/cb");
    let shown = catalog.put(Resource::App, "10000001", &document);
    assert_eq!(shown["callback"]["url"], "https://acme.example.com/cb");
    let stored = format!("{:?} {shown}", catalog.rows("SELECT * FROM apps"));
    assert!(!stored.contains("MfKQ9r8"), "{stored}");
    let rows = catalog.rows("SELECT callback_sealed FROM apps");
    let opened = catalog
        .vault
        .open("callback/10000001", rows[0].blob(0).unwrap())
        .unwrap();
    let opened: Value = serde_json::from_slice(&opened).unwrap();
    assert_eq!(opened, document["callback"]);
    catalog.put(Resource::App, "10000001", &app("acme"));
    assert!(catalog.rows("SELECT callback_sealed FROM apps")[0].is_null(0));
}
