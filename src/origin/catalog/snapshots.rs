//! Builds the two snapshots from the tables. A built snapshot is also stored in the tables: writing it to KV may be
//! retried, and a cold isolate reads it when KV has none.

use std::collections::BTreeMap;

use super::{publication::Prepared, revisions, sql};
use contract::kv::SnapshotKind;
use domain::{
    catalog::{
        Offer,
        app::App,
        offer::is_live,
        snapshot::{
            bodies,
            listing::{self, ChunkPlan, ListedOffer},
            tracking::{self, Source, SourceAdvertiser, SourceGoal, SourceOffer, SourcePublisher},
        },
    },
    model::{
        AdvertiserId, AppId, CountrySet, GoalId, MicroUsd, OfferId, OfferType, Platform, PublisherId,
        time::{DAY_MS, UtcDay},
    },
};
use platform::{
    database::{Database, DatabaseError, Row},
    failure::Failure,
    params,
};

/// Rows read at a time; bounds the memory even if every row has the longest target URL.
const PAGE: i64 = 250;
/// Bodies that one transaction re-renders.
const RENDER_BATCH: i64 = 200;
/// The size of a stored part, in bytes: a SQLite value has at most 2 MB.
const PART_BYTES: usize = 1_500_000;
/// How long retired goals stay in the tracking snapshot: older clicks cannot convert, as no window exceeds 90 days.
const RETIRED_GOAL_RETENTION_MS: i64 = 97 * DAY_MS;

/// Builds and stores the tracking snapshot of the current catalog.
pub fn prepare_tracking(db: &impl Database, now_ms: i64) -> Result<Prepared, Failure> {
    let source = Source {
        publishers: read_all(db, sql::LIST_TRACKED_PUBLISHERS, publisher)?,
        apps: read_all(db, sql::LIST_TRACKED_APPS, app)?,
        advertisers: advertisers(db)?,
        offers: read_all(db, sql::LIST_TRACKED_OFFERS, tracked_offer)?,
        goals: read_all(db, sql::LIST_TRACKED_GOALS, |row| goal(row, now_ms))?
            .into_iter()
            .flatten()
            .collect(),
    };
    db.transaction(|| {
        let version = next_version(db)?;
        let bytes = tracking::build(version, now_ms, &source);
        store_snapshot(db, SnapshotKind::Tracking, version, &bytes)?;
        Ok(Prepared {
            kind: SnapshotKind::Tracking,
            version,
            built_at_ms: now_ms,
            change: revisions::last(db)?,
            bytes,
        })
    })
}

/// Reads a whole table page by page. The statement's parameters are the last id read and the page size.
fn read_all<T>(
    db: &impl Database,
    sql: &str,
    read: impl Fn(&Row) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let mut all = Vec::new();
    let mut after = String::new();
    loop {
        let rows = db.query(sql, params![after.as_str(), PAGE])?;
        for row in &rows {
            all.push(read(row)?);
        }
        match rows.last() {
            Some(last) => last.text(0)?.clone_into(&mut after),
            None => return Ok(all),
        }
    }
}

fn damaged(what: &str, row: &Row) -> Failure {
    Failure::Internal(format!("a stored {what} does not parse: {:?}", row.0.first()))
}

fn publisher(row: &Row) -> Result<SourcePublisher, Failure> {
    let pub_key_hash = if row.is_null(2) {
        None
    } else {
        Some(
            row.blob(2)?
                .try_into()
                .map_err(|_| damaged("Pub-Key hash", row))?,
        )
    };
    let id = PublisherId::parse(row.text(0)?).ok_or_else(|| damaged("publisher", row))?;
    Ok(SourcePublisher {
        id,
        approved: row.boolean(1)?,
        pub_key_hash,
    })
}

fn app(row: &Row) -> Result<(AppId, App), Failure> {
    let id = AppId::parse(row.text(0)?).ok_or_else(|| damaged("app", row))?;
    Ok((
        id,
        serde_json::from_str(row.text(1)?).map_err(|_| damaged("app", row))?,
    ))
}

fn advertisers(db: &impl Database) -> Result<Vec<SourceAdvertiser>, Failure> {
    read_all(db, sql::LIST_TRACKED_ADVERTISERS, |row| {
        let id = AdvertiserId::parse(row.text(0)?).ok_or_else(|| damaged("advertiser", row))?;
        let rows = db.query(sql::LIST_TOKEN_HASHES, params![id.as_str()])?;
        let hash = |row: &Row| row.blob(0)?.try_into().map_err(|_| damaged("token hash", row));
        let tokens = rows.iter().map(hash).collect::<Result<_, Failure>>()?;
        Ok(SourceAdvertiser { id, tokens })
    })
}

fn code(row: &Row, column: usize) -> Result<u8, Failure> {
    u8::try_from(row.integer(column)?).map_err(|_| damaged("code", row))
}

fn optional_limit(row: &Row, column: usize) -> Result<Option<u32>, Failure> {
    Ok(row
        .optional_integer(column)?
        .map(|limit| u32::try_from(limit).unwrap_or(u32::MAX)))
}

fn countries(row: &Row, column: usize) -> Result<CountrySet, Failure> {
    let bits = row
        .blob(column)?
        .try_into()
        .map_err(|_| damaged("set of countries", row))?;
    Ok(CountrySet::from_bits(bits))
}

fn tracked_offer(row: &Row) -> Result<SourceOffer, Failure> {
    Ok(SourceOffer {
        id: OfferId::parse(row.text(0)?).ok_or_else(|| damaged("offer", row))?,
        advertiser_id: AdvertiserId::parse(row.text(1)?).ok_or_else(|| damaged("offer", row))?,
        active: row.boolean(2)?,
        starts_at: row.optional_integer(3)?,
        ends_at: row.optional_integer(4)?,
        os: Platform::from_code(code(row, 5)?).ok_or_else(|| damaged("offer", row))?,
        countries: countries(row, 6)?,
        click_cap: optional_limit(row, 7)?,
        click_id_max: optional_limit(row, 8)?,
        conversion_window_days: optional_limit(row, 9)?.unwrap_or_default(),
        revision: row.integer(10)?,
        target: row.text(11)?.to_owned(),
        includes_countries: row.boolean(12)?,
    })
}

fn goal(row: &Row, now_ms: i64) -> Result<Option<SourceGoal>, Failure> {
    let retired_at_ms = row.optional_integer(2)?;
    if retired_at_ms.is_some_and(|retired| now_ms.saturating_sub(retired) > RETIRED_GOAL_RETENTION_MS) {
        return Ok(None);
    }
    Ok(Some(SourceGoal {
        id: GoalId::parse(row.text(0)?).ok_or_else(|| damaged("goal", row))?,
        offer_id: OfferId::parse(row.text(1)?).ok_or_else(|| damaged("goal", row))?,
        retired: retired_at_ms.is_some(),
    }))
}

/// Builds and stores the listing of the offers that are live at `now_ms`, with its new chunks.
pub fn prepare_listing(db: &impl Database, now_ms: i64) -> Result<Prepared, Failure> {
    rerender_bodies(db)?;
    let today = UtcDay::of_ms(now_ms);
    let offers: Vec<ListedOffer> = read_all(db, sql::LIST_LISTED_OFFERS, |row| {
        listed_offer(row, today, now_ms)
    })?
    .into_iter()
    .flatten()
    .collect();
    let chunks = listing::plan_chunks(&offers);
    db.transaction(|| {
        let version = next_version(db)?;
        store_chunks(db, &offers, &chunks, version)?;
        let bytes = listing::build_index(version, now_ms, &offers, &chunks);
        store_snapshot(db, SnapshotKind::Listing, version, &bytes)?;
        Ok(Prepared {
            kind: SnapshotKind::Listing,
            version,
            built_at_ms: now_ms,
            change: revisions::last(db)?,
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
                let id = OfferId::parse(row.text(0)?).ok_or_else(|| damaged("offer", row))?;
                let offer: Offer = serde_json::from_str(row.text(1)?).map_err(|_| damaged("offer", row))?;
                let body = bodies::render_body(&id, &offer, row.integer(2)?);
                let length = i64::try_from(body.len()).unwrap_or(i64::MAX);
                db.execute(
                    sql::SET_BODY_HASH,
                    params![bodies::body_hash(&body).to_vec(), length, id.as_str()],
                )?;
                db.execute(sql::PUT_BODY, params![id.as_str(), body, format])?;
            }
            Ok::<_, Failure>(())
        })?;
    }
}

fn listed_offer(row: &Row, today: UtcDay, now_ms: i64) -> Result<Option<ListedOffer>, Failure> {
    if !is_live(
        row.boolean(4)?,
        row.optional_integer(5)?,
        row.optional_integer(6)?,
        now_ms,
    ) {
        return Ok(None);
    }
    // Without counts, or with an earlier day's, nothing has been taken from today's caps.
    let is_current = row.optional_integer(11)? == Some(today.number());
    let count =
        |column| Ok::<_, Failure>(u64::try_from(row.optional_integer(column)?.unwrap_or(0)).unwrap_or(0));
    let left = |cap, taken| {
        let taken = if is_current { count(taken)? } else { 0 };
        let cap = optional_limit(row, cap)?;
        Ok::<_, Failure>(cap.map(|cap| cap.saturating_sub(u32::try_from(taken).unwrap_or(u32::MAX))))
    };
    Ok(Some(ListedOffer {
        id: OfferId::parse(row.text(0)?).ok_or_else(|| damaged("offer", row))?,
        off_type: OfferType::from_code(code(row, 1)?).ok_or_else(|| damaged("offer", row))?,
        os: Platform::from_code(code(row, 2)?).ok_or_else(|| damaged("offer", row))?,
        countries: countries(row, 3)?,
        conversion_left: left(7, 16)?,
        click_left: left(8, 15)?,
        clicks: count(12)?,
        conversions: count(13)?,
        payout: MicroUsd(row.optional_integer(14)?.unwrap_or(0)),
        body_hash: row.blob(9)?.try_into().map_err(|_| damaged("body hash", row))?,
        body_len: optional_limit(row, 10)?.unwrap_or_default(),
    }))
}

/// Stores new chunks and marks which are in use. Most rebuilds change nothing here and write no row.
fn store_chunks(
    db: &impl Database,
    offers: &[ListedOffer],
    chunks: &[ChunkPlan],
    version: u64,
) -> Result<(), Failure> {
    let version = i64::try_from(version).unwrap_or(i64::MAX);
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

fn next_version(db: &impl Database) -> Result<u64, DatabaseError> {
    revisions::next(db, revisions::VERSION).map(|version| u64::try_from(version).unwrap_or_default())
}

/// Stores a snapshot's bytes in place of its predecessor's.
fn store_snapshot(
    db: &impl Database,
    kind: SnapshotKind,
    version: u64,
    bytes: &[u8],
) -> Result<(), DatabaseError> {
    let version = i64::try_from(version).unwrap_or(i64::MAX);
    db.execute(sql::DELETE_SNAPSHOT, params![kind.as_str()])?;
    for (part, bytes) in (0_i64..).zip(bytes.chunks(PART_BYTES)) {
        db.execute(
            sql::INSERT_SNAPSHOT_PART,
            params![kind.as_str(), part, version, bytes.to_vec()],
        )?;
    }
    Ok(())
}
