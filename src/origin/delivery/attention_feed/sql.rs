//! The tables of the feed and their statements. They are part of the schemas of outboxes, counters and ledgers.

pub const TABLES: &[&str] = &[
    // The open items, and the ended items whose end is not confirmed yet. `kind` is the number of a `Kind`, and
    // `payout` is a decimal number in USD. `changes` counts the changes of a row, and `told` is the value of `changes`
    // in the last confirmed batch. `is_declined` is set while there is no room for the item.
    "CREATE TABLE attention (
       kind INTEGER NOT NULL, subject TEXT NOT NULL, since_ms INTEGER NOT NULL, reason TEXT NOT NULL, payout TEXT,
       is_open INTEGER NOT NULL DEFAULT 1, changes INTEGER NOT NULL DEFAULT 1, told INTEGER NOT NULL DEFAULT 0,
       is_declined INTEGER NOT NULL DEFAULT 0,
       PRIMARY KEY (kind, subject)
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX attention_untold ON attention (kind, subject) WHERE changes <> told",
    "CREATE INDEX attention_declined ON attention (kind, subject) WHERE is_declined = 1",
    // One row. `sequence` is the number of the last batch, `confirmed` is the number of the last confirmed batch, and
    // `complete_ms` is the time of the last batch that had all changes. The next batch of changes may be sent at
    // `due_ms`. At `ping_ms` a batch is sent even without changes. `resets` is set until a confirmed batch has voided
    // all earlier items.
    "CREATE TABLE attention_feed (
       only INTEGER PRIMARY KEY CHECK (only = 1), sequence INTEGER NOT NULL DEFAULT 0, confirmed INTEGER NOT NULL DEFAULT 0,
       attempts INTEGER NOT NULL DEFAULT 0, due_ms INTEGER NOT NULL DEFAULT 0, complete_ms INTEGER NOT NULL DEFAULT 0,
       ping_ms INTEGER, resets INTEGER NOT NULL DEFAULT 0
     ) STRICT",
    "INSERT INTO attention_feed (only) VALUES (1)",
];

platform::statements! {
    /// → number of the last batch, number of the last confirmed batch, failed attempts, time of the next batch, whether
    /// the next batch resets, time of the last complete batch, time of the next batch without changes
    pub const GET_FEED = "SELECT sequence, confirmed, attempts,
          CASE WHEN resets OR EXISTS (SELECT 1 FROM attention WHERE changes <> told) THEN due_ms ELSE ping_ms END,
          resets, complete_ms, ping_ms FROM attention_feed";
    /// time of the batch, time when the next batch may be sent → the batch's number
    pub const BEGIN_BATCH = "UPDATE attention_feed SET sequence = MAX(sequence + 1, ?1), due_ms = ?2 RETURNING sequence";
    /// maximum items → kind, subject, time of opening, reason, payout, whether it is open, changes
    pub const CHANGED = "SELECT kind, subject, since_ms, reason, payout, is_open, changes FROM attention
        WHERE changes <> told ORDER BY kind NOT IN (4, 5), kind, subject LIMIT ?";
    /// maximum items → the same columns of declined items
    pub const DECLINED = "SELECT kind, subject, since_ms, reason, payout, is_open, changes FROM attention
        WHERE is_declined = 1 AND changes = told ORDER BY kind, subject LIMIT ?";
    /// → time of opening of the oldest changed item
    pub const OLDEST_CHANGE = "SELECT MIN(since_ms) FROM attention WHERE changes <> told";
    /// kind, maximum items to count → number of open items
    pub const COUNT_OPEN = "SELECT COUNT(*) FROM (SELECT 1 FROM attention WHERE kind = ? AND is_open LIMIT ?)";
    /// JSON list of [kind, subject, changes, declined]: deletes the listed items that have ended and have not changed
    /// since
    pub const DELETE_ENDED = "DELETE FROM attention WHERE is_open = 0
        AND (kind, subject, changes) IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?))";
    /// JSON list of [kind, subject, changes, declined]: records that the receiver has these items, or has declined them
    pub const CONFIRM_ITEMS = "UPDATE attention SET told = COALESCE(j.value ->> 2, told), is_declined = j.value ->> 3 FROM json_each(?) j
        WHERE attention.kind = j.value ->> 0 AND attention.subject = j.value ->> 1";
    /// number of the batch, time of the batch if it was complete, time of the next batch without changes, whether the
    /// next batch resets, `ping_ms` when this batch was made: records that the batch was confirmed, but keeps a
    /// `ping_ms` that was stored since
    pub const CONFIRM_BATCH = "UPDATE attention_feed SET attempts = 0, confirmed = ?1, complete_ms = COALESCE(?2, complete_ms),
        ping_ms = IIF(ping_ms IS ?5, ?3, ping_ms), resets = ?4";
    /// Marks all items as changed, except the declined ones.
    pub const TELL_AGAIN = "UPDATE attention SET changes = changes + 1 WHERE is_open AND changes = told AND is_declined = 0";
    pub const DROP_CHANGES = "UPDATE attention SET told = changes WHERE changes <> told";
    pub const DROP_PING = "UPDATE attention_feed SET ping_ms = NULL, resets = 0 WHERE resets OR ping_ms IS NOT NULL";
    /// time of the next attempt: counts a failed attempt, and delays the next batch until that time
    pub const PUT_OFF = "UPDATE attention_feed SET attempts = attempts + 1, due_ms = ?1, ping_ms = MAX(ping_ms, ?1)";
    /// subject, time, reason: opens an item for a refused batch
    pub const OPEN_REFUSED = "INSERT INTO attention (kind, subject, since_ms, reason) VALUES (7, ?, ?, ?)
        ON CONFLICT (kind, subject) DO UPDATE SET is_open = 1, changes = changes + 1, since_ms = excluded.since_ms,
          reason = excluded.reason WHERE NOT is_open";
    /// subject, time: opens an item for a late batch, unless an item for its refusal is open
    pub const OPEN_LATE = "INSERT INTO attention (kind, subject, since_ms, reason) SELECT 9, ?1, ?2, 'no_answer'
          WHERE NOT EXISTS (SELECT 1 FROM attention WHERE kind = 7 AND subject = ?1 AND is_open)
        ON CONFLICT (kind, subject) DO UPDATE SET is_open = 1, changes = changes + 1, since_ms = excluded.since_ms
          WHERE NOT is_open";
    /// subject: ends the items of a batch that was applied
    pub const END_BATCH = "UPDATE attention SET is_open = 0, changes = changes + 1
        WHERE kind IN (7, 9) AND subject = ? AND is_open";
    pub const OPEN_DIFFERING = "INSERT INTO attention (kind, subject, since_ms, reason, payout) VALUES (8, ?, ?, ?, ?)
        ON CONFLICT (kind, subject) DO UPDATE SET is_open = 1, changes = changes + 1, reason = excluded.reason, payout = excluded.payout
          WHERE NOT is_open OR reason <> excluded.reason OR payout <> excluded.payout";
    /// kind, day, time, reason: opens an item for a day
    pub const OPEN_DAY = "INSERT INTO attention (kind, subject, since_ms, reason) VALUES (?, ?, ?, ?)
        ON CONFLICT (kind, subject) DO UPDATE SET is_open = 1, changes = changes + 1, reason = excluded.reason
          WHERE NOT is_open OR reason <> excluded.reason";
    pub const END_ITEM = "UPDATE attention SET is_open = 0, changes = changes + 1 WHERE kind = ? AND subject = ? AND is_open";
    pub const PING = "UPDATE attention_feed SET ping_ms = ?";
}
