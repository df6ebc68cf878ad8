//! The tables and statements of [batches](super), without those that fill `traffic` in bulk. Rows written are what an
//! object costs, so each table is WITHOUT ROWID and has no second index.

/// These tables are part of the counters' and the outboxes' schemas.
pub const TABLES: &[&str] = &[
    // Sums that wait for a batch. A missing country or placement is '', because a primary key allows no NULL.
    "CREATE TABLE traffic (
       destination TEXT NOT NULL, day INTEGER NOT NULL, app INTEGER NOT NULL, offer TEXT NOT NULL,
       country TEXT NOT NULL, placement TEXT NOT NULL, clicks INTEGER NOT NULL,
       conversions INTEGER NOT NULL DEFAULT 0, revenue_micro_usd INTEGER NOT NULL DEFAULT 0,
       PRIMARY KEY (destination, day, app, offer, country, placement)
     ) STRICT, WITHOUT ROWID",
    // The last batch of each destination. `sums` becomes NULL once the receiver confirms it; the row stays, so that the
    // sequence continues. `sums` is the last column, so that the others are read without its long text.
    "CREATE TABLE forwards (
       destination TEXT NOT NULL PRIMARY KEY, sequence INTEGER NOT NULL, attempts INTEGER NOT NULL,
       due_ms INTEGER NOT NULL, sums TEXT
     ) STRICT, WITHOUT ROWID",
];

platform::statements! {
    /// destination, day, app, offer, country, placement, clicks, conversions, revenue, NULL or a further destination,
    /// whose row has neither country nor placement
    pub const ADD = "INSERT INTO traffic
          (destination, day, app, offer, country, placement, clicks, conversions, revenue_micro_usd)
        SELECT column1, ?2, ?3, ?4, column2, column3, ?7, ?8, ?9 FROM (VALUES (?1, ?5, ?6), (?10, '', ''))
          WHERE column1 IS NOT NULL
        ON CONFLICT (destination, day, app, offer, country, placement) DO UPDATE SET
          clicks = clicks + excluded.clicks, conversions = conversions + excluded.conversions,
          revenue_micro_usd = revenue_micro_usd + excluded.revenue_micro_usd";
    /// destinations at most → destinations with traffic and no open batch, the longest unserved first
    pub const WAITING = "WITH RECURSIVE names (destination) AS (
          SELECT MIN(destination) FROM traffic
          UNION ALL
          SELECT (SELECT MIN(destination) FROM traffic WHERE destination > names.destination)
            FROM names WHERE destination IS NOT NULL)
        SELECT destination FROM names LEFT JOIN forwards USING (destination)
          WHERE destination IS NOT NULL AND sums IS NULL ORDER BY due_ms, destination LIMIT ?";
    /// → whether there is such a destination. It takes one seek for each destination until the first match.
    pub const IS_ANY_WAITING = "WITH RECURSIVE names (destination) AS (
          SELECT MIN(destination) FROM traffic
          UNION ALL
          SELECT (SELECT MIN(destination) FROM traffic WHERE destination > names.destination)
            FROM names WHERE destination IS NOT NULL)
        SELECT EXISTS (SELECT 1 FROM names LEFT JOIN forwards USING (destination)
          WHERE destination IS NOT NULL AND sums IS NULL)";
    /// destination, time, rows at most → rows taken; no row if a batch is open
    pub const OPEN_BATCH = "INSERT INTO forwards (destination, sequence, attempts, due_ms, sums)
        SELECT ?1, 1, 0, ?2, json_group_array(json_object('day', day, 'app', format('%08d', app), 'offer', offer,
            'country', NULLIF(country, ''), 'placement', NULLIF(placement, ''), 'clicks', clicks,
            'conversions', conversions, 'revenue_micro_usd', revenue_micro_usd))
          FROM (SELECT day, app, offer, country, placement, clicks, conversions, revenue_micro_usd
            FROM traffic WHERE destination = ?1 ORDER BY day, app, offer, country, placement LIMIT ?3)
          WHERE TRUE
        ON CONFLICT (destination) DO UPDATE SET
          sequence = sequence + 1, attempts = 0, due_ms = excluded.due_ms, sums = excluded.sums
        WHERE sums IS NULL RETURNING json_array_length(sums)";
    /// destination, rows: those that `OPEN_BATCH` took
    pub const DELETE_TRAFFIC = "DELETE FROM traffic WHERE destination = ?1 AND (day, app, offer, country, placement) IN
        (SELECT day, app, offer, country, placement FROM traffic WHERE destination = ?1
          ORDER BY day, app, offer, country, placement LIMIT ?2)";
    /// time, batches at most → destination, sequence, attempts, sums
    pub const OUTSTANDING = "SELECT destination, sequence, attempts, sums FROM forwards
        WHERE sums IS NOT NULL AND due_ms <= ? ORDER BY due_ms, destination LIMIT ?";
    pub const EARLIEST_DUE = "SELECT MIN(due_ms) FROM forwards WHERE sums IS NOT NULL";
    /// destination, sequence
    pub const CLOSE_BATCH = "UPDATE forwards SET sums = NULL
        WHERE destination = ? AND sequence = ? AND sums IS NOT NULL";
    /// destination, sequence, attempts, time
    pub const PUT_BATCH_OFF = "UPDATE forwards SET attempts = ?3, due_ms = ?4
        WHERE destination = ?1 AND sequence = ?2 AND sums IS NOT NULL";
}
