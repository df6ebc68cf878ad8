//! The tables of `attention` and their statements. Every activity object has the tables, but they are empty in
//! publishers' objects.

pub const TABLES: &[&str] = &[
    // The objects that have sent a batch, with the values of their last batch. `is_incomplete` is set while this object
    // lacks items that the source sent earlier.
    "CREATE TABLE attention_sources (
       source TEXT NOT NULL PRIMARY KEY, sequence INTEGER NOT NULL, at_ms INTEGER NOT NULL,
       owes_since_ms INTEGER, next_by_ms INTEGER, is_incomplete INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX attention_sources_behind ON attention_sources (at_ms, owes_since_ms, next_by_ms)
       WHERE owes_since_ms IS NOT NULL OR next_by_ms IS NOT NULL",
    // The number of open items of each limited kind, as the source counts them.
    "CREATE TABLE attention_counts (
       source TEXT NOT NULL, kind INTEGER NOT NULL, items INTEGER NOT NULL,
       PRIMARY KEY (source, kind)
     ) STRICT, WITHOUT ROWID",
    // The open items. `kind` is a number of `Kind`, and `payout` is a decimal number in USD. `bytes` is the size of a
    // nearly full object.
    "CREATE TABLE attention_items (
       item INTEGER PRIMARY KEY, source TEXT NOT NULL, kind INTEGER NOT NULL, subject TEXT NOT NULL,
       app INTEGER, publisher TEXT, since_ms INTEGER NOT NULL, reason TEXT NOT NULL, payout TEXT, bytes INTEGER
     ) STRICT",
    "CREATE UNIQUE INDEX attention_items_by_key ON attention_items (source, kind, subject)",
    "CREATE INDEX attention_items_by_age ON attention_items (since_ms, item)",
    // Disabled and failing endpoints, by outbox. An app has one item, which is made from all rows of the app.
    "CREATE TABLE attention_endpoints (
       app INTEGER NOT NULL, source TEXT NOT NULL, kind INTEGER NOT NULL, publisher TEXT, since_ms INTEGER NOT NULL,
       reason TEXT NOT NULL,
       PRIMARY KEY (app, source, kind)
     ) STRICT, WITHOUT ROWID",
    // The sizes of large objects.
    "CREATE TABLE attention_sizes (
       source TEXT NOT NULL PRIMARY KEY, at_ms INTEGER NOT NULL, bytes INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
];

/// The figures of isolates, and the rewards of outboxes on the last compared days.
pub const REPORTED: &[&str] = &[
    "CREATE TABLE attention_figures (
       isolate TEXT NOT NULL, figure TEXT NOT NULL, kind TEXT NOT NULL, number INTEGER NOT NULL, at_ms INTEGER NOT NULL,
       PRIMARY KEY (isolate, figure, kind)
     ) STRICT, WITHOUT ROWID",
    "CREATE TABLE attention_rewards (
       day INTEGER NOT NULL, app INTEGER NOT NULL, source TEXT NOT NULL, rewards INTEGER NOT NULL,
       after_24_h INTEGER NOT NULL, by_superseded_terms INTEGER NOT NULL,
       PRIMARY KEY (day, app, source)
     ) STRICT, WITHOUT ROWID",
];

/// The statements of the sweep, which every activity object runs.
pub const OF_SWEEP: &[&str] = &[SWEEP_LARGE, SWEEP_SIZES, SWEEP_FIGURES, SWEEP_REWARDS, HAS_TO_SWEEP];

/// True if item `j` of a batch is listed. `j.value` is a JSON list: kind, subject, since when, reason, payout, place in
/// the batch.
macro_rules! is_listed {
    () => {
        "EXISTS (SELECT 1 FROM attention_items i
            WHERE i.source = ?1 AND i.kind = j.value ->> 0 AND i.subject = j.value ->> 1)"
    };
}

platform::statements! {
    /// source → number of the last batch, whether items of the source are missing
    pub const GET_SOURCE = "SELECT sequence, is_incomplete FROM attention_sources WHERE source = ?";
    /// source, batch number, time of the batch, time of the oldest change that was not sent yet, latest time of the
    /// next batch, whether items of the source are missing
    pub const PUT_SOURCE = "INSERT INTO attention_sources (source, sequence, at_ms, owes_since_ms, next_by_ms, is_incomplete)
        VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (source) DO UPDATE SET sequence = excluded.sequence, at_ms = excluded.at_ms,
          owes_since_ms = excluded.owes_since_ms, next_by_ms = excluded.next_by_ms, is_incomplete = excluded.is_incomplete";
    pub const VOID_ITEMS = "DELETE FROM attention_items WHERE source = ? AND kind NOT IN (6, 12)";
    /// app → kind of the worst state of the app's endpoint
    pub const WORST_ENDPOINT = "SELECT MIN(kind) FROM attention_endpoints WHERE app = ?";
    /// source → number of its dead callbacks
    pub const COUNT_DEAD = "SELECT items FROM attention_counts WHERE source = ? AND kind = 3";
    pub const VOID_ENDPOINTS = "DELETE FROM attention_endpoints WHERE app = ? AND source = ?";
    /// source, JSON list of [kind, number of items]: deletes the counts of other kinds
    pub const END_COUNTS = "DELETE FROM attention_counts
        WHERE source = ?1 AND kind NOT IN (SELECT value ->> 0 FROM json_each(?2))";
    /// the same parameters: stores the counts
    pub const PUT_COUNTS = "INSERT INTO attention_counts (source, kind, items)
        SELECT ?1, value ->> 0, value ->> 1 FROM json_each(?2) WHERE TRUE
        ON CONFLICT (source, kind) DO UPDATE SET items = excluded.items WHERE items <> excluded.items";
    /// source, JSON list of [kind, subject]: deletes these items
    pub const CLOSE_ITEMS = "DELETE FROM attention_items
        WHERE source = ?1 AND (kind, subject) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?2))";
    /// source, JSON list of items: updates the items that are already listed
    pub const RENEW_ITEMS = "UPDATE attention_items SET since_ms = j.value ->> 2, reason = j.value ->> 3, payout = j.value ->> 4
        FROM json_each(?2) j WHERE attention_items.source = ?1 AND attention_items.kind = j.value ->> 0
          AND attention_items.subject = j.value ->> 1
          AND (since_ms, reason) <> (j.value ->> 2, j.value ->> 3)";
    /// source, JSON list of items, app, publisher, maximum new items: adds items that are not listed
    pub const ADD_ITEMS = concat!("INSERT INTO attention_items (source, kind, subject, since_ms, reason, payout, app, publisher)
        SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, ?3, ?4 FROM json_each(?2) j
          WHERE NOT ", is_listed!(), " ORDER BY key LIMIT ?5");
    /// source, JSON list of items → places in the batch of the items that are not listed
    pub const NOT_LISTED = concat!("SELECT j.value ->> 5 FROM json_each(?2) j WHERE NOT ", is_listed!(), " ORDER BY key");
    /// → number of listed items of limited kinds
    pub const COUNT_LIMITED = "SELECT COUNT(*) FROM attention_items WHERE kind NOT IN (4, 5, 6, 12)";

    pub const PUT_ENDPOINT = "INSERT INTO attention_endpoints (app, source, kind, publisher, since_ms, reason)
        VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (app, source, kind) DO UPDATE SET publisher = excluded.publisher, since_ms = excluded.since_ms,
          reason = excluded.reason";
    pub const END_ENDPOINT = "DELETE FROM attention_endpoints WHERE app = ? AND source = ? AND kind = ?";
    /// source of the app's item, app: ends the item unless it has the kind of the app's worst endpoint state
    pub const END_APP = "DELETE FROM attention_items WHERE source = ?1
        AND kind IS NOT (SELECT MIN(kind) FROM attention_endpoints WHERE app = ?2)";
    /// the same parameters: writes the item of the worst endpoint state, with the earliest time of this state
    pub const PUT_APP = "INSERT INTO attention_items (source, kind, subject, since_ms, reason, app, publisher)
        SELECT ?1, kind, 'callback', MIN(since_ms), reason, app, publisher FROM attention_endpoints
          WHERE app = ?2 AND kind = (SELECT MIN(kind) FROM attention_endpoints WHERE app = ?2) GROUP BY kind
        ON CONFLICT (source, kind, subject) DO UPDATE SET since_ms = excluded.since_ms, reason = excluded.reason,
          publisher = excluded.publisher";

    /// source, time, bytes → one row, unless a size of this or a later time is stored
    pub const PUT_SIZE = "INSERT INTO attention_sizes (source, at_ms, bytes) VALUES (?, ?, ?)
        ON CONFLICT (source) DO UPDATE SET at_ms = excluded.at_ms, bytes = excluded.bytes
          WHERE excluded.at_ms > at_ms RETURNING bytes";
    pub const PUT_LARGE = "INSERT INTO attention_items (source, kind, subject, since_ms, reason, bytes)
        VALUES (?1, 6, ?1, ?2, 'nearly_full', ?3)
        ON CONFLICT (source, kind, subject) DO UPDATE SET bytes = excluded.bytes";
    /// source → whether it is listed as nearly full
    pub const IS_LARGE = "SELECT EXISTS (SELECT 1 FROM attention_items WHERE source = ? AND kind = 6)";
    pub const END_LARGE = "DELETE FROM attention_items WHERE source = ? AND kind = 6";
    /// source, publisher or NULL, time, JSON list of doubts → new items
    pub const PUT_RESTORED = "INSERT INTO attention_items (source, kind, subject, publisher, since_ms, reason)
        SELECT ?1, 12, value ->> 'subject', ?2, ?3, value ->> 'reason' FROM json_each(?4) WHERE TRUE
        ON CONFLICT (source, kind, subject) DO NOTHING RETURNING item";
    /// time when the item opened, item → the item, if a person may end it
    pub const END_RESTORED = "DELETE FROM attention_items WHERE since_ms = ? AND item = ? AND kind = 12 RETURNING item";
    /// cutoff time, exclusive
    pub const SWEEP_LARGE = "DELETE FROM attention_items WHERE kind = 6
        AND source IN (SELECT source FROM attention_sizes WHERE at_ms < ?)";
    /// cutoff time, exclusive
    pub const SWEEP_SIZES = "DELETE FROM attention_sizes WHERE at_ms < ?";
    /// cutoff time: deletes the figures of isolates without a newer figure. Other isolates keep their old figures,
    /// which would otherwise return with a new time
    pub const SWEEP_FIGURES = "DELETE FROM attention_figures
        WHERE isolate NOT IN (SELECT isolate FROM attention_figures WHERE at_ms >= ?)";
    /// cutoff UTC day, exclusive
    pub const SWEEP_REWARDS = "DELETE FROM attention_rewards WHERE day < ?";
    pub const HAS_TO_SWEEP = "SELECT EXISTS (SELECT 1 FROM attention_sizes) OR EXISTS (SELECT 1 FROM attention_figures)
        OR EXISTS (SELECT 1 FROM attention_rewards)";

    /// maximum rows, cutoff time: if the table is full, deletes the expired figures, or else the oldest ones
    pub const MAKE_ROOM = "DELETE FROM attention_figures WHERE (SELECT COUNT(*) FROM attention_figures) >= ?1 AND at_ms < MAX(?2,
        (SELECT MIN(at_ms) + 1 FROM attention_figures))";
    /// isolate, time of the metrics, JSON list of [figure, kind, number]
    pub const PUT_FIGURES = "INSERT INTO attention_figures (isolate, figure, kind, number, at_ms)
        SELECT ?1, value ->> 0, value ->> 1, value ->> 2, ?2 FROM json_each(?3) WHERE TRUE
        ON CONFLICT (isolate, figure, kind) DO UPDATE SET number = excluded.number, at_ms = excluded.at_ms
          WHERE excluded.number > number";
    /// earliest time, two figures that are combined by maximum instead of sum → figure, kind, number, number of
    /// isolates, time of the newest figure
    pub const FIGURES = "SELECT figure, kind, IIF(figure IN (?2, ?3), MAX(number), SUM(number)), COUNT(*), MAX(at_ms)
        FROM attention_figures WHERE at_ms >= ?1 GROUP BY figure, kind ORDER BY figure, kind";
    pub const PUT_REWARDS = "INSERT INTO attention_rewards (day, app, source, rewards, after_24_h, by_superseded_terms)
        VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (day, app, source) DO NOTHING";
    pub const ALL_REWARDS = "SELECT COALESCE(SUM(rewards), 0), COALESCE(SUM(after_24_h), 0), COALESCE(SUM(by_superseded_terms), 0)
        FROM attention_rewards WHERE day = ?";
    /// UTC day, maximum apps → app, rewards, rewards after 24 hours, rewards by superseded terms; apps with the most
    /// rewards of the last two kinds come first
    pub const REWARDS_OF_APPS = "SELECT app, SUM(rewards), SUM(after_24_h) AS late, SUM(by_superseded_terms) AS old
        FROM attention_rewards WHERE day = ?1 GROUP BY app HAVING late + old > 0 ORDER BY late + old DESC, app LIMIT ?2";

    /// time and number of the last item on the previous page, kind or NULL, app or NULL, maximum items → item, kind,
    /// app, publisher, subject, since when, reason, payout, bytes
    pub const LIST = "SELECT item, kind, app, publisher, IIF(kind IN (7, 8, 9), source || ': ' || subject, subject), since_ms, reason,
          payout, bytes
        FROM attention_items WHERE (since_ms, item) > (?1, ?2) AND (?3 IS NULL OR kind = ?3) AND (?4 IS NULL OR app = ?4)
        ORDER BY since_ms, item LIMIT ?5";
    /// → kind, number of listed items, number of open items that the sources count or NULL
    pub const COUNT = "SELECT kind, SUM(listed), SUM(items) FROM (
          SELECT kind, COUNT(*) AS listed, NULL AS items FROM attention_items GROUP BY kind
          UNION ALL SELECT kind, 0, SUM(items) FROM attention_counts GROUP BY kind)
        GROUP BY kind";
    /// current time → time since which changes may be missing
    pub const MISSING_SINCE = "SELECT MIN(COALESCE(owes_since_ms, IIF(next_by_ms < ?, at_ms, NULL))) FROM attention_sources
        WHERE owes_since_ms IS NOT NULL OR next_by_ms IS NOT NULL";
}
