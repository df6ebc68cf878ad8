//! The catalog's tables. Documents are stored as the operator wrote them. The few columns of an offer that snapshots
//! need are in a table of their own, so that building a snapshot reads little and parses no JSON.
//!
//! Tables are STRICT: a Durable Object binds every integer as a JavaScript number, and only a STRICT column converts it
//! back. Tables with small rows are WITHOUT ROWID: a write then counts as one row written instead of two.

use crate::delivery::register;
use platform::migrations::Migration;

/// The schema's versions, in order. A released version never changes.
pub const MIGRATIONS: &[Migration] = &[&[TABLES, register::TABLES]];

const TABLES: &[&str] = &[
    // Marks: those of `revisions`, and for each kind of slots the number of bits of a slot's number.
    //
    // The `hash` of an app, advertiser or goal decides its slot in the tracking snapshot.
    "CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE publishers (
        id TEXT PRIMARY KEY,
        document TEXT NOT NULL,
        approved INTEGER NOT NULL,
        pub_key_hash BLOB,
        pub_key_sealed BLOB
     ) STRICT, WITHOUT ROWID",
    "CREATE TABLE pub_key_requests (
        publisher_id TEXT PRIMARY KEY,
        requested_at_ms INTEGER NOT NULL,
        requested_by TEXT NOT NULL,
        reason TEXT NOT NULL
     ) STRICT, WITHOUT ROWID",
    // `callback_sealed` is the encrypted callback with its secrets, which the document masks. `callback_revision` is
    // the last revision that stored or removed the callback, or suspended or readmitted the publisher. The terms of
    // `terms_revision` apply to new clicks and to clicks before the UNIX second `terms_since`.
    "CREATE TABLE apps (
        id TEXT PRIMARY KEY,
        publisher_id TEXT NOT NULL,
        document TEXT NOT NULL,
        callback_sealed BLOB,
        callback_revision INTEGER NOT NULL,
        revision INTEGER NOT NULL,
        terms_revision INTEGER NOT NULL,
        terms_since INTEGER NOT NULL,
        outbox_shards INTEGER NOT NULL,
        click_secrets_sealed BLOB,
        hash INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX apps_by_hash ON apps (hash)",
    "CREATE INDEX apps_of_publisher ON apps (publisher_id)",
    // `newest_serial` is the serial of the newest token ever issued; 0 for none.
    "CREATE TABLE advertisers (
        id TEXT PRIMARY KEY,
        document TEXT NOT NULL,
        newest_serial INTEGER NOT NULL DEFAULT 0,
        hash INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX advertisers_by_hash ON advertisers (hash)",
    // The valid tokens: the newest two that are not revoked.
    "CREATE TABLE advertiser_tokens (
        advertiser_id TEXT NOT NULL,
        serial INTEGER NOT NULL,
        issued_at_ms INTEGER NOT NULL,
        PRIMARY KEY (advertiser_id, serial)
     ) STRICT, WITHOUT ROWID",
    "CREATE TABLE offers (
        id TEXT PRIMARY KEY,
        advertiser_id TEXT NOT NULL,
        off_type INTEGER NOT NULL,
        os INTEGER NOT NULL,
        countries BLOB NOT NULL,
        includes_countries INTEGER NOT NULL,
        active INTEGER NOT NULL,
        starts_at INTEGER,
        ends_at INTEGER,
        click_cap INTEGER,
        conversion_cap INTEGER,
        min_seconds_to_convert INTEGER,
        ever_capped INTEGER NOT NULL,
        click_id_max INTEGER,
        target TEXT NOT NULL,
        body_hash BLOB NOT NULL,
        body_length INTEGER NOT NULL,
        revision INTEGER NOT NULL,
        terms_revision INTEGER NOT NULL,
        terms_since INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX offers_of_advertiser ON offers (advertiser_id)",
    "CREATE INDEX capped_offers ON offers (revision) WHERE ever_capped",
    "CREATE TABLE offer_documents (
        id TEXT PRIMARY KEY,
        document TEXT NOT NULL,
        updated_at_s INTEGER NOT NULL
     ) STRICT",
    // The rendered body for the listing; `format` is the version of the renderer. It has its own table, because a row
    // has at most 2 MB.
    "CREATE TABLE offer_bodies (id TEXT PRIMARY KEY, body BLOB NOT NULL, format INTEGER NOT NULL) STRICT",
    // The owners of goals. A goal that a PUT leaves out is retired, not deleted, so that no other offer can take its
    // id.
    "CREATE TABLE goals (
        id TEXT PRIMARY KEY,
        offer_id TEXT NOT NULL,
        retired_at_ms INTEGER,
        hash INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX goals_by_hash ON goals (hash)",
    "CREATE INDEX goals_of_offer ON goals (offer_id)",
    // The revisions of the terms of offers and apps, as JSON. `kind` is `offer` or `app`.
    "CREATE TABLE terms (
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        revision INTEGER NOT NULL,
        terms TEXT NOT NULL,
        superseded_at_ms INTEGER,
        PRIMARY KEY (kind, id, revision)
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX superseded_terms ON terms (superseded_at_ms) WHERE superseded_at_ms IS NOT NULL",
    // The last figures from each counters object, so that the listing can be rebuilt while a counters object does not
    // answer. `apps` is `OfferStats::apps` as JSON.
    "CREATE TABLE offer_stats (
        offer_id TEXT NOT NULL,
        object TEXT NOT NULL,
        day INTEGER NOT NULL,
        clicks INTEGER NOT NULL,
        conversions INTEGER NOT NULL,
        payout_micro_usd INTEGER NOT NULL,
        clicks_taken INTEGER NOT NULL,
        conversions_taken INTEGER NOT NULL,
        apps TEXT NOT NULL DEFAULT '[]',
        PRIMARY KEY (offer_id, object)
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX offer_stats_by_day ON offer_stats (object, day)",
    // The newest listing and the newest manifest of the tracking snapshot, in parts that fit a SQLite value. A cold
    // isolate reads them if KV lacks them.
    "CREATE TABLE snapshot_parts (
        kind TEXT NOT NULL,
        part INTEGER NOT NULL,
        version INTEGER NOT NULL,
        bytes BLOB NOT NULL,
        PRIMARY KEY (kind, part)
     ) STRICT",
    // Every listing in KV, until an hour after it left the pointer.
    "CREATE TABLE published (version INTEGER PRIMARY KEY, superseded_at_ms INTEGER) STRICT",
    // The slots of the tracking snapshot. `checksum` belongs to the slot's newest shard in KV; NULL before the first
    // shard. `change` is the revision of the last change that this shard lacks, 0 if the shard must be rebuilt for
    // another reason, and NULL if the shard is current.
    "CREATE TABLE tracking_slots (
        kind INTEGER NOT NULL,
        number INTEGER NOT NULL,
        checksum BLOB,
        change INTEGER,
        PRIMARY KEY (kind, number)
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX changed_slots ON tracking_slots (kind, number) WHERE change IS NOT NULL",
    "INSERT INTO tracking_slots (kind, number, change) VALUES (0, 0, 0), (1, 0, 0), (2, 0, 0)",
    // The shards in KV. Each is recorded here before it is written. `superseded_at_ms` is NULL while the stored
    // manifest names the shard. Otherwise it is when that manifest was replaced or, before any manifest names the
    // shard, when the shard was recorded.
    "CREATE TABLE tracking_shards (
        key TEXT PRIMARY KEY,
        written_at_ms INTEGER,
        superseded_at_ms INTEGER
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX superseded_shards ON tracking_shards (superseded_at_ms) WHERE superseded_at_ms IS NOT NULL",
    // Content-addressed chunks of offer bodies. `written_ms` is NULL if KV lacks the chunk, and `unlisted_version` is the
    // first listing that no longer uses it. The bytes have their own table, because SQLite rewrites a whole row on update.
    "CREATE TABLE chunks (
        key TEXT PRIMARY KEY,
        written_ms INTEGER,
        unlisted_version INTEGER
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX chunks_to_write ON chunks (key) WHERE written_ms IS NULL AND unlisted_version IS NULL",
    "CREATE INDEX unlisted_chunks ON chunks (unlisted_version) WHERE unlisted_version IS NOT NULL",
    "CREATE TABLE chunk_bytes (key TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
    // The staged lines of imports, until they are applied. An app's document is sealed.
    "CREATE TABLE import_lines (
        import INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        line INTEGER NOT NULL,
        id TEXT NOT NULL,
        document BLOB NOT NULL,
        PRIMARY KEY (import, kind, line)
     ) STRICT",
    "CREATE UNIQUE INDEX import_ids ON import_lines (import, kind, id)",
    // The goals of staged offers. Each goal has the first staged offer that contains it.
    "CREATE TABLE import_goals (
        import INTEGER NOT NULL,
        id TEXT NOT NULL,
        offer_id TEXT NOT NULL,
        PRIMARY KEY (import, id)
     ) STRICT, WITHOUT ROWID",
    // The outboxes that have asked for terms. At `due_at_ms` the alarm pushes callback settings that the outbox lacks.
    "CREATE TABLE outboxes (
        app_id TEXT NOT NULL,
        shard INTEGER NOT NULL,
        due_at_ms INTEGER,
        PRIMARY KEY (app_id, shard)
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX outboxes_due ON outboxes (due_at_ms) WHERE due_at_ms IS NOT NULL",
    // The publishers that were ever suspended or closed. `revision` is the last change that suspended or admitted the
    // publisher. At `due_at_ms` the alarm tells the account whether it is suspended; NULL once it has answered.
    "CREATE TABLE suspensions (
        publisher_id TEXT PRIMARY KEY,
        revision INTEGER NOT NULL,
        due_at_ms INTEGER
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX due_suspensions ON suspensions (due_at_ms) WHERE due_at_ms IS NOT NULL",
    // The idempotency keys of members' requests that set up an app, kept for two days. A retry finds the app instead of
    // setting up a second one.
    "CREATE TABLE own_app_keys (
        publisher_id TEXT NOT NULL,
        key TEXT NOT NULL,
        app_id TEXT NOT NULL,
        request_hash BLOB NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (publisher_id, key)
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX own_app_keys_by_time ON own_app_keys (at_ms)",
    // The outboxes that have asked for an offer's terms and so may pay for it. At `due_at_ms` the alarm pushes a
    // changed cap that the outbox lacks.
    "CREATE TABLE offer_outboxes (
        offer_id TEXT NOT NULL,
        app_id TEXT NOT NULL,
        shard INTEGER NOT NULL,
        due_at_ms INTEGER,
        PRIMARY KEY (offer_id, app_id, shard)
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX offer_outboxes_due ON offer_outboxes (due_at_ms) WHERE due_at_ms IS NOT NULL",
    // Publishers with a message that was not sent yet: attention is told of a new publisher that waits for approval,
    // and the activity object of a closed publisher is told of the closing.
    "CREATE TABLE waiting_publishers (
        publisher_id TEXT PRIMARY KEY,
        since_ms INTEGER NOT NULL,
        closed INTEGER NOT NULL,
        due_at_ms INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX due_waiting_publishers ON waiting_publishers (due_at_ms)",
    // Lists by name read these indexes, and the search by a part of a name or an id reads them instead of the documents.
    "CREATE INDEX publishers_by_name ON publishers ((document ->> '$.name') COLLATE NOCASE, id)",
    "CREATE INDEX apps_by_name ON apps ((document ->> '$.name') COLLATE NOCASE, id)",
    "CREATE INDEX advertisers_by_name ON advertisers ((document ->> '$.name') COLLATE NOCASE, id)",
    "CREATE INDEX offers_by_name ON offer_documents ((document ->> '$.name') COLLATE NOCASE, id)",
    "CREATE INDEX unapproved_publishers ON publishers (id) WHERE NOT approved",
];
