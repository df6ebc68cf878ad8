//! Caches the columns that reports read. Reading them from SQLite takes half of a report's time, because workerd copies
//! a value four times on its way into WebAssembly.

use std::{cell::Cell, rc::Rc};

use platform::{DbResult, byte_cache::ByteCache};

/// Maximum bytes of all ledgers' columns in an isolate. A report of 1,000,000 facts reads that many bytes.
const BUDGET: usize = 16 << 20;
/// The bytes of an entry in addition to its column.
const ENTRY: usize = 128;

thread_local! {
    static COLUMNS: ByteCache<(u64, i64), Vec<u8>> = ByteCache::new(BUDGET);
    static LEDGERS: Cell<u64> = const { Cell::new(0) };
}

/// One ledger's columns, by their ids in the table `columns`. A segment never changes and its id is never reused, so a
/// cached column is valid as long as the object lives. A restarted object may have lost its last writes and then reuses
/// their ids, so it starts with a new cache.
pub struct ColumnCache {
    ledger: u64,
}

impl Default for ColumnCache {
    fn default() -> Self {
        let ledger = LEDGERS.get().wrapping_add(1);
        LEDGERS.set(ledger);
        Self { ledger }
    }
}

impl ColumnCache {
    /// Returns the columns with these ids, in the order of the ids. If a column is not cached, `read` reads all of
    /// them.
    pub fn columns(
        &self,
        ids: impl Iterator<Item = i64> + Clone,
        read: impl FnOnce() -> DbResult<Vec<Vec<u8>>>,
    ) -> DbResult<Vec<Rc<Vec<u8>>>> {
        COLUMNS.with(|columns| {
            let kept = ids.clone().map(|id| columns.get(&(self.ledger, id)));
            if let Some(kept) = kept.collect() {
                return Ok(kept);
            }
            let keep = |(id, bytes): (i64, Vec<u8>)| {
                let size = bytes.len() + ENTRY;
                columns.insert((self.ledger, id), bytes, size)
            };
            Ok(ids.zip(read()?).map(keep).collect())
        })
    }
}
