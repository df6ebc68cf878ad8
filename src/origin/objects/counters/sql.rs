//! The counters' schema and statements, without those of [`batches`]. Cloudflare charges for rows written, so tables
//! are WITHOUT ROWID, and columns that change with every batch are in no second index.

use crate::delivery::{attention_feed, batches};
use platform::migrations::Migration;

pub const MIGRATIONS: &[Migration] = &[&[TABLES, batches::sql::TABLES, attention_feed::sql::TABLES]];

const TABLES: &[&str] = &[
    // The newest cap of each offer that this object has received, with a take or from an outbox. A removed cap stays as
    // a row without a limit.
    "CREATE TABLE limits (
       kind INTEGER NOT NULL, offer TEXT NOT NULL, daily_limit INTEGER, revision INTEGER NOT NULL,
       PRIMARY KEY (kind, offer)
     ) STRICT, WITHOUT ROWID",
    // One row for each take. Counting a cap's rows gives the number of takes from it. A retried take is recognized by
    // the row of the first attempt. A day's takes are deleted together.
    "CREATE TABLE takes (
       kind INTEGER NOT NULL, day INTEGER NOT NULL, offer TEXT NOT NULL, key TEXT NOT NULL, remaining INTEGER NOT NULL,
       PRIMARY KEY (kind, day, offer, key)
     ) STRICT, WITHOUT ROWID",
    // Sums by day and offer. `apps` is JSON: the number, clicks and conversions of the 100 largest apps. Outboxes send
    // the conversions and the payout. An offer with a take from its cap also has a row.
    "CREATE TABLE daily (
       day INTEGER NOT NULL, offer TEXT NOT NULL,
       clicks INTEGER NOT NULL DEFAULT 0,
       conversions INTEGER NOT NULL DEFAULT 0,
       payout_micro_usd INTEGER NOT NULL DEFAULT 0,
       apps TEXT NOT NULL DEFAULT '[]',
       PRIMARY KEY (day, offer)
     ) STRICT, WITHOUT ROWID",
    // For the figures of the offers, which are read page by page.
    "CREATE INDEX daily_by_offer ON daily (offer, day)",
    // Conversions that each outbox paid on a day before the offer had a cap. After a restore, the source `lost` has the
    // number by which the conversions of all outboxes exceeded the stored takes. The source `lost clicks` has the number
    // by which the counted clicks exceeded the stored takes. All of them count as taken.
    "CREATE TABLE uncapped (
       day INTEGER NOT NULL, offer TEXT NOT NULL, source TEXT NOT NULL, conversions INTEGER NOT NULL,
       PRIMARY KEY (day, offer, source)
     ) STRICT, WITHOUT ROWID",
    // The number of each isolate's last batch, except for batches that are still in `flushes`. `seen_day`, and so the
    // index that finds expired marks, changes only with an isolate's first batch of a day.
    "CREATE TABLE marks (
       isolate TEXT NOT NULL PRIMARY KEY, sequence INTEGER NOT NULL, seen_day INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX marks_by_day ON marks (seen_day)",
    // Caps whose takes a restore may have lost. `heard_ms` is when an outbox of the offer last wrote again what a
    // restore had lost; 0 for never. `asked_ms` is the `heard_ms` that the answers of the other objects cover; NULL if
    // these were not asked since the last restore of this object.
    "CREATE TABLE asked (
       kind INTEGER NOT NULL, day INTEGER NOT NULL, offer TEXT NOT NULL, heard_ms INTEGER NOT NULL, asked_ms INTEGER,
       PRIMARY KEY (kind, day, offer)
     ) STRICT, WITHOUT ROWID",
    // The log's rows of clicks. `isolates` is JSON: the number of each isolate's last batch in the row. `sums` is JSON:
    // the row's sums of clicks.
    "CREATE TABLE flushes (number INTEGER PRIMARY KEY, isolates TEXT NOT NULL, sums TEXT NOT NULL) STRICT",
    // The older part of the log. A fold has at least one row for each of its days, and all its rows have the same
    // `last`, the fold's last log number. `spans` is JSON: the first and the last log number of each publisher. `image`
    // is a segment whose demand source is the publisher. If `rows` is 0, `spans` instead has the sums that the
    // publishers' ledgers lacked, each with its log number.
    "CREATE TABLE folds (
       fold INTEGER PRIMARY KEY, last INTEGER NOT NULL, day INTEGER NOT NULL, rows INTEGER NOT NULL, spans TEXT NOT NULL,
       image BLOB NOT NULL
     ) STRICT",
    "CREATE INDEX folds_by_last ON folds (last, day)",
    // One row. `counted` is the log number up to which `daily` has the clicks. `vouched` is the last day for which the
    // object vouched to the ledgers; `attempts` and `due_ms` are the failed attempts for the next day and the time of
    // the next attempt. `restored_ms` is when the object noticed that it was restored from a copy; 0 for never.
    "CREATE TABLE clicks (
       only INTEGER PRIMARY KEY CHECK (only = 1), counted INTEGER NOT NULL DEFAULT 0, vouched INTEGER NOT NULL DEFAULT 0,
       attempts INTEGER NOT NULL DEFAULT 0, due_ms INTEGER NOT NULL DEFAULT 0, restored_ms INTEGER NOT NULL DEFAULT 0
     ) STRICT",
    "INSERT INTO clicks (only) VALUES (1)",
    // One row: the UTC day of the last complete sweep.
    "CREATE TABLE sweeps (id INTEGER PRIMARY KEY CHECK (id = 0), day INTEGER NOT NULL) STRICT",
    // The number of the last batch applied from each outbox. Unlike an isolate's mark it is never deleted, because an
    // outbox may be idle for weeks and then resend its last batch.
    "CREATE TABLE sources (source TEXT NOT NULL PRIMARY KEY, number INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    // The level that a day's use of an offer's cap has reached under `daily_limit`: 1 at 80 %, 2 when the cap is used
    // up. `at_ms` rises with each level of an offer. `due_ms` is when attention must be told; NULL once it was told.
    "CREATE TABLE cap_alarms (
       offer TEXT NOT NULL, kind INTEGER NOT NULL, day INTEGER NOT NULL, level INTEGER NOT NULL, daily_limit INTEGER NOT NULL,
       at_ms INTEGER NOT NULL, due_ms INTEGER,
       PRIMARY KEY (offer, kind, day)
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX due_cap_alarms ON cap_alarms (due_ms) WHERE due_ms IS NOT NULL",
];

platform::statements! {
    /// kind, day, offer, key → remaining cap after an earlier take with the key, revision of the limit, limit
    pub const STANDING = "SELECT
        (SELECT remaining FROM takes WHERE kind = ?1 AND day = ?2 AND offer = ?3 AND key = ?4),
        (SELECT revision FROM limits WHERE kind = ?1 AND offer = ?3),
        (SELECT daily_limit FROM limits WHERE kind = ?1 AND offer = ?3)";
    /// kind, day, offer → sum of the stored takes, the lost takes and, for conversions, those that were paid before the
    /// offer had a cap
    pub const COUNT_TAKEN = "SELECT (SELECT COUNT(*) FROM takes WHERE kind = ?1 AND day = ?2 AND offer = ?3)
        + (SELECT COALESCE(SUM(conversions), 0) FROM uncapped WHERE day = ?2 AND offer = ?3 AND (source = 'lost clicks') = (?1 = 0))";
    /// offer, kind, day, level, limit, current time: adds an alarm, unless the level was reached before under the same
    /// limit
    pub const RAISE_CAP_ALARM = "INSERT INTO cap_alarms (offer, kind, day, level, daily_limit, at_ms, due_ms)
        VALUES (?1, ?2, ?3, ?4, ?5, MAX(?6, COALESCE((SELECT MAX(at_ms) + 1 FROM cap_alarms WHERE offer = ?1), 0)), ?6)
        ON CONFLICT (offer, kind, day) DO UPDATE SET level = excluded.level, daily_limit = excluded.daily_limit, at_ms = excluded.at_ms,
          due_ms = excluded.due_ms
        WHERE excluded.level > level OR excluded.daily_limit <> daily_limit";
    pub const NEXT_CAP_ALARM = "SELECT due_ms FROM cap_alarms WHERE due_ms IS NOT NULL ORDER BY due_ms LIMIT 1";
    /// maximum alarms → offer, level, time at which it was reached, kind; oldest first
    pub const LIST_CAP_ALARMS = "SELECT offer, level, at_ms, kind FROM cap_alarms WHERE due_ms IS NOT NULL ORDER BY at_ms LIMIT ?";
    /// time of the next attempt
    pub const POSTPONE_CAP_ALARMS = "UPDATE cap_alarms SET due_ms = ? WHERE due_ms IS NOT NULL";
    /// offer, time at which the level was reached: marks the alarm as sent
    pub const END_CAP_ALARM = "UPDATE cap_alarms SET due_ms = NULL WHERE offer = ? AND at_ms = ?";
    /// cutoff day: deletes earlier rows
    pub const SWEEP_CAP_ALARMS = "DELETE FROM cap_alarms WHERE day < ?";
    pub const GET_CLICKS = "SELECT clicks FROM daily WHERE day = ? AND offer = ?";
    pub const RECORD_TAKE = "INSERT INTO takes (kind, day, offer, key, remaining) VALUES (?, ?, ?, ?, ?)";
    pub const ADD_OFFER = "INSERT INTO daily (day, offer) VALUES (?, ?) ON CONFLICT DO NOTHING";
    /// day, offer, source, conversions: keeps the higher number
    pub const SET_UNCAPPED = "INSERT INTO uncapped (day, offer, source, conversions) VALUES (?, ?, ?, ?)
        ON CONFLICT (day, offer, source) DO UPDATE SET conversions = excluded.conversions
        WHERE excluded.conversions > uncapped.conversions";
    /// → time at which the object noticed that it was restored from a copy
    pub const GET_RESTORED = "SELECT restored_ms FROM clicks";
    pub const SET_RESTORED = "UPDATE clicks SET restored_ms = ?";
    /// kind, day, offer → `restored_ms`, `heard_ms`, `asked_ms`
    pub const GET_ASKED = "SELECT restored_ms, heard_ms, asked_ms FROM clicks
        LEFT JOIN asked ON kind = ? AND day = ? AND offer = ?";
    /// kind, day, offer, `heard_ms`
    pub const HEAR = "INSERT INTO asked (kind, day, offer, heard_ms) VALUES (?, ?, ?, ?)
        ON CONFLICT (kind, day, offer) DO UPDATE SET heard_ms = excluded.heard_ms WHERE excluded.heard_ms > heard_ms";
    /// kind, day, offer, `asked_ms`
    pub const SET_ASKED = "INSERT INTO asked (kind, day, offer, heard_ms, asked_ms) VALUES (?1, ?2, ?3, ?4, ?4)
        ON CONFLICT (kind, day, offer) DO UPDATE SET heard_ms = MAX(heard_ms, excluded.heard_ms), asked_ms = excluded.asked_ms";
    /// lets the other objects be asked again
    pub const FORGET_ASKED = "UPDATE asked SET asked_ms = NULL";
    /// day, offer, `lost` or `lost clicks`, further lost takes
    pub const ADD_LOST = "INSERT INTO uncapped (day, offer, source, conversions) VALUES (?, ?, ?, ?)
        ON CONFLICT (day, offer, source) DO UPDATE SET conversions = conversions + excluded.conversions";
    pub const LEARN_LIMIT = "INSERT INTO limits (kind, offer, daily_limit, revision) VALUES (?, ?, ?, ?)
        ON CONFLICT (kind, offer) DO UPDATE SET daily_limit = excluded.daily_limit, revision = excluded.revision
        WHERE excluded.revision > limits.revision";
    pub const SET_MARK = "INSERT INTO marks (isolate, sequence, seen_day) VALUES (?, ?, ?)
        ON CONFLICT (isolate) DO UPDATE SET sequence = excluded.sequence";
    pub const SET_MARKS_DAY = "UPDATE marks SET seen_day = ?2 WHERE isolate = ?1 AND seen_day <> ?2";
    pub const LIST_MARKS = "SELECT isolate, sequence FROM marks";
    pub const APPEND = "INSERT INTO flushes (number, isolates, sums) VALUES (?, ?, ?)";
    pub const LIST_ISOLATES = "SELECT isolates FROM flushes ORDER BY number";
    /// → the last number of the log
    pub const LAST_NUMBER = "SELECT MAX(COALESCE((SELECT MAX(number) FROM flushes), 0), COALESCE((SELECT MAX(last) FROM folds), 0))";
    /// → number that new numbers must exceed
    pub const FLOOR = "SELECT MAX(seen, highest) FROM positions";
    /// number → whether the log has the number: as a row, as a late sum's, or between a publisher's numbers in a fold
    pub const HAS_NUMBER = "SELECT EXISTS (SELECT 1 FROM flushes WHERE number = ?1) OR EXISTS (
       SELECT 1 FROM folds, json_each(spans) WHERE last >= ?1
         AND iif(rows = 0, value ->> 0 = ?1, ?1 BETWEEN value ->> 1 AND value ->> 2)
     )";
    /// exclusive lower number, maximum rows → number, sums
    pub const ROWS_AFTER = "SELECT number, sums FROM flushes WHERE number > ? ORDER BY number LIMIT ?";
    /// inclusive upper number, maximum rows → number, sums, isolates
    pub const ROWS_UP_TO = "SELECT number, sums, isolates FROM flushes WHERE number <= ? ORDER BY number LIMIT ?";
    pub const FIRST_ROW = "SELECT MIN(number) FROM flushes";
    pub const DELETE_ROWS = "DELETE FROM flushes WHERE number <= ?";
    pub const ADD_FOLD = "INSERT INTO folds (last, day, rows, spans, image) VALUES (?, ?, ?, ?, ?)";
    /// exclusive lower number, maximum folds, UTC day or NULL for all → last number, day, rows, spans, image
    pub const FOLDS_AFTER = "SELECT last, day, rows, spans, image FROM folds
        WHERE last > ?1 AND day = COALESCE(?3, day) AND last <= (SELECT MAX(last) FROM
          (SELECT DISTINCT last FROM folds WHERE last > ?1 AND day = COALESCE(?3, day) ORDER BY last LIMIT ?2))
        ORDER BY last, fold";
    /// → number of the last row whose clicks the offers' figures include
    pub const GET_COUNTED = "SELECT counted FROM clicks";
    pub const SET_COUNTED = "UPDATE clicks SET counted = ?";
    /// JSON list of [day, offer] → day, offer, apps; only those that have sums
    pub const APPS_OF = "SELECT d.day, d.offer, d.apps FROM json_each(?) p CROSS JOIN daily d
        ON d.day = p.value ->> 0 AND d.offer = p.value ->> 1";
    /// JSON list of [day, offer, clicks to add, conversions to add, payout to add, new list of apps]
    pub const ADD_SUMS = "INSERT INTO daily (day, offer, clicks, conversions, payout_micro_usd, apps)
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 FROM json_each(?) WHERE TRUE
        ON CONFLICT (day, offer) DO UPDATE SET clicks = clicks + excluded.clicks, conversions = conversions + excluded.conversions,
          payout_micro_usd = payout_micro_usd + excluded.payout_micro_usd, apps = excluded.apps";
    /// → last day for which the object vouched, number of failed attempts, time of the next attempt
    pub const GET_NIGHT = "SELECT vouched, attempts, due_ms FROM clicks";
    /// last day for which the object vouched, number of failed attempts, time of the next attempt
    pub const SET_NIGHT = "UPDATE clicks SET vouched = ?, attempts = ?, due_ms = ?";
    /// → the first number of the log
    pub const FIRST_NUMBER = "SELECT MIN(number) FROM (SELECT MIN(number) AS number FROM flushes UNION ALL SELECT MIN(last) FROM folds)";
    /// source → number of the last batch applied from it
    pub const SOURCE = "SELECT number FROM sources WHERE source = ?";
    pub const SET_SOURCE = "INSERT INTO sources (source, number) VALUES (?, ?)
        ON CONFLICT (source) DO UPDATE SET number = excluded.number";
    /// first day and last day (inclusive), exclusive lower offer, maximum offers → offer, clicks, conversions, payout,
    /// JSON list of each day's apps. Negative figures become 0: they come from reversals of rewards that were paid
    /// before these days.
    pub const STATS = "SELECT offer, SUM(clicks), MAX(SUM(conversions), 0), MAX(SUM(payout_micro_usd), 0),
        '[' || GROUP_CONCAT(apps) || ']'
        FROM daily WHERE offer > ?3 AND day BETWEEN ?1 AND ?2 GROUP BY offer ORDER BY offer LIMIT ?4";
    /// kind, cutoff day, maximum rows: deletes only from the oldest day, because the key is ordered only within a day
    pub const SWEEP_TAKES = "WITH oldest (day) AS (SELECT MIN(day) FROM takes WHERE kind = ?1 AND day < ?2)
        DELETE FROM takes WHERE kind = ?1 AND day = (SELECT day FROM oldest) AND (offer, key) IN
          (SELECT offer, key FROM takes WHERE kind = ?1 AND day = (SELECT day FROM oldest) LIMIT ?3)";
    /// cutoff day, maximum rows: deletes earlier rows
    pub const SWEEP_DAILY = "DELETE FROM daily WHERE (day, offer) IN (SELECT day, offer FROM daily WHERE day < ? LIMIT ?)";
    /// cutoff number, maximum folds: deletes earlier folds
    pub const SWEEP_FOLDS = "DELETE FROM folds WHERE fold IN (SELECT fold FROM folds WHERE last < ? ORDER BY last LIMIT ?)";
    /// cutoff day, maximum rows: deletes earlier rows
    pub const SWEEP_UNCAPPED = "DELETE FROM uncapped WHERE (day, offer, source) IN
        (SELECT day, offer, source FROM uncapped WHERE day < ? LIMIT ?)";
    /// cutoff day: deletes earlier rows
    pub const SWEEP_ASKED = "DELETE FROM asked WHERE day < ?";
    /// cutoff day, maximum rows: deletes earlier rows
    pub const SWEEP_MARKS = "DELETE FROM marks WHERE isolate IN (SELECT isolate FROM marks WHERE seen_day < ? LIMIT ?)";
    /// → the day of the last complete sweep
    pub const SWEPT = "SELECT day FROM sweeps";
    pub const SET_SWEPT = "INSERT INTO sweeps (id, day) VALUES (0, ?)
        ON CONFLICT (id) DO UPDATE SET day = excluded.day";
    /// cutoff days of click takes, of conversion takes, of `daily`, of `uncapped` and of `marks`, cutoff number of
    /// `folds`
    pub const MORE_TO_SWEEP = "SELECT EXISTS (SELECT 1 FROM takes WHERE kind = 0 AND day < ?)
        OR EXISTS (SELECT 1 FROM takes WHERE kind = 1 AND day < ?)
        OR EXISTS (SELECT 1 FROM daily WHERE day < ?)
        OR EXISTS (SELECT 1 FROM uncapped WHERE day < ?)
        OR EXISTS (SELECT 1 FROM marks WHERE seen_day < ?)
        OR EXISTS (SELECT 1 FROM folds WHERE last < ?)";
    pub const ANYTHING_KEPT = "SELECT EXISTS (SELECT 1 FROM takes) OR EXISTS (SELECT 1 FROM daily)
        OR EXISTS (SELECT 1 FROM marks) OR EXISTS (SELECT 1 FROM folds)";
}
