//! The alarm deletes what has expired.

use super::*;
use crate::dump;
use origin::objects::accounts::{alarm, next_alarm, sql};
use platform::{database::Database, params};

fn rows(world: &World, table: &str) -> usize {
    dump(&world.db, table).len()
}

#[test]
fn an_empty_object_sets_no_alarm() {
    let world = World::new();
    let now_ms = world::NOW;
    assert_eq!(next_alarm(&world.db, now_ms), Ok(None));
    assert_eq!(alarm(&world.db, now_ms), Ok(None));
    let _ = world.read_invite("inv_p");
    assert!(!world.is_live("s_p"));
    assert_eq!(next_alarm(&world.db, now_ms), Ok(None));
}

#[test]
fn each_night_deletes_what_has_expired_and_the_alarm_waits_for_the_next() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    world.invite(Actor::Operator, "Bob", Role::Analyst).unwrap();
    // 2026-01-15, 12:00. The challenge expires after 5 minutes, the session after 12 hours: both before 01:00.
    let first = next_alarm(&world.db, world::NOW).unwrap().unwrap();
    assert_eq!(first, world::NOW + 13 * HOUR_MS);
    assert_eq!((rows(&world, "challenges"), rows(&world, "sessions")), (1, 1));
    let second = alarm(&world.db, first).unwrap().unwrap();
    assert_eq!((rows(&world, "challenges"), rows(&world, "sessions")), (0, 0));
    assert_eq!(second, world::NOW + 7 * DAY_MS + 13 * HOUR_MS, "the invite's night");
    assert_eq!(rows(&world, "invites"), 1);
    let third = alarm(&world.db, second).unwrap().unwrap();
    assert_eq!((rows(&world, "invites"), rows(&world, "audit")), (0, 3));
    assert_eq!(third, world::NOW + 31 * DAY_MS + 13 * HOUR_MS, "the register's");
    let fourth = alarm(&world.db, third).unwrap().unwrap();
    assert_eq!(fourth, world::NOW + 400 * DAY_MS + 13 * HOUR_MS, "the audit's");
    assert_eq!(alarm(&world.db, world::NOW + 400 * DAY_MS - 1), Ok(Some(fourth)));
    assert_eq!(rows(&world, "audit"), 3);
    assert_eq!(alarm(&world.db, fourth), Ok(None));
    assert_eq!((rows(&world, "audit"), rows(&world, "members")), (0, 1));
    world.sign_in(&ada, 2).unwrap();
}

#[test]
fn a_used_session_outlives_the_night() {
    let world = World::new();
    let ada = world.join("Ada", Role::Owner);
    world.pass(11 * HOUR_MS);
    world.session_in_use(&ada.session, domain::accounts::session::SessionUse::Action).unwrap();
    world.pass(2 * HOUR_MS);
    alarm(&world.db, world.now_ms.get()).unwrap();
    assert!(world.is_live(&ada.session));
}

#[test]
fn a_sweep_deletes_in_slices() {
    let world = World::new();
    for n in 0..2_500_u32 {
        let id = n.to_be_bytes().to_vec();
        world.db.execute(sql::SPEND, params![id, world::NOW]).unwrap();
        let none = None::<&str>;
        let entry = params![0_i64, "the operator", "action", none, none, none, none];
        world.db.execute(sql::APPEND, entry).unwrap();
    }
    let now_ms = world::NOW;
    for left in [1_500, 500, 0] {
        let next = alarm(&world.db, now_ms).unwrap();
        assert_eq!((rows(&world, "challenges"), rows(&world, "audit")), (left, left));
        assert_eq!(next, (left > 0).then_some(now_ms));
    }
}
