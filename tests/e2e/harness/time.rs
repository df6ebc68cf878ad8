//! The test's clock, and waiting for conditions.

use std::{
    fmt, thread,
    time::{Duration, SystemTime},
};

use domain::{
    model::time::{DAY_MS, SECOND_MS},
    offers::page::REFRESH_MS,
};

/// How long an effect may take after its request was answered, on a busy machine.
const PATIENCE_MS: i64 = 10 * SECOND_MS;

#[expect(clippy::disallowed_methods, reason = "a test runs where there is a clock")]
pub fn now_ms() -> i64 {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    i64::try_from(since_1970.expect("a clock that is set").as_millis()).expect("a clock that is set")
}

/// Returns the result of some work and how long it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began_ms = now_ms();
    let done = work();
    (done, Duration::from_millis((now_ms() - began_ms).unsigned_abs()))
}

/// Waits past 00:00 UTC if it is less than 30 s away, for tests of values that reset then.
pub fn away_from_midnight() {
    away_from(DAY_MS, 0);
}

/// Waits past the catalog's next publication if it is less than 30 s away, for tests that change what is published.
pub fn away_from_publication() {
    away_from(REFRESH_MS, 2_000);
}

/// Waits until `over_ms` past the end of an interval, unless that is further than 30 s away.
fn away_from(interval_ms: i64, over_ms: i64) {
    let left_ms = interval_ms - (now_ms() - over_ms).rem_euclid(interval_ms);
    if left_ms < 30_000 + over_ms {
        thread::sleep(Duration::from_millis(u64::try_from(left_ms).expect("positive")));
    }
}

/// Calls `ask` until it returns the expected value, for up to 10 s. Fails with the last value.
#[track_caller]
pub fn eventually<T: fmt::Debug + PartialEq>(expected: &T, ask: impl FnMut() -> T) {
    eventually_within(PATIENCE_MS, expected, ask);
}

/// Calls `ask` until it returns the expected value, for up to `patience_ms` milliseconds. Fails with the last value.
#[track_caller]
pub fn eventually_within<T: fmt::Debug + PartialEq>(patience_ms: i64, expected: &T, mut ask: impl FnMut() -> T) {
    let until_ms = now_ms() + patience_ms;
    loop {
        let answer = ask();
        if answer == *expected {
            return;
        }
        assert!(now_ms() < until_ms, "expected {expected:?}, got {answer:?}");
        thread::sleep(Duration::from_millis(100));
    }
}
