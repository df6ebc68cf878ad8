//! Fuzz target for snapshot values from KV.

use serde_json::json;
use xxhash_rust::xxh64::xxh64;

use super::{
    offers::any_app,
    world::{CATALOG, KEYS, NOW_MS, PUBLISHED},
};
use domain::{
    catalog::snapshot::{
        bodies::Chunk,
        envelope::{HEADER, Kind},
        listing::Listing,
        tracking::Tracking,
    },
    conversions::token::{Serial, Token},
    model::{AppId, Country, OfferId, OfferType, Platform},
    offers::{
        page::{MissingChunk, Page, parts},
        request::OffersRequest,
        selection::Selector,
    },
    tracking::{
        decision::{Visitor, decide},
        redirect::{click_kind, redirect},
    },
};

/// Input: a value of any kind.
///
/// Unchanged, it opens only with a valid checksum. With a repaired checksum, damage is refused or finds nothing: no
/// panic, no read out of bounds, and no more work or memory than its size allows.
pub fn value(input: &[u8]) {
    let mut value = input.to_vec();
    let opened = [
        Tracking::open(value.clone()).is_ok(),
        Listing::open(value.clone()).is_ok(),
        Chunk::open(value.clone()).is_ok(),
    ];
    if value.len() < HEADER {
        assert_eq!(opened, [false; 3]);
        return;
    }
    let checksum = xxh64(&value[HEADER..], 0).to_le_bytes();
    let is_sound = value[HEADER - 8..HEADER] == checksum;
    let kinds = [Kind::Tracking, Kind::Listing, Kind::Bodies];
    for (kind, opened) in kinds.into_iter().zip(opened) {
        assert!(!opened || (is_sound && value[4] == kind as u8));
    }
    value[..4].copy_from_slice(b"SGNP");
    value[5] = 1;
    value[HEADER - 8..HEADER].copy_from_slice(&checksum);
    match value[4] % 4 {
        1 => {
            value[4] = Kind::Tracking as u8;
            tracking(value);
        }
        2 => {
            value[4] = Kind::Listing as u8;
            listing(value);
        }
        3 => {
            value[4] = Kind::Bodies as u8;
            bodies(value);
        }
        _ => {}
    }
}

/// Named valid inputs, from which the corpus is made: the whole demo catalog and small parts of it.
pub fn valid_inputs() -> Vec<(String, Vec<u8>)> {
    let mut values = vec![("tracking-demo".to_owned(), CATALOG.tracking())];
    let published = CATALOG.published();
    values.push(("listing-demo".to_owned(), published.index));
    values.extend(
        published
            .chunks
            .into_iter()
            .enumerate()
            .map(|(index, (_, chunk))| (format!("bodies-demo-{index}"), chunk)),
    );
    let empty = super::world::Catalog::default();
    values.push(("tracking-of-nothing".to_owned(), empty.tracking()));
    values.push(("listing-of-nothing".to_owned(), empty.published().index));
    for (id, offer) in CATALOG.offers.iter().step_by(4) {
        let mut one = super::world::Catalog {
            publishers: CATALOG.publishers.clone(),
            advertisers: [(
                offer.advertiser_id.clone(),
                CATALOG.advertisers[&offer.advertiser_id].clone(),
            )]
            .into(),
            apps: CATALOG
                .apps
                .iter()
                .take(1)
                .map(|(id, app)| (*id, app.clone()))
                .collect(),
            ..Default::default()
        };
        one.offers.insert(id.clone(), offer.clone());
        let published = one.published();
        values.push((format!("tracking-offer-{id}"), one.tracking()));
        values.push((format!("listing-offer-{id}"), published.index));
        values.extend(
            published
                .chunks
                .into_iter()
                .map(|(_, chunk)| (format!("bodies-offer-{id}"), chunk)),
        );
    }
    values
}

fn tracking(value: Vec<u8>) {
    let size = value.len();
    let Ok(tracking) = Tracking::open(value) else {
        return;
    };
    assert_eq!(tracking.size(), size);
    let _ = (tracking.version(), tracking.built_at_ms(), tracking.counts());
    let visitor = Visitor {
        country: Country::parse("DE"),
        platform: None,
        now_ms: NOW_MS,
    };
    for advertiser in CATALOG.advertisers.keys() {
        let token = Token {
            advertiser: advertiser.clone(),
            serial: Serial(9),
        };
        let _ = tracking.accepts(&token);
    }
    let goals = CATALOG
        .offers
        .values()
        .step_by(4)
        .flat_map(|offer| offer.goals.first());
    for goal in goals {
        if let Some(goal) = tracking.goal(goal.id.as_str()) {
            assert!(goal.id.len() <= size && goal.offer.target.len() <= size);
        }
        for app in CATALOG.apps.keys() {
            let query = format!("rid={}&app={app}&user_id=u1&c1=..&gaid=x", goal.id);
            if let Ok(allowed) = decide(&tracking, &query, visitor) {
                let _ = (
                    click_kind(&allowed, visitor),
                    redirect(&allowed, visitor, &KEYS, [1; 12]),
                );
            }
        }
    }
    for app in CATALOG.apps.keys().copied().chain(AppId::from_number(0)) {
        if let Some(app) = tracking.app(app) {
            let blocked = app.blocked_offers().map(str::len).sum::<usize>();
            assert!(blocked <= size * size && app.publisher.id.len() <= size);
            let _ = app.currency();
        }
    }
}

fn listing(value: Vec<u8>) {
    let size = value.len();
    let Ok(listing) = Listing::open(value) else { return };
    let len = listing.len();
    assert!(usize::try_from(len).unwrap() <= size && listing.size() == size);
    for row in [0, 1, len / 2, len.wrapping_sub(1), len, u32::MAX] {
        let _ = (
            listing.id(row),
            listing.off_type(row),
            listing.platform(row),
            listing.countries(row),
        );
        let _ = listing
            .figures(row)
            .and_then(|figures| listing.chunk_key(figures.chunk));
    }
    let _ = (listing.version(), listing.built_at_ms());
    for id in CATALOG.offers.keys().step_by(4) {
        let _ = listing.find(id);
    }
    let (_, chunk) = &PUBLISHED.chunks[0];
    let chunk = Chunk::open(chunk.clone()).unwrap();
    pages(listing, &chunk);
}

fn bodies(value: Vec<u8>) {
    let size = value.len();
    let Ok(chunk) = Chunk::open(value) else { return };
    assert_eq!(chunk.size(), size);
    for slot in (0..40).chain([u32::MAX - 1, u32::MAX]) {
        if let Some(body) = chunk.body(slot) {
            assert!(body.payouts().count() <= size);
            let mut out = Vec::new();
            let _ = body.splice(&mut out, |out, _| out.push(b'x'));
            assert!(out.len() <= 2 * size + 2);
        }
    }
    pages(Listing::open(PUBLISHED.index.clone()).unwrap(), &chunk);
}

/// Builds pages with a damaged listing or a damaged chunk, never both.
fn pages(listing: Listing, chunk: &Chunk) {
    let app = any_app();
    let selector = Selector::new(listing);
    let filt = json!([
        { "dim": "country", "match": { "type": "any", "value": ["DE", "US"] } },
        { "dim": "offer_type", "match": { "type": "any", "value": OfferType::ALL.iter().map(|value| value.as_str()).collect::<Vec<_>>() } },
        { "dim": "platform", "match": { "type": "any", "value": Platform::ALL.iter().map(|value| value.as_str()).collect::<Vec<_>>() } },
    ]);
    for filt in [json!(null), filt] {
        let request = json!({ "page": 1, "size": 10, "filt": filt }).to_string();
        let selection = selector.select(&app, &OffersRequest::from_body(&request).unwrap());
        assert!(
            selection.rows.len() <= 10 && selection.total <= selector.listing().len().next_multiple_of(64)
        );
        let mut page = Page::new(&app, "https://track.example.com");
        for part in parts(selector.listing(), &selection.rows) {
            let added: Result<(), MissingChunk> = page.add(selector.listing(), part, chunk);
            if added.is_err() {
                break;
            }
        }
        let _ = page.finish(selection.total);
    }
    let _ = OfferId::parse("1").and_then(|id| selector.listing().find(&id));
}
