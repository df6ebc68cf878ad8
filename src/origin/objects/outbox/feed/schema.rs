//! The feed's tables and the triggers that fill them, so that no code can change a conversion without marking it. A
//! trigger runs in the transaction of the change, so every committed change is sent.

/// Marks the entry of `NEW` as changed, if the entry was already put into a batch. `changes` shows whether the entry has changed
/// again since the batch was made. Most entries no longer change after they were first sent, and are never marked.
macro_rules! mark {
    () => {
        "INSERT INTO changed_entries (entry) SELECT NEW.entry FROM feed WHERE NEW.entry <= telling \
         ON CONFLICT (entry) DO UPDATE SET changes = changes + 1;"
    };
}

/// The state in which a reward is counted, as a number of `RewardState`. A reversed reward is still counted as
/// approved; its reversal is counted separately.
macro_rules! counted_state {
    ($delivery:literal, $state:literal) => {
        concat!(
            "CASE WHEN ",
            $delivery,
            " IS NOT NULL THEN 1 WHEN ",
            $state,
            " >= 20 THEN 4 WHEN ",
            $state,
            " >= 10 THEN 5 WHEN ",
            $state,
            " = 4 THEN 2 ELSE ",
            $state,
            " END"
        )
    };
}

/// Adds the rows (day, state, rewards, payout) of a query to the counts. Some rows are negative and cancel others.
macro_rules! count {
    ($rows:expr) => {
        concat!(
            "INSERT INTO reward_counts (day, state, rewards, payout_micro_usd)
               SELECT day, state, SUM(rewards), SUM(payout) FROM (",
            $rows,
            ") GROUP BY day, state
               HAVING SUM(rewards) <> 0 OR SUM(payout) <> 0
             ON CONFLICT (day, state) DO UPDATE SET rewards = rewards + excluded.rewards,
               payout_micro_usd = payout_micro_usd + excluded.payout_micro_usd, changes = changes + 1;"
        )
    };
}

/// The UTC day of an entry's conversion time.
macro_rules! day {
    ($fields:literal) => {
        concat!($fields, " ->> '$.conversion_ts' / 86400")
    };
}

pub const TABLES: &[&str] = &[
    // One row. `sequence` is the number of the last batch, and `complete_ms` is the time of the last batch that had all
    // changes. `attempts` counts the failed attempts to send a batch. The next batch may be sent at `due_ms`.
    // `standing` counts the changes of the endpoint's state, and `told_standing` is the value of `standing` in the last
    // confirmed batch. `promised` is set while the outbox has promised a batch. `confirmed` is the number of the last
    // confirmed batch. `restarts` is set until a confirmed batch has told the receiver that everything is resent. All
    // entries up to `told` were confirmed, and `telling` is the last entry that was in a batch.
    "CREATE TABLE feed (
       only INTEGER PRIMARY KEY CHECK (only = 1), sequence INTEGER NOT NULL DEFAULT 0,
       attempts INTEGER NOT NULL DEFAULT 0, due_ms INTEGER NOT NULL DEFAULT 0, complete_ms INTEGER NOT NULL DEFAULT 0,
       standing INTEGER NOT NULL DEFAULT 0, told_standing INTEGER NOT NULL DEFAULT 0, promised INTEGER NOT NULL DEFAULT 0,
       confirmed INTEGER NOT NULL DEFAULT 0, restarts INTEGER NOT NULL DEFAULT 0, told INTEGER NOT NULL DEFAULT 0,
       telling INTEGER NOT NULL DEFAULT 0
     ) STRICT",
    "INSERT INTO feed (only) VALUES (1)",
    "CREATE TABLE changed_entries (entry INTEGER PRIMARY KEY, changes INTEGER NOT NULL DEFAULT 1) STRICT",
    // The rewards of each UTC day and state. `changes` counts the changes of a row, and `told` is the value of
    // `changes` in the last confirmed batch.
    "CREATE TABLE reward_counts (
       day INTEGER NOT NULL, state INTEGER NOT NULL, rewards INTEGER NOT NULL, payout_micro_usd INTEGER NOT NULL,
       changes INTEGER NOT NULL DEFAULT 1, told INTEGER NOT NULL DEFAULT 0,
       PRIMARY KEY (day, state)
     ) STRICT, WITHOUT ROWID",
    concat!(
        "CREATE TRIGGER reversal_added AFTER INSERT ON entries WHEN NEW.after IS NOT NULL AND NEW.notice IS NULL BEGIN ",
        count!(concat!("SELECT ", day!("NEW.fields"),
            " AS day, 3 AS state, 1 AS rewards, NEW.payout_micro_usd AS payout")),
        " END"
    ),
    concat!(
        "CREATE TRIGGER entry_changed AFTER UPDATE OF delivery, attempts_made, user_id, fields, erase ON entries
           WHEN OLD.delivery IS NOT NEW.delivery OR OLD.attempts_made <> NEW.attempts_made
             OR OLD.user_id IS NOT NEW.user_id OR OLD.fields <> NEW.fields OR OLD.erase <> NEW.erase
         BEGIN ", mark!(), " END"
    ),
    concat!(
        "CREATE TRIGGER reward_changed AFTER UPDATE OF delivery, payout_micro_usd, fields ON entries
           WHEN NEW.after IS NULL AND ((OLD.delivery IS NULL) <> (NEW.delivery IS NULL)
             OR OLD.payout_micro_usd <> NEW.payout_micro_usd
             OR (OLD.fields <> NEW.fields AND ", day!("OLD.fields"), " <> ", day!("NEW.fields"), "))
         BEGIN ",
        count!(concat!(
            "SELECT ", day!("OLD.fields"), " AS day, ", counted_state!("OLD.delivery", "c.state"), " AS state,
               -1 AS rewards, -OLD.payout_micro_usd AS payout
               FROM conversions c WHERE c.nonce = OLD.nonce AND c.goal = OLD.goal
             UNION ALL SELECT ", day!("NEW.fields"), ", ", counted_state!("NEW.delivery", "c.state"), ",
               1, NEW.payout_micro_usd
               FROM conversions c WHERE c.nonce = NEW.nonce AND c.goal = NEW.goal"
        )),
        " END"
    ),
    concat!(
        "CREATE TRIGGER conversion_added AFTER INSERT ON conversions BEGIN ",
        count!(concat!(
            "SELECT ", day!("e.fields"), " AS day, ", counted_state!("e.delivery", "NEW.state"), " AS state,
               1 AS rewards, e.payout_micro_usd AS payout FROM entries e WHERE e.entry = NEW.entry"
        )),
        " END"
    ),
    concat!(
        "CREATE TRIGGER conversion_changed AFTER UPDATE OF state ON conversions WHEN OLD.state <> NEW.state BEGIN ",
        mark!(),
        count!(concat!(
            "SELECT ", day!("e.fields"), " AS day, ", counted_state!("e.delivery", "OLD.state"), " AS state,
               -1 AS rewards, -e.payout_micro_usd AS payout FROM entries e WHERE e.entry = OLD.entry
             UNION ALL SELECT ", day!("e.fields"), ", ", counted_state!("e.delivery", "NEW.state"), ",
               1, e.payout_micro_usd FROM entries e WHERE e.entry = NEW.entry"
        )),
        " END"
    ),
    "CREATE TRIGGER outbox_added AFTER INSERT ON outbox BEGIN UPDATE feed SET standing = standing + 1; END",
    "CREATE TRIGGER outbox_changed AFTER UPDATE OF publisher, callback_sealed, failures, disabled_ms ON outbox
       WHEN OLD.publisher IS NOT NEW.publisher OR (OLD.callback_sealed IS NULL) <> (NEW.callback_sealed IS NULL)
         OR OLD.failures <> NEW.failures OR OLD.disabled_ms IS NOT NEW.disabled_ms
     BEGIN UPDATE feed SET standing = standing + 1; END",
    // If another attempt took over the claim, the slower attempt is stored but does not change the entry. Lists still
    // show the slower attempt as the last one, so the entry must be sent.
    concat!("CREATE TRIGGER attempt_added AFTER INSERT ON attempts BEGIN ", mark!(), " END"),
];
