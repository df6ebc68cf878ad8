//! The memory of large reports on their way out. A report holds its page, which is written piece by piece as it is read; a
//! slow reader must not hold an isolate's memory for longer than is fair.

use std::{cell::Cell, rc::Rc};

use domain::reporting::page;

/// Bytes that pages being sent may hold together, over all ledgers of an isolate.
const TOTAL: usize = 40 << 20;
/// Bytes of them for one ledger, so that slow readers of one publisher leave memory for others.
const SHARE: usize = TOTAL / 2;
/// Any page can be sent.
const _: () = assert!(page::MAX_BYTES <= SHARE);
thread_local! {
    static ALL: Cell<usize> = const { Cell::new(0) };
}

/// Bytes that a ledger's pages being sent hold.
#[derive(Default)]
pub struct PageMemory(Rc<Cell<usize>>);

/// Bytes of a page that is being sent, until it is dropped.
pub struct PagePermit {
    bytes: usize,
    of: Rc<Cell<usize>>,
}

impl PageMemory {
    /// None while too much is being sent already, by this ledger or by all.
    pub fn take(&self, bytes: usize) -> Option<PagePermit> {
        let [own, all] = [self.0.get(), ALL.get()].map(|held| held.saturating_add(bytes));
        if own > SHARE || all > TOTAL {
            return None;
        }
        self.0.set(own);
        ALL.set(all);
        let of = Rc::clone(&self.0);
        Some(PagePermit { bytes, of })
    }
}

impl Drop for PagePermit {
    fn drop(&mut self) {
        self.of.set(self.of.get().saturating_sub(self.bytes));
        ALL.set(ALL.get().saturating_sub(self.bytes));
    }
}
