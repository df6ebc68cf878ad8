//! Large reports on their way out. What is held of one is its page, written piece by piece as it is read; a reader that
//! takes its time, or none, must not hold an isolate's memory for longer than is fair.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use futures_util::{Stream, stream};
use worker::{Delay, Error};

use crate::{
    log,
    reporting::{page, render::Renderer},
};

/// What pages may take together that are being sent, in bytes, over all ledgers of an isolate.
const OPEN: usize = 40 << 20;
/// What those of one ledger may take of it, so that readers of one publisher who take their time leave room for others'.
const SHARE: usize = OPEN / 2;
/// Any page can be sent.
const _: () = assert!(page::MAX_BYTES <= SHARE);
/// How often a page is looked at, and how long it may take: 12 MB of JSON at 1.6 Mbit/s.
const LOOK: Duration = Duration::from_secs(2);
const LOOKS: u32 = 30;

thread_local! {
    static ALL: Cell<usize> = const { Cell::new(0) };
}

/// What a ledger's pages take that are being sent, in bytes.
#[derive(Default)]
pub struct Held(Rc<Cell<usize>>);

/// Bytes of a page that is being sent. Dropped, they are free for others.
pub struct Taken {
    bytes: usize,
    of: Rc<Cell<usize>>,
}

impl Held {
    /// None while too much is being sent already, by this ledger or by all.
    pub fn take(&self, bytes: usize) -> Option<Taken> {
        let [own, all] = [self.0.get(), ALL.get()].map(|held| held.saturating_add(bytes));
        if own > SHARE || all > OPEN {
            return None;
        }
        self.0.set(own);
        ALL.set(all);
        let of = Rc::clone(&self.0);
        Some(Taken { bytes, of })
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.of.set(self.of.get().saturating_sub(self.bytes));
        ALL.set(ALL.get().saturating_sub(self.bytes));
    }
}

/// A page that is being sent.
struct Sending {
    renderer: Renderer,
    _taken: Taken,
}

/// The pieces of an answer whose page has taken its bytes, and what has to be waited for until it is sent.
pub fn stream(
    renderer: Renderer,
    taken: Taken,
) -> (
    impl Stream<Item = Result<Vec<u8>, Error>>,
    impl Future<Output = ()>,
) {
    let sending = Sending {
        renderer,
        _taken: taken,
    };
    let sending = Rc::new(RefCell::new(Some(sending)));
    // A reader that goes away drops the pieces, and the page with them.
    let timed = Rc::downgrade(&sending);
    let mut complete = false;
    let pieces = std::iter::from_fn(move || {
        if complete {
            return None;
        }
        let mut sending = sending.borrow_mut();
        let Some(open) = sending.as_mut() else {
            complete = true;
            // Not an end like any other: the reader must not take what it has for the whole.
            return Some(Err(Error::RustError("the answer was not read in time".into())));
        };
        let piece = open.renderer.next();
        if piece.is_none() {
            complete = true;
            sending.take();
        }
        piece.map(Ok)
    });
    let done = async move {
        for _ in 0..LOOKS {
            Delay::from(LOOK).await;
            if timed.upgrade().is_none_or(|sending| sending.borrow().is_none()) {
                return;
            }
        }
        if timed
            .upgrade()
            .is_some_and(|sending| sending.borrow_mut().take().is_some())
        {
            log::warn("ledger", "a report was not read in time");
        }
    };
    (stream::iter(pieces), done)
}
