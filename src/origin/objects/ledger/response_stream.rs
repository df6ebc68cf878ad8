//! Streams a large report to its reader, within a time limit.

use std::{cell::RefCell, rc::Rc, time::Duration};

use futures_util::{Stream, stream};
use worker::{Delay, Error};

use super::page_memory::PagePermit;
use domain::reporting::render::Renderer;
use platform::log;

/// A page's progress is checked every 2 s. The page may take 60 s, which is 12 MB of JSON at 1.6 Mbit/s.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);
const CHECKS: u32 = 30;

/// Returns the pieces of a report's body, and a future that ends when they were sent or the time is over.
pub fn stream(
    renderer: Renderer,
    permit: PagePermit,
) -> (impl Stream<Item = Result<Vec<u8>, Error>>, impl Future<Output = ()>) {
    // The page that is being streamed, with its permit.
    let sending = Rc::new(RefCell::new(Some((renderer, permit))));
    // The timer has only a weak reference, so the page is dropped with the pieces if the reader disconnects.
    let timed = Rc::downgrade(&sending);
    let mut complete = false;
    let pieces = std::iter::from_fn(move || {
        if complete {
            return None;
        }
        let mut sending = sending.borrow_mut();
        let Some((renderer, _)) = sending.as_mut() else {
            complete = true;
            // An error, not the end of the stream: the reader must notice that the body is incomplete.
            return Some(Err(Error::RustError("the answer was not read in time".into())));
        };
        let piece = renderer.next();
        if piece.is_none() {
            complete = true;
            sending.take();
        }
        piece.map(Ok)
    });
    let done = async move {
        for _ in 0..CHECKS {
            Delay::from(CHECK_INTERVAL).await;
            if timed.upgrade().is_none_or(|sending| sending.borrow().is_none()) {
                return;
            }
        }
        if timed.upgrade().is_some_and(|sending| sending.borrow_mut().take().is_some()) {
            log::warn("ledger", "a report was cut off, because its reader was too slow");
        }
    };
    (stream::iter(pieces), done)
}
