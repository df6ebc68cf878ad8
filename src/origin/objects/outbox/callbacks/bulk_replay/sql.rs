//! The statements of a publisher's replay of many callbacks. A filter is seven parameters: delivery, first second
//! (inclusive), end second (exclusive), state, HTTP status of the last attempt, user, transaction id. All except the
//! two seconds may be NULL.

pub const TABLES: &[&str] = &[
    // The steps that replayed callbacks, with their answers, so that a retried step gets the same answer.
    "CREATE TABLE replay_steps (
       step TEXT NOT NULL PRIMARY KEY, replayed INTEGER NOT NULL, next INTEGER, at_ms INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX replay_steps_by_time ON replay_steps (at_ms)",
];

/// The state of an entry as its publisher sees it: a number of `RewardState`. The feed sends the same state.
macro_rules! reward_state {
    () => {
        "CASE WHEN e.notice = 0 THEN 0 WHEN e.notice IS NOT NULL THEN 2 WHEN e.after IS NOT NULL THEN 3 ELSE
            (SELECT CASE WHEN c.state >= 20 THEN 4 WHEN c.state >= 10 THEN 5 WHEN c.state = 4 THEN 2 ELSE c.state END
              FROM conversions c WHERE c.nonce = e.nonce AND c.goal = e.goal) END"
    };
}

/// True if a callback matches a filter and its user is not erased, so that it can be sent.
macro_rules! matches {
    () => {
        concat!(
            "e.delivery IS NOT NULL AND e.user_id IS NOT NULL AND (?1 IS NULL OR e.delivery = ?1)
          AND (?6 IS NULL OR e.user_id = ?6) AND (?7 IS NULL OR e.transaction_id = ?7)
          AND e.fields ->> '$.conversion_ts' >= ?2 AND e.fields ->> '$.conversion_ts' < ?3
          AND (?4 IS NULL OR ?4 = ",
            reward_state!(),
            ") AND (?5 IS NULL OR ?5 = IIF(EXISTS (SELECT 1 FROM attempts WHERE entry = e.entry),
            (SELECT a.http_status FROM attempts a WHERE a.attempt = (SELECT MAX(attempt) FROM attempts WHERE entry = e.entry)),
            e.first_status))"
        )
    };
}

/// The matching callbacks after the entry `?8`. `$source` is the table and its conditions, and ends with the entry's
/// column.
macro_rules! matching {
    ($source:literal) => {
        concat!("FROM ", $source, " > ?8 AND ", matches!())
    };
}

macro_rules! count {
    ($source:literal) => {
        concat!("SELECT COUNT(*) ", matching!($source))
    };
}

macro_rules! list {
    ($source:literal, $order:literal) => {
        concat!("SELECT e.entry ", matching!($source), " ORDER BY ", $order, " LIMIT ?10")
    };
}

platform::statements! {
    /// name of a step → number of replayed callbacks, entry after which the next step continues or NULL
    pub const GET_STEP = "SELECT replayed, next FROM replay_steps WHERE step = ?";
    /// name of a step, number of replayed callbacks, entry after which the next step continues or NULL, current time
    pub const PUT_STEP = "INSERT INTO replay_steps (step, replayed, next, at_ms) VALUES (?, ?, ?, ?)";
    /// cutoff time, exclusive
    pub const DELETE_STEPS = "DELETE FROM replay_steps WHERE at_ms < ?";
    /// filter, first entry (exclusive), last entry (inclusive) → number of matching callbacks in the log
    pub const COUNT = count!("entries e NOT INDEXED WHERE e.entry <= ?9 AND e.entry");
    /// the same parameters, maximum callbacks → entries of the matching callbacks
    pub const LIST = list!("entries e NOT INDEXED WHERE e.entry <= ?9 AND e.entry", "e.entry");
    /// `COUNT` and `LIST` for the entries of the filter's user.
    pub const COUNT_OF_USER = count!("entries e INDEXED BY entries_by_user WHERE e.user_id = ?6 AND e.entry <= ?9 AND e.entry");
    pub const LIST_OF_USER =
        list!("entries e INDEXED BY entries_by_user WHERE e.user_id = ?6 AND e.entry <= ?9 AND e.entry", "e.entry");
    /// `COUNT` and `LIST` for rewards that were paid after their entry was created, at the filter's first second or
    /// later.
    pub const COUNT_PAID_LATER = count!("entries e INDEXED BY entries_paid_later
        WHERE e.movement <> e.entry AND e.movement >= ?2 * 1024000 AND e.entry <= ?9 AND e.entry");
    pub const LIST_PAID_LATER = list!("entries e INDEXED BY entries_paid_later
        WHERE e.movement <> e.entry AND e.movement >= ?2 * 1024000 AND e.entry <= ?9 AND e.entry", "e.entry");
    /// user, first entry (exclusive), number of entries to skip → next entry of the user after the skipped ones
    pub const ENTRY_OF_USER_AFTER = "SELECT entry FROM entries WHERE user_id = ? AND entry > ? ORDER BY entry LIMIT 1 OFFSET ?";
    /// first entry (exclusive), end entry (exclusive), number of entries to skip → next entry after the skipped ones,
    /// among the rewards in this range that were paid after the range
    pub const PAID_LATER_AFTER = "SELECT entry FROM entries INDEXED BY entries_paid_later
        WHERE movement <> entry AND movement >= ?2 AND entry > ?1 AND entry < ?2 ORDER BY entry LIMIT 1 OFFSET ?3";
    pub const FIND = "SELECT entry FROM entries WHERE transaction_id = ?";
    /// current time, latest end of a claim, JSON list of entries: makes callbacks due now, or at the end of their claim
    pub const REPLAY = "UPDATE entries SET delivery = 0, attempts_made = 0,
          due_ms = IIF(delivery = 0 AND due_ms > ?1 AND due_ms <= ?2, due_ms, ?1)
        WHERE entry IN (SELECT value FROM json_each(?3))";
    /// filter, JSON list of the replayed rewards' entries, time of the replay: replays the reversals of these rewards,
    /// except reversals that match the filter
    pub const REPLAY_REVERSALS = concat!("UPDATE entries AS e SET delivery = 0, due_ms = ?9, attempts_made = 0
        WHERE e.after IN (SELECT value FROM json_each(?8)) AND e.notice IS NULL AND e.delivery <> 0 AND e.user_id IS NOT NULL
          AND EXISTS (SELECT 1 FROM entries r
            WHERE r.entry = e.after AND r.delivery = 0 AND r.due_ms = ?9 AND r.attempts_made = 0)
          AND NOT COALESCE(", matches!(), ", FALSE)");
}
