//! Limits the memory of large reports that are being streamed. A streamed report holds its page until the page was
//! read, so without a limit slow readers could take all of an isolate's memory.

use std::{cell::Cell, rc::Rc};

use domain::reporting::page;

/// Maximum bytes of the streamed pages of all ledgers in an isolate.
const TOTAL: usize = 40 << 20;
/// Maximum bytes for one ledger, so that slow readers of one publisher leave the other half free.
const SHARE: usize = TOTAL / 2;
// Even the largest page can be streamed.
const _: () = assert!(page::MAX_BYTES <= SHARE);

thread_local! {
    static ALL: Cell<usize> = const { Cell::new(0) };
}

/// The bytes that a ledger's streamed pages hold.
#[derive(Default)]
pub struct PageMemory(Rc<Cell<usize>>);

/// The reserved bytes of one streamed page. Dropping the permit releases them.
pub struct PagePermit {
    bytes: usize,
    ledger_bytes: Rc<Cell<usize>>,
}

impl PageMemory {
    /// Reserves a page's bytes; `None` if this ledger or all ledgers together would exceed their limit.
    pub fn take(&self, bytes: usize) -> Option<PagePermit> {
        let [own, all] = [self.0.get(), ALL.get()].map(|used| used.saturating_add(bytes));
        if own > SHARE || all > TOTAL {
            return None;
        }
        self.0.set(own);
        ALL.set(all);
        let ledger_bytes = Rc::clone(&self.0);
        Some(PagePermit { bytes, ledger_bytes })
    }
}

impl Drop for PagePermit {
    fn drop(&mut self) {
        self.ledger_bytes.set(self.ledger_bytes.get().saturating_sub(self.bytes));
        ALL.set(ALL.get().saturating_sub(self.bytes));
    }
}
