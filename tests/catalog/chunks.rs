//! Chunks of bodies, under keys made of their contents: what is in them, and when each is written and forgotten.

use std::collections::BTreeSet;

use serde_json::json;

use crate::{
    Catalog, body, offer,
    service::{Kv, publish_listing, sweep},
    with,
};
use contract::{catalog::Resource, counters::OfferStats};
use domain::{
    catalog::snapshot::{bodies::Chunk, listing::Listing},
    model::{OfferId, time::UtcDay},
};
use origin::catalog::publication::{chunk, chunk_written, chunks_to_write, keep_stats};

const O: Resource = Resource::Offer;
const HOUR_MS: i64 = 3_600_000;

/// A catalog of some chunks.
fn many() -> Catalog {
    let catalog = Catalog::small();
    let lines: String = (0..600)
        .map(|n| {
            let members = json!({ "kind": "offer", "id": format!("o-{n}") });
            with(offer(&[&format!("g-{n}")]), &members).to_string() + "\n"
        })
        .collect();
    body(&catalog.import("i", &lines).unwrap(), 200);
    catalog
}

fn keys(listing: &Listing) -> BTreeSet<String> {
    let keys = listing.chunk_keys();
    (0..)
        .map_while(|place| keys.get(place))
        .map(str::to_owned)
        .collect()
}

/// Builds the listing and writes what KV does not have yet. Returns the keys of its chunks, and of those written.
fn rebuild(catalog: &Catalog) -> (BTreeSet<String>, Vec<String>) {
    let listing = catalog.listing();
    let written = chunks_to_write(&catalog.db).unwrap();
    for key in &written {
        chunk_written(&catalog.db, key).unwrap();
    }
    (keys(&listing), written)
}

#[test]
fn every_listed_offer_has_its_body_where_the_listing_says() {
    let catalog = many();
    let listing = catalog.listing();
    assert_eq!(listing.len(), 600);
    for row in 0..listing.len() {
        let figures = listing.figures(row).unwrap();
        let key = listing.chunk_key(figures.chunk).unwrap();
        let chunk = Chunk::open(chunk(&catalog.db, key).unwrap().unwrap()).unwrap();
        let mut text = Vec::new();
        chunk
            .body(figures.slot)
            .unwrap()
            .splice(&mut text, |_, _| {})
            .unwrap();
        let id = listing.id(row).unwrap();
        assert!(text.starts_with(format!("{{\"id\":\"{id}\",").as_bytes()), "{id}");
    }
    assert_eq!(chunk(&catalog.db, "none"), Ok(None));
}

#[test]
fn only_what_changed_is_written() {
    let catalog = many();
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
    assert!(
        changes() - before < 5,
        "a rebuild that changes nothing writes the index alone"
    );

    // The time of a change is part of a body, so that any change of an offer is one.
    let mut before = all;
    for members in [
        json!({ "name": "Another" }),
        json!({ "name": "Another", "click_cap": { "dur": "DAILY", "lim": 9 } }),
    ] {
        catalog.wait(1_000);
        catalog.put(O, "o-300", &with(offer(&["g-300"]), &members));
        let (after, written) = rebuild(&catalog);
        assert_eq!(
            (after.len(), after.difference(&before).count()),
            (before.len(), 1),
            "one chunk in place of another"
        );
        assert!(written.iter().eq(after.difference(&before)));
        before = after;
    }
}

#[test]
fn an_offer_that_is_capped_out_or_comes_back_changes_no_chunk() {
    let catalog = many();
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
        };
        keep_stats(&catalog.db, "counters-0", UtcDay::of_ms(catalog.now()), &[stats]).unwrap();
        assert_eq!(catalog.listing().len(), listed);
        assert_eq!(rebuild(&catalog), (all.clone(), vec![]));
    }
}

/// The keys of the chunks in KV.
fn in_kv(kv: &Kv) -> BTreeSet<String> {
    let values = kv.values.borrow();
    values
        .keys()
        .filter_map(|key| key.strip_prefix("bodies-"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_chunk_stays_as_long_as_a_listing_that_uses_it_is_in_kv() {
    let (catalog, kv) = (Catalog::small(), Kv::default());
    let put = |name: &str| catalog.put(O, "o-1", &with(offer(&["g-1"]), &json!({ "name": name })));
    put("First");
    publish_listing(&catalog, &kv).unwrap();
    let first = in_kv(&kv);
    put("Second");
    // Its listing is in the pointer for two more, and in KV for an hour after that, however long a rebuild takes.
    for (wait_ms, stays) in [
        (300_000, true),
        (10 * HOUR_MS, true),
        (300_000, true),
        (HOUR_MS, true),
        (1, false),
    ] {
        catalog.wait(wait_ms);
        if wait_ms != HOUR_MS && wait_ms != 1 {
            publish_listing(&catalog, &kv).unwrap();
        }
        sweep(&catalog, &kv).unwrap();
        assert_eq!(in_kv(&kv).is_superset(&first), stays, "{wait_ms} later");
        let key = first.first().unwrap();
        assert_eq!(
            chunk(&catalog.db, key).unwrap().is_some(),
            stays,
            "an isolate that was asleep may ask for it"
        );
    }
}

#[test]
fn a_chunk_that_is_used_again_is_revived() {
    let (catalog, kv) = (Catalog::small(), Kv::default());
    let put = |name: &str| catalog.put(O, "o-1", &with(offer(&["g-1"]), &json!({ "name": name })));
    catalog.put(O, "o-1", &offer(&["g-1"]));
    publish_listing(&catalog, &kv).unwrap();
    let first = in_kv(&kv);
    let put_at = catalog.now();
    put("Another");
    catalog.wait(300_000);
    publish_listing(&catalog, &kv).unwrap();
    // The document is what it was, at the time it was: so is the body, to the byte.
    catalog.now_ms.set(put_at);
    catalog.put(O, "o-1", &offer(&["g-1"]));
    catalog.wait(600_000);
    let writes = kv.writes.get();
    publish_listing(&catalog, &kv).unwrap();
    assert_eq!(
        kv.writes.get(),
        writes + 2,
        "KV has the chunk still: only the listing and the pointer are written"
    );
    for _ in 0..5 {
        catalog.wait(HOUR_MS);
        publish_listing(&catalog, &kv).unwrap();
        sweep(&catalog, &kv).unwrap();
    }
    assert_eq!(in_kv(&kv), first, "the one that is used stays and the other went");
    // One that was forgotten is made and written anew.
    put("Another");
    publish_listing(&catalog, &kv).unwrap();
    assert_eq!(in_kv(&kv).len(), 2);
}
