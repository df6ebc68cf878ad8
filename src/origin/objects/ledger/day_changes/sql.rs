//! Tables and statements of changes of final days.

pub const TABLES: &[&str] = &[
    // Numbers follow the time, so that they continue to rise after a restore. `cause` is a number of `ChangeCause`;
    // `before` and `after` are JSON lists of sums.
    "CREATE TABLE day_changes (
       number INTEGER PRIMARY KEY, day INTEGER NOT NULL, app TEXT NOT NULL, cause INTEGER NOT NULL, at_ms INTEGER NOT NULL,
       before TEXT NOT NULL, after TEXT NOT NULL
     ) STRICT",
    "CREATE INDEX day_changes_by_day ON day_changes (day, app, number)",
    // The version of each day's facts: the version of all facts (`freshness`) at the day's last change.
    "CREATE TABLE day_versions (day INTEGER PRIMARY KEY, version INTEGER NOT NULL) STRICT",
];

platform::statements! {
    /// JSON list of days → the days among them that are final for readers
    pub const LIST_FINAL = "SELECT value FROM json_each(?)
        WHERE value <= (SELECT value FROM state WHERE name = 'final_through') ORDER BY value";
    /// → the first loaded day
    pub const FIRST_LOADED = "SELECT MIN(day) FROM loads";
    /// first day (inclusive) → loaded days since then that are final or unconfirmed
    pub const LIST_JUDGED_FINAL = "SELECT day FROM loads WHERE day >= ? AND state <> 0 ORDER BY day";
    /// lowest number for the current time, day, app, cause, current time, before, after
    pub const ADD = "INSERT INTO day_changes (number, day, app, cause, at_ms, before, after)
        SELECT MAX(COALESCE(MAX(number), 0) + 1, ?1), ?2, ?3, ?4, ?5, ?6, ?7 FROM day_changes
        RETURNING number, day, app, cause, at_ms, before, after";
    /// the parameters of `ADD`, earliest time, number of the last entry that was read: updates the newest entry of the
    /// day and app, if it has the same cause, is not older than the earliest time and was not read
    pub const GO_ON = "UPDATE day_changes SET after = ?7, at_ms = ?5
        WHERE day = ?2 AND app = ?3 AND cause = ?4 AND at_ms >= ?8 AND number > ?9
          AND number = (SELECT MAX(number) FROM day_changes WHERE day = ?2 AND app = ?3)
        RETURNING number, day, app, cause, at_ms, before, after";
    /// number, day, app, cause, time, before, after
    pub const PUT = "INSERT INTO day_changes (number, day, app, cause, at_ms, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (number) DO UPDATE SET at_ms = excluded.at_ms, after = excluded.after";
    /// exclusive lower number, maximum entries → number, day, app, cause, time, before, after
    pub const LIST = "SELECT number, day, app, cause, at_ms, before, after FROM day_changes WHERE number > ? ORDER BY number LIMIT ?";
    /// exclusive upper number, maximum entries → number, day, app, cause, time, before, after; newest first
    pub const LIST_NEWEST = "SELECT number, day, app, cause, at_ms, before, after FROM day_changes WHERE number < ? ORDER BY number DESC LIMIT ?";
    /// numbers of the first and the last lost entry (inclusive) → for each day and app: day, app, figures after its
    /// last lost entry, figures before its next entry or NULL
    pub const LIST_LOST = "SELECT l.day, l.app, l.after,
          (SELECT before FROM day_changes n WHERE n.day = l.day AND n.app = l.app AND n.number > ?2 ORDER BY n.number LIMIT 1)
        FROM (SELECT day, app, after, MAX(number) FROM day_changes WHERE number BETWEEN ?1 AND ?2 GROUP BY day, app) l";
    /// → the number of the newest entry
    pub const NEWEST = "SELECT MAX(number) FROM day_changes";
    /// exclusive lower number, inclusive upper number, JSON list of causes → number of entries, time of the earliest
    pub const COUNT_AFTER = "SELECT COUNT(*), MIN(at_ms) FROM day_changes WHERE number > ? AND number <= ? AND cause IN (SELECT value FROM json_each(?))";
    /// cutoff number: deletes earlier entries
    pub const SWEEP = "DELETE FROM day_changes WHERE number < ?";
    /// JSON list of days, version
    pub const SET_VERSIONS = "INSERT INTO day_versions (day, version) SELECT value, ?2 FROM json_each(?1) WHERE TRUE
        ON CONFLICT (day) DO UPDATE SET version = excluded.version";
    /// first day and last day (inclusive) → highest version
    pub const GET_VERSION = "SELECT MAX(version) FROM day_versions WHERE day BETWEEN ? AND ?";
}
