//! The fixed data that requests meet: the demo catalog in the edge's form, the demo's facts in a ledger's form, and
//! keys. Built once per process.

use std::{collections::BTreeMap, convert::Infallible, rc::Rc, sync::LazyLock};

use serde_json::{Map, Value};

use domain::{
    catalog::{Offer, advertiser::Advertiser, app::App, publisher::Publisher},
    conversions::{terms::TermsInForce, token::Serial},
    model::{AdvertiserId, AppId, MicroUsd, OfferId, PublisherId, document::Document, time::UtcDay},
    offers::page::AppListing,
    reporting::{
        engine::{self, SegmentRef},
        facts::{Format, Reader},
        segment::{Column, Segmenter},
    },
    snapshot::{
        bodies::{body_hash, build_chunk, render_body},
        listing::{ListedOffer, build_index, plan_chunks},
        tracking::{
            AppShard, GoalShard, Shard, ShardKind, Slot,
            advertisers::{self, SourceAdvertiser},
            apps::{self, SourceApp},
            goals::{self, SourceGoal, SourceOffer},
        },
    },
    tracking::keys::KeyRing,
};

/// 2026-11-21T12:00:00Z, which is within the demo's days and after its offers began.
pub const NOW_MS: i64 = 1_795_262_400_000;
pub const NOW_S: i64 = NOW_MS / 1_000;

/// A key ring with one key.
pub static KEYS: LazyLock<KeyRing> = LazyLock::new(|| {
    KeyRing::parse("7:seal:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f").unwrap()
});

pub static CATALOG: LazyLock<Catalog> =
    LazyLock::new(|| Catalog::read(include_str!("../../../fixtures/catalog.ndjson")));

pub static PUBLISHED: LazyLock<Published> = LazyLock::new(|| CATALOG.published());

pub static APPS: LazyLock<AppShard> = LazyLock::new(|| {
    let [_, (slot, bytes), _] = CATALOG.shards();
    AppShard::open(slot, bytes).unwrap()
});

pub static GOALS: LazyLock<GoalShard> = LazyLock::new(|| {
    let [.., (slot, bytes)] = CATALOG.shards();
    GoalShard::open(slot, bytes).unwrap()
});

/// The demo's resources by id.
#[derive(Default)]
pub struct Catalog {
    pub publishers: BTreeMap<PublisherId, Publisher>,
    pub apps: BTreeMap<AppId, App>,
    pub advertisers: BTreeMap<AdvertiserId, Advertiser>,
    pub offers: BTreeMap<OfferId, Offer>,
}

/// The listing snapshot and its chunks.
pub struct Published {
    pub index: Vec<u8>,
    /// Chunks with their keys.
    pub chunks: Vec<(String, Vec<u8>)>,
}

impl Catalog {
    fn read(text: &str) -> Self {
        let mut catalog = Self::default();
        for line in text.lines() {
            let mut members: Map<String, Value> = serde_json::from_str(line).unwrap();
            let [kind, id] = ["kind", "id"].map(|name| members.remove(name).unwrap());
            let (kind, id) = (kind.as_str().unwrap(), id.as_str().unwrap());
            let json = Value::Object(members).to_string();
            match kind {
                "publisher" => drop(
                    catalog.publishers.insert(PublisherId::parse(id).unwrap(), Publisher::from_json(&json).unwrap()),
                ),
                "app" => drop(catalog.apps.insert(AppId::parse(id).unwrap(), App::from_json(&json).unwrap())),
                "advertiser" => drop(
                    catalog.advertisers.insert(AdvertiserId::parse(id).unwrap(), Advertiser::from_json(&json).unwrap()),
                ),
                _ => drop(catalog.offers.insert(OfferId::parse(id).unwrap(), Offer::from_json(&json).unwrap())),
            }
        }
        catalog
    }

    /// The tracking snapshot's shards: one of advertisers, one of apps and one of goals.
    pub fn shards(&self) -> [(Slot, Vec<u8>); 3] {
        let goals = self.offers.iter().flat_map(|(id, offer)| {
            offer.goals.iter().map(move |goal| SourceGoal {
                retired: goal.id.as_str().ends_with('3'),
                id: goal.id.clone(),
                offer: source_offer(id, offer),
            })
        });
        let apps = self.apps.iter().map(|(id, app)| SourceApp {
            id: *id,
            document: app.clone(),
            revision: 12,
            terms: IN_FORCE,
            callback_revision: 0,
            outbox_shards: 8,
            click_secrets: None,
            approved: self.publishers[&app.publisher_id].approved,
            pub_key_hash: Some([7; 32]),
        });
        let advertisers = self.advertisers.keys().map(|id| SourceAdvertiser {
            id: id.clone(),
            newest_serial: Serial(10),
            valid_serials: vec![Serial(9), Serial(10)],
        });
        ShardKind::ALL.map(|kind| {
            let slot = Slot::of(kind, 0, 0);
            let built = match kind {
                ShardKind::Advertisers => advertisers::build(slot, advertisers.clone().collect()),
                ShardKind::Apps => apps::build(slot, apps.clone().collect()),
                ShardKind::Goals => goals::build(slot, goals.clone().collect()),
            };
            (slot, built.bytes)
        })
    }

    /// The listing of all offers, live or not, with the bodies that it refers to.
    pub fn published(&self) -> Published {
        publish(self.offers.iter())
    }
}

/// The terms of every offer and app.
const IN_FORCE: TermsInForce = TermsInForce { revision: NOW_S, since: 0 };

fn source_offer(id: &OfferId, offer: &Offer) -> SourceOffer {
    SourceOffer {
        id: id.clone(),
        active: offer.active,
        starts_at: offer.starts_at,
        ends_at: offer.ends_at,
        os: offer.os,
        countries: offer.geo_tgt.countries(),
        includes_countries: !offer.geo_tgt.include.is_empty(),
        click_cap: offer.click_cap.map(|cap| cap.lim),
        click_id_max: offer.click_id_max.map(u32::from),
        conversion_cap: offer.conversion_cap.map(|cap| cap.lim),
        min_seconds_to_convert: offer.min_seconds_to_convert,
        revision: 12,
        terms: IN_FORCE,
        target: offer.target().unwrap().as_str().to_owned(),
    }
}

/// A listing of these offers, ordered by id, with remaining caps and some traffic for each.
pub fn publish<'a>(offers: impl Iterator<Item = (&'a OfferId, &'a Offer)>) -> Published {
    let (mut listed, mut bodies) = (Vec::new(), Vec::new());
    for (number, (id, offer)) in (0_u32..).zip(offers) {
        let body = render_body(id, offer, NOW_S);
        listed.push(ListedOffer {
            id: id.clone(),
            off_type: offer.off_type,
            os: offer.os,
            countries: offer.geo_tgt.countries(),
            conversion_left: offer.conversion_cap.map(|cap| cap.lim.max(1)),
            click_left: offer.click_cap.map(|cap| cap.lim.max(1)),
            clicks: u64::from(number % 3) * 1_000,
            conversions: u64::from(number),
            payout: MicroUsd(i64::from(number) * 1_234_567 - 10_000_000),
            body_hash: body_hash(&body),
            body_len: u32::try_from(body.len()).unwrap(),
        });
        bodies.push(body);
    }
    let plans = plan_chunks(&listed);
    Published {
        index: build_index(42, NOW_MS, &listed, &plans),
        chunks: plans
            .iter()
            .map(|plan| (plan.key.clone(), build_chunk(&bodies[plan.range.clone()]).unwrap()))
            .collect(),
    }
}

/// An app in the form that the offers interface uses.
pub fn listing_of(id: AppId, app: &App) -> AppListing {
    AppListing {
        id,
        platform: app.platform,
        currency: app.currency.clone(),
        blocked: app.blocked_offers.clone(),
        signs_clicks: app.click_secret.is_some(),
    }
}

/// A fact: its day, its six other dimensions and its five measures.
pub type Fact = (UtcDay, [String; 6], [i64; 5]);

/// Segments in memory.
#[derive(Default)]
pub struct Ledger {
    pub segments: Vec<(SegmentRef, Vec<Vec<u8>>)>,
}

impl Ledger {
    /// Splits the facts of each day into two layers, so that a key may be in both.
    pub fn from_facts(facts: &[Fact]) -> Self {
        let mut days: BTreeMap<(UtcDay, usize), Segmenter> = BTreeMap::new();
        for (index, (day, key, sums)) in facts.iter().enumerate() {
            let segmenter = days.entry((*day, index % 2)).or_default();
            segmenter.add(&key.each_ref().map(String::as_str), sums);
        }
        let mut ledger = Self::default();
        for ((day, _), segmenter) in days {
            for segment in segmenter.finish() {
                let id = i64::try_from(ledger.segments.len()).unwrap();
                let reference = SegmentRef { id, day, rows: segment.rows };
                ledger.segments.push((reference, segment.columns));
            }
        }
        ledger
    }
}

impl engine::Source for Ledger {
    type Error = Infallible;

    fn segments(&self, first: UtcDay, last: UtcDay) -> Result<Vec<SegmentRef>, Infallible> {
        let segments = self.segments.iter().map(|(segment, _)| *segment);
        Ok(segments.filter(|segment| (first..=last).contains(&segment.day)).collect())
    }

    fn columns(&self, segment: &SegmentRef, wanted: &[Column]) -> Result<Vec<Rc<Vec<u8>>>, Infallible> {
        let (_, columns) = &self.segments[usize::try_from(segment.id).unwrap()];
        let column = |column: &Column| Rc::new(columns[usize::from(column.number())].clone());
        Ok(wanted.iter().map(column).collect())
    }
}

/// Some days of the demo's facts.
pub static FACTS: LazyLock<Vec<Fact>> = LazyLock::new(|| {
    let text = include_str!("../../../fixtures/facts.csv");
    let days = ["date,", "2026-10-31", "2026-11-01", "2026-11-05", "2026-11-20"];
    let lines = text.lines().filter(|line| days.iter().any(|day| line.starts_with(day)));
    let mut facts = Vec::new();
    let mut reader = Reader::new(Format::Csv, None);
    let mut keep = |fact: domain::reporting::facts::Fact<'_>| {
        facts.push((fact.day, fact.key.map(str::to_owned), fact.sums));
        Ok::<(), Infallible>(())
    };
    for line in lines {
        let Ok(()) = reader.push(line.as_bytes(), &mut keep);
        let Ok(()) = reader.push(b"\n", &mut keep);
    }
    let Ok(outcome) = reader.finish(&mut keep);
    assert!(outcome.errors.is_empty() && facts.len() > 100);
    facts
});

/// [`FACTS`] in segments.
pub static LEDGER: LazyLock<Ledger> = LazyLock::new(|| Ledger::from_facts(&FACTS));
