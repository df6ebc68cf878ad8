//! What is published of the catalog: building the two snapshots from the tables, and the book of which versions and
//! chunks are in KV. The object's shell does the writing to KV in between, so every step can be repeated.

use std::collections::BTreeMap;

use serde_json::json;

use super::{Reply, changes, sql};
use crate::{
    catalog::{
        AdvertiserId, AppId, CountrySet, GoalId, MicroUsd, OfferId, OfferType, Platform, PublisherId,
        app::App,
        offer::is_live,
        snapshot::{
            bodies,
            listing::{self, ChunkPlan, ListedOffer},
            pointer::{LISTED_VERSIONS, Pointer},
            tracking::{self, Source, SourceAdvertiser, SourceGoal, SourceOffer, SourcePublisher},
        },
    },
    origin::{
        command::Failure,
        counters::OfferStats,
        database::{Database, DatabaseError, Row},
    },
    params,
    time::{DAY_MS, HOUR_MS, UtcDay},
};

/// The two snapshots, as their rows are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Tracking,
    Listing,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tracking => "tracking",
            Self::Listing => "listing",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Tracking, Self::Listing]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }

    fn built_at(self) -> &'static str {
        match self {
            Self::Tracking => changes::TRACKING_BUILT_AT,
            Self::Listing => changes::LISTING_BUILT_AT,
        }
    }
}

/// A snapshot that was built and kept, and is still to be written to KV.
#[derive(Debug)]
pub struct Prepared {
    pub kind: Kind,
    pub version: u64,
    pub bytes: Vec<u8>,
}

/// Rows read at a time: few enough that a page of the longest targets stays small.
const PAGE: i64 = 1_000;
/// A SQLite value holds 2 MB.
const PART: usize = 1_500_000;
/// How long a version stays in KV after it left the pointer; an isolate that was asleep may still ask for it.
const KEPT_MS: i64 = HOUR_MS;
/// How long a chunk stays after the newest listing stopped using it: the time its listing is in the pointer, and
/// [`KEPT_MS`] more.
const CHUNK_KEPT_MS: i64 = 2 * HOUR_MS;
/// A retired goal is in no click id that could still convert: the longest window is 90 days.
const RETIRED_GOAL_KEPT_MS: i64 = 97 * DAY_MS;

/// Builds the tracking snapshot of the catalog as it is.
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
        keep(db, Kind::Tracking, version, &bytes)?;
        // What changes from here on makes the snapshot dirty again. Nothing else ran since the rows were read.
        changes::clear(db, changes::TRACKING_DIRTY_SINCE)?;
        Ok(Prepared {
            kind: Kind::Tracking,
            version,
            bytes,
        })
    })
}

/// Says that a prepared tracking snapshot did not reach KV, so that it is built again.
pub fn tracking_failed(db: &impl Database, now_ms: i64) -> Result<(), DatabaseError> {
    changes::record(db, now_ms).map(drop)
}

/// Reads a whole table page by page; the statement takes the last id and the size of a page.
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
    Failure::Broken(format!("a stored {what} does not read: {:?}", row.0.first()))
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
    if retired_at_ms.is_some_and(|retired| now_ms.saturating_sub(retired) > RETIRED_GOAL_KEPT_MS) {
        return Ok(None);
    }
    Ok(Some(SourceGoal {
        id: GoalId::parse(row.text(0)?).ok_or_else(|| damaged("goal", row))?,
        offer_id: OfferId::parse(row.text(1)?).ok_or_else(|| damaged("goal", row))?,
        retired: retired_at_ms.is_some(),
    }))
}

/// Keeps what the counters said; a row that did not change is not written, since rows written are what costs.
pub fn keep_stats(db: &impl Database, day: UtcDay, stats: &[OfferStats]) -> Result<(), DatabaseError> {
    for offer in stats {
        db.execute(
            sql::KEEP_STATS,
            params![
                offer.offer.as_str(),
                day.number(),
                i64::try_from(offer.clicks).unwrap_or(i64::MAX),
                i64::try_from(offer.conversions).unwrap_or(i64::MAX),
                offer.payout_micro_usd,
                offer.clicks_taken,
                offer.conversions_taken,
            ],
        )?;
    }
    Ok(())
}

/// Builds the listing of the offers that are live now, and keeps the chunks that are new.
pub fn prepare_listing(db: &impl Database, now_ms: i64) -> Result<Prepared, Failure> {
    let today = UtcDay::of_ms(now_ms);
    let offers: Vec<ListedOffer> = read_all(db, sql::LIST_LISTED_OFFERS, |row| {
        listed_offer(row, today, now_ms)
    })?
    .into_iter()
    .flatten()
    .collect();
    let chunks = listing::plan_chunks(&offers);
    db.transaction(|| {
        keep_chunks(db, &offers, &chunks, now_ms)?;
        let version = next_version(db)?;
        let bytes = listing::build_index(version, now_ms, &offers, &chunks);
        keep(db, Kind::Listing, version, &bytes)?;
        Ok(Prepared {
            kind: Kind::Listing,
            version,
            bytes,
        })
    })
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
    // Without counts yet, or with yesterday's, nothing of today's caps is taken.
    let of_today = row.optional_integer(11)? == Some(today.number());
    let count =
        |column| Ok::<_, Failure>(u64::try_from(row.optional_integer(column)?.unwrap_or(0)).unwrap_or(0));
    let left = |cap, taken| {
        let taken = if of_today { count(taken)? } else { 0 };
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

/// Keeps the chunks that are new, and marks which are in use. Most rebuilds change nothing here and write no row.
fn keep_chunks(
    db: &impl Database,
    offers: &[ListedOffer],
    chunks: &[ChunkPlan],
    now_ms: i64,
) -> Result<(), Failure> {
    let mut planned: BTreeMap<&str, &ChunkPlan> =
        chunks.iter().map(|chunk| (chunk.key.as_str(), chunk)).collect();
    for row in db.query(sql::LIST_CHUNKS, params![])? {
        let (key, unlisted) = (row.text(0)?, !row.is_null(1));
        let used = planned.remove(key).is_some();
        if used == unlisted {
            db.execute(sql::MARK_CHUNK_LISTED, params![(!used).then_some(now_ms), key])?;
        }
    }
    planned
        .values()
        .try_for_each(|chunk| keep_new_chunk(db, offers, chunk))
}

fn keep_new_chunk(db: &impl Database, offers: &[ListedOffer], chunk: &ChunkPlan) -> Result<(), Failure> {
    let of_chunk = offers.get(chunk.range.clone()).unwrap_or_default();
    let mut stored = Vec::with_capacity(of_chunk.len());
    for offer in of_chunk {
        let row = db.query_first(sql::GET_BODY, params![offer.id.as_str()])?;
        let row = row.ok_or_else(|| Failure::Broken(format!("offer {} has no body", offer.id)))?;
        stored.push(row.blob(0)?.to_vec());
    }
    let bytes = bodies::build_chunk(&stored)
        .map_err(|damage| Failure::Broken(format!("chunk {}: {damage}", chunk.key)))?;
    db.execute(sql::INSERT_CHUNK, params![chunk.key.as_str()])?;
    db.execute(sql::INSERT_CHUNK_BYTES, params![chunk.key.as_str(), bytes])?;
    Ok(())
}

fn next_version(db: &impl Database) -> Result<u64, DatabaseError> {
    changes::next(db, changes::VERSION).map(|version| u64::try_from(version).unwrap_or_default())
}

/// Keeps a snapshot's bytes in place of the one before it.
fn keep(db: &impl Database, kind: Kind, version: u64, bytes: &[u8]) -> Result<(), DatabaseError> {
    let version = i64::try_from(version).unwrap_or(i64::MAX);
    db.execute(sql::DELETE_SNAPSHOT, params![kind.as_str()])?;
    for (part, bytes) in (0_i64..).zip(bytes.chunks(PART)) {
        db.execute(
            sql::INSERT_SNAPSHOT_PART,
            params![kind.as_str(), part, version, bytes.to_vec()],
        )?;
    }
    Ok(())
}

/// The newest snapshot of a kind, whole.
pub fn newest(db: &impl Database, kind: Kind) -> Result<Option<Vec<u8>>, DatabaseError> {
    let rows = db.query(sql::GET_SNAPSHOT, params![kind.as_str()])?;
    let parts = rows
        .iter()
        .map(|row| row.blob(0))
        .collect::<Result<Vec<_>, _>>()?;
    Ok((!parts.is_empty()).then(|| parts.concat()))
}

/// A chunk's bytes.
pub fn chunk(db: &impl Database, key: &str) -> Result<Option<Vec<u8>>, DatabaseError> {
    let row = db.query_first(sql::GET_CHUNK, params![key])?;
    row.map(|row| row.blob(0).map(<[u8]>::to_vec)).transpose()
}

/// The chunks that a listing uses and KV does not have yet.
pub fn chunks_to_write(db: &impl Database) -> Result<Vec<String>, DatabaseError> {
    keys(&db.query(sql::LIST_CHUNKS_TO_WRITE, params![])?)
}

pub fn chunk_written(db: &impl Database, key: &str) -> Result<(), DatabaseError> {
    db.execute(sql::MARK_CHUNK_WRITTEN, params![key])
}

/// Chunks that nothing can ask for any more.
pub fn expired_chunks(db: &impl Database, now_ms: i64) -> Result<Vec<String>, DatabaseError> {
    keys(&db.query(
        sql::LIST_EXPIRED_CHUNKS,
        params![now_ms.saturating_sub(CHUNK_KEPT_MS)],
    )?)
}

pub fn forget_chunk(db: &impl Database, key: &str) -> Result<(), DatabaseError> {
    db.transaction(|| {
        db.execute(sql::DELETE_CHUNK_BYTES, params![key])?;
        db.execute(sql::DELETE_CHUNK, params![key])
    })
}

fn keys(rows: &[Row]) -> Result<Vec<String>, DatabaseError> {
    rows.iter().map(|row| row.text(0).map(str::to_owned)).collect()
}

/// Enters a version that is in KV, and marks those that the pointer no longer lists.
pub fn enter(db: &impl Database, kind: Kind, version: u64, now_ms: i64) -> Result<(), DatabaseError> {
    let version = i64::try_from(version).unwrap_or(i64::MAX);
    let listed = i64::try_from(LISTED_VERSIONS).unwrap_or(3);
    db.transaction(|| {
        db.execute(sql::ENTER_VERSION, params![kind.as_str(), version])?;
        db.execute(
            sql::SUPERSEDE_VERSIONS,
            params![now_ms, kind.as_str(), kind.as_str(), listed],
        )?;
        changes::set(db, kind.built_at(), now_ms)?;
        changes::set(db, changes::CONFIRMED_AT, now_ms)
    })
}

/// The pointer as it is to be written.
pub fn pointer(db: &impl Database) -> Result<Pointer, DatabaseError> {
    let versions = |kind: Kind| {
        let rows = db.query(sql::LIST_POINTED_VERSIONS, params![kind.as_str()])?;
        let version = |row: &Row| row.integer(0).map(|version| u64::try_from(version).unwrap_or(0));
        rows.iter()
            .map(version)
            .collect::<Result<Vec<_>, DatabaseError>>()
    };
    Ok(Pointer {
        confirmed_at_ms: changes::get(db, changes::CONFIRMED_AT)?.unwrap_or(0),
        tracking: versions(Kind::Tracking)?,
        listing: versions(Kind::Listing)?,
    })
}

/// Versions that left the pointer more than an hour ago.
pub fn expired_versions(db: &impl Database, now_ms: i64) -> Result<Vec<(Kind, u64)>, DatabaseError> {
    let rows = db.query(
        sql::LIST_EXPIRED_VERSIONS,
        params![now_ms.saturating_sub(KEPT_MS)],
    )?;
    rows.iter()
        .filter_map(|row| {
            let version = row.integer(1).map(|version| u64::try_from(version).unwrap_or(0));
            match (row.text(0), version) {
                (Ok(kind), Ok(version)) => Kind::parse(kind).map(|kind| Ok((kind, version))),
                (Err(error), _) | (_, Err(error)) => Some(Err(error)),
            }
        })
        .collect()
}

pub fn forget_version(db: &impl Database, kind: Kind, version: u64) -> Result<(), DatabaseError> {
    db.execute(
        sql::DELETE_VERSION,
        params![kind.as_str(), i64::try_from(version).unwrap_or(i64::MAX)],
    )
}

/// What the operator's metrics say of the catalog.
pub fn status(db: &impl Database) -> Result<Reply, Failure> {
    let row = db
        .query_first(sql::COUNT_RESOURCES, params![])?
        .ok_or_else(|| Failure::Broken("counting gave no row".into()))?;
    let names = [
        "publishers",
        "apps",
        "advertisers",
        "offers",
        "goals",
        "retired_goals",
        "chunks",
    ];
    let mut status = serde_json::Map::new();
    for (column, name) in names.into_iter().enumerate() {
        status.insert(name.into(), row.integer(column)?.into());
    }
    for mark in [
        changes::VERSION,
        changes::TRACKING_DIRTY_SINCE,
        changes::TRACKING_BUILT_AT,
        changes::LISTING_BUILT_AT,
    ] {
        status.insert(mark.into(), json!(changes::get(db, mark)?));
    }
    Ok(Reply::ok(&status.into()))
}
