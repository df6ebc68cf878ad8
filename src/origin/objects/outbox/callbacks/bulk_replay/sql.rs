//! The statements of a publisher's replay of many callbacks. In each, the first seven values are a filter: delivery, first
//! second, second after the last, state, status of the last try, user, transaction id. All but the times may be NULL.

pub const TABLES: &[&str] = &[
    // The steps that sent callbacks, with their answers.
    "CREATE TABLE replay_steps (
       step TEXT NOT NULL PRIMARY KEY, replayed INTEGER NOT NULL, next INTEGER, at_ms INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX replay_steps_by_time ON replay_steps (at_ms)",
];

/// The state of an entry that its publisher sees, as a number of `RewardState`. The feed sends the same state.
macro_rules! reward_state {
    () => {
        "CASE WHEN e.notice = 0 THEN 0 WHEN e.notice IS NOT NULL THEN 2 WHEN e.after IS NOT NULL THEN 3 ELSE
            (SELECT CASE WHEN c.state >= 20 THEN 4 WHEN c.state >= 10 THEN 5 WHEN c.state = 4 THEN 2 ELSE c.state END
              FROM conversions c WHERE c.nonce = e.nonce AND c.goal = e.goal) END"
    };
}

/// True if a callback matches a filter and can be sent, since its user is not erased.
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

/// The matching callbacks after one entry of the log, up to another.
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
        concat!(
            "SELECT e.entry ",
            matching!($source),
            " ORDER BY ",
            $order,
            " LIMIT ?10"
        )
    };
}

platform::statements! {
    /// step → callbacks, entry after which to go on or NULL
    pub const GET_STEP = "SELECT replayed, next FROM replay_steps WHERE step = ?";
    /// step, callbacks, entry after which to go on or NULL, time
    pub const PUT_STEP = "INSERT INTO replay_steps (step, replayed, next, at_ms) VALUES (?, ?, ?, ?)";
    /// first time kept
    pub const DELETE_STEPS = "DELETE FROM replay_steps WHERE at_ms < ?";
    /// a filter, entry before the first, last entry → callbacks of the log
    pub const COUNT = count!("entries e NOT INDEXED WHERE e.entry <= ?9 AND e.entry");
    /// the same, callbacks at most → their entries
    pub const LIST = list!("entries e NOT INDEXED WHERE e.entry <= ?9 AND e.entry", "e.entry");
    /// The same for the entries of the user.
    pub const COUNT_OF_USER = count!("entries e INDEXED BY entries_by_user WHERE e.user_id = ?6 AND e.entry <= ?9 AND e.entry");
    pub const LIST_OF_USER =
        list!("entries e INDEXED BY entries_by_user WHERE e.user_id = ?6 AND e.entry <= ?9 AND e.entry", "e.entry");
    /// The same for rewards that were paid later than their number says, from the filter's first second on.
    pub const COUNT_PAID_LATER = count!("entries e INDEXED BY entries_paid_later
        WHERE e.movement <> e.entry AND e.movement >= ?2 * 1024000 AND e.entry <= ?9 AND e.entry");
    pub const LIST_PAID_LATER = list!("entries e INDEXED BY entries_paid_later
        WHERE e.movement <> e.entry AND e.movement >= ?2 * 1024000 AND e.entry <= ?9 AND e.entry", "e.entry");
    /// user, after this entry, entries to skip → the entry after them
    pub const ENTRY_OF_USER_AFTER = "SELECT entry FROM entries WHERE user_id = ? AND entry > ? ORDER BY entry LIMIT 1 OFFSET ?";
    /// after this entry, before this one, entries to skip → the entry after them, among rewards that were paid after that range
    pub const PAID_LATER_AFTER = "SELECT entry FROM entries INDEXED BY entries_paid_later
        WHERE movement <> entry AND movement >= ?2 AND entry > ?1 AND entry < ?2 ORDER BY entry LIMIT 1 OFFSET ?3";
    pub const FIND = "SELECT entry FROM entries WHERE transaction_id = ?";
    /// time, latest end of a claim, JSON list of entries
    pub const REPLAY = "UPDATE entries SET delivery = 0, attempts_made = 0,
          due_ms = IIF(delivery = 0 AND due_ms > ?1 AND due_ms <= ?2, due_ms, ?1)
        WHERE entry IN (SELECT value FROM json_each(?3))";
    /// a filter, JSON list of entries, time of the replay: replays the reversals of replayed rewards, except those that
    /// match the filter
    pub const REPLAY_REVERSALS = concat!("UPDATE entries AS e SET delivery = 0, due_ms = ?9, attempts_made = 0
        WHERE e.after IN (SELECT value FROM json_each(?8)) AND e.notice IS NULL AND e.delivery <> 0 AND e.user_id IS NOT NULL
          AND EXISTS (SELECT 1 FROM entries r
            WHERE r.entry = e.after AND r.delivery = 0 AND r.due_ms = ?9 AND r.attempts_made = 0)
          AND NOT COALESCE(", matches!(), ", FALSE)");
}
