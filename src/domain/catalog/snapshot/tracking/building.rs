//! Builds a tracking snapshot's KV value from the catalog.

use super::{APP_ROW, FORMAT, GOAL_ROW, NO_LIMIT, OFFER_ROW, PUBLISHER_ROW, TrackingColumns};
use crate::{
    catalog::{
        app::App,
        snapshot::{
            columns::{HashIndex, Strings, U32Column},
            envelope::Kind,
        },
    },
    conversions::{terms::TermsInForce, token::Serial},
    model::{
        AdvertiserId, AppId, CountrySet, GoalId, OfferId, Platform, PublisherId, credentials::CredentialHash,
        parts::to_u32,
    },
};

/// The catalog's data for the snapshot. Every list is sorted by id.
#[derive(Debug, Default)]
pub struct Source {
    pub publishers: Vec<SourcePublisher>,
    pub apps: Vec<SourceApp>,
    pub advertisers: Vec<SourceAdvertiser>,
    pub offers: Vec<SourceOffer>,
    pub goals: Vec<SourceGoal>,
}

#[derive(Debug)]
pub struct SourcePublisher {
    pub id: PublisherId,
    pub approved: bool,
    pub pub_key_hash: Option<CredentialHash>,
}

#[derive(Debug)]
pub struct SourceApp {
    pub id: AppId,
    pub document: App,
    /// The revision of its last change.
    pub revision: i64,
    pub terms: TermsInForce,
    pub callback_revision: i64,
    /// How many outboxes it has.
    pub outbox_shards: u8,
    /// The document's click secrets, sealed under `EDGE_KEYS`.
    pub click_secrets: Option<Vec<u8>>,
}

#[derive(Debug)]
pub struct SourceAdvertiser {
    pub id: AdvertiserId,
    /// The serial of the newest token that was ever issued, which may have been revoked; 0 for none.
    pub newest_serial: Serial,
    pub valid_serials: Vec<Serial>,
}

#[derive(Debug)]
pub struct SourceOffer {
    pub id: OfferId,
    pub active: bool,
    pub starts_at: Option<i64>,
    pub ends_at: Option<i64>,
    pub os: Platform,
    pub countries: CountrySet,
    /// Whether it includes countries by name.
    pub includes_countries: bool,
    pub click_cap: Option<u32>,
    pub click_id_max: Option<u32>,
    pub conversion_cap: Option<u32>,
    pub min_seconds_to_convert: Option<u32>,
    /// The revision of its last change.
    pub revision: i64,
    pub terms: TermsInForce,
    /// The redirect's template, in canonical form.
    pub target: String,
}

#[derive(Debug)]
pub struct SourceGoal {
    pub id: GoalId,
    pub offer_id: OfferId,
    pub retired: bool,
}

/// Builds a snapshot. A row that refers to a missing resource is not found by look-ups.
pub fn build(version: u64, built_at_ms: i64, source: &Source) -> Vec<u8> {
    let publisher_ids = Strings::column(source.publishers.iter().map(|publisher| publisher.id.as_str()));
    let offer_ids = Strings::column(source.offers.iter().map(|offer| offer.id.as_str()));
    let publisher_rows = Strings::new(&publisher_ids);
    let offer_rows = Strings::new(&offer_ids);
    let row = |rows: Strings<'_>, id: &str| rows.find_sorted(id.as_bytes()).unwrap_or(u32::MAX);

    let mut publishers = Vec::with_capacity(source.publishers.len() * PUBLISHER_ROW);
    for publisher in &source.publishers {
        publishers.push(u8::from(publisher.approved));
        publishers.push(u8::from(publisher.pub_key_hash.is_some()));
        publishers.extend(publisher.pub_key_hash.unwrap_or_default());
    }

    let mut apps = Vec::with_capacity(source.apps.len() * APP_ROW);
    let mut app_texts = Vec::with_capacity(source.apps.len() * 2);
    let mut blocked: Vec<u32> = Vec::new();
    for app in &source.apps {
        let SourceApp {
            id,
            document,
            revision,
            terms,
            callback_revision,
            outbox_shards,
            click_secrets: _,
        } = app;
        let first_blocked = to_u32(blocked.len());
        blocked.extend(
            document
                .blocked_offers
                .iter()
                .filter_map(|offer| offer_rows.find_sorted(offer.as_str().as_bytes())),
        );
        let blocked_end = to_u32(blocked.len());
        apps.extend(id.number().to_le_bytes());
        apps.extend(row(publisher_rows, document.publisher_id.as_str()).to_le_bytes());
        apps.extend([
            document.platform.code(),
            document.currency.decimals,
            document.currency.rounding as u8,
        ]);
        apps.extend(document.currency.per_usd.0.to_le_bytes());
        apps.extend(first_blocked.to_le_bytes());
        apps.extend(blocked_end.to_le_bytes());
        for number in [*revision, terms.revision, terms.since, *callback_revision] {
            apps.extend(number.to_le_bytes());
        }
        apps.push(*outbox_shards);
        apps.extend(
            document
                .max_rewards_per_user_day
                .unwrap_or(NO_LIMIT)
                .to_le_bytes(),
        );
        app_texts.extend([
            document.currency.name.clone(),
            document.fallback().unwrap_or_default(),
        ]);
    }

    let mut offers = Vec::with_capacity(source.offers.len() * OFFER_ROW);
    for offer in &source.offers {
        offers.extend([
            u8::from(offer.active),
            offer.os.code(),
            u8::from(offer.includes_countries),
        ]);
        offers.extend(offer.countries.bits());
        offers.extend(offer.starts_at.unwrap_or(i64::MIN).to_le_bytes());
        offers.extend(offer.ends_at.unwrap_or(i64::MAX).to_le_bytes());
        for limit in [
            offer.click_cap,
            offer.click_id_max,
            offer.conversion_cap,
            offer.min_seconds_to_convert,
        ] {
            offers.extend(limit.unwrap_or(NO_LIMIT).to_le_bytes());
        }
        for number in [offer.revision, offer.terms.revision, offer.terms.since] {
            offers.extend(number.to_le_bytes());
        }
    }

    let mut goals = Vec::with_capacity(source.goals.len() * GOAL_ROW);
    for goal in &source.goals {
        goals.extend(row(offer_rows, goal.offer_id.as_str()).to_le_bytes());
        goals.push(u8::from(goal.retired));
    }
    let goal_ids: Vec<_> = source.goals.iter().map(|goal| goal.id.as_str()).collect();

    let columns = TrackingColumns {
        header: [version.to_le_bytes(), built_at_ms.to_le_bytes()].concat(),
        publishers,
        publisher_ids,
        app_ids: U32Column::column(source.apps.iter().map(|app| app.id.number())),
        apps,
        app_texts: Strings::column(app_texts),
        click_secrets: Strings::column(
            source
                .apps
                .iter()
                .map(|app| app.click_secrets.as_deref().unwrap_or_default()),
        ),
        blocked: U32Column::column(blocked),
        advertiser_ids: Strings::column(source.advertisers.iter().map(|advertiser| advertiser.id.as_str())),
        token_serials: Strings::column(source.advertisers.iter().map(|advertiser| {
            let serials = [advertiser.newest_serial]
                .into_iter()
                .chain(advertiser.valid_serials.iter().copied());
            serials
                .flat_map(|Serial(serial)| serial.to_le_bytes())
                .collect::<Vec<u8>>()
        })),
        offers,
        offer_ids,
        targets: Strings::column(source.offers.iter().map(|offer| &offer.target)),
        goals,
        goal_index: HashIndex::column(&goal_ids),
        goal_ids: Strings::column(goal_ids),
    };
    columns.into_value(Kind::Tracking, FORMAT)
}
