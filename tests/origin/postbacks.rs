//! The postbacks of an advertiser: the newest are kept, others counted, at most a report a second, in bounded room.

use crate::{assert_only_listed_statements, dump, migrated, sqlite::Sqlite, under_every_fault};
use contract::postbacks::{Command, ListPostbacks, MAX_IN_BATCH, PostbackBatch, PostbackPage, ReceivedPostback, Reply};
use domain::{
    conversions::received::ShownParameter,
    model::{AdvertiserId, AppId, time::DAY_MS},
};
use origin::objects::postbacks::{
    MAX, MAX_PAGE, MAX_UNSIGNED, MIGRATIONS, Unwritten, handle, sql,
    sweep::{RETENTION_MS, next_alarm, sweep},
};
use platform::database::{Database, DatabaseError};

/// Noon of 2026-01-15, UTC.
const NOW: i64 = 1_768_478_400_000;

struct Object {
    db: Sqlite,
    unwritten: Unwritten,
}

impl Object {
    fn new() -> Self {
        Self { db: migrated(MIGRATIONS), unwritten: Unwritten::default() }
    }

    fn report(&self, now_ms: i64, numbers: impl IntoIterator<Item = i64>, not_shown: u64) {
        let postbacks = numbers.into_iter().map(|n| postback(n, now_ms)).collect();
        let report = PostbackBatch { postbacks, not_shown, tokens: Vec::new() };
        handle(&self.db, &self.unwritten, now_ms, Command::Add(report)).unwrap();
    }

    fn page(&self, list: ListPostbacks) -> PostbackPage {
        match handle(&self.db, &self.unwritten, NOW, Command::List(list)) {
            Ok(Reply::Page(page)) => page,
            other => panic!("{other:?}"),
        }
    }

    fn first_page(&self, limit: u32) -> PostbackPage {
        self.page(list(limit, None, None))
    }
}

fn list(limit: u32, before: Option<i64>, code: Option<&str>) -> ListPostbacks {
    ListPostbacks { limit, before, code: code.map(str::to_owned) }
}

/// The nth postback; each third is a duplicate.
fn postback(n: i64, at_ms: i64) -> ReceivedPostback {
    ReceivedPostback {
        at_ms,
        method: "GET".into(),
        parameters: vec![ShownParameter { name: "txn".into(), value: n.to_string() }],
        advertiser: None,
        http_status: 200,
        code: if n % 3 == 0 { "duplicate" } else { "approved" }.into(),
        transaction_id: Some(format!("t-{n}")),
        app: AppId::from_number(42),
        offer: Some("o-1".into()),
        goal: None,
        is_unsigned: false,
    }
}

fn ids(page: &PostbackPage) -> Vec<i64> {
    let ids = page.postbacks.iter();
    ids.map(|postback| postback.parameters[0].value.parse().unwrap()).collect()
}

#[test]
fn the_newest_postbacks_come_first_in_pages_none_of_which_is_empty_with_a_cursor() {
    let object = Object::new();
    let empty = object.first_page(10);
    assert_eq!(empty, PostbackPage::default());
    object.report(NOW, 0..5, 0);
    object.report(NOW + 1_000, 5..8, 2);
    let page = object.first_page(8);
    assert_eq!((ids(&page), page.next), ((0..8).rev().collect(), None));
    assert_eq!((page.not_shown, page.since_ms), (2, Some(NOW)));
    assert_eq!(page.postbacks[7], postback(0, NOW));

    let page = object.first_page(5);
    assert_eq!(ids(&page), [7, 6, 5, 4, 3]);
    let page = object.page(list(5, page.next, None));
    assert_eq!((ids(&page), page.next), (vec![2, 1, 0], None));

    let page = object.page(list(2, None, Some("duplicate")));
    assert_eq!(ids(&page), [6, 3]);
    let page = object.page(list(2, page.next, Some("duplicate")));
    assert_eq!((ids(&page), page.next), (vec![0], None));
    let page = object.page(list(2, None, Some("invalid_token")));
    assert_eq!((ids(&page), page.next), (vec![], None));
}

#[test]
fn a_report_within_a_second_of_the_last_one_is_only_counted_and_written_with_the_next() {
    let object = Object::new();
    object.report(NOW, [1], 0);
    object.db.inject(crate::Faults::none());
    for ms in [0, 1, 999] {
        object.report(NOW + ms, [2, 3], 4);
    }
    assert_eq!(object.db.writes(), 0);
    let page = object.first_page(10);
    assert_eq!((ids(&page), page.not_shown), (vec![1], 18));
    object.report(NOW + 1_000, [4], 0);
    let page = object.first_page(10);
    assert_eq!((ids(&page), page.not_shown), (vec![4, 1], 18));
    // A clock that was set back.
    object.report(NOW - DAY_MS, [5], 1);
    let page = object.first_page(10);
    assert_eq!((ids(&page), page.not_shown), (vec![5, 4, 1], 19));
}

#[test]
fn the_last_use_of_each_token_is_kept_even_if_its_postbacks_are_not() {
    let object = Object::new();
    let report = |now_ms: i64, tokens: &[(i64, i64)]| {
        let report = PostbackBatch { postbacks: vec![postback(1, now_ms)], not_shown: 0, tokens: tokens.to_vec() };
        handle(&object.db, &object.unwritten, now_ms, Command::Add(report)).unwrap();
    };
    let used = || object.first_page(1).tokens.into_iter().collect::<Vec<_>>();
    report(NOW, &[(7, NOW - 5)]);
    assert_eq!(used(), [(7, NOW - 5)]);
    // Within a second: not written yet.
    report(NOW + 10, &[(7, NOW - 9), (8, NOW + 10)]);
    assert_eq!(dump(&object.db, "tokens").len(), 1);
    assert_eq!(used(), [(7, NOW - 5), (8, NOW + 10)]);
    report(NOW + 1_000, &[(7, NOW + 1_000)]);
    assert_eq!(used(), [(7, NOW + 1_000), (8, NOW + 10)]);
    assert_eq!(dump(&object.db, "tokens").len(), 2);
    sweep(&object.db, NOW + 11 + RETENTION_MS).unwrap();
    assert_eq!(used(), [(7, NOW + 1_000)]);
}

#[test]
fn at_most_a_thousand_are_kept_and_of_a_report_no_more_than_it_may_have() {
    let object = Object::new();
    let step = i64::try_from(MAX_IN_BATCH).unwrap();
    let mut now_ms = NOW;
    for report in 0..40 {
        object.report(now_ms, report * step..(report + 1) * step, 0);
        now_ms += 1_000;
    }
    let kept = i64::try_from(dump(&object.db, "postbacks").len()).unwrap();
    assert_eq!(kept, MAX);
    let page = object.first_page(1_000_000);
    assert_eq!(page.postbacks.len(), usize::try_from(MAX_PAGE).unwrap());
    assert_eq!((ids(&page)[0], page.not_shown), (40 * step - 1, 0));

    object.report(now_ms, 0..step + 3, 0);
    assert_eq!(object.first_page(1).not_shown, 3);
    // A postback that is too large.
    let mut large = postback(1, now_ms);
    large.parameters[0].value = "x".repeat(9 << 10);
    let report = PostbackBatch { postbacks: vec![large, postback(2, now_ms)], not_shown: 0, tokens: Vec::new() };
    handle(&object.db, &object.unwritten, now_ms + 1_000, Command::Add(report)).unwrap();
    let page = object.first_page(1);
    assert_eq!((ids(&page), page.not_shown), (vec![2], 4));
}

/// Anybody who clicks has a click id, and may send it without a token any number of times.
#[test]
fn postbacks_without_a_token_push_out_none_of_the_others() {
    let object = Object::new();
    let strangers = |now_ms: i64, step: i64| {
        let of_step = (step * 32..(step + 1) * 32).map(|n| ReceivedPostback {
            is_unsigned: true,
            code: "invalid_token".into(),
            ..postback(n, now_ms)
        });
        let batch = PostbackBatch { postbacks: of_step.collect(), not_shown: 0, tokens: Vec::new() };
        handle(&object.db, &object.unwritten, now_ms, Command::Add(batch)).unwrap();
    };
    object.report(NOW, 0..32, 0);
    for step in 0..100 {
        let now_ms = NOW + step * 1_000;
        strangers(now_ms, step);
        // Strangers' reports do not use up the one report a second of the others.
        if step > 0 {
            object.report(now_ms + 1, [100 + step], 0);
        }
    }
    let count = |sql: &str| object.db.query_integer(sql, &[]).unwrap().unwrap();
    assert_eq!(count("SELECT COUNT(*) FROM postbacks WHERE is_unsigned"), MAX_UNSIGNED);
    assert_eq!(count("SELECT COUNT(*) FROM postbacks WHERE NOT is_unsigned"), 32 + 99);
    let newest = object.page(list(200, None, Some("invalid_token")));
    assert_eq!((ids(&newest)[0], newest.postbacks.len()), (100 * 32 - 1, 100));
    assert_eq!(newest.not_shown, 0);
}

/// In the list of all advertisers, a busy one does not displace the others.
#[test]
fn each_advertiser_has_its_part_of_the_list_of_all() {
    let object = Object::new();
    let report = |advertiser: &str, number: i64, at_ms: i64, is_unsigned: bool| {
        let one = ReceivedPostback {
            http_status: if number < 0 { 200 } else { 400 },
            code: "missing_field".into(),
            is_unsigned,
            ..postback(number, at_ms)
        };
        let capped = ReceivedPostback { http_status: 409, code: "conversion_capped".into(), ..one.clone() };
        let batch = PostbackBatch { postbacks: vec![capped, one], ..PostbackBatch::default() };
        if let Some(refused) = batch.refused(&AdvertiserId::parse(advertiser).unwrap()) {
            handle(&object.db, &object.unwritten, at_ms, Command::Add(refused)).unwrap();
        }
    };
    let shown = |is_unsigned: bool| -> Vec<_> {
        let all = object.first_page(200).postbacks;
        let some = all.iter().filter(|one| one.is_unsigned == is_unsigned);
        some.map(|one| one.advertiser.clone().unwrap().to_string()).collect()
    };
    report("quiet", 0, NOW, false);
    // In the same second.
    report("busy", 1, NOW, false);
    assert_eq!(shown(false), ["busy", "quiet"]);
    report("busy", 2, NOW + 999, false);
    report("busy", -1, NOW + 1_000, false);
    assert_eq!((shown(false).len(), object.first_page(1).not_shown), (2, 1));
    for second in 1..200 {
        report("busy", second, NOW + second * 1_000, false);
        report("strange", second, NOW + second * 1_000, true);
    }
    let signed = shown(false);
    assert_eq!((signed.len(), signed.last().unwrap().as_str()), (51, "quiet"));
    assert_eq!(shown(true).len(), 10);
}

#[test]
fn postbacks_leave_after_90_days() {
    let object = Object::new();
    assert_eq!(next_alarm(&object.db, NOW), Ok(None));
    object.report(NOW, [1], 7);
    object.report(NOW + 1_000, [2], 0);
    let next = next_alarm(&object.db, NOW).unwrap().unwrap();
    assert!(NOW < next && next <= NOW + DAY_MS);
    sweep(&object.db, NOW + RETENTION_MS).unwrap();
    assert_eq!(ids(&object.first_page(10)), [2, 1]);
    sweep(&object.db, NOW + RETENTION_MS + 1).unwrap();
    assert_eq!(ids(&object.first_page(10)), [2]);
    assert_eq!(sweep(&object.db, NOW + RETENTION_MS + DAY_MS), Ok(None));
    let page = object.first_page(10);
    assert_eq!((ids(&page), page.not_shown), (vec![], 7));
}

#[test]
fn a_failed_write_keeps_nothing_of_a_report_or_all_of_it() {
    let outcomes = under_every_fault(MIGRATIONS, |db| {
        let unwritten = Unwritten::default();
        let report =
            PostbackBatch { postbacks: vec![postback(1, NOW), postback(2, NOW)], not_shown: 3, tokens: vec![(7, NOW)] };
        let reported: Result<_, DatabaseError> = handle(db, &unwritten, NOW, Command::Add(report));
        let is_ok = reported.is_ok();
        let rows = dump(db, "postbacks").len();
        (is_ok, rows)
    });
    for (fault, (is_ok, rows)) in outcomes {
        assert!(rows == 2 || (rows == 0 && !is_ok), "{fault}: {is_ok} {rows}");
    }
}

#[test]
fn a_postbacks_object_runs_exactly_its_listed_statements() {
    let object = Object::new();
    object.report(NOW, [1], 0);
    let refused = ReceivedPostback { advertiser: AdvertiserId::parse("a"), ..postback(2, NOW) };
    let refused = PostbackBatch { postbacks: vec![refused], ..PostbackBatch::default() };
    handle(&object.db, &object.unwritten, NOW, Command::Add(refused)).unwrap();
    object.first_page(10);
    sweep(&object.db, NOW).unwrap();
    assert_only_listed_statements(&object.db, sql::ALL, MIGRATIONS);
}
