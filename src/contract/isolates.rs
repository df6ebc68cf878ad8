//! Figures of an isolate of either Worker that no object knows: requests that it shed, postbacks that it could not
//! accept, clicks that it could not count, failed health checks, the age of its snapshot, panics, and its memory. Each
//! isolate reports to the operator's [`attention`](crate::attention), so that one call reads the figures of all.

use serde::{Deserialize, Serialize};

use domain::model::MINUTE_MS;

/// Minimum time between two reports of an isolate, in milliseconds.
const EVERY_MS: i64 = MINUTE_MS;

/// The figures of an isolate. All values are absolute, so a message may arrive twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IsolateMetrics {
    /// The isolate's random name.
    pub isolate: String,
    /// The time when the figures were read, in milliseconds.
    pub at_ms: i64,
    /// The figures above 0.
    pub figures: Vec<Figure>,
}

/// A number above 0, counted since the isolate started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    /// A constant of this type, such as [`Figure::SHED`].
    pub figure: String,
    /// For shed requests, the concurrency limit; for postbacks, the outcome; for failed health checks, the reason; for
    /// other figures, empty.
    pub kind: String,
    /// The count, the age or the size.
    pub number: i64,
}

impl Figure {
    /// Requests that were answered 503 because no permit of a limit was free.
    pub const SHED: &str = "shed";
    /// Postbacks that were answered 503, by outcome.
    pub const POSTBACKS: &str = "postbacks";
    /// Answers 503 to `GET /healthz`, by reason.
    pub const UNHEALTHY: &str = "unhealthy";
    /// Clicks that were redirected but not counted, so no report has them.
    pub const CLICKS_UNCOUNTED: &str = "clicks_uncounted";
    /// Panics. Each panic is a bug and made one request or task fail.
    pub const PANICS: &str = "panics";
    /// The age of the tracking snapshot in seconds; reported only while it is old.
    pub const SNAPSHOT_AGE_S: &str = "snapshot_age_s";
    /// The peak of the module's memory in bytes; reported only once it is large.
    pub const MEMORY_BYTES: &str = "memory_bytes";
}

/// The figures that an isolate has reported, and the time of the last report.
#[derive(Clone, Debug, Default)]
pub struct SentMetrics {
    /// The start of the last report, in milliseconds.
    pub at_ms: i64,
    /// The figures of the last report that arrived.
    pub figures: Vec<Figure>,
}

impl SentMetrics {
    /// True if there are new figures and the minimum time has passed.
    pub fn is_due(&self, now_ms: i64, figures: &[Figure]) -> bool {
        figures != self.figures && now_ms.saturating_sub(self.at_ms) >= EVERY_MS
    }
}

/// Reads the isolates' figures, and the rewards of the last compared day, for the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadIsolateMetrics {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_figures_are_told_once_a_minute() {
        let panics = |number| [Figure { figure: Figure::PANICS.into(), kind: String::new(), number }];
        let told = SentMetrics { at_ms: 1_000, figures: panics(1).to_vec() };
        assert!(!told.is_due(90_000, &panics(1)));
        assert!(!told.is_due(60_999, &panics(2)));
        assert!(told.is_due(61_000, &panics(2)));
        assert!(!SentMetrics::default().is_due(90_000, &[]));
    }
}
