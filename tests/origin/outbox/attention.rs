//! The outbox's items for the operator's attention: each begins and ends with its state. An approved reward that is
//! delivered has no item.

use super::*;
use contract::{attention::DeclinedItems, outbox::Disabled};
use domain::conversions::state::Reason;
use origin::delivery::{
    attention_feed::{self, AttentionFeed, Source, sql},
    feed::Feed,
};

/// The statements of a report and its confirmation, and of a night.
pub const OF_BATCHES: &[&str] = &[
    sql::GET_FEED,
    sql::BEGIN_BATCH,
    sql::CHANGED,
    sql::COUNT_OPEN,
    sql::DELETE_ENDED,
    sql::CONFIRM_ITEMS,
    sql::CONFIRM_BATCH,
    sql::END_BATCH,
    sql::OPEN_DIFFERING,
    sql::PING,
];

/// Reports everything, the promised report included.
pub fn report_all(db: &Sqlite, now_ms: i64) {
    let feed = AttentionFeed {
        db,
        source: &|| Ok(Some(Source { name: "outbox".into(), app: Some(app()), publisher: None, rewards: None })),
    };
    let heard = DeclinedItems { declined: vec![], is_incomplete: false };
    for _ in 0..2 {
        if attention_feed::due_ms(db, now_ms).unwrap() == Some(now_ms + SECOND_MS) {
            let made = feed.prepare(now_ms).unwrap().unwrap();
            feed.confirm(now_ms, &made, &heard).unwrap();
        }
    }
}

/// The open items: kind, subject and reason.
fn open(db: &Sqlite) -> Vec<(i64, String, String)> {
    let sql = "SELECT kind, subject, reason FROM attention WHERE is_open ORDER BY kind, subject";
    let text = |row: &platform::database::Row, column| row.text(column).unwrap().to_owned();
    let rows = db.query(sql, &[]).unwrap();
    rows.iter().map(|row| (row.integer(0).unwrap(), text(row, 1), text(row, 2))).collect()
}

fn one(kind: i64, subject: &str, reason: &str) -> Vec<(i64, String, String)> {
    vec![(kind, subject.to_owned(), reason.to_owned())]
}

fn settle(db: &Sqlite, world: &World, id: &str, action: domain::conversions::table::Action) {
    settlement::settle(db, world, id, action, &Reason::ALL).unwrap();
}

#[test]
fn an_approved_reward_that_is_delivered_writes_nothing() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1)).unwrap();
    send_all(&db, NOW, 200);
    convert(&db, &world, &conversion(1).status(Status::Reversed)).unwrap();
    send_all(&db, NOW, 200);
    // Some attempts fail, but the last one succeeds.
    convert(&db, &world, &conversion(2)).unwrap();
    let callback = claim(&db, NOW).remove(0);
    answer(&db, NOW, &callback, 500);
    assert!(dump(&db, "attention").is_empty());
    assert_eq!(attention_feed::due_ms(&db, NOW), Ok(None));
}

#[test]
fn a_held_conversion_is_open_until_it_is_settled() {
    use domain::conversions::table::Action;
    for action in [Action::Approve, Action::Reject] {
        let (db, world) = (outbox(), World::new());
        world.hold(|_, app| app.max_rewards_per_user_day = Some(1));
        convert(&db, &world, &conversion(1)).unwrap();
        convert(&db, &world, &conversion(1).goal("g-2")).unwrap();
        let id = id_of(1, "g-2", Movement::Reward);
        assert_eq!(open(&db), one(1, &id, "too_many_today"));
        let payout = "SELECT payout FROM attention WHERE since_ms = 1000 * (?1 / 1000)";
        let row = db.query_first(payout, params![NOW]).unwrap().unwrap();
        assert_eq!(row.text(0), Ok("2"));
        settle(&db, &world, &id, action);
        assert!(open(&db).is_empty());
    }
}

#[test]
fn a_capped_conversion_is_open_until_it_is_paid() {
    let (db, world) = (outbox(), World::capped(1));
    convert(&db, &world, &conversion(1)).unwrap();
    convert(&db, &world, &conversion(2)).unwrap_err();
    convert(&db, &world, &conversion(3)).unwrap_err();
    // A repeat changes nothing.
    convert(&db, &world, &conversion(2)).unwrap_err();
    let capped = |n| (2, reward_id(n), "conversion_capped".to_owned());
    let mut both = vec![capped(2), capped(3)];
    both.sort();
    assert_eq!(open(&db), both);
    settle(&db, &world, &reward_id(3), domain::conversions::table::Action::Approve);
    assert_eq!(open(&db), [capped(2)]);
    world.cap(Some(9));
    convert(&db, &world, &conversion(2)).unwrap();
    assert!(open(&db).is_empty());
}

#[test]
fn other_refusals_are_not_listed_as_open() {
    let (db, world) = (outbox(), World::new());
    convert(&db, &world, &conversion(1).txn("t")).unwrap();
    convert(&db, &world, &conversion(2).txn("t")).unwrap_err();
    assert!(open(&db).is_empty());
}

#[test]
fn a_dead_callback_is_open_until_it_is_replayed_or_its_user_erased() {
    let (db, _) = with_rewards(1);
    let callback = claim(&db, NOW).remove(0);
    abort(&db, NOW, &callback);
    assert_eq!(open(&db), one(3, &reward_id(1), "http_400"));
    operator::replay(&db, NOW, &reward_id(1), CLAIM_MS).unwrap();
    assert!(open(&db).is_empty());
    let callback = claim(&db, NOW).remove(0);
    abort(&db, NOW, &callback);
    assert_eq!(open(&db).len(), 1);
    // Without a user it cannot be sent.
    outbox::erasure::erase(&db, NOW, shard(), "user-1").unwrap();
    assert!(open(&db).is_empty());
}

fn disabled(revision: i64, enabled_ms: i64) -> Disabled {
    Disabled { revision, enabled_ms }
}

#[test]
fn an_endpoint_is_open_while_it_fails_and_while_it_is_disabled() {
    let (db, world) = with_rewards(5);
    let now_ms = world.now_ms.get();
    apply_settings(&db, now_ms, &settings(2, true));
    for (failed, callback) in claim(&db, now_ms).iter().enumerate() {
        assert!(open(&db).is_empty(), "after {failed}");
        answer(&db, now_ms, callback, 500);
    }
    assert_eq!(open(&db), one(5, "callback", "calls_fail"));
    endpoint::disable(&db, now_ms, disabled(2, 0)).unwrap();
    assert_eq!(open(&db), one(4, "callback", "switched_itself_off"));
    operator::enable(&db, now_ms, CLAIM_MS, now_ms).unwrap();
    assert!(open(&db).is_empty());
    // An answer to an attempt from before the enabling changes nothing; a later answer disables the endpoint.
    endpoint::disable(&db, now_ms, disabled(2, 0)).unwrap();
    assert!(open(&db).is_empty());
    endpoint::disable(&db, now_ms, disabled(2, now_ms)).unwrap();
    assert_eq!(open(&db), one(4, "callback", "switched_itself_off"));
    apply_settings(&db, now_ms, &settings(3, false));
    assert!(open(&db).is_empty());
}

#[test]
fn an_item_ends_when_its_entry_leaves_the_log() {
    let (db, world) = (outbox(), World::capped(1));
    convert(&db, &world, &conversion(1)).unwrap();
    convert(&db, &world, &conversion(2)).unwrap_err();
    world.hold(|offer, _| offer.min_seconds_to_convert = Some(1 << 30));
    convert(&db, &world, &conversion(3)).unwrap();
    let callback = claim(&db, NOW).remove(0);
    abort(&db, NOW, &callback);
    assert_eq!(open(&db).len(), 3);
    let late_ms = NOW + 500 * DAY_MS;
    send_batches(&db, NOW);
    while outbox::retention::sweep(&db, late_ms).unwrap() == Some(late_ms + SECOND_MS) {}
    assert!(dump(&db, "entries").is_empty());
    assert!(open(&db).is_empty());
    // The ends are told.
    assert_eq!(db.query(sql::CHANGED, params![10_i64]).unwrap().len(), 3);
}
