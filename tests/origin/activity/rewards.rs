//! The list of entries: its order, pages, conditions and changes, what an analyst sees of it, and its bound.

use super::*;

#[test]
fn the_list_is_newest_first_over_all_apps_in_pages_and_narrowed_by_each_condition() {
    let db = migrated(MIGRATIONS);
    for (number, shard) in [(1, 0), (2, 0), (1, 3)] {
        let entries = (0..3).map(|nth| entry(shard, nth)).collect();
        apply(&db, &FeedBatch { entries, ..report(number, shard, 1) });
    }
    let first = page(&db, list(RewardFilter::default()));
    assert_eq!(ids(&first), ["t-3-2", "t-0-2", "t-0-2"]);
    let second = page(&db, ListRewards { before: first.next, ..list(RewardFilter::default()) });
    assert_eq!(ids(&second), ["t-3-1", "t-0-1", "t-0-1"]);
    let third = page(&db, ListRewards { before: second.next, ..list(RewardFilter::default()) });
    assert_eq!((ids(&third), third.next), (vec!["t-3-0", "t-0-0", "t-0-0"], None));
    apply(
        &db,
        &FeedBatch {
            entries: vec![FeedEntry {
                delivery: Some(RewardDelivery::Dead),
                http_status: Some(503),
                state: RewardState::Reversed,
                ..entry(3, 1)
            }],
            ..report(1, 3, 2)
        },
    );
    let ts = NOW / 1_000;
    let none = RewardFilter::default;
    for (app, filter, expected) in [
        (Some(app(2)), none(), vec!["t-0-2", "t-0-1", "t-0-0"]),
        (None, RewardFilter { state: Some(RewardState::Reversed), ..none() }, vec!["t-3-1"]),
        (None, RewardFilter { delivery: Some(RewardDelivery::Dead), ..none() }, vec!["t-3-1"]),
        (None, RewardFilter { http_status: Some(503), ..none() }, vec!["t-3-1"]),
        (None, RewardFilter { http_status: Some(200), ..none() }, vec![]),
        (None, RewardFilter { from: Some(ts + 2), until: Some(ts + 3), ..none() }, vec!["t-3-2", "t-0-2", "t-0-2"]),
        (None, RewardFilter { until: Some(ts), ..none() }, vec![]),
        (None, RewardFilter { transaction_id: Some("t-3-0".into()), ..none() }, vec!["t-3-0"]),
        (Some(app(1)), RewardFilter { user_id: Some("user-1".into()), ..none() }, vec!["t-3-1", "t-0-1"]),
    ] {
        let conditions = format!("{app:?} {filter:?}");
        let list = ListRewards { app, ..list(filter) };
        assert_eq!(ids(&page(&db, list)), expected, "{conditions}");
    }
}

#[test]
fn a_callback_without_an_endpoint_is_shown_as_no_endpoint() {
    let db = migrated(MIGRATIONS);
    let mut reported = FeedBatch { entries: vec![entry(0, 1)], ..report(1, 0, 1) };
    reported.endpoint.state = EndpointState::None;
    apply(&db, &reported);
    let no_endpoint = RewardFilter { delivery: Some(RewardDelivery::NoEndpoint), ..RewardFilter::default() };
    assert_eq!(page(&db, list(no_endpoint.clone())).rewards[0].delivery, no_endpoint.delivery);
    apply(&db, &report(1, 0, 2));
    assert!(page(&db, list(no_endpoint)).rewards.is_empty());
    let waiting = page(&db, list(RewardFilter::default())).rewards[0].delivery;
    assert_eq!(waiting, Some(RewardDelivery::Waiting));
}

#[test]
fn a_poll_gets_what_changed_and_what_left_the_filter() {
    let db = migrated(MIGRATIONS);
    let entries: Vec<_> = (0..3).map(|nth| entry(0, nth)).collect();
    apply(&db, &FeedBatch { entries, ..report(1, 0, 1) });
    let waiting = RewardFilter { delivery: Some(RewardDelivery::Waiting), ..RewardFilter::default() };
    let seen = page(&db, list(waiting.clone()));
    let poll = |after: i64| page(&db, ListRewards { after: Some(after), ..list(waiting.clone()) });
    let nothing = poll(seen.version);
    assert_eq!((ids(&nothing), nothing.version), (vec![], seen.version));
    let delivered = FeedEntry { delivery: Some(RewardDelivery::Delivered), ..entry(0, 1) };
    let entries = vec![delivered, entry(0, 3)];
    apply(&db, &FeedBatch { entries, ..report(1, 0, 2) });
    let changed = poll(seen.version);
    assert_eq!(ids(&changed), ["t-0-3"]);
    assert_eq!(changed.unmatched, ["t-0-1"]);
    assert!(!changed.has_more_changes && poll(changed.version).rewards.is_empty());
    // More than a page: the next poll goes on where this one stopped.
    let entries = (10..15).map(|nth| entry(0, nth)).collect();
    apply(&db, &FeedBatch { entries, ..report(1, 0, 3) });
    let some = poll(changed.version);
    assert_eq!((some.rewards.len(), some.has_more_changes), (3, true));
    assert_eq!(ids(&poll(some.version)), ["t-0-13", "t-0-14"]);
}

#[test]
fn an_analyst_sees_the_allow_list_and_cannot_search_by_user() {
    let db = migrated(MIGRATIONS);
    apply(&db, &FeedBatch { entries: vec![entry(0, 1)], ..report(1, 0, 1) });
    let as_analyst = |filter| ListRewards { is_analyst: true, ..list(filter) };
    let shown = page(&db, as_analyst(RewardFilter::default()));
    let text = serde_json::to_string(&shown.rewards).unwrap();
    assert!(!text.contains("user-1") && !text.contains("too_fast"), "{text}");
    let by_user = RewardFilter { user_id: Some("user-1".into()), ..RewardFilter::default() };
    let refused = handle(&db, NOW, Command::List(Box::new(as_analyst(by_user))));
    assert!(matches!(refused, Err(Failure::Refused(error)) if error.code == "invalid_field"));
}

#[test]
fn only_the_newest_entries_stay_and_older_ones_do_not_return() {
    let db = migrated(MIGRATIONS);
    let mut sequence = 0;
    let mut tell = |range: std::ops::Range<i64>| {
        for start in range.clone().step_by(200) {
            sequence += 1;
            let entries = (start..(start + 200).min(range.end)).map(|nth| entry(0, nth)).collect();
            apply(&db, &FeedBatch { entries, ..report(1, 0, sequence) });
        }
    };
    tell(0..10_600);
    let kept = i64::try_from(dump(&db, "entries").len()).unwrap();
    assert!((KEPT_ENTRIES..KEPT_ENTRIES + 500).contains(&kept), "{kept}");
    tell(0..100);
    assert_eq!(i64::try_from(dump(&db, "entries").len()).unwrap(), kept);
    let oldest = db.query_first("SELECT MIN(entry) FROM entries", &[]).unwrap().unwrap();
    assert_eq!(oldest.integer(0).unwrap(), number(0, 10_600 - kept));
}
