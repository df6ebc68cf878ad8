//! `origin::objects::counters::cap_alarms`: the operator hears once of each level that a cap reaches.

use futures_util::FutureExt;

use crate::{
    counters::{NOON, ask_take, click, offer, send},
    migrated,
    sqlite::Sqlite,
    told::Told,
};
use contract::{
    alarms::{
        Alarm,
        AlarmKind::{self, ClickCapNear, ClickCapSpent, ConversionCapNear, ConversionCapSpent},
    },
    attention,
    counters::{CapKind, Command, SetCap, Take},
};
use domain::model::time::{DAY_MS, SECOND_MS, UtcDay};
use origin::objects::counters::{self, MIGRATIONS, cap_alarms};

const AGAIN_MS: i64 = 10 * SECOND_MS;

/// Has the object tell what is due; each offer with what it has reached.
fn tell(db: &Sqlite, now_ms: i64, is_down: bool) -> Vec<(String, AlarmKind)> {
    let raised = raise(db, now_ms, is_down).into_iter();
    raised.map(|alarm| (alarm.subject, alarm.kind)).collect()
}

fn raise(db: &Sqlite, now_ms: i64, is_down: bool) -> Vec<Alarm> {
    let told = Told::new(now_ms, is_down);
    cap_alarms::tell(db, &told).now_or_never().unwrap().unwrap();
    let raised = told.raised.into_inner().into_iter();
    raised
        .map(|(to, alarm)| {
            assert_eq!(to, attention::OBJECT_NAME);
            alarm
        })
        .collect()
}

/// Takes so many more of a cap of 10.
fn take(db: &Sqlite, kind: CapKind, count: usize, now_ms: i64, key: &str) {
    for n in 0..count {
        let take = Take { kind, limit: 10, ..click(&format!("{key}{n}"), now_ms) };
        ask_take(db, now_ms, take);
    }
}

/// An outbox learns a limit of the conversion cap.
fn set_cap(db: &Sqlite, limit: Option<u32>, revision: i64) {
    let cap = SetCap {
        offer: offer("o"),
        limit,
        revision,
        day: UtcDay::of_ms(NOON),
        source: "outbox-10000001".to_owned(),
        uncapped: 0,
    };
    send(db, NOON, Command::SetCap(cap));
}

fn reached(kind: AlarmKind) -> Vec<(String, AlarmKind)> {
    vec![("o".to_owned(), kind)]
}

#[test]
fn each_level_of_each_cap_is_told_once() {
    for (kind, near, spent) in
        [(CapKind::Click, ClickCapNear, ClickCapSpent), (CapKind::Conversion, ConversionCapNear, ConversionCapSpent)]
    {
        let db = migrated(MIGRATIONS);
        take(&db, kind, 7, NOON, "a");
        assert_eq!(tell(&db, NOON, false), []);
        take(&db, kind, 1, NOON, "b");
        assert_eq!(counters::alarm_after_command(&db, NOON).unwrap(), Some(NOON));
        // A repeated take takes nothing.
        take(&db, kind, 1, NOON, "b");
        assert_eq!(tell(&db, NOON, false), reached(near));
        take(&db, kind, 1, NOON, "c");
        assert_eq!(tell(&db, NOON, false), []);
        take(&db, kind, 5, NOON, "d");
        assert_eq!(tell(&db, NOON, false), reached(spent));
        take(&db, kind, 5, NOON, "e");
        assert_eq!(tell(&db, NOON, false), []);
    }
}

#[test]
fn an_alarm_that_did_not_reach_attention_is_soon_sent_again() {
    let db = migrated(MIGRATIONS);
    take(&db, CapKind::Click, 8, NOON, "a");
    assert_eq!(tell(&db, NOON, true), []);
    assert_eq!(cap_alarms::due_ms(&db).unwrap(), Some(NOON + AGAIN_MS));
    assert_eq!(tell(&db, NOON + AGAIN_MS - 1, false), []);
    // A new alarm is told at once, after the waiting ones.
    take(&db, CapKind::Conversion, 10, NOON + 1, "b");
    assert_eq!(tell(&db, NOON + 1, false), [reached(ClickCapNear), reached(ConversionCapSpent)].concat());
    assert_eq!(cap_alarms::due_ms(&db).unwrap(), None);
}

#[test]
fn a_new_limit_is_judged_again() {
    let db = migrated(MIGRATIONS);
    take(&db, CapKind::Conversion, 8, NOON, "a");
    assert_eq!(tell(&db, NOON, false), reached(ConversionCapNear));
    set_cap(&db, Some(20), 2);
    assert_eq!(tell(&db, NOON, false), []);
    // A lowered cap may be used up at once.
    set_cap(&db, Some(8), 3);
    assert_eq!(tell(&db, NOON, false), reached(ConversionCapSpent));
    // A cap with an old revision changes nothing.
    set_cap(&db, Some(1), 2);
    assert_eq!(tell(&db, NOON, false), []);
    set_cap(&db, None, 4);
    assert_eq!(tell(&db, NOON, false), []);
    set_cap(&db, Some(10), 5);
    assert_eq!(tell(&db, NOON, false), reached(ConversionCapNear));
}

#[test]
fn counters_that_were_put_back_tell_what_is_used_then() {
    let db = migrated(MIGRATIONS);
    let before = db.copy();
    take(&db, CapKind::Click, 8, NOON, "a");
    let with_alarm = db.copy();
    let cause = |db: &Sqlite, now_ms| match &raise(db, now_ms, false)[..] {
        [alarm] => alarm.cause,
        others => panic!("{others:?}"),
    };
    let told = cause(&db, NOON);
    // Attention knows a cause that it was told before, and takes a later one as new.
    assert_eq!(cause(&with_alarm, NOON + SECOND_MS), told);
    take(&before, CapKind::Click, 8, NOON + SECOND_MS, "a");
    assert!(cause(&before, NOON + SECOND_MS) > told);
}

#[test]
fn a_cap_of_a_day_that_is_over_is_told_to_nobody() {
    let db = migrated(MIGRATIONS);
    for n in 0..10 {
        let late = Take { kind: CapKind::Conversion, limit: 10, ..click(&n.to_string(), NOON - DAY_MS) };
        ask_take(&db, NOON, late);
    }
    assert_eq!(tell(&db, NOON, false), []);
    take(&db, CapKind::Click, 10, NOON, "a");
    take(&db, CapKind::Click, 10, NOON + DAY_MS, "b");
    assert_eq!(tell(&db, NOON + DAY_MS, false), [reached(ClickCapSpent), reached(ClickCapSpent)].concat());
}
