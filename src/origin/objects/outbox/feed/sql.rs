//! The feed's statements.

platform::statements! {
    /// → whether there are changes or a promised batch; when the next batch may be sent; failed attempts; the last
    /// confirmed batch's number; whether it restarts; no row before the outbox knows its publisher
    pub const GET_FEED = "SELECT promised OR standing <> told_standing OR EXISTS (SELECT 1 FROM changed_entries)
          OR COALESCE((SELECT MAX(entry) FROM entries), 0) > told
          OR EXISTS (SELECT 1 FROM reward_counts WHERE changes <> told), due_ms, attempts, confirmed, restarts
        FROM feed, outbox WHERE publisher IS NOT NULL";
    /// time, when the next batch may be sent, its last entry → the batch's number, the time of the last complete one, changes of
    /// the standing
    pub const BEGIN_BATCH = "UPDATE feed SET sequence = MAX(sequence + 1, ?1), due_ms = ?2, telling = MAX(telling, ?3)
        RETURNING sequence, complete_ms, standing";
    /// entries at most → entry, changes, transaction id, the reward's id, notice, state, delivery, user, fields,
    /// attempts made, last attempt's time, milliseconds and status; all but the first two are NULL for a deleted entry
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
    /// after this entry → the first entry to send
    pub const FIRST_CHANGED = "SELECT MIN(entry) FROM (SELECT MIN(entry) AS entry FROM changed_entries WHERE entry > ?1
        UNION ALL SELECT MIN(entry) FROM entries WHERE entry > MAX(?1, (SELECT told FROM feed)))";
    /// counts at most → day, state, rewards, payout, changes
    pub const CHANGED_COUNTS = "SELECT day, state, rewards, payout_micro_usd, changes FROM reward_counts
        WHERE changes <> told ORDER BY day LIMIT ?";
    /// callbacks counted at most → callbacks that wait, dead ones
    pub const COUNT_CALLBACKS = "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM entries WHERE delivery = 0 LIMIT ?1)),
        (SELECT COUNT(*) FROM (SELECT 1 FROM entries WHERE delivery = 2 LIMIT ?1))";
    /// JSON list of [entry, changes]: deletes those that have not changed since
    pub const CONFIRM_ENTRIES = "DELETE FROM changed_entries WHERE entry IN
        (SELECT c.entry FROM json_each(?) j JOIN changed_entries c ON c.entry = j.value ->> 0 AND c.changes = j.value ->> 1)";
    /// JSON list of [day, state, changes]
    pub const CONFIRM_COUNTS = "UPDATE reward_counts SET told = j.changes
        FROM (SELECT value ->> 0 AS day, value ->> 1 AS state, value ->> 2 AS changes FROM json_each(?)) j
        WHERE reward_counts.day = j.day AND reward_counts.state = j.state";
    /// changes of the standing, whether a batch is promised, time of the batch if it was complete, its number, whether
    /// the next batch restarts, its last entry
    pub const CONFIRM_BATCH = "UPDATE feed SET attempts = 0, told_standing = ?1, promised = ?2,
        complete_ms = COALESCE(?3, complete_ms), confirmed = ?4,
        restarts = ?5, told = MAX(told, ?6)";
    /// number of entries: sends the newest entries again
    pub const CHANGE_ENTRIES = "UPDATE feed SET told = COALESCE((SELECT entry FROM entries ORDER BY entry DESC LIMIT 1 OFFSET ?), 0)";
    /// Sends all counts again.
    pub const CHANGE_COUNTS = "UPDATE reward_counts SET changes = changes + 1 WHERE changes = told";
    /// Promises a batch, if there was one before.
    pub const PROMISE_BATCH = "UPDATE feed SET promised = 1 WHERE confirmed > 0";
    pub const PUT_OFF = "UPDATE feed SET attempts = attempts + 1, due_ms = ?";
}
