//! The wait before a failed delivery to another object is retried, and the failures that no retry can fix.

use contract::operation::CallError;
use domain::model::{MINUTE_MS, SECOND_MS};

/// The backoff after the first failure, and the limit of its doubling, in milliseconds.
pub const FIRST_WAIT_MS: i64 = 5 * SECOND_MS;
pub const MAX_WAIT_MS: i64 = 5 * MINUTE_MS;

/// Returns the backoff in milliseconds after a failure, given the number of failures before it.
pub fn wait_ms(attempts: u32) -> i64 {
    2_i64.saturating_pow(attempts).saturating_mul(FIRST_WAIT_MS).min(MAX_WAIT_MS)
}

/// True if a retry would be refused again. This is so for every 4xx; a 503 is temporary.
pub fn is_refusal(error: &CallError) -> bool {
    matches!(error, CallError::Refused { status: 400..=499, .. })
}
