//! The schema and statements of activity objects.

use crate::{
    delivery::register,
    objects::activity::{alarms, attention},
};
use platform::migrations::Migration;

pub const MIGRATIONS: &[Migration] = &[&[
    TABLES,
    attention::sql::TABLES,
    attention::sql::REPORTED,
    register::TABLES,
    register::announced::TABLE,
    alarms::sql::TABLES,
]];

const TABLES: &[&str] = &[
    // One row. `version` rises with each new or changed entry, and `floor` is the newest entry that was deleted to make
    // room. `first_conversion_ms` and `first_callback_ms` are the times of the first conversion and of the first
    // callback with a 2xx answer.
    "CREATE TABLE activity (
       only INTEGER PRIMARY KEY CHECK (only = 1), version INTEGER NOT NULL DEFAULT 0, floor INTEGER NOT NULL DEFAULT 0,
       first_conversion_ms INTEGER, first_callback_ms INTEGER
     ) STRICT",
    "INSERT INTO activity (only) VALUES (1)",
    // The outboxes that have sent a batch, with the values of their last batch. `is_incomplete` is set while this
    // object lacks changes that the outbox sent earlier.
    "CREATE TABLE outboxes (
       app INTEGER NOT NULL, shard INTEGER NOT NULL, sequence INTEGER NOT NULL, at_ms INTEGER NOT NULL,
       owes_since_ms INTEGER, next_by_ms INTEGER, endpoint INTEGER NOT NULL, disabled_ms INTEGER,
       waiting INTEGER NOT NULL, dead INTEGER NOT NULL, is_incomplete INTEGER NOT NULL DEFAULT 0,
       PRIMARY KEY (app, shard)
     ) STRICT, WITHOUT ROWID",
    // `outbox_counts` has the counts of each day and outbox. `counts` has their sums over the outboxes of an app.
    "CREATE TABLE outbox_counts (
       day INTEGER NOT NULL, app INTEGER NOT NULL, shard INTEGER NOT NULL, state INTEGER NOT NULL,
       rewards INTEGER NOT NULL, payout_micro_usd INTEGER NOT NULL,
       PRIMARY KEY (day, app, shard, state)
     ) STRICT, WITHOUT ROWID",
    "CREATE TABLE counts (
       day INTEGER NOT NULL, app INTEGER NOT NULL, state INTEGER NOT NULL,
       rewards INTEGER NOT NULL, payout_micro_usd INTEGER NOT NULL,
       PRIMARY KEY (day, app, state)
     ) STRICT, WITHOUT ROWID",
    // The newest entries of all outboxes' logs. `version` is the version of the entry's last change, and `details` is
    // JSON.
    "CREATE TABLE entries (
       entry INTEGER NOT NULL, app INTEGER NOT NULL, version INTEGER NOT NULL, transaction_id TEXT NOT NULL,
       state INTEGER NOT NULL, delivery INTEGER, http_status INTEGER, user_id TEXT, conversion_ts INTEGER NOT NULL,
       delivered_ms INTEGER, details TEXT NOT NULL,
       PRIMARY KEY (entry, app)
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX entries_by_version ON entries (version)",
    // Replays of many callbacks. `key` is the idempotency key of the start. `filter` is JSON; once the replay is over,
    // a hash replaces the user id in it. The next step continues in the outbox `shard` after the entry `after`. `state`
    // is 0 (running), 1 (done) or 2 (cancelled). `most` is the maximum number of callbacks that the member who started
    // the replay may send, or NULL.
    "CREATE TABLE replays (
       replay_id INTEGER PRIMARY KEY, app INTEGER NOT NULL, key TEXT NOT NULL, publisher TEXT NOT NULL, filter TEXT NOT NULL,
       state INTEGER NOT NULL DEFAULT 0, shard INTEGER NOT NULL DEFAULT 0, after INTEGER NOT NULL DEFAULT 0,
       replayed INTEGER NOT NULL DEFAULT 0, started_ms INTEGER NOT NULL, ended_ms INTEGER,
       due_ms INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, most INTEGER
     ) STRICT",
    "CREATE UNIQUE INDEX replays_by_key ON replays (app, key)",
];

/// The shown delivery state. `no_endpoint` is derived for a callback that waits in an outbox without an endpoint.
macro_rules! shown {
    () => {
        "IIF(e.delivery = 0 AND COALESCE(o.endpoint, 0) = 0, 4, e.delivery)"
    };
}

macro_rules! columns {
    () => {
        concat!(
            "SELECT e.entry, e.app, e.version, e.transaction_id, e.state, ",
            shown!(),
            ", e.http_status, e.user_id,
          e.conversion_ts, e.delivered_ms, e.details"
        )
    };
}

/// The number of an entry's outbox is the entry's number modulo 64 (`log_number`).
macro_rules! from_entries {
    () => {
        " FROM entries e LEFT JOIN outboxes o ON o.app = e.app AND o.shard = e.entry % 64 "
    };
}

/// True if an entry matches a filter. An entry of a test app (`FIRST_TEST_APP` or higher) matches only a filter that
/// names an app, a transaction id or a user. The filter's parameters, which may all be NULL: app, state, delivery,
/// HTTP status, first second (inclusive), end second (exclusive), transaction id, user.
macro_rules! matches_filter {
    () => {
        concat!(
            "(?1 IS NULL OR e.app = ?1) AND (e.app < 99000000 OR COALESCE(?1, ?7, ?8) IS NOT NULL) AND (?2 IS NULL OR e.state = ?2) AND (?3 IS NULL OR ",
            shown!(),
            " = ?3)
          AND (?4 IS NULL OR e.http_status = ?4) AND (?5 IS NULL OR e.conversion_ts >= ?5)
          AND (?6 IS NULL OR e.conversion_ts < ?6) AND (?7 IS NULL OR e.transaction_id = ?7)
          AND (?8 IS NULL OR e.user_id = ?8)"
        )
    };
}

platform::statements! {
    /// app → worst state of the app's endpoint over all outboxes
    pub const ENDPOINT_OF = "SELECT COALESCE(MAX(endpoint), 0) FROM outboxes WHERE app = ?";
    /// app, shard → number of the last batch, whether changes of the outbox are missing, number of rewards that were
    /// given up, state of the endpoint
    pub const GET_OUTBOX = "SELECT sequence, is_incomplete, dead, endpoint FROM outboxes WHERE app = ? AND shard = ?";
    /// app, shard, batch number, time of the batch, time of the oldest change that was not sent yet, latest time of the
    /// next batch, state of the endpoint, time when it was disabled, number of waiting callbacks, number of dead
    /// callbacks, whether changes of the outbox are missing
    pub const PUT_OUTBOX = "INSERT INTO outboxes
          (app, shard, sequence, at_ms, owes_since_ms, next_by_ms, endpoint, disabled_ms, waiting, dead, is_incomplete)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (app, shard) DO UPDATE SET sequence = excluded.sequence, at_ms = excluded.at_ms,
          owes_since_ms = excluded.owes_since_ms, next_by_ms = excluded.next_by_ms, endpoint = excluded.endpoint,
          disabled_ms = excluded.disabled_ms, waiting = excluded.waiting, dead = excluded.dead,
          is_incomplete = excluded.is_incomplete";
    /// app, shard, JSON list of [day, state, rewards, payout], first day (inclusive): adds the changes in the outbox's
    /// counts to the app's sums
    pub const ADD_DIFFERENCES = "INSERT INTO counts (day, app, state, rewards, payout_micro_usd)
        SELECT j.day, ?1, j.state, j.rewards - COALESCE(o.rewards, 0), j.payout - COALESCE(o.payout_micro_usd, 0)
          FROM (SELECT value ->> 0 AS day, value ->> 1 AS state, value ->> 2 AS rewards, value ->> 3 AS payout
            FROM json_each(?3)) j
          LEFT JOIN outbox_counts o ON o.day = j.day AND o.app = ?1 AND o.shard = ?2 AND o.state = j.state
          WHERE j.day >= ?4
        ON CONFLICT (day, app, state) DO UPDATE SET rewards = rewards + excluded.rewards,
          payout_micro_usd = payout_micro_usd + excluded.payout_micro_usd";
    /// the same parameters: stores the outbox's counts
    pub const PUT_COUNTS = "INSERT INTO outbox_counts (day, app, shard, state, rewards, payout_micro_usd)
        SELECT value ->> 0, ?1, ?2, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?3) WHERE value ->> 0 >= ?4
        ON CONFLICT (day, app, shard, state) DO UPDATE SET rewards = excluded.rewards,
          payout_micro_usd = excluded.payout_micro_usd";
    /// number of entries → version of the last entry, newest entry that was deleted to make room
    pub const TAKE_VERSIONS = "UPDATE activity SET version = version + ? RETURNING version, floor";
    /// app, version before the first entry, JSON list of entries, newest entry that was deleted to make room
    pub const PUT_ENTRIES = "INSERT INTO entries (entry, app, version, transaction_id, state, delivery, http_status, user_id,
          conversion_ts, delivered_ms, details)
        SELECT value ->> 0, ?1, ?2 + key + 1, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
          value ->> 7, value -> 8 FROM json_each(?3) WHERE value ->> 0 > ?4
        ON CONFLICT (entry, app) DO UPDATE SET version = excluded.version, state = excluded.state,
          delivery = excluded.delivery, http_status = excluded.http_status, user_id = excluded.user_id,
          conversion_ts = excluded.conversion_ts, delivered_ms = excluded.delivered_ms, details = excluded.details";
    /// time of the first conversion or NULL, time of the first successful callback or NULL
    pub const PUT_FIRSTS = "UPDATE activity SET
          first_conversion_ms = COALESCE(MIN(first_conversion_ms, ?1), first_conversion_ms, ?1),
          first_callback_ms = COALESCE(MIN(first_callback_ms, ?2), first_callback_ms, ?2)
        WHERE ?1 < COALESCE(first_conversion_ms, ?1 + 1) OR ?2 < COALESCE(first_callback_ms, ?2 + 1)";
    /// maximum entries, without test apps → newest entry beyond the maximum
    pub const FLOOR = "SELECT entry FROM entries WHERE app < 99000000 ORDER BY entry DESC, app DESC LIMIT 1 OFFSET ?";
    pub const SET_FLOOR = "UPDATE activity SET floor = MAX(floor, ?)";
    /// maximum entries of test apps: deletes the oldest entries beyond the maximum
    pub const DELETE_TESTS = "DELETE FROM entries WHERE app >= 99000000 AND entry <=
          (SELECT entry FROM entries WHERE app >= 99000000 ORDER BY entry DESC, app DESC LIMIT 1 OFFSET ?)";
    /// entry: deletes the entry and all older ones
    pub const DELETE_ENTRIES = "DELETE FROM entries WHERE entry <= ?";

    /// first day (inclusive) → sums by day, then sums by app: day or NULL, app or NULL, state, rewards, payout
    pub const SUM_COUNTS = "SELECT day, NULL, state, SUM(rewards), SUM(payout_micro_usd) FROM counts WHERE day >= ?1
          GROUP BY day, state HAVING SUM(rewards) <> 0 OR SUM(payout_micro_usd) <> 0
        UNION ALL SELECT NULL, app, state, SUM(rewards), SUM(payout_micro_usd) FROM counts WHERE day >= ?1
          GROUP BY app, state HAVING SUM(rewards) <> 0 OR SUM(payout_micro_usd) <> 0
        ORDER BY 1, 2";
    pub const SUM_OUTBOXES = "SELECT app, MAX(endpoint), MIN(disabled_ms), SUM(waiting), SUM(dead) FROM outboxes GROUP BY app
        ORDER BY app";
    pub const GET_FIRSTS = "SELECT first_conversion_ms, first_callback_ms FROM activity";
    /// current time → time since which changes may be missing
    pub const MISSING_SINCE = "SELECT MIN(COALESCE(owes_since_ms, IIF(next_by_ms < ?, at_ms, NULL))) FROM outboxes WHERE app < 99000000";
    pub const HAS_OUTBOX = "SELECT EXISTS (SELECT 1 FROM outboxes WHERE app = ?1 AND (?2 IS NULL OR shard = ?2))";
    /// filter, entry and app of the place before the page, maximum entries → see `rewards`
    pub const LIST = concat!(columns!(), from_entries!(), "WHERE (e.entry, e.app) < (?9, ?10) AND ", matches_filter!(), "
        ORDER BY e.entry DESC, e.app DESC LIMIT ?11");
    /// filter, version (exclusive), maximum entries → the same columns, whether the entry matches the filter
    pub const LIST_CHANGES = concat!(columns!(), ", COALESCE(", matches_filter!(), ", FALSE)", from_entries!(), "
        WHERE e.version > ?9 ORDER BY e.version LIMIT ?10");
    pub const GET_VERSION = "SELECT version FROM activity";

    /// cutoff day, exclusive
    pub const SWEEP_OUTBOX_COUNTS = "DELETE FROM outbox_counts WHERE day < ?";
    /// cutoff day, exclusive
    pub const SWEEP_COUNTS = "DELETE FROM counts WHERE day < ?";
    /// app, shard → the lowest shard at or above this one
    pub const NEXT_OUTBOX = "SELECT MIN(shard) FROM outboxes WHERE app = ? AND shard >= ?";
    pub const LIST_OUTBOXES = "SELECT shard FROM outboxes WHERE app = ? ORDER BY shard";
    pub const FIND_REPLAY = "SELECT replay_id, filter FROM replays WHERE app = ? AND key = ?";
    /// app → whether a replay is running
    pub const HAS_RUNNING = "SELECT EXISTS (SELECT 1 FROM replays WHERE app = ? AND state = 0)";
    /// app, key, publisher, filter, current time, maximum callbacks or NULL → id of the replay
    pub const START_REPLAY = "INSERT INTO replays (app, key, publisher, filter, started_ms, due_ms, most)
        VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6) RETURNING replay_id";
    pub const GET_REPLAY = "SELECT state, replayed, started_ms, ended_ms, filter, key FROM replays
        WHERE replay_id = ? AND app = ?";
    /// current time, filter without its user, id of the replay, app → one row, unless the replay was already over
    pub const CANCEL_REPLAY = "UPDATE replays SET state = 2, ended_ms = ?, filter = ? WHERE replay_id = ? AND app = ? AND state = 0
        RETURNING replay_id";
    /// user, app or NULL → id and app of each running replay of the user
    pub const RUNNING_OF_USER = "SELECT replay_id, app FROM replays
        WHERE state = 0 AND filter ->> '$.user_id' = ?1 AND app = COALESCE(?2, app)";
    pub const DUE_REPLAYS = "SELECT replay_id, app, publisher, filter, shard, after, attempts, key, most - replayed, started_ms,
          replayed FROM replays
        WHERE state = 0 AND due_ms <= ? ORDER BY due_ms LIMIT 6";
    pub const FIRST_REPLAY = "SELECT MIN(due_ms) FROM replays WHERE state = 0";
    pub const STEP_REPLAY = "UPDATE replays SET shard = ?1, after = ?2, replayed = replayed + ?3, due_ms = ?4, attempts = 0
        WHERE replay_id = ?5";
    /// current time, filter without its user, id of the replay
    pub const END_REPLAY = "UPDATE replays SET state = 1, ended_ms = ?, filter = ? WHERE replay_id = ? AND state = 0";
    pub const PUT_REPLAY_OFF = "UPDATE replays SET due_ms = ?, attempts = attempts + 1 WHERE replay_id = ?";
    /// cutoff time, exclusive
    pub const SWEEP_REPLAYS = "DELETE FROM replays WHERE ended_ms < ?";
    pub const ANYTHING_KEPT = "SELECT EXISTS (SELECT 1 FROM entries) OR EXISTS (SELECT 1 FROM counts)
        OR EXISTS (SELECT 1 FROM replays)";
}
