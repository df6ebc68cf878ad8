//! The shards of the tracking snapshot in the isolate, and the loads in progress.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
};

use domain::snapshot::tracking::{AnyShard, Manifest, ShardKind, Slot};
use platform::byte_cache::ByteCache;

use crate::shared_loads::SharedLoads;

/// Maximum concurrent loads of shards of one kind. At up to 72 KiB each, in JavaScript and WebAssembly together, they
/// take 9 MiB.
const MAX_LOADS: usize = 128;
/// Maximum concurrent loads from the catalog for ids that a shard lacks. The catalog is one object, and made-up ids
/// must not keep it busy.
const MAX_CHECKS: usize = 4;
/// The time for which an id counts as unknown after the catalog has sent the id's shard without the id, in
/// milliseconds.
const CHECKED_MS: i64 = 2_000;

/// A shard in the isolate.
pub struct CachedShard {
    pub shard: AnyShard,
    pub checksum: Option<u64>,
    /// The version of the newest manifest known when the shard was loaded, or of a later manifest that still names this
    /// shard.
    pub version: Cell<u64>,
    /// The time of the data in the manifest of `version`, in milliseconds. The shard includes every earlier change.
    pub as_of_ms: Cell<i64>,
    /// The time when the catalog last confirmed that the shard is the newest, in milliseconds.
    pub confirmed_at_ms: Cell<i64>,
}

impl CachedShard {
    pub fn is_confirmed_within(&self, now_ms: i64, within_ms: i64) -> bool {
        now_ms.saturating_sub(self.confirmed_at_ms.get()) <= within_ms
    }
}

/// The shards of one kind that the isolate holds.
pub struct ShardStore {
    kind: ShardKind,
    pub held: ByteCache<Slot, CachedShard>,
    /// Loads of shards that are not held.
    pub loads: SharedLoads<Slot, Rc<CachedShard>>,
    /// Loads from the catalog for ids that a held shard lacks.
    pub checks: SharedLoads<Slot, Rc<CachedShard>>,
    /// For each slot, the manifest's version when the catalog sent its shard, and the time until which this answer is
    /// valid, in milliseconds.
    checked: RefCell<HashMap<Slot, (u64, i64)>>,
}

impl ShardStore {
    /// `budget` is in bytes.
    pub fn new(kind: ShardKind, budget: usize) -> Self {
        Self {
            kind,
            held: ByteCache::new(budget),
            loads: SharedLoads::new(MAX_LOADS),
            checks: SharedLoads::new(MAX_CHECKS),
            checked: RefCell::default(),
        }
    }

    pub fn get(&self, manifest: &Manifest, hash: u16) -> Option<Rc<CachedShard>> {
        self.held.get(&manifest.slot(self.kind, hash))
    }

    /// Returns the total size of the held shards in bytes, and the number of shards.
    pub fn size(&self) -> (usize, usize) {
        (self.held.size(), self.held.count())
    }

    /// Stores a shard, unless the held shard has a newer manifest, or has the same manifest and a confirmation that is
    /// at least as late.
    pub fn insert(&self, slot: Slot, held: CachedShard) -> Rc<CachedShard> {
        let age = |held: &CachedShard| (held.version.get(), held.confirmed_at_ms.get());
        if let Some(own) = self.held.get(&slot)
            && age(&own) >= age(&held)
        {
            return own;
        }
        let size = held.shard.bytes().len();
        self.held.insert(slot, held, size)
    }

    /// The same, but a shard that would evict another is returned without being stored.
    pub fn insert_if_room(&self, slot: Slot, held: CachedShard) -> Rc<CachedShard> {
        if self.held.has_room(&slot, held.shard.bytes().len()) { self.insert(slot, held) } else { Rc::new(held) }
    }

    /// True if the catalog has just sent the shard of this slot. A shard of a newer manifest may have replaced it since,
    /// and may lack what the catalog's shard had.
    pub fn is_checked(&self, slot: Slot, version: u64, now_ms: i64) -> bool {
        let checked = self.checked.borrow();
        checked.get(&slot).is_some_and(|(at, until_ms)| *at >= version && *until_ms > now_ms)
    }

    pub fn record_checked(&self, slot: Slot, version: u64, now_ms: i64) {
        let mut checked = self.checked.borrow_mut();
        checked.retain(|_, (_, until_ms)| *until_ms > now_ms);
        checked.insert(slot, (version, now_ms + CHECKED_MS));
    }
}
