//! The slots of the tracking snapshot: which slots have shards that are out of date, and which shards are in KV.
//!
//! A change marks the slots that it affects, and a publication builds only these. A shard's key is its checksum, so a
//! key always has the same value, and shards of any age can be in KV together.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{
    publication::{self, MISSED_MS, Prepared},
    revisions, sql, tracking_rows,
};
use contract::kv::{self, SnapshotKind};
use domain::{
    model::{AppId, DAY_MS, HOUR_MS},
    snapshot::tracking::{
        BuiltShard, Manifest, ShardKind, Slot,
        manifest::Checksums,
        slots::{self, MAX_BITS},
    },
};
use platform::{Database, DatabaseError, DbResult, Failure, Result, params};

/// How long a shard stays in KV after it left the current manifest. An isolate that cannot read KV serves from its
/// manifest for equally long.
const RETENTION_MS: i64 = DAY_MS;
/// How long a shard counts as being in KV after it left the current manifest. This is less than [`RETENTION_MS`], so
/// that no manifest names a shard that is being deleted.
const REUSE_MS: i64 = 12 * HOUR_MS;
/// The number of slots of each kind that are rebuilt with each listing even if they have not changed. This removes
/// offers that ended long ago and repairs damage. At 8,192 slots of goals, a round through all slots takes four days.
const CHECKED_AT_ONCE: i64 = 8;
/// Maximum shards that one sweep deletes: KV allows 1,000 operations in one invocation.
const SWEEP: i64 = 100;

/// A slot whose shard is out of date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedSlot {
    pub slot: Slot,
    /// The revision of its last change.
    pub change: i64,
}

/// Returns the mark with the number of bits of a kind's slot numbers.
fn bits_mark(kind: ShardKind) -> &'static str {
    match kind {
        ShardKind::Advertisers => "advertiser_slot_bits",
        ShardKind::Apps => "app_slot_bits",
        ShardKind::Goals => "goal_slot_bits",
    }
}

fn bits(db: &impl Database, kind: ShardKind) -> DbResult<u8> {
    let bits = revisions::get(db, bits_mark(kind))?.unwrap_or_default();
    u8::try_from(bits).map_err(|_| DatabaseError(format!("{} has the invalid value {bits}", bits_mark(kind))))
}

/// Marks the slots of these hashes as out of date since a revision.
fn mark(db: &impl Database, kind: ShardKind, hashes: &[u16], revision: i64) -> DbResult {
    let bits = bits(db, kind)?;
    let numbers: BTreeSet<_> = hashes.iter().map(|hash| Slot::of(kind, bits, *hash).number).collect();
    numbers.into_iter().try_for_each(|number| db.execute(sql::MARK_SLOT, params![revision, kind.code(), number]))
}

pub fn mark_advertiser(db: &impl Database, id: &str, revision: i64) -> DbResult {
    mark(db, ShardKind::Advertisers, &[slots::hash(id)], revision)
}

pub fn mark_app(db: &impl Database, id: AppId, revision: i64) -> DbResult {
    mark(db, ShardKind::Apps, &[slots::hash_of_app(id)], revision)
}

/// Marks the apps of a publisher, because each app's row has the publisher's approval and Pub-Key.
pub fn mark_apps_of(db: &impl Database, publisher: &str, revision: i64) -> DbResult {
    let hashes = db.read_all(sql::LIST_APP_HASHES, params![publisher], |row| row.number(0))?;
    mark(db, ShardKind::Apps, &hashes, revision)
}

/// Marks the goals of an offer, including retired goals, because each goal's row has the offer.
pub fn mark_goals_of(db: &impl Database, offer: &str, revision: i64) -> DbResult {
    let hashes = db.read_all(sql::LIST_GOAL_HASHES, params![offer], |row| row.number(0))?;
    mark(db, ShardKind::Goals, &hashes, revision)
}

/// Marks the next slots of each kind, so that all are rebuilt in turn.
pub fn mark_next(db: &impl Database) -> DbResult {
    db.transaction(|| {
        let turn = revisions::get(db, revisions::CHECKED_SLOTS)?.unwrap_or_default();
        for kind in ShardKind::ALL {
            let slots = 1_i64 << bits(db, kind)?;
            for nth in 0..CHECKED_AT_ONCE.min(slots) {
                let number = turn.saturating_add(nth).rem_euclid(slots);
                db.execute(sql::MARK_UNCHANGED_SLOT, params![kind.code(), number])?;
            }
        }
        let next = turn.saturating_add(CHECKED_AT_ONCE).rem_euclid(1 << MAX_BITS);
        revisions::set(db, revisions::CHECKED_SLOTS, next)
    })
}

/// Returns the first slots that are out of date, in the order of [`ShardKind`].
pub fn changed(db: &impl Database, limit: usize) -> Result<Vec<ChangedSlot>> {
    let mut bits_of = BTreeMap::new();
    for kind in ShardKind::ALL {
        bits_of.insert(kind, bits(db, kind)?);
    }
    let changed = db.read_all(sql::LIST_CHANGED_SLOTS, params![limit], |row| {
        let kind = row.decode(0, ShardKind::from_code)?;
        Ok(ChangedSlot {
            slot: Slot { kind, bits: bits_of.get(&kind).copied().unwrap_or_default(), number: row.number(1)? },
            change: row.integer(2)?,
        })
    })?;
    Ok(changed)
}

/// True if any slot is out of date since this revision or an earlier one.
pub fn is_changed_by(db: &impl Database, revision: i64) -> DbResult<bool> {
    db.query_boolean(sql::IS_SLOT_CHANGED, params![revision])
}

/// Records that the pointer in KV contains the manifest. Slots that changed while the manifest was made become due now.
/// After a partial manifest, the remaining slots stay due since their first change.
pub fn record_published(db: &impl Database, is_partial: bool, now_ms: i64) -> Result {
    if changed(db, 1)?.is_empty() {
        revisions::clear(db, revisions::TRACKING_DIRTY_SINCE)?;
    } else if !is_partial {
        revisions::set(db, revisions::TRACKING_DIRTY_SINCE, now_ms)?;
    }
    Ok(())
}

/// Builds a slot's shard. Returns `None` if the shard was too large: the slots of its kind were then doubled and are
/// out of date. Also returns `None` if the slots were doubled after this slot was listed.
pub fn build(db: &impl Database, slot: Slot, now_ms: i64) -> Result<Option<BuiltShard>> {
    if bits(db, slot.kind)? != slot.bits {
        return Ok(None);
    }
    let built = tracking_rows::build(db, slot, now_ms)?;
    match built {
        Some(built) if !built.is_to_split() || slot.bits == MAX_BITS => Ok(Some(built)),
        None if slot.bits == MAX_BITS => Err(Failure::Internal(format!("slot {} is too large", slot.name()))),
        _ => {
            split(db, slot)?;
            Ok(None)
        }
    }
}

/// Doubles the slots of a kind.
fn split(db: &impl Database, slot: Slot) -> DbResult {
    let kind = slot.kind.code();
    let bits = slot.bits.saturating_add(1);
    db.transaction(|| {
        revisions::set(db, bits_mark(slot.kind), i64::from(bits))?;
        db.execute(sql::DELETE_SLOTS, params![kind])?;
        db.execute(sql::INSERT_SLOTS, params![kind, 1_u32 << bits])
    })
}

/// Returns the key of a shard that must be written to KV; `None` if KV has it. The shard is recorded before it is
/// written, so that it is deleted later even if no manifest ever names it.
pub fn key_to_write(db: &impl Database, slot: Slot, built: &BuiltShard, now_ms: i64) -> DbResult<Option<String>> {
    let key = kv::shard_key(slot.kind, built.checksum());
    let row = db.query_first(sql::GET_SHARD, params![key.as_str()])?;
    if let Some(row) = row
        && !row.is_null(0)
        && row.optional_integer(1)?.is_none_or(|at_ms| at_ms > now_ms.saturating_sub(REUSE_MS))
    {
        return Ok(None);
    }
    db.execute(sql::LIST_SHARD, params![key.as_str(), now_ms])?;
    Ok(Some(key))
}

/// Records that a slot's shard is in KV. The slot stays out of date if it changed after the shard was built.
pub fn record_written(db: &impl Database, changed: ChangedSlot, built: &BuiltShard, now_ms: i64) -> DbResult {
    let slot = changed.slot;
    let key = kv::shard_key(slot.kind, built.checksum());
    db.transaction(|| {
        db.execute(sql::MARK_SHARD_WRITTEN, params![now_ms, key.as_str()])?;
        if bits(db, slot.kind)? != slot.bits {
            return Ok(());
        }
        let checksum = built.checksum().to_le_bytes().to_vec();
        let (kind, number) = (slot.kind.code(), slot.number);
        db.execute(sql::RECORD_SHARD, params![checksum, changed.change, kind, number])
    })
}

/// Stores the manifest of the shards, unless a shard was never built. The shards have every change up to `built_at_ms`;
/// if that is `None`, the previous manifest's time stays. After the slots of a kind were doubled, the manifest names
/// the kind's old slots until all new ones are built, so that changes of other kinds are published.
pub fn prepare_manifest(db: &impl Database, built_at_ms: Option<i64>, now_ms: i64) -> Result<Option<Prepared>> {
    let before = named(db)?;
    let Some(checksums) = to_name(db, before.as_ref())? else {
        return Ok(None);
    };
    db.transaction(|| {
        let stored_at_ms = before.as_ref().map_or(0, Manifest::built_at_ms);
        let built_at_ms = built_at_ms.unwrap_or(stored_at_ms);
        let version = revisions::next_snapshot(db, now_ms)?;
        let bytes = Manifest::build(version, built_at_ms, &checksums);
        let manifest = Manifest::open(bytes.clone()).map_err(|damage| Failure::Internal(damage.to_string()))?;
        for kind in ShardKind::ALL {
            let stored = before.as_ref().map(|manifest| checksums_of(manifest, kind));
            let stored: HashSet<u64> = stored.unwrap_or_default();
            let named: HashSet<u64> = checksums_of(&manifest, kind);
            for checksum in stored.difference(&named) {
                let key = kv::shard_key(kind, *checksum);
                db.execute(sql::SUPERSEDE_SHARD, params![now_ms, key])?;
            }
            for checksum in named.difference(&stored) {
                db.execute(sql::NAME_SHARD, params![kv::shard_key(kind, *checksum)])?;
            }
        }
        publication::store_snapshot(db, SnapshotKind::Tracking, version, &bytes)?;
        Ok(Some(Prepared { kind: SnapshotKind::Tracking, version, built_at_ms: now_ms, bytes }))
    })
}

/// Returns the stored manifest, which the pointer has or will have.
fn named(db: &impl Database) -> DbResult<Option<Manifest>> {
    let bytes = publication::newest(db, SnapshotKind::Tracking)?;
    // The manifest of another version of Signpost cannot be read and counts as missing.
    Ok(bytes.and_then(|bytes| Manifest::open(bytes).ok()))
}

/// Returns the checksums of a kind's shards, in the order of their slots.
fn checksums_of<C: FromIterator<u64>>(manifest: &Manifest, kind: ShardKind) -> C {
    manifest.slots(kind).map(|(_, checksum)| checksum).collect()
}

/// Returns the checksums of a kind's shards, in the order of their slots; `None` if a shard was not built yet.
fn built_shards(db: &impl Database, kind: ShardKind) -> DbResult<Option<Vec<u64>>> {
    let checksums = db.read_all(sql::LIST_CHECKSUMS, params![kind.code()], |row| match row.is_null(0) {
        true => Ok(None),
        false => Ok(Some(u64::from_le_bytes(row.bytes(0)?))),
    })?;
    Ok(checksums.into_iter().collect())
}

/// Returns the shards for the next manifest. If a shard of a kind is not built yet, the previous manifest's shards of
/// that kind are used.
fn to_name(db: &impl Database, before: Option<&Manifest>) -> DbResult<Option<Checksums>> {
    let mut checksums = Checksums::default();
    for (kind, checksums) in ShardKind::ALL.into_iter().zip(&mut checksums) {
        let named = || before.map(|manifest| checksums_of(manifest, kind));
        match built_shards(db, kind)?.or_else(named) {
            Some(shards) => *checksums = shards,
            None => return Ok(None),
        }
    }
    Ok(Some(checksums))
}

/// True if the stored manifest names exactly the shards that were built.
pub fn is_manifest_current(db: &impl Database) -> DbResult<bool> {
    let Some(manifest) = named(db)? else {
        return Ok(false);
    };
    let named = ShardKind::ALL.map(|kind| checksums_of(&manifest, kind));
    Ok(to_name(db, Some(&manifest))? == Some(named))
}

/// Returns the shard of a slot for an isolate that does not find it in KV. If the shard was written more than
/// `MISSED_MS` ago, the next publication writes it again.
///
/// # Errors
/// The slots of the kind were doubled in the meantime, and the old slot has too many rows.
pub fn for_isolate(db: &impl Database, slot: Slot, now_ms: i64) -> Result<Vec<u8>> {
    let built = tracking_rows::build(db, slot, now_ms)?;
    let built = built.ok_or_else(|| Failure::Internal(format!("slot {} is too large", slot.name())))?;
    let key = kv::shard_key(slot.kind, built.checksum());
    let written = db.query_integer(sql::GET_SHARD, params![key.as_str()])?;
    if written.is_some_and(|at_ms| at_ms < now_ms.saturating_sub(MISSED_MS)) && bits(db, slot.kind)? == slot.bits {
        db.transaction(|| {
            db.execute(sql::UNWRITE_SHARD, params![key.as_str()])?;
            let (kind, number) = (slot.kind.code(), slot.number);
            db.execute(sql::MARK_UNCHANGED_SLOT, params![kind, number])?;
            revisions::mark_changed(db, now_ms)
        })?;
    }
    Ok(built.bytes)
}

/// Returns the keys of shards that left KV's manifest more than a day ago.
pub fn expired(db: &impl Database, now_ms: i64) -> DbResult<Vec<String>> {
    publication::keys(db, sql::LIST_EXPIRED_SHARDS, params![now_ms.saturating_sub(RETENTION_MS), SWEEP])
}

pub fn forget(db: &impl Database, key: &str) -> DbResult {
    db.execute(sql::DELETE_SHARD, params![key])
}
