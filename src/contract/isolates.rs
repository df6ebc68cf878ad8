//! Figures that an isolate of either Worker counts and no object knows: requests that it shed, postbacks that it could not
//! take, clicks that it could not count, failed health checks, the age of its snapshot, panics, and its memory. Each isolate
//! tells the operator's [`attention`](crate::attention), so that one call reads the figures of all.

use serde::{Deserialize, Serialize};

use domain::model::MINUTE_MS;

/// An isolate tells its figures at most this often, in milliseconds.
const EVERY_MS: i64 = MINUTE_MS;

/// The figures of an isolate. Each is absolute, so a message may come twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IsolateMetrics {
    /// The isolate's random name.
    pub isolate: String,
    /// When the figures were read, in milliseconds.
    pub at_ms: i64,
    /// Those above 0.
    pub figures: Vec<Figure>,
}

/// A number above 0, counted since the isolate started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    /// A constant of this type, such as [`Figure::SHED`].
    pub figure: String,
    /// The concurrency limit of shed requests, the outcome of postbacks, the reason of failed checks; empty for other figures.
    pub kind: String,
    /// The count, or the age or the size that the name says.
    pub number: i64,
}

impl Figure {
    /// Requests that were answered 503 because no permit of a limit was free.
    pub const SHED: &str = "shed";
    /// Postbacks that were answered 503, by outcome.
    pub const POSTBACKS: &str = "postbacks";
    /// Answers 503 to `GET /healthz`, by reason.
    pub const UNHEALTHY: &str = "unhealthy";
    /// Clicks that were redirected and are in no report.
    pub const CLICKS_UNCOUNTED: &str = "clicks_uncounted";
    /// Panics: each is a bug, and cost one request or task.
    pub const PANICS: &str = "panics";
    /// The age of the tracking snapshot in seconds, once it is old.
    pub const SNAPSHOT_AGE_S: &str = "snapshot_age_s";
    /// The peak of the module's memory in bytes, once it is large.
    pub const MEMORY_BYTES: &str = "memory_bytes";
}

/// The figures that an isolate has told, and when.
#[derive(Clone, Debug, Default)]
pub struct SentMetrics {
    /// When it began to tell last.
    pub at_ms: i64,
    /// The figures that arrived last.
    pub figures: Vec<Figure>,
}

impl SentMetrics {
    /// Whether there is something new to tell, and it is time.
    pub fn is_due(&self, now_ms: i64, figures: &[Figure]) -> bool {
        figures != self.figures && now_ms.saturating_sub(self.at_ms) >= EVERY_MS
    }
}

/// Reads what the isolates told, and the rewards of the last compared day, for the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadIsolateMetrics {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_figures_are_told_once_a_minute() {
        let panics = |number| {
            [Figure {
                figure: Figure::PANICS.into(),
                kind: String::new(),
                number,
            }]
        };
        let told = SentMetrics {
            at_ms: 1_000,
            figures: panics(1).to_vec(),
        };
        assert!(!told.is_due(90_000, &panics(1)));
        assert!(!told.is_due(60_999, &panics(2)));
        assert!(told.is_due(61_000, &panics(2)));
        assert!(!SentMetrics::default().is_due(90_000, &[]));
    }
}
