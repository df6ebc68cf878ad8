//! Large reports on their way out. What is held of one is its page, written piece by piece as it is read; a reader that
//! takes its time, or none, must not hold an isolate's memory for longer than is fair.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use futures_util::{Stream, stream};
use worker::{Delay, Error};

use crate::{log, reporting::render::Renderer};

/// What pages may take together that are being sent, in bytes, over all ledgers of an isolate.
const OPEN: usize = 40 << 20;
/// How often a page is looked at, and how long it may take: 12 MB of JSON at 1.6 Mbit/s.
const LOOK: Duration = Duration::from_secs(2);
const LOOKS: u32 = 30;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// A page that is being sent. Dropped, its memory is free for others.
struct Sending {
    renderer: Renderer,
    bytes: usize,
}

impl Drop for Sending {
    fn drop(&mut self) {
        HELD.set(HELD.get().saturating_sub(self.bytes));
    }
}

/// The pieces of an answer whose page takes `bytes`, and what has to be waited for until it is sent. None while too much
/// is being sent already.
pub fn stream(
    renderer: Renderer,
    bytes: usize,
) -> Option<(
    impl Stream<Item = Result<Vec<u8>, Error>>,
    impl Future<Output = ()>,
)> {
    let held = HELD.get().saturating_add(bytes);
    if held > OPEN {
        return None;
    }
    HELD.set(held);
    let sending = Rc::new(RefCell::new(Some(Sending { renderer, bytes })));
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
    Some((stream::iter(pieces), done))
}
