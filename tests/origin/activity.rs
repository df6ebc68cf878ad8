//! The activity object: reports that come twice, late or out of order, sums over outboxes, and how far it is behind.

mod replays;
mod rewards;

use crate::{assert_only_listed_statements, dump, migrated, sqlite::Sqlite, under_every_fault};
use contract::{
    activity::{
        Activity, Command, Counts, EndpointStanding, FeedBatch, FeedEntry, FindOutbox, KEPT_ENTRIES, ListRewards,
        ReadActivity, Reply, RewardCount, RewardDetails, RewardPage,
    },
    outbox::EndpointState,
    register::{Announce, ReadRegister},
    rewards::{RewardDelivery, RewardFilter, RewardKind, RewardState},
};
use domain::model::{
    AppId,
    time::{DAY_MS, UtcDay},
};
use origin::{
    delivery::register,
    objects::activity::{
        MIGRATIONS, handle,
        publisher::{feed_batches::DAYS, sql},
        sweep,
    },
};
use platform::{database::Database, failure::Failure};

/// Noon of 2026-01-15, UTC.
const NOW: i64 = 1_768_478_400_000;

fn app(number: u32) -> AppId {
    AppId::from_number(number).unwrap()
}

fn today() -> UtcDay {
    UtcDay::of_ms(NOW)
}

/// The nth entry of an outbox.
fn number(shard: u8, nth: i64) -> i64 {
    (NOW + nth) * 1_024 + i64::from(shard)
}

fn entry(shard: u8, nth: i64) -> FeedEntry {
    FeedEntry {
        entry: number(shard, nth),
        transaction_id: format!("t-{shard}-{nth}"),
        state: RewardState::Approved,
        delivery: Some(RewardDelivery::Waiting),
        http_status: None,
        user_id: Some(format!("user-{nth}")),
        conversion_ts: NOW / 1_000 + nth,
        delivered_ms: None,
        details: RewardDetails {
            kind: RewardKind::Reward,
            original_transaction_id: None,
            code: Some("too_fast".into()),
            offer_id: "o-1".into(),
            goal_id: "g-1".into(),
            value: "75.00".into(),
            payout: "0.75".into(),
            currency: "Coins".into(),
            click_ts: 1,
            attempts: 0,
        },
    }
}

fn report(number: u32, shard: u8, sequence: i64) -> FeedBatch {
    FeedBatch {
        app: app(number),
        shard,
        sequence,
        confirmed: 0,
        restarts: false,
        at_ms: NOW,
        owes_since_ms: None,
        next_by_ms: None,
        endpoint: EndpointStanding { state: EndpointState::Healthy, ..EndpointStanding::default() },
        counts: vec![],
        entries: vec![],
    }
}

fn count(day: UtcDay, state: RewardState, rewards: i64) -> RewardCount {
    RewardCount { day, state, rewards, payout_micro_usd: rewards * 750_000 }
}

fn apply(db: &Sqlite, report: &FeedBatch) -> bool {
    match handle(db, NOW, Command::Feed(Box::new(report.clone()))) {
        Ok(Reply::FeedAnswer(heard)) => heard.applied,
        other => panic!("{other:?}"),
    }
}

fn read(db: &Sqlite, now_ms: i64) -> Activity {
    let from = UtcDay::of_ms(now_ms).minus(29);
    match handle(db, now_ms, Command::Read(ReadActivity { from })) {
        Ok(Reply::Activity(activity)) => activity,
        other => panic!("{other:?}"),
    }
}

fn list(filter: RewardFilter) -> ListRewards {
    ListRewards { app: None, filter, limit: 3, before: None, after: None, is_analyst: false }
}

fn page(db: &Sqlite, list: ListRewards) -> RewardPage {
    match handle(db, NOW, Command::List(Box::new(list))) {
        Ok(Reply::Page(page)) => page,
        other => panic!("{other:?}"),
    }
}

fn ids(page: &RewardPage) -> Vec<&str> {
    page.rewards.iter().map(|reward| reward.transaction_id.as_str()).collect()
}

#[test]
fn reports_that_come_twice_or_late_change_nothing() {
    let db = migrated(MIGRATIONS);
    let earlier = FeedBatch {
        counts: vec![count(today(), RewardState::Pending, 4)],
        entries: vec![FeedEntry { state: RewardState::Pending, ..entry(1, 1) }],
        ..report(1, 1, 10)
    };
    let later = FeedBatch {
        counts: vec![count(today(), RewardState::Pending, 1), count(today(), RewardState::Approved, 3)],
        entries: vec![entry(1, 1)],
        ..report(1, 1, 11)
    };
    assert!(apply(&db, &earlier) && apply(&db, &later));
    let before = ["entries", "counts", "outboxes", "outbox_counts", "activity"].map(|table| dump(&db, table));
    assert!(!apply(&db, &later) && !apply(&db, &earlier));
    let after = ["entries", "counts", "outboxes", "outbox_counts", "activity"].map(|table| dump(&db, table));
    assert_eq!(before, after);
    let counts = read(&db, NOW).days[0].counts;
    assert_eq!((counts.pending, counts.approved, counts.approved_micro_usd), (1, 3, 2_250_000));
}

#[test]
fn a_confirmed_report_that_was_lost_is_missed_until_the_outbox_restarts() {
    let db = migrated(MIGRATIONS);
    let told = |sequence, confirmed, restarts| {
        let report = FeedBatch { confirmed, restarts, ..report(1, 1, sequence) };
        match handle(&db, NOW, Command::Feed(Box::new(report))) {
            Ok(Reply::FeedAnswer(heard)) => heard.is_incomplete,
            other => panic!("{other:?}"),
        }
    };
    assert!(!told(1, 0, false));
    // The answer to the first was lost, and the second did not arrive.
    assert!(!told(3, 1, false));
    for sequence in [9, 10, 10] {
        assert!(told(sequence, 5, false));
    }
    assert!(!told(11, 10, true));
    assert!(!told(12, 11, false));
}

#[test]
fn a_report_whose_answer_was_lost_is_applied_once_whatever_write_failed() {
    let report = FeedBatch {
        counts: vec![count(today(), RewardState::Approved, 2)],
        entries: vec![entry(1, 1), entry(1, 2)],
        ..report(1, 1, 1)
    };
    let outcomes = under_every_fault(MIGRATIONS, |db| {
        crate::retry_until_answered(|| handle(db, NOW, Command::Feed(Box::new(report.clone()))));
        ["entries", "counts", "outbox_counts", "outboxes"].map(|table| dump(db, table))
    });
    for (fault, tables) in &outcomes {
        assert_eq!(tables, &outcomes[0].1, "{fault}");
    }
}

#[test]
fn counts_are_summed_over_outboxes_and_shown_by_day_and_app() {
    let db = migrated(MIGRATIONS);
    let yesterday = today().minus(1);
    for (number, shard, rewards) in [(1, 0, 1), (1, 1, 2), (2, 0, 4)] {
        let report = FeedBatch {
            counts: vec![
                count(today(), RewardState::Approved, rewards),
                count(yesterday, RewardState::Held, rewards),
                // Too old to be kept.
                count(today().minus(92), RewardState::Approved, 100),
            ],
            endpoint: EndpointStanding {
                state: if shard == 1 { EndpointState::Disabled } else { EndpointState::Healthy },
                disabled_ms: (shard == 1).then_some(NOW),
                waiting: 3,
                dead: 1,
            },
            ..report(number, shard, 1)
        };
        apply(&db, &report);
    }
    let activity = read(&db, NOW);
    let days: Vec<_> = activity.days.iter().map(|day| (day.day, day.counts.approved, day.counts.held)).collect();
    assert_eq!(days, [(yesterday, 0, 7), (today(), 7, 0)]);
    let apps: Vec<_> = activity
        .apps
        .iter()
        .map(|of| (of.app, of.counts.approved, of.endpoint.state, of.endpoint.disabled_ms, of.endpoint.waiting))
        .collect();
    assert_eq!(
        apps,
        [(app(1), 3, EndpointState::Disabled, Some(NOW), 6), (app(2), 4, EndpointState::Healthy, None, 3)]
    );
    assert_eq!(dump(&db, "counts").len(), 4);
}

#[test]
fn it_says_how_far_it_is_behind() {
    let db = migrated(MIGRATIONS);
    assert_eq!(read(&db, NOW).behind_ms, 0);
    apply(&db, &FeedBatch { next_by_ms: Some(NOW + 4_000), ..report(1, 0, 1) });
    apply(&db, &report(1, 1, 1));
    assert_eq!(read(&db, NOW + 4_000).behind_ms, 0);
    // The promised report did not arrive.
    assert_eq!(read(&db, NOW + 5_000).behind_ms, 5_000);
    apply(&db, &report(1, 0, 2));
    assert_eq!(read(&db, NOW + 60_000).behind_ms, 0);
    apply(&db, &FeedBatch { owes_since_ms: Some(NOW - 700), ..report(1, 1, 2) });
    assert_eq!(read(&db, NOW).behind_ms, 700);
    assert_eq!(page(&db, list(RewardFilter::default())).behind_ms, 700);
}

#[test]
fn the_first_conversion_and_the_first_callback_stay_the_first() {
    let db = migrated(MIGRATIONS);
    assert_eq!(read(&db, NOW).first_conversion_ms, None);
    for (sequence, nth, delivered_ms) in [(1, 5, None), (2, 3, Some(NOW + 9)), (3, 4, Some(NOW + 8)), (4, 6, None)] {
        let told = FeedEntry { delivered_ms, ..entry(0, nth) };
        apply(&db, &FeedBatch { entries: vec![told], ..report(1, 0, sequence) });
    }
    let activity = read(&db, NOW);
    assert_eq!(activity.first_conversion_ms, Some(NOW + 3));
    assert_eq!(activity.first_callback_ms, Some(NOW + 8));
}

#[test]
fn it_runs_exactly_its_listed_statements_and_forgets_what_has_expired() {
    let db = migrated(MIGRATIONS);
    assert_eq!(sweep::next_alarm(&db, NOW), Ok(None));
    let entries = (0..500).map(|nth| entry(0, nth)).collect();
    let counts = vec![count(today(), RewardState::Approved, 500)];
    apply(&db, &FeedBatch { entries, counts, ..report(1, 0, 1) });
    read(&db, NOW);
    page(&db, list(RewardFilter::default()));
    page(&db, ListRewards { after: Some(0), ..list(RewardFilter::default()) });
    for (shard, found) in [(Some(0), true), (None, true), (Some(1), false)] {
        let find = Command::Find(FindOutbox { app: app(1), shard });
        let reply = serde_json::to_value(handle(&db, NOW, find).unwrap()).unwrap();
        assert_eq!(reply, serde_json::json!({ "found": found }));
    }
    replays::run_replays(&db);
    handle(&db, NOW, Announce { at_ms: NOW }.into()).unwrap();
    handle(&db, NOW, ReadRegister { after: 0 }.into()).unwrap();
    for sequence in 2..60 {
        let entries = (0..200).map(|nth| entry(0, sequence * 200 + nth)).collect();
        apply(&db, &FeedBatch { entries, ..report(1, 0, sequence) });
    }
    assert!(sweep::sweep(&db, NOW + DAY_MS).unwrap().is_some());
    assert_eq!(read(&db, NOW).apps[0].counts.approved, 500);
    sweep::sweep(&db, NOW + DAYS * DAY_MS).unwrap();
    assert_eq!(read(&db, NOW + DAYS * DAY_MS).apps[0].counts, Counts::default());
    assert_eq!(sweep::sweep(&db, NOW + 402 * DAY_MS), Ok(None));
    assert!(page(&db, list(RewardFilter::default())).rewards.is_empty());
    // The statements of the operator's list are tested in `attention`.
    let sizes = origin::objects::activity::attention::sql::OF_SWEEP;
    let fixture = ["UPDATE replays SET due_ms = 0"];
    let register = &[register::BOUNDS, register::BLANK_LAST, register::FIRST_MS, register::LAST, register::LIST];
    let alarms = origin::objects::activity::alarms::sql::OF_SWEEP;
    let all = [sql::ALL, sizes, alarms, &fixture, register, register::announced::ALL];
    assert_only_listed_statements(&db, &all.concat(), MIGRATIONS);
}
