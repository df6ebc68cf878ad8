//! Limits the attempts in flight to one endpoint (docs/DECISIONS.md, "Completion callbacks"). A failing endpoint gets
//! one probe at a time, with a backoff, so that it does not block its outbox. A successful attempt lifts the limit.

use crate::model::SECOND_MS;

/// Maximum concurrent attempts of an outbox: the number of connections that the platform allows one invocation.
pub const MAX_IN_FLIGHT: usize = 6;

/// The number of failures in a row after which an endpoint counts as failing.
pub const FAILING_AFTER: u32 = 5;

/// The first and the longest pause of a failing endpoint, in milliseconds. Each further failure doubles the pause. An
/// endpoint that works again is probed after at most the longest pause.
const FIRST_PAUSE_MS: i64 = SECOND_MS;
const MAX_PAUSE_MS: i64 = 30 * SECOND_MS;

/// The health of an endpoint as of its latest attempt. The caller stores both fields. The default applies to an
/// endpoint that is new or was configured again, or whose last attempt succeeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Failures since the last success.
    pub failures: u32,
    /// While the endpoint is failing, the earliest start of the next attempt, in milliseconds. Otherwise 0.
    pub resumes_ms: i64,
}

impl Health {
    /// The health after an attempt that failed at `now_ms`.
    pub fn failed(self, now_ms: i64) -> Self {
        let failures = self.failures.saturating_add(1);
        let pause_ms = failures
            .checked_sub(FAILING_AFTER)
            .map(|doublings| 2_i64.saturating_pow(doublings).saturating_mul(FIRST_PAUSE_MS).min(MAX_PAUSE_MS));
        Self {
            failures,
            // Never moves back: concurrent attempts end in any order, and the clock may step back between them.
            resumes_ms: pause_ms
                .map_or(self.resumes_ms, |pause_ms| self.resumes_ms.max(now_ms.saturating_add(pause_ms))),
        }
    }

    /// True after [`FAILING_AFTER`] or more failures in a row.
    pub fn is_failing(self) -> bool {
        self.failures >= FAILING_AFTER
    }

    /// The number of further attempts that may start at `now_ms`, while `in_flight` attempts are in flight. A healthy
    /// endpoint may have at most `most` in flight.
    pub fn free_slots(self, most: usize, in_flight: usize, now_ms: i64) -> usize {
        let most = match (self.is_failing(), now_ms < self.resumes_ms) {
            (false, _) => most,
            (true, false) => 1,
            (true, true) => 0,
        };
        most.saturating_sub(in_flight)
    }

    /// The earliest start of the next attempt, in milliseconds, for the alarm. If it is past or `None`, only the number
    /// of attempts in flight limits further attempts.
    pub fn opens_ms(self) -> Option<i64> {
        self.is_failing().then_some(self.resumes_ms)
    }
}

#[cfg(test)]
mod tests;
