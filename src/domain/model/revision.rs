//! Numbers of revisions. The number after `last` is at least the UNIX time, so a catalog that was restored from a
//! backup never reuses a number that it gave out later. Numbers run ahead of the time if changes come faster than its
//! unit; a restore takes longer than that lead. The catalog's changes are numbered in milliseconds, because an import
//! makes thousands at once; the terms of one offer or app and the tokens of one advertiser in seconds, because a click
//! id and a token contain them.

/// The number of the revision after `last`, which is 0 before the first.
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
