//! Schedules for tests.

use proptest::prelude::*;

use super::*;

/// The sum of all delays of the default schedule, in milliseconds.
pub const WHOLE_MS: i64 = 347_735 * SECOND_MS;

/// The delays of any valid schedule, in seconds.
pub fn delays_s() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(0..=604_800_u32, 1..=50)
}

/// The schedule that an operator configures with these delays, in seconds.
pub fn configured(delays_s: &[u32]) -> Schedule {
    let delays_s: Vec<_> = delays_s.iter().map(u32::to_string).collect();
    Schedule::parse(&delays_s.join(",")).unwrap()
}
