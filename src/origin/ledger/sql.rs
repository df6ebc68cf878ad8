//! The ledger's schema and every statement it runs.

use platform::migrations::Migration;

pub const MIGRATIONS: &[Migration] = &[&[&[
    // By hash, since that is how a request asks; an operator's list is short.
    "CREATE TABLE report_keys (
       hash BLOB PRIMARY KEY, key_id TEXT NOT NULL, label TEXT NOT NULL, created_ms INTEGER NOT NULL,
       accepted_ms INTEGER
     ) STRICT, WITHOUT ROWID",
    // What is known of a segment without reading it. `upload` is 0 for one that counts, else the upload it is staged for.
    "CREATE TABLE segments (
       upload INTEGER NOT NULL, day INTEGER NOT NULL, layer INTEGER NOT NULL, id INTEGER NOT NULL,
       rows INTEGER NOT NULL, ad_requests INTEGER NOT NULL, ad_responses INTEGER NOT NULL, impressions INTEGER NOT NULL,
       clicks INTEGER NOT NULL, revenue INTEGER NOT NULL, revenue_magnitude INTEGER NOT NULL,
       PRIMARY KEY (upload, day, layer, id)
     ) STRICT, WITHOUT ROWID",
    // A segment's columns under 16 × its id + the column's number, or its image under 16 × id + 15. With a rowid: only
    // there SQLite keeps large values out of the tree's inner pages.
    "CREATE TABLE columns (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
    // Days of a layer with many segments, which the alarm merges.
    "CREATE TABLE crowded (day INTEGER NOT NULL, layer INTEGER NOT NULL, PRIMARY KEY (day, layer)) STRICT, WITHOUT ROWID",
    // Idempotency keys of facts, for ever.
    "CREATE TABLE batches (
       key TEXT PRIMARY KEY, digest BLOB NOT NULL, rows INTEGER NOT NULL, applied_ms INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
    // The highest batch applied of each object that counts for this ledger.
    "CREATE TABLE marks (source TEXT PRIMARY KEY, sequence INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    // The placements that an app's day keeps apart in the `offers` layer.
    "CREATE TABLE placements (
       day INTEGER NOT NULL, app INTEGER NOT NULL, placement TEXT NOT NULL, PRIMARY KEY (day, app, placement)
     ) STRICT, WITHOUT ROWID",
    // Names of apps: as facts last brought them, and as the catalog has them.
    "CREATE TABLE apps (app TEXT PRIMARY KEY, from_facts TEXT, from_catalog TEXT) STRICT, WITHOUT ROWID",
    "CREATE TABLE staged_names (
       upload INTEGER NOT NULL, app TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (upload, app)
     ) STRICT, WITHOUT ROWID",
    // `segments`, the last id given out, and what `freshness` keeps.
    "CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID",
]]];

platform::statements! {
    // Keys.
    /// hash, id, label, time
    pub const INSERT_KEY = "INSERT INTO report_keys (hash, key_id, label, created_ms) VALUES (?, ?, ?, ?)";
    pub const COUNT_KEYS = "SELECT COUNT(*) FROM report_keys";
    pub const LIST_KEYS = "SELECT key_id, label, created_ms, accepted_ms FROM report_keys ORDER BY created_ms, key_id";
    /// id → a row if there was one
    pub const REVOKE_KEY = "DELETE FROM report_keys WHERE key_id = ? RETURNING key_id";
    /// hash → when a request with it was last accepted
    pub const GET_KEY = "SELECT accepted_ms FROM report_keys WHERE hash = ?";
    /// time, hash
    pub const ACCEPT = "UPDATE report_keys SET accepted_ms = ? WHERE hash = ?";

    // Segments.
    /// An id is never used again: what is left of a segment that was not stored whole must not be another's.
    pub const NEXT_SEGMENT = "INSERT INTO state (name, value) VALUES ('segments', 1)
        ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value";
    /// upload, day, layer, id, rows, the five sums, magnitude of revenue
    pub const INSERT_SEGMENT = "INSERT INTO segments (upload, day, layer, id, rows, ad_requests, ad_responses, impressions,
        clicks, revenue, revenue_magnitude) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    /// id, bytes
    pub const INSERT_COLUMN = "INSERT INTO columns (id, bytes) VALUES (?, ?)";
    /// first day, last day → id, day, rows
    pub const LIST_SEGMENTS = "SELECT id, day, rows FROM segments WHERE upload = 0 AND day BETWEEN ? AND ? ORDER BY day, layer, id";
    /// up to twelve places → id, bytes
    pub const GET_COLUMNS = "SELECT id, bytes FROM columns WHERE id IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    /// day, layer → id, rows
    pub const LIST_SEGMENTS_OF_DAY = "SELECT id, rows FROM segments WHERE upload = 0 AND day = ? AND layer = ? ORDER BY id";
    /// upload, day, layer, id
    pub const DELETE_SEGMENT = "DELETE FROM segments WHERE upload = ? AND day = ? AND layer = ? AND id = ?";
    /// first place, last place
    pub const DELETE_COLUMNS = "DELETE FROM columns WHERE id BETWEEN ? AND ?";
    /// upload → day, layer, id
    pub const LIST_STAGED = "SELECT day, layer, id FROM segments WHERE upload = ?";
    pub const LIST_ALL_STAGED = "SELECT DISTINCT upload FROM segments WHERE upload > 0";
    /// upload: it counts from now on
    pub const ACTIVATE = "UPDATE segments SET upload = 0 WHERE upload = ?";
    /// upload → days that it touches
    pub const LIST_STAGED_DAYS = "SELECT DISTINCT day FROM segments WHERE upload = ? ORDER BY day";
    /// layer, upload, most → a day of the upload on which a measure would pass what a day may have, and which measures do
    pub const FIND_OVERFLOW = "SELECT day, ad_requests > most, ad_responses > most, impressions > most, clicks > most, revenue > most
        FROM (
          SELECT day, CAST(?3 AS INTEGER) AS most, SUM(ad_requests) AS ad_requests, SUM(ad_responses) AS ad_responses,
              SUM(impressions) AS impressions, SUM(clicks) AS clicks, SUM(revenue_magnitude) AS revenue
            FROM segments WHERE layer = ?1 AND (upload = ?2 OR upload = 0 AND day IN (SELECT day FROM segments WHERE upload = ?2))
            GROUP BY day)
        WHERE MAX(ad_requests, ad_responses, impressions, clicks, revenue) > most ORDER BY day LIMIT 1";
    /// layer, JSON list of days, at least so many segments: marks those of the days that have as many
    pub const MARK_CROWDED = "INSERT INTO crowded (day, layer)
        SELECT day, layer FROM segments WHERE upload = 0 AND layer = ?1 AND day IN (SELECT value FROM json_each(?2))
          GROUP BY day, layer HAVING COUNT(*) >= CAST(?3 AS INTEGER)
        ON CONFLICT DO NOTHING";
    pub const NEXT_CROWDED = "SELECT day, layer FROM crowded LIMIT 1";
    /// day, layer
    pub const UNCROWD = "DELETE FROM crowded WHERE day = ? AND layer = ?";
    /// day before which, rows at most → day and per layer segments, rows and the five sums, newest day first
    pub const LIST_DAYS = "SELECT day, layer, COUNT(*), SUM(rows), SUM(ad_requests), SUM(ad_responses), SUM(impressions), SUM(clicks),
        SUM(revenue) FROM segments WHERE upload = 0 AND day IN (
          SELECT DISTINCT day FROM segments WHERE upload = 0 AND day < ? ORDER BY day DESC LIMIT ?)
        GROUP BY day, layer ORDER BY day DESC, layer";

    // Batches.
    /// key → digest, rows
    pub const GET_BATCH = "SELECT digest, rows FROM batches WHERE key = ?";
    /// key, digest, rows, time
    pub const SPEND_KEY = "INSERT INTO batches (key, digest, rows, applied_ms) VALUES (?, ?, ?, ?)";
    /// source → sequence
    pub const GET_MARK = "SELECT sequence FROM marks WHERE source = ?";
    /// source, sequence
    pub const SET_MARK = "INSERT INTO marks (source, sequence) VALUES (?, ?)
        ON CONFLICT (source) DO UPDATE SET sequence = excluded.sequence";
    /// day, app, placement, at most → whether the placement is one that the day keeps apart, or may become one
    pub const FIND_PLACEMENT = "SELECT EXISTS (SELECT 1 FROM placements WHERE day = ?1 AND app = ?2 AND placement = ?3),
        (SELECT COUNT(*) FROM placements WHERE day = ?1 AND app = ?2) < ?4";
    /// day, app, placement
    pub const ADD_PLACEMENT = "INSERT INTO placements (day, app, placement) VALUES (?, ?, ?)";
    /// first day kept
    pub const SWEEP_PLACEMENTS = "DELETE FROM placements WHERE day < ?";
    pub const FIRST_PLACEMENT = "SELECT MIN(day) FROM placements";

    // Names.
    /// upload, JSON list of [app, name]
    pub const STAGE_NAMES = "INSERT INTO staged_names (upload, app, name)
        SELECT ?1, value ->> 0, value ->> 1 FROM json_each(?2) WHERE TRUE
        ON CONFLICT (upload, app) DO UPDATE SET name = excluded.name";
    /// upload
    pub const KEEP_STAGED_NAMES = "INSERT INTO apps (app, from_facts) SELECT app, name FROM staged_names WHERE upload = ?
        ON CONFLICT (app) DO UPDATE SET from_facts = excluded.from_facts WHERE from_facts IS NOT excluded.from_facts";
    /// upload
    pub const DISCARD_NAMES = "DELETE FROM staged_names WHERE upload = ?";
    pub const DISCARD_ALL_NAMES = "DELETE FROM staged_names";
    /// JSON object of names by app
    pub const KEEP_CATALOG_NAMES = "INSERT INTO apps (app, from_catalog) SELECT key, value FROM json_each(?) WHERE TRUE
        ON CONFLICT (app) DO UPDATE SET from_catalog = excluded.from_catalog WHERE from_catalog IS NOT excluded.from_catalog";
    /// JSON list of apps → app, name
    pub const GET_NAMES = "SELECT app, COALESCE(from_facts, from_catalog) FROM apps
        WHERE app IN (SELECT value FROM json_each(?)) AND COALESCE(from_facts, from_catalog) IS NOT NULL";

    // State.
    pub const GET_STATE = "SELECT value FROM state WHERE name = ?";
    /// name, value: the greater one stays
    pub const RAISE_STATE = "INSERT INTO state (name, value) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE excluded.value > state.value";
}
