//! The tables of alarms and their statements. Every activity object has these tables.

pub const TABLES: &[&str] = &[
    // The name of this object, because an object does not know its name when its timer starts it.
    "CREATE TABLE own_name (only INTEGER PRIMARY KEY CHECK (only = 1), name TEXT NOT NULL) STRICT",
    // One row while an address is set. `sealed` has the settings of the address, encrypted with STORE_KEYS. The last
    // three columns describe the last attempt.
    "CREATE TABLE alarm_address (
       only INTEGER PRIMARY KEY CHECK (only = 1), publisher TEXT, sealed BLOB NOT NULL, set_ms INTEGER NOT NULL,
       tried_ms INTEGER, http_status INTEGER, error TEXT
     ) STRICT",
    // The last cause of each kind and subject. `cause` is the number of the last cause. `waiting` counts the causes
    // that are in no message yet, and `first` is the number of the earliest of these. Their message is composed at
    // `due_ms`. `told_ms` is when the last message was composed.
    "CREATE TABLE alarm_causes (
       kind INTEGER NOT NULL, subject TEXT NOT NULL, publisher TEXT, cause INTEGER NOT NULL, waiting INTEGER NOT NULL,
       first INTEGER NOT NULL, since_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL, due_ms INTEGER NOT NULL, told_ms INTEGER,
       PRIMARY KEY (kind, subject)
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX alarm_causes_by_due ON alarm_causes (due_ms) WHERE waiting > 0",
    // A group's next message is composed at `free_ms` or later, so that a group gets at most one message per hour.
    "CREATE TABLE alarm_groups (name TEXT PRIMARY KEY, free_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    // The messages that have not been delivered yet.
    "CREATE TABLE alarm_messages (
       message INTEGER PRIMARY KEY, id TEXT NOT NULL, body TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
       due_ms INTEGER NOT NULL
     ) STRICT",
    "CREATE INDEX alarm_messages_by_due ON alarm_messages (due_ms)",
];

/// The statements that every activity object runs, even one without alarms.
pub const OF_SWEEP: &[&str] = &[NEXT_DUE, SWEEP_CAUSES, SWEEP_GROUPS];

platform::statements! {
    pub const SET_NAME = "INSERT INTO own_name (only, name) VALUES (1, ?) ON CONFLICT DO NOTHING";
    pub const GET_NAME = "SELECT name FROM own_name";
    /// publisher or NULL, sealed settings, current time
    pub const SET_ADDRESS = "INSERT OR REPLACE INTO alarm_address (only, publisher, sealed, set_ms) VALUES (1, ?, ?, ?)";
    /// sealed settings
    pub const RESEAL_ADDRESS = "UPDATE alarm_address SET sealed = ?";
    /// → publisher or NULL, sealed settings, time when set, time of the last attempt, HTTP status, error
    pub const GET_ADDRESS = "SELECT publisher, sealed, set_ms, tried_ms, http_status, error FROM alarm_address";
    /// time of the attempt, HTTP status, error
    pub const SET_TRIED = "UPDATE alarm_address SET tried_ms = ?, http_status = ?, error = ?";
    pub const END_ADDRESS = "DELETE FROM alarm_address";
    pub const END_CAUSES = "DELETE FROM alarm_causes";
    pub const END_GROUPS = "DELETE FROM alarm_groups";
    pub const END_MESSAGES = "DELETE FROM alarm_messages";
    /// kind, subject, group → last cause, number of waiting causes, time when their message is composed, time when the
    /// last message was composed, earliest time of the group's next message
    pub const GET_CAUSE = "SELECT c.cause, c.waiting, c.due_ms, c.told_ms, (SELECT free_ms FROM alarm_groups WHERE name = ?3)
        FROM (SELECT 1) LEFT JOIN alarm_causes c ON c.kind = ?1 AND c.subject = ?2";
    /// kind, subject, publisher or NULL, cause, number of causes, since when, current time, time when the message is
    /// composed
    pub const PUT_CAUSE = "INSERT INTO alarm_causes (kind, subject, publisher, cause, waiting, first, since_ms, last_ms, due_ms)
        VALUES (?1, ?2, ?3, ?4, ?5, ?4, ?6, ?7, ?8)
        ON CONFLICT (kind, subject) DO UPDATE SET
          publisher = IIF(waiting = 0 OR publisher = excluded.publisher, excluded.publisher, NULL), cause = excluded.cause,
          first = IIF(waiting = 0, excluded.first, first), since_ms = IIF(waiting = 0, excluded.since_ms, since_ms),
          waiting = waiting + excluded.waiting, last_ms = excluded.last_ms, due_ms = excluded.due_ms";
    /// current time, maximum rows → due entries: kind, subject, publisher or NULL, number of causes, first cause, since
    /// when, time of the last cause
    pub const LIST_DUE = "SELECT kind, subject, publisher, waiting, first, since_ms, last_ms FROM alarm_causes
        WHERE waiting > 0 AND due_ms <= ? ORDER BY due_ms, kind, subject LIMIT ?";
    /// current time, kind, subject
    pub const SET_TOLD = "UPDATE alarm_causes SET told_ms = ?, waiting = 0 WHERE kind = ? AND subject = ?";
    /// group, current time, milliseconds per message: counts one message of the group
    pub const CHARGE = "INSERT INTO alarm_groups (name, free_ms) VALUES (?1, ?2 + ?3)
        ON CONFLICT (name) DO UPDATE SET free_ms = MAX(free_ms, ?2) + ?3";
    /// id, body, due time
    pub const ADD_MESSAGE = "INSERT INTO alarm_messages (id, body, due_ms) VALUES (?, ?, ?)";
    /// current time → first due message, new messages before retries: number, id, body, attempts
    pub const NEXT_MESSAGE = "SELECT message, id, body, attempts FROM alarm_messages WHERE due_ms <= ?
        ORDER BY attempts > 0, due_ms LIMIT 1";
    /// attempts, due time, number
    pub const SET_MESSAGE = "UPDATE alarm_messages SET attempts = ?, due_ms = ? WHERE message = ?";
    /// current time: makes all messages due, with no attempts made, because the address is new
    pub const SEND_NOW = "UPDATE alarm_messages SET due_ms = ?, attempts = 0";
    /// number
    pub const END_MESSAGE = "DELETE FROM alarm_messages WHERE message = ?";
    /// → time when the next cause or message is due
    pub const NEXT_DUE = "SELECT MIN(due_ms) FROM (SELECT MIN(due_ms) AS due_ms FROM alarm_causes WHERE waiting > 0
        UNION ALL SELECT MIN(due_ms) FROM alarm_messages)";
    /// → number of messages that have not been delivered yet
    pub const COUNT_MESSAGES = "SELECT COUNT(*) FROM alarm_messages";
    /// cutoff time, cutoff time of late facts (kind 7), both exclusive: forgets causes, so that the next cause counts
    /// as a first one. Causes of late facts are kept longer, because they may be raised again for days. Causes of
    /// changed days (kind 8) are kept, because they may be raised again at any time
    pub const SWEEP_CAUSES = "DELETE FROM alarm_causes WHERE waiting = 0 AND told_ms < ?1
        AND kind <> 8 AND (kind <> 7 OR told_ms < ?2)";
    /// current time
    pub const SWEEP_GROUPS = "DELETE FROM alarm_groups WHERE free_ms < ?";
}
