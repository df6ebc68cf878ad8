//! Writes lines of the log to the console, which Cloudflare and workerd collect. Native builds write nothing, since
//! their tests check states and answers.

use std::{cell::RefCell, fmt::Display};

use super::{Event, Level, Line, Sampler, scrubbed};
#[cfg(target_arch = "wasm32")]
pub use crate::runtime::now_ms;

/// Maximum faults of one place that an isolate logs per minute. Without a limit, a fault in every request would flood
/// the log.
const MAX_FAULTS: u32 = 10;

thread_local! {
    static SAMPLER: RefCell<Sampler> = RefCell::default();
}

/// The time in Wasm; 0 in native builds.
#[cfg(not(target_arch = "wasm32"))]
pub fn now_ms() -> i64 {
    0
}

#[cfg(not(target_arch = "wasm32"))]
pub fn write(_line: &Line<'_>) {}

#[cfg(target_arch = "wasm32")]
pub fn write(line: &Line<'_>) {
    let text = line.json();
    match line.level {
        Level::Info => worker::console_log!("{text}"),
        Level::Warn => worker::console_warn!("{text}"),
        Level::Error => worker::console_error!("{text}"),
    }
}

/// Writes a line, unless `most` lines of its kind and owner were already written in this minute.
pub fn write_some(kind: &str, owner: Option<&str>, most: u32, mut line: Line<'_>) {
    let admitted = SAMPLER.with_borrow_mut(|sampler| sampler.admit(kind, owner, most, line.ts));
    if let Some(skipped) = admitted {
        line.skipped = (skipped > 0).then_some(skipped);
        write(&line);
    }
}

/// Logs a failure that the operator must investigate.
pub fn error(place: &str, what: impl Display) {
    fault(Level::Error, place, &what);
}

/// Logs a failure that is retried or harmless.
pub fn warn(place: &str, what: impl Display) {
    fault(Level::Warn, place, &what);
}

fn fault(level: Level, place: &str, what: &dyn Display) {
    let what = scrubbed(&what.to_string());
    let line = Line { place: Some(place), what: Some(&what), ..Line::new(now_ms(), level, Event::Fault) };
    write_some(place, None, MAX_FAULTS, line);
}
