//! The feed of an object with items, against the object that lists them.

use super::*;
use contract::ledger::Vouched;
use domain::model::time::UtcDay;

/// An object with a feed, whose items tests open and end as triggers would.
pub fn sender() -> Sqlite {
    migrated(SOURCE_MIGRATIONS)
}

pub fn open_batch(db: &Sqlite, n: i64) {
    attention_feed::open_refused(db, NOW + n, "ledger", n, "refused with 400: x").unwrap();
}

pub fn end_batch(db: &Sqlite, n: i64) {
    attention_feed::end_batch(db, "ledger", n).unwrap();
}

/// The answer of a ledger that lacks this amount of a day.
fn missing(missing_micro_usd: i64) -> Vouched {
    Vouched { mark: 1, missing_clicks: 0, missing_micro_usd, go_back_to: None }
}

/// Makes a report and delivers it.
pub fn exchange(from: &Sqlite, to: &Sqlite, now_ms: i64, most: i64) -> AttentionBatch {
    let made = feed_of(from).prepare(now_ms).unwrap().unwrap();
    let heard = feed_batches::apply(to, NOW, &made.batch, most).unwrap();
    feed_of(from).confirm(now_ms, &made, &heard).unwrap();
    *made.batch
}

pub fn listed(db: &Sqlite) -> BTreeSet<String> {
    let rows = dump(db, "attention_items");
    rows.iter().map(|row| row.text(3).unwrap().to_owned()).collect()
}

#[test]
fn a_refused_batch_is_open_until_it_is_confirmed() {
    let db = sender();
    for (now_ms, reason) in [(NOW, "first"), (NOW + 5, "second")] {
        attention_feed::open_refused(&db, now_ms, "ledger", 3, reason).unwrap();
    }
    let to = attention();
    exchange(&db, &to, NOW, MAX_ITEMS);
    let page = list(&to, all());
    assert_eq!(page["items"][0]["subject"], "s: ledger: batch after 3");
    assert_eq!(page["items"][0]["reason"], "first");
    attention_feed::end_batch(&db, "ledger", 3).unwrap();
    exchange(&db, &to, NOW + 1_000, MAX_ITEMS);
    assert!(listed(&to).is_empty());
    assert!(dump(&db, "attention").is_empty());
}

#[test]
fn a_late_batch_is_open_until_it_is_confirmed_or_refused() {
    let (db, to) = (sender(), attention());
    let kinds = |now_ms| {
        exchange(&db, &to, now_ms, MAX_ITEMS);
        let page = list(&to, all());
        let items = page["items"].as_array().unwrap().clone();
        let kind = |item: &Json| (item["kind"].clone(), item["reason"].clone(), item["since_ms"].clone());
        items.iter().map(kind).collect::<Vec<_>>()
    };
    for now_ms in [NOW, NOW + 5] {
        attention_feed::open_late(&db, now_ms, "ledger", 3).unwrap();
    }
    let late = (json!("batch_late"), json!("no_answer"), json!(NOW));
    assert_eq!(kinds(NOW), [late]);
    attention_feed::open_refused(&db, NOW + 6, "ledger", 3, "x").unwrap();
    attention_feed::open_late(&db, NOW + 7, "ledger", 3).unwrap();
    let refused = (json!("batch_refused"), json!("x"), json!(NOW + 6));
    assert_eq!(kinds(NOW + 1_000), [refused]);
    attention_feed::end_batch(&db, "ledger", 3).unwrap();
    assert!(kinds(NOW + 2_000).is_empty());
    assert!(dump(&db, "attention").is_empty());
}

#[test]
fn a_day_that_differs_is_listed_until_it_is_restated() {
    let (db, to) = (sender(), attention());
    attention_feed::open_differing(&db, NOW, "2026-01-15", &missing(-1_250_000)).unwrap();
    exchange(&db, &to, NOW, MAX_ITEMS);
    let page = list(&to, all());
    let differs = json!({"kind": "differs", "app_id": "00000042", "publisher_id": "acme", "subject": "s: 2026-01-15", "since_ms": NOW,
        "reason": "log_behind", "payout_usd": 1.25});
    assert_eq!(page["items"], json!([differs]));
    attention_feed::end_item(&db, Kind::Differs, "2026-01-15").unwrap();
    exchange(&db, &to, NOW + 2_000, MAX_ITEMS);
    assert!(listed(&to).is_empty());
}

#[test]
fn a_change_during_a_report_is_in_the_next_one() {
    let (db, to) = (sender(), attention());
    open_batch(&db, 1);
    let made = feed_of(&db).prepare(NOW).unwrap().unwrap();
    end_batch(&db, 1);
    open_batch(&db, 2);
    let heard = feed_batches::apply(&to, NOW, &made.batch, MAX_ITEMS).unwrap();
    feed_of(&db).confirm(NOW, &made, &heard).unwrap();
    assert_eq!(listed(&to).len(), 1);
    exchange(&db, &to, NOW + 1_000, MAX_ITEMS);
    assert_eq!(listed(&to), ["ledger: batch after 2".to_owned()].into());
    // It opens again before its end was confirmed.
    end_batch(&db, 2);
    let made = feed_of(&db).prepare(NOW + 2_000).unwrap().unwrap();
    open_batch(&db, 2);
    let heard = feed_batches::apply(&to, NOW, &made.batch, MAX_ITEMS).unwrap();
    feed_of(&db).confirm(NOW + 2_000, &made, &heard).unwrap();
    assert!(listed(&to).is_empty());
    exchange(&db, &to, NOW + 3_000, MAX_ITEMS);
    assert_eq!(listed(&to).len(), 1);
}

#[test]
fn a_report_under_way_does_not_replace_the_one_due_at_night() {
    let (db, to) = (sender(), attention());
    let made = feed_of(&db).prepare(NOW).unwrap().unwrap();
    attention_feed::send_soon(&db, NOW).unwrap();
    let heard = feed_batches::apply(&to, NOW, &made.batch, MAX_ITEMS).unwrap();
    feed_of(&db).confirm(NOW, &made, &heard).unwrap();
    assert_eq!(attention_feed::due_ms(&db, NOW), Ok(Some(NOW + 1_000)));
}

#[test]
fn a_source_at_rest_reports_once_a_day_and_tells_a_lost_object_all_again() {
    let (db, to) = (sender(), attention());
    assert_eq!(attention_feed::due_ms(&db, NOW), Ok(None));
    for n in 1..=3 {
        open_batch(&db, n);
    }
    assert_eq!(attention_feed::due_ms(&db, NOW), Ok(Some(NOW + 1_000)));
    exchange(&db, &to, NOW, MAX_ITEMS);
    // The promised report is empty.
    assert_eq!(attention_feed::due_ms(&db, NOW), Ok(Some(NOW + 1_000)));
    assert!(exchange(&db, &to, NOW + 1_000, MAX_ITEMS).items.is_empty());
    let next_ms = NOW + 1_000 + DAY_MS;
    assert_eq!(attention_feed::due_ms(&db, NOW + 1_000), Ok(Some(next_ms)));

    let lost = attention();
    exchange(&db, &lost, next_ms, MAX_ITEMS);
    assert!(listed(&lost).is_empty());
    assert_eq!(attention_feed::due_ms(&db, next_ms), Ok(Some(next_ms + 1_000)));
    let again = exchange(&db, &lost, next_ms + 1_000, MAX_ITEMS);
    assert!(again.resets);
    assert_eq!(listed(&lost), listed(&to));
    assert!(!exchange(&db, &lost, next_ms + 2_000, MAX_ITEMS).resets);
}

#[test]
fn a_source_that_was_restored_takes_back_what_it_does_not_have() {
    let to = attention();
    let (now, old) = (sender(), sender());
    for db in [&now, &old] {
        open_batch(db, 1);
        let made = feed_of(db).prepare(NOW).unwrap().unwrap();
        let heard = feed_batches::apply(&to, NOW, &made.batch, MAX_ITEMS).unwrap();
        feed_of(db).confirm(NOW, &made, &heard).unwrap();
    }
    open_batch(&now, 2);
    exchange(&now, &to, NOW + 1_000, MAX_ITEMS);
    assert_eq!(listed(&to).len(), 2);
    exchange(&old, &to, NOW + 5_000, MAX_ITEMS);
    exchange(&old, &to, NOW + 6_000, MAX_ITEMS);
    assert_eq!(listed(&to), ["ledger: batch after 1".to_owned()].into());
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
    assert_eq!((&page["counts"]["batch_refused"], &page["not_listed"]["batch_refused"]), (&json!(5), &json!(2)));
    // The promised report offers the items without room again.
    exchange(&db, &to, NOW + 1_000, 3);
    let next_ms = NOW + 1_000 + OFFER_MS;
    assert_eq!(attention_feed::due_ms(&db, NOW + 1_000), Ok(Some(next_ms)));
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
    let first = exchange(&db, &to, NOW + DAY_MS, MAX_ITEMS);
    assert_eq!((first.items.len(), first.owes_since_ms), (ITEMS, Some(NOW + 1)));
    let second = exchange(&db, &to, NOW + DAY_MS + 1_000, MAX_ITEMS);
    assert_eq!((second.items.len(), second.owes_since_ms), (1, None));
}

#[test]
fn an_object_that_drops_its_changes_has_nothing_to_send() {
    let db = sender();
    open_batch(&db, 1);
    attention_feed::send_soon(&db, NOW).unwrap();
    assert!(attention_feed::due_ms(&db, NOW).unwrap().is_some());
    attention_feed::drop_changes(&db).unwrap();
    assert_eq!(attention_feed::due_ms(&db, NOW).unwrap(), None);
    end_batch(&db, 1);
    attention_feed::drop_changes(&db).unwrap();
    assert_eq!(attention_feed::due_ms(&db, NOW).unwrap(), None);
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
    db.execute(attention_feed::sql::PUT_OFF, params![NOW]).unwrap();
    attention_feed::open_late(&db, NOW, "ledger", 1).unwrap();
    end_batch(&db, 1);
    attention_feed::open_differing(&db, NOW, "2026-01-15", &missing(1)).unwrap();
    attention_feed::open_day(&db, NOW, Kind::Unconfirmed, UtcDay::of_ms(NOW), "silent").unwrap();
    attention_feed::end_item(&db, Kind::Unconfirmed, &UtcDay::of_ms(NOW).to_string()).unwrap();
    attention_feed::end_item(&db, Kind::Differs, "2026-01-15").unwrap();
    attention_feed::send_soon(&db, NOW).unwrap();
    attention_feed::drop_changes(&db).unwrap();
    assert_only_listed_statements(&db, attention_feed::sql::ALL, SOURCE_MIGRATIONS);

    let items = vec![ended(Kind::Held, "h"), item(Kind::Disabled, "callback", NOW), ended(Kind::Failing, "callback")];
    tell(&to, AttentionBatch { resets: true, counts: vec![(Kind::Dead, 1)], ..report("t", 1, items) });
    for bytes in [NEARLY_FULL, NEARLY_FULL + 1] {
        let size = ObjectSize { source: "t".into(), at_ms: NOW + bytes - NEARLY_FULL, bytes };
        handle(&to, NOW, Command::Size(size)).unwrap();
    }
    let restored = Restored {
        source: "ledger-acme".into(),
        publisher: None,
        at_ms: NOW,
        doubts: vec![Doubt::new("2026-01-15", "load_again")],
    };
    handle(&to, NOW, restored.into()).unwrap();
    let place = ItemPlace { since_ms: NOW, item: 9 };
    handle(&to, NOW, EndItem { place }.into()).unwrap_err();
    list(&to, all());
    isolates::run_every_statement(&to);
    sweep::sweep(&to, NOW).unwrap();
    let ran = to.statements();
    let idle: Vec<_> = sql::ALL.iter().filter(|sql| !ran.contains(**sql)).collect();
    assert!(idle.is_empty(), "{idle:#?}");
}
