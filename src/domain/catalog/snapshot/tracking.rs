//! The tracking snapshot: the catalog's data for clicks, credential checks and conversions. A look-up costs a hash or a
//! binary search and reads a row of fixed width. Nothing is parsed when an isolate starts.

mod building;

use super::{
    columns::{Fields, HashIndex, Rows, Strings, U32Column, columns, find_sorted},
    envelope::{Damage, Kind},
};
use crate::{
    catalog::offer::is_live,
    conversions::{
        terms::{CurrentApp, CurrentOffer, TermsInForce},
        token::{Serial, Token},
    },
    model::{
        AppId, CountrySet, CurrencyRate, Platform, PublisherId,
        credentials::CredentialHash,
        money::{PerUsd, Rounding},
        parts::Span,
        time::SECOND_MS,
    },
};

pub use building::{Source, SourceAdvertiser, SourceApp, SourceGoal, SourceOffer, SourcePublisher, build};

const FORMAT: u8 = 4;

/// The value for "none" in a column of limits.
const NO_LIMIT: u32 = u32::MAX;

/// Bytes of a publisher's row: approved `u8`, has a Pub-Key `u8`, the key's hash.
const PUBLISHER_ROW: usize = 2 + 32;
/// Bytes of an app's row: id `u32`, row of its publisher `u32`, platform, decimals and rounding `u8` each, millionths
/// of a unit per USD `i64`, start and end of its blocked offers `u32` each, and as `i64` each its revision, the revision
/// of its terms, the UNIX second before which clicks are paid by them, and the revision of its callback settings; number
/// of its outboxes `u8`, rewards of a user on a day `u32`.
const APP_ROW: usize = 4 + 4 + 1 + 1 + 1 + 8 + 4 + 4 + 4 * 8 + 1 + 4;
/// Bytes of an offer's row: active, platform and whether it includes countries by name `u8` each, countries, start and
/// end in UNIX seconds `i64` each, click cap, longest click id, conversion cap and fewest seconds to convert `u32` each,
/// and as `i64` each its revision, the revision of its terms, and the UNIX second before which clicks are paid by them.
const OFFER_ROW: usize = 1 + 1 + 1 + 32 + 8 + 8 + 4 * 4 + 3 * 8;
/// Bytes of a goal's row: row of its offer `u32`, retired `u8`.
const GOAL_ROW: usize = 4 + 1;
/// Number of texts of an app: its currency's name and its fallback URL.
const APP_TEXTS: u32 = 2;

columns! {
    TrackingColumns {
        /// One row: version `u64`, build time in milliseconds `i64`.
        header,
        publishers,
        publisher_ids,
        /// One `u32` for each app, ascending.
        app_ids,
        apps,
        app_texts,
        /// The click secrets of each app, sealed under `EDGE_KEYS`; empty if its clicks are not signed.
        click_secrets,
        /// One `u32` for each blocked offer: its row. The entries of an app are contiguous.
        blocked,
        advertiser_ids,
        /// The serials of an advertiser's tokens, `i64` each: the newest that was ever issued, then the valid ones.
        token_serials,
        offers,
        offer_ids,
        targets,
        goals,
        goal_ids,
        goal_index,
    }
}

/// An opened tracking snapshot.
pub struct Tracking {
    bytes: Vec<u8>,
    columns: TrackingColumns<Span>,
    version: u64,
    built_at_ms: i64,
}

impl Tracking {
    /// Opens a value from KV, unless it is damaged, foreign or of an unknown format.
    pub fn open(bytes: Vec<u8>) -> Result<Self, Damage> {
        let columns = TrackingColumns::open(&bytes, Kind::Tracking, FORMAT)?;
        let mut header = Fields(columns.header.of(&bytes));
        let (Some(version), Some(built_at_ms)) = (header.u64(), header.i64()) else {
            return Err(Damage::Corrupt);
        };
        Ok(Self {
            bytes,
            columns,
            version,
            built_at_ms,
        })
    }

    pub fn version(&self) -> u64 {
        self.version
    }

    /// The time of its data, in milliseconds since the epoch.
    pub fn built_at_ms(&self) -> i64 {
        self.built_at_ms
    }

    /// Its size in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    pub fn app(&self, id: AppId) -> Option<AppView<'_>> {
        let ids = U32Column::new(self.columns.app_ids.of(&self.bytes));
        let row = find_sorted(ids.len(), |row| Some(ids.get(row)?.cmp(&id.number())))?;
        self.app_at(row)
    }

    fn app_at(&self, row: u32) -> Option<AppView<'_>> {
        let mut fields = Fields(Rows::<APP_ROW>::new(self.columns.apps.of(&self.bytes)).get(row)?);
        let id = AppId::from_number(fields.u32()?)?;
        let publisher = self.publisher_at(fields.u32()?)?;
        let platform = Platform::from_code(fields.u8()?)?;
        let decimals = fields.u8()?;
        let rounding = match fields.u8()? {
            code if code == Rounding::Up as u8 => Rounding::Up,
            code if code == Rounding::Nearest as u8 => Rounding::Nearest,
            _ => Rounding::Down,
        };
        let per_usd = PerUsd(fields.i64()?);
        let blocked = (fields.u32()?, fields.u32()?);
        let (revision, terms) = (fields.i64()?, terms_in_force(&mut fields)?);
        let (callback_revision, outbox_shards) = (fields.i64()?, fields.u8()?);
        let max_rewards_per_user_day = limit(fields.u32()?);
        let text = |index| {
            self.app_texts()
                .get(row.checked_mul(APP_TEXTS)?.checked_add(index)?)
        };
        let fallback_url = text(1).filter(|url| !url.is_empty());
        let click_secrets = self.strings(self.columns.click_secrets).bytes(row)?;
        Some(AppView {
            snapshot: self,
            id,
            publisher,
            platform,
            currency_name: text(0)?,
            per_usd,
            decimals,
            rounding,
            fallback_url,
            click_secrets: (!click_secrets.is_empty()).then_some(click_secrets),
            blocked,
            revision,
            terms,
            callback_revision,
            outbox_shards,
            max_rewards_per_user_day,
        })
    }

    fn publisher_at(&self, row: u32) -> Option<PublisherView<'_>> {
        let mut fields =
            Fields(Rows::<PUBLISHER_ROW>::new(self.columns.publishers.of(&self.bytes)).get(row)?);
        let approved = fields.u8()? != 0;
        let has_key = fields.u8()? != 0;
        let hash = fields.bytes::<32>()?;
        let id = self.publisher_ids().get(row)?;
        Some(PublisherView {
            id,
            approved,
            pub_key_hash: has_key.then_some(hash),
        })
    }

    /// A goal by its id, the `rid` of a click. Retired goals are found too.
    pub fn goal(&self, id: &str) -> Option<GoalView<'_>> {
        let ids = self.goal_ids();
        let index = HashIndex::new(self.columns.goal_index.of(&self.bytes));
        let row = index.lookup(id.as_bytes(), |row| ids.bytes(row) == Some(id.as_bytes()))?;
        let mut fields = Fields(Rows::<GOAL_ROW>::new(self.columns.goals.of(&self.bytes)).get(row)?);
        let offer = self.offer_at(fields.u32()?)?;
        let retired = fields.u8()? != 0;
        Some(GoalView {
            id: ids.get(row)?,
            offer,
            retired,
        })
    }

    pub fn offer(&self, id: &str) -> Option<OfferView<'_>> {
        self.offer_at(self.offer_ids().find_sorted(id.as_bytes())?)
    }

    fn offer_at(&self, row: u32) -> Option<OfferView<'_>> {
        let mut fields = Fields(Rows::<OFFER_ROW>::new(self.columns.offers.of(&self.bytes)).get(row)?);
        Some(OfferView {
            row,
            id: self.offer_ids().get(row)?,
            target: self.targets().get(row)?,
            active: fields.u8()? != 0,
            os: Platform::from_code(fields.u8()?)?,
            includes_countries: fields.u8()? != 0,
            countries: CountrySet::from_bits(*fields.bytes::<32>()?),
            starts_at: fields.i64()?,
            ends_at: fields.i64()?,
            click_cap: limit(fields.u32()?),
            click_id_max: limit(fields.u32()?),
            conversion_cap: limit(fields.u32()?),
            min_seconds_to_convert: limit(fields.u32()?),
            revision: fields.i64()?,
            terms: terms_in_force(&mut fields)?,
        })
    }

    /// Whether an issued token is valid: its serial is listed, or it was issued after this snapshot was built. A serial is
    /// at least the time of its issue, so a token that a catalog restored from a backup does not know is refused.
    pub fn accepts(&self, token: &Token) -> bool {
        let serial = token.serial;
        let is_since = serial.0 >= self.built_at_ms.div_euclid(SECOND_MS);
        let row = self
            .advertiser_ids()
            .find_sorted(token.advertiser.as_str().as_bytes());
        let Some(row) = row else {
            return is_since;
        };
        let mut serials = Fields(self.token_serials().bytes(row).unwrap_or_default());
        let Some(newest) = serials.i64().map(Serial) else {
            return false;
        };
        let mut valid = std::iter::from_fn(|| serials.i64().map(Serial));
        (serial > newest && is_since) || valid.any(|valid| serial == valid)
    }

    /// The numbers of apps, offers and goals.
    pub fn counts(&self) -> (usize, usize, usize) {
        let apps = U32Column::new(self.columns.app_ids.of(&self.bytes)).len();
        (apps, self.offer_ids().len(), self.goal_ids().len())
    }

    fn strings(&self, column: Span) -> Strings<'_> {
        Strings::new(column.of(&self.bytes))
    }

    fn publisher_ids(&self) -> Strings<'_> {
        self.strings(self.columns.publisher_ids)
    }

    fn app_texts(&self) -> Strings<'_> {
        self.strings(self.columns.app_texts)
    }

    fn advertiser_ids(&self) -> Strings<'_> {
        self.strings(self.columns.advertiser_ids)
    }

    fn token_serials(&self) -> Strings<'_> {
        self.strings(self.columns.token_serials)
    }

    fn offer_ids(&self) -> Strings<'_> {
        self.strings(self.columns.offer_ids)
    }

    fn targets(&self) -> Strings<'_> {
        self.strings(self.columns.targets)
    }

    fn goal_ids(&self) -> Strings<'_> {
        self.strings(self.columns.goal_ids)
    }
}

/// Reads a number of a column of limits.
fn limit(number: u32) -> Option<u32> {
    (number != NO_LIMIT).then_some(number)
}

fn terms_in_force(fields: &mut Fields<'_>) -> Option<TermsInForce> {
    Some(TermsInForce {
        revision: fields.i64()?,
        since: fields.i64()?,
    })
}

#[derive(Clone, Copy, Debug)]
pub struct PublisherView<'a> {
    pub id: &'a str,
    pub approved: bool,
    pub pub_key_hash: Option<&'a CredentialHash>,
}

#[derive(Clone, Copy)]
pub struct AppView<'a> {
    snapshot: &'a Tracking,
    pub id: AppId,
    pub publisher: PublisherView<'a>,
    pub platform: Platform,
    currency_name: &'a str,
    per_usd: PerUsd,
    decimals: u8,
    rounding: Rounding,
    pub fallback_url: Option<&'a str>,
    /// Its click secrets, sealed under `EDGE_KEYS`; `None` if its clicks are not signed.
    pub click_secrets: Option<&'a [u8]>,
    /// The range of its rows in the column of blocked offers.
    blocked: (u32, u32),
    revision: i64,
    pub terms: TermsInForce,
    callback_revision: i64,
    pub outbox_shards: u8,
    max_rewards_per_user_day: Option<u32>,
}

impl<'a> AppView<'a> {
    pub fn currency(&self) -> CurrencyRate {
        CurrencyRate {
            name: self.currency_name.to_owned(),
            per_usd: self.per_usd,
            decimals: self.decimals,
            rounding: self.rounding,
        }
    }

    /// Its values for conversions; `None` if the id of its publisher does not parse.
    pub fn current(&self) -> Option<CurrentApp> {
        Some(CurrentApp {
            revision: self.revision,
            terms: self.terms,
            publisher_id: PublisherId::parse(self.publisher.id)?,
            callback_revision: self.callback_revision,
            outbox_shards: self.outbox_shards,
            max_rewards_per_user_day: self.max_rewards_per_user_day,
        })
    }

    fn blocked_rows(&self) -> impl Iterator<Item = u32> + use<'a> {
        let column = U32Column::new(self.snapshot.columns.blocked.of(&self.snapshot.bytes));
        (self.blocked.0..self.blocked.1).map_while(move |at| column.get(at))
    }

    pub fn blocks(&self, offer: &OfferView<'_>) -> bool {
        self.blocked_rows().any(|row| row == offer.row)
    }

    /// The ids of the offers it blocks.
    pub fn blocked_offers(&self) -> impl Iterator<Item = &'a str> {
        let ids = self.snapshot.offer_ids();
        self.blocked_rows().filter_map(move |row| ids.get(row))
    }
}

#[derive(Clone, Copy, Debug)]
pub struct GoalView<'a> {
    pub id: &'a str,
    pub offer: OfferView<'a>,
    /// Removed from its offer: it takes no clicks any more, but earlier clicks still convert.
    pub retired: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct OfferView<'a> {
    row: u32,
    pub id: &'a str,
    /// The redirect's template, in canonical form.
    pub target: &'a str,
    active: bool,
    pub os: Platform,
    /// Whether it includes countries by name, so that a click from an unknown country is not targeted.
    pub includes_countries: bool,
    pub countries: CountrySet,
    starts_at: i64,
    ends_at: i64,
    /// Clicks for each UTC day.
    pub click_cap: Option<u32>,
    /// The longest click id that the advertiser's side can return, in characters.
    pub click_id_max: Option<u32>,
    /// Conversions for each UTC day.
    conversion_cap: Option<u32>,
    min_seconds_to_convert: Option<u32>,
    /// The revision of the offer's last change.
    pub revision: i64,
    pub terms: TermsInForce,
}

impl OfferView<'_> {
    /// Its values for conversions.
    pub fn current(&self) -> CurrentOffer {
        CurrentOffer {
            revision: self.revision,
            terms: self.terms,
            conversion_cap: self.conversion_cap,
            min_seconds_to_convert: self.min_seconds_to_convert,
        }
    }

    /// Whether the offer is live at an instant, without regard to its cap.
    pub fn is_live(&self, now_ms: i64) -> bool {
        let starts_at = (self.starts_at != i64::MIN).then_some(self.starts_at);
        let ends_at = (self.ends_at != i64::MAX).then_some(self.ends_at);
        is_live(self.active, starts_at, ends_at, now_ms)
    }
}

#[cfg(test)]
mod tests;
