//! How many tries may be under way to one endpoint (docs/DECISIONS.md, "Completion callbacks"). One that keeps failing gets one probe at a
//! time, paced, so that it does not hold up its object, and opens again at the first try that it answers well.

use crate::model::time::SECOND_MS;

/// How many tries may be under way at once: as many connections as the platform gives one invocation.
pub const CONNECTIONS: usize = 6;

/// How many failures in a row make an endpoint a failing one.
pub const FAILING_AFTER: u32 = 5;

/// How long a failing endpoint is left alone at first, and how far doubling that goes, in milliseconds. The longest is
/// what an endpoint that is well again may wait for the probe that finds out.
const FIRST_PAUSE_MS: i64 = SECOND_MS;
const LONGEST_PAUSE_MS: i64 = 30 * SECOND_MS;

/// What is known of an endpoint from the tries that ended. The caller keeps both; one that was never called, and one
/// that is configured anew, has the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Failures since it last worked.
    pub failures: u32,
    /// While it is failing: before when no try starts, in milliseconds. Else 0.
    pub resumes_ms: i64,
}

impl Health {
    /// A try ended well.
    pub fn succeeded(self) -> Self {
        Self::default()
    }

    /// A try failed, at `now_ms`.
    pub fn failed(self, now_ms: i64) -> Self {
        let failures = self.failures.saturating_add(1);
        let pause_ms = failures.checked_sub(FAILING_AFTER).map(|doublings| {
            2_i64
                .saturating_pow(doublings)
                .saturating_mul(FIRST_PAUSE_MS)
                .min(LONGEST_PAUSE_MS)
        });
        Self {
            failures,
            // Tries that were under way together report in any order, and the clock may step back between them.
            resumes_ms: pause_ms.map_or(self.resumes_ms, |pause_ms| {
                self.resumes_ms.max(now_ms.saturating_add(pause_ms))
            }),
        }
    }

    pub fn is_failing(self) -> bool {
        self.failures >= FAILING_AFTER
    }

    /// How many more tries may start at `now_ms`, with so many under way.
    pub fn room(self, under_way: usize, now_ms: i64) -> usize {
        let most = match (self.is_failing(), now_ms < self.resumes_ms) {
            (false, _) => CONNECTIONS,
            (true, false) => 1,
            (true, true) => 0,
        };
        most.saturating_sub(under_way)
    }

    /// Before when nothing may start, in milliseconds, for the alarm. It may be past; then, as with `None`, only the
    /// tries under way stand in the way of another.
    pub fn opens_ms(self) -> Option<i64> {
        self.is_failing().then_some(self.resumes_ms)
    }
}

#[cfg(test)]
mod tests;
