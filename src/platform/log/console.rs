//! Writes lines of the log to the console, from which Cloudflare and workerd take them. Native builds write nothing: their
//! tests look at states and answers.

use std::{cell::RefCell, fmt::Display};

use super::{Event, Level, Line, Sampler, scrubbed};
#[cfg(target_arch = "wasm32")]
use crate::runtime::now_ms;

/// Faults of one kind that an isolate writes down in a minute: what fails for each request fails very often.
const FAULTS: u32 = 10;

thread_local! {
    static SAMPLER: RefCell<Sampler> = RefCell::default();
}

#[cfg(not(target_arch = "wasm32"))]
fn now_ms() -> i64 {
    0
}

/// Writes a line.
#[cfg(not(target_arch = "wasm32"))]
pub fn write(_line: &Line<'_>) {}

/// Writes a line.
#[cfg(target_arch = "wasm32")]
pub fn write(line: &Line<'_>) {
    let text = line.json();
    match line.level {
        Level::Info => worker::console_log!("{text}"),
        Level::Warn => worker::console_warn!("{text}"),
        Level::Error => worker::console_error!("{text}"),
    }
}

/// Writes a line if not more than `most` of its kind, and of its owner if it has one, are written in a minute.
pub fn write_some(kind: &str, owner: Option<&str>, most: u32, mut line: Line<'_>) {
    let admitted = SAMPLER.with_borrow_mut(|sampler| sampler.admit(kind, owner, most, line.ts));
    if let Some(skipped) = admitted {
        line.skipped = (skipped > 0).then_some(skipped);
        write(&line);
    }
}

/// Something failed that the operator has to know of.
pub fn error(place: &str, what: impl Display) {
    fault(Level::Error, place, &what);
}

/// Something failed that is tried again, or done without.
pub fn warn(place: &str, what: impl Display) {
    fault(Level::Warn, place, &what);
}

fn fault(level: Level, place: &str, what: &dyn Display) {
    let what = scrubbed(&what.to_string());
    let line = Line {
        place: Some(place),
        what: Some(&what),
        ..Line::new(now_ms(), level, Event::Fault)
    };
    write_some(place, None, FAULTS, line);
}
