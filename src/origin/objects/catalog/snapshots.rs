//! Builds the listing from the tables in steps. The catalog answers other callers between two steps. A built listing is
//! also stored in the tables, for retries of its write to KV and for cold isolates if KV has no listing.
//! [`tracking_slots`](super::tracking_slots) builds the tracking snapshot.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    publication::{self, Prepared},
    revisions, sql,
};
use contract::{counters::AppStats, kv::SnapshotKind};
use domain::{
    catalog::{Offer, offer::is_live},
    model::{CountrySet, DAY_MS, MicroUsd, OfferId, OfferType, Platform, UtcDay},
    offers::counted_clicks::{AppFigures, counted_clicks},
    snapshot::{
        bodies,
        envelope::Kind,
        listing::{self, Index, ListedOffer},
    },
};
use platform::{Database, DatabaseError, DbResult, Failure, Result, Row, database::json, log, params};

/// Maximum offers that one step of the listing reads. A chunk has at most half as many offers, so every step completes
/// a chunk or reads further.
const PAGE: usize = 512;
/// A step of the listing ends after the chunk that reaches this many written bytes.
const STEP_BYTES: usize = 2 << 20;
/// Maximum bodies that one step re-renders.
const RENDER_BATCH: i64 = 20;
/// How long ended offers and retired goals stay in the tracking snapshot. Older clicks cannot convert, because no
/// window exceeds 90 days. So the snapshot's size depends on the offers of a season, not on all offers ever.
pub(super) const RETENTION_MS: i64 = 97 * DAY_MS;

/// Returns what was read from a row, or `None` if this code cannot read the row, because newer code wrote it or a fault
/// damaged it. Such a row is logged and left out, so that the other rows are still published.
pub(super) fn readable<T>(read: Result<T>, row: &Row) -> Option<T> {
    read.inspect_err(|failure| {
        let id = row.text(0).unwrap_or_default();
        log::error("catalog", format_args!("{id} is not published: {failure}"));
    })
    .ok()
}

/// Re-renders the next bodies that another release rendered in another format. Returns whether there were any. A mark
/// records that none are left, because the search for them reads all offers' bodies.
pub fn rerender_bodies(db: &impl Database) -> Result<bool> {
    let format = Kind::Bodies.format();
    if revisions::get(db, revisions::BODIES_FORMAT)? == Some(i64::from(format)) {
        return Ok(false);
    }
    let rows = db.query(sql::LIST_BODIES_OF_OTHER_FORMATS, params![format, RENDER_BATCH])?;
    if rows.is_empty() {
        revisions::set(db, revisions::BODIES_FORMAT, i64::from(format))?;
    }
    db.transaction(|| {
        for row in &rows {
            let id = row.parse(0, OfferId::parse)?;
            let offer: Offer = row.json(1)?;
            let body = bodies::render_body(&id, &offer, row.integer(2)?);
            db.execute(sql::SET_BODY_HASH, params![bodies::body_hash(&body).to_vec(), body.len(), id.as_str()])?;
            db.execute(sql::PUT_BODY, params![id.as_str(), body, format])?;
        }
        Ok(!rows.is_empty())
    })
}

/// The listing of the offers that are live at `now_ms`, while it is built in steps.
///
/// A step adds whole chunks of offers and bodies that the same step has read. So a chunk's bodies always match its key,
/// even if offers are put between two steps.
#[derive(Debug)]
pub struct ListingBuild {
    now_ms: i64,
    index: Index,
    /// The last id that was read.
    after: String,
    /// The live offers up to `after` that are not in a chunk yet. The next step reads them again.
    carried: Vec<OfferId>,
}

impl ListingBuild {
    pub fn new(now_ms: i64) -> Self {
        Self { now_ms, index: Index::default(), after: String::new(), carried: Vec::new() }
    }

    /// Adds the next chunks, and stores those that are new. Returns whether anything is left.
    pub fn step(&mut self, db: &impl Database) -> Result<bool> {
        let room = PAGE.saturating_sub(self.carried.len());
        let next = db.query(sql::LIST_OFFER_IDS, params![self.after.as_str(), room])?;
        let is_last = next.len() < room;
        let mut ids: Vec<&str> = self.carried.iter().map(OfferId::as_str).collect();
        for row in &next {
            ids.push(row.text(0)?);
        }
        let offers = self.read(db, &ids)?;
        if let Some(last) = next.last() {
            last.text(0)?.clone_into(&mut self.after);
        }
        let mut chunks = listing::plan_chunks(&offers);
        if !is_last {
            // The next step may read more offers for the last chunk.
            chunks.pop();
        }
        let mut done = 0;
        db.transaction(|| {
            let mut new_bytes = 0;
            for chunk in &chunks {
                let chunk_offers = offers.get(chunk.range.clone()).unwrap_or_default();
                new_bytes += store_chunk(db, &chunk.key, chunk_offers)?;
                self.index.push(&chunk.key, chunk_offers);
                done = chunk.range.end;
                if new_bytes >= STEP_BYTES {
                    break;
                }
            }
            Ok::<_, Failure>(())
        })?;
        let rest = offers.get(done..).unwrap_or_default();
        self.carried = rest.iter().map(|offer| offer.id.clone()).collect();
        Ok(!is_last || !self.carried.is_empty())
    }

    /// Reads the offers among `ids` that are live, by id.
    fn read(&self, db: &impl Database, ids: &[&str]) -> Result<Vec<ListedOffer>> {
        let today = UtcDay::of_ms(self.now_ms).number();
        let rows = db.query(sql::LIST_LISTED_OFFERS, params![json(&ids)?, today])?;
        let offer = |row| readable(listed_offer(row, self.now_ms), row).flatten();
        Ok(rows.iter().filter_map(offer).collect())
    }

    /// Stores the listing after the last step, and marks the chunks that it uses. Most listings use the same chunks as
    /// the previous one, so no chunk's row is written.
    pub fn finish(self, db: &impl Database) -> Result<Prepared> {
        db.transaction(|| {
            let version = revisions::next_snapshot(db, self.now_ms)?;
            let listed: BTreeSet<&str> = self.index.chunk_keys().iter().map(String::as_str).collect();
            for row in db.query(sql::LIST_CHUNKS, params![])? {
                let (key, is_unlisted) = (row.text(0)?, !row.is_null(1));
                if listed.contains(key) == is_unlisted {
                    let unlisted_by = (!is_unlisted).then_some(version);
                    db.execute(sql::MARK_CHUNK_LISTED, params![unlisted_by, key])?;
                }
            }
            drop(listed);
            let bytes = self.index.into_value(version, self.now_ms);
            publication::store_snapshot(db, SnapshotKind::Listing, version, &bytes)?;
            Ok(Prepared { kind: SnapshotKind::Listing, version, built_at_ms: self.now_ms, bytes })
        })
    }
}

fn listed_offer(row: &Row, now_ms: i64) -> Result<Option<ListedOffer>> {
    if !is_live(row.boolean(4)?, row.optional_integer(5)?, row.optional_integer(6)?, now_ms) {
        return Ok(None);
    }
    let left = |cap, taken| {
        let cap: Option<u32> = row.optional_number(cap)?;
        let taken: Option<u32> = row.optional_number(taken)?;
        Ok::<_, DatabaseError>(cap.map(|cap| cap.saturating_sub(taken.unwrap_or(0))))
    };
    let all = AppFigures {
        clicks: row.optional_number(11)?.unwrap_or(0),
        conversions: row.optional_number(12)?.unwrap_or(0),
    };
    Ok(Some(ListedOffer {
        id: row.parse(0, OfferId::parse)?,
        off_type: row.decode(1, OfferType::from_code)?,
        os: row.decode(2, Platform::from_code)?,
        countries: CountrySet::from_bits(row.bytes(3)?),
        conversion_left: left(7, 15)?,
        click_left: left(8, 14)?,
        clicks: counted_clicks(all, &apps(row)?),
        conversions: all.conversions,
        payout: MicroUsd(row.optional_integer(13)?.unwrap_or(0)),
        body_hash: row.bytes(9)?,
        body_len: row.optional_number(10)?.unwrap_or_default(),
    }))
}

/// Adds up the figures by app over all counters objects: one object has an offer's clicks, and another has its
/// conversions.
fn apps(row: &Row) -> DbResult<Vec<AppFigures>> {
    let mut apps: BTreeMap<u32, AppFigures> = BTreeMap::new();
    if !row.is_null(16) {
        for (app, clicks, conversions) in row.json::<Vec<Vec<AppStats>>>(16)?.into_iter().flatten() {
            let sums = apps.entry(app).or_default();
            sums.clicks = sums.clicks.saturating_add(clicks);
            sums.conversions = sums.conversions.saturating_add(conversions);
        }
    }
    Ok(apps.into_values().collect())
}

/// Stores a chunk if it is new. Returns the bytes that were stored.
fn store_chunk(db: &impl Database, key: &str, offers: &[ListedOffer]) -> Result<usize> {
    if db.query_first(sql::INSERT_CHUNK, params![key])?.is_none() {
        return Ok(0);
    }
    let mut chunk_bodies = Vec::with_capacity(offers.len());
    for offer in offers {
        let row = db.query_first(sql::GET_BODY, params![offer.id.as_str()])?;
        let row = row.ok_or_else(|| Failure::Internal(format!("offer {} has no body", offer.id)))?;
        chunk_bodies.push(row.blob(0)?.to_vec());
    }
    let bytes =
        bodies::build_chunk(&chunk_bodies).map_err(|damage| Failure::Internal(format!("chunk {key}: {damage}")))?;
    let len = bytes.len();
    db.execute(sql::INSERT_CHUNK_BYTES, params![key, bytes])?;
    Ok(len)
}
