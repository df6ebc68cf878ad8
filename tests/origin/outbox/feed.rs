//! The feed of the publisher's activity: the content of a report, that no change is lost while a report is under way,
//! and that an outbox from before the feed reports its entries.

use super::*;
use contract::{
    activity::{Command as ActivityCommand, FeedAnswer},
    rewards::{RewardDelivery, RewardKind, RewardState},
};
use domain::model::time::UtcDay;
use origin::{
    delivery::{self, feed::Feed},
    objects::{
        activity,
        outbox::feed::{self, ActivityFeed},
    },
};

/// The answer of an activity object that lacks nothing.
const HEARD: FeedAnswer = FeedAnswer { applied: true, is_incomplete: false };

/// The answer of an activity object that was lost.
const LOST: FeedAnswer = FeedAnswer { applied: true, is_incomplete: true };

/// Reports everything, the promised last report included, also to the operator's attention.
pub fn report_all(db: &Sqlite, now_ms: i64) {
    attention::report_all(db, now_ms);
    while feed::due_ms(db, now_ms).unwrap().is_some() {
        report(db, now_ms);
    }
}

/// A report that is confirmed.
fn report(db: &Sqlite, now_ms: i64) -> contract::activity::FeedBatch {
    let made = ActivityFeed(db).prepare(now_ms).unwrap().unwrap();
    ActivityFeed(db).confirm(NOW, &made, &HEARD).unwrap();
    *made.batch
}

/// An activity object that cannot be reached.
struct Unreachable(i64);

impl platform::traits::Clock for Unreachable {
    fn now_ms(&self) -> i64 {
        self.0
    }
}

impl platform::traits::ObjectCall for Unreachable {
    async fn call<O: contract::operation::Operation>(
        &self,
        to: &contract::operation::ObjectAddress,
        _operation: O,
        _timeout: std::time::Duration,
    ) -> Result<O::Answer, contract::operation::CallError> {
        assert_eq!(to.name, "activity-acme");
        Err(contract::operation::Unanswered::default().into())
    }
}

/// An activity object that applies what it is told, and counts the entries of each report.
struct Applying {
    now_ms: i64,
    entries: RefCell<Vec<usize>>,
}

impl platform::traits::Clock for Applying {
    fn now_ms(&self) -> i64 {
        self.now_ms
    }
}

impl platform::traits::ObjectCall for Applying {
    async fn call<O: contract::operation::Operation>(
        &self,
        _to: &contract::operation::ObjectAddress,
        operation: O,
        _timeout: std::time::Duration,
    ) -> Result<O::Answer, contract::operation::CallError> {
        let command = serde_json::to_value(operation.into()).unwrap();
        let ActivityCommand::Feed(report) = serde_json::from_value(command).unwrap() else {
            panic!("another call to the activity");
        };
        self.entries.borrow_mut().push(report.entries.len());
        Ok(serde_json::from_value(serde_json::json!({ "applied": true })).unwrap())
    }
}

/// The entries of each report that an alarm sends.
fn sent(db: &Sqlite, now_ms: i64) -> Vec<usize> {
    let activity = Applying { now_ms, entries: RefCell::default() };
    now(delivery::feed::send(&ActivityFeed(db), &activity)).unwrap();
    activity.entries.into_inner()
}

/// Sends a report that does not arrive.
pub fn report_in_vain(db: &Sqlite, now_ms: i64) {
    now(delivery::feed::send(&ActivityFeed(db), &Unreachable(now_ms))).unwrap();
}

/// Sends reports to objects that have lost what was told before.
pub fn report_after_a_loss(db: &Sqlite, now_ms: i64) {
    for at_ms in [now_ms, now_ms + 1_000] {
        let made = ActivityFeed(db).prepare(at_ms).unwrap().unwrap();
        ActivityFeed(db).confirm(NOW, &made, &LOST).unwrap();
    }
}

#[test]
fn an_activity_object_that_was_lost_is_told_all_again() {
    let (db, world) = with_rewards(2);
    convert(&db, &world, &conversion(3).status(Status::Pending)).unwrap();
    let first = report(&db, NOW);
    report_all(&db, NOW + 1_000);
    assert_eq!(feed::due_ms(&db, NOW + 1_000), Ok(None));
    // The night's report finds that the object knows none of its reports.
    while outbox::retention::sweep(&db, NOW + DAY_MS).unwrap() == Some(NOW + DAY_MS + SECOND_MS) {}
    let made = ActivityFeed(&db).prepare(NOW + DAY_MS).unwrap().unwrap();
    assert!(made.batch.entries.is_empty());
    ActivityFeed(&db).confirm(NOW, &made, &LOST).unwrap();
    assert!(feed::due_ms(&db, NOW + DAY_MS).unwrap().is_some());
    let again = report(&db, NOW + DAY_MS + 1_000);
    assert!(again.restarts);
    assert_eq!((again.entries, again.counts), (first.entries, first.counts));
    assert!(!report(&db, NOW + DAY_MS + 2_000).restarts);
    assert_eq!(feed::due_ms(&db, NOW + DAY_MS + 2_000), Ok(None));
}

#[test]
fn a_report_has_what_changed_and_the_next_one_only_what_changed_since() {
    let (db, world) = with_rewards(2);
    convert(&db, &world, &conversion(3).status(Status::Pending)).unwrap();
    let at_ms = world.now_ms.get();
    let first = report(&db, at_ms);
    let states: Vec<_> = first.entries.iter().map(|entry| (entry.state, entry.delivery)).collect();
    let waiting = Some(RewardDelivery::Waiting);
    assert_eq!(
        states,
        [(RewardState::Approved, waiting), (RewardState::Approved, waiting), (RewardState::Pending, None)]
    );
    assert_eq!((first.app, first.shard), (app(), 5));
    assert_eq!((first.owes_since_ms, first.at_ms), (None, at_ms));
    let entry = &first.entries[0];
    assert_eq!(entry.transaction_id, reward_id(1));
    assert_eq!(entry.user_id.as_deref(), Some("user-1"));
    assert_eq!(entry.details.kind, RewardKind::Reward);
    assert_eq!((entry.details.value.as_str(), entry.details.payout.as_str()), ("75", "0.75"));
    let counts: Vec<_> =
        first.counts.iter().map(|count| (count.day, count.state, count.rewards, count.payout_micro_usd)).collect();
    let today = UtcDay::of_ms(NOW);
    assert_eq!(counts, [(today, RewardState::Pending, 1, 0), (today, RewardState::Approved, 2, 1_500_000)]);

    let callback = claim(&db, NOW).remove(0);
    answer(&db, NOW + 500, &callback, 200);
    convert(&db, &world, &conversion(2).status(Status::Reversed)).unwrap();
    let second = report(&db, at_ms + 1_000);
    assert!(second.sequence > first.sequence);
    let shown: Vec<_> = second
        .entries
        .iter()
        .map(|entry| (entry.state, entry.delivery, entry.http_status, entry.delivered_ms))
        .collect();
    assert_eq!(
        shown,
        [
            (RewardState::Approved, Some(RewardDelivery::Delivered), Some(200), Some(NOW + 620)),
            (RewardState::Reversed, waiting, None, None),
            (RewardState::Reversed, waiting, None, None),
        ]
    );
    assert_eq!(second.entries[2].details.kind, RewardKind::Reversal);
    assert_eq!(second.entries[2].details.original_transaction_id, Some(reward_id(2)));
    // The reward stays approved on its day.
    assert_eq!(second.counts.len(), 1);
    assert_eq!(
        (second.counts[0].state, second.counts[0].rewards, second.counts[0].payout_micro_usd),
        (RewardState::Reversed, 1, -750_000)
    );
}

#[test]
fn a_change_during_a_report_is_in_the_next_one() {
    let (db, world) = with_rewards(1);
    let under_way = ActivityFeed(&db).prepare(NOW).unwrap().unwrap();
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    ActivityFeed(&db).confirm(NOW, &under_way, &HEARD).unwrap();
    let next = report(&db, NOW + 1_000);
    let states: Vec<_> = next.entries.iter().map(|entry| entry.state).collect();
    assert_eq!(states, [RewardState::Reversed, RewardState::Reversed]);
    assert_eq!(next.counts.len(), 1);
    report_all(&db, NOW + 2_000);
    assert!(dump(&db, "changed_entries").is_empty());
}

/// The attempt's claim was taken over, so its result changes nothing. But the list shows it as the last attempt.
#[test]
fn the_late_result_of_an_attempt_is_in_the_next_report() {
    let (db, _) = with_rewards(1);
    report_all(&db, NOW);
    assert_eq!(feed::due_ms(&db, NOW + 2_000), Ok(None));
    let entry = db.query_integer("SELECT entry FROM entries", &[]).unwrap().unwrap();
    let late = params![entry, NOW, 9_000_i64, 503_i64, "busy", None::<&str>];
    db.execute(outbox::sql::ADD_ATTEMPT, late).unwrap();
    assert_eq!(report(&db, NOW + 3_000).entries[0].http_status, Some(503));
}

#[test]
fn after_a_report_with_changes_comes_one_that_ends_the_promise() {
    let (db, _) = with_rewards(1);
    assert!(report(&db, NOW).next_by_ms.unwrap() > NOW);
    assert_eq!(feed::due_ms(&db, NOW), Ok(Some(NOW + 2_500)));
    let last = report(&db, NOW + 2_500);
    assert_eq!((last.next_by_ms, last.entries.len(), last.counts.len()), (None, 0, 0));
    assert_eq!(feed::due_ms(&db, NOW + 2_500), Ok(None));
}

#[test]
fn a_report_that_fails_is_tried_again_with_backoff() {
    let (db, _) = with_rewards(1);
    let mut at_ms = NOW;
    for wait_ms in [5_000, 10_000, 20_000] {
        report_in_vain(&db, at_ms);
        let due_ms = feed::due_ms(&db, at_ms).unwrap().unwrap();
        assert_eq!(due_ms, at_ms + wait_ms);
        assert_eq!(ActivityFeed(&db).sends_at_ms(), Ok(Some(due_ms)));
        at_ms = due_ms;
    }
    assert_eq!(report(&db, at_ms).entries.len(), 1);
}

#[test]
fn an_outbox_with_more_changes_than_a_report_takes_says_since_when() {
    let (db, _) = with_rewards(1);
    report_all(&db, NOW + 1_000);
    fill(&db, 450);
    let reports: Vec<_> = (0..3).map(|_| report(&db, NOW + 2_000)).collect();
    let sizes: Vec<_> = reports.iter().map(|report| report.entries.len()).collect();
    assert_eq!(sizes, [200, 200, 49]);
    // The changes count as old as the last complete report, although their numbers are older.
    let owed: Vec<_> = reports.iter().map(|report| report.owes_since_ms).collect();
    assert_eq!(owed, [Some(NOW + 1_000), Some(NOW + 1_000), None]);
}

#[test]
fn an_alarm_sends_reports_until_nothing_is_owed_or_there_were_twenty() {
    let (db, _) = with_rewards(1);
    report_all(&db, NOW + 1_000);
    fill(&db, 450);
    assert_eq!(sent(&db, NOW + 3_500), [200, 200, 49]);
    // The next changes wait, so that those of two and a half seconds share a report.
    assert!(sent(&db, NOW + 5_500).is_empty());
    fill(&db, 4_951);
    assert_eq!(sent(&db, NOW + 6_000), [200; 20]);
    assert_eq!(feed::due_ms(&db, NOW + 6_000), Ok(Some(NOW + 8_500)));
    assert_eq!(sent(&db, NOW + 8_500), [200, 200, 101]);
}

#[test]
fn an_entry_that_this_code_cannot_read_does_not_stop_the_others() {
    let (db, _) = with_rewards(3);
    let sql = "UPDATE entries SET fields = json_remove(fields, '$.payout') WHERE transaction_id = ?";
    db.execute(sql, params![reward_id(2)]).unwrap();
    db.execute("INSERT INTO reward_counts VALUES (20468, 99, 1, 0, 1, 0)", &[]).unwrap();
    let first = report(&db, NOW);
    let reported: Vec<_> = first.entries.iter().map(|entry| &entry.transaction_id).collect();
    assert_eq!(reported, [&reward_id(1), &reward_id(3)]);
    assert_eq!((first.counts.len(), first.owes_since_ms), (1, None));
    // The unreadable entry is tried once, and again when it has changed.
    report_all(&db, NOW + 1_000);
    db.execute("UPDATE entries SET fields = json_set(fields, '$.payout', '0.75')", &[]).unwrap();
    assert_eq!(report(&db, NOW + 2_000).entries.len(), 1);
}

#[test]
fn a_report_that_cannot_be_made_is_put_off() {
    let (db, _) = with_rewards(1);
    let broken = "ALTER TABLE attempts RENAME COLUMN ms TO lost";
    db.execute(broken, &[]).unwrap();
    for (at_ms, wait_ms) in [(NOW, 5_000), (NOW + 5_000, 10_000)] {
        now(delivery::feed::send(&ActivityFeed(&db), &Unreachable(at_ms))).unwrap_err();
        assert_eq!(feed::due_ms(&db, at_ms), Ok(Some(at_ms + wait_ms)));
    }
    db.execute("ALTER TABLE attempts RENAME COLUMN lost TO ms", &[]).unwrap();
    assert_eq!(sent(&db, NOW + 15_000), [1]);
}

#[test]
fn an_erased_user_leaves_with_the_next_report() {
    let (db, _) = delivered();
    report_all(&db, NOW);
    outbox::erasure::erase(&db, NOW, shard(), "ann").unwrap();
    let report = report(&db, NOW + 1_000);
    assert_eq!(report.entries.len(), 2);
    assert!(report.entries.iter().all(|entry| entry.user_id.is_none()));
    assert!(!serde_json::to_string(&report).unwrap().contains("ann"));
}

#[test]
fn the_endpoints_state_is_reported_when_it_changes() {
    let (db, _) = with_rewards(1);
    report_all(&db, NOW);
    apply_settings(&db, NOW, &settings(2, false));
    let report = report(&db, NOW + 1_000);
    assert_eq!(report.endpoint.state, contract::outbox::EndpointState::None);
    assert_eq!((report.endpoint.waiting, report.endpoint.dead), (1, 0));
}

#[test]
fn the_activity_object_has_what_was_reported() {
    let (db, world) = with_rewards(2);
    convert(&db, &world, &conversion(2).status(Status::Reversed)).unwrap();
    let activity = migrated(activity::MIGRATIONS);
    let command = ActivityCommand::Feed(Box::new(report(&db, NOW)));
    for applied in [true, false] {
        let reply = activity::handle(&activity, NOW, command.clone()).unwrap();
        assert_eq!(
            serde_json::to_value(&reply).unwrap(),
            serde_json::json!({ "applied": applied, "is_incomplete": false })
        );
    }
    assert_eq!(dump(&activity, "entries").len(), 3);
}
