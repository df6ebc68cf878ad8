//! Publication to KV, with faults in KV, in the database and between steps.

use serde_json::json;

use crate::{
    Catalog, NOON, offer, prepare_listing,
    service::{Kv, check_reachable, find_lost, publish_listing, publish_tracking, run_for, sweep, write_tracking},
    sqlite::{Fault, Faults},
    tracking::Tracking,
    with,
};
use contract::{
    catalog::Resource,
    kv::{self, Pointer, SnapshotKind, listing_key},
};
use domain::snapshot::{listing::Listing, tracking::Manifest};
use origin::objects::catalog::publication::{self, expired_versions, forget_version, record_written};

const O: Resource = Resource::Offer;
const HOUR_MS: i64 = 3_600_000;
fn enter_version(catalog: &Catalog, version: u64) -> Vec<u64> {
    record_written(&catalog.db, version, catalog.now()).unwrap();
    publication::pointer(&catalog.db).unwrap().listing
}

#[test]
fn the_pointer_lists_the_three_newest_listings() {
    let catalog = Catalog::empty();
    assert_eq!(publication::pointer(&catalog.db), Ok(Pointer::default()));
    for (version, listing) in [
        (2, vec![2]),
        (3, vec![3, 2]),
        (5, vec![5, 3, 2]),
        (6, vec![6, 5, 3]),
        // A repetition, as after a lost answer.
        (6, vec![6, 5, 3]),
        (100, vec![100, 6, 5]),
        (6, vec![100, 6, 5]),
    ] {
        catalog.wait(1_000);
        assert_eq!(enter_version(&catalog, version), listing);
    }
}

#[test]
fn a_listing_stays_in_kv_for_an_hour_after_it_left_the_pointer() {
    let catalog = Catalog::empty();
    let expired = |at_ms: i64| expired_versions(&catalog.db, at_ms).unwrap();
    for version in 1..=4 {
        catalog.wait(1_000);
        enter_version(&catalog, version);
    }
    let left = catalog.now();
    assert_eq!(expired(left + HOUR_MS), [0_u64; 0]);
    assert_eq!(expired(left + HOUR_MS + 1), [1]);
    // Later versions do not postpone the expiry.
    catalog.wait(HOUR_MS);
    enter_version(&catalog, 20);
    assert_eq!(expired(left + HOUR_MS + 1), [1]);
    for _ in 0..2 {
        forget_version(&catalog.db, 1).unwrap();
        assert_eq!(expired(left + HOUR_MS + 1), [0_u64; 0]);
    }
    // A version in the pointer never expires.
    assert_eq!(expired(i64::MAX >> 11), [2]);
}

#[test]
fn versions_of_both_kinds_increase() {
    let (catalog, kv) = (Catalog::small(), Kv::default());
    let mut last = 0;
    for n in 0..3 {
        catalog.put(O, "o-1", &with(offer(&["g-1"]), &json!({ "name": format!("{n}") })));
        publish_tracking(&catalog, &kv).unwrap();
        let manifest = Manifest::open(kv.pointer().unwrap().manifest).unwrap();
        assert!(manifest.version() > last);
        let stored = publication::newest(&catalog.db, SnapshotKind::Tracking).unwrap();
        assert_eq!(stored, Some(kv.pointer().unwrap().manifest));
        let listing = prepare_listing(&catalog.db, NOON).unwrap();
        assert!(listing.version > manifest.version(), "{listing:?}");
        last = listing.version;
        let stored = publication::newest(&catalog.db, SnapshotKind::Listing).unwrap();
        assert_eq!(stored, Some(listing.bytes));
    }
}

/// A value of KV before a publication.
type Damage = fn(&Kv);

#[test]
fn kv_that_was_emptied_moved_or_damaged_gets_everything_again() {
    fn set(kv: &Kv, value: &[u8]) {
        kv.values.borrow_mut().insert(kv::KEY.into(), value.to_vec());
    }
    let damages: [(&str, Damage, bool); 6] = [
        ("nothing", |_| {}, false),
        ("emptied", |kv| kv.values.borrow_mut().clear(), true),
        ("pointer lost", |kv| drop(kv.values.borrow_mut().remove(kv::KEY)), true),
        ("pointer damaged", |kv| set(kv, b"<html>"), true),
        ("pointer of a newer release", |kv| set(kv, b"{\"v\":2}\n"), true),
        ("moved", |kv| set(kv, b"{\"confirmed_at_ms\":1,\"listing\":[1]}\n"), true),
    ];
    for (name, damage, is_found) in damages {
        let (catalog, kv) = (Catalog::small(), Kv::default());
        catalog.put(O, "o-1", &offer(&["g-1"]));
        let publish = || {
            find_lost(&catalog, &kv);
            publish_tracking(&catalog, &kv).unwrap();
            publish_listing(&catalog, &kv).unwrap();
        };
        publish();
        let published = kv.values.borrow().len();
        damage(&kv);
        // A value may be a minute old, so what KV shows soon after a publication says nothing.
        let writes = kv.writes.get();
        find_lost(&catalog, &kv);
        assert_eq!(publication::chunks_to_write(&catalog.db, 9), Ok(vec![]), "{name}");
        catalog.wait(300_000);
        publish();
        assert_eq!(kv.writes.get() - writes > 3, is_found, "{name}: {}", kv.writes.get() - writes);
        assert!(kv.values.borrow().len() > published - usize::from(is_found), "{name}");
        let (opens, listed) = edge_view(&catalog, &kv);
        assert_eq!((opens, listed), (true, vec!["o-1".to_owned()]), "{name}");
        let newest = Listing::open(kv.get(&listing_key(kv.pointer().unwrap().listing[0])).unwrap()).unwrap();
        assert!(kv.get(&kv::bodies_key(newest.chunk_keys().get(0).unwrap())).is_some(), "{name}");
    }
}

/// The edge's view: whether goal `g-1` accepts clicks, and the ids of listed offers.
fn edge_view(catalog: &Catalog, kv: &Kv) -> (bool, Vec<String>) {
    let pointer = kv.pointer().unwrap();
    let tracking = Tracking::of_kv(kv, &pointer);
    let listing = Listing::open(kv.get(&listing_key(pointer.listing[0])).unwrap()).unwrap();
    let ids = (0..listing.len()).map(|row| listing.id(row).unwrap().to_owned());
    let live = tracking.goal("g-1").is_some_and(|goal| goal.offer.is_live(catalog.now()));
    (live, ids.collect())
}

#[test]
fn a_change_is_in_kv_within_seconds_and_in_the_listing_within_five_minutes() {
    let (catalog, kv) = (Catalog::small(), Kv::default());
    catalog.put(O, "o-1", &offer(&["g-1"]));
    run_for(&catalog, &kv, 1_001);
    assert_eq!(edge_view(&catalog, &kv), (true, vec!["o-1".into()]));
    catalog.put(O, "o-1", &with(offer(&["g-1"]), &json!({ "active": false })));
    run_for(&catalog, &kv, 2_000);
    assert_eq!(edge_view(&catalog, &kv), (false, vec!["o-1".into()]));
    run_for(&catalog, &kv, 300_001 - 3_001);
    assert_eq!(edge_view(&catalog, &kv), (false, vec![]));
    // A day without changes leaves the listings of an hour, one shard of each kind and no chunk.
    run_for(&catalog, &kv, 25 * HOUR_MS);
    let keys: Vec<_> = kv.values.borrow().keys().cloned().collect();
    let count = |prefix: &str| keys.iter().filter(|key| key.starts_with(prefix)).count();
    assert_eq!(["advertisers-", "apps-", "goals-", "bodies-"].map(count), [1, 1, 1, 0], "{keys:?}");
    assert!((15..=17).contains(&count("listing-")), "{keys:?}");
    assert!(catalog.now() - kv.pointer().unwrap().confirmed_at_ms <= 300_000, "confirmed with every rebuild");
}

/// A published catalog with two unpublished changes: one offer is paused and another is new.
fn with_unpublished_changes() -> (Catalog, Kv) {
    let (catalog, kv) = (Catalog::small(), Kv::default());
    catalog.put(O, "o-1", &offer(&["g-1"]));
    run_for(&catalog, &kv, 20_000);
    catalog.put(O, "o-1", &with(offer(&["g-1"]), &json!({ "active": false })));
    catalog.put(O, "o-2", &offer(&["g-2"]));
    assert!(edge_view(&catalog, &kv).0);
    (catalog, kv)
}

#[test]
fn a_publication_that_fails_in_kv_is_retried() {
    let writes = {
        let (catalog, kv) = with_unpublished_changes();
        kv.writes.set(0);
        run_for(&catalog, &kv, 310_000);
        kv.writes.get()
    };
    assert!(writes >= 5, "{writes}");
    for nth in 1..=writes {
        for fault in [Fault::Before, Fault::After] {
            let (catalog, kv) = with_unpublished_changes();
            kv.writes.set(0);
            kv.fault.set(Some((nth, fault)));
            run_for(&catalog, &kv, 330_000);
            assert_eq!(edge_view(&catalog, &kv), (false, vec!["o-2".into()]), "write {nth} to KV: {fault:?}");
        }
    }
}

/// Alarms until the next listing. Each checks that what is listed can be clicked.
const UNTIL_NEXT_LISTING_MS: i64 = 310_000;

#[test]
fn an_offer_that_is_put_while_a_listing_is_built_is_not_listed_before_its_goals_are_published() {
    for pauses in 0.. {
        let (catalog, kv) = (Catalog::small(), Kv::default());
        // More than one step of a listing reads.
        for n in 0..600 {
            catalog.put(O, &format!("o-{n:03}"), &offer(&[&format!("g-{n:03}")]));
        }
        let put = (O, "o-9".to_owned(), offer(&["g-9"]));
        kv.put_in_pause.replace(Some((pauses, put)));
        run_for(&catalog, &kv, UNTIL_NEXT_LISTING_MS);
        if kv.put_in_pause.take().is_some() {
            assert!(pauses >= 5, "{pauses}");
            return;
        }
    }
}

#[test]
fn while_shards_cannot_be_written_nothing_new_is_listed() {
    for nth in 1..8 {
        let (catalog, kv) = (Catalog::small(), Kv::default());
        catalog.put(O, "o-1", &offer(&["g-1"]));
        run_for(&catalog, &kv, 20_000);
        let to_listing_ms = 300_000 - catalog.now() % 300_000;
        run_for(&catalog, &kv, to_listing_ms - 500);
        // Due together with the listing.
        catalog.put(O, "o-2", &offer(&["g-2"]));
        kv.writes.set(0);
        kv.fault.set(Some((nth, Fault::Before)));
        run_for(&catalog, &kv, 20_000);
        assert_eq!(edge_view(&catalog, &kv).1, ["o-1", "o-2"], "write {nth}");
    }
}

#[test]
fn a_publication_that_fails_in_the_database_is_retried() {
    let writes = {
        let (catalog, kv) = with_unpublished_changes();
        catalog.db.inject(Faults::none());
        run_for(&catalog, &kv, 310_000);
        catalog.db.writes()
    };
    let mut lost = Vec::new();
    for nth in 1..=writes {
        for fault in [Fault::Before, Fault::After] {
            let (catalog, kv) = with_unpublished_changes();
            catalog.db.inject(Faults::at(nth, fault));
            run_for(&catalog, &kv, 330_000);
            if edge_view(&catalog, &kv) != (false, vec!["o-2".into()]) {
                lost.push((nth, fault));
            }
        }
    }
    assert!(lost.is_empty(), "of {writes} writes, the failure of these loses the publication: {lost:?}");
}

#[test]
fn a_publication_interrupted_by_a_crash_is_retried() {
    let (catalog, kv) = with_unpublished_changes();
    catalog.wait(10_000);
    // The object's process ends before the pointer was written.
    write_tracking(&catalog, &kv).unwrap();
    run_for(&catalog, &kv, 60_000);
    assert!(!edge_view(&catalog, &kv).0, "the paused offer still accepts clicks");
}

/// A catalog whose listing changed once, hours ago. It was rebuilt since, but never swept.
fn unswept() -> (Catalog, Kv) {
    let (catalog, kv) = with_unpublished_changes();
    for _ in 0..40 {
        catalog.wait(300_000);
        publish_listing(&catalog, &kv).unwrap();
    }
    (catalog, kv)
}

#[test]
fn a_sweep_that_fails_is_completed_by_the_next() {
    let swept = |catalog: &Catalog, kv: &Kv| {
        sweep(catalog, kv).unwrap();
        check_reachable(kv);
        kv.values.borrow().keys().cloned().collect::<Vec<_>>()
    };
    let (expected, writes) = {
        let (catalog, kv) = unswept();
        kv.writes.set(0);
        (swept(&catalog, &kv), kv.writes.get())
    };
    assert!(writes > 20, "{writes}");
    for nth in 1..=writes {
        for fault in [Fault::Before, Fault::After] {
            let (catalog, kv) = unswept();
            kv.writes.set(0);
            kv.fault.set(Some((nth, fault)));
            assert!(sweep(&catalog, &kv).is_err());
            check_reachable(&kv);
            assert_eq!(swept(&catalog, &kv), expected, "delete {nth}: {fault:?}");
        }
    }
}

#[test]
fn versions_in_the_pointer_are_not_swept_after_hours_without_publication() {
    let (catalog, kv) = with_unpublished_changes();
    // KV or the object is unavailable for hours, just after the listing changed.
    run_for(&catalog, &kv, 310_000);
    catalog.wait(3 * HOUR_MS);
    run_for(&catalog, &kv, 1_000);
    check_reachable(&kv);
}
