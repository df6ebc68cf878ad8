//! The statements of the log's sums and of the nightly work.

/// The payments of a UTC day in a part of the log. Parameters: first number (exclusive), last number (inclusive), first
/// second (inclusive), end second (exclusive).
macro_rules! paid_on_day {
    () => {
        "FROM entries WHERE notice IS NULL
          AND entry IN (SELECT entry FROM entries WHERE entry > ?1 AND entry <= ?2 AND movement = entry
            UNION ALL SELECT entry FROM entries WHERE movement <> entry AND movement > ?1 AND movement <= ?2)
          AND fields ->> '$.conversion_ts' >= ?3 AND fields ->> '$.conversion_ts' < ?4"
    };
}

/// The movements in a part of the log: number, UTC day, offer, country, placement, amount, whether it is a reversal.
macro_rules! movements {
    ($number:literal, $amount:literal, $where:literal) => {
        concat!(
            "SELECT ",
            $number,
            ", fields ->> '$.conversion_ts' / 86400, fields ->> '$.offer_id', fields ->> '$.country', placement, ",
            $amount,
            ", after IS NOT NULL FROM entries WHERE ",
            $where
        )
    };
}

platform::statements! {
    /// entry (exclusive), maximum entries → last of these entries, number of these entries
    pub const LOG_PAGE = "SELECT MAX(entry), COUNT(*) FROM (SELECT entry FROM entries WHERE entry > ? ORDER BY entry LIMIT ?)";
    /// → last number of the log
    pub const LAST_NUMBER = "SELECT MAX(COALESCE((SELECT MAX(entry) FROM entries), 0),
        COALESCE((SELECT MAX(movement) FROM entries WHERE movement <> entry), 0), COALESCE((SELECT MAX(number) FROM changes), 0))";
    /// number → whether the log has the number
    pub const HAS_NUMBER = "SELECT EXISTS (SELECT 1 FROM entries WHERE entry = ?1)
        OR EXISTS (SELECT 1 FROM entries WHERE movement <> entry AND movement = ?1)
        OR EXISTS (SELECT 1 FROM changes WHERE number = ?1)";
    /// first number (exclusive), last number (inclusive) → movements in the order of their numbers. Changes, and
    /// entries that were not paid when they were created, are rows without an amount
    pub const MOVEMENTS = concat!(
        movements!("entry", "IIF(movement = entry, payout_micro_usd, NULL)", "entry > ?1 AND entry <= ?2"), " UNION ALL ",
        movements!("movement", "payout_micro_usd", "movement <> entry AND movement > ?1 AND movement <= ?2"), " UNION ALL ",
        "SELECT number, 0, 'none', NULL, NULL, NULL, FALSE FROM changes WHERE number > ?1 AND number <= ?2 ORDER BY 1");
    /// number (exclusive), end of a UTC day in seconds (exclusive) → whether the log has later movements of this day or
    /// of an earlier day
    pub const HAS_MOVEMENTS = "SELECT EXISTS (SELECT 1 FROM entries WHERE entry > ?1 AND movement = entry
          AND fields ->> '$.conversion_ts' < ?2)
        OR EXISTS (SELECT 1 FROM entries WHERE movement <> entry AND movement > ?1 AND fields ->> '$.conversion_ts' < ?2)";
    /// first number (exclusive), end number (exclusive), maximum numbers → last number of the step, count of its
    /// numbers
    pub const LAST_OF_DAY = "SELECT MAX(number), COUNT(*) FROM (
          SELECT entry AS number FROM (SELECT entry FROM entries WHERE entry > ?1 AND entry < ?2 ORDER BY entry LIMIT ?3)
          UNION ALL SELECT movement FROM (SELECT movement FROM entries
            WHERE movement <> entry AND movement > ?1 AND movement < ?2 ORDER BY movement LIMIT ?3)
          ORDER BY number LIMIT ?3)";
    /// first number (exclusive), last number (inclusive), first second of the day (inclusive), end second (exclusive),
    /// the ledger's mark → offer, number of rewards, of rewards after 24 hours, of rewards by superseded terms and of
    /// reversals, paid amount, amount paid after the mark
    pub const SUM_DAY = concat!("SELECT fields ->> '$.offer_id', COUNT(*) FILTER (WHERE after IS NULL),
          COUNT(*) FILTER (WHERE after IS NULL AND fields ->> '$.conversion_ts' - fields ->> '$.click_ts' > 86400),
          COUNT(*) FILTER (WHERE superseded), COUNT(*) FILTER (WHERE after IS NOT NULL), SUM(payout_micro_usd),
          COALESCE(SUM(payout_micro_usd) FILTER (WHERE movement > ?5), 0) ",
        paid_on_day!(), " GROUP BY 1");
    /// the first four parameters of `SUM_DAY`, offer, maximum transactions → number, transaction id, whether it is a
    /// reversal, goal, UNIX seconds, paid amount
    pub const LIST_DAY = concat!("SELECT movement, transaction_id, after IS NOT NULL, fields ->> '$.goal_id',
          fields ->> '$.conversion_ts', payout_micro_usd ", paid_on_day!(),
        " AND fields ->> '$.offer_id' = ?5 ORDER BY movement LIMIT ?6");
    /// → last UTC day for which the outbox vouched, day that is being added up, last number examined, whether the day
    /// is complete, number of failed attempts to vouch, time when the next attempt is due, revenue, number of rewards,
    /// of rewards after 24 hours and of rewards by superseded terms
    pub const GET_NIGHT = "SELECT vouched, adding, added_to, is_added, attempts, due_ms, revenue_micro_usd, rewards, rewards_after_24_h,
          rewards_by_superseded_terms FROM nights";
    /// the columns of `GET_NIGHT`
    pub const SET_NIGHT = "UPDATE nights SET vouched = ?, adding = ?, added_to = ?, is_added = ?, attempts = ?, due_ms = ?,
          revenue_micro_usd = ?, rewards = ?, rewards_after_24_h = ?, rewards_by_superseded_terms = ?";
    pub const RESTART_NIGHT = "UPDATE nights SET adding = 0, is_added = 0";
    pub const FIRST_ENTRY = "SELECT MIN(entry) FROM entries";
}
