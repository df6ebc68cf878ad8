//! The operator's attention: reports that come twice, late or not at all, objects that were lost or restored, the list and its
//! bound, endpoints over outboxes, and sizes.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    time::Duration,
};

use futures_util::FutureExt;
use proptest::{collection::vec, prelude::*};
use serde_json::{Value as Json, json};

use crate::{assert_only_listed_statements, attention_reported, dump, migrated, sqlite::Sqlite};
use contract::{
    activity::{Command, Reply},
    attention::{AttentionReport, Declined, ItemPlace, Kind, ListAttention, ReportedItem, SizeReport},
    operation::{CallError, ObjectAddress, Operation},
};
use domain::model::{
    AppId, PublisherId,
    time::{DAY_MS, MINUTE_MS, UtcDay},
};
use origin::{
    activity::{self, handle, service::ActivityService, sweep},
    attention::{
        feed::{self, ITEMS, OFFER_MS, Source},
        reports::{self, MOST_ITEMS},
        sql,
    },
    batches,
};
use platform::{
    database::{Database, DatabaseError, Row, Value},
    migrations::Migration,
    object_shell::NEARLY_FULL,
    params,
    traits::{Clock, ObjectCall, ObjectStorage},
};

/// Noon of 2026-01-15, UTC.
const NOW: i64 = 1_768_478_400_000;
/// The schema of an object with a feed.
const SOURCE_MIGRATIONS: &[Migration] = &[&[batches::sql::TABLES, feed::sql::TABLES, feed::sql::LATE]];

fn app(number: u32) -> AppId {
    AppId::from_number(number).unwrap()
}

fn source(name: &str) -> Source {
    Source {
        name: name.to_owned(),
        app: Some(app(42)),
        publisher: PublisherId::parse("acme"),
        rewards: None,
    }
}

fn attention() -> Sqlite {
    migrated(activity::MIGRATIONS)
}

fn report(source: &str, sequence: i64, items: Vec<ReportedItem>) -> AttentionReport {
    let mut counts = BTreeMap::new();
    for item in items.iter().filter(|item| item.is_open && item.kind.is_limited()) {
        *counts.entry(item.kind).or_insert(0) += 1;
    }
    AttentionReport {
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

fn item(kind: Kind, subject: &str, since_ms: i64) -> ReportedItem {
    ReportedItem {
        kind,
        subject: subject.to_owned(),
        is_open: true,
        since_ms,
        reason: "too_fast".into(),
        payout: kind.is_limited().then(|| "0.75".into()),
    }
}

fn ended(kind: Kind, subject: &str) -> ReportedItem {
    ReportedItem {
        is_open: false,
        ..item(kind, subject, 0)
    }
}

fn tell(db: &Sqlite, report: AttentionReport) -> Declined {
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
    ListAttention {
        kind: None,
        app: None,
        limit: 1_000,
        after: None,
    }
}

/// The listed subjects, in order.
fn subjects(page: &Json) -> Vec<&str> {
    let items = page["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| item["subject"].as_str().unwrap())
        .collect()
}

#[test]
fn the_oldest_item_comes_first_with_its_kind_reason_and_payout() {
    let db = attention();
    tell(
        &db,
        report(
            "outbox-00000042-0",
            1,
            vec![item(Kind::Held, "b", NOW), item(Kind::Dead, "a", NOW - 5)],
        ),
    );
    let page = list(&db, all());
    let dead = json!({"kind": "dead", "app_id": "00000042", "publisher_id": "acme", "subject": "a", "since_ms": NOW - 5,
        "reason": "too_fast", "payout_usd": 0.75});
    assert_eq!(page["items"][0], dead);
    assert_eq!(subjects(&page), ["a", "b"]);
    assert_eq!(
        page["counts"],
        json!({"held": 1, "capped": 0, "dead": 1, "disabled": 0, "failing": 0, "near_limit": 0, "batch_refused": 0,
            "differs": 0, "batch_late": 0})
    );
    assert_eq!(
        page["not_listed"],
        json!({"held": 0, "capped": 0, "dead": 0, "batch_refused": 0, "differs": 0, "batch_late": 0})
    );
    assert_eq!((&page["behind_ms"], &page["cursor"]), (&json!(0), &json!(null)));
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
        let report = AttentionReport {
            before,
            confirmed,
            resets,
            ..report("s", sequence, vec![])
        };
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
    tell(
        &db,
        report(
            "s",
            1,
            vec![item(Kind::Held, "a", NOW), item(Kind::Disabled, "callback", NOW)],
        ),
    );
    tell(&db, report("t", 1, vec![item(Kind::Held, "b", NOW)]));
    let resets = AttentionReport {
        resets: true,
        ..report("s", 2, vec![item(Kind::Dead, "c", NOW)])
    };
    tell(&db, resets);
    assert_eq!(subjects(&list(&db, all())), ["b", "c"]);
}

#[test]
fn the_list_narrows_by_kind_and_app_and_no_page_with_a_cursor_is_empty() {
    let db = attention();
    let items = (0..5)
        .map(|n| item(Kind::Held, &format!("t-{n}"), NOW + n / 2))
        .collect();
    tell(&db, report("s", 1, items));
    let other = AttentionReport {
        app: Some(app(43)),
        ..report("o", 1, vec![item(Kind::Dead, "d", NOW - 1)])
    };
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
            let page = list(
                &db,
                ListAttention {
                    limit,
                    after,
                    ..all()
                },
            );
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
    let mut full = report("s", 1, items(0..MOST_ITEMS - 1));
    assert!(tell(&db, full.clone()).declined.is_empty());
    full = report("s", 2, items(MOST_ITEMS - 2..MOST_ITEMS + 2));
    full.counts = vec![(Kind::Capped, MOST_ITEMS + 2)];
    // One is listed already, and one has room. A repeat says the same.
    for _ in 0..2 {
        assert_eq!(tell(&db, full.clone()).declined, [2, 3]);
    }
    let page = list(&db, all());
    assert_eq!(page["counts"]["capped"], MOST_ITEMS + 2);
    assert_eq!(page["not_listed"]["capped"], 2);
    // An endpoint always has room.
    tell(
        &db,
        report("o", 1, vec![item(Kind::Disabled, "callback", NOW - 1)]),
    );
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
            .map(|item| {
                (
                    item["kind"].as_str().unwrap().to_owned(),
                    item["since_ms"].as_i64().unwrap() - NOW,
                )
            })
            .collect::<Vec<_>>()
    };
    tell(&db, report("s-0", 1, endpoint(Kind::Failing, NOW + 3)));
    tell(&db, report("s-1", 1, endpoint(Kind::Failing, NOW + 1)));
    assert_eq!(shown(), [("failing".into(), 1)]);
    let disabled = vec![
        ended(Kind::Failing, "callback"),
        item(Kind::Disabled, "callback", NOW + 7),
    ];
    tell(&db, report("s-1", 2, disabled));
    assert_eq!(shown(), [("disabled".into(), 7)]);
    tell(&db, report("s-1", 3, vec![ended(Kind::Disabled, "callback")]));
    assert_eq!(shown(), [("failing".into(), 3)]);
    tell(&db, report("s-0", 2, vec![ended(Kind::Failing, "callback")]));
    assert!(shown().is_empty());
    assert!(dump(&db, "attention_endpoints").is_empty());
}

#[test]
fn how_far_it_is_behind_is_what_a_source_owes_or_the_age_of_a_broken_promise() {
    let db = attention();
    let behind = |db: &Sqlite| list(db, all())["behind_ms"].clone();
    let owing = AttentionReport {
        owes_since_ms: Some(NOW - 70),
        ..report("s", 1, vec![])
    };
    tell(&db, owing);
    assert_eq!(behind(&db), 70);
    let promising = AttentionReport {
        at_ms: NOW - 5_000,
        next_by_ms: Some(NOW - 1_000),
        ..report("s", 2, vec![])
    };
    tell(&db, promising);
    assert_eq!(behind(&db), 5_000);
    tell(&db, report("s", 3, vec![]));
    assert_eq!(behind(&db), 0);
}

#[test]
fn a_large_object_is_listed_until_it_has_shrunk_or_says_no_more() {
    let db = attention();
    let size = |at_ms, bytes| {
        let report = SizeReport {
            source: "ledger-acme".into(),
            at_ms,
            bytes,
        };
        handle(&db, NOW, Command::Size(report)).unwrap();
        let page = list(&db, all());
        let bytes = page["items"][0]["bytes"].as_i64();
        assert_eq!(page["counts"]["near_limit"], i64::from(bytes.is_some()));
        bytes
    };
    assert_eq!(size(NOW, NEARLY_FULL), None);
    assert_eq!(size(NOW + 1, NEARLY_FULL + 1), Some(NEARLY_FULL + 1));
    assert_eq!(size(NOW + 3, NEARLY_FULL + 2), Some(NEARLY_FULL + 2));
    assert_eq!(size(NOW + 2, NEARLY_FULL), Some(NEARLY_FULL + 2), "an old report");
    assert_eq!(list(&db, all())["items"][0]["since_ms"], NOW + 1);
    assert_eq!(size(NOW + 4, NEARLY_FULL), None);
    size(NOW + 5, NEARLY_FULL + 1);
    assert!(sweep::sweep(&db, NOW + DAY_MS).unwrap().is_some());
    assert_eq!(subjects(&list(&db, all())), ["ledger-acme"]);
    assert_eq!(sweep::sweep(&db, NOW + 3 * DAY_MS), Ok(None));
    assert!(subjects(&list(&db, all())).is_empty());
}

/// An object with a feed, whose items tests open and end as triggers would.
fn sender() -> Sqlite {
    migrated(SOURCE_MIGRATIONS)
}

fn open_batch(db: &Sqlite, n: i64) {
    feed::open_refused(
        db,
        NOW + n,
        "ledger",
        u64::try_from(n).unwrap(),
        "refused with 400: x",
    )
    .unwrap();
}

fn end_batch(db: &Sqlite, n: i64) {
    let sql = "UPDATE attention SET is_open = 0, changes = changes + 1 WHERE subject = ? AND is_open";
    db.execute(sql, params![format!("ledger: batch {n}")]).unwrap();
}

/// Makes a report and delivers it.
fn exchange(from: &Sqlite, to: &Sqlite, now_ms: i64, most: i64) -> AttentionReport {
    let made = feed::make(from, now_ms, &source("s")).unwrap();
    let heard = reports::apply(to, &made.report, most).unwrap();
    feed::confirm(from, now_ms, &made, &heard).unwrap();
    made.report
}

fn listed(db: &Sqlite) -> BTreeSet<String> {
    let rows = dump(db, "attention_items");
    rows.iter().map(|row| row.text(3).unwrap().to_owned()).collect()
}

#[test]
fn a_refused_batch_is_open_until_it_is_confirmed() {
    let db = sender();
    let row = "INSERT INTO forwards VALUES ('ledger', 3, 1, 0, '[]')";
    db.execute(row, &[]).unwrap();
    for (now_ms, reason) in [(NOW, "first"), (NOW + 5, "second")] {
        feed::open_refused(&db, now_ms, "ledger", 3, reason).unwrap();
    }
    let to = attention();
    exchange(&db, &to, NOW, MOST_ITEMS);
    let page = list(&to, all());
    assert_eq!(page["items"][0]["subject"], "s: ledger: batch 3");
    assert_eq!(page["items"][0]["reason"], "first");
    let batch = batches::outstanding(&db, NOW).unwrap().remove(0);
    batches::acknowledge(&db, &batch).unwrap();
    exchange(&db, &to, NOW + 1_000, MOST_ITEMS);
    assert!(listed(&to).is_empty());
    assert!(dump(&db, "attention").is_empty());
}

#[test]
fn a_late_batch_is_open_until_it_is_confirmed_or_refused() {
    let (db, to) = (sender(), attention());
    db.execute("INSERT INTO forwards VALUES ('ledger', 3, 1, 0, '[]')", &[])
        .unwrap();
    let kinds = |now_ms| {
        exchange(&db, &to, now_ms, MOST_ITEMS);
        let page = list(&to, all());
        let items = page["items"].as_array().unwrap().clone();
        let kind = |item: &Json| {
            (
                item["kind"].clone(),
                item["reason"].clone(),
                item["since_ms"].clone(),
            )
        };
        items.iter().map(kind).collect::<Vec<_>>()
    };
    for now_ms in [NOW, NOW + 5] {
        feed::open_late(&db, now_ms, "ledger", 3).unwrap();
    }
    let late = (json!("batch_late"), json!("no_answer"), json!(NOW));
    assert_eq!(kinds(NOW), [late]);
    feed::open_refused(&db, NOW + 6, "ledger", 3, "x").unwrap();
    feed::open_late(&db, NOW + 7, "ledger", 3).unwrap();
    let refused = (json!("batch_refused"), json!("x"), json!(NOW + 6));
    assert_eq!(kinds(NOW + 1_000), [refused]);
    let batch = batches::outstanding(&db, NOW).unwrap().remove(0);
    batches::acknowledge(&db, &batch).unwrap();
    assert!(kinds(NOW + 2_000).is_empty());
    assert!(dump(&db, "attention").is_empty());
}

#[test]
fn a_day_that_differs_is_listed_for_30_days() {
    let (db, to) = (sender(), attention());
    let day = UtcDay::of_ms(NOW);
    feed::open_differing(&db, NOW, day, -1_250_000).unwrap();
    exchange(&db, &to, NOW, MOST_ITEMS);
    let page = list(&to, all());
    let differs = json!({"kind": "differs", "app_id": "00000042", "publisher_id": "acme", "subject": "s: 2026-01-15", "since_ms": NOW,
        "reason": "log_below_batches", "payout_usd": 1.25});
    assert_eq!(page["items"], json!([differs]));
    for (days, is_listed) in [(30, true), (31, false)] {
        feed::end_differing(&db, NOW + days * DAY_MS).unwrap();
        exchange(&db, &to, NOW + days * DAY_MS, MOST_ITEMS);
        assert_eq!(!listed(&to).is_empty(), is_listed, "{days}");
    }
}

#[test]
fn a_change_during_a_report_is_in_the_next_one() {
    let (db, to) = (sender(), attention());
    open_batch(&db, 1);
    let made = feed::make(&db, NOW, &source("s")).unwrap();
    end_batch(&db, 1);
    open_batch(&db, 2);
    let heard = reports::apply(&to, &made.report, MOST_ITEMS).unwrap();
    feed::confirm(&db, NOW, &made, &heard).unwrap();
    assert_eq!(listed(&to).len(), 1);
    exchange(&db, &to, NOW + 1_000, MOST_ITEMS);
    assert_eq!(listed(&to), ["ledger: batch 2".to_owned()].into());
    // It opens again before its end was confirmed.
    end_batch(&db, 2);
    let made = feed::make(&db, NOW + 2_000, &source("s")).unwrap();
    open_batch(&db, 2);
    let heard = reports::apply(&to, &made.report, MOST_ITEMS).unwrap();
    feed::confirm(&db, NOW + 2_000, &made, &heard).unwrap();
    assert!(listed(&to).is_empty());
    exchange(&db, &to, NOW + 3_000, MOST_ITEMS);
    assert_eq!(listed(&to).len(), 1);
}

#[test]
fn a_source_at_rest_reports_once_a_day_and_tells_a_lost_object_all_again() {
    let (db, to) = (sender(), attention());
    assert_eq!(feed::due_ms(&db, NOW), Ok(None));
    for n in 1..=3 {
        open_batch(&db, n);
    }
    assert_eq!(feed::due_ms(&db, NOW), Ok(Some(NOW + 1_000)));
    exchange(&db, &to, NOW, MOST_ITEMS);
    // The promised report has nothing.
    assert_eq!(feed::due_ms(&db, NOW), Ok(Some(NOW + 1_000)));
    assert!(exchange(&db, &to, NOW + 1_000, MOST_ITEMS).items.is_empty());
    let next_ms = NOW + 1_000 + DAY_MS;
    assert_eq!(feed::due_ms(&db, NOW + 1_000), Ok(Some(next_ms)));

    let lost = attention();
    exchange(&db, &lost, next_ms, MOST_ITEMS);
    assert!(listed(&lost).is_empty());
    assert_eq!(feed::due_ms(&db, next_ms), Ok(Some(next_ms + 1_000)));
    let again = exchange(&db, &lost, next_ms + 1_000, MOST_ITEMS);
    assert!(again.resets);
    assert_eq!(listed(&lost), listed(&to));
    assert!(!exchange(&db, &lost, next_ms + 2_000, MOST_ITEMS).resets);
}

#[test]
fn a_source_that_was_restored_takes_back_what_it_does_not_have() {
    let to = attention();
    let (now, old) = (sender(), sender());
    for db in [&now, &old] {
        open_batch(db, 1);
        let made = feed::make(db, NOW, &source("s")).unwrap();
        let heard = reports::apply(&to, &made.report, MOST_ITEMS).unwrap();
        feed::confirm(db, NOW, &made, &heard).unwrap();
    }
    open_batch(&now, 2);
    exchange(&now, &to, NOW + 1_000, MOST_ITEMS);
    assert_eq!(listed(&to).len(), 2);
    exchange(&old, &to, NOW + 5_000, MOST_ITEMS);
    exchange(&old, &to, NOW + 6_000, MOST_ITEMS);
    assert_eq!(listed(&to), ["ledger: batch 1".to_owned()].into());
}

#[test]
fn declined_items_are_offered_again_until_there_is_room() {
    let (db, to) = (sender(), attention());
    for n in 1..=5 {
        open_batch(&db, n);
    }
    exchange(&db, &to, NOW, 3);
    assert_eq!(listed(&to).len(), 3);
    let page = list(&to, all());
    assert_eq!(
        (
            &page["counts"]["batch_refused"],
            &page["not_listed"]["batch_refused"]
        ),
        (&json!(5), &json!(2))
    );
    // The promised report offers them, too.
    exchange(&db, &to, NOW + 1_000, 3);
    let next_ms = NOW + 1_000 + OFFER_MS;
    assert_eq!(feed::due_ms(&db, NOW + 1_000), Ok(Some(next_ms)));
    end_batch(&db, 1);
    exchange(&db, &to, NOW + 2_000, 3);
    assert_eq!(listed(&to).len(), 2);
    exchange(&db, &to, NOW + 3_000, 3);
    assert_eq!(listed(&to).len(), 3);
    assert_eq!(list(&to, all())["not_listed"]["batch_refused"], 1);
}

#[test]
fn a_report_has_a_bounded_number_of_items_and_says_what_it_owes() {
    let (db, to) = (sender(), attention());
    let count = i64::try_from(ITEMS).unwrap();
    for n in 1..=count + 1 {
        open_batch(&db, n);
    }
    let first = exchange(&db, &to, NOW + DAY_MS, MOST_ITEMS);
    assert_eq!((first.items.len(), first.owes_since_ms), (ITEMS, Some(NOW + 1)));
    let second = exchange(&db, &to, NOW + DAY_MS + 1_000, MOST_ITEMS);
    assert_eq!((second.items.len(), second.owes_since_ms), (1, None));
}

#[test]
fn every_statement_is_listed_for_the_conformance_test() {
    let (db, to) = (sender(), attention());
    open_batch(&db, 1);
    open_batch(&db, 2);
    exchange(&db, &to, NOW, 1);
    exchange(&db, &attention(), NOW + 1_000, 1);
    for n in 3..300 {
        open_batch(&db, n);
    }
    exchange(&db, &to, NOW + 2_000, 1);
    db.execute(feed::sql::PUT_REPORT_OFF, params![NOW]).unwrap();
    feed::open_late(&db, NOW, "ledger", 1).unwrap();
    feed::open_differing(&db, NOW, UtcDay::of_ms(NOW), 1).unwrap();
    feed::end_differing(&db, NOW).unwrap();
    feed::send_soon(&db, NOW).unwrap();
    assert_only_listed_statements(&db, feed::sql::ALL, SOURCE_MIGRATIONS);

    let items = vec![
        ended(Kind::Held, "h"),
        item(Kind::Disabled, "callback", NOW),
        ended(Kind::Failing, "callback"),
    ];
    tell(
        &to,
        AttentionReport {
            resets: true,
            ..report("t", 1, items)
        },
    );
    for bytes in [NEARLY_FULL, NEARLY_FULL + 1] {
        let size = SizeReport {
            source: "t".into(),
            at_ms: NOW + bytes - NEARLY_FULL,
            bytes,
        };
        handle(&to, NOW, Command::Size(size)).unwrap();
    }
    list(&to, all());
    attention_reported::run_every_statement(&to);
    sweep::sweep(&to, NOW).unwrap();
    let ran = to.statements();
    let idle: Vec<_> = sql::ALL.iter().filter(|sql| !ran.contains(**sql)).collect();
    assert!(idle.is_empty(), "{idle:#?}");
}

/// A large object, and the calls that it makes.
struct Large {
    db: Sqlite,
    now_ms: Cell<i64>,
    bytes: Cell<i64>,
    told: RefCell<Vec<Json>>,
}

#[derive(Clone)]
struct Shared(Rc<Large>);

impl Database for Shared {
    fn query(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        self.0.db.query(sql, parameters)
    }

    fn transaction<T, E: From<DatabaseError>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.0.db.transaction(work)
    }
}

impl ObjectStorage for Shared {
    async fn alarm(&self) -> Result<Option<i64>, DatabaseError> {
        Ok(None)
    }

    fn set_alarm(&self, _at_ms: Option<i64>) -> Result<(), DatabaseError> {
        Ok(())
    }

    async fn sync(&self) -> Result<(), DatabaseError> {
        Ok(())
    }

    fn size(&self) -> Result<i64, DatabaseError> {
        Ok(self.0.bytes.get())
    }
}

impl Clock for Shared {
    fn now_ms(&self) -> i64 {
        self.0.now_ms.get()
    }
}

impl ObjectCall for Shared {
    async fn call<O: Operation>(
        &self,
        to: &ObjectAddress,
        operation: O,
        _timeout: Duration,
    ) -> Result<O::Answer, CallError> {
        assert_eq!(to.name, "attention");
        self.0
            .told
            .borrow_mut()
            .push(serde_json::to_value(operation.into()).unwrap());
        Ok(serde_json::from_value(json!({})).unwrap())
    }
}

#[test]
fn a_large_object_tells_its_size_at_an_alarm_once_an_hour() {
    let large = Shared(Rc::new(Large {
        db: Sqlite::in_memory(),
        now_ms: Cell::new(NOW),
        bytes: Cell::new(6_000_000_000),
        told: RefCell::default(),
    }));
    let service = ActivityService::new(Some("activity-acme".into()), large.clone(), large.clone());
    let wake = |minutes: i64, bytes| {
        large.0.now_ms.set(NOW + minutes * MINUTE_MS);
        large.0.bytes.set(bytes);
        service.alarm().now_or_never().unwrap();
        large.0.told.take()
    };
    let told = |minutes: i64, bytes: i64| {
        vec![json!({"size": {"source": "activity-acme", "at_ms": NOW + minutes * MINUTE_MS, "bytes": bytes}})]
    };
    assert!(wake(0, 6_000_000_000).is_empty());
    assert_eq!(wake(1, NEARLY_FULL + 1), told(1, NEARLY_FULL + 1));
    assert!(wake(30, NEARLY_FULL + 2).is_empty());
    // It also tells that it has shrunk.
    assert_eq!(wake(61, NEARLY_FULL - 1), told(61, NEARLY_FULL - 1));
    assert!(wake(200, 6_000_000_000).is_empty());
}

#[derive(Clone, Debug)]
enum Step {
    Open(i64),
    End(i64),
    /// Makes a report. It arrives or not, and its answer arrives or not.
    Exchange {
        arrives: bool,
        answered: bool,
    },
    /// An earlier report arrives, again or late.
    Repeat(usize),
    LoseObject,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..12_i64).prop_map(Step::Open),
        4 => (0..12_i64).prop_map(Step::End),
        6 => (any::<bool>(), any::<bool>()).prop_map(|(arrives, answered)| Step::Exchange { arrives, answered }),
        2 => (0..8_usize).prop_map(Step::Repeat),
        1 => Just(Step::LoseObject),
    ];
    vec(step, 0..60)
}

proptest! {
    #[test]
    fn whatever_is_lost_repeated_or_late_the_list_becomes_what_is_open(steps in steps(), most in 1..14_i64) {
        let (db, mut to) = (sender(), attention());
        let (mut open, mut sent, mut now_ms) = (BTreeSet::new(), Vec::new(), NOW);
        for step in steps {
            now_ms += 1_000;
            match step {
                Step::Open(n) => {
                    open_batch(&db, n);
                    open.insert(format!("ledger: batch {n}"));
                }
                Step::End(n) => {
                    end_batch(&db, n);
                    open.remove(&format!("ledger: batch {n}"));
                }
                Step::Exchange { arrives, answered } => {
                    let made = feed::make(&db, now_ms, &source("s")).unwrap();
                    if arrives {
                        let heard = reports::apply(&to, &made.report, most).unwrap();
                        if answered {
                            feed::confirm(&db, now_ms, &made, &heard).unwrap();
                        }
                    }
                    sent.push(made.report);
                }
                Step::Repeat(back) => {
                    if let Some(report) = sent.iter().rev().nth(back) {
                        reports::apply(&to, report, most).unwrap();
                    }
                }
                // What was under way to it is lost with it.
                Step::LoseObject => {
                    to = attention();
                    sent.clear();
                }
            }
            prop_assert!(listed(&to).len() <= usize::try_from(most).unwrap());
        }
        // Then reports arrive, at least one of a day without changes.
        for _ in 0..30 {
            let Some(due_ms) = feed::due_ms(&db, now_ms).unwrap() else { break };
            now_ms = due_ms;
            exchange(&db, &to, now_ms, most);
        }
        let shown = listed(&to);
        let expected = open.len().min(usize::try_from(most).unwrap());
        prop_assert_eq!(shown.len(), expected);
        prop_assert!(shown.is_subset(&open), "{:?} of {:?}", shown, open);
        let page = list(&to, all());
        prop_assert_eq!(page["counts"]["batch_refused"].as_u64().unwrap(), u64::try_from(open.len()).unwrap());
    }
}
