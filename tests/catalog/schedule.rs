//! The schedule by which the catalog publishes snapshots.

use proptest::prelude::*;

use crate::{
    Catalog, NOON, offer, prepare_listing, prepare_tracking,
    service::{self, Kv},
};
use contract::{catalog::Resource, kv::SnapshotKind};
use origin::catalog::{
    revisions,
    schedule::{listing_due_ms, next_alarm, tracking_due_ms},
};

const REFRESH_MS: i64 = 300_000;

/// Publishes a new snapshot of this kind.
fn publish(catalog: &Catalog, kind: SnapshotKind) {
    let prepared = match kind {
        SnapshotKind::Tracking => prepare_tracking(&catalog.db, catalog.now()),
        SnapshotKind::Listing => prepare_listing(&catalog.db, catalog.now()),
    };
    service::publish(catalog, &Kv::default(), prepared.unwrap()).unwrap();
}

fn tracking_due(catalog: &Catalog) -> Option<i64> {
    tracking_due_ms(&catalog.db).unwrap()
}

#[test]
fn changes_are_batched_for_one_second_and_published_at_most_every_ten_seconds() {
    let catalog = Catalog::empty();
    assert_eq!(tracking_due(&catalog), None, "nothing to publish");
    let name = |name: &str| serde_json::json!({ "name": name });
    let change = |text: &str| catalog.put(Resource::Advertiser, "northwind", &name(text));
    change("a");
    assert_eq!(tracking_due(&catalog), Some(NOON + 1_000));
    catalog.wait(900);
    change("b");
    assert_eq!(
        tracking_due(&catalog),
        Some(NOON + 1_000),
        "a later change does not postpone it"
    );
    catalog.wait(200);
    publish(&catalog, SnapshotKind::Tracking);
    assert_eq!(tracking_due(&catalog), None);

    let published = catalog.now();
    catalog.wait(100);
    change("c");
    assert_eq!(tracking_due(&catalog), Some(published + 10_000));
    catalog.wait(8_950);
    change("d");
    assert_eq!(tracking_due(&catalog), Some(published + 10_000));
    catalog.wait(950);
    publish(&catalog, SnapshotKind::Tracking);
    catalog.wait(60_000);
    change("e");
    assert_eq!(
        tracking_due(&catalog),
        Some(catalog.now() + 1_000),
        "long after the last publication"
    );
}

#[test]
fn reads_and_repeated_puts_make_no_publication_due() {
    let catalog = Catalog::small();
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    publish(&catalog, SnapshotKind::Tracking);
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    catalog.get(Resource::Offer, "o-1");
    assert_eq!(tracking_due(&catalog), None);
}

#[test]
fn a_change_during_a_publication_is_published_next() {
    let catalog = Catalog::small();
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    let prepared = prepare_tracking(&catalog.db, catalog.now()).unwrap();
    catalog.wait(100);
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1", "g-2"]));
    catalog.wait(100);
    service::publish(&catalog, &Kv::default(), prepared).unwrap();
    let due = tracking_due(&catalog).unwrap();
    assert!(
        (catalog.now() + 1..=catalog.now() + 10_000).contains(&due),
        "{due}"
    );
}

#[test]
fn the_listing_is_rebuilt_on_every_fifth_minute() {
    let catalog = Catalog::small();
    let due = || listing_due_ms(&catalog.db).unwrap();
    assert!(due() <= NOON, "at once without an earlier build");
    for (built_at_ms, expected) in [
        (NOON, NOON + REFRESH_MS),
        (NOON + 1, NOON + REFRESH_MS),
        (NOON + REFRESH_MS - 1, NOON + REFRESH_MS),
        (NOON + REFRESH_MS, NOON + 2 * REFRESH_MS),
        (NOON + 7 * REFRESH_MS + 123_456, NOON + 8 * REFRESH_MS),
    ] {
        catalog.now_ms.set(built_at_ms);
        publish(&catalog, SnapshotKind::Listing);
        assert_eq!(due(), expected, "built at noon + {}", built_at_ms - NOON);
    }
    // Publishing the other kind changes nothing here.
    let before = due();
    catalog.wait(3 * REFRESH_MS);
    publish(&catalog, SnapshotKind::Tracking);
    assert_eq!(due(), before);
}

#[test]
fn a_listing_built_before_the_boundary_is_rebuilt_at_the_boundary() {
    let catalog = Catalog::small();
    // A listing built just before the boundary is published after it, since KV takes 500 ms.
    catalog.now_ms.set(NOON + REFRESH_MS - 100);
    let prepared = prepare_listing(&catalog.db, catalog.now()).unwrap();
    catalog.wait(500);
    service::publish(&catalog, &Kv::default(), prepared).unwrap();
    assert_eq!(listing_due_ms(&catalog.db), Ok(NOON + REFRESH_MS));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_alarm_is_set_to_the_earliest_due_time_and_never_in_the_past(
        dirty_since in proptest::option::of(-30_000..30_000_i64),
        tracking_built_at in proptest::option::of(-30_000..30_000_i64),
        listing_built_at in proptest::option::of(-900_000..1_i64),
    ) {
        let catalog = Catalog::empty();
        for (mark, at) in [
            (revisions::TRACKING_DIRTY_SINCE, dirty_since),
            (revisions::TRACKING_BUILT_AT, tracking_built_at),
            (revisions::LISTING_BUILT_AT, listing_built_at),
        ] {
            if let Some(at) = at {
                revisions::set(&catalog.db, mark, NOON + at).unwrap();
            }
        }
        let tracking = dirty_since.map(|dirty| (dirty + 1_000).max(tracking_built_at.map_or(dirty, |built| built + 10_000)));
        let listing = (1..).map(|n| (n - 4) * REFRESH_MS).find(|boundary| listing_built_at.is_none_or(|built| *boundary > built));
        let due = tracking.into_iter().chain(listing).min().unwrap().max(0);
        prop_assert_eq!(next_alarm(&catalog.db, NOON), Ok(NOON + due));
    }
}
