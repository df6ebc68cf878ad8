//! The ledger's schema and statements.

use super::day_changes::sql::TABLES as DAY_CHANGES;
use crate::delivery::{attention_feed, register};
use platform::migrations::Migration;

pub const MIGRATIONS: &[Migration] = &[&[TABLES, attention_feed::sql::TABLES, register::TABLES, DAY_CHANGES]];

const TABLES: &[&str] = &[
    // Requests look keys up by the hash, so it is the primary key. The operator's list is short and needs no index.
    "CREATE TABLE report_keys (
       hash BLOB PRIMARY KEY, key_id TEXT NOT NULL, label TEXT NOT NULL, created_ms INTEGER NOT NULL,
       creator TEXT, creator_name TEXT, accepted_ms INTEGER, scope TEXT NOT NULL DEFAULT 'ia-reporting.READ'
     ) STRICT, WITHOUT ROWID",
    // When facts of a day were last loaded, and which member of the operator loaded them; NULL for the operator's
    // token. `state` is a number of `DayState`.
    "CREATE TABLE loads (
       day INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, member TEXT, state INTEGER NOT NULL DEFAULT 0
     ) STRICT",
    "CREATE INDEX loads_not_final ON loads (day) WHERE state <> 1",
    // The metadata of segments. `upload` is 0 for an active segment; otherwise it is the upload that has staged the
    // segment.
    "CREATE TABLE segments (
       upload INTEGER NOT NULL, day INTEGER NOT NULL, layer INTEGER NOT NULL, id INTEGER NOT NULL,
       rows INTEGER NOT NULL, ad_requests INTEGER NOT NULL, ad_responses INTEGER NOT NULL, impressions INTEGER NOT NULL,
       clicks INTEGER NOT NULL, revenue INTEGER NOT NULL, revenue_magnitude INTEGER NOT NULL,
       PRIMARY KEY (upload, day, layer, id)
     ) STRICT, WITHOUT ROWID",
    // The columns of segments. A column's id is 16 × the segment's id + the column's number; the id of a segment's
    // image is 16 × the segment's id + 15. The table has rowids, because only then SQLite keeps large values out of the
    // tree's inner pages.
    "CREATE TABLE columns (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
    // Days on which a layer has many segments. The alarm merges them.
    "CREATE TABLE crowded (day INTEGER NOT NULL, layer INTEGER NOT NULL, PRIMARY KEY (day, layer)) STRICT, WITHOUT ROWID",
    // Idempotency keys of increments. They are never deleted.
    "CREATE TABLE batches (
       key TEXT PRIMARY KEY, digest BLOB NOT NULL, rows INTEGER NOT NULL, applied_ms INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
    // The number of the last batch applied from each counters object and outbox, and the last day for which this source
    // vouched.
    "CREATE TABLE marks (
       source TEXT PRIMARY KEY, number INTEGER NOT NULL, vouched INTEGER NOT NULL DEFAULT 0
     ) STRICT, WITHOUT ROWID",
    // The applied sums of each source and day, and the number of the last batch with sums of the day. `differs` is 1 if
    // the source has vouched for other sums. It is 2 if the source must still vouch for the day, because it skipped the
    // day or sent more clicks of the day after it had vouched.
    "CREATE TABLE totals (
       source TEXT NOT NULL, day INTEGER NOT NULL, clicks INTEGER NOT NULL, revenue_micro_usd INTEGER NOT NULL,
       number INTEGER NOT NULL DEFAULT 0, differs INTEGER NOT NULL DEFAULT 0,
       PRIMARY KEY (source, day)
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX totals_that_differ ON totals (day) WHERE differs > 0",
    // The placements of an app that the `offers` layer reports separately on a day.
    "CREATE TABLE placements (
       day INTEGER NOT NULL, app INTEGER NOT NULL, placement TEXT NOT NULL, PRIMARY KEY (day, app, placement)
     ) STRICT, WITHOUT ROWID",
    // Names of apps: from the latest facts, and from the catalog.
    "CREATE TABLE apps (app TEXT PRIMARY KEY, from_facts TEXT, from_catalog TEXT) STRICT, WITHOUT ROWID",
    "CREATE TABLE staged_names (
       upload INTEGER NOT NULL, app TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (upload, app)
     ) STRICT, WITHOUT ROWID",
    // Exports that were not read yet, with the hash of the session that may read each. The table has rowids, because
    // SQLite is slow with rows as large as a query, 256 KiB, in a table without.
    "CREATE TABLE exports (
       export_id TEXT PRIMARY KEY, session BLOB NOT NULL, expires_ms INTEGER NOT NULL, query TEXT NOT NULL,
       format TEXT NOT NULL, rows INTEGER NOT NULL
     ) STRICT",
    // `segments` is the last segment id. `suspended` belongs to `keys`, `final_days_due_ms` to `final_days`,
    // `final_through` and `day_changes_…` to `day_changes`, and `alarms_…` to `alarms`. The other rows belong to
    // `freshness`.
    "CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    // The ledger's publisher: one row after the first load. An object that was started by its alarm may not know its
    // name.
    "CREATE TABLE publisher (only INTEGER PRIMARY KEY CHECK (only = 1), id TEXT NOT NULL) STRICT",
];

platform::statements! {
    // Keys.
    /// hash, id, label, time of creation, creator's member id, creator's name, scope; the creator is NULL for the
    /// operator
    pub const INSERT_KEY = "INSERT OR IGNORE INTO report_keys (hash, key_id, label, created_ms, creator, creator_name, scope)
        VALUES (?, ?, ?, ?, ?, ?, ?)";
    pub const COUNT_KEYS = "SELECT COUNT(*) FROM report_keys";
    pub const LIST_KEYS = "SELECT key_id, label, created_ms, accepted_ms, creator, creator_name, scope FROM report_keys
        ORDER BY created_ms, key_id";
    pub const FIND_KEY = "SELECT key_id, label FROM report_keys WHERE hash = ?";
    /// id → a row if the key existed
    pub const REVOKE_KEY = "DELETE FROM report_keys WHERE key_id = ? RETURNING key_id";
    /// hash → time of the last accepted request, scope, id, label; no row while the publisher is suspended
    pub const GET_KEY = "SELECT accepted_ms, scope, key_id, label FROM report_keys WHERE hash = ?
        AND NOT EXISTS (SELECT 1 FROM state WHERE name = 'suspended' AND value > 0)";
    /// → revision that last suspended or admitted the publisher; negative if it admitted
    pub const GET_SUSPENSION = "SELECT value FROM state WHERE name = 'suspended'";
    /// revision; negative if it admits the publisher
    pub const SET_SUSPENSION = "INSERT INTO state (name, value) VALUES ('suspended', ?)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    pub const ACCEPT = "UPDATE report_keys SET accepted_ms = ? WHERE hash = ?";

    // Segments.
    /// Ids are never reused: leftovers of a partly stored segment must not become part of another segment.
    pub const NEXT_SEGMENT = "INSERT INTO state (name, value) VALUES ('segments', 1)
        ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value";
    pub const INSERT_SEGMENT = "INSERT INTO segments (upload, day, layer, id, rows, ad_requests, ad_responses, impressions,
        clicks, revenue, revenue_magnitude) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    pub const INSERT_COLUMN = "INSERT INTO columns (id, bytes) VALUES (?, ?)";
    /// first day and last day (inclusive), layer or NULL for both → id, day, rows
    pub const LIST_SEGMENTS = "SELECT id, day, rows FROM segments
        WHERE upload = 0 AND day BETWEEN ?1 AND ?2 AND layer = COALESCE(?3, layer) ORDER BY day, layer, id";
    /// up to twelve column ids → id, bytes
    pub const GET_COLUMNS = "SELECT id, bytes FROM columns WHERE id IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    pub const LIST_SEGMENTS_OF_DAY = "SELECT id, rows FROM segments WHERE upload = 0 AND day = ? AND layer = ? ORDER BY id";
    pub const DELETE_SEGMENT = "DELETE FROM segments WHERE upload = ? AND day = ? AND layer = ? AND id = ?";
    pub const DELETE_COLUMNS = "DELETE FROM columns WHERE id BETWEEN ? AND ?";
    pub const LIST_STAGED = "SELECT day, layer, id FROM segments WHERE upload = ?";
    pub const LIST_ALL_STAGED = "SELECT DISTINCT upload FROM segments WHERE upload > 0";
    /// upload: makes its segments active
    pub const ACTIVATE = "UPDATE segments SET upload = 0 WHERE upload = ?";
    pub const LIST_STAGED_DAYS = "SELECT DISTINCT day FROM segments WHERE upload = ? ORDER BY day";
    /// layer, upload, limit → first day of the upload on which a measure would exceed the limit; for each measure,
    /// whether it would exceed the limit
    pub const FIND_OVERFLOW = "SELECT day, ad_requests > most, ad_responses > most, impressions > most, clicks > most, revenue > most
        FROM (
          SELECT day, CAST(?3 AS INTEGER) AS most, SUM(ad_requests) AS ad_requests, SUM(ad_responses) AS ad_responses,
              SUM(impressions) AS impressions, SUM(clicks) AS clicks, SUM(revenue_magnitude) AS revenue
            FROM segments WHERE layer = ?1 AND (upload = ?2 OR upload = 0 AND day IN (SELECT day FROM segments WHERE upload = ?2))
            GROUP BY day)
        WHERE MAX(ad_requests, ad_responses, impressions, clicks, revenue) > most ORDER BY day LIMIT 1";
    /// layer, JSON list of days, minimum segments: marks the days that have at least the minimum
    pub const MARK_CROWDED = "INSERT INTO crowded (day, layer)
        SELECT day, layer FROM segments WHERE upload = 0 AND layer = ?1 AND day IN (SELECT value FROM json_each(?2))
          GROUP BY day, layer HAVING COUNT(*) >= CAST(?3 AS INTEGER)
        ON CONFLICT DO NOTHING";
    pub const NEXT_CROWDED = "SELECT day, layer FROM crowded LIMIT 1";
    pub const UNCROWD = "DELETE FROM crowded WHERE day = ? AND layer = ?";
    pub const NOTE_LOAD = "INSERT INTO loads (day, at_ms, member) VALUES (?, ?, ?)
        ON CONFLICT (day) DO UPDATE SET at_ms = excluded.at_ms, member = excluded.member";
    pub const DELETE_LOAD = "DELETE FROM loads WHERE day = ?";
    /// → first day with facts or a load
    pub const FIRST_FACTS_DAY = "SELECT MIN(day) FROM (SELECT MIN(day) AS day FROM segments WHERE upload = 0 UNION ALL SELECT MIN(day) FROM loads)";
    /// exclusive upper day, maximum days → day, time of the load, member's name, state; only days with facts or a load,
    /// newest first
    pub const LIST_DAYS = "SELECT d.day, l.at_ms, l.member, l.state FROM (
          SELECT day FROM segments WHERE upload = 0 AND day < ?1 UNION SELECT day FROM loads WHERE day < ?1
          ORDER BY day DESC LIMIT ?2) d
        LEFT JOIN loads l ON l.day = d.day ORDER BY d.day DESC";
    pub const SUM_LAYERS = "SELECT day, layer, COUNT(*), SUM(rows), SUM(ad_requests), SUM(ad_responses), SUM(impressions), SUM(clicks),
        SUM(revenue) FROM segments WHERE upload = 0 AND day BETWEEN ? AND ? GROUP BY day, layer";

    // Batches.
    pub const GET_BATCH = "SELECT digest, rows FROM batches WHERE key = ?";
    pub const SPEND_KEY = "INSERT INTO batches (key, digest, rows, applied_ms) VALUES (?, ?, ?, ?)";
    pub const GET_MARK = "SELECT number FROM marks WHERE source = ?";
    pub const SET_MARK = "INSERT INTO marks (source, number) VALUES (?, ?)
        ON CONFLICT (source) DO UPDATE SET number = excluded.number";
    pub const ADD_TOTAL = "INSERT INTO totals (source, day, clicks, revenue_micro_usd, number) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (source, day) DO UPDATE SET clicks = clicks + excluded.clicks,
          revenue_micro_usd = revenue_micro_usd + excluded.revenue_micro_usd, number = MAX(number, excluded.number)";
    /// source, day, clicks, revenue, number: replaces the day's total, which then does not differ
    pub const SET_TOTAL = "INSERT INTO totals (source, day, clicks, revenue_micro_usd, number) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (source, day) DO UPDATE SET clicks = excluded.clicks,
          revenue_micro_usd = excluded.revenue_micro_usd, number = excluded.number, differs = 0";
    /// day, number → source, mark, number of its last batch with sums of the day or 0; only sources that have sums of
    /// the day or whose mark is at least the number
    pub const LIST_SOURCES = "SELECT m.source, m.number, COALESCE(t.number, 0) FROM marks m
        LEFT JOIN totals t ON t.source = m.source AND t.day = ?1 WHERE m.number >= ?2 OR t.source IS NOT NULL";
    pub const GET_TOTAL = "SELECT clicks, revenue_micro_usd FROM totals WHERE source = ? AND day = ?";
    /// source, day → whether the source has vouched for other sums or must still vouch for the day
    pub const HAS_DIFFERED = "SELECT EXISTS (SELECT 1 FROM totals WHERE source = ? AND day = ? AND differs > 0)";
    pub const SET_DIFFERS = "UPDATE totals SET differs = ?1 WHERE source = ?2 AND day = ?3 AND differs <> ?1";
    /// source, day for which it vouches: marks as skipped the earlier days for which it has not vouched
    pub const PASS_OVER = "UPDATE totals SET differs = 2 WHERE source = ?1 AND day < ?2
          AND day > COALESCE((SELECT vouched FROM marks WHERE source = ?1), 0)";
    /// source, day with more clicks: if the source has vouched for the day, it must vouch again
    pub const VOUCH_AGAIN = "UPDATE totals SET differs = 2 WHERE source = ?1 AND day = ?2
          AND day <= (SELECT vouched FROM marks WHERE source = ?1)";
    /// source, first day that the source may still have → the first day for which it must vouch
    pub const FIRST_TO_VOUCH = "SELECT MIN(day) FROM totals WHERE source = ? AND day >= ? AND differs = 2";
    pub const SET_VOUCHED = "INSERT INTO marks (source, number, vouched) VALUES (?, 0, ?)
        ON CONFLICT (source) DO UPDATE SET vouched = MAX(vouched, excluded.vouched)";
    /// day, app, placement, limit → whether the day reports the placement separately, whether it may add a placement
    pub const FIND_PLACEMENT = "SELECT EXISTS (SELECT 1 FROM placements WHERE day = ?1 AND app = ?2 AND placement = ?3),
        (SELECT COUNT(*) FROM placements WHERE day = ?1 AND app = ?2) < ?4";
    pub const ADD_PLACEMENT = "INSERT INTO placements (day, app, placement) VALUES (?, ?, ?)";
    /// cutoff day: deletes earlier rows
    pub const SWEEP_PLACEMENTS = "DELETE FROM placements WHERE day < ?";
    pub const FIRST_PLACEMENT = "SELECT MIN(day) FROM placements";

    // Final days.
    /// → day, state, time of the load; only loaded days that are open or unconfirmed
    pub const LIST_OPEN_DAYS = "SELECT day, state, at_ms FROM loads WHERE state <> 1 ORDER BY day";
    /// UTC day → whether a loaded day up to this day is open or unconfirmed
    pub const HAS_OPEN_DAY = "SELECT EXISTS (SELECT 1 FROM loads WHERE state <> 1 AND day <= ?)";
    /// day, first day (inclusive) → a row if a source with sums since the first day has not confirmed the day: whether
    /// its sums differ
    pub const FIND_UNCONFIRMED = "SELECT t.day = ?1 AND t.differs FROM marks m
        JOIN totals t ON t.source = m.source AND t.day BETWEEN ?2 AND ?1
        WHERE m.vouched < ?1 OR t.day = ?1 AND t.differs > 0 ORDER BY 1 DESC LIMIT 1";
    /// UTC day → a row if the day was final
    pub const REOPEN_DAY = "UPDATE loads SET state = 0 WHERE day = ? AND state = 1 RETURNING day";
    pub const SET_DAY_STATE = "UPDATE loads SET state = ? WHERE day = ?";

    // Names.
    /// upload, JSON list of [app, name]
    pub const STAGE_NAMES = "INSERT INTO staged_names (upload, app, name)
        SELECT ?1, value ->> 0, value ->> 1 FROM json_each(?2) WHERE TRUE
        ON CONFLICT (upload, app) DO UPDATE SET name = excluded.name";
    pub const KEEP_STAGED_NAMES = "INSERT INTO apps (app, from_facts) SELECT app, name FROM staged_names WHERE upload = ?
        ON CONFLICT (app) DO UPDATE SET from_facts = excluded.from_facts WHERE from_facts IS NOT excluded.from_facts";
    pub const DISCARD_NAMES = "DELETE FROM staged_names WHERE upload = ?";
    pub const DISCARD_ALL_NAMES = "DELETE FROM staged_names";
    /// JSON object of names by app
    pub const STORE_CATALOG_NAMES = "INSERT INTO apps (app, from_catalog) SELECT key, value FROM json_each(?) WHERE TRUE
        ON CONFLICT (app) DO UPDATE SET from_catalog = excluded.from_catalog WHERE from_catalog IS NOT excluded.from_catalog";
    /// JSON list of apps → app, name
    pub const GET_NAMES = "SELECT app, COALESCE(from_facts, from_catalog) FROM apps
        WHERE app IN (SELECT value FROM json_each(?)) AND COALESCE(from_facts, from_catalog) IS NOT NULL";
    pub const LIST_NAMES = "SELECT app, COALESCE(from_facts, from_catalog) FROM apps
        WHERE COALESCE(from_facts, from_catalog) IS NOT NULL";

    // Exports.
    /// current time: deletes expired exports
    pub const SWEEP_EXPORTS = "DELETE FROM exports WHERE expires_ms <= ?";
    /// number of exports to keep: deletes all but the newest
    pub const KEEP_EXPORTS = "DELETE FROM exports WHERE rowid NOT IN (SELECT rowid FROM exports ORDER BY rowid DESC LIMIT ?)";
    pub const INSERT_EXPORT = "INSERT INTO exports (export_id, session, expires_ms, query, format, rows) VALUES (?, ?, ?, ?, ?, ?)";
    pub const SPEND_EXPORT = "DELETE FROM exports WHERE export_id = ? AND session = ? AND expires_ms > ?
        RETURNING query, format, rows";

    // State.
    pub const SET_PUBLISHER = "INSERT INTO publisher (only, id) VALUES (1, ?) ON CONFLICT DO NOTHING";
    pub const GET_PUBLISHER = "SELECT id FROM publisher";
    pub const GET_STATE = "SELECT value FROM state WHERE name = ?";
    /// names of the states of the last announced change, of the last announced late day and of the retry's time, today
    /// → announced change or 0, retry's time or 0, newest change of a final day or 0, last loaded day before today,
    /// first unannounced day that was not loaded after its end; that day is not before the first load, and is today or
    /// one of the three previous days
    pub const ALARMS = "SELECT COALESCE((SELECT value FROM state WHERE name = ?1), 0),
          COALESCE((SELECT value FROM state WHERE name = ?3), 0), COALESCE((SELECT MAX(number) FROM day_changes), 0),
          (SELECT MAX(day) FROM loads WHERE day < ?4),
          (SELECT MIN(day) FROM (SELECT CAST(?4 AS INTEGER) - value AS day FROM json_each('[0,1,2,3]'))
            WHERE day >= (SELECT MIN(day) FROM loads) AND day > COALESCE((SELECT value FROM state WHERE name = ?2), 0)
              AND day NOT IN (SELECT day FROM loads WHERE at_ms >= (day + 1) * 86400000))
        FROM publisher";
    /// current time → new version of the facts, which rises even after a restore
    pub const COUNT_CHANGE = "INSERT INTO state (name, value) VALUES ('facts', ?)
        ON CONFLICT (name) DO UPDATE SET value = MAX(value + 1, excluded.value) RETURNING value";
    /// name, value: sets the value unless the state has one
    pub const FIRST_STATE = "INSERT INTO state (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING";
    /// name, value: keeps the lower value
    pub const LOWER_STATE = "INSERT INTO state (name, value) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE excluded.value < state.value";
    pub const DELETE_STATE = "DELETE FROM state WHERE name = ?";
    /// name, value: keeps the higher value
    pub const RAISE_STATE = "INSERT INTO state (name, value) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE excluded.value > state.value";
}
