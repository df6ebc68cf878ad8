//! The numbers of the log's entries. With the time in their number, the entries of several outboxes merge in the order of
//! time, and one number is the cursor over all of them.

/// Numbers for each millisecond.
pub const NUMBERS_PER_MS: i64 = 1_024;

/// The numbers of an outbox are those that leave its shard as remainder by this, so no two outboxes have the same.
pub const SHARDS: i64 = 64;

/// The digits of a number, until the year 2279.
const DIGITS: usize = 16;

/// Parses a number in a cursor; `None` for other texts.
pub fn parse(text: &str) -> Option<i64> {
    let is_number = (1..=DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// The lowest number of an entry of this time, of any outbox. Entries of an earlier time have lower ones.
pub fn first_number(at_ms: i64) -> i64 {
    at_ms.saturating_mul(NUMBERS_PER_MS)
}

/// The lowest number of this time in the log of one of an app's outboxes.
pub fn lowest_number(at_ms: i64, shard: u8) -> i64 {
    first_number(at_ms).saturating_add(shard.into())
}
