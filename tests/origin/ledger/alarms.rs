//! A ledger's alarms to the publisher and the operator: final days that have changed, and facts that are late.

use futures_util::FutureExt;

use super::*;
use crate::told::Told;
use contract::{
    activity,
    alarms::{Alarm, AlarmKind},
    attention,
    ledger::{AddOffers, OfferSum},
};
use domain::model::{
    AppId, OfferId, PublisherId,
    time::{DAY_MS, HOUR_MS, SECOND_MS},
};
use origin::objects::ledger::{alarms, final_days, offers};
use platform::database::Database;

const AGAIN_MS: i64 = 10 * SECOND_MS;

fn publisher() -> PublisherId {
    PublisherId::parse("acme").unwrap()
}

/// Sends the ledger's due alarms. Returns the receiver, the kind, the subject and the count of each.
pub fn tell(db: &Sqlite, now_ms: i64, is_down: bool) -> Vec<(String, AlarmKind, String, i64)> {
    let raised = raise(db, now_ms, is_down).into_iter();
    raised.map(|(to, alarm)| (to, alarm.kind, alarm.subject, alarm.count)).collect()
}

fn raise(db: &Sqlite, now_ms: i64, is_down: bool) -> Vec<(String, Alarm)> {
    let told = Told::new(now_ms, is_down);
    alarms::tell(db, &told, &publisher()).now_or_never().unwrap().unwrap();
    told.raised.into_inner()
}

/// Loads a day in the morning after it.
fn load(db: &Sqlite, of: UtcDay, revenue: i64) {
    load_at(db, of.start_ms() + DAY_MS + 6 * HOUR_MS, of, revenue);
}

fn load_at(db: &Sqlite, at_ms: i64, of: UtcDay, revenue: i64) {
    let key = ["00000042", "DE", "p", "t", "d", "s"].map(str::to_owned);
    final_days::store_publisher(db, &publisher()).unwrap();
    upload(1, &[(of, key, [revenue; 5])]).replace(db, at_ms, of).unwrap();
    ledger::alarm(db, at_ms + AGAIN_MS).unwrap();
}

#[test]
fn a_changed_final_day_is_told_once_and_the_operators_own_changes_to_the_publisher_alone() {
    let db = migrated(ledger::MIGRATIONS);
    let to_publisher = activity::address(&publisher()).name.to_string();
    let to_operator = attention::address().name.to_string();
    load(&db, day(0), 5);
    let now_ms = day(1).start_ms() + 8 * HOUR_MS;
    assert_eq!(tell(&db, now_ms, false), []);
    load(&db, day(0), 7);
    assert_eq!(alarms::due_ms(&db, now_ms), Ok(Some(now_ms)));
    // The alarm is sent again until both have answered.
    assert_eq!(tell(&db, now_ms, true), []);
    assert_eq!(alarms::due_ms(&db, now_ms), Ok(Some(now_ms + AGAIN_MS)));
    let later_ms = now_ms + AGAIN_MS;
    let changed = |to: &String, subject: &str| (to.clone(), AlarmKind::DayChanged, subject.to_owned(), 1);
    assert_eq!(tell(&db, later_ms, false), [changed(&to_publisher, "reports")]);
    assert_eq!(tell(&db, later_ms, false), []);
    // Rewards that come late are news for the operator, too.
    let batch = AddOffers {
        source: "outbox-00000042-0".to_owned(),
        after: 0,
        number: 9,
        sums: vec![OfferSum {
            day: day(0),
            app: AppId::from_number(42).unwrap(),
            offer: OfferId::parse("o-1").unwrap(),
            country: None,
            placement: None,
            clicks: 0,
            revenue_micro_usd: 350_000,
        }],
    };
    offers::add(&db, later_ms, &batch).unwrap();
    assert_eq!(tell(&db, later_ms, false), [changed(&to_publisher, "reports"), changed(&to_operator, "acme")]);
}

#[test]
fn a_ledger_that_was_put_back_tells_what_changes_then() {
    let db = migrated(ledger::MIGRATIONS);
    load(&db, day(0), 5);
    let before = db.copy();
    load(&db, day(0), 7);
    let with_change = db.copy();
    let now_ms = day(1).start_ms() + 8 * HOUR_MS;
    let cause = |db: &Sqlite, now_ms| match &raise(db, now_ms, false)[..] {
        [(_, alarm)] => alarm.cause,
        others => panic!("{others:?}"),
    };
    let told = cause(&db, now_ms);
    // The publisher knows a cause that it was told before, and takes a later one as new.
    assert_eq!(cause(&with_change, now_ms + HOUR_MS), told);
    load_at(&before, now_ms, day(0), 7);
    assert!(cause(&before, now_ms + HOUR_MS) > told);
}

#[test]
fn a_day_that_was_left_out_is_late_even_if_a_future_day_is_loaded() {
    let db = migrated(ledger::MIGRATIONS);
    for loaded in [0, 2, 200] {
        load(&db, day(loaded), 5);
    }
    let told = tell(&db, day(3).start_ms() + 11 * HOUR_MS, false);
    assert_eq!(
        told.iter().map(|(_, _, subject, _)| subject.clone()).collect::<Vec<_>>(),
        [day(1).to_string(), format!("acme {}", day(1)),]
    );
    let next_ms = day(4).start_ms() + 12 * HOUR_MS;
    assert_eq!(alarms::due_ms(&db, day(3).start_ms() + 11 * HOUR_MS), Ok(Some(next_ms)));
}

#[test]
fn a_day_that_was_loaded_only_before_its_end_is_late() {
    let db = migrated(ledger::MIGRATIONS);
    load_at(&db, day(1).start_ms() + 22 * HOUR_MS, day(1), 5);
    let noon_ms = day(2).start_ms() + 12 * HOUR_MS;
    let late = tell(&db, noon_ms, false);
    let days: Vec<_> = late.iter().map(|(_, kind, subject, _)| (*kind, subject.as_str())).collect();
    let subjects = [day(1).to_string(), format!("acme {}", day(1))];
    assert_eq!(days, subjects.each_ref().map(|subject| (AlarmKind::FactsLate, subject.as_str())));
    load_at(&db, noon_ms + HOUR_MS, day(1), 6);
    assert_eq!(
        tell(&db, noon_ms + DAY_MS, false),
        [late[0].clone(), late[1].clone()].map(|(to, kind, subject, count)| {
            (to, kind, subject.replace(&day(1).to_string(), &day(2).to_string()), count)
        })
    );
}

#[test]
fn facts_are_late_at_noon_of_the_day_after_for_thirty_days() {
    let db = migrated(ledger::MIGRATIONS);
    assert_eq!(alarms::due_ms(&db, day(0).start_ms()), Ok(None), "nobody loads facts here");
    load(&db, day(0), 5);
    let mut late = Vec::new();
    // The last load was in the morning of day 1, and none follows.
    for hour in 7..60 * 24 {
        let now_ms = day(1).start_ms() + hour * HOUR_MS;
        for (to, kind, subject, count) in tell(&db, now_ms, false) {
            assert_eq!((kind, count), (AlarmKind::FactsLate, 1));
            late.push((hour, to, subject));
        }
    }
    assert_eq!(late.len(), 2 * 30);
    // The alarms of day 1 come at noon of day 2.
    assert_eq!((late[0].0, &late[0].2), (36, &day(1).to_string()));
    assert_eq!((late[1].0, &late[1].2), (36, &format!("acme {}", day(1))));
    assert_eq!((late[2].0, &late[2].2), (60, &day(2).to_string()));
    assert_eq!(alarms::due_ms(&db, day(70).start_ms()), Ok(None));
    // Each late day is an item of attention until it is loaded.
    let open = || {
        let open = "SELECT COUNT(*) FROM attention WHERE kind = 13 AND is_open";
        db.query_integer(open, &[]).unwrap()
    };
    assert_eq!(open(), Some(30));
    load(&db, day(3), 5);
    assert_eq!(open(), Some(29));
}
