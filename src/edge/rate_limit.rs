//! The rate limit of the offers interface (docs/DECISIONS.md, "Offers"): a token bucket for each app and isolate. It
//! protects the other apps on the machine from an app whose backend calls in a loop. It is not a quota, since isolates
//! do not share counts.

use std::{cell::RefCell, collections::HashMap};

use domain::model::{ApiError, AppId};

pub const RATE_LIMIT_EXCEEDED: ApiError =
    ApiError::new(429, "rate_limit_exceeded", "rate limit exceeded").retry_after(1);

/// The requests per second, and the size of a burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    per_second: f64,
    burst: f64,
}

impl Rate {
    pub const DEFAULT: Self = Self { per_second: 100.0, burst: 200.0 };

    /// Parses `OFFERS_RATE`: `rate` or `rate,burst`. The default burst is twice the rate. 0 turns the limit off.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
        let number = |text: &str| text.trim().parse::<u32>().ok().map(f64::from);
        let (rate, burst) = match text.split_once(',') {
            Some((rate, burst)) => (number(rate), number(burst)),
            None => (number(text), number(text).map(|rate| rate * 2.0)),
        };
        match (rate, burst) {
            (Some(0.0), _) => Ok(None),
            (Some(per_second), Some(burst)) if burst >= 1.0 => Ok(Some(Self { per_second, burst })),
            _ => Err("OFFERS_RATE: must be a rate such as 100, or a rate and a burst such as 100,200".into()),
        }
    }
}

/// The buckets of one isolate. Only apps with valid credentials have a bucket, so there are at most as many buckets as
/// apps.
#[derive(Default)]
pub struct RateLimiter {
    buckets: RefCell<HashMap<AppId, Bucket>>,
}

struct Bucket {
    tokens: f64,
    filled_at_ms: i64,
}

impl RateLimiter {
    /// Takes a token for a request. Refuses the request if no token is left.
    pub fn admit(&self, rate: Rate, app: AppId, now_ms: i64) -> Result<(), ApiError> {
        self.with_tokens(rate, app, now_ms, |tokens| {
            if *tokens < 1.0 {
                return Err(RATE_LIMIT_EXCEEDED);
            }
            *tokens -= 1.0;
            Ok(())
        })
    }

    /// True if a request would be admitted now. Takes no token.
    pub fn would_admit(&self, rate: Rate, app: AppId, now_ms: i64) -> bool {
        self.with_tokens(rate, app, now_ms, |tokens| *tokens >= 1.0)
    }

    /// Refills the app's bucket, and calls `work` with its tokens.
    fn with_tokens<T>(&self, rate: Rate, app: AppId, now_ms: i64, work: impl FnOnce(&mut f64) -> T) -> T {
        let mut buckets = self.buckets.borrow_mut();
        let bucket = buckets.entry(app).or_insert(Bucket { tokens: rate.burst, filled_at_ms: now_ms });
        // An isolate's clock may step back. Such a step refills nothing.
        let elapsed_ms = u32::try_from(now_ms.saturating_sub(bucket.filled_at_ms)).unwrap_or(0);
        bucket.tokens = (bucket.tokens + f64::from(elapsed_ms) * rate.per_second / 1_000.0).min(rate.burst);
        bucket.filled_at_ms = now_ms;
        work(&mut bucket.tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_admitted_and_then_the_rate() {
        let rate = Rate::parse("10,20").unwrap().unwrap();
        let (limiter, app) = (RateLimiter::default(), AppId::from_number(1).unwrap());
        let admitted = |now_ms: i64, requests: usize| {
            (0..requests)
                .filter(|_| {
                    let expected = limiter.would_admit(rate, app, now_ms);
                    let admitted = limiter.admit(rate, app, now_ms).is_ok();
                    assert_eq!(expected, admitted, "would_admit takes no token");
                    admitted
                })
                .count()
        };
        assert_eq!(admitted(0, 100), 20);
        assert_eq!(admitted(1_000, 100), 10);
        assert_eq!(admitted(900, 100), 0, "a clock that steps back refills nothing");
        assert_eq!(admitted(3_600_000, 100), 20);
        assert!(limiter.admit(rate, AppId::from_number(2).unwrap(), 0).is_ok(), "another app has its own bucket");
    }

    #[test]
    fn an_invalid_rate_is_refused() {
        assert_eq!(Rate::parse("0").unwrap(), None);
        assert_eq!(Rate::parse("100").unwrap(), Some(Rate::DEFAULT));
        for bad in ["", "x", "-1", "10,0", "10,x", "1.5"] {
            assert!(Rate::parse(bad).is_err(), "{bad}");
        }
    }
}
