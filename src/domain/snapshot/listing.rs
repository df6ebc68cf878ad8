//! The listing snapshot: the index of the offers that may be listed, sorted by id. It holds the data of filters, caps
//! and metrics, and the position of each offer's body. It is small, since it is rebuilt every five minutes.
//!
//! Opening a listing takes a checksum and constant-time checks, because its columns are read in place.

use std::{collections::HashMap, ops::Range};

use xxhash_rust::xxh64::xxh64;

use super::{
    bodies::{body_hash, chunk_key},
    columns::{Fields, Rows, Strings, U32Column, columns},
    envelope::{Damage, Kind},
};
use crate::{
    catalog::Offer,
    model::{
        Country, CountrySet, MicroUsd, OfferId, OfferType, Platform,
        parts::{Span, to_u32},
    },
};

/// A chunk ends after an offer whose id hashes to 0 modulo this number, so that adding or removing an offer changes
/// only the offer's own chunk.
const CHUNK_MEAN: u64 = 64;
/// A chunk also ends at this many offers, or once its bodies have this many bytes, since an isolate caches only a few
/// chunks. Even with a last body of 768 KiB, the chunk stays below 2 MB, the limit of a SQLite value.
const CHUNK_OFFERS: usize = 256;
const CHUNK_BYTES: u64 = 1 << 20;

/// The catalog's data of an offer that is live now.
#[derive(Clone, Debug)]
pub struct ListedOffer {
    /// The offer's id. Offers are sorted by id, bytewise.
    pub id: OfferId,
    /// The value of the filter `offer_type`.
    pub off_type: OfferType,
    /// The platform of the promoted app.
    pub os: Platform,
    /// The targeted countries: `include` minus `exclude`.
    pub countries: CountrySet,
    /// The remainder of today's conversion cap; `None` without a cap. An offer with 0 left stays in its chunk but is
    /// not listed.
    pub conversion_left: Option<u32>,
    /// The remainder of today's click cap; `None` without a cap.
    pub click_left: Option<u32>,
    /// Clicks of the last 30 days that count.
    pub clicks: u64,
    /// Conversions of the last 30 days.
    pub conversions: u64,
    /// Payout of the last 30 days; negative if reversals exceed it.
    pub payout: MicroUsd,
    /// The [`body_hash`] of the offer's body.
    pub body_hash: [u8; 16],
    /// The body's size in bytes.
    pub body_len: u32,
}

impl ListedOffer {
    /// An offer without caps and clicks, with the body that was rendered for it.
    pub fn new(id: &OfferId, offer: &Offer, body: &[u8]) -> Self {
        Self {
            id: id.clone(),
            off_type: offer.off_type,
            os: offer.os,
            countries: offer.geo_tgt.countries(),
            conversion_left: None,
            click_left: None,
            clicks: 0,
            conversions: 0,
            payout: MicroUsd(0),
            body_hash: body_hash(body),
            body_len: to_u32(body.len()),
        }
    }

    fn is_capped_out(&self) -> bool {
        self.conversion_left == Some(0) || self.click_left == Some(0)
    }
}

/// A chunk of bodies: its key, and the range of its offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkPlan {
    /// The [`chunk_key`] of the bodies.
    pub key: String,
    /// Indices in the list of offers.
    pub range: Range<usize>,
}

/// Divides offers, sorted by id, into chunks. Caps are ignored, so that no chunk changes when an offer reaches a cap.
pub fn plan_chunks(offers: &[ListedOffer]) -> Vec<ChunkPlan> {
    let mut chunks = Vec::new();
    let mut bytes = 0;
    let mut start = 0;
    for (end, offer) in (1..).zip(offers) {
        bytes += u64::from(offer.body_len);
        let is_cut = xxh64(offer.id.as_str().as_bytes(), 0).is_multiple_of(CHUNK_MEAN);
        if is_cut || end - start >= CHUNK_OFFERS || bytes >= CHUNK_BYTES || end == offers.len() {
            let hashes = offers.get(start..end).unwrap_or_default().iter().map(|offer| &offer.body_hash);
            chunks.push(ChunkPlan { key: chunk_key(hashes), range: start..end });
            (start, bytes) = (end, 0);
        }
    }
    chunks
}

columns! {
    ListingColumns {
        /// One row: version `u64`, build time in milliseconds `i64`.
        header,
        ids,
        /// One byte per offer: `off_types` has the code of its [`OfferType`], and `platforms` the code of its
        /// [`Platform`].
        off_types,
        platforms,
        /// One `u32` per offer: its row in `country_sets`. Many offers share a few sets of countries.
        targets,
        country_sets,
        figures,
        keys,
    }
}

/// Bytes of an offer's figures: clicks `u64`, conversions `u64`, payout in micro-USD `i64`, conversions left `u32`,
/// clicks left `u32`, chunk `u32`, index in the chunk `u32`, flags for the caps that the offer has `u8`.
const FIGURES: usize = 41;
const HAS_CONVERSION_CAP: u8 = 1;
const HAS_CLICK_CAP: u8 = 2;

/// Builds the KV value of the listing. `offers` are sorted by id, and `chunks` are their chunks from [`plan_chunks`].
pub fn build_index(version: u64, built_at_ms: i64, offers: &[ListedOffer], chunks: &[ChunkPlan]) -> Vec<u8> {
    let mut index = Index::default();
    for chunk in chunks {
        index.push(&chunk.key, offers.get(chunk.range.clone()).unwrap_or_default());
    }
    index.into_value(version, built_at_ms)
}

/// A listing that is built chunk by chunk, in the order of the ids.
#[derive(Debug, Default)]
pub struct Index {
    columns: ListingColumns<Vec<u8>>,
    ids: Vec<OfferId>,
    sets: HashMap<CountrySet, u32>,
    keys: Vec<String>,
}

impl Index {
    /// Adds the next chunk with its offers. Offers that reached a cap are not listed.
    pub fn push(&mut self, key: &str, offers: &[ListedOffer]) {
        let chunk = to_u32(self.keys.len());
        self.keys.push(key.to_owned());
        let columns = &mut self.columns;
        for (slot, offer) in (0_u32..).zip(offers) {
            if offer.is_capped_out() {
                continue;
            }
            self.ids.push(offer.id.clone());
            columns.off_types.push(offer.off_type.code());
            columns.platforms.push(offer.os.code());
            let next_set = to_u32(self.sets.len());
            let set = *self.sets.entry(offer.countries).or_insert_with(|| {
                columns.country_sets.extend_from_slice(&offer.countries.bits());
                next_set
            });
            columns.targets.extend_from_slice(&set.to_le_bytes());
            let caps = u8::from(offer.conversion_left.is_some()) * HAS_CONVERSION_CAP
                + u8::from(offer.click_left.is_some()) * HAS_CLICK_CAP;
            let figures = &mut columns.figures;
            figures.extend_from_slice(&offer.clicks.to_le_bytes());
            figures.extend_from_slice(&offer.conversions.to_le_bytes());
            figures.extend_from_slice(&offer.payout.0.to_le_bytes());
            figures.extend_from_slice(&offer.conversion_left.unwrap_or_default().to_le_bytes());
            figures.extend_from_slice(&offer.click_left.unwrap_or_default().to_le_bytes());
            figures.extend_from_slice(&chunk.to_le_bytes());
            figures.extend_from_slice(&slot.to_le_bytes());
            figures.push(caps);
        }
    }

    /// The keys of the chunks that were added so far.
    pub fn chunk_keys(&self) -> &[String] {
        &self.keys
    }

    /// The KV value.
    pub fn into_value(self, version: u64, built_at_ms: i64) -> Vec<u8> {
        let Self { mut columns, ids, keys, .. } = self;
        columns.header.extend_from_slice(&version.to_le_bytes());
        columns.header.extend_from_slice(&built_at_ms.to_le_bytes());
        columns.ids = Strings::column(ids.iter().map(OfferId::as_str));
        columns.keys = Strings::column(&keys);
        columns.into_value(Kind::Listing)
    }
}

/// An opened listing. Rows are numbered from 0 in the bytewise order of the ids.
#[derive(Debug)]
pub struct Listing {
    bytes: Vec<u8>,
    columns: ListingColumns<Span>,
    version: u64,
    built_at_ms: i64,
    len: u32,
}

/// A listed offer's metrics and caps, which change independently of its body, and the position of that body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Clicks of the last 30 days that count.
    pub clicks: u64,
    /// Conversions of the last 30 days.
    pub conversions: u64,
    /// Payout of the last 30 days; negative if reversals exceed it.
    pub payout: MicroUsd,
    /// Conversions left today; `None` without a cap.
    pub conversion_left: Option<u32>,
    /// Clicks left today; `None` without a cap.
    pub click_left: Option<u32>,
    /// The number of the body's chunk, for [`Listing::chunk_key`].
    pub chunk: u32,
    /// The body's index in that chunk.
    pub slot: u32,
}

impl Listing {
    /// Opens a KV value, unless it is damaged, has another kind or has an unknown format.
    pub fn open(bytes: Vec<u8>) -> Result<Self, Damage> {
        let columns = ListingColumns::open(&bytes, Kind::Listing)?;
        let mut header = Fields(columns.header.of(&bytes));
        let (Some(version), Some(built_at_ms)) = (header.u64(), header.i64()) else {
            return Err(Damage::Corrupt);
        };
        let len = u32::try_from(columns.off_types.of(&bytes).len()).map_err(|_| Damage::Corrupt)?;
        let listing = Self { bytes, columns, version, built_at_ms, len };
        let is_whole = listing.has_whole_columns();
        is_whole.then_some(listing).ok_or(Damage::Corrupt)
    }

    fn has_whole_columns(&self) -> bool {
        let rows = self.off_types().len();
        [self.ids().len(), self.platforms().len(), self.targets().len(), self.figure_rows().len()]
            .into_iter()
            .all(|len| len == rows)
    }

    /// The number of the publication. Later publications have higher numbers.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The time of the listing's data, in milliseconds since the epoch.
    pub fn built_at_ms(&self) -> i64 {
        self.built_at_ms
    }

    /// The size of the listing, in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Number of listed offers.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// True if no offer is listed.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The id of the offer in a row; `None` past the last.
    pub fn id(&self, row: u32) -> Option<&str> {
        self.ids().get(row)
    }

    /// The row of an offer, if it is listed.
    pub fn find(&self, id: &OfferId) -> Option<u32> {
        self.ids().find_sorted(id.as_str().as_bytes())
    }

    /// The metrics and caps of the offer in a row, and the position of its body; `None` past the last.
    pub fn figures(&self, row: u32) -> Option<Figures> {
        let mut fields = Fields(self.figure_rows().get(row)?);
        let (clicks, conversions, payout) = (fields.u64()?, fields.u64()?, MicroUsd(fields.i64()?));
        let (conversion_left, click_left) = (fields.u32()?, fields.u32()?);
        let (chunk, slot, caps) = (fields.u32()?, fields.u32()?, fields.u8()?);
        Some(Figures {
            clicks,
            conversions,
            payout,
            conversion_left: (caps & HAS_CONVERSION_CAP != 0).then_some(conversion_left),
            click_left: (caps & HAS_CLICK_CAP != 0).then_some(click_left),
            chunk,
            slot,
        })
    }

    /// The key of a chunk of bodies.
    pub fn chunk_key(&self, chunk: u32) -> Option<&str> {
        self.chunk_keys().get(chunk)
    }

    /// The keys of all chunks. A chunk that is also in the previous listing need not be written again.
    pub fn chunk_keys(&self) -> Strings<'_> {
        Strings::new(self.column(self.columns.keys))
    }

    /// The codes of all rows' offer types, for filters to scan.
    pub fn off_types(&self) -> &[u8] {
        self.column(self.columns.off_types)
    }

    /// The codes of all rows' platforms, for filters to scan.
    pub fn platforms(&self) -> &[u8] {
        self.column(self.columns.platforms)
    }

    /// For each row, true if its offer targets the country.
    pub fn for_country(&self, country: Country) -> impl Iterator<Item = bool> {
        let sets = self.country_sets().iter().map(|&bits| CountrySet::from_bits(bits).contains(country));
        let sets: Vec<bool> = sets.collect();
        self.targets().iter().map(move |set| usize::try_from(set).is_ok_and(|set| sets.get(set) == Some(&true)))
    }

    fn column(&self, span: Span) -> &[u8] {
        span.of(&self.bytes)
    }

    fn ids(&self) -> Strings<'_> {
        Strings::new(self.column(self.columns.ids))
    }

    fn targets(&self) -> U32Column<'_> {
        U32Column::new(self.column(self.columns.targets))
    }

    fn country_sets(&self) -> Rows<'_, 32> {
        Rows::new(self.column(self.columns.country_sets))
    }

    fn figure_rows(&self) -> Rows<'_, FIGURES> {
        Rows::new(self.column(self.columns.figures))
    }
}

#[cfg(test)]
mod tests;
