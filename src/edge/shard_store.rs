//! The shards of the tracking snapshot that the isolate holds, and the state of those that it loads.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
};

use crate::byte_cache::ByteCache;
use domain::catalog::snapshot::tracking::{AnyShard, Manifest, ShardKind, Slot};
use platform::runtime;

/// A shard in the isolate.
pub struct Held {
    pub shard: AnyShard,
    pub checksum: Option<u64>,
    /// The version of the newest manifest that was known when the shard was loaded, or that has named it since.
    pub version: Cell<u64>,
    /// The time of that manifest's data, in milliseconds: the shard has every change before it.
    pub as_of_ms: Cell<i64>,
    /// When the catalog last confirmed that the shard is the newest, in milliseconds.
    pub confirmed_at_ms: Cell<i64>,
}

impl Held {
    pub fn is_confirmed_within(&self, now_ms: i64, within_ms: i64) -> bool {
        now_ms.saturating_sub(self.confirmed_at_ms.get()) <= within_ms
    }
}

/// The state of a shard that is being loaded, or could not be.
#[derive(Clone, Copy)]
pub struct Load {
    pub until_ms: i64,
    pub has_failed: bool,
}

/// The shards of one kind that the isolate holds.
pub struct ShardStore {
    kind: ShardKind,
    pub held: ByteCache<Slot, Held>,
    loads: RefCell<HashMap<Slot, Load>>,
}

impl ShardStore {
    /// `budget` is in bytes.
    pub fn new(kind: ShardKind, budget: usize) -> Self {
        Self {
            kind,
            held: ByteCache::new(budget),
            loads: RefCell::default(),
        }
    }

    /// The shard of a hash, if it is held.
    pub fn get(&self, manifest: &Manifest, hash: u16) -> Option<Rc<Held>> {
        self.held.get(&manifest.slot(self.kind, hash))
    }

    /// The size of all held shards in bytes, and their number.
    pub fn size(&self) -> (usize, usize) {
        (self.held.size(), self.held.count())
    }

    /// Keeps a shard, unless one of a manifest at least as new is held by now.
    pub fn insert(&self, slot: Slot, held: Held) -> Rc<Held> {
        if let Some(own) = self.held.get(&slot)
            && own.version.get() >= held.version.get()
        {
            return own;
        }
        let size = held.shard.bytes().len();
        self.held.insert(slot, held, size)
    }

    /// The load of a shard that lasts, or that failed just now.
    pub fn load_of(&self, slot: Slot) -> Option<Load> {
        let load = self.loads.borrow().get(&slot).copied();
        load.filter(|load| load.until_ms > runtime::now_ms())
    }

    /// The number of shards that are being loaded, or could not be just now.
    pub fn loads(&self) -> usize {
        self.loads.borrow().len()
    }

    pub fn set_load(&self, slot: Slot, load: Option<Load>) {
        let (mut loads, now_ms) = (self.loads.borrow_mut(), runtime::now_ms());
        loads.retain(|_, load| load.until_ms > now_ms);
        match load {
            Some(load) => loads.insert(slot, load),
            None => loads.remove(&slot),
        };
    }
}
