//! Fuzz target for snapshot values from KV.

use serde_json::json;
use xxhash_rust::xxh64::xxh64;

use super::{
    offers::any_app,
    world::{APPS, CATALOG, GOALS, KEYS, NOW_MS, PUBLISHED},
};
use domain::{
    clicks::{
        decision::{self, Visitor},
        redirect::{click_kind, redirect},
    },
    conversions::token::{Serial, Token},
    model::{AppId, Country, OfferId, OfferType, Platform},
    offers::{
        page::{MissingChunk, Page, parts},
        request::OffersRequest,
        selection::Selector,
    },
    snapshot::{
        bodies::Chunk,
        envelope::{HEADER, Kind},
        listing::Listing,
        tracking::{AdvertiserShard, AppShard, GoalShard, Manifest, Shard, ShardKind, Slot},
    },
    tracking::parameters::ClickParameters,
};

/// Input: a value of any kind.
///
/// Unchanged, it opens only with a valid checksum. With a repaired checksum, damage is refused or finds nothing: no
/// panic, no read out of bounds, and no more work or memory than its size allows.
pub fn value(input: &[u8]) {
    let mut value = input.to_vec();
    let opened = [
        Manifest::open(value.clone()).is_ok(),
        Listing::open(value.clone()).is_ok(),
        Chunk::open(value.clone()).is_ok(),
        GoalShard::open(only(ShardKind::Goals), value.clone()).is_ok(),
        AppShard::open(only(ShardKind::Apps), value.clone()).is_ok(),
        AdvertiserShard::open(only(ShardKind::Advertisers), value.clone()).is_ok(),
    ];
    if value.len() < HEADER {
        assert_eq!(opened, [false; 6]);
        return;
    }
    let checksum = xxh64(&value[HEADER..], 0).to_le_bytes();
    let is_sound = value[HEADER - 8..HEADER] == checksum;
    let kinds = [Kind::Manifest, Kind::Listing, Kind::Bodies, Kind::Goals, Kind::Apps, Kind::Advertisers];
    for (kind, opened) in kinds.into_iter().zip(opened) {
        assert!(!opened || (is_sound && value[4] == kind as u8));
    }
    value[..4].copy_from_slice(b"SGNP");
    value[5] = 1;
    value[HEADER - 8..HEADER].copy_from_slice(&checksum);
    match value[4] % 8 {
        1 => {
            value[4] = Kind::Manifest as u8;
            manifest(value);
        }
        2 => {
            value[4] = Kind::Listing as u8;
            listing(value);
        }
        3 => {
            value[4] = Kind::Bodies as u8;
            bodies(value);
        }
        4 => {
            value[4] = Kind::Goals as u8;
            goals(value);
        }
        5 => {
            value[4] = Kind::Apps as u8;
            apps(value);
        }
        6 => {
            value[4] = Kind::Advertisers as u8;
            advertisers(value);
        }
        _ => {}
    }
}

/// Named valid inputs, from which the corpus is made: the whole demo catalog and small parts of it.
pub fn valid_inputs() -> Vec<(String, Vec<u8>)> {
    let mut values =
        vec![("manifest".to_owned(), Manifest::build(7, NOW_MS, &[vec![1], vec![2, 3], vec![4, 5, 6, 7]]))];
    values.extend(shards("demo", &CATALOG));
    let published = CATALOG.published();
    values.push(("listing-demo".to_owned(), published.index));
    values.extend(
        published.chunks.into_iter().enumerate().map(|(index, (_, chunk))| (format!("bodies-demo-{index}"), chunk)),
    );
    let empty = super::world::Catalog::default();
    values.extend(shards("of-nothing", &empty));
    values.push(("listing-of-nothing".to_owned(), empty.published().index));
    for (id, offer) in CATALOG.offers.iter().step_by(4) {
        let mut one = super::world::Catalog {
            publishers: CATALOG.publishers.clone(),
            advertisers: [(offer.advertiser_id.clone(), CATALOG.advertisers[&offer.advertiser_id].clone())].into(),
            apps: CATALOG.apps.iter().take(1).map(|(id, app)| (*id, app.clone())).collect(),
            ..Default::default()
        };
        one.offers.insert(id.clone(), offer.clone());
        let published = one.published();
        values.extend(shards(&format!("offer-{id}"), &one));
        values.push((format!("listing-offer-{id}"), published.index));
        values.extend(published.chunks.into_iter().map(|(_, chunk)| (format!("bodies-offer-{id}"), chunk)));
    }
    values
}

/// The shards of a catalog, with names that end with `of`.
fn shards(of: &str, catalog: &super::world::Catalog) -> Vec<(String, Vec<u8>)> {
    let shards = catalog.shards().into_iter();
    let named = shards.map(|(slot, bytes)| (format!("{}-{of}", slot.kind.as_str()), bytes));
    named.collect()
}

/// The only slot of a kind.
fn only(kind: ShardKind) -> Slot {
    Slot::of(kind, 0, 0)
}

fn manifest(value: Vec<u8>) {
    let size = value.len();
    let Ok(manifest) = Manifest::open(value) else {
        return;
    };
    assert_eq!(manifest.size(), size);
    let _ = (manifest.version(), manifest.built_at_ms());
    for kind in ShardKind::ALL {
        let slots: Vec<_> = manifest.slots(kind).collect();
        assert!((1..=size / 8).contains(&slots.len()));
        for hash in [0, 1, 0x7fff, 0x8000, u16::MAX] {
            let slot = manifest.slot(kind, hash);
            let named = manifest.checksum(slot).unwrap();
            assert!(slots.contains(&(slot, named)));
        }
    }
}

fn advertisers(value: Vec<u8>) {
    let Ok(shard) = AdvertiserShard::open(only(ShardKind::Advertisers), value) else {
        return;
    };
    for advertiser in CATALOG.advertisers.keys() {
        let token = Token { advertiser: advertiser.clone(), serial: Serial(9) };
        let _ = (shard.has(advertiser), shard.accepts(&token, NOW_MS));
    }
}

fn goals(value: Vec<u8>) {
    let size = value.len();
    let Ok(shard) = GoalShard::open(only(ShardKind::Goals), value) else {
        return;
    };
    let first_goals = CATALOG.offers.values().step_by(4);
    for goal in first_goals.flat_map(|offer| offer.goals.first()) {
        if let Some(goal) = shard.goal(goal.id.as_str()) {
            assert!(goal.id.len() <= size && goal.offer.target.len() <= size);
        }
        for app in CATALOG.apps.keys() {
            decide(&APPS, &shard, *app, goal.id.as_str());
        }
    }
}

fn apps(value: Vec<u8>) {
    let size = value.len();
    let Ok(shard) = AppShard::open(only(ShardKind::Apps), value) else {
        return;
    };
    for id in CATALOG.apps.keys().copied().chain(AppId::from_number(0)) {
        if let Some(app) = shard.app(id) {
            let blocked = app.blocked_offers().map(str::len).sum::<usize>();
            assert!(blocked <= size * size && app.publisher.id.len() <= size);
            let _ = app.currency();
        }
        for offer in CATALOG.offers.values().step_by(4) {
            decide(&shard, &GOALS, id, offer.goals[0].id.as_str());
        }
    }
}

/// Decides a click on a goal, with a damaged shard of apps or of goals, never both.
fn decide(apps: &AppShard, goals: &GoalShard, app: AppId, goal: &str) {
    let visitor = Visitor { country: Country::parse("DE"), platform: None, now_ms: NOW_MS };
    let query = format!("rid={goal}&app={app}&user_id=u1&c1=..&gaid=x");
    let parameters = ClickParameters::parse(&query).unwrap();
    if let Ok(allowed) = decision::decide(parameters, apps.app(app), goals.goal(goal), visitor) {
        let _ = (click_kind(&allowed, visitor), redirect(&allowed, visitor, &KEYS, [1; 12]));
    }
}

fn listing(value: Vec<u8>) {
    let size = value.len();
    let Ok(listing) = Listing::open(value) else { return };
    let len = listing.len();
    assert!(usize::try_from(len).unwrap() <= size && listing.size() == size);
    for row in [0, 1, len / 2, len.wrapping_sub(1), len, u32::MAX] {
        let _ = listing.id(row);
        let _ = listing.figures(row).and_then(|figures| listing.chunk_key(figures.chunk));
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
        assert!(selection.rows.len() <= 10 && selection.total <= selector.listing().len().next_multiple_of(64));
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
