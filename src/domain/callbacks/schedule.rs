//! The retry schedule of callbacks: a list of delays with jitter, so that callbacks that failed together are not
//! retried together (docs/DECISIONS.md, "Completion callbacks").

use crate::model::{DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS};

/// Maximum attempts of a configured schedule.
const MAX_ATTEMPTS: usize = 50;
/// The longest delay of a configured schedule, in milliseconds.
const MAX_DELAY_MS: i64 = 7 * DAY_MS;

/// The default timeout of an attempt, in milliseconds.
pub const DEFAULT_TIMEOUT_MS: u32 = 10_000;

/// Parses `CALLBACK_TIMEOUT_MS`: the timeout of an attempt for headers and body, in milliseconds. An error names the
/// setting and its valid range.
pub fn timeout_ms(text: Option<&str>) -> Result<u32, String> {
    let Some(text) = text else {
        return Ok(DEFAULT_TIMEOUT_MS);
    };
    text.parse()
        .ok()
        .filter(|ms| (100..=60_000).contains(ms))
        .ok_or_else(|| "CALLBACK_TIMEOUT_MS: must be 100 to 60000 milliseconds".to_owned())
}

/// The delay before each attempt of a callback, in milliseconds. Delays are whole seconds, and there is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule(Vec<i64>);

impl Default for Schedule {
    /// Twelve attempts over 96 hours.
    fn default() -> Self {
        let delays_ms = [
            0,
            5 * SECOND_MS,
            30 * SECOND_MS,
            5 * MINUTE_MS,
            30 * MINUTE_MS,
            2 * HOUR_MS,
            5 * HOUR_MS,
            10 * HOUR_MS,
            14 * HOUR_MS,
            20 * HOUR_MS,
            22 * HOUR_MS,
            23 * HOUR_MS,
        ];
        Self(delays_ms.into())
    }
}

impl Schedule {
    /// Parses `CALLBACK_SCHEDULE`: the delay before each attempt in seconds, separated by commas. An error names the
    /// setting and its valid form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let delay_ms = |seconds: &str| {
            let seconds: u32 = seconds.trim().parse().ok()?;
            Some(i64::from(seconds) * SECOND_MS).filter(|delay_ms| *delay_ms <= MAX_DELAY_MS)
        };
        text.split(',')
            .map(delay_ms)
            .collect::<Option<Vec<_>>>()
            .filter(|delays_ms| delays_ms.len() <= MAX_ATTEMPTS)
            .map(Self)
            .ok_or_else(|| {
                format!(
                    "CALLBACK_SCHEDULE: must be 1 to {MAX_ATTEMPTS} delays in seconds, separated by commas, each at \
                     most {}",
                    MAX_DELAY_MS / SECOND_MS
                )
            })
    }

    /// The number of attempts before a callback becomes a dead letter.
    pub fn attempts(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// The time from the end of attempt number `attempts_made` to the next one, in milliseconds; for 0, from the commit
    /// to the first attempt. The scheduled delay is shortened by 20 % for a `random` of 0, and extended by 20 % for the
    /// highest `random`. `None` after the last attempt.
    pub fn delay_ms(&self, attempts_made: u32, random: u32) -> Option<i64> {
        let delay_ms = self.0.get(usize::try_from(attempts_made).ok()?)?;
        // The product is at most 2^28 ms times 2^32, so it does not overflow. Delays are whole seconds, so a fifth is
        // exact.
        let jitter_ms = delay_ms * 2 / 5 * i64::from(random) / i64::from(u32::MAX);
        Some(delay_ms - delay_ms / 5 + jitter_ms)
    }
}

#[cfg(test)]
pub mod testing;
#[cfg(test)]
mod tests;
