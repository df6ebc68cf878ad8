//! Revision numbers. A new number is at least the UNIX time, so a catalog that was restored from a backup never reuses
//! a number that it issued after the backup. If changes come faster than one per unit of time, the numbers run ahead of
//! the time. That lead is harmless, because it is shorter than a restore takes. The catalog's changes are numbered in
//! milliseconds, because an import makes thousands at once. The terms of an offer or app and the tokens of an
//! advertiser are numbered in seconds, because click ids and tokens contain these numbers.

/// The revision number that follows `last`. `last` is 0 before the first revision.
pub fn after(last: i64, now: i64) -> i64 {
    last.saturating_add(1).max(now)
}

#[cfg(test)]
mod tests {
    use super::after;

    #[test]
    fn revisions_rise_also_after_a_restore() {
        assert_eq!(after(0, 1_795_390_798), 1_795_390_798);
        assert_eq!(after(1_795_390_798, 1_795_390_798), 1_795_390_799);
        assert_eq!(after(7, 0), 8);
        assert_eq!(after(i64::MAX, 0), i64::MAX);
    }
}
