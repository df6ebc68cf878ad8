//! The budget of reports under a session: a token bucket of facts. The dashboard's pages have no key whose rate would
//! limit them, and a ledger makes one report at a time.

use std::cell::Cell;

use domain::model::ApiError;

/// The facts that a burst of queries may read, and the facts that are refilled per millisecond. Reading the refill of a
/// second, 2,000,000 facts, takes about 14 ms of the object's time.
const BURST: i64 = 16_000_000;
const PER_MS: i64 = 2_000;
pub const TOO_MANY_REPORTS: ApiError = ApiError::new(429, "too_many_reports", "too many reports at once");

/// The budget is in memory: a restart of the object refills it.
#[derive(Default)]
pub struct ReportBudget {
    /// The cost that is not refilled yet, in facts, and when it was computed, in milliseconds.
    owed: Cell<(i64, i64)>,
}

impl ReportBudget {
    /// Takes the cost of queries that read this many facts.
    ///
    /// # Errors
    /// 429 with the seconds until there is room. A cost above the burst needs the whole burst.
    pub fn take(&self, facts: u64, now_ms: i64) -> Result<(), ApiError> {
        self.take_of(BURST, facts, now_ms)
    }

    /// Takes the cost of a piece of an export from one half of the burst, and leaves the other half to views, for which
    /// people wait. A piece that costs more than its half needs the whole half, so an export of any size can end.
    ///
    /// # Errors
    /// 429 with the seconds until there is room.
    pub fn take_spare(&self, facts: u64, now_ms: i64) -> Result<(), ApiError> {
        self.take_of(BURST / 2, facts, now_ms)
    }

    fn take_of(&self, most: i64, facts: u64, now_ms: i64) -> Result<(), ApiError> {
        let cost = i64::try_from(facts).unwrap_or(most).min(most);
        let (owed, at_ms) = self.owed.get();
        let paid = now_ms.saturating_sub(at_ms).max(0).saturating_mul(PER_MS);
        let owed = owed.saturating_sub(paid).max(0) + cost;
        if owed > most {
            let a_second = PER_MS * 1_000;
            let seconds = (owed - most + a_second - 1) / a_second;
            return Err(TOO_MANY_REPORTS.retry_after(u32::try_from(seconds).unwrap_or(u32::MAX)));
        }
        self.owed.set((owed, now_ms));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_admitted_and_then_what_comes_back() {
        let budget = ReportBudget::default();
        let taken = |facts: u64, now_ms: i64| (0..10_000).take_while(|_| budget.take(facts, now_ms).is_ok()).count();
        assert_eq!(taken(1_000_000, 1_000), 16);
        assert_eq!(taken(1_000_000, 2_000), 2);
        assert_eq!(taken(1_000_000, 1_500), 0, "a clock that steps back gives nothing");
        assert_eq!(taken(u64::MAX, 2_000_000), 1, "more than the burst");
        let refused = budget.take(2_000_000, 2_000_000).unwrap_err();
        assert_eq!((refused.status, refused.retry_after_s), (429, Some(1)));
    }

    #[test]
    fn an_export_leaves_half_to_the_views_and_ends_however_large_it_is() {
        let budget = ReportBudget::default();
        let mut now_ms = 1_000_000;
        for _ in 0..3 {
            budget.take_spare(u64::MAX, now_ms).unwrap();
            let refused = budget.take_spare(u64::MAX, now_ms).unwrap_err();
            assert_eq!((refused.status, refused.retry_after_s), (429, Some(4)));
            now_ms += 4_000;
        }
        budget.take_spare(u64::MAX, now_ms).unwrap();
        budget.take(8_000_000, now_ms).unwrap();
        assert!(budget.take(1, now_ms).is_err());
    }
}
