//! The schedule by which the catalog publishes snapshots.

use futures_util::FutureExt;
use proptest::prelude::*;

use crate::{
    Catalog, NOON, offer, prepare_listing,
    service::{self, Kv, process, publish_listing, publish_tracking},
    tracking::Tracking,
};
use contract::{
    catalog::{Resource, snapshot_path},
    kv::SnapshotKind,
};
use domain::model::common;
use origin::objects::catalog::{
    revisions,
    schedule::{listing_due_ms, next_alarm, tracking_due_ms},
};

const REFRESH_MS: i64 = 300_000;

/// Publishes the tracking snapshot.
fn publish(catalog: &Catalog) {
    publish_tracking(catalog, &Kv::default()).unwrap();
}

fn tracking_due(catalog: &Catalog) -> Option<i64> {
    tracking_due_ms(&catalog.db).unwrap()
}

#[test]
fn changes_are_batched_for_one_second() {
    let catalog = Catalog::empty();
    assert_eq!(tracking_due(&catalog), None, "nothing to publish");
    let name = |name: &str| serde_json::json!({ "name": name });
    let change = |text: &str| catalog.put(Resource::Advertiser, "northwind", &name(text));
    change("a");
    assert_eq!(tracking_due(&catalog), Some(NOON + 1_000));
    catalog.wait(900);
    change("b");
    assert_eq!(tracking_due(&catalog), Some(NOON + 1_000), "a later change does not postpone it");
    catalog.wait(200);
    publish(&catalog);
    assert_eq!(tracking_due(&catalog), None);

    catalog.wait(100);
    change("c");
    assert_eq!(tracking_due(&catalog), Some(catalog.now() + 1_000));
}

#[test]
fn an_isolate_that_asks_a_new_catalog_makes_no_listing_due() {
    let (catalog, kv) = (Catalog::empty(), Kv::default());
    let service = process(&catalog, &kv);
    for kind in [SnapshotKind::Tracking, SnapshotKind::Listing] {
        let asked = service.value(&snapshot_path(kind)).now_or_never().unwrap();
        assert_eq!(asked, Err(common::NOT_FOUND.into()));
    }
    // The first listing waits for the first offers.
    assert_eq!(service.storage().state.alarm_ms.get(), None);
}

#[test]
fn reads_and_repeated_puts_make_no_publication_due() {
    let catalog = Catalog::small();
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    publish(&catalog);
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    catalog.get(Resource::Offer, "o-1");
    assert_eq!(tracking_due(&catalog), None);
}

#[test]
fn a_change_during_a_publication_is_in_it_or_in_the_next() {
    let catalog = Catalog::small();
    let kv = Kv::default();
    let is_published = |goal: &str| Tracking::of_kv(&kv, &kv.pointer().unwrap()).goal(goal).is_some();
    let publish_with = |writes: usize, goals: &[&str]| {
        let changed = (Resource::Offer, "o-1".to_owned(), offer(goals));
        kv.put_meanwhile.replace(Some((writes, changed)));
        publish_tracking(&catalog, &kv).unwrap();
    };
    // While the shard of its goals is written, which is then built once more.
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    publish_with(1, &["g-1", "g-2"]);
    assert!(is_published("g-2"));
    assert_eq!(tracking_due(&catalog), None);
    // While the pointer is written.
    publish_with(0, &["g-1", "g-2", "g-3"]);
    assert!(!is_published("g-3"));
    assert_eq!(tracking_due(&catalog), Some(catalog.now() + 1_000));
    publish_tracking(&catalog, &kv).unwrap();
    assert!(is_published("g-3"));
    assert_eq!(tracking_due(&catalog), None);
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
        publish_listing(&catalog, &Kv::default()).unwrap();
        assert_eq!(due(), expected, "built at noon + {}", built_at_ms - NOON);
    }
    // Publishing the other kind changes nothing here.
    let before = due();
    catalog.wait(3 * REFRESH_MS);
    publish(&catalog);
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
        listing_built_at in proptest::option::of(-900_000..1_i64),
    ) {
        let catalog = Catalog::empty();
        for (mark, at) in [
            (revisions::TRACKING_DIRTY_SINCE, dirty_since),
            (revisions::LISTING_BUILT_AT, listing_built_at),
        ] {
            if let Some(at) = at {
                revisions::set(&catalog.db, mark, NOON + at).unwrap();
            }
        }
        let tracking = dirty_since.map(|dirty| dirty + 1_000);
        let listing = (1..).map(|n| (n - 4) * REFRESH_MS).find(|boundary| listing_built_at.is_none_or(|built| *boundary > built));
        let due = tracking.into_iter().chain(listing).min().unwrap().max(0);
        prop_assert_eq!(next_alarm(&catalog.db, NOON), Ok(NOON + due));
    }
}
