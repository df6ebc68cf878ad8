//! A ledger's metadata: names of apps, the time through which there is data, and the list of days.

use contract::ledger::ListDays;
use serde_json::{Value, json};

use super::{
    super::{Database, dump},
    *,
};
use contract::{
    ledger::{Command, Reply},
    operation::OperatorReply,
};
use domain::model::{PublisherId, time::DAY_MS};
use origin::objects::ledger::{Context, handle, names, offers, upload};
use platform::failure::Failure;

/// Noon of `day(10)`.
const NOW_MS: i64 = 20_010 * DAY_MS + DAY_MS / 2;

fn named(number: i64, name: Option<&str>) -> Upload {
    let mut upload = Upload::new(number);
    let key = ["10000001", "DE", "p", "t", "d", "s"];
    let fact = Fact { day: day(1), key, sums: [1; 5], app_name: name };
    upload.add(&fact).unwrap();
    upload
}

fn name(db: &Sqlite) -> Option<String> {
    names::look_up(db, ["10000001", "10000002"].into_iter()).unwrap().remove("10000001")
}

#[test]
fn an_app_has_the_last_name_from_facts_or_else_the_catalogs() {
    let db = ledger();
    assert_eq!(name(&db), None);
    names::store(&db, &[("10000001".into(), "Catalog".into())].into()).unwrap();
    assert_eq!(name(&db).as_deref(), Some("Catalog"));
    named(1, Some("Facts")).replace(&db, NOW_MS, day(1)).unwrap();
    assert_eq!(name(&db).as_deref(), Some("Facts"));
    // An upload without a name, a discarded one, or a new name in the catalog changes nothing.
    named(2, None).replace(&db, NOW_MS, day(1)).unwrap();
    let mut discarded = named(3, Some("Never"));
    discarded.stage_above(&db, 0).unwrap();
    upload::discard(&db, 3).unwrap();
    names::store(&db, &[("10000001".into(), "Renamed".into())].into()).unwrap();
    assert_eq!(name(&db).as_deref(), Some("Facts"));
    named(4, Some("Facts again")).apply(&db, NOW_MS, "k", 1).unwrap();
    assert_eq!(name(&db).as_deref(), Some("Facts again"));
}

fn through_ms(db: &Sqlite) -> Option<i64> {
    let query = Query {
        start: day(0),
        end: day(1),
        dimensions: vec![Dimension::Date],
        metrics: vec![Metric::Ecpm],
        filters: vec![],
        order: vec![],
        page: 1,
        count: 1,
    };
    report::build(db, &query, &Budget::default()).unwrap().through_ms
}

#[test]
fn data_is_complete_through_the_end_of_the_last_loaded_day() {
    let db = ledger();
    assert_eq!(through_ms(&db), None);
    // Clicks alone, before anything was loaded.
    offers::add(&db, NOW_MS, &batches::batch("s", 0, &[batches::sum(day(10), None, 1)])).unwrap();
    assert_eq!(through_ms(&db), Some(NOW_MS));
    let mut number = 0;
    let mut load = |date: UtcDay, at_ms: i64| {
        number += 1;
        upload(number, &[(date, key(0), [1; 5])]).replace(&db, at_ms, date).unwrap();
        through_ms(&db).unwrap()
    };
    assert_eq!(load(day(5), NOW_MS), day(6).start_ms());
    assert_eq!(load(day(3), NOW_MS + 1), day(6).start_ms(), "a restatement of an earlier day");
    assert_eq!(load(day(80), NOW_MS + 2), day(6).start_ms(), "a future day");
    assert_eq!(load(day(10), NOW_MS + 3), NOW_MS + 3, "the current day");
    offers::add(&db, NOW_MS + 9, &batches::batch("s", 1, &[batches::sum(day(10), None, 1)])).unwrap();
    assert_eq!(through_ms(&db), Some(NOW_MS + 3), "clicks alone are no loaded data");
}

fn days(db: &Sqlite, limit: u32, before: Option<&str>) -> Result<Value, String> {
    let publisher = PublisherId::parse("acme").unwrap();
    let context = Context {
        now_ms: NOW_MS,
        random: &|| Err("nothing is issued".into()),
        mac: &|| Err(Failure::Internal("nothing is issued".into())),
        publisher: &publisher,
    };
    let command = Command::ListDays(ListDays { limit, before: before.map(Into::into) });
    match handle(db, &context, command) {
        Ok(Reply::Operator(OperatorReply { body, .. })) => Ok(serde_json::from_str(&body).unwrap()),
        other => Err(format!("{other:?}")),
    }
}

#[test]
fn days_are_listed_by_layer_in_pages_newest_first() {
    let db = ledger();
    upload(1, &[(day(1), key(0), [1, 2, 3, 4, 500_000]), (day(1), key(1), [1; 5])]).apply(&db, NOW_MS, "k", 2).unwrap();
    upload(2, &[(day(3), key(0), [0, 0, 0, 0, -1])])
        .by(Some("Grace Hopper".to_owned()))
        .replace(&db, NOW_MS + 5_000, day(3))
        .unwrap();
    offers::add(&db, NOW_MS, &batches::batch("s", 0, &[batches::sum(day(1), None, 7), batches::sum(day(2), None, 1)]))
        .unwrap();
    let first = days(&db, 2, None).unwrap();
    let counted = |clicks: i64| {
        json!({"segments": 1, "rows": 1, "ad_requests": 0, "ad_responses": 0, "impressions": 0, "clicks": clicks,
            "revenue": 0})
    };
    let reversed = json!({"segments": 1, "rows": 1, "ad_requests": 0, "ad_responses": 0, "impressions": 0, "clicks": 0,
        "revenue": -0.000001, "loaded_at": NOW_MS / 1_000 + 5, "loaded_by": "Grace Hopper"});
    assert_eq!(
        first,
        json!({"cursor": day(2).to_string(), "days": [
            {"date": day(3).to_string(), "state": "open", "loaded": reversed},
            {"date": day(2).to_string(), "state": "not_loaded", "offers": counted(1)},
        ]})
    );
    let last = days(&db, 2, first["cursor"].as_str()).unwrap();
    let loaded = json!({"segments": 1, "rows": 2, "ad_requests": 2, "ad_responses": 3, "impressions": 4, "clicks": 5,
        "revenue": 0.500001, "loaded_at": NOW_MS / 1_000, "loaded_by": "the operator"});
    assert_eq!(
        last,
        json!({"cursor": null, "days": [
            {"date": day(1).to_string(), "state": "open", "loaded": loaded, "offers": counted(7)},
        ]})
    );
    assert!(days(&db, 2, Some("yesterday")).unwrap_err().contains("invalid_field"));
}

#[test]
fn concurrent_uploads_stage_alternately_and_are_applied_separately() {
    let db = ledger();
    let part = |date: i64, from: u32| -> Vec<_> { (from..from + 40).map(|n| (day(date), key(n), [1; 5])).collect() };
    let mut one = upload(1, &part(1, 0));
    let mut two = upload(2, &part(1, 0));
    one.stage_above(&db, 0).unwrap();
    two.stage_above(&db, 0).unwrap();
    let more = |upload: &mut Upload, facts: &[(UtcDay, Key, Sums)]| {
        for (day, key, sums) in facts {
            upload
                .add(&Fact { day: *day, key: key.each_ref().map(String::as_str), sums: *sums, app_name: None })
                .unwrap();
        }
    };
    more(&mut one, &part(2, 3));
    more(&mut two, &part(1, 2));
    one.apply(&db, NOW_MS, "one", 80).unwrap();
    assert_eq!(reported(&db).values().map(|sums| sums[0]).sum::<i64>(), 80);
    two.replace(&db, NOW_MS, day(1)).unwrap();
    let sum_of =
        |date: i64| reported(&db).iter().filter(|((on, _), _)| *on == day(date)).map(|(_, sums)| sums[0]).sum::<i64>();
    assert_eq!((sum_of(1), sum_of(2)), (80, 40));
    assert!(dump(&db, "segments").iter().all(|row| row.integer(0) == Ok(0)), "nothing is left staged");
}

#[test]
fn merging_skips_a_day_with_a_damaged_segment() {
    let db = ledger();
    for (n, date) in (1_i64..).zip([1, 2].into_iter().flat_map(|date| [date; 9])) {
        upload(n, &[(day(date), key(0), [n, 0, 0, 0, 0])]).apply(&db, NOW_MS, &format!("k{n}"), 1).unwrap();
    }
    db.execute("UPDATE columns SET bytes = x'00' WHERE id = (SELECT MIN(id) FROM columns)", &[]).unwrap();
    let mut alarms = 0;
    while let Some(due_ms) = ledger::next_alarm(&db, NOW_MS).unwrap() {
        assert!(due_ms > NOW_MS && alarms < 10, "the alarm does not end");
        let _ = ledger::alarm(&db, due_ms);
        alarms += 1;
    }
    let of_day = |date: UtcDay| dump(&db, "segments").iter().filter(|row| row.integer(1) == Ok(date.number())).count();
    assert_eq!((of_day(day(1)), of_day(day(2))), (9, 1));
}
