//! What workerd has said, and waiting until all of it is there to be read.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use super::{LOG, Signpost, in_time};
use domain::model::time::SECOND_MS;

/// Beyond the waiting of any test for what it expects in the log.
const FENCE_MS: i64 = 20 * SECOND_MS;

impl Signpost {
    /// All that workerd has said so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.state.path().join(LOG)).expect("a log")
    }

    /// The lines of it that are Signpost's own.
    pub fn log_lines(&self) -> Vec<Value> {
        let log = self.log();
        let own = log.lines().filter(|line| line.starts_with("{\"ts\":"));
        own.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}")))
            .collect()
    }

    /// Waits until all that was said of what is done by now is in the log: has a line written that is like no other, of a
    /// publisher of this name, and waits for it. The console's own descriptor is read in its order, and warnings, which
    /// have another, are in the file before anything is said after them; so that line is behind everything else.
    #[track_caller]
    pub fn fence(&self) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("fence-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        // A change that is refused at the edge: it is told like any other, changes nothing, and needs no catalog.
        let text = [("Content-Type", "text/plain")];
        self.operate("PUT", &format!("publishers/{name}"), &text, b"x")
            .refused(415, "unsupported_media_type");
        let said = format!("\"publisher\":\"{name}\"");
        in_time(FENCE_MS, &true, || self.log().contains(&said));
        name
    }
}
