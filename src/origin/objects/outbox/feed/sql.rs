//! The feed's statements.

platform::statements! {
    /// → whether there are changes or a promised batch, time from which the next batch may be sent, number of failed
    /// attempts, number of the last confirmed batch, whether the next batch restarts the feed. No row until the outbox
    /// knows its publisher
    pub const GET_FEED = "SELECT promised OR standing <> told_standing OR EXISTS (SELECT 1 FROM changed_entries)
          OR COALESCE((SELECT MAX(entry) FROM entries), 0) > told
          OR EXISTS (SELECT 1 FROM reward_counts WHERE changes <> told), due_ms, attempts, confirmed, restarts
        FROM feed, outbox WHERE publisher IS NOT NULL";
    /// current time, time from which the next batch may be sent, last entry of this batch → number of this batch, time
    /// of the last complete batch, number of changes of the standing
    pub const BEGIN_BATCH = "UPDATE feed SET sequence = MAX(sequence + 1, ?1), due_ms = ?2, telling = MAX(telling, ?3)
        RETURNING sequence, complete_ms, standing";
    /// maximum entries → entry, number of changes, transaction id, transaction id of the reward, state of the notice,
    /// state, delivery, user, fields, attempts made, time, milliseconds and HTTP status of the last attempt; all but
    /// the first two are NULL for a deleted entry
    pub const CHANGED_ENTRIES = "SELECT x.entry, x.changes, e.transaction_id, r.transaction_id, e.notice, c.state, e.delivery,
          IIF(e.erase, NULL, e.user_id), e.fields, e.attempts_made, COALESCE(a.at_ms, e.first_at_ms), COALESCE(a.ms, e.first_ms),
          IIF(a.attempt IS NULL, e.first_status, a.http_status)
        FROM (
          SELECT * FROM (SELECT entry, changes FROM changed_entries ORDER BY entry LIMIT ?1)
          UNION ALL SELECT * FROM (SELECT entry, 0 FROM entries WHERE entry > (SELECT told FROM feed)
              AND NOT EXISTS (SELECT 1 FROM changed_entries c WHERE c.entry = entries.entry) ORDER BY entry LIMIT ?1)
          ORDER BY entry LIMIT ?1) x
        LEFT JOIN entries e ON e.entry = x.entry
        LEFT JOIN conversions c ON c.nonce = e.nonce AND c.goal = e.goal
        LEFT JOIN entries r ON r.entry = e.after
        LEFT JOIN attempts a ON a.attempt = (SELECT MAX(attempt) FROM attempts WHERE entry = x.entry)
        ORDER BY x.entry";
    /// entry (exclusive) → next entry that must be sent
    pub const FIRST_CHANGED = "SELECT MIN(entry) FROM (SELECT MIN(entry) AS entry FROM changed_entries WHERE entry > ?1
        UNION ALL SELECT MIN(entry) FROM entries WHERE entry > MAX(?1, (SELECT told FROM feed)))";
    /// maximum counts → day, state, rewards, payout, number of changes
    pub const CHANGED_COUNTS = "SELECT day, state, rewards, payout_micro_usd, changes FROM reward_counts
        WHERE changes <> told ORDER BY day LIMIT ?";
    /// maximum of each count → number of waiting callbacks, number of dead callbacks
    pub const COUNT_CALLBACKS = "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM entries WHERE delivery = 0 LIMIT ?1)),
        (SELECT COUNT(*) FROM (SELECT 1 FROM entries WHERE delivery = 2 LIMIT ?1))";
    /// JSON list of [entry, number of changes]: deletes the marks of entries that have not changed since the batch
    pub const CONFIRM_ENTRIES = "DELETE FROM changed_entries WHERE entry IN
        (SELECT c.entry FROM json_each(?) j JOIN changed_entries c ON c.entry = j.value ->> 0 AND c.changes = j.value ->> 1)";
    /// JSON list of [day, state, number of changes]
    pub const CONFIRM_COUNTS = "UPDATE reward_counts SET told = j.changes
        FROM (SELECT value ->> 0 AS day, value ->> 1 AS state, value ->> 2 AS changes FROM json_each(?)) j
        WHERE reward_counts.day = j.day AND reward_counts.state = j.state";
    /// number of changes of the standing, whether a batch is promised, time of the batch or NULL if it was incomplete,
    /// number of the batch, whether the next batch restarts the feed, last entry of the batch
    pub const CONFIRM_BATCH = "UPDATE feed SET attempts = 0, told_standing = ?1, promised = ?2,
        complete_ms = COALESCE(?3, complete_ms), confirmed = ?4,
        restarts = ?5, told = MAX(told, ?6)";
    /// number of newest entries to resend
    pub const CHANGE_ENTRIES = "UPDATE feed SET told = COALESCE((SELECT entry FROM entries ORDER BY entry DESC LIMIT 1 OFFSET ?), 0)";
    /// Resends all counts.
    pub const CHANGE_COUNTS = "UPDATE reward_counts SET changes = changes + 1 WHERE changes = told";
    /// Promises a batch, if an earlier one was confirmed.
    pub const PROMISE_BATCH = "UPDATE feed SET promised = 1 WHERE confirmed > 0";
    pub const PUT_OFF = "UPDATE feed SET attempts = attempts + 1, due_ms = ?";
}
