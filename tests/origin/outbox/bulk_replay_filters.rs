//! The filter of a publisher's replay: it counts and sends the rewards that the list shows with the same conditions, if
//! they can be sent.

use super::{super::plan, *};
use contract::{
    activity::{Command as ActivityCommand, ListRewards, ListedReward, Reply as ActivityReply},
    outbox::{ReplayRewards, Replayed},
    rewards::{RewardDelivery, RewardFilter, RewardKind, RewardState},
};
use domain::{conversions::table::Action, model::PublisherId};
use origin::{
    delivery::feed::Feed,
    objects::{
        activity,
        outbox::{callbacks::bulk_replay, erasure, feed::ActivityFeed},
    },
};
use std::collections::BTreeSet;

const ALL: Events = Events { approved: true, reversed: true, pending: true, rejected: true };
const NOW_S: i64 = NOW / SECOND_MS;

/// Rewards in each state, with callbacks in each state: of six clicks an hour apart, and two that were paid two days later.
fn every_state() -> (Sqlite, World) {
    let (db, world) = (outbox(), World::paying_each_click());
    world.events.set(ALL);
    apply_settings(&db, NOW, &settings(1, true));
    let statuses =
        [Status::Approved, Status::Pending, Status::Rejected, Status::Approved, Status::Pending, Status::Pending];
    for (n, status) in (1..).zip(statuses) {
        let user = if n % 2 == 0 { "even" } else { "odd" };
        convert(&db, &world, &conversion(n).status(status).user(user)).unwrap();
        end_some(&db, world.now_ms.get(), n);
        world.pass(3_600_000);
    }
    convert(&db, &world, &conversion(4).user("even").status(Status::Reversed)).unwrap();
    end_some(&db, world.now_ms.get(), 7);
    world.hold(|offer, _| offer.min_seconds_to_convert = Some(10 * 86_400));
    convert(&db, &world, &conversion(7)).unwrap();
    world.hold(|offer, _| offer.min_seconds_to_convert = None);
    convert(&db, &world, &conversion(8).user("gone")).unwrap();
    send_all(&db, world.now_ms.get(), 200);
    erasure::erase(&db, NOW, shard(), "gone").unwrap();
    world.pass(2 * DAY_MS);
    for n in [5, 6] {
        let user = if n % 2 == 0 { "even" } else { "odd" };
        convert(&db, &world, &conversion(n).user(user)).unwrap();
        end_some(&db, world.now_ms.get(), n);
    }
    settlement::settle(&db, &world, &reward_id(2), Action::Reject, &[]).unwrap();
    (db, world)
}

/// Ends the callbacks that are due, each in another way; some wait.
fn end_some(db: &Sqlite, now_ms: i64, n: u8) {
    let events = if n == 3 { DEFAULT_EVENTS } else { ALL };
    for (nth, callback) in (n..).zip(claim_of(db, now_ms, events)) {
        match nth % 4 {
            0 => answer(db, now_ms, &callback, 200),
            1 => abort(db, now_ms, &callback),
            2 => answer(db, now_ms, &callback, 503),
            _ => {}
        }
    }
}

/// The rewards that the list shows with the conditions of a replay.
fn listed(db: &Sqlite, now_ms: i64, filter: &RewardFilter) -> Vec<ListedReward> {
    let activity = migrated(activity::MIGRATIONS);
    let report = ActivityFeed(db).prepare(now_ms).unwrap().unwrap().batch;
    activity::handle(&activity, now_ms, ActivityCommand::Feed(report)).unwrap();
    let list = ListRewards {
        app: Some(app()),
        filter: filter.clone(),
        limit: 200,
        before: None,
        after: None,
        is_analyst: false,
    };
    match activity::handle(&activity, now_ms, ActivityCommand::List(Box::new(list))).unwrap() {
        ActivityReply::Page(page) => page.rewards,
        other => panic!("{other:?}"),
    }
}

pub fn step(db: &Sqlite, now_ms: i64, filter: &RewardFilter, after: i64, limit: u32, entries: i64) -> Replayed {
    let step = ReplayRewards {
        publisher: PublisherId::parse("acme").unwrap(),
        filter: filter.clone(),
        after,
        limit,
        step: None,
    };
    bulk_replay::step(db, now_ms, &step, CLAIM_MS, entries).unwrap()
}

/// Makes all steps, and returns how many callbacks they counted or sent.
pub fn steps(db: &Sqlite, now_ms: i64, filter: &RewardFilter, limit: u32, entries: i64) -> i64 {
    let (mut after, mut sum) = (0, 0);
    loop {
        let made = step(db, now_ms, filter, after, limit, entries);
        sum += made.replayed;
        match made.next {
            Some(next) => after = next,
            None => return sum,
        }
    }
}

/// Every combination of conditions that the world tells apart.
fn filters(db: &Sqlite, now_ms: i64) -> Vec<RewardFilter> {
    let all = RewardFilter { until: Some(now_ms / SECOND_MS + 1), ..RewardFilter::default() };
    let some = |values: &[u8]| values.iter().copied().map(Some).chain([None]).collect::<Vec<_>>();
    let states: Vec<_> = some(&[0, 1, 2, 3, 4, 5]);
    let deliveries = some(&[0, 1, 2, 3, 4]);
    let times = [
        (None, all.until),
        (Some(NOW_S + 3_600), Some(NOW_S + 4 * 3_600)),
        (Some(NOW_S + 86_400), all.until),
        (None, Some(NOW_S + 86_400)),
    ];
    let ids = dump(db, "entries").len();
    assert!(ids > 12, "{ids}");
    let mut filters = vec![];
    for state in states {
        for delivery in &deliveries {
            for http_status in [None, Some(200), Some(400), Some(503)] {
                for (from, until) in times {
                    for user in [None, Some("even"), Some("gone")] {
                        filters.push(RewardFilter {
                            state: state.and_then(RewardState::from_number),
                            delivery: delivery.and_then(RewardDelivery::from_number),
                            http_status,
                            from,
                            until,
                            user_id: user.map(str::to_owned),
                            transaction_id: None,
                        });
                    }
                }
            }
        }
    }
    for id in [reward_id(1), reward_id(4), reversal_id(4), reward_id(8), "none".into()] {
        filters.push(RewardFilter { transaction_id: Some(id), ..all.clone() });
    }
    filters
}

/// The callbacks among these that can be sent.
fn sendable(listed: &[ListedReward]) -> BTreeSet<String> {
    let sent = listed.iter().filter(|reward| reward.delivery.is_some() && reward.user_id.is_some());
    sent.map(|reward| reward.transaction_id.clone()).collect()
}

#[test]
fn a_count_equals_the_list_with_the_same_conditions() {
    let (db, world) = every_state();
    let now_ms = world.now_ms.get();
    let mut counts = BTreeSet::new();
    for filter in filters(&db, now_ms) {
        let expected = i64::try_from(sendable(&listed(&db, now_ms, &filter)).len()).unwrap();
        for entries in [1, 3, bulk_replay::STEP] {
            assert_eq!(steps(&db, now_ms, &filter, 0, entries), expected, "{filter:?} by {entries}");
        }
        counts.insert(expected);
    }
    // The world tells the conditions apart.
    assert!(counts.len() > 6, "{counts:?}");
}

#[test]
fn a_replay_sends_what_it_counts_and_the_reversals_of_its_rewards() {
    let conditions = |change: fn(&mut RewardFilter)| {
        let mut filter = RewardFilter { until: Some(NOW_S + 30 * 86_400), ..RewardFilter::default() };
        change(&mut filter);
        filter
    };
    for filter in [
        conditions(|_| {}),
        conditions(|filter| filter.state = Some(RewardState::Approved)),
        conditions(|filter| filter.state = Some(RewardState::Reversed)),
        conditions(|filter| filter.delivery = Some(RewardDelivery::Dead)),
        conditions(|filter| filter.delivery = Some(RewardDelivery::NotWanted)),
        conditions(|filter| filter.http_status = Some(503)),
        conditions(|filter| filter.user_id = Some("even".into())),
        conditions(|filter| filter.transaction_id = Some(reward_id(4))),
        conditions(|filter| filter.from = Some(NOW_S + 86_400)),
    ] {
        for (limit, entries) in [(100, bulk_replay::STEP), (1, 1)] {
            let (db, world) = every_state();
            let later = world.now_ms.get() + DAY_MS;
            let shown = listed(&db, world.now_ms.get(), &filter);
            let expected = sendable(&shown);
            assert!(!expected.is_empty(), "{filter:?}");
            // Nothing else is due.
            db.execute("UPDATE entries SET due_ms = ? WHERE delivery = 0", params![later + DAY_MS]).unwrap();
            let (mut after, mut sent, mut replayed) = (0, vec![], 0);
            loop {
                let made = step(&db, later, &filter, after, limit, entries);
                replayed += made.replayed;
                sent.extend(send_all_of(&db, later));
                match made.next {
                    Some(next) => after = next,
                    None => break,
                }
            }
            let once: BTreeSet<String> = sent.iter().cloned().collect();
            assert_eq!(once.len(), sent.len(), "{filter:?}: {sent:?}");
            assert_eq!(usize::try_from(replayed).unwrap(), expected.len(), "{filter:?}");
            let others: Vec<_> = once.difference(&expected).cloned().collect();
            let follows = expected.contains(&reward_id(4)) && !expected.contains(&reversal_id(4));
            let followed = if follows { vec![reversal_id(4)] } else { vec![] };
            // A notice of a conversion that is no longer pending is skipped when its turn comes.
            let is_stale = |reward: &&ListedReward| {
                reward.details.kind == RewardKind::Notice && reward.state == RewardState::Pending
            };
            let skipped: BTreeSet<_> = sendable(&shown.iter().filter(is_stale).cloned().collect::<Vec<_>>());
            let required: BTreeSet<_> = expected.difference(&skipped).cloned().collect();
            assert!(once.is_superset(&required), "{filter:?}: {once:?} {required:?}");
            assert!(others == followed || others.is_empty(), "{filter:?}: {others:?}");
            let place = |id: &String| sent.iter().position(|sent| sent == id);
            if let (Some(reward), Some(reversal)) = (place(&reward_id(4)), place(&reversal_id(4))) {
                assert!(reward < reversal, "{filter:?}");
            }
        }
    }
}

/// Delivers what is due, of every event.
fn send_all_of(db: &Sqlite, now_ms: i64) -> Vec<String> {
    let mut sent = vec![];
    loop {
        let callbacks = claim_of(db, now_ms, ALL);
        if callbacks.is_empty() {
            return sent;
        }
        for callback in &callbacks {
            answer(db, now_ms, callback, 200);
            sent.push(callback.fields.transaction_id.clone());
        }
    }
}

#[test]
fn a_step_reads_only_entries_of_its_dates_its_user_or_its_transaction() {
    let (db, _) = with_rewards(1);
    fill(&db, 1_000);
    let of = |from, until| RewardFilter { from: Some(from), until: Some(until), ..RewardFilter::default() };
    // The log's only entries are of another day, so the first step of a hundred is the last.
    for filter in [of(NOW_S - 10 * 86_400, NOW_S - 9 * 86_400), of(NOW_S + 86_400, NOW_S + 2 * 86_400)] {
        assert_eq!(step(&db, NOW, &filter, 0, 0, 100).next, None, "{filter:?}");
    }
    assert!(step(&db, NOW, &of(NOW_S, NOW_S + 1), 0, 0, 100).next.is_some());
    let transaction = RewardFilter { transaction_id: Some(reward_id(1)), ..of(0, NOW_S + 1) };
    let counted = step(&db, NOW, &transaction, 0, 0, 1);
    assert_eq!((counted.replayed, counted.next), (1, None));

    let log = "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)";
    let user = "SEARCH e USING INDEX entries_by_user (user_id=? AND rowid>? AND rowid<?)";
    let later = "SEARCH e USING INDEX entries_paid_later (movement>?)";
    use bulk_replay::sql;
    for (sql, first) in [
        (sql::COUNT, log),
        (sql::LIST, log),
        (sql::COUNT_OF_USER, user),
        (sql::LIST_OF_USER, user),
        (sql::COUNT_PAID_LATER, later),
        (sql::LIST_PAID_LATER, later),
        (sql::PAID_LATER_AFTER, "SEARCH entries USING COVERING INDEX entries_paid_later (movement>?)"),
        (sql::ENTRY_OF_USER_AFTER, "SEARCH entries USING COVERING INDEX entries_by_user (user_id=? AND rowid>?)"),
        (sql::FIND, "SEARCH entries USING COVERING INDEX entries_by_transaction (transaction_id=?)"),
        (sql::REPLAY, "SEARCH entries USING INTEGER PRIMARY KEY (rowid=?)"),
        (sql::REPLAY_REVERSALS, "SEARCH e USING INDEX entries_after (after=?)"),
    ] {
        let plan = plan(&db, sql);
        assert_eq!(plan[0], first, "{sql}: {plan:?}");
        let sorts = plan.iter().any(|step| step.contains("TEMP B-TREE"));
        let scans = plan.iter().any(|step| step.starts_with("SCAN") && !step.contains("json_each"));
        // Rewards that were paid later are in the order of their payment.
        assert!(!scans && (!sorts || sql.contains("paid_later") || sql == sql::PAID_LATER_AFTER), "{sql}: {plan:?}");
    }
}

/// Makes room for a step, because callbacks that are due already leave none.
pub const DROP_DUE: &str = "UPDATE entries SET delivery = 2, due_ms = NULL WHERE delivery = 0";

/// Moves the payments that came later by two seconds.
pub const PAY_LATER: &str = "UPDATE entries SET movement = movement + 2048000 WHERE movement <> entry";

pub fn run_every_statement(db: &Sqlite, now_ms: i64) {
    db.execute(PAY_LATER, &[]).unwrap();
    let all = RewardFilter { until: Some(now_ms / SECOND_MS + 1), ..RewardFilter::default() };
    let of_user = RewardFilter { user_id: Some("user-2".into()), ..all.clone() };
    let late = RewardFilter { from: Some(now_ms / SECOND_MS + 1), ..all.clone() };
    let of_transaction = RewardFilter { transaction_id: Some(reward_id(2)), ..all.clone() };
    for filter in [all, of_user, late, of_transaction] {
        for limit in [0, 100] {
            step(db, now_ms, &filter, 0, limit, 10);
        }
    }
    let named = ReplayRewards {
        publisher: PublisherId::parse("acme").unwrap(),
        filter: RewardFilter { until: Some(now_ms / SECOND_MS + 1), ..RewardFilter::default() },
        after: 0,
        limit: 100,
        step: Some("1".into()),
    };
    db.execute(DROP_DUE, &[]).unwrap();
    bulk_replay::step(db, now_ms, &named, CLAIM_MS, 10).unwrap();
}
