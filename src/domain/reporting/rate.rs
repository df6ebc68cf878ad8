//! The rate limit of a report key: one request per 2 seconds (docs/SPEC.md, "Limits"). The headers follow the IETF
//! draft draft-ietf-httpapi-ratelimit-headers-10.

use crate::model::ApiError;

/// Minimum time between two accepted requests of a key, in milliseconds.
pub const INTERVAL_MS: i64 = 2_000;

/// The value of the header `RateLimit-Policy`.
pub const POLICY: &str = r#""report";q=1;w=2"#;

/// The answer to a request that comes too soon. [`Admission::refusal`] has the exact wait.
pub const RATE_LIMIT_EXCEEDED: ApiError =
    ApiError::new(429, "rate_limit_exceeded", "rate limit exceeded").retry_after(2);

/// The decision about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The caller stores the time of this request as that of the key's last accepted request.
    Accepted,
    /// Refused; a retry is accepted after this many milliseconds, 1 to [`INTERVAL_MS`]. Nothing is stored.
    Wait(i64),
}

/// Decides by the time of the key's last accepted request and the minimum interval. A last request in the future means
/// that the clock was set back. Such a time is ignored, because the wait would have no limit.
pub fn decide(last_accepted_ms: Option<i64>, now_ms: i64, interval_ms: i64) -> Admission {
    match last_accepted_ms.and_then(|last| now_ms.checked_sub(last)) {
        Some(elapsed) if (0..interval_ms).contains(&elapsed) => Admission::Wait(interval_ms - elapsed),
        _ => Admission::Accepted,
    }
}

impl Admission {
    /// The value of the header `RateLimit`: no request remains, and the next request is accepted after this many
    /// seconds.
    pub fn rate_limit(self) -> String {
        format!(r#""report";r=0;t={}"#, self.next_in_s())
    }

    /// The answer to a refused request, with the wait in seconds; `None` if the request was accepted.
    pub fn refusal(self) -> Option<ApiError> {
        match self {
            Self::Accepted => None,
            Self::Wait(_) => Some(RATE_LIMIT_EXCEEDED.retry_after(self.next_in_s())),
        }
    }

    /// Seconds until the next request is accepted, rounded up.
    fn next_in_s(self) -> u32 {
        let wait_ms = match self {
            Self::Accepted => INTERVAL_MS,
            Self::Wait(wait_ms) => wait_ms,
        };
        u32::try_from(wait_ms).unwrap_or(0).div_ceil(1_000)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_second_request_within_two_seconds_waits_for_their_end() {
        for (last, now, verdict) in [
            (None, 0, Admission::Accepted),
            (Some(5_000), 5_000, Admission::Wait(2_000)),
            (Some(5_000), 5_001, Admission::Wait(1_999)),
            (Some(5_000), 6_999, Admission::Wait(1)),
            (Some(5_000), 7_000, Admission::Accepted),
            (Some(5_000), 4_999, Admission::Accepted),
            (Some(i64::MAX), i64::MIN, Admission::Accepted),
            (Some(i64::MIN), i64::MAX, Admission::Accepted),
        ] {
            assert_eq!(decide(last, now, INTERVAL_MS), verdict, "{last:?} {now}");
        }
    }

    #[test]
    fn the_headers_have_whole_seconds_rounded_up() {
        for (verdict, seconds) in [
            (Admission::Accepted, 2),
            (Admission::Wait(2_000), 2),
            (Admission::Wait(1_001), 2),
            (Admission::Wait(1_000), 1),
            (Admission::Wait(1), 1),
        ] {
            assert_eq!(verdict.rate_limit(), format!("\"report\";r=0;t={seconds}"));
            if let Some(refusal) = verdict.refusal() {
                assert_eq!((refusal.status, refusal.retry_after_s), (429, Some(seconds)));
                let body = r#"{"code":"rate_limit_exceeded","error":"rate limit exceeded"}"#;
                assert_eq!(refusal.body(), body);
            }
        }
        assert_eq!(Admission::Accepted.refusal(), None);
        assert_eq!(POLICY, format!("\"report\";q=1;w={}", INTERVAL_MS / 1_000));
    }

    proptest! {
        /// Compared with a list of all accepted requests, while the clock also jumps back.
        #[test]
        fn a_key_is_accepted_once_in_two_seconds(steps in prop::collection::vec(
            prop_oneof![8 => 0..2_500_i64, 1 => Just(2_000), 1 => Just(1_999), 1 => -5_000..0_i64], 1..60,
        )) {
            let (mut now, mut last) = (1_000_000, None);
            let mut accepted: Vec<i64> = Vec::new();
            for step in steps {
                now += step;
                if step < 0 {
                    // A time from the old clock counts only if the new clock has also passed it.
                    accepted.retain(|at| *at <= now);
                    if last > Some(now) {
                        accepted.clear();
                    }
                }
                let free = accepted.iter().all(|at| now - at >= 2_000);
                match decide(last, now, INTERVAL_MS) {
                    Admission::Accepted => {
                        prop_assert!(free);
                        accepted.push(now);
                        last = Some(now);
                    }
                    Admission::Wait(wait) => {
                        prop_assert!(!free && (1..=2_000).contains(&wait));
                        prop_assert_eq!(decide(last, now + wait, INTERVAL_MS), Admission::Accepted);
                        prop_assert_ne!(decide(last, now + wait - 1, INTERVAL_MS), Admission::Accepted);
                    }
                }
            }
        }
    }
}
