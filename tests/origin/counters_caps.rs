//! `origin::objects::counters`: takes from daily caps.

use crate::{
    counters::{NOON, REFUSED, ask_take, click, offer, set_limit, stats, took},
    migrated,
};
use contract::counters::{CapKind, Take};
use domain::model::time::UtcDay;
use origin::objects::counters::MIGRATIONS;

#[test]
fn a_cap_is_never_exceeded() {
    let db = migrated(MIGRATIONS);
    let answers: Vec<_> = (0..5).map(|n| ask_take(&db, NOON, click(&format!("n{n}"), NOON))).collect();
    assert_eq!(answers, [took(2), took(1), took(0), REFUSED, REFUSED]);
}

#[test]
fn a_repeated_take_gets_the_first_answer_and_takes_nothing() {
    let db = migrated(MIGRATIONS);
    assert_eq!(ask_take(&db, NOON, click("a", NOON)), took(2));
    assert_eq!(ask_take(&db, NOON, click("b", NOON)), took(1));
    assert_eq!(ask_take(&db, NOON, click("a", NOON)), took(2));
    assert_eq!(ask_take(&db, NOON, click("c", NOON)), took(0));
    assert_eq!(ask_take(&db, NOON, click("a", NOON)), took(2));
    assert_eq!(stats(&db, NOON)[0].clicks_taken, 3);
}

#[test]
fn a_refused_take_is_not_stored_and_may_succeed_later() {
    let db = migrated(MIGRATIONS);
    for key in ["a", "b", "c"] {
        ask_take(&db, NOON, click(key, NOON));
    }
    assert_eq!(ask_take(&db, NOON, click("d", NOON)), REFUSED);
    set_limit(&db, Some(4), 2);
    assert_eq!(ask_take(&db, NOON, click("d", NOON)), took(0));
}

#[test]
fn a_cap_resets_at_midnight_utc_and_the_previous_day_keeps_its_count() {
    let db = migrated(MIGRATIONS);
    let midnight = UtcDay::of_ms(NOON).minus(-1).start_ms();
    for key in ["a", "b", "c"] {
        ask_take(&db, midnight - 1, click(key, midnight - 1));
    }
    assert_eq!(ask_take(&db, midnight - 1, click("d", midnight - 1)), REFUSED);
    assert_eq!(ask_take(&db, midnight, click("d", midnight)), took(2));
    // A click before midnight that is taken after it belongs to its own day.
    assert_eq!(ask_take(&db, midnight + 50, click("e", midnight - 1)), REFUSED);
    assert_eq!(ask_take(&db, midnight + 50, click("a", midnight - 1)), took(2));
}

#[test]
fn each_offer_has_separate_caps_for_clicks_and_conversions() {
    let db = migrated(MIGRATIONS);
    let conversion = Take { kind: CapKind::Conversion, ..click("a", NOON) };
    let elsewhere = Take { offer: offer("p"), ..click("b", NOON) };
    assert_eq!(ask_take(&db, NOON, click("a", NOON)), took(2));
    assert_eq!(ask_take(&db, NOON, conversion), took(2));
    assert_eq!(ask_take(&db, NOON, elsewhere), took(2));
}

#[test]
fn an_edge_with_a_stale_snapshot_cannot_exceed_a_lowered_cap() {
    let db = migrated(MIGRATIONS);
    ask_take(&db, NOON, click("a", NOON));
    // Another edge knows that the operator lowered the cap to 2 in revision 5.
    let fresh = |key| Take { limit: 2, revision: 5, ..click(key, NOON) };
    assert_eq!(ask_take(&db, NOON, fresh("b")), took(0));
    assert_eq!(ask_take(&db, NOON, click("c", NOON)), REFUSED);
    assert_eq!(ask_take(&db, NOON, fresh("d")), REFUSED);
}

#[test]
fn a_refused_take_still_updates_the_cap() {
    let db = migrated(MIGRATIONS);
    ask_take(&db, NOON, click("a", NOON));
    let fresh = Take { limit: 1, revision: 5, ..click("b", NOON) };
    assert_eq!(ask_take(&db, NOON, fresh), REFUSED);
    assert_eq!(ask_take(&db, NOON, click("c", NOON)), REFUSED);
}

#[test]
fn the_pushed_cap_of_the_highest_revision_applies_in_any_order() {
    let db = migrated(MIGRATIONS);
    set_limit(&db, Some(1), 7);
    set_limit(&db, Some(9), 6);
    set_limit(&db, Some(9), 7);
    assert_eq!(ask_take(&db, NOON, click("a", NOON)), took(0));
    assert_eq!(ask_take(&db, NOON, click("b", NOON)), REFUSED);
    set_limit(&db, Some(3), 8);
    assert_eq!(ask_take(&db, NOON, click("b", NOON)), took(1));
}

#[test]
fn a_removed_cap_refuses_nothing() {
    let db = migrated(MIGRATIONS);
    set_limit(&db, Some(0), 2);
    assert_eq!(ask_take(&db, NOON, click("a", NOON)), REFUSED);
    set_limit(&db, None, 3);
    assert_eq!(ask_take(&db, NOON, click("a", NOON)), took(u32::MAX - 1));
    assert_eq!(ask_take(&db, NOON, Take { limit: 0, ..click("b", NOON) }), took(u32::MAX - 2));
}

#[test]
fn a_day_outside_of_retention_refuses_takes() {
    let db = migrated(MIGRATIONS);
    let of_day =
        |kind, age| Take { kind, day: UtcDay::of_ms(NOON).minus(age), key: format!("{age}"), ..click("", NOON) };
    for (kind, age, taken) in [
        (CapKind::Click, 1, true),
        (CapKind::Click, 2, false),
        (CapKind::Conversion, 29, true),
        (CapKind::Conversion, 30, false),
        (CapKind::Click, -1, true),
        (CapKind::Click, -2, false),
    ] {
        assert_eq!(ask_take(&db, NOON, of_day(kind, age)).taken, taken, "{kind:?} {age} days ago");
    }
}
