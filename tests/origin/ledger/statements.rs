//! A ledger runs every statement that it lists, and no other.

use contract::{
    ledger::{CreateExport, CreateKey, FindKey, ListDays, ListKeys, OpenExport, RevokeKey, SuspendKeys},
    operation::Bytes,
};
use std::collections::BTreeMap as Names;

use super::*;
use contract::ledger::{Command, DayChanges, DaySums, ListDayChanges, Reply, Restate};
use domain::{
    model::{PublisherId, mac::MacKeys},
    reporting::keys::{self as report_keys, SETTING},
};
use origin::delivery::{attention_feed::sql as feed, register};
use origin::objects::ledger::{
    Context, day_changes, final_days, handle,
    keys::admit,
    names, offers,
    restate::{self, ReportedDay, SourceReport},
    upload,
};

#[test]
fn a_ledger_runs_exactly_its_listed_statements() {
    let db = ledger();
    let mac = MacKeys::parse(SETTING, &"ab".repeat(32)).unwrap();
    let publisher = PublisherId::parse("acme").unwrap();
    let context = Context {
        now_ms: 5,
        random: &|| Ok([7; 32]),
        mac: &|| Ok(MacKeys::parse(SETTING, &"ab".repeat(32)).unwrap()),
        publisher: &publisher,
    };
    let key = report_keys::issue(&mac, &publisher, [7; 16]);
    for command in [
        Command::CreateKey(CreateKey { body: r#"{"label":"x"}"#.into(), by: None }),
        Command::ListKeys(ListKeys {}),
        Command::SuspendKeys(SuspendKeys { is_suspended: false, revision: 1 }),
        Command::FindKey(FindKey { hash: Bytes(vec![1; 32]) }),
        Command::ListDays(ListDays { limit: 10, before: None }),
        Command::CreateExport(CreateExport {
            body: r#"{"query": {"date_range": {"start_date": "2026-01-01", "end_date": "2026-01-02"},
                "dimensions": ["date"], "metrics": ["clicks"]}, "format": "csv"}"#
                .into(),
            session: Bytes(vec![1; 32]),
        }),
        Command::OpenExport(OpenExport { export_id: "07".repeat(16), session: Bytes(vec![1; 32]) }),
    ] {
        handle(&db, &context, command).unwrap();
    }
    exports::first_piece(&db);
    admit(&db, 5, &key).unwrap();
    handle(&db, &context, Command::RevokeKey(RevokeKey { key_id: "none".into() })).unwrap_err();
    for n in 1..=8 {
        upload(n, &[(day(1), key_of(n), [1; 5])]).apply(&db, 5, &format!("k{n}"), 1).unwrap();
    }
    // A segment large enough to be stored column by column.
    let many: Vec<_> = (0..4_000).map(|n| (day(2), key_of(n), [n; 5])).collect();
    upload(9, &many).replace(&db, 5, day(2)).unwrap();
    upload(10, &many[..3]).replace(&db, 5, day(2)).unwrap();
    let list = ListDays { limit: 10, before: None };
    handle(&db, &context, Command::ListDays(list)).unwrap();
    let mut cut_off = upload(11, &many[..3]);
    let named = Fact { app_name: Some("A name"), day: day(2), key: ["10000001"; 6], sums: [1; 5] };
    cut_off.add(&named).unwrap();
    cut_off.stage_above(&db, 0).unwrap();
    upload::discard_all(&db).unwrap();
    offers::add(&db, 5, &batches::batch("s", 0, &[batches::sum(day(1), Some("home"), 1)])).unwrap();
    let vouch = contract::ledger::Vouch { source: "s".into(), day: day(1), number: 1, clicks: 0, revenue_micro_usd: 0 };
    offers::vouch(&db, 1, &vouch).unwrap();
    names::store(&db, &Names::from([("10000001".into(), "A name".into())])).unwrap();
    final_days::store_publisher(&db, &publisher).unwrap();
    let mut reported_sums = ReportedDay::default();
    for question in reported_sums.missing(&db, day(1)).unwrap() {
        let none = DaySums { is_kept: true, ..DaySums::default() };
        let mut report = SourceReport::new(&question);
        report.add(&none).unwrap();
        reported_sums.put(question.source, report).unwrap();
    }
    for is_dry_run in [true, false, true] {
        let restate = Restate { day: day(1), is_dry_run };
        drop(restate::apply(&db, 5, restate, &reported_sums).unwrap());
    }
    for of in [1, 2] {
        upload(12, &[]).replace(&db, day(3).start_ms(), day(of)).unwrap();
    }
    // The source has not vouched for the second day.
    ledger::alarm(&db, day(90).start_ms()).unwrap();
    offers::vouch(&db, day(90).start_ms(), &contract::ledger::Vouch { day: day(2), ..vouch }).unwrap();
    ledger::alarm(&db, day(91).start_ms()).unwrap();
    // Both days are final, and the first changes twice.
    let of_first = [1, 2].map(|n| (day(1), key_of(n), [n; 5]));
    for n in [1, 2] {
        upload(12, &of_first[..n]).replace(&db, day(91).start_ms(), day(1)).unwrap();
    }
    let list = ListDayChanges { after: 0, limit: 10, before: None };
    let Ok(Reply::DayChanges(DayChanges { changes, .. })) = handle(&db, &context, list.into()) else {
        panic!("no changes");
    };
    assert_eq!(changes.len(), 1, "what nobody has read goes on");
    let newest = ListDayChanges { before: Some(platform::database::MAX_INTEGER), ..list };
    let Ok(Reply::DayChanges(page)) = handle(&db, &context, newest.into()) else {
        panic!("no changes");
    };
    assert_eq!(page.changes, changes);
    super::alarms::tell(&db, day(91).start_ms(), false);
    day_changes::take_again(&db, &changes[0]).unwrap();
    day_changes::went_back(&db, day(91).start_ms()).unwrap();
    day_changes::close_all(&db).unwrap();
    assert!(day_changes::version(&db, day(0), day(1)).unwrap() > day_changes::version(&db, day(2), day(2)).unwrap());
    reported(&db);
    // The feed's other statements are tested in `attention`.
    let feed = &[feed::GET_FEED, feed::OPEN_DAY, feed::END_ITEM];
    // The register's other statements are tested in `register`.
    let register = &[register::APPEND, register::BOUNDS, register::SWEEP, register::BLANK_LAST, register::FIRST_MS];
    platform::database::Database::execute(&db, ledger::sql::DELETE_LOAD, platform::params![1_i64]).unwrap();
    origin::objects::ledger::retention::sweep(&db, day(1_000).start_ms(), 450).unwrap();
    origin::objects::ledger::retention::due_ms(&db, 450).unwrap();
    assert_only_listed_statements(
        &db,
        &[ledger::sql::ALL, day_changes::sql::ALL, feed, register].concat(),
        ledger::MIGRATIONS,
    );
}

fn key_of(n: i64) -> Key {
    ["10000001".into(), "DE".into(), format!("placement-{n}"), "banner".into(), "house".into(), "7.0.0".into()]
}
