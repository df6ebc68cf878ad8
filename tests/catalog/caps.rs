//! Offer statistics that the catalog reads from the counters.

use serde_json::{Value, json};

use crate::{Catalog, NOON, offer, sqlite::Sqlite, with};
use contract::{
    catalog::Resource,
    counters::{AppStats, OfferStats},
};
use domain::{
    model::{
        AppId, OfferId, PublisherId,
        time::{DAY_MS, UtcDay},
    },
    snapshot::listing::Figures,
    tracking::click_counts::ClickSum,
};
use origin::objects::{
    catalog::{
        offer_figures,
        publication::{delete_stale_stats, store_stats},
    },
    counters::{self, TakenCounts},
};
use platform::migrations::migrate;

const O: Resource = Resource::Offer;

fn id(text: &str) -> OfferId {
    OfferId::parse(text).unwrap()
}

fn stats(offer: &str, clicks_taken: u32, conversions_taken: u32) -> OfferStats {
    OfferStats {
        offer: id(offer),
        clicks: 1_000,
        conversions: 30,
        payout_micro_usd: 45_500_000,
        clicks_taken,
        conversions_taken,
        apps: vec![],
    }
}

fn figures(catalog: &Catalog, offer: &str) -> Option<Figures> {
    let listing = catalog.listing();
    listing.find(&id(offer)).and_then(|row| listing.figures(row))
}

fn caps(click: Value, conversion: Value) -> Value {
    let cap = |lim: Value| {
        if lim.is_null() { lim } else { json!({ "dur": "DAILY", "lim": lim }) }
    };
    json!({ "click_cap": cap(click), "conversion_cap": cap(conversion) })
}

#[test]
fn an_offers_figures_are_those_of_all_objects_together() {
    let catalog = Catalog::small();
    catalog.put(O, "o-1", &with(offer(&["g-1"]), &caps(json!(10), json!(null))));
    let (today, yesterday) = (UtcDay::of_ms(NOON), UtcDay::of_ms(NOON).minus(1));
    let store = |object, day, stats| store_stats(&catalog.db, object, day, &[stats]).unwrap();
    let clicks_alone = OfferStats { conversions: 0, payout_micro_usd: 0, ..stats("o-1", 0, 0) };
    store("counters-1", today, clicks_alone);
    store("counters-9", today, stats("o-1", 4, 0));
    let shown = || figures(&catalog, "o-1").map(|found| (found.clicks, found.conversions, found.click_left));
    assert_eq!(shown(), Some((2_000, 30, Some(6))));
    // Yesterday's answer of an object says nothing about today's cap.
    store("counters-9", yesterday, stats("o-1", 4, 0));
    assert_eq!(shown(), Some((2_000, 30, Some(10))));
    delete_stale_stats(&catalog.db, "counters-9", today).unwrap();
    assert_eq!(shown(), Some((1_000, 0, Some(10))));
}

/// One object has the clicks of each app, another its conversions.
#[test]
fn clicks_count_as_far_as_all_objects_together_have_conversions_of_their_app() {
    let catalog = Catalog::small();
    catalog.put(O, "o-1", &offer(&["g-1"]));
    let today = UtcDay::of_ms(NOON);
    let store = |object, apps: &[AppStats]| {
        let sum = |of: fn(&AppStats) -> u64| apps.iter().map(of).sum();
        let sums = OfferStats {
            clicks: sum(|app| app.1),
            conversions: sum(|app| app.2),
            apps: apps.to_vec(),
            ..stats("o-1", 0, 0)
        };
        store_stats(&catalog.db, object, today, &[sums]).unwrap();
    };
    let apps = |clicks, conversions| (1..=10).map(move |app| (app, clicks, conversions));
    let shown = || figures(&catalog, "o-1").map(|found| (found.clicks, found.conversions, found.payout.0));
    // Without any conversions the clicks of all apps count.
    store("counters-1", &apps(10, 0).chain([(11, 400, 0)]).collect::<Vec<_>>());
    assert_eq!(shown(), Some((500, 0, 45_500_000)));
    store("counters-9", &apps(0, 1).collect::<Vec<_>>());
    assert_eq!(shown(), Some((105, 10, 91_000_000)));
    // An older object, or one that does not know the app.
    let unknown = OfferStats { clicks: 300, conversions: 0, ..stats("o-1", 0, 0) };
    store_stats(&catalog.db, "counters-3", today, &[unknown]).unwrap();
    assert_eq!(shown().map(|(clicks, ..)| clicks), Some(111));
    // The console shows all clicks.
    let read = offer_figures::read(&catalog.db, NOON, &[id("o-1")]).unwrap();
    let read: Value = serde_json::from_str(&read.body).unwrap();
    assert_eq!(read["figures"]["o-1"]["clicks"], 800);
    // An app's share is written when it changes, even if the sums do not.
    store("counters-1", &apps(50, 0).collect::<Vec<_>>());
    assert_eq!(shown().map(|(clicks, ..)| clicks), Some(526));
}

#[test]
fn a_listing_shows_the_part_of_a_cap_not_taken_today() {
    let catalog = Catalog::small();
    let today = UtcDay::of_ms(NOON);
    for (click, conversion, taken, expected) in [
        (json!(null), json!(null), (7, 7), Some((None, None))),
        (json!(10), json!(null), (0, 0), Some((Some(10), None))),
        (json!(10), json!(null), (9, 99), Some((Some(1), None))),
        (json!(null), json!(5), (99, 4), Some((None, Some(1)))),
        (json!(10), json!(5), (3, 2), Some((Some(7), Some(3)))),
        // One of the caps is spent, or was lowered below the number taken.
        (json!(10), json!(5), (10, 0), None),
        (json!(10), json!(5), (0, 5), None),
        (json!(10), json!(5), (11, 6), None),
        (json!(0), json!(null), (0, 0), None),
        (json!(1_000_000_000), json!(1), (999_999_999, 0), Some((Some(1), Some(1)))),
    ] {
        catalog.put(O, "o-1", &with(offer(&["g-1"]), &caps(click.clone(), conversion.clone())));
        store_stats(&catalog.db, "counters-0", today, &[stats("o-1", taken.0, taken.1)]).unwrap();
        let shown = figures(&catalog, "o-1");
        let left = shown.map(|figures| (figures.click_left, figures.conversion_left));
        assert_eq!(left, expected, "{click} {conversion} {taken:?}");
        if let Some(shown) = shown {
            assert_eq!((shown.clicks, shown.conversions, shown.payout.0), (1_000, 30, 45_500_000));
        }
        // The next day nothing is taken yet, and the statistics stay.
        catalog.now_ms.set(today.minus(-1).start_ms());
        let shown = figures(&catalog, "o-1");
        let whole = [&click, &conversion].map(|lim| lim.as_u64());
        let left = shown.map(|figures| [figures.click_left, figures.conversion_left].map(|left| left.map(u64::from)));
        assert_eq!(left, (click != 0).then_some(whole), "{click} {conversion} {taken:?}");
        catalog.now_ms.set(NOON);
    }
}

#[test]
fn statistics_are_stored_for_unknown_offers_and_written_only_when_they_change() {
    let catalog = Catalog::small();
    let today = UtcDay::of_ms(NOON);
    let changes = || catalog.rows("SELECT total_changes()")[0].integer(0).unwrap();
    store_stats(&catalog.db, "counters-0", today, &[stats("o-1", 1, 0), stats("o-2", 2, 0)]).unwrap();
    let before = changes();
    store_stats(&catalog.db, "counters-0", today, &[stats("o-1", 1, 0), stats("o-2", 2, 0)]).unwrap();
    assert_eq!(changes(), before, "nothing changed");
    store_stats(&catalog.db, "counters-0", today, &[stats("o-1", 1, 0), stats("o-2", 3, 0)]).unwrap();
    assert_eq!(changes(), before + 1);
    catalog.put(O, "o-2", &with(offer(&["g-2"]), &caps(json!(10), json!(null))));
    assert_eq!(figures(&catalog, "o-2").unwrap().click_left, Some(7));
}

/// A counters database with clicks on an offer.
fn counters_with_clicks(offer: &str, day: UtcDay, clicks: u32) -> Sqlite {
    let db = Sqlite::in_memory();
    migrate(&db, 0, counters::MIGRATIONS).unwrap();
    let sum = ClickSum {
        publisher: PublisherId::parse("acme").unwrap(),
        day,
        offer: id(offer),
        app: AppId::parse("10000001").unwrap(),
        country: None,
        placement: None,
        clicks,
    };
    let flush = contract::counters::Command::Flush(contract::counters::Flush {
        isolate: "i".into(),
        sequence: 1,
        sums: vec![sum].into(),
    });
    counters::handle(&db, &TakenCounts::default(), day.start_ms(), flush).unwrap();
    db
}

#[test]
fn statistics_cover_the_last_30_days() {
    let catalog = Catalog::small();
    catalog.put(O, "o-1", &offer(&["g-1"]));
    let clicked = UtcDay::of_ms(NOON);
    let counters = counters_with_clicks("o-1", clicked, 7);
    for (days, clicks) in [(0, 7), (1, 7), (29, 7), (30, 0), (31, 0)] {
        let today = clicked.minus(-days);
        let answer = counters::handle(
            &counters,
            &TakenCounts::default(),
            today.start_ms(),
            contract::counters::Command::Stats(contract::counters::Stats { today, after: None }),
        )
        .unwrap();
        // The catalog parses the JSON that the counters wrote.
        let stats: Vec<OfferStats> = serde_json::from_value(serde_json::to_value(answer).unwrap()).unwrap();
        store_stats(&catalog.db, "counters-0", today, &stats).unwrap();
        delete_stale_stats(&catalog.db, "counters-0", today).unwrap();
        catalog.now_ms.set(today.start_ms());
        assert_eq!(figures(&catalog, "o-1").unwrap().clicks, clicks, "{days} days later");
    }
    assert_eq!(catalog.now(), clicked.start_ms() + 31 * DAY_MS);
}
