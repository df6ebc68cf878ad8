//! The book of what is published: which versions of the snapshots and which chunks of bodies are in KV, which the pointer
//! lists, and which nothing can ask for any more. The object's shell does the writing to KV in between, so every step can
//! be repeated.

use serde_json::json;

use super::{revisions, sql};
use contract::{
    counters::OfferStats,
    kv::{LISTED_VERSIONS, Pointer, SnapshotKind},
    operation::Reply,
};
use domain::model::time::{HOUR_MS, UtcDay};
use platform::{
    database::{Database, DatabaseError, Row},
    failure::Failure,
    params,
};

/// A snapshot that was built and kept, and is still to be written to KV.
#[derive(Debug)]
pub struct Prepared {
    pub kind: SnapshotKind,
    pub version: u64,
    /// When the tables were read, in milliseconds, and the last change that was in them.
    pub built_at_ms: i64,
    pub change: i64,
    pub bytes: Vec<u8>,
}

/// The mark that holds when a snapshot was last published.
fn built_at(kind: SnapshotKind) -> &'static str {
    match kind {
        SnapshotKind::Tracking => revisions::TRACKING_BUILT_AT,
        SnapshotKind::Listing => revisions::LISTING_BUILT_AT,
    }
}

/// How long a version stays in KV after it left the pointer; an isolate that was asleep may still ask for it.
const KEPT_MS: i64 = HOUR_MS;
/// Keeps what a counters object said of all of its offers. One that it no longer speaks of was quiet for 30 days. A row
/// that did not change is not written, since rows written are what costs.
pub fn keep_stats(
    db: &impl Database,
    object: &str,
    day: UtcDay,
    stats: &[OfferStats],
) -> Result<(), DatabaseError> {
    db.transaction(|| {
        for offer in stats {
            db.execute(
                sql::KEEP_STATS,
                params![
                    offer.offer.as_str(),
                    object,
                    day.number(),
                    i64::try_from(offer.clicks).unwrap_or(i64::MAX),
                    i64::try_from(offer.conversions).unwrap_or(i64::MAX),
                    offer.payout_micro_usd,
                    offer.clicks_taken,
                    offer.conversions_taken,
                ],
            )?;
        }
        db.execute(sql::FORGET_STATS, params![object, day.number()])
    })
}

/// The newest snapshot of a kind, whole.
pub fn newest(db: &impl Database, kind: SnapshotKind) -> Result<Option<Vec<u8>>, DatabaseError> {
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

/// Notes that a chunk is about to be deleted from KV: should that be cut off and the chunk be used again, it is written
/// again.
pub fn chunk_unwritten(db: &impl Database, key: &str) -> Result<(), DatabaseError> {
    db.execute(sql::MARK_CHUNK_UNWRITTEN, params![key])
}

/// Chunks that no listing in KV uses: neither one that the pointer lists nor one that left it within the hour.
pub fn expired_chunks(db: &impl Database) -> Result<Vec<String>, DatabaseError> {
    keys(&db.query(sql::LIST_EXPIRED_CHUNKS, params![SnapshotKind::Listing.as_str()])?)
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

/// Enters a snapshot that is in KV, and marks the versions that the pointer is no longer to list.
pub fn enter(db: &impl Database, prepared: &Prepared, now_ms: i64) -> Result<(), DatabaseError> {
    let kind = prepared.kind.as_str();
    let version = i64::try_from(prepared.version).unwrap_or(i64::MAX);
    let listed = i64::try_from(LISTED_VERSIONS).unwrap_or(3);
    db.transaction(|| {
        db.execute(sql::ENTER_VERSION, params![kind, version])?;
        db.execute(sql::SUPERSEDE_VERSIONS, params![now_ms, kind, kind, listed])?;
        // A rebuild of the listing confirms the tracking snapshot too, unless that is behind.
        if prepared.kind == SnapshotKind::Tracking
            || revisions::get(db, revisions::TRACKING_DIRTY_SINCE)?.is_none()
        {
            revisions::set(db, revisions::CONFIRMED_AT, prepared.built_at_ms)?;
        }
        Ok(())
    })
}

/// Notes that the pointer in KV lists a snapshot: until then it is due. What changed while it was under way still is.
pub fn published(db: &impl Database, prepared: &Prepared) -> Result<(), DatabaseError> {
    db.transaction(|| {
        if prepared.kind == SnapshotKind::Tracking && revisions::last(db)? == prepared.change {
            revisions::clear(db, revisions::TRACKING_DIRTY_SINCE)?;
        }
        revisions::set(db, built_at(prepared.kind), prepared.built_at_ms)
    })
}

/// The pointer as it is to be written.
pub fn pointer(db: &impl Database) -> Result<Pointer, DatabaseError> {
    let versions = |kind: SnapshotKind| {
        let rows = db.query(sql::LIST_POINTED_VERSIONS, params![kind.as_str()])?;
        let version = |row: &Row| row.integer(0).map(|version| u64::try_from(version).unwrap_or(0));
        rows.iter()
            .map(version)
            .collect::<Result<Vec<_>, DatabaseError>>()
    };
    Ok(Pointer {
        confirmed_at_ms: revisions::get(db, revisions::CONFIRMED_AT)?.unwrap_or(0),
        tracking: versions(SnapshotKind::Tracking)?,
        listing: versions(SnapshotKind::Listing)?,
    })
}

/// Versions that left the pointer more than an hour ago.
pub fn expired_versions(db: &impl Database, now_ms: i64) -> Result<Vec<(SnapshotKind, u64)>, DatabaseError> {
    let rows = db.query(
        sql::LIST_EXPIRED_VERSIONS,
        params![now_ms.saturating_sub(KEPT_MS)],
    )?;
    rows.iter()
        .filter_map(|row| {
            let version = row.integer(1).map(|version| u64::try_from(version).unwrap_or(0));
            match (row.text(0), version) {
                (Ok(kind), Ok(version)) => SnapshotKind::parse(kind).map(|kind| Ok((kind, version))),
                (Err(error), _) | (_, Err(error)) => Some(Err(error)),
            }
        })
        .collect()
}

pub fn forget_version(db: &impl Database, kind: SnapshotKind, version: u64) -> Result<(), DatabaseError> {
    db.execute(
        sql::DELETE_VERSION,
        params![kind.as_str(), i64::try_from(version).unwrap_or(i64::MAX)],
    )
}

/// Its member for what the catalog's object takes.
pub const BYTES: &str = "bytes";

/// What [`status`] counts, in the order of `sql::COUNT_RESOURCES`; also the kinds that the metrics show.
pub const COUNTED: [&str; 7] = [
    "publishers",
    "apps",
    "advertisers",
    "offers",
    "goals",
    "retired_goals",
    "chunks",
];

/// What the operator's metrics say of the catalog, which takes so many bytes.
pub fn status(db: &impl Database, bytes: i64) -> Result<Reply, Failure> {
    let row = db
        .query_first(sql::COUNT_RESOURCES, params![])?
        .ok_or_else(|| Failure::Internal("counting gave no row".into()))?;
    let mut status = serde_json::Map::new();
    for (column, name) in COUNTED.into_iter().enumerate() {
        status.insert(name.into(), row.integer(column)?.into());
    }
    for mark in [
        revisions::VERSION,
        revisions::TRACKING_DIRTY_SINCE,
        revisions::TRACKING_BUILT_AT,
        revisions::LISTING_BUILT_AT,
    ] {
        status.insert(mark.into(), json!(revisions::get(db, mark)?));
    }
    status.insert(BYTES.into(), bytes.into());
    Ok(Reply::ok(&status.into()))
}
