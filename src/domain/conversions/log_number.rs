//! The numbers of the log's entries. A number contains the entry's time. So the entries of several outboxes merge in
//! order of time, and one number is a cursor for all these outboxes.

/// Numbers per millisecond.
pub const NUMBERS_PER_MS: i64 = 1_024;

/// An outbox uses only numbers that are congruent to its shard modulo this, so no two outboxes share a number.
pub const SHARDS: i64 = 64;

/// Maximum digits of a number, which suffice until the year 2279.
const DIGITS: usize = 16;

/// Parses a number in a cursor; `None` for other texts.
pub fn parse(text: &str) -> Option<i64> {
    let is_number = (1..=DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// The lowest number of an entry at this time in any outbox. Earlier entries have lower numbers.
pub fn first_number(at_ms: i64) -> i64 {
    at_ms.saturating_mul(NUMBERS_PER_MS)
}

/// The lowest number at this time in the log of one outbox.
pub fn lowest_number(at_ms: i64, shard: u8) -> i64 {
    first_number(at_ms).saturating_add(shard.into())
}
