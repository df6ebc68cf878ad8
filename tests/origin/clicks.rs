//! `origin::objects::clicks`: the records of clicks with a short id.

use crate::{
    assert_only_listed_statements, counters_nights::Ledgers, dump, migrated, now, retry_until_answered, sqlite::Sqlite,
    storage::Storage, under_every_fault,
};
use contract::{
    clicks::{Command, Get, Put, Reply},
    operation::Bytes,
};
use domain::model::time::DAY_MS;
use origin::objects::clicks::{self, MIGRATIONS, service::ClicksService, sql};
use platform::failure::Failure;

const NOW: i64 = 1_768_478_400_000;
const WEEK_MS: i64 = 7 * 86_400_000;

fn nonce(n: u32) -> Bytes {
    Bytes([[0xff; 4], n.to_be_bytes()].concat())
}

fn put(n: u32, record: &[u8], expires_at_ms: i64) -> Command {
    Command::Put(Put { nonce: nonce(n), record: Bytes(record.to_vec()), expires_at_ms })
}

fn send(db: &Sqlite, now_ms: i64, command: Command) -> Reply {
    clicks::handle(db, now_ms, command).unwrap()
}

fn get(db: &Sqlite, now_ms: i64, n: u32) -> Option<Vec<u8>> {
    match send(db, now_ms, Command::Get(Get { nonce: nonce(n) })) {
        Reply::Found(found) => found.record.map(|record| record.0),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_record_comes_back_until_it_expires() {
    let db = migrated(MIGRATIONS);
    let record: Vec<u8> = (0..=255).cycle().take(2_000).collect();
    send(&db, NOW, put(1, &record, NOW + 10));
    assert_eq!(get(&db, NOW, 1), Some(record.clone()));
    assert_eq!(get(&db, NOW + 9, 1), Some(record));
    assert_eq!(get(&db, NOW + 10, 1), None);
    assert_eq!(get(&db, NOW, 2), None);
}

#[test]
fn the_first_record_of_a_nonce_stays() {
    let db = migrated(MIGRATIONS);
    send(&db, NOW, put(1, b"first", NOW + 10));
    send(&db, NOW, put(1, b"first", NOW + 10));
    send(&db, NOW, put(1, b"second", NOW + 99));
    assert_eq!(get(&db, NOW, 1).as_deref(), Some(&b"first"[..]));
    assert_eq!(get(&db, NOW + 10, 1), None);
}

#[test]
fn an_empty_object_sets_no_alarm() {
    let db = migrated(MIGRATIONS);
    assert_eq!(clicks::next_alarm(&db, NOW), Ok(None));
    assert_eq!(clicks::alarm(&db, NOW), Ok(None));
    send(&db, NOW, put(1, b"r", NOW + 10));
    let next = clicks::next_alarm(&db, NOW).unwrap().unwrap();
    assert!(NOW < next && next <= NOW + WEEK_MS);
    assert!(clicks::next_alarm(&db, next).unwrap() > Some(next));
}

#[test]
fn a_sweep_deletes_expired_records_in_slices() {
    let db = migrated(MIGRATIONS);
    for n in 0..12_000 {
        send(&db, NOW, put(n, b"r", if n % 3 == 0 { NOW + 1 } else { NOW + 2 * WEEK_MS }));
    }
    let mut alarms = vec![];
    let later = NOW + WEEK_MS;
    loop {
        let next = clicks::alarm(&db, later).unwrap();
        alarms.push(dump(&db, "records").len());
        if next != Some(later) {
            assert_eq!(next, clicks::next_alarm(&db, later).unwrap());
            break;
        }
    }
    assert_eq!(alarms, [10_333, 8_666, 8_000]);
    assert!(dump(&db, "sweep").is_empty());
    assert_eq!((get(&db, later, 1).is_some(), get(&db, NOW, 3).is_some()), (true, false));
    // The next sweep starts from the beginning and deletes every record.
    let last = NOW + 3 * WEEK_MS;
    assert_eq!(clicks::alarm(&db, last), Ok(Some(last)));
    assert_eq!(clicks::alarm(&db, last), Ok(None));
    assert!(dump(&db, "records").is_empty());
}

#[test]
fn a_client_that_retries_stores_its_record_after_any_failed_write() {
    let outcomes = under_every_fault(MIGRATIONS, |db| {
        for command in [put(1, b"a", NOW + 10), put(2, b"b", NOW + WEEK_MS), put(1, b"c", NOW + WEEK_MS)] {
            retry_until_answered(|| clicks::handle(db, NOW, command.clone()));
        }
        retry_until_answered(|| clicks::alarm(db, NOW + 20));
        dump(db, "records")
    });
    assert_eq!(outcomes[0].1.len(), 1);
    for (fault, left) in &outcomes {
        assert_eq!(left, &outcomes[0].1, "{fault}");
    }
}

#[test]
fn every_statement_is_listed_for_the_conformance_test() {
    let db = migrated(MIGRATIONS);
    for n in 0..5_000 {
        send(&db, NOW, put(n, b"r", NOW + 10));
    }
    get(&db, NOW, 1);
    clicks::alarm(&db, NOW).unwrap();
    clicks::alarm(&db, NOW).unwrap();
    clicks::put_back(&db, NOW).unwrap();
    assert_eq!(clicks::restored_ms(&db), Ok(NOW));
    assert_only_listed_statements(&db, sql::ALL, MIGRATIONS);
}

/// The operator may put back a newer copy, so the sender has to try again later.
#[test]
fn a_record_that_a_restore_may_have_lost_is_not_reported_missing() {
    let db = migrated(MIGRATIONS);
    send(&db, NOW, put(1, b"kept", NOW + 99 * DAY_MS));
    db.mark_put_back();
    let status = |now_ms: i64, n: u32| {
        let service = ClicksService::new(None, Storage::new(&db), Ledgers::new(now_ms));
        match now(service.command(Command::Get(Get { nonce: nonce(n) }))) {
            Ok(Reply::Found(found)) => (200, found.record.is_some()),
            Err(Failure::Refused(error)) => (error.status, false),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((status(NOW, 1), status(NOW, 2)), ((200, true), (503, false)));
    assert_eq!(status(NOW + 31 * DAY_MS - 1, 2), (503, false));
    assert_eq!(status(NOW + 31 * DAY_MS, 2), (200, false));
}
