use std::collections::HashSet;

use proptest::{prelude::*, sample::select};

use super::*;
use crate::{
    catalog::{Goal, Offer},
    snapshot::{
        bodies::render_body,
        sample::{damaged, goal, id, offer, publish},
    },
};

fn plain(text: &str) -> ListedOffer {
    let offer = offer(vec![]);
    ListedOffer { body_len: 4_000, ..ListedOffer::new(&id(text), &offer, text.as_bytes()) }
}

fn any_listed() -> impl Strategy<Value = Vec<ListedOffer>> {
    let caps = (proptest::option::of(0..3_u32), proptest::option::of(0..3_u32));
    let one = (
        caps,
        select(OfferType::ALL.as_slice()),
        select(Platform::ALL.as_slice()),
        any::<[u8; 2]>(),
        any::<(u64, u64, i64)>(),
    );
    proptest::collection::btree_map("[A-Za-z0-9-]{1,3}", one, 0..200).prop_map(|offers| {
        let offers = offers.into_iter();
        let offers = offers.map(|(text, ((conversion_left, click_left), off_type, os, [a, b], (x, y, z)))| {
            let mut bits = [0; 32];
            (bits[3], bits[7]) = (a % 2, b % 4);
            ListedOffer {
                off_type,
                os,
                countries: CountrySet::from_bits(bits),
                conversion_left,
                click_left,
                clicks: x,
                conversions: y,
                payout: MicroUsd(z),
                body_len: u32::from(a) * 1_000,
                ..plain(&text)
            }
        });
        offers.collect()
    })
}

proptest! {
    #[test]
    fn a_listing_is_read_as_built_without_offers_that_reached_their_cap(offers in any_listed()) {
        let plans = plan_chunks(&offers);
        let listing = Listing::open(build_index(42, 1_234, &offers, &plans)).unwrap();
        prop_assert_eq!((listing.version(), listing.built_at_ms()), (42, 1_234));
        let is_open = |offer: &&ListedOffer| offer.conversion_left != Some(0) && offer.click_left != Some(0);
        let (open, capped): (Vec<_>, Vec<_>) = offers.iter().partition(is_open);
        prop_assert_eq!(listing.len() as usize, open.len());
        for country in Country::all() {
            let targets: Vec<_> = open.iter().map(|offer| offer.countries.contains(country)).collect();
            prop_assert_eq!(listing.for_country(country).collect::<Vec<_>>(), targets);
        }
        for (row, offer) in (0..).zip(open) {
            prop_assert_eq!(listing.id(row), Some(offer.id.as_str()));
            prop_assert_eq!(listing.find(&offer.id), Some(row));
            prop_assert_eq!(listing.off_types()[row as usize], offer.off_type.code());
            prop_assert_eq!(listing.platforms()[row as usize], offer.os.code());
            let figures = listing.figures(row).unwrap();
            prop_assert_eq!((figures.clicks, figures.conversions), (offer.clicks, offer.conversions));
            prop_assert_eq!(figures.payout, offer.payout);
            prop_assert_eq!((figures.conversion_left, figures.click_left), (offer.conversion_left, offer.click_left));
            let plan = &plans[figures.chunk as usize];
            prop_assert_eq!(listing.chunk_key(figures.chunk), Some(plan.key.as_str()));
            prop_assert_eq!(&offers[plan.range.start + figures.slot as usize].id, &offer.id);
        }
        prop_assert!(capped.iter().all(|offer| listing.find(&offer.id).is_none()));
        prop_assert_eq!(listing.figures(listing.len()), None);
    }

    #[test]
    fn chunks_are_bounded_and_cover_all_offers_in_order(offers in any_listed()) {
        let plans = plan_chunks(&offers);
        let covered: Vec<usize> = plans.iter().flat_map(|plan| plan.range.clone()).collect();
        prop_assert_eq!(covered, (0..offers.len()).collect::<Vec<_>>());
        for plan in plans {
            let chunk = &offers[plan.range];
            prop_assert!((1..=CHUNK_OFFERS).contains(&chunk.len()));
            let before_last: u64 = chunk.iter().rev().skip(1).map(|offer| u64::from(offer.body_len)).sum();
            prop_assert!(before_last < CHUNK_BYTES);
        }
    }

    #[test]
    fn a_damaged_listing_never_panics(
        value in damaged(&valid_listing(), Kind::Listing),
        row: u32,
        country in select(Country::all().collect::<Vec<_>>()),
    ) {
        if let Ok(listing) = Listing::open(value) {
            for row in [0, 1, 2, listing.len(), row] {
                let _ = listing.id(row);
                let _ = listing.figures(row).and_then(|figures| listing.chunk_key(figures.chunk));
            }
            let _ = (listing.find(&id("2")), listing.for_country(country).count(), listing.version());
            let _ = (listing.off_types(), listing.platforms());
        }
    }
}

fn valid_listing() -> Vec<u8> {
    let offers = ["1", "2", "3"].map(plain);
    build_index(1, 2, &offers, &plan_chunks(&offers))
}

#[test]
fn caps_change_no_chunk() {
    let mut offers: Vec<_> = (100..400).map(|number| plain(&number.to_string())).collect();
    let before = plan_chunks(&offers);
    offers[7].click_left = Some(0);
    offers[8].conversion_left = Some(5);
    assert_eq!(plan_chunks(&offers), before);
}

#[test]
fn adding_or_removing_an_offer_changes_only_its_chunk() {
    let keys =
        |offers: &[ListedOffer]| -> HashSet<String> { plan_chunks(offers).into_iter().map(|plan| plan.key).collect() };
    let all: Vec<_> = (10_000..15_000).map(|number| plain(&number.to_string())).collect();
    let before = keys(&all);
    assert!((50..160).contains(&before.len()), "{} chunks", before.len());
    for index in (0..all.len()).step_by(61) {
        let mut fewer = all.clone();
        fewer.remove(index);
        let after = keys(&fewer);
        // This also covers adding: `fewer` with the offer added is `all`.
        assert!(before.difference(&after).count() <= 2, "{index}");
        assert!(after.difference(&before).count() <= 2, "{index}");
    }
}

#[test]
fn a_chunk_ends_at_its_limits_for_any_ids() {
    let never_cut = |offer: &ListedOffer| !xxh64(offer.id.as_str().as_bytes(), 0).is_multiple_of(CHUNK_MEAN);
    let mut offers: Vec<_> = (10_000..11_000).map(|number| plain(&number.to_string())).filter(never_cut).collect();
    offers.truncate(600);
    let lengths =
        |offers: &[ListedOffer]| -> Vec<usize> { plan_chunks(offers).iter().map(|plan| plan.range.len()).collect() };
    assert_eq!(lengths(&offers), [256, 256, 88]);
    offers.iter_mut().for_each(|offer| offer.body_len = 1 << 18);
    assert_eq!(lengths(&offers), [4; 150]);
}

/// docs/PERFORMANCE.md, "Limits at scale": 20,000 offers with 3 goals each.
#[test]
fn a_listing_of_20_000_offers_fits_kv_and_sqlite_values() {
    let text = "Rebuild the keep, train its garrison and hold the passes against the Cinder Host. ".repeat(6);
    let offers = (10_000..30_000).map(|number| {
        let goal = |place: u32| Goal {
            instr: "1. Install the app and open it from this offer\n2. Finish the tutorial\n3. Reach level 5".into(),
            ..goal(&format!("{}", number * 10 + place), 1_250_000, place)
        };
        let offer = Offer { desc: text.clone(), ..offer((1..4).map(goal).collect()) };
        let id = id(&number.to_string());
        let body = render_body(&id, &offer, 1_790_000_000);
        (ListedOffer::new(&id, &offer, &body), body)
    });
    let (offers, bodies): (Vec<_>, Vec<_>) = offers.unzip();
    let published = publish(&offers, &bodies);
    assert!(published.index.len() <= 4_000_000, "the index takes {} bytes", published.index.len());
    for (key, chunk) in &published.chunks {
        assert!(chunk.len() < 2 << 20, "chunk {key} takes {} bytes", chunk.len());
    }
    assert_eq!(Listing::open(published.index).unwrap().len(), 20_000);
}
