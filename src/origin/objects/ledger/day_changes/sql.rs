//! Tables and statements of changes of final days.

pub const TABLES: &[&str] = &[
    // Numbers follow the time, so that they continue to rise after a restore. `cause` is a number of `ChangeCause`;
    // `before` and `after` are JSON lists of sums.
    "CREATE TABLE day_changes (
       number INTEGER PRIMARY KEY, day INTEGER NOT NULL, app TEXT NOT NULL, cause INTEGER NOT NULL, at_ms INTEGER NOT NULL,
       before TEXT NOT NULL, after TEXT NOT NULL
     ) STRICT",
    "CREATE INDEX day_changes_by_day ON day_changes (day, app, number)",
    // When the facts of a day changed last, as a number of `freshness`.
    "CREATE TABLE day_versions (day INTEGER PRIMARY KEY, version INTEGER NOT NULL) STRICT",
];

platform::statements! {
    /// JSON list of days → those that are final for readers
    pub const LIST_FINAL = "SELECT value FROM json_each(?)
        WHERE value <= (SELECT value FROM state WHERE name = 'final_through') ORDER BY value";
    /// → the first loaded day
    pub const FIRST_LOADED = "SELECT MIN(day) FROM loads";
    /// first day → the loaded days from it on that are final
    pub const LIST_JUDGED_FINAL = "SELECT day FROM loads WHERE day >= ? AND state <> 0 ORDER BY day";
    /// the lowest number of now, day, app, cause, time, before, after
    pub const ADD = "INSERT INTO day_changes (number, day, app, cause, at_ms, before, after)
        SELECT MAX(COALESCE(MAX(number), 0) + 1, ?1), ?2, ?3, ?4, ?5, ?6, ?7 FROM day_changes
        RETURNING number, day, app, cause, at_ms, before, after";
    /// the same, first time, the last number that was read: updates an entry since that time that was not read
    pub const GO_ON = "UPDATE day_changes SET after = ?7, at_ms = ?5
        WHERE day = ?2 AND app = ?3 AND cause = ?4 AND at_ms >= ?8 AND number > ?9
          AND number = (SELECT MAX(number) FROM day_changes WHERE day = ?2 AND app = ?3)
        RETURNING number, day, app, cause, at_ms, before, after";
    /// number, day, app, cause, time, before, after
    pub const PUT = "INSERT INTO day_changes (number, day, app, cause, at_ms, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (number) DO UPDATE SET at_ms = excluded.at_ms, after = excluded.after";
    /// after this number, entries at most → number, day, app, cause, time, before, after
    pub const LIST = "SELECT number, day, app, cause, at_ms, before, after FROM day_changes WHERE number > ? ORDER BY number LIMIT ?";
    /// before this number, entries at most → the same, the newest first
    pub const LIST_NEWEST = "SELECT number, day, app, cause, at_ms, before, after FROM day_changes WHERE number < ? ORDER BY number DESC LIMIT ?";
    /// numbers of the first and the last lost entry → for each day and app: the figures after its last lost entry, and
    /// those before its next entry
    pub const LIST_LOST = "SELECT l.day, l.app, l.after,
          (SELECT before FROM day_changes n WHERE n.day = l.day AND n.app = l.app AND n.number > ?2 ORDER BY n.number LIMIT 1)
        FROM (SELECT day, app, after, MAX(number) FROM day_changes WHERE number BETWEEN ?1 AND ?2 GROUP BY day, app) l";
    /// after this number, up to this one, JSON list of causes → entries, when the first was made
    pub const COUNT_AFTER = "SELECT COUNT(*), MIN(at_ms) FROM day_changes WHERE number > ? AND number <= ? AND cause IN (SELECT value FROM json_each(?))";
    /// before this number
    pub const SWEEP = "DELETE FROM day_changes WHERE number < ?";
    /// JSON list of days, version
    pub const SET_VERSIONS = "INSERT INTO day_versions (day, version) SELECT value, ?2 FROM json_each(?1) WHERE TRUE
        ON CONFLICT (day) DO UPDATE SET version = excluded.version";
    /// first day, last day → the highest version
    pub const GET_VERSION = "SELECT MAX(version) FROM day_versions WHERE day BETWEEN ? AND ?";
}
