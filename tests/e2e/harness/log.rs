//! Reads workerd's log, and waits until everything written so far can be read.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use super::{LOG, Signpost, eventually_within};
use domain::model::time::SECOND_MS;

/// How long to wait for the fence: longer than any test waits for a line that it expects.
const FENCE_MS: i64 = 20 * SECOND_MS;

impl Signpost {
    /// The whole log so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.state.path().join(LOG)).expect("a log")
    }

    /// The log's JSON lines, which are Signpost's own.
    pub fn log_lines(&self) -> Vec<Value> {
        let log = self.log();
        let own = log.lines().filter(|line| line.starts_with("{\"ts\":"));
        own.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"))).collect()
    }

    /// Waits until the lines of everything done so far are in the log: causes a line with a unique publisher id and
    /// waits for it. That line comes last: the console's descriptor is read in order, and warnings, which have a
    /// descriptor of their own, are in the file before anything later is written. Returns the publisher id.
    #[track_caller]
    pub fn fence(&self) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("fence-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        // A change with a wrong media type is logged like any other, changes nothing and needs no catalog.
        let text = [("Content-Type", "text/plain")];
        self.operate("PUT", &format!("publishers/{name}"), &text, b"x").expect_error(415, "unsupported_media_type");
        let needle = format!("\"publisher\":\"{name}\"");
        eventually_within(FENCE_MS, &true, || self.log().contains(&needle));
        name
    }
}
