//! Tests selection against a model that checks every offer for every request.

use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};

use super::*;
use crate::{
    catalog::{Offer, offer::GeoTarget},
    offers::tests::{app, request},
    snapshot::{
        listing::{ListedOffer, build_index, plan_chunks},
        sample::{countries, id, offer},
    },
};

/// An offer with the fields that selection reads.
type Indexed = (ListedOffer, GeoTarget);

fn any_catalog() -> impl Strategy<Value = Vec<Indexed>> {
    let left = || prop_oneof![4 => Just(None), 1 => (0..3_u32).prop_map(Some)];
    let one = (select(OfferType::ALL.as_slice()), select(Platform::ALL.as_slice()), countries(), left(), left());
    proptest::collection::btree_map("[A-Z0-9-]{1,2}", one, 0..300).prop_map(|offers| {
        let offers = offers.into_iter();
        let offers = offers.map(|(text, (off_type, os, geo_tgt, conversion_left, click_left))| {
            let offer = Offer { off_type, os, geo_tgt, ..offer(vec![]) };
            let indexed = ListedOffer::new(&id(&text), &offer, text.as_bytes());
            (ListedOffer { conversion_left, click_left, ..indexed }, offer.geo_tgt)
        });
        offers.collect()
    })
}

/// Filters as a client writes them: a dimension and its values.
fn any_filters() -> impl Strategy<Value = Vec<(&'static str, Vec<String>)>> {
    let values = |choices: Vec<&'static str>| {
        let values = proptest::collection::vec(select(choices).prop_map(str::to_owned), 1..4);
        values.boxed()
    };
    let types: Vec<_> = OfferType::ALL.iter().map(|value| value.as_str()).collect();
    let filter = prop_oneof![
        (Just("offer_type"), values(types)),
        (Just("platform"), values(vec!["ios", "android", "web"])),
        (Just("country"), values(vec!["US", "us", "DE", "FR", "JP"])),
        (Just("offer_id"), proptest::collection::vec("[A-Z0-9_-]{1,2}", 1..60)),
    ];
    proptest::collection::vec(filter, 0..4)
}

/// Applies the rules of docs/DECISIONS.md, "Offers", to one offer.
fn is_selected((offer, geo): &Indexed, app: &AppListing, filters: &[(&str, Vec<String>)]) -> bool {
    let for_country = |code: &String| {
        let country = Country::parse(code).unwrap();
        (geo.include.is_empty() || geo.include.contains(&country)) && !geo.exclude.contains(&country)
    };
    offer.conversion_left != Some(0)
        && offer.click_left != Some(0)
        && (offer.os == app.platform || offer.os == Platform::Web)
        && !app.blocked.contains(&offer.id)
        && filters.iter().all(|(dim, values)| match *dim {
            "offer_type" => values.iter().any(|value| value == offer.off_type.as_str()),
            "platform" => values.iter().any(|value| value == offer.os.as_str()),
            "country" => values.iter().any(for_country),
            _ => values.iter().any(|value| value == offer.id.as_str()),
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn pages_list_the_matching_offers_without_gaps_or_repeats(
        catalog in any_catalog(),
        filters in any_filters(),
        platform in select(Platform::ALL.as_slice()),
        blocked in proptest::collection::vec("[A-Z0-9]{1,2}", 0..40),
        size in 1..70_u32,
    ) {
        let app = app(platform, blocked.iter().map(|text| id(text)).collect());
        let expected: Vec<&str> = catalog
            .iter()
            .filter(|offer| is_selected(offer, &app, &filters))
            .map(|(offer, _)| offer.id.as_str())
            .collect();
        let offers: Vec<_> = catalog.iter().map(|(offer, _)| offer.clone()).collect();
        let plans = plan_chunks(&offers);
        let index = build_index(1, 0, &offers, &plans);
        let selector = Selector::new(Listing::open(index).unwrap());

        let filt: Value = filters
            .iter()
            .map(|(dim, values)| json!({ "dim": dim, "match": { "type": "any", "value": values } }))
            .collect();
        let mut ids = Vec::new();
        let pages = u32::try_from(expected.len()).unwrap().div_ceil(size);
        for page in 1..=pages {
            let selection = selector.select(&app, &request(page, size, &filt));
            prop_assert_eq!(selection.total as usize, expected.len());
            let full = page < pages || expected.len().is_multiple_of(size as usize);
            prop_assert!(!full || selection.rows.len() == size as usize);
            ids.extend(selection.rows.iter().map(|&row| selector.listing().id(row).unwrap()));
        }
        prop_assert_eq!(&ids, &expected);
        for past in [pages + 1, u32::MAX] {
            let selection = selector.select(&app, &request(past, size, &filt));
            prop_assert_eq!(selection.total as usize, expected.len());
            prop_assert!(selection.rows.is_empty());
        }
    }
}
