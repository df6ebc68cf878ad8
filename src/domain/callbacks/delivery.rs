//! Decides after an attempt whether its callback is delivered, retried, kept or dead, and whether the endpoint works
//! (docs/DECISIONS.md, "Completion callbacks"). The receiver controls this with the status, `Retry-After` and
//! `webhook-delivery` of its answer.

use super::schedule::Schedule;
use crate::model::{DAY_MS, SECOND_MS, time::parse_http_date};

/// The longest delay that `Retry-After` may ask for, in milliseconds, unless the scheduled delay is longer.
const MAX_RETRY_AFTER_MS: i64 = DAY_MS;

/// The parts of a complete answer that the decision depends on. Header values are as received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The header `Retry-After`: seconds or an HTTP date.
    pub retry_after: Option<&'a str>,
    /// The header `webhook-delivery`: directives separated by commas.
    pub webhook_delivery: Option<&'a str>,
}

/// The result of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// A complete answer, of any status.
    Answered(Answer<'a>),
    /// No complete answer: the call timed out, the answer was cut off, the connection was refused or reset, or the
    /// guard refused the call.
    Failed,
}

/// The next step of the callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The receiver accepted it with a 2xx.
    Delivered,
    /// It is retried at this time, in milliseconds.
    At(i64),
    /// It waits until the endpoint is enabled again.
    Kept,
    /// It becomes a dead letter, which only a replay resends.
    Dead,
}

/// The consequences of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The next step of this callback.
    pub next: Next,
    /// True if the endpoint is to be switched off, for this callback and all others.
    pub disables: bool,
    /// True if the attempt counts as a success for the endpoint's [`Health`](super::health::Health): the answer was a
    /// 2xx or had `abort-message`. Only a receiver that has read the callback sends `abort-message`, so rejecting a
    /// callback does not slow down the others.
    pub endpoint_works: bool,
}

/// Evaluates attempt number `attempts_made`, counted from 1, which ended at `now_ms`. `random` is the next delay's
/// jitter.
pub fn judge(schedule: &Schedule, attempts_made: u32, outcome: &Outcome<'_>, now_ms: i64, random: u32) -> Judgement {
    let retry = |requested_ms: Option<i64>| match schedule.delay_ms(attempts_made, random) {
        Some(scheduled_ms) => {
            let longest_ms = scheduled_ms.max(MAX_RETRY_AFTER_MS);
            let wait_ms = requested_ms.map_or(scheduled_ms, |ms| ms.clamp(scheduled_ms, longest_ms));
            Next::At(now_ms.saturating_add(wait_ms))
        }
        None => Next::Dead,
    };
    let Outcome::Answered(answer) = outcome else {
        return Judgement { next: retry(None), disables: false, endpoint_works: false };
    };
    let delivered = (200..300).contains(&answer.status);
    let disables = answer.status == 410 || answer.has_directive("disable");
    let aborts = answer.has_directive("abort-message");
    let next = if delivered {
        Next::Delivered
    } else if aborts {
        Next::Dead
    } else if disables {
        Next::Kept
    } else {
        retry(answer.retry_after_ms(now_ms))
    };
    Judgement { next, disables, endpoint_works: delivered || aborts }
}

impl Answer<'_> {
    /// True if `webhook-delivery` has this directive. A header that was sent twice arrives as one header, with a comma.
    fn has_directive(&self, directive: &str) -> bool {
        self.webhook_delivery
            .is_some_and(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(directive)))
    }

    /// The delay in `Retry-After`, in milliseconds. Negative if its date is past; `None` if the header is absent or
    /// invalid.
    fn retry_after_ms(&self, now_ms: i64) -> Option<i64> {
        let value = self.retry_after?.trim();
        if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
            // Digits fail to parse only if the number is too large, and `judge` clamps it anyway.
            let seconds = value.parse::<i64>().unwrap_or(i64::MAX);
            return Some(seconds.saturating_mul(SECOND_MS));
        }
        parse_http_date(value).map(|until_ms| until_ms.saturating_sub(now_ms))
    }
}

#[cfg(test)]
mod tests;
