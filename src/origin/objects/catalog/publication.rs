//! Records what is published: the listings and body chunks in KV, the versions that the pointer lists, and the expired
//! versions. [`tracking_slots`](super::tracking_slots) records the same for the tracking snapshot.
//! [`kv_writer`](super::kv_writer) writes to KV between two records, so every step can be retried.

use serde_json::json;
use xxhash_rust::xxh64::xxh64;

use super::{reads::only_row, revisions, sql};
use contract::{
    counters::OfferStats,
    kv::{LISTED_VERSIONS, Pointer, SnapshotKind},
    operation::OperatorReply,
};
use domain::{
    model::{HOUR_MS, MINUTE_MS, UtcDay},
    snapshot::envelope::{Kind, verify},
};
use platform::{
    Database, DbResult, Result,
    database::{MAX_INTEGER, Value, json},
    params,
};

/// A snapshot that was built and stored but is not in KV yet. A listing gets its own key; a manifest is part of the
/// pointer.
#[derive(Debug)]
pub struct Prepared {
    pub kind: SnapshotKind,
    pub version: u64,
    /// When the tables were read, in milliseconds.
    pub built_at_ms: i64,
    pub bytes: Vec<u8>,
}

/// Returns the mark with the build time of the last published snapshot of a kind.
fn built_at_mark(kind: SnapshotKind) -> &'static str {
    match kind {
        SnapshotKind::Tracking => revisions::TRACKING_BUILT_AT,
        SnapshotKind::Listing => revisions::LISTING_BUILT_AT,
    }
}

/// Maximum size of a stored part, in bytes: a SQLite value has at most 2 MB.
const PART_BYTES: usize = 1_500_000;
/// How long a listing stays in KV after it left the pointer: an idle isolate may still read it.
const RETENTION_MS: i64 = HOUR_MS;
/// After this time KV certainly shows a new value everywhere; it usually takes up to a minute.
const SETTLED_MS: i64 = 2 * MINUTE_MS;
/// A shard or chunk that an isolate still misses after this time is written again.
pub(super) const MISSED_MS: i64 = 10 * MINUTE_MS;

/// Stores a counters object's figures of some offers. Unchanged rows are not written, because Cloudflare charges for
/// rows written.
pub fn store_stats(db: &impl Database, object: &str, day: UtcDay, stats: &[OfferStats]) -> DbResult {
    db.transaction(|| {
        for offer in stats {
            db.execute(
                sql::STORE_STATS,
                params![
                    offer.offer.as_str(),
                    object,
                    day.number(),
                    offer.clicks,
                    offer.conversions,
                    offer.payout_micro_usd,
                    offer.clicks_taken,
                    offer.conversions_taken,
                    json(&offer.apps)?,
                ],
            )?;
        }
        Ok(())
    })
}

/// Deletes an object's figures of earlier days, once all of today's figures are stored. The deleted figures belong to
/// offers without activity for 30 days, which the object no longer lists.
pub fn delete_stale_stats(db: &impl Database, object: &str, day: UtcDay) -> DbResult {
    db.execute(sql::DELETE_STALE_STATS, params![object, day.number()])
}

/// Returns the bytes of the newest snapshot of a kind.
pub fn newest(db: &impl Database, kind: SnapshotKind) -> DbResult<Option<Vec<u8>>> {
    let rows = db.query(sql::GET_SNAPSHOT, params![kind.as_str()])?;
    let parts = rows.iter().map(|row| row.blob(0)).collect::<Result<Vec<_>, _>>()?;
    Ok((!parts.is_empty()).then(|| parts.concat()))
}

/// Returns a chunk's bytes.
pub fn chunk(db: &impl Database, key: &str) -> DbResult<Option<Vec<u8>>> {
    db.read_first(sql::GET_CHUNK, params![key], |row| row.blob(0).map(<[u8]>::to_vec))
}

/// Returns the keys of chunks that the listing uses and KV does not have yet, at most `limit`.
pub fn chunks_to_write(db: &impl Database, limit: usize) -> DbResult<Vec<String>> {
    keys(db, sql::LIST_CHUNKS_TO_WRITE, params![limit])
}

pub fn record_chunk_written(db: &impl Database, key: &str, now_ms: i64) -> DbResult {
    db.execute(sql::MARK_CHUNK_WRITTEN, params![now_ms, key])
}

/// Returns a chunk's bytes for an isolate that does not find it in KV. If the chunk was written more than `MISSED_MS`
/// ago, the next listing writes it again. If its bytes are damaged, the next listing, which is due at once, builds it
/// again.
pub fn chunk_for_isolate(db: &impl Database, key: &str, now_ms: i64) -> DbResult<Option<Vec<u8>>> {
    let missed_ms = now_ms.saturating_sub(MISSED_MS);
    db.execute(sql::MARK_CHUNK_UNWRITTEN, params![key, missed_ms])?;
    let Some(bytes) = chunk(db, key)? else {
        return Ok(None);
    };
    if verify(Kind::Bodies, &bytes).is_ok() {
        return Ok(Some(bytes));
    }
    forget_chunk(db, key)?;
    revisions::clear(db, revisions::LISTING_BUILT_AT)?;
    Ok(None)
}

/// Makes the next publication write everything, as if KV were empty.
pub fn publish_all(db: &impl Database, now_ms: i64) -> DbResult {
    for sql in [sql::MARK_ALL_SLOTS, sql::UNWRITE_SHARDS, sql::UNWRITE_CHUNKS] {
        db.execute(sql, &[])?;
    }
    revisions::clear(db, revisions::LISTING_BUILT_AT)?;
    revisions::clear(db, revisions::POINTED_AT)?;
    revisions::mark_changed(db, now_ms)
}

/// Returns a number that identifies this release and the formats of its snapshots.
pub fn own_code() -> i64 {
    let mut code = env!("CARGO_PKG_VERSION").as_bytes().to_vec();
    code.extend(Kind::ALL.map(Kind::format));
    // SQLite's integers come back as JavaScript numbers, which are exact up to 53 bits.
    i64::try_from(xxh64(&code, 0) >> 11).unwrap_or_default()
}

/// Makes the next publication rebuild everything if another release published last, because an older edge may be unable
/// to read what newer code wrote. Unchanged values are not written again.
pub fn rebuild_after_other_code(db: &impl Database, now_ms: i64) -> DbResult<bool> {
    if revisions::get(db, revisions::PUBLISHED_BY)? == Some(own_code()) {
        return Ok(false);
    }
    db.transaction(|| {
        // A new catalog has published nothing, and its first listing must wait for its first offers.
        let has_published = revisions::get(db, revisions::VERSION)?.is_some();
        if has_published {
            db.execute(sql::MARK_ALL_SLOTS, &[])?;
            revisions::clear(db, revisions::LISTING_BUILT_AT)?;
            revisions::mark_changed(db, now_ms)?;
        }
        revisions::set(db, revisions::PUBLISHED_BY, own_code())?;
        Ok(has_published)
    })
}

/// Returns the listing that the pointer names, once the pointer is so old that KV must show it everywhere; `None`
/// before.
pub fn settled_listing(db: &impl Database, now_ms: i64) -> DbResult<Option<u64>> {
    let pointed_ms = revisions::get(db, revisions::POINTED_AT)?;
    if pointed_ms.is_none_or(|pointed_ms| now_ms < pointed_ms.saturating_add(SETTLED_MS)) {
        return Ok(None);
    }
    let version = revisions::get(db, revisions::POINTED_LISTING)?;
    Ok(version.and_then(|version| u64::try_from(version).ok()))
}

/// Marks a chunk as absent from KV before it is deleted there, so that it is written again if the deletion is
/// interrupted and the chunk is used again.
pub fn record_chunk_absent(db: &impl Database, key: &str) -> DbResult {
    db.execute(sql::MARK_CHUNK_UNWRITTEN, params![key, MAX_INTEGER])
}

/// Returns at most 100 keys of chunks that no listing in KV uses. KV keeps a listing for an hour after it left the
/// pointer.
pub fn expired_chunks(db: &impl Database) -> DbResult<Vec<String>> {
    keys(db, sql::LIST_EXPIRED_CHUNKS, params![])
}

pub fn forget_chunk(db: &impl Database, key: &str) -> DbResult {
    db.transaction(|| {
        db.execute(sql::DELETE_CHUNK_BYTES, params![key])?;
        db.execute(sql::DELETE_CHUNK, params![key])
    })
}

/// Returns the keys that a statement lists.
pub(super) fn keys(db: &impl Database, sql: &str, parameters: &[Value]) -> DbResult<Vec<String>> {
    db.read_all(sql, parameters, |row| row.text(0).map(str::to_owned))
}

/// Records that a listing is in KV, and marks as superseded the versions that the next pointer no longer lists.
pub fn record_written(db: &impl Database, version: u64, now_ms: i64) -> DbResult {
    db.transaction(|| {
        db.execute(sql::INSERT_VERSION, params![version])?;
        db.execute(sql::SUPERSEDE_VERSIONS, params![now_ms, LISTED_VERSIONS])
    })
}

/// Records that the next pointer's snapshots have every change up to this time.
pub fn confirm(db: &impl Database, at_ms: i64) -> DbResult {
    revisions::set(db, revisions::CONFIRMED_AT, at_ms)
}

/// Records that the pointer in KV names a snapshot. Until this is recorded, the publication of the snapshot stays due.
pub fn record_in_pointer(db: &impl Database, prepared: &Prepared, now_ms: i64) -> DbResult {
    if prepared.kind == SnapshotKind::Listing {
        let version = i64::try_from(prepared.version).unwrap_or(i64::MAX);
        revisions::set(db, revisions::POINTED_LISTING, version)?;
        revisions::set(db, revisions::POINTED_AT, now_ms)?;
    }
    revisions::set(db, built_at_mark(prepared.kind), prepared.built_at_ms)
}

/// Returns the pointer that must be written to KV.
pub fn pointer(db: &impl Database) -> DbResult<Pointer> {
    Ok(Pointer {
        confirmed_at_ms: revisions::get(db, revisions::CONFIRMED_AT)?.unwrap_or(0),
        listing: db.read_all(sql::LIST_POINTED_VERSIONS, params![], |row| row.number(0))?,
        manifest: newest(db, SnapshotKind::Tracking)?.unwrap_or_default(),
    })
}

/// Returns the listings that left the pointer more than an hour ago, at most 50.
pub fn expired_versions(db: &impl Database, now_ms: i64) -> DbResult<Vec<u64>> {
    let kept_from = params![now_ms.saturating_sub(RETENTION_MS)];
    db.read_all(sql::LIST_EXPIRED_VERSIONS, kept_from, |row| row.number(0))
}

pub fn forget_version(db: &impl Database, version: u64) -> DbResult {
    db.execute(sql::DELETE_VERSION, params![version])
}

/// Replaces the stored snapshot of a kind.
pub fn store_snapshot(db: &impl Database, kind: SnapshotKind, version: u64, bytes: &[u8]) -> DbResult {
    db.execute(sql::DELETE_SNAPSHOT, params![kind.as_str()])?;
    for (part, bytes) in (0_i64..).zip(bytes.chunks(PART_BYTES)) {
        db.execute(sql::INSERT_SNAPSHOT_PART, params![kind.as_str(), part, version, bytes.to_vec()])?;
    }
    Ok(())
}

/// The name of the database's size in [`status`], in bytes.
pub const BYTES: &str = "bytes";

/// The names of the counts in [`status`] and of the kinds in the metrics, in the order of `sql::COUNT_RESOURCES`.
pub const COUNTED: [&str; 8] =
    ["publishers", "apps", "advertisers", "offers", "goals", "retired_goals", "chunks", "pub_key_requests"];

/// Returns how many secrets are still sealed with an old key. It is cheap, because load balancers ask every second.
pub fn health(db: &impl Database) -> Result<OperatorReply> {
    let old_seals = revisions::get(db, revisions::OLD_SEALS)?.unwrap_or(0);
    Ok(OperatorReply::ok(&json!({ revisions::OLD_SEALS: old_seals })))
}

/// Returns the catalog's figures for the operator's metrics. `bytes` is the size of its database.
pub fn status(db: &impl Database, bytes: i64) -> Result<OperatorReply> {
    let row = only_row(db, sql::COUNT_RESOURCES, params![])?;
    let mut status = serde_json::Map::new();
    for (column, name) in COUNTED.into_iter().enumerate() {
        status.insert(name.into(), row.integer(column)?.into());
    }
    for mark in [
        revisions::VERSION,
        revisions::TRACKING_DIRTY_SINCE,
        revisions::TRACKING_BUILT_AT,
        revisions::LISTING_BUILT_AT,
        revisions::OLD_SEALS,
    ] {
        status.insert(mark.into(), json!(revisions::get(db, mark)?));
    }
    status.insert(BYTES.into(), bytes.into());
    Ok(OperatorReply::ok(&status.into()))
}
