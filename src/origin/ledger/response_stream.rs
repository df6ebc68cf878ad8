//! Streams a large report to its reader, for a bounded time.

use std::{cell::RefCell, rc::Rc, time::Duration};

use futures_util::{Stream, stream};
use worker::{Delay, Error};

use super::page_memory::PagePermit;
use domain::reporting::render::Renderer;
use platform::log;

/// How often a page is looked at, and how long it may take: 12 MB of JSON at 1.6 Mbit/s.
const LOOK: Duration = Duration::from_secs(2);
const LOOKS: u32 = 30;

/// A page that is being sent.
struct Sending {
    renderer: Renderer,
    _permit: PagePermit,
}

/// The pieces of an answer whose page has taken its bytes, and what has to be waited for until it is sent.
pub fn stream(
    renderer: Renderer,
    permit: PagePermit,
) -> (
    impl Stream<Item = Result<Vec<u8>, Error>>,
    impl Future<Output = ()>,
) {
    let sending = Sending {
        renderer,
        _permit: permit,
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
