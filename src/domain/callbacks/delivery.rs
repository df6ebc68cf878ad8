//! What one try of a callback means for it and for its endpoint (docs/DECISIONS.md, "Completion callbacks"): delivered, tried again, kept
//! or dead. The receiver has its say by its status, `Retry-After` and `webhook-delivery`.

use super::schedule::Schedule;
use crate::model::time::{DAY_MS, SECOND_MS, parse_http_date};

/// How far `Retry-After` may put off a try that the schedule has earlier, in milliseconds.
const LONGEST_ASKED_MS: i64 = DAY_MS;

/// What of a whole answer counts. Header values are as they were received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    pub status: u16,
    pub retry_after: Option<&'a str>,
    pub webhook_delivery: Option<&'a str>,
}

/// How a try ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    Answered(Answer<'a>),
    /// No whole answer: none in time, half of one, a connection refused or reset; or the guard forbade the call.
    Failed,
}

/// What becomes of the callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Delivered,
    /// It is tried again at this time, in milliseconds.
    At(i64),
    /// It waits until the endpoint is enabled again.
    Kept,
    /// It is not tried again, unless the operator replays it.
    Dead,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    pub next: Next,
    /// Whether the endpoint wants no more calls, of this callback or any other.
    pub disables: bool,
    /// Whether the endpoint does its work, for [`Health`](super::health::Health): any 2xx, and `abort-message`, which
    /// only a receiver that read the callback says. Messages that are unwelcome must not slow down the others.
    pub endpoint_works: bool,
}

/// Judges try number `tries_made`, this one included, that ended at `now_ms`. `random` is for the delay of the next.
pub fn judge(
    schedule: &Schedule,
    tries_made: u32,
    outcome: &Outcome<'_>,
    now_ms: i64,
    random: u32,
) -> Judgement {
    let again = |asked_ms: Option<i64>| match schedule.delay_ms(tries_made, random) {
        Some(scheduled_ms) => {
            let longest_ms = scheduled_ms.max(LONGEST_ASKED_MS);
            let wait_ms = asked_ms.map_or(scheduled_ms, |asked_ms| asked_ms.clamp(scheduled_ms, longest_ms));
            Next::At(now_ms.saturating_add(wait_ms))
        }
        None => Next::Dead,
    };
    let Outcome::Answered(answer) = outcome else {
        return Judgement {
            next: again(None),
            disables: false,
            endpoint_works: false,
        };
    };
    let delivered = (200..300).contains(&answer.status);
    let disables = answer.status == 410 || answer.says("disable");
    let aborts = answer.says("abort-message");
    let next = if delivered {
        Next::Delivered
    } else if aborts {
        Next::Dead
    } else if disables {
        Next::Kept
    } else {
        again(answer.asked_ms(now_ms))
    };
    Judgement {
        next,
        disables,
        endpoint_works: delivered || aborts,
    }
}

impl Answer<'_> {
    /// Whether `webhook-delivery` has this word. A header that was sent twice arrives as one, with a comma.
    fn says(&self, word: &str) -> bool {
        self.webhook_delivery.is_some_and(|value| {
            value
                .split(',')
                .any(|said| said.trim().eq_ignore_ascii_case(word))
        })
    }

    /// How long `Retry-After` asks to wait, in milliseconds: negative if its date is past, `None` if it says nothing
    /// that can be read.
    fn asked_ms(&self, now_ms: i64) -> Option<i64> {
        let value = self.retry_after?.trim();
        if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
            // Digits fail to parse only if they are too many, and then they ask for more than is granted anyway.
            let seconds = value.parse::<i64>().unwrap_or(i64::MAX);
            return Some(seconds.saturating_mul(SECOND_MS));
        }
        parse_http_date(value).map(|until_ms| until_ms.saturating_sub(now_ms))
    }
}

#[cfg(test)]
mod tests;
