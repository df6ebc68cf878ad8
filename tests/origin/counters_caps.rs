//! `origin/counters`: what a daily cap gives and what it refuses.

use crate::{
    counters::{NOON, REFUSED, ask_take, click, gave, offer, set_limit, stats},
    migrated,
};
use contract::counters::{CapKind, Take};
use domain::model::time::UtcDay;
use origin::counters::MIGRATIONS;

#[test]
fn a_cap_gives_what_it_has_and_no_more() {
    let db = migrated(MIGRATIONS);
    let answers: Vec<_> = (0..5)
        .map(|n| ask_take(&db, NOON, click(&format!("n{n}"), NOON)))
        .collect();
    assert_eq!(answers, [gave(2), gave(1), gave(0), REFUSED, REFUSED]);
}

#[test]
fn a_repeat_is_told_what_the_first_was_told_and_takes_nothing() {
    let db = migrated(MIGRATIONS);
    assert_eq!(ask_take(&db, NOON, click("a", NOON)), gave(2));
    assert_eq!(ask_take(&db, NOON, click("b", NOON)), gave(1));
    assert_eq!(ask_take(&db, NOON, click("a", NOON)), gave(2));
    assert_eq!(ask_take(&db, NOON, click("c", NOON)), gave(0));
    assert_eq!(ask_take(&db, NOON, click("a", NOON)), gave(2));
    assert_eq!(stats(&db, NOON)[0].clicks_taken, 3);
}

#[test]
fn a_refused_take_leaves_nothing_and_is_judged_afresh() {
    let db = migrated(MIGRATIONS);
    for key in ["a", "b", "c"] {
        ask_take(&db, NOON, click(key, NOON));
    }
    assert_eq!(ask_take(&db, NOON, click("d", NOON)), REFUSED);
    set_limit(&db, Some(4), 2);
    assert_eq!(ask_take(&db, NOON, click("d", NOON)), gave(0));
}

#[test]
fn a_cap_is_whole_again_at_midnight_utc_and_the_day_before_keeps_its_count() {
    let db = migrated(MIGRATIONS);
    let midnight = UtcDay::of_ms(NOON).minus(-1).start_ms();
    for key in ["a", "b", "c"] {
        ask_take(&db, midnight - 1, click(key, midnight - 1));
    }
    assert_eq!(ask_take(&db, midnight - 1, click("d", midnight - 1)), REFUSED);
    assert_eq!(ask_take(&db, midnight, click("d", midnight)), gave(2));
    // A click of one millisecond before midnight that asks after it belongs to its own day.
    assert_eq!(ask_take(&db, midnight + 50, click("e", midnight - 1)), REFUSED);
    assert_eq!(ask_take(&db, midnight + 50, click("a", midnight - 1)), gave(2));
}

#[test]
fn clicks_and_conversions_and_offers_have_caps_of_their_own() {
    let db = migrated(MIGRATIONS);
    let conversion = Take {
        kind: CapKind::Conversion,
        ..click("a", NOON)
    };
    let elsewhere = Take {
        offer: offer("p"),
        ..click("b", NOON)
    };
    assert_eq!(ask_take(&db, NOON, click("a", NOON)), gave(2));
    assert_eq!(ask_take(&db, NOON, conversion), gave(2));
    assert_eq!(ask_take(&db, NOON, elsewhere), gave(2));
}

#[test]
fn an_edge_with_a_stale_snapshot_admits_no_more_than_the_lowered_cap() {
    let db = migrated(MIGRATIONS);
    ask_take(&db, NOON, click("a", NOON));
    // Another edge knows that the operator lowered the cap to 2 in revision 5.
    let fresh = |key| Take {
        limit: 2,
        revision: 5,
        ..click(key, NOON)
    };
    assert_eq!(ask_take(&db, NOON, fresh("b")), gave(0));
    assert_eq!(ask_take(&db, NOON, click("c", NOON)), REFUSED);
    assert_eq!(ask_take(&db, NOON, fresh("d")), REFUSED);
}

#[test]
fn a_refused_take_still_brings_word_of_a_lower_cap() {
    let db = migrated(MIGRATIONS);
    ask_take(&db, NOON, click("a", NOON));
    let fresh = Take {
        limit: 1,
        revision: 5,
        ..click("b", NOON)
    };
    assert_eq!(ask_take(&db, NOON, fresh), REFUSED);
    assert_eq!(ask_take(&db, NOON, click("c", NOON)), REFUSED);
}

#[test]
fn what_the_catalog_pushes_governs_by_revision_in_whatever_order_it_comes() {
    let db = migrated(MIGRATIONS);
    set_limit(&db, Some(1), 7);
    set_limit(&db, Some(9), 6);
    set_limit(&db, Some(9), 7);
    assert_eq!(ask_take(&db, NOON, click("a", NOON)), gave(0));
    assert_eq!(ask_take(&db, NOON, click("b", NOON)), REFUSED);
    set_limit(&db, Some(3), 8);
    assert_eq!(ask_take(&db, NOON, click("b", NOON)), gave(1));
}

#[test]
fn a_cap_that_was_removed_refuses_nobody() {
    let db = migrated(MIGRATIONS);
    set_limit(&db, Some(0), 2);
    assert_eq!(ask_take(&db, NOON, click("a", NOON)), REFUSED);
    set_limit(&db, None, 3);
    assert_eq!(ask_take(&db, NOON, click("a", NOON)), gave(u32::MAX - 1));
    assert_eq!(
        ask_take(
            &db,
            NOON,
            Take {
                limit: 0,
                ..click("b", NOON)
            }
        ),
        gave(u32::MAX - 2)
    );
}

#[test]
fn a_day_that_cannot_tell_a_repeat_any_more_gives_nothing() {
    let db = migrated(MIGRATIONS);
    let of_day = |kind, age| Take {
        kind,
        day: UtcDay::of_ms(NOON).minus(age),
        key: format!("{age}"),
        ..click("", NOON)
    };
    for (kind, age, taken) in [
        (CapKind::Click, 1, true),
        (CapKind::Click, 2, false),
        (CapKind::Conversion, 29, true),
        (CapKind::Conversion, 30, false),
        (CapKind::Click, -1, true),
        (CapKind::Click, -2, false),
    ] {
        assert_eq!(
            ask_take(&db, NOON, of_day(kind, age)).taken,
            taken,
            "{kind:?} {age} days ago"
        );
    }
}
