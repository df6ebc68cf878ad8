//! The operator's attention: reports that come twice, late or not at all, lost or restored objects, the list and its
//! bound, endpoints with several outboxes, and sizes.

mod isolates;
mod model;
mod size;
mod sources;

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    time::Duration,
};

use futures_util::FutureExt;
use proptest::{collection::vec, prelude::*};
use serde_json::{Value as Json, json};

use crate::{assert_only_listed_statements, dump, migrated, sqlite::Sqlite};
use contract::{
    activity::{Command, Reply},
    attention::{
        AttentionBatch, AttentionItem, DeclinedItems, Doubt, EndItem, ItemPlace, Kind, ListAttention, ObjectSize,
        Restored,
    },
    operation::{CallError, ObjectAddress, Operation},
};
use domain::model::{
    AppId, PublisherId,
    time::{DAY_MS, MINUTE_MS},
};
use origin::{
    delivery::{
        attention_feed::{self, AttentionFeed, ITEMS, OFFER_MS, Source},
        batches,
        feed::Feed,
    },
    objects::activity::{
        self,
        attention::{
            feed_batches::{self, MAX_ITEMS},
            sql,
        },
        handle,
        service::ActivityService,
        sweep,
    },
};
use platform::{
    database::Database,
    migrations::Migration,
    object_shell::NEARLY_FULL,
    params,
    traits::{Clock, ObjectCall},
};

/// Noon of 2026-01-15, UTC.
const NOW: i64 = 1_768_478_400_000;
/// The schema of an object with a feed.
const SOURCE_MIGRATIONS: &[Migration] = &[&[batches::sql::TABLES, attention_feed::sql::TABLES]];

fn app(number: u32) -> AppId {
    AppId::from_number(number).unwrap()
}

fn source(name: &str) -> Source {
    Source { name: name.to_owned(), app: Some(app(42)), publisher: PublisherId::parse("acme"), rewards: None }
}

/// The feed of the object `s`.
fn feed_of(db: &Sqlite) -> AttentionFeed<'_, Sqlite> {
    AttentionFeed { db, source: &|| Ok(Some(source("s"))) }
}

fn attention() -> Sqlite {
    migrated(activity::MIGRATIONS)
}

fn report(source: &str, sequence: i64, items: Vec<AttentionItem>) -> AttentionBatch {
    let mut counts = BTreeMap::new();
    for item in items.iter().filter(|item| item.is_open && item.kind.is_limited()) {
        *counts.entry(item.kind).or_insert(0) += 1;
    }
    AttentionBatch {
        source: source.to_owned(),
        app: Some(app(42)),
        publisher: PublisherId::parse("acme"),
        sequence,
        before: sequence - 1,
        confirmed: 0,
        at_ms: NOW,
        owes_since_ms: None,
        next_by_ms: None,
        resets: false,
        counts: counts.into_iter().collect(),
        items,
        rewards: None,
    }
}

fn item(kind: Kind, subject: &str, since_ms: i64) -> AttentionItem {
    AttentionItem {
        kind,
        subject: subject.to_owned(),
        is_open: true,
        since_ms,
        reason: "too_fast".into(),
        payout: kind.is_limited().then(|| "0.75".into()),
    }
}

fn ended(kind: Kind, subject: &str) -> AttentionItem {
    AttentionItem { is_open: false, ..item(kind, subject, 0) }
}

fn tell(db: &Sqlite, report: AttentionBatch) -> DeclinedItems {
    match handle(db, NOW, Command::Attention(Box::new(report))) {
        Ok(Reply::Declined(declined)) => declined,
        other => panic!("{other:?}"),
    }
}

fn list(db: &Sqlite, list: ListAttention) -> Json {
    match handle(db, NOW, Command::ListAttention(list)) {
        Ok(Reply::Operator(reply)) => serde_json::from_str(&reply.body).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn all() -> ListAttention {
    ListAttention { kind: None, app: None, limit: 1_000, after: None }
}

/// The listed subjects, in order.
fn subjects(page: &Json) -> Vec<&str> {
    let items = page["items"].as_array().unwrap();
    items.iter().map(|item| item["subject"].as_str().unwrap()).collect()
}

#[test]
fn the_oldest_item_comes_first_with_its_kind_reason_and_payout() {
    let db = attention();
    tell(&db, report("outbox-00000042-0", 1, vec![item(Kind::Held, "b", NOW), item(Kind::Dead, "a", NOW - 5)]));
    let page = list(&db, all());
    let dead = json!({"kind": "dead", "app_id": "00000042", "publisher_id": "acme", "subject": "a", "since_ms": NOW - 5,
        "reason": "too_fast", "payout_usd": 0.75});
    assert_eq!(page["items"][0], dead);
    assert_eq!(subjects(&page), ["a", "b"]);
    assert_eq!(
        page["counts"],
        json!({"held": 1, "capped": 0, "dead": 1, "disabled": 0, "failing": 0, "near_limit": 0, "batch_refused": 0,
            "differs": 0, "batch_late": 0, "terms_lost": 0, "unconfirmed": 0, "restored": 0, "facts_late": 0})
    );
    assert_eq!(
        page["not_listed"],
        json!({"held": 0, "capped": 0, "dead": 0, "batch_refused": 0, "differs": 0, "batch_late": 0,
            "terms_lost": 0, "unconfirmed": 0, "facts_late": 0})
    );
    assert_eq!((&page["behind_ms"], &page["cursor"]), (&json!(0), &json!(null)));
}

#[test]
fn doubts_after_a_restore_stay_until_a_person_ends_them() {
    let db = attention();
    let source = "outbox-00000042-0";
    let restored = |at_ms, day: &str| {
        let restored = Restored {
            source: source.into(),
            publisher: PublisherId::parse("acme"),
            at_ms,
            doubts: vec![Doubt::new(day, "load_again")],
        };
        handle(&db, at_ms, restored.into()).unwrap();
    };
    restored(NOW, "2026-01-15");
    restored(NOW + 1, "2026-01-15");
    restored(NOW + 1, "2026-01-16");
    // The object tells everything again.
    let items = vec![item(Kind::Held, "a", NOW + 2)];
    tell(&db, AttentionBatch { resets: true, ..report(source, 1, items) });
    let page = list(&db, all());
    assert_eq!(subjects(&page), ["2026-01-15", "2026-01-16", "a"]);
    let first = &page["items"][0];
    let listed = json!({"item_id": first["item_id"], "kind": "restored", "app_id": null, "publisher_id": "acme",
        "subject": "2026-01-15", "since_ms": NOW, "reason": "load_again"});
    assert_eq!(first, &listed);
    assert_eq!((&page["counts"]["restored"], &page["items"][2]["item_id"]), (&json!(2), &json!(null)));

    let end = |place| match handle(&db, NOW, EndItem { place }.into()) {
        Ok(Reply::Operator(reply)) => reply.status,
        Err(platform::failure::Failure::Refused(error)) => error.status,
        other => panic!("{other:?}"),
    };
    let place = ItemPlace::parse(first["item_id"].as_str().unwrap()).unwrap();
    assert_eq!([end(place), end(place)], [204, 404]);
    assert_eq!(subjects(&list(&db, all())), ["2026-01-16", "a"]);
    let held = db.query_integer("SELECT item FROM attention_items WHERE kind = 1", &[]).unwrap();
    let place = ItemPlace { since_ms: NOW + 2, item: held.unwrap() };
    assert_eq!(end(place), 404, "it ends when somebody decides");
}

#[test]
fn a_report_that_comes_twice_or_late_changes_nothing() {
    let db = attention();
    let first = report("s", 5, vec![item(Kind::Held, "a", NOW)]);
    let second = report("s", 6, vec![ended(Kind::Held, "a")]);
    for report in [first.clone(), first.clone(), second, first] {
        assert!(!tell(&db, report).is_incomplete);
    }
    let page = list(&db, all());
    assert!(subjects(&page).is_empty());
    assert_eq!(page["counts"]["held"], 0);
}

#[test]
fn a_report_that_was_lost_is_missed_until_a_report_resets() {
    let db = attention();
    let told = |sequence, before, confirmed, resets| {
        let report = AttentionBatch { before, confirmed, resets, ..report("s", sequence, vec![]) };
        tell(&db, report).is_incomplete
    };
    // The answer to the first was lost.
    assert!(!told(1, 0, 0, false));
    assert!(!told(3, 2, 1, false));
    assert!(told(9, 8, 5, false), "a confirmed report is not here");
    assert!(told(10, 9, 9, false));
    assert!(!told(11, 10, 10, true));
    assert!(told(21, 7, 7, false), "the source does not know of a report");
    assert!(!told(22, 21, 21, true));
}

#[test]
fn a_report_that_resets_voids_what_its_source_told_before_and_nothing_else() {
    let db = attention();
    tell(&db, report("s", 1, vec![item(Kind::Held, "a", NOW), item(Kind::Disabled, "callback", NOW)]));
    tell(&db, report("t", 1, vec![item(Kind::Held, "b", NOW)]));
    let resets = AttentionBatch { resets: true, ..report("s", 2, vec![item(Kind::Dead, "c", NOW)]) };
    tell(&db, resets);
    assert_eq!(subjects(&list(&db, all())), ["b", "c"]);
}

#[test]
fn the_list_narrows_by_kind_and_app_and_no_page_with_a_cursor_is_empty() {
    let db = attention();
    let items = (0..5).map(|n| item(Kind::Held, &format!("t-{n}"), NOW + n / 2)).collect();
    tell(&db, report("s", 1, items));
    let other = AttentionBatch { app: Some(app(43)), ..report("o", 1, vec![item(Kind::Dead, "d", NOW - 1)]) };
    tell(&db, other);
    let of = |kind, app| {
        let page = list(&db, ListAttention { kind, app, ..all() });
        subjects(&page).len()
    };
    assert_eq!(of(Some(Kind::Held), None), 5);
    assert_eq!(of(Some(Kind::Dead), None), 1);
    assert_eq!(of(Some(Kind::Dead), Some(app(42))), 0);
    assert_eq!(of(None, Some(app(43))), 1);
    for limit in 1..=6 {
        let (mut seen, mut after) = (vec![], None);
        loop {
            let page = list(&db, ListAttention { limit, after, ..all() });
            let listed = subjects(&page);
            assert!(!listed.is_empty());
            seen.extend(listed.into_iter().map(str::to_owned));
            match page["cursor"].as_str() {
                Some(cursor) => after = ItemPlace::parse(cursor),
                None => break,
            }
        }
        assert_eq!(seen, ["d", "t-0", "t-1", "t-2", "t-3", "t-4"], "pages of {limit}");
    }
}

#[test]
fn beyond_the_bound_items_are_declined_and_counted() {
    let db = attention();
    let items = |range: std::ops::Range<i64>| {
        let items = range.map(|n| item(Kind::Capped, &format!("t-{n}"), NOW + n));
        items.collect::<Vec<_>>()
    };
    let mut full = report("s", 1, items(0..MAX_ITEMS - 1));
    assert!(tell(&db, full.clone()).declined.is_empty());
    full = report("s", 2, items(MAX_ITEMS - 2..MAX_ITEMS + 2));
    full.counts = vec![(Kind::Capped, MAX_ITEMS + 2)];
    // One of the items is listed already, and one more has room. A repeat gets the same answer.
    for _ in 0..2 {
        assert_eq!(tell(&db, full.clone()).declined, [2, 3]);
    }
    let page = list(&db, all());
    assert_eq!(page["counts"]["capped"], MAX_ITEMS + 2);
    assert_eq!(page["not_listed"]["capped"], 2);
    // An endpoint always has room.
    tell(&db, report("o", 1, vec![item(Kind::Disabled, "callback", NOW - 1)]));
    assert_eq!(list(&db, all())["items"][0]["kind"], "disabled");
}

#[test]
fn an_app_has_one_endpoint_the_worst_of_its_outboxes() {
    let db = attention();
    let endpoint = |kind, since_ms| vec![item(kind, "callback", since_ms)];
    let shown = || {
        let page = list(&db, all());
        let items = page["items"].as_array().unwrap().iter();
        items
            .map(|item| (item["kind"].as_str().unwrap().to_owned(), item["since_ms"].as_i64().unwrap() - NOW))
            .collect::<Vec<_>>()
    };
    tell(&db, report("s-0", 1, endpoint(Kind::Failing, NOW + 3)));
    tell(&db, report("s-1", 1, endpoint(Kind::Failing, NOW + 1)));
    assert_eq!(shown(), [("failing".into(), 1)]);
    let disabled = vec![ended(Kind::Failing, "callback"), item(Kind::Disabled, "callback", NOW + 7)];
    tell(&db, report("s-1", 2, disabled));
    assert_eq!(shown(), [("disabled".into(), 7)]);
    tell(&db, report("s-1", 3, vec![ended(Kind::Disabled, "callback")]));
    assert_eq!(shown(), [("failing".into(), 3)]);
    tell(&db, report("s-0", 2, vec![ended(Kind::Failing, "callback")]));
    assert!(shown().is_empty());
    assert!(dump(&db, "attention_endpoints").is_empty());
}

#[test]
fn the_lag_is_the_age_of_what_a_source_owes_or_of_a_broken_promise() {
    let db = attention();
    let behind = |db: &Sqlite| list(db, all())["behind_ms"].clone();
    let owing = AttentionBatch { owes_since_ms: Some(NOW - 70), ..report("s", 1, vec![]) };
    tell(&db, owing);
    assert_eq!(behind(&db), 70);
    let promising = AttentionBatch { at_ms: NOW - 5_000, next_by_ms: Some(NOW - 1_000), ..report("s", 2, vec![]) };
    tell(&db, promising);
    assert_eq!(behind(&db), 5_000);
    tell(&db, report("s", 3, vec![]));
    assert_eq!(behind(&db), 0);
}
