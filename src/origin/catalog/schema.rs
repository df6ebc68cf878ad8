//! The catalog's tables. Documents are kept as the operator wrote them; beside an offer's document stand the few
//! columns that snapshots are built from, so that building one reads a narrow table and parses no JSON.
//!
//! STRICT, because a Durable Object binds every integer as a JavaScript number and only a STRICT column turns it back;
//! WITHOUT ROWID where rows are small, because there a write counts as one row written instead of two.

use platform::migrations::Migration;

/// Versions of the schema in order. A released one never changes.
pub const MIGRATIONS: &[Migration] = &[&[TABLES]];

const TABLES: &[&str] = &[
    // Counters and marks: `change` (grows with every write of the operator), `version` (of the newest snapshot),
    // `tracking_dirty_since_ms`, `tracking_built_at_ms`, `listing_built_at_ms`, `confirmed_at_ms`.
    "CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE publishers (
        id TEXT PRIMARY KEY,
        document TEXT NOT NULL,
        approved INTEGER NOT NULL,
        pub_key_hash BLOB,
        pub_key_sealed BLOB
     ) STRICT, WITHOUT ROWID",
    // `callback_sealed` holds the callback with its secrets; the document has them masked. `callback_revision` is the
    // revision that set, changed or removed it.
    "CREATE TABLE apps (
        id TEXT PRIMARY KEY,
        publisher_id TEXT NOT NULL,
        document TEXT NOT NULL,
        callback_sealed BLOB,
        callback_revision INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
    "CREATE TABLE advertisers (id TEXT PRIMARY KEY, document TEXT NOT NULL) STRICT, WITHOUT ROWID",
    // `issued` orders an advertiser's tokens: the newest two are valid.
    "CREATE TABLE advertiser_tokens (
        advertiser_id TEXT NOT NULL,
        issued INTEGER NOT NULL,
        token_id TEXT NOT NULL,
        hash BLOB NOT NULL,
        issued_at_ms INTEGER NOT NULL,
        PRIMARY KEY (advertiser_id, issued)
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
        ever_capped INTEGER NOT NULL,
        click_id_max INTEGER,
        conversion_window_days INTEGER NOT NULL,
        target TEXT NOT NULL,
        body_hash BLOB NOT NULL,
        body_length INTEGER NOT NULL,
        revision INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
    "CREATE TABLE offer_documents (
        id TEXT PRIMARY KEY,
        document TEXT NOT NULL,
        updated_at_s INTEGER NOT NULL
     ) STRICT",
    // The body as the listing shows it, in the format of the code that rendered it. Apart from the document, since a row
    // holds 2 MB.
    "CREATE TABLE offer_bodies (id TEXT PRIMARY KEY, body BLOB NOT NULL, format INTEGER NOT NULL) STRICT",
    // A goal is never deleted: one that a PUT leaves out is retired, and still pays the clicks made before.
    "CREATE TABLE goals (
        id TEXT PRIMARY KEY,
        offer_id TEXT NOT NULL,
        ord INTEGER NOT NULL,
        payout_micro_usd INTEGER NOT NULL,
        gl_val TEXT,
        retired_at_ms INTEGER
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX goals_of_offer ON goals (offer_id)",
    // The last that each counters object said; kept so that a listing can be rebuilt while one is out of reach.
    "CREATE TABLE offer_stats (
        offer_id TEXT PRIMARY KEY,
        object TEXT NOT NULL,
        day INTEGER NOT NULL,
        clicks INTEGER NOT NULL,
        conversions INTEGER NOT NULL,
        payout_micro_usd INTEGER NOT NULL,
        clicks_taken INTEGER NOT NULL,
        conversions_taken INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID",
    // The newest snapshot of each kind, whole, in parts that fit a SQLite value: what a cold isolate is given when KV
    // has none.
    "CREATE TABLE snapshot_parts (
        kind TEXT NOT NULL,
        part INTEGER NOT NULL,
        version INTEGER NOT NULL,
        bytes BLOB NOT NULL,
        PRIMARY KEY (kind, part)
     ) STRICT",
    // Every version in KV, until an hour after it left the pointer.
    "CREATE TABLE published (
        kind TEXT NOT NULL,
        version INTEGER NOT NULL,
        superseded_at_ms INTEGER,
        PRIMARY KEY (kind, version)
     ) STRICT, WITHOUT ROWID",
    // Content-addressed chunks of offer bodies; `unlisted_version` is the first listing that did not use one any more.
    // Their bytes are apart, since updating a row of SQLite writes all of it.
    "CREATE TABLE chunks (
        key TEXT PRIMARY KEY,
        in_kv INTEGER NOT NULL,
        unlisted_version INTEGER
     ) STRICT, WITHOUT ROWID",
    "CREATE TABLE chunk_bytes (key TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
    // An import's lines, staged so that a body of any size is checked in bounded memory and applied at once.
    "CREATE TABLE import_lines (
        import_id TEXT NOT NULL,
        kind INTEGER NOT NULL,
        line INTEGER NOT NULL,
        id TEXT NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (import_id, kind, line)
     ) STRICT",
    // The apps whose outbox has asked for terms; `due_at_ms` is when the alarm pushes callback settings that the outbox
    // does not have.
    "CREATE TABLE outboxes (app_id TEXT PRIMARY KEY, due_at_ms INTEGER) STRICT, WITHOUT ROWID",
    "CREATE INDEX outboxes_due ON outboxes (due_at_ms) WHERE due_at_ms IS NOT NULL",
];
