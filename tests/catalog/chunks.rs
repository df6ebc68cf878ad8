//! Chunks of offer bodies, content-addressed: their contents, and when each is written to KV and deleted.

use std::collections::BTreeSet;

use serde_json::json;

use crate::{
    Catalog, body, offer,
    service::{Kv, publish_listing, sweep},
    with,
};
use contract::{catalog::Resource, counters::OfferStats};
use domain::{
    model::{OfferId, time::UtcDay},
    snapshot::{bodies::Chunk, listing::Listing},
};
use origin::objects::catalog::publication::{
    chunk, chunk_for_isolate, chunks_to_write, record_chunk_written, store_stats,
};
use platform::{Database, params};

const O: Resource = Resource::Offer;
const HOUR_MS: i64 = 3_600_000;

/// A catalog with several chunks.
fn with_several_chunks() -> Catalog {
    let catalog = Catalog::small();
    let lines: String = (0..600)
        .map(|n| {
            let members = json!({ "kind": "offer", "id": format!("o-{n}") });
            with(offer(&[&format!("g-{n}")]), &members).to_string() + "\n"
        })
        .collect();
    body(&catalog.import(&lines).unwrap(), 200);
    catalog
}

fn keys(listing: &Listing) -> BTreeSet<String> {
    let keys = listing.chunk_keys();
    (0..).map_while(|index| keys.get(index)).map(str::to_owned).collect()
}

/// Builds the listing and writes missing chunks. Returns the keys of all its chunks and of those written.
fn rebuild(catalog: &Catalog) -> (BTreeSet<String>, Vec<String>) {
    let listing = catalog.listing();
    let written = chunks_to_write(&catalog.db, 10_000).unwrap();
    for key in &written {
        record_chunk_written(&catalog.db, key, catalog.now()).unwrap();
    }
    (keys(&listing), written)
}

#[test]
fn every_listed_offer_has_its_body_at_the_listed_position() {
    let catalog = with_several_chunks();
    let listing = catalog.listing();
    assert_eq!(listing.len(), 600);
    for row in 0..listing.len() {
        let figures = listing.figures(row).unwrap();
        let key = listing.chunk_key(figures.chunk).unwrap();
        let chunk = Chunk::open(chunk(&catalog.db, key).unwrap().unwrap()).unwrap();
        let mut text = Vec::new();
        chunk.body(figures.slot).unwrap().splice(&mut text, |_, _| {}).unwrap();
        let id = listing.id(row).unwrap();
        assert!(text.starts_with(format!("{{\"id\":\"{id}\",").as_bytes()), "{id}");
    }
    assert_eq!(chunk(&catalog.db, "none"), Ok(None));
}

#[test]
fn only_changed_chunks_are_written() {
    let catalog = with_several_chunks();
    let (all, written) = rebuild(&catalog);
    assert!(all.len() > 4, "{all:?}");
    assert!(written.iter().eq(&all));
    let bytes = |key: &String| chunk(&catalog.db, key).unwrap().unwrap();
    let sizes: usize = all.iter().map(|key| bytes(key).len()).sum();
    assert!(sizes > 600 * 300, "{sizes}");

    let changes = || catalog.rows("SELECT total_changes()")[0].integer(0).unwrap();
    catalog.wait(300_000);
    assert_eq!(rebuild(&catalog), (all.clone(), vec![]), "nothing changed");
    let before = changes();
    rebuild(&catalog);
    assert!(changes() - before < 5, "a rebuild without changes writes only the index");

    // A body contains the update time, so every change of an offer changes its body.
    let mut before = all;
    for members in
        [json!({ "name": "Another" }), json!({ "name": "Another", "click_cap": { "dur": "DAILY", "lim": 9 } })]
    {
        catalog.wait(1_000);
        catalog.put(O, "o-300", &with(offer(&["g-300"]), &members));
        let (after, written) = rebuild(&catalog);
        assert_eq!((after.len(), after.difference(&before).count()), (before.len(), 1), "one chunk replaces another");
        assert!(written.iter().eq(after.difference(&before)));
        before = after;
    }
}

#[test]
fn an_offer_whose_cap_is_spent_or_raised_changes_no_chunk() {
    let catalog = with_several_chunks();
    let cap = json!({ "click_cap": { "dur": "DAILY", "lim": 5 } });
    catalog.put(O, "o-300", &with(offer(&["g-300"]), &cap));
    let (all, _) = rebuild(&catalog);
    for (clicks_taken, listed) in [(5, 599), (4, 600), (6, 599)] {
        let stats = OfferStats {
            offer: OfferId::parse("o-300").unwrap(),
            clicks: 9,
            conversions: 0,
            payout_micro_usd: 0,
            clicks_taken,
            conversions_taken: 0,
            apps: vec![],
        };
        store_stats(&catalog.db, "counters-0", UtcDay::of_ms(catalog.now()), &[stats]).unwrap();
        assert_eq!(catalog.listing().len(), listed);
        assert_eq!(rebuild(&catalog), (all.clone(), vec![]));
    }
}

/// The keys of the chunks in KV.
fn kv_keys(kv: &Kv) -> BTreeSet<String> {
    let values = kv.values.borrow();
    values.keys().filter_map(|key| key.strip_prefix("bodies-")).map(str::to_owned).collect()
}

#[test]
fn a_chunk_stays_as_long_as_a_listing_that_uses_it_is_in_kv() {
    let (catalog, kv) = (Catalog::small(), Kv::default());
    let put = |name: &str| catalog.put(O, "o-1", &with(offer(&["g-1"]), &json!({ "name": name })));
    put("First");
    publish_listing(&catalog, &kv).unwrap();
    let first = kv_keys(&kv);
    put("Second");
    // The listing stays in the pointer for two more versions, and in KV for an hour after that.
    for (wait_ms, stays) in [(300_000, true), (10 * HOUR_MS, true), (300_000, true), (HOUR_MS, true), (1, false)] {
        catalog.wait(wait_ms);
        if wait_ms != HOUR_MS && wait_ms != 1 {
            publish_listing(&catalog, &kv).unwrap();
        }
        sweep(&catalog, &kv).unwrap();
        assert_eq!(kv_keys(&kv).is_superset(&first), stays, "{wait_ms} later");
        let key = first.first().unwrap();
        assert_eq!(chunk(&catalog.db, key).unwrap().is_some(), stays, "an idle isolate may still request it");
    }
}

#[test]
fn a_chunk_that_kv_lost_is_written_again_when_an_isolate_misses_it() {
    let (catalog, kv) = (Catalog::small(), Kv::default());
    catalog.put(O, "o-1", &offer(&["g-1"]));
    publish_listing(&catalog, &kv).unwrap();
    let keys = kv_keys(&kv);
    let key = keys.first().unwrap();
    let lost = kv.values.borrow_mut().remove(&format!("bodies-{key}")).unwrap();
    // KV may not show a new value yet, so an early miss writes nothing.
    for (wait_ms, is_written) in [(60_000, false), (HOUR_MS, true)] {
        catalog.wait(wait_ms);
        let missed = chunk_for_isolate(&catalog.db, key, catalog.now()).unwrap();
        assert_eq!(missed.as_ref(), Some(&lost));
        publish_listing(&catalog, &kv).unwrap();
        assert_eq!(kv_keys(&kv).contains(key), is_written, "{wait_ms}");
    }
}

#[test]
fn a_stored_chunk_of_another_format_is_built_again_when_an_isolate_misses_it() {
    let (catalog, kv) = (Catalog::small(), Kv::default());
    catalog.put(O, "o-1", &offer(&["g-1"]));
    publish_listing(&catalog, &kv).unwrap();
    let keys = kv_keys(&kv);
    let key = keys.first().unwrap();
    let sound = chunk(&catalog.db, key).unwrap().unwrap();
    for format in [0, 2, 77] {
        let mut other = sound.clone();
        other[5] = format;
        let set = "UPDATE chunk_bytes SET bytes = ? WHERE key = ?";
        catalog.db.execute(set, params![other, key.as_str()]).unwrap();
        assert_eq!(chunk_for_isolate(&catalog.db, key, catalog.now()), Ok(None));
        publish_listing(&catalog, &kv).unwrap();
        let again = chunk_for_isolate(&catalog.db, key, catalog.now()).unwrap();
        assert_eq!(again.as_ref(), Some(&sound), "{format}");
        assert_eq!(kv.get(&format!("bodies-{key}")).as_ref(), Some(&sound), "{format}");
    }
}

#[test]
fn a_chunk_in_use_again_is_not_deleted() {
    let (catalog, kv) = (Catalog::small(), Kv::default());
    let put = |name: &str| catalog.put(O, "o-1", &with(offer(&["g-1"]), &json!({ "name": name })));
    catalog.put(O, "o-1", &offer(&["g-1"]));
    publish_listing(&catalog, &kv).unwrap();
    let first = kv_keys(&kv);
    let put_at = catalog.now();
    put("Another");
    catalog.wait(300_000);
    publish_listing(&catalog, &kv).unwrap();
    // The same document at the same time makes the same body, byte for byte.
    catalog.now_ms.set(put_at);
    catalog.put(O, "o-1", &offer(&["g-1"]));
    catalog.wait(600_000);
    let writes = kv.writes.get();
    publish_listing(&catalog, &kv).unwrap();
    assert_eq!(kv.writes.get(), writes + 2, "KV still has the chunk: only listing and pointer are written");
    for _ in 0..5 {
        catalog.wait(HOUR_MS);
        publish_listing(&catalog, &kv).unwrap();
        sweep(&catalog, &kv).unwrap();
    }
    assert_eq!(kv_keys(&kv), first, "the used chunk stays and the other is deleted");
    // A deleted chunk is built and written again.
    put("Another");
    publish_listing(&catalog, &kv).unwrap();
    assert_eq!(kv_keys(&kv).len(), 2);
}
