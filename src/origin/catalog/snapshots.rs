//! Builds the listing from the tables. A built listing is also stored in the tables: writing it to KV may be retried, and a
//! cold isolate reads it when KV has none. [`tracking_slots`](super::tracking_slots) has the tracking snapshot.

use std::collections::BTreeMap;

use super::{
    publication::{self, Prepared},
    revisions, sql,
};
use contract::kv::SnapshotKind;
use domain::{
    catalog::{
        Offer,
        offer::is_live,
        snapshot::{
            bodies,
            listing::{self, ChunkPlan, ListedOffer},
        },
    },
    model::{
        CountrySet, MicroUsd, OfferId, OfferType, Platform,
        time::{DAY_MS, UtcDay},
    },
};
use platform::{
    database::{Database, DatabaseError, Row, Value},
    failure::Failure,
    params,
};

/// Rows read at a time; bounds the memory even if every row has the longest target URL.
const PAGE: i64 = 250;
/// Bodies that one transaction re-renders.
const RENDER_BATCH: i64 = 200;
/// How long offers that ended and goals that were retired stay in the tracking snapshot: older clicks cannot convert, as
/// no window exceeds 90 days. So the snapshot grows with the offers of a season and not with all there ever were.
pub(super) const RETENTION_MS: i64 = 97 * DAY_MS;

/// An internal failure with the id of the row that it is about.
pub(super) fn in_row(failure: Failure, row: &Row) -> Failure {
    match failure {
        Failure::Internal(problem) => {
            Failure::Internal(format!("{}: {problem}", row.text(0).unwrap_or_default()))
        }
        refused => refused,
    }
}

/// Reads a whole table page by page. The statement's parameters are the last id read, the page size, and `further` ones.
fn read_all<T>(
    db: &impl Database,
    sql: &str,
    further: &[Value],
    read: impl Fn(&Row) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let mut all = Vec::new();
    let mut after = String::new();
    loop {
        let rows = db.query(sql, &[params![after.as_str(), PAGE], further].concat())?;
        for row in &rows {
            all.push(read(row).map_err(|failure| in_row(failure, row))?);
        }
        match rows.last() {
            Some(last) => last.text(0)?.clone_into(&mut after),
            None => return Ok(all),
        }
    }
}

/// Builds and stores the listing of the offers that are live at `now_ms`, with its new chunks.
pub fn prepare_listing(db: &impl Database, now_ms: i64) -> Result<Prepared, Failure> {
    rerender_bodies(db)?;
    let today = UtcDay::of_ms(now_ms).number();
    let offers: Vec<ListedOffer> = read_all(db, sql::LIST_LISTED_OFFERS, params![today], |row| {
        listed_offer(row, now_ms)
    })?
    .into_iter()
    .flatten()
    .collect();
    let chunks = listing::plan_chunks(&offers);
    db.transaction(|| {
        let version = revisions::next_snapshot(db, now_ms)?;
        store_chunks(db, &offers, &chunks, version)?;
        let bytes = listing::build_index(version, now_ms, &offers, &chunks);
        publication::store_snapshot(db, SnapshotKind::Listing, version, &bytes)?;
        Ok(Prepared {
            kind: SnapshotKind::Listing,
            version,
            built_at_ms: now_ms,
            bytes,
        })
    })
}

/// Re-renders the bodies that older or newer code rendered in another format.
fn rerender_bodies(db: &impl Database) -> Result<(), Failure> {
    let format = u32::from(bodies::FORMAT);
    loop {
        let rows = db.query(sql::LIST_BODIES_OF_OTHER_FORMATS, params![format, RENDER_BATCH])?;
        if rows.is_empty() {
            return Ok(());
        }
        db.transaction(|| {
            for row in &rows {
                let id = row.parse(0, OfferId::parse)?;
                let offer: Offer = row.json(1)?;
                let body = bodies::render_body(&id, &offer, row.integer(2)?);
                db.execute(
                    sql::SET_BODY_HASH,
                    params![bodies::body_hash(&body).to_vec(), body.len(), id.as_str()],
                )?;
                db.execute(sql::PUT_BODY, params![id.as_str(), body, format])?;
            }
            Ok::<_, Failure>(())
        })?;
    }
}

fn listed_offer(row: &Row, now_ms: i64) -> Result<Option<ListedOffer>, Failure> {
    if !is_live(
        row.boolean(4)?,
        row.optional_integer(5)?,
        row.optional_integer(6)?,
        now_ms,
    ) {
        return Ok(None);
    }
    let left = |cap, taken| {
        let cap: Option<u32> = row.optional_number(cap)?;
        let taken: Option<u32> = row.optional_number(taken)?;
        Ok::<_, DatabaseError>(cap.map(|cap| cap.saturating_sub(taken.unwrap_or(0))))
    };
    Ok(Some(ListedOffer {
        id: row.parse(0, OfferId::parse)?,
        off_type: row.decode(1, OfferType::from_code)?,
        os: row.decode(2, Platform::from_code)?,
        countries: CountrySet::from_bits(row.bytes(3)?),
        conversion_left: left(7, 15)?,
        click_left: left(8, 14)?,
        clicks: row.optional_number(11)?.unwrap_or(0),
        conversions: row.optional_number(12)?.unwrap_or(0),
        payout: MicroUsd(row.optional_integer(13)?.unwrap_or(0)),
        body_hash: row.bytes(9)?,
        body_len: row.optional_number(10)?.unwrap_or_default(),
    }))
}

/// Stores new chunks and marks which are in use. Most rebuilds change nothing here and write no row.
fn store_chunks(
    db: &impl Database,
    offers: &[ListedOffer],
    chunks: &[ChunkPlan],
    version: u64,
) -> Result<(), Failure> {
    let mut planned: BTreeMap<&str, &ChunkPlan> =
        chunks.iter().map(|chunk| (chunk.key.as_str(), chunk)).collect();
    for row in db.query(sql::LIST_CHUNKS, params![])? {
        let (key, unlisted) = (row.text(0)?, !row.is_null(1));
        let used = planned.remove(key).is_some();
        if used == unlisted {
            db.execute(sql::MARK_CHUNK_LISTED, params![(!used).then_some(version), key])?;
        }
    }
    planned
        .values()
        .try_for_each(|chunk| store_chunk(db, offers, chunk))
}

fn store_chunk(db: &impl Database, offers: &[ListedOffer], chunk: &ChunkPlan) -> Result<(), Failure> {
    let chunk_offers = offers.get(chunk.range.clone()).unwrap_or_default();
    let mut chunk_bodies = Vec::with_capacity(chunk_offers.len());
    for offer in chunk_offers {
        let row = db.query_first(sql::GET_BODY, params![offer.id.as_str()])?;
        let row = row.ok_or_else(|| Failure::Internal(format!("offer {} has no body", offer.id)))?;
        chunk_bodies.push(row.blob(0)?.to_vec());
    }
    let bytes = bodies::build_chunk(&chunk_bodies)
        .map_err(|damage| Failure::Internal(format!("chunk {}: {damage}", chunk.key)))?;
    db.execute(sql::INSERT_CHUNK, params![chunk.key.as_str()])?;
    db.execute(sql::INSERT_CHUNK_BYTES, params![chunk.key.as_str(), bytes])?;
    Ok(())
}
