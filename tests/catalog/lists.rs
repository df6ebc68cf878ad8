//! Lists: their pages, owners and conditions.

use std::collections::BTreeMap;

use contract::catalog::{APP_NAMES_PAGE, AppNames, Command, List, ListFilter, ListPublisherOutboxes, Resource};
use domain::model::{AppId, OfferState, OfferType, PublisherId};
use origin::objects::catalog::sql;
use platform::params;
use serde_json::{Value, json};

use crate::{Catalog, app, body, demo::Demo, offer, with};

const O: Resource = Resource::Offer;

/// The ids on each page of a list.
pub fn pages(catalog: &Catalog, resource: Resource, limit: u32) -> Vec<Vec<String>> {
    let member = format!("{}_id", resource.singular());
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        let list = Command::List(List::of(resource, limit, cursor));
        let page = body(&catalog.send(list).unwrap(), 200);
        let listed = page[resource.plural()].as_array().unwrap().iter();
        pages.push(listed.map(|read| read[&member].as_str().unwrap().to_owned()).collect());
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
    for (resource, documents, member) in
        [(Resource::App, &demo.apps, "publisher_id"), (O, &demo.offers, "advertiser_id")]
    {
        let owners: BTreeMap<_, Vec<&str>> = documents.iter().fold(BTreeMap::new(), |mut owners, (id, document)| {
            owners.entry(document[member].as_str().unwrap()).or_default().push(id);
            owners
        });
        assert!(owners.len() > 1, "{owners:?}");
        for (owner, ids) in owners.into_iter().chain([("nobody", Vec::new())]) {
            let list = List { owner: Some(owner.to_owned()), ..List::of(resource, 2, None) };
            assert_eq!(ids_of(&catalog, list).0, ids, "{owner}");
        }
    }
}

#[test]
fn a_list_by_name_has_each_resource_once_in_the_order_of_names() {
    let catalog = Catalog::from_fixtures();
    let demo = Demo::read();
    let mut documents = demo.offers.clone();
    let advertiser = documents["23817"]["advertiser_id"].clone();
    for (id, name) in [("n-1", "zebra"), ("n-2", "Zebra"), ("n-3", "ZEBRA"), ("n-4", "apple")] {
        let document = with(offer(&[&format!("g-{id}")]), &json!({ "name": name, "advertiser_id": advertiser }));
        catalog.put(O, id, &document);
        documents.insert(id.to_owned(), document);
    }
    for (resource, documents) in [
        (Resource::Publisher, &demo.publishers),
        (Resource::App, &demo.apps),
        (Resource::Advertiser, &demo.advertisers),
        (O, &documents),
    ] {
        let by_name =
            |(id, document): (&String, &Value)| (document["name"].as_str().unwrap().to_ascii_lowercase(), id.clone());
        let mut expected: Vec<_> = documents.iter().map(by_name).collect();
        expected.sort();
        let list = List { by_name: true, ..List::of(resource, 2, None) };
        let expected: Vec<_> = expected.into_iter().map(|(_, id)| id).collect();
        assert_eq!(ids_of(&catalog, list.clone()).0, expected, "{resource:?}");
        let unknown = List { cursor: Some("zzz".into()), ..list };
        let refused = catalog.send(Command::List(unknown)).unwrap_err();
        assert_eq!(refused.to_string(), "refused: not_found");
    }
    for statement in
        [sql::LIST_PUBLISHERS_BY_NAME, sql::LIST_APPS_BY_NAME, sql::LIST_ADVERTISERS_BY_NAME, sql::LIST_OFFERS_BY_NAME]
    {
        let steps = catalog.plan(statement, params!["o-1", 20_u32]);
        let is_read_in_order = steps.iter().any(|step| step.starts_with("SEARCH d USING INDEX"));
        assert!(is_read_in_order, "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "{steps:?}");
    }
}

/// The ids of all pages under conditions, of which a call may give none.
fn ids_under(catalog: &Catalog, resource: Resource, filter: &ListFilter) -> (Vec<String>, usize) {
    let list = List { filter: filter.clone(), ..List::of(resource, 2, None) };
    ids_of(catalog, list)
}

/// The ids on all pages of a list, and the number of pages.
fn ids_of(catalog: &Catalog, mut list: List) -> (Vec<String>, usize) {
    let (mut ids, mut pages, resource) = (Vec::new(), 0, list.resource);
    loop {
        let page = body(&catalog.send(Command::List(list.clone())).unwrap(), 200);
        let items = page[resource.plural()].as_array().unwrap();
        let id = format!("{}_id", resource.singular());
        ids.extend(items.iter().map(|item| item[&id].as_str().unwrap().to_owned()));
        pages += 1;
        list.cursor = page["cursor"].as_str().map(str::to_owned);
        if list.cursor.is_none() {
            return (ids, pages);
        }
    }
}

#[test]
fn a_list_with_conditions_has_exactly_the_resources_that_meet_them() {
    let catalog = Catalog::from_fixtures();
    let demo = Demo::read();
    let text = |text: &str| ListFilter { text: Some(text.to_owned()), ..ListFilter::default() };
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
    assert_eq!(ids_under(&catalog, Resource::Publisher, &text("arcade")).0, ["lumen-arcade"]);
    assert_eq!(ids_under(&catalog, O, &text("no offer is called this")).0, [] as [String; 0]);

    for off_type in [OfferType::Cpe, OfferType::Cpc] {
        let filter = ListFilter { off_type: Some(off_type), ..ListFilter::default() };
        let expected = demo.offers.iter().filter(|(_, offer)| offer["off_type"] == off_type.as_str());
        let expected: Vec<_> = expected.map(|(id, _)| id.clone()).collect();
        assert_eq!(ids_under(&catalog, O, &filter).0, expected, "{off_type:?}");
    }
    for approved in [true, false] {
        let filter = ListFilter { approved: Some(approved), ..ListFilter::default() };
        let expected = demo.publishers.iter().filter(|(_, publisher)| publisher["approved"] == approved);
        let expected: Vec<_> = expected.map(|(id, _)| id.clone()).collect();
        assert_eq!(ids_under(&catalog, Resource::Publisher, &filter).0, expected);
    }
}

#[test]
fn a_list_of_offers_in_a_state_has_the_offers_now_in_that_state() {
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
        let filter = ListFilter { text: Some("s-".into()), offer_state: Some(state), ..ListFilter::default() };
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
    let filter = ListFilter { text: Some("advertiser 2499".into()), ..ListFilter::default() };
    let (found, pages) = ids_under(&catalog, Resource::Advertiser, &filter);
    assert_eq!((found.as_slice(), pages), (&["many-2499".to_owned()][..], 3));
}

#[test]
fn a_page_of_a_list_ends_at_a_mebibyte_and_never_before_its_first_document() {
    let catalog = Catalog::small();
    let ids: Vec<String> = (100..250).map(|n| format!("o-{n}")).collect();
    for (id, n) in ids.iter().zip(0..) {
        // 30 KB of text, or none.
        let desc = if n % 3 == 0 { "語".repeat(10_000) } else { "a game".to_owned() };
        catalog.put(O, id, &with(offer(&[&format!("g-{id}")]), &json!({ "desc": desc })));
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
        let page: BTreeMap<String, String> = serde_json::from_value(body(&catalog.send(page).unwrap(), 200)).unwrap();
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
fn outboxes_of_a_publisher_come_in_groups_of_its_apps() {
    let catalog = Catalog::small();
    // Seven apps with 64 outboxes, and one with a single one.
    let ids: Vec<u32> = (10_000_001..10_000_009).collect();
    for id in &ids {
        let outboxes = if *id == 10_000_003 { 1 } else { 64 };
        let document = with(app("acme"), &json!({ "outbox_shards": outboxes }));
        catalog.put(Resource::App, &id.to_string(), &document);
    }
    let listed = |from: Option<u32>, to: Option<u32>| -> Vec<u32> {
        let app = |id: u32| AppId::from_number(id).unwrap();
        let list = Command::PublisherOutboxes(ListPublisherOutboxes {
            publisher_id: PublisherId::parse("acme").unwrap(),
            from: from.map(app),
            to: to.map(app),
        });
        let listed: Vec<(AppId, u8)> = serde_json::from_value(body(&catalog.send(list).unwrap(), 200)).unwrap();
        listed.into_iter().map(|(app, _)| app.number()).collect()
    };
    // A group ends with the app that makes it 256 outboxes or more.
    assert_eq!(listed(None, None), ids[..5]);
    assert_eq!(listed(Some(ids[4] + 1), None), ids[5..]);
    // A group that was begun with a last app continues up to that app.
    assert_eq!(listed(Some(ids[0]), Some(ids[6])), ids[..7]);
    assert_eq!(listed(Some(ids[2]), Some(ids[2])), [ids[2]]);
    assert_eq!(listed(Some(ids[7] + 1), None), [0_u32; 0]);
}
