//! Sample offers for the tests of listings and pages.

use proptest::{prelude::*, sample::select};

use super::{
    bodies::build_chunk,
    envelope,
    listing::{ChunkPlan, ListedOffer, build_index, plan_chunks},
};
use crate::{
    catalog::{Goal, Offer, offer::GeoTarget},
    model::{AdvertiserId, Category, Country, GoalId, MicroUsd, OfferId, OfferType, Platform},
};

pub fn id(text: &str) -> OfferId {
    OfferId::parse(text).unwrap()
}

pub fn goal(id: &str, payout_usd: i64, ord: u32) -> Goal {
    Goal {
        id: GoalId::parse(id).unwrap(),
        ttl: format!("Goal {id}"),
        instr: "1. Install\n2. Open".into(),
        payout_usd: MicroUsd(payout_usd),
        ord,
        gl_val: None,
    }
}

/// An Android offer for every country.
pub fn offer(goals: Vec<Goal>) -> Offer {
    Offer {
        advertiser_id: AdvertiserId::parse("advertiser").unwrap(),
        off_type: OfferType::Cpe,
        s_id: "com.example.app".into(),
        name: "App & Co".into(),
        lp_url: "https://store.example/app?a=1&b=2".into(),
        target_url: None,
        click_id_max: None,
        ic_url: "https://cdn.example/icon.png".into(),
        desc: "Play<br>and \"win\"".into(),
        ctg: vec![Category::MultiReward, Category::Gaming],
        os: Platform::Android,
        geo_tgt: GeoTarget::default(),
        goals,
        conversion_cap: None,
        min_seconds_to_convert: None,
        click_cap: None,
        starts_at: None,
        ends_at: None,
        once_per: None,
        conversion_window_days: None,
        terms_since: None,
        active: true,
    }
}

/// The published values: the listing, and each chunk with its key.
pub struct Published {
    pub index: Vec<u8>,
    pub chunks: Vec<(String, Vec<u8>)>,
}

/// Builds the values of offers, sorted by id, and their bodies.
pub fn publish(offers: &[ListedOffer], bodies: &[Vec<u8>]) -> Published {
    let plans = plan_chunks(offers);
    let chunk = |plan: &ChunkPlan| (plan.key.clone(), build_chunk(&bodies[plan.range.clone()]).unwrap());
    Published { index: build_index(7, 1_800_000_000_000, offers, &plans), chunks: plans.iter().map(chunk).collect() }
}

pub fn countries() -> impl Strategy<Value = GeoTarget> {
    let some = || {
        proptest::collection::vec(select(vec!["US", "DE", "FR", "XK"]), 0..4)
            .prop_map(|codes| codes.into_iter().filter_map(Country::parse).collect())
    };
    (some(), some()).prop_map(|(include, exclude)| GeoTarget { include, exclude })
}

fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[ -~]{0,8}",
        select(vec!["<br>", "&nbsp;", "\n", "\"", "\\", "\u{1}", "é", "契約", "🎲", "\u{2028}"])
            .prop_map(str::to_owned),
    ];
    proptest::collection::vec(part, 0..4).prop_map(|parts| parts.concat())
}

/// An offer with random values in all members that a page shows.
pub fn any_offer() -> impl Strategy<Value = Offer> {
    let goal = (text(), text(), proptest::option::of(text()), 0..=1_000_000_000_i64, 0..3_u32);
    let goals = proptest::collection::vec(goal, 1..4).prop_map(|goals| {
        let goals = goals.into_iter().enumerate();
        let goals = goals.map(|(index, (ttl, instr, gl_val, payout, ord))| Goal {
            ttl,
            instr,
            gl_val,
            ..self::goal(&format!("g-{}", 9 - index), payout, ord)
        });
        goals.collect()
    });
    let lists = (
        select(OfferType::ALL.as_slice()),
        select(Platform::ALL.as_slice()),
        proptest::sample::subsequence(Category::ALL.as_slice(), 0..4),
    );
    (goals, lists, (text(), text(), text(), text()), countries()).prop_map(
        |(goals, (off_type, os, ctg), (s_id, name, desc, lp_url), geo_tgt)| Offer {
            off_type,
            os,
            ctg,
            s_id,
            name,
            desc,
            lp_url,
            geo_tgt,
            ..offer(goals)
        },
    )
}

/// A value with some bytes of its payload changed, or with a random payload. Its checksum is correct.
pub fn damaged(value: &[u8], kind: envelope::Kind) -> impl Strategy<Value = Vec<u8>> {
    let payload = value[envelope::HEADER..].to_vec();
    // The lengths of the columns are at the start, where damage has the worst effect.
    let change = (prop_oneof![0..payload.len(), 0..payload.len().min(64)], any::<u8>());
    let changed = proptest::collection::vec(change, 1..20).prop_map(move |changes| {
        let mut payload = payload.clone();
        changes.into_iter().for_each(|(at, byte)| payload[at] = byte);
        payload
    });
    let noise = proptest::collection::vec(any::<u8>(), 0..200);
    prop_oneof![changed, noise].prop_map(move |payload| envelope::wrap(kind, &payload))
}
