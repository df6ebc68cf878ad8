//! The catalog at its planned size: 200,000 live offers of 3 goals each and 50,000 apps. Every KV value and
//! every invocation stays within its bounds, and a change publishes little.

use std::{cell::Cell, collections::HashMap};

use serde_json::{Value, json};

use crate::{
    Catalog, body, large_catalog, offer, refused,
    service::{Kv, publish_listing, publish_shards, publish_tracking},
    with,
};
use contract::{
    catalog::Resource,
    kv::{self, SnapshotKind},
};
use domain::{
    model::AppId,
    snapshot::{
        bodies::{self, Body, Chunk},
        listing::Listing,
        tracking::{Manifest, ShardKind, slots},
    },
};
use origin::objects::catalog::{
    kv_writer::SHARDS_AFTER_LISTING, listing_room::LISTING_BYTES, publication, snapshots::ListingBuild,
};
use platform::{
    database::{Database, Row, json},
    params,
};

const OFFERS: usize = 200_000;
const APPS: usize = 50_000;
const ADVERTISERS: usize = 1_000;
/// Ids in one JSON parameter.
const AT_ONCE: usize = 20_000;
/// KV allows 1,000 operations in one invocation.
const KV_OPERATIONS: usize = 1_000;
/// Values that a sweep deletes at most.
const SWEPT: usize = 250;
const KIB: usize = 1 << 10;

/// A catalog with one offer, one app and one advertiser that were imported, and copies of their rows with other ids.
fn large() -> Catalog {
    let catalog = Catalog::empty();
    let imported = catalog.import(&large_catalog::catalog(1, 1)).unwrap();
    assert_eq!(imported.status, 200, "{imported:?}");
    let db = &catalog.db;
    let copy = |sql: &str, rows: Vec<(String, u16, String)>| {
        for rows in rows.chunks(AT_ONCE) {
            db.execute(sql, params![json(&rows).unwrap()]).unwrap();
        }
    };
    let advertisers = (0..ADVERTISERS).map(|n| format!("adv-{n}"));
    copy(
        "INSERT INTO advertisers (id, document, hash) SELECT value ->> 0, document, value ->> 1
         FROM json_each(?), advertisers WHERE advertisers.id = 'adv'",
        advertisers.map(|id| (id.clone(), slots::hash(&id), id)).collect(),
    );
    let apps = (1..APPS).map(large_catalog::app);
    copy(
        "INSERT INTO apps SELECT value ->> 0, publisher_id, document, callback_sealed, callback_revision, revision,
         terms_revision, terms_since, outbox_shards, click_secrets_sealed, value ->> 1
         FROM json_each(?), apps WHERE apps.id = '20000000'",
        apps.map(|id| (id.clone(), slots::hash_of_app(AppId::parse(&id).unwrap()), id)).collect(),
    );
    let offers: Vec<_> = (1..OFFERS).map(|n| (n.to_string(), 0, format!("adv-{}", n % ADVERTISERS))).collect();
    copy(
        "INSERT INTO offers SELECT value ->> 0, value ->> 2, off_type, os, countries, includes_countries, active, starts_at,
         ends_at, click_cap, conversion_cap, min_seconds_to_convert, ever_capped, click_id_max,
         replace(target, '/c/0', '/c/' || (value ->> 0)), randomblob(16), body_length, revision, terms_revision,
         terms_since FROM json_each(?), offers WHERE offers.id = '0'",
        offers.clone(),
    );
    copy(
        "INSERT INTO offer_bodies SELECT value ->> 0, body, format FROM json_each(?), offer_bodies
         WHERE offer_bodies.id = '0'",
        offers,
    );
    let goals = (large_catalog::GOALS..OFFERS * large_catalog::GOALS).map(|n| {
        let id = large_catalog::goal(n);
        (id.clone(), slots::hash(&id), (n / large_catalog::GOALS).to_string())
    });
    copy(
        "INSERT INTO goals (id, offer_id, hash) SELECT value ->> 0, value ->> 2, value ->> 1 FROM json_each(?)",
        goals.collect(),
    );
    catalog
}

/// A resource's document as it was put, without the members that reading adds.
fn stored(catalog: &Catalog, resource: Resource, id: &str) -> Value {
    let mut document = catalog.get(resource, id);
    for member in ["offer_id", "app_id", "terms_revision", "updated_at"] {
        document.as_object_mut().unwrap().remove(member);
    }
    document
}

/// The number of operations that `work` sends to KV, and of bytes that it writes there.
fn spent(kv: &Kv, work: impl FnOnce()) -> (usize, usize) {
    let (operations, bytes) = (kv.writes.get(), kv.bytes.get());
    work();
    (kv.writes.get() - operations, kv.bytes.get() - bytes)
}

/// Marks all shards as yet to be written.
fn lose_all(catalog: &Catalog) {
    for sql in ["UPDATE tracking_slots SET change = 0", "UPDATE tracking_shards SET written_at_ms = NULL"] {
        catalog.db.execute(sql, &[]).unwrap();
    }
}

/// Repeats what one invocation may publish until nothing is left. Returns the most operations of one.
fn publish_all(catalog: &Catalog, kv: &Kv, publish: impl Fn() -> bool) -> usize {
    let (mut most, is_whole) = (0, Cell::new(false));
    for invocation in 0.. {
        assert!(invocation < 100, "the publication does not end");
        let (operations, _) = spent(kv, || is_whole.set(publish()));
        most = most.max(operations);
        catalog.wait(2_000);
        if is_whole.get() {
            break;
        }
    }
    most
}

#[test]
fn the_planned_size_is_published_within_the_bounds_of_kv() {
    let (catalog, kv) = (large(), Kv::default());
    let most = publish_all(&catalog, &kv, || !publish_tracking(&catalog, &kv).unwrap())
        + publish_all(&catalog, &kv, || publish_listing(&catalog, &kv).unwrap());
    // While a listing is built, everything changes.
    lose_all(&catalog);
    let (after_listing, _) = spent(&kv, || {
        assert!(publish_shards(&catalog, &kv, SHARDS_AFTER_LISTING).unwrap());
    });
    publish_all(&catalog, &kv, || !publish_tracking(&catalog, &kv).unwrap());
    let most = most + after_listing + SWEPT;
    assert!(most <= KV_OPERATIONS, "{most} operations");

    let pointer = kv.pointer().unwrap();
    let manifest = Manifest::open(pointer.manifest.clone()).unwrap();
    let largest = |kind: ShardKind| {
        let sizes = manifest.slots(kind).map(|(_, checksum)| kv.get(&kv::shard_key(kind, checksum)).unwrap().len());
        sizes.max().unwrap()
    };
    let [advertisers, apps, goals] = ShardKind::ALL.map(largest);
    let pointer_bytes = kv.get(kv::KEY).unwrap().len();
    let listing = kv.get(&kv::listing_key(pointer.listing[0])).unwrap();
    println!(
        "pointer {pointer_bytes}, advertisers {advertisers}, apps {apps}, goals {goals}, listing {} bytes",
        listing.len()
    );
    for largest in [advertisers, apps, goals] {
        assert!(largest <= 32 * KIB, "a shard has {largest} bytes");
    }
    // The values that a cold click reads from KV.
    let cold = pointer_bytes + apps + goals;
    assert!(cold <= 150 * KIB, "a cold click reads {cold} bytes");
    assert!(listing.len() < 25 << 20, "the listing has {} bytes", listing.len());
    // The rule that refuses offers never counts fewer bytes than the offers take.
    let counted = catalog.rows("SELECT value FROM state WHERE name = 'listed_bytes'")[0].integer(0).unwrap();
    let counted = usize::try_from(counted).unwrap() * OFFERS;
    assert!(listing.len() <= counted + "200000".len() * OFFERS, "{} of {counted}", listing.len());
    assert_eq!(Listing::open(listing).unwrap().len() as usize, OFFERS);
    for (key, value) in kv.values.borrow().iter() {
        assert!(value.len() < 25 << 20, "{key} has {} bytes", value.len());
    }

    // One change of each kind.
    let offer = with(stored(&catalog, Resource::Offer, "0"), &json!({ "target_url": "https://other.example.com/" }));
    let app = with(stored(&catalog, Resource::App, "20000000"), &json!({ "name": "Another" }));
    for (resource, id, document) in [
        (Resource::Offer, "0", offer),
        (Resource::App, "20000000", app),
        (Resource::Advertiser, "adv", json!({ "name": "Another" })),
    ] {
        catalog.put(resource, id, &document);
        let (operations, bytes) = spent(&kv, || assert!(!publish_tracking(&catalog, &kv).unwrap()));
        println!("a change of {} {id}: {operations} operations, {bytes} bytes", resource.singular());
        assert!(bytes <= 200 * KIB, "{bytes} bytes after a change of {} {id}", resource.singular());
        assert!(operations <= 2 + large_catalog::GOALS, "{operations}");
        catalog.wait(2_000);
    }
}

/// The hash of each offer's present body, by its text.
fn hashes_of(catalog: &Catalog) -> HashMap<Vec<u8>, [u8; 16]> {
    let rows = catalog.rows("SELECT o.body_hash, b.body FROM offers o JOIN offer_bodies b ON b.id = o.id");
    let hash_of = |row: &Row| {
        let chunk = bodies::build_chunk([row.blob(1).unwrap()]).unwrap();
        (texts(chunk).remove(0), row.bytes(0).unwrap())
    };
    rows.iter().map(hash_of).collect()
}

/// The texts of a chunk's bodies.
fn texts(chunk: Vec<u8>) -> Vec<Vec<u8>> {
    let chunk = Chunk::open(chunk).unwrap();
    let text = |body: Body<'_>| {
        let mut text = Vec::new();
        body.splice(&mut text, |_, _| {}).unwrap();
        text
    };
    (0..).map_while(|slot| chunk.body(slot).map(text)).collect()
}

#[test]
fn an_offer_for_which_the_listing_has_no_room_is_refused_with_the_figures() {
    let catalog = Catalog::small();
    catalog.put(Resource::Offer, "o-1", &offer(&["g-1"]));
    let take = |more: i64| {
        let sql = format!("UPDATE state SET value = value + {more} WHERE name = 'listed_bytes' RETURNING value");
        catalog.rows(&sql)[0].integer(0).unwrap()
    };
    let one = take(0);
    assert!(one > 41, "{one}");
    // Room for one more, and then for none.
    take(LISTING_BYTES - 2 * one);
    let line = |n: usize| {
        let members = json!({ "kind": "offer", "id": format!("o-{n}") });
        with(offer(&[&format!("g-{n}")]), &members).to_string() + "\n"
    };
    let refused_import = body(&catalog.import(&(line(2) + &line(3))).unwrap(), 400);
    assert_eq!(refused_import["lines"][0]["line"], 2, "{refused_import}");
    catalog.put(Resource::Offer, "o-2", &offer(&["g-2"]));
    let (code, message) = refused(catalog.try_put(Resource::Offer, "o-3", &offer(&["g-3"])));
    assert_eq!(code, "invalid_field");
    for figure in [LISTING_BYTES + one, LISTING_BYTES] {
        assert!(message.contains(&figure.to_string()), "{message}");
    }
    // A PUT that takes no more room is stored, and an inactive offer makes room.
    let inactive = json!({ "active": false });
    catalog.put(Resource::Offer, "o-3", &with(offer(&["g-3"]), &inactive));
    catalog.put(Resource::Offer, "o-1", &with(offer(&["g-1"]), &json!({ "name": "Another game" })));
    catalog.put(Resource::Offer, "o-1", &with(offer(&["g-1"]), &inactive));
    catalog.put(Resource::Offer, "o-3", &offer(&["g-3"]));
    assert_eq!(take(0), LISTING_BYTES);
}

#[test]
fn an_offer_that_changes_while_the_listing_is_built_is_listed_with_its_own_body() {
    let catalog = Catalog::empty();
    assert_eq!(catalog.import(&large_catalog::catalog(1_500, 1)).unwrap().status, 200);
    let mut build = ListingBuild::new(catalog.now());
    let changed = |n: usize, round: usize| {
        let document = stored(&catalog, Resource::Offer, &n.to_string());
        let is_active = !n.is_multiple_of(7);
        with(document, &json!({ "name": format!("Round {round}"), "active": is_active }))
    };
    let (mut round, mut hashes) = (0, hashes_of(&catalog));
    while build.step(&catalog.db).unwrap() {
        round += 1;
        for n in (round..1_500).step_by(11) {
            catalog.put(Resource::Offer, &n.to_string(), &changed(n, round));
        }
        hashes.extend(hashes_of(&catalog));
    }
    assert!(round > 2, "{round} steps");
    let prepared = build.finish(&catalog.db).unwrap();
    let listing = Listing::open(prepared.bytes).unwrap();
    assert!(listing.len() > 1_000);
    for key in (0..).map_while(|chunk| listing.chunk_key(chunk)) {
        let chunk = publication::chunk(&catalog.db, key).unwrap().unwrap();
        let found: Vec<_> = texts(chunk).iter().map(|text| hashes[text]).collect();
        assert_eq!(bodies::chunk_key(&found), key);
    }
    assert_eq!(publication::newest(&catalog.db, SnapshotKind::Listing).unwrap().unwrap().len(), listing.size());
}
