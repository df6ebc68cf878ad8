//! The catalog's statements. A bound integer arrives as a double, and only a STRICT INTEGER column or a LIMIT converts
//! it back, so integers are bound only to these.

/// The state of a publisher `p`: 0 approved, 1 suspended, 2 closed.
macro_rules! suspension {
    () => {
        "(NOT p.approved) * (1 + COALESCE(p.document ->> '$.closed', 0))"
    };
}

/// Apps' callback settings, and the outboxes that do not have them yet.
macro_rules! queued_settings {
    () => {
        concat!(
            "SELECT a.id, o.shard, a.callback_revision, a.callback_sealed, ",
            suspension!(),
            "
          FROM outboxes o JOIN apps a ON a.id = o.app_id JOIN publishers p ON p.id = a.publisher_id "
        )
    };
}

/// Finds ids by a part of a name or an id, in the index by name. The expression of the name must equal the index's
/// expression; otherwise SQLite would read the documents. LIKE is not used, because its patterns have at most 50 bytes.
macro_rules! named {
    ($table:literal) => {
        concat!(
            "SELECT id FROM ",
            $table,
            " WHERE instr(lower((document ->> '$.name') COLLATE NOCASE), ?1) OR instr(lower(id), ?1)
          ORDER BY instr(lower((document ->> '$.name') COLLATE NOCASE), ?1) = 1 DESC, (document ->> '$.name') COLLATE NOCASE, id LIMIT ?2"
        )
    };
}

/// Orders a table `d` by name, after the resource with the id `?1`, or from the beginning if there is no such resource.
/// The additional lower bound of the name lets the index scan begin at that name.
macro_rules! by_name {
    ($table:literal) => {
        concat!(
            " WHERE (d.document ->> '$.name') COLLATE NOCASE >= ",
            name_of!($table),
            "
          AND ((d.document ->> '$.name') COLLATE NOCASE, d.id) > (",
            name_of!($table),
            ", ?1)
          ORDER BY (d.document ->> '$.name') COLLATE NOCASE, d.id LIMIT ?2"
        )
    };
}
macro_rules! name_of {
    ($table:literal) => {
        concat!("COALESCE((SELECT document ->> '$.name' FROM ", $table, " WHERE id = ?1), '')")
    };
}

/// Offers' current values, and the outboxes that do not have an offer's cap yet.
macro_rules! queued_caps {
    () => {
        "SELECT o.revision, o.terms_revision, o.terms_since, o.conversion_cap, o.min_seconds_to_convert, o.id, q.app_id, q.shard
          FROM offer_outboxes q JOIN offers o ON o.id = q.offer_id "
    };
}

platform::statements! {
    // Marks.
    pub const GET_MARK = "SELECT value FROM state WHERE name = ?";
    pub const SET_MARK = "INSERT INTO state (name, value) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    pub const CLEAR_MARK = "DELETE FROM state WHERE name = ?";
    pub const ADD_TO_MARK = "INSERT INTO state (name, value) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET value = value + excluded.value";
    pub const MARK_IF_NEW = "INSERT INTO state (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING";

    // Credentials.
    pub const SET_PUB_KEY = "UPDATE publishers SET pub_key_hash = ?, pub_key_sealed = ? WHERE id = ? RETURNING id";
    pub const GET_PUB_KEY = "SELECT pub_key_sealed FROM publishers WHERE id = ?";
    pub const OPEN_PUB_KEY_REQUEST = "INSERT INTO pub_key_requests (publisher_id, requested_at_ms, requested_by, reason)
        VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING publisher_id";
    pub const GET_PUB_KEY_REQUEST = "SELECT requested_at_ms, requested_by, reason FROM pub_key_requests
        WHERE publisher_id = ?";
    pub const LIST_PUB_KEY_REQUESTS = "SELECT requested_at_ms, requested_by, reason, publisher_id FROM pub_key_requests
        ORDER BY requested_at_ms, publisher_id LIMIT ?";
    pub const CLOSE_PUB_KEY_REQUEST = "DELETE FROM pub_key_requests WHERE publisher_id = ?";
    pub const GET_NEWEST_SERIAL = "SELECT newest_serial FROM advertisers WHERE id = ?";
    pub const SET_NEWEST_SERIAL = "UPDATE advertisers SET newest_serial = ? WHERE id = ?";
    pub const INSERT_TOKEN = "INSERT INTO advertiser_tokens (advertiser_id, serial, issued_at_ms) VALUES (?, ?, ?)";
    pub const DELETE_TOKENS = "DELETE FROM advertiser_tokens WHERE advertiser_id = ?";

    // Resources.
    pub const PUT_PUBLISHER = "INSERT INTO publishers (id, document, approved) VALUES (?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET document = excluded.document, approved = excluded.approved";
    pub const GET_PUBLISHER_DOCUMENT = "SELECT document FROM publishers WHERE id = ?";
    pub const GET_APPROVAL = "SELECT approved FROM publishers WHERE id = ?";
    pub const GET_ADVERTISER_DOCUMENT = "SELECT document FROM advertisers WHERE id = ?";
    pub const GET_STORED_APP = concat!("SELECT publisher_id, document, callback_revision, callback_sealed, terms_revision, terms_since,
        outbox_shards, click_secrets_sealed, (SELECT ", suspension!(), " FROM publishers p WHERE p.id = publisher_id)
        FROM apps WHERE id = ?");
    pub const PUT_APP = "INSERT INTO apps (id, publisher_id, document, callback_sealed, callback_revision, revision,
        terms_revision, terms_since, outbox_shards, click_secrets_sealed, hash)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET
        document = excluded.document, callback_sealed = excluded.callback_sealed,
        callback_revision = excluded.callback_revision, revision = excluded.revision,
        terms_revision = excluded.terms_revision, terms_since = excluded.terms_since,
        click_secrets_sealed = excluded.click_secrets_sealed";
    pub const PUT_ADVERTISER = "INSERT INTO advertisers (id, document, hash) VALUES (?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET document = excluded.document";
    pub const GET_OFFER_DOCUMENT = "SELECT document FROM offer_documents WHERE id = ?";
    pub const GET_STORED_OFFER = "SELECT terms_revision, terms_since, conversion_cap, active, body_length FROM offers WHERE id = ?";
    pub const PUT_OFFER = "INSERT INTO offers (id, advertiser_id, off_type, os, countries, includes_countries, active, starts_at,
        ends_at, click_cap, conversion_cap, ever_capped, click_id_max, target, body_hash, body_length,
        revision, terms_revision, terms_since, min_seconds_to_convert)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET
        advertiser_id = excluded.advertiser_id, off_type = excluded.off_type, os = excluded.os,
        countries = excluded.countries, includes_countries = excluded.includes_countries,
        active = excluded.active, starts_at = excluded.starts_at,
        ends_at = excluded.ends_at, click_cap = excluded.click_cap,
        conversion_cap = excluded.conversion_cap,
        ever_capped = MAX(ever_capped, excluded.ever_capped), click_id_max = excluded.click_id_max,
        target = excluded.target, body_hash = excluded.body_hash, body_length = excluded.body_length,
        revision = excluded.revision, terms_revision = excluded.terms_revision, terms_since = excluded.terms_since,
        min_seconds_to_convert = excluded.min_seconds_to_convert";
    pub const PUT_OFFER_DOCUMENT = "INSERT INTO offer_documents (id, document, updated_at_s) VALUES (?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET document = excluded.document, updated_at_s = excluded.updated_at_s";
    pub const PUT_BODY = "INSERT INTO offer_bodies (id, body, format) VALUES (?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET body = excluded.body, format = excluded.format";
    pub const RETIRE_GOALS = "UPDATE goals SET retired_at_ms = ? WHERE offer_id = ? AND retired_at_ms IS NULL";
    pub const PUT_GOAL = "INSERT INTO goals (id, offer_id, hash) VALUES (?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET retired_at_ms = NULL";
    pub const GET_GOAL_OWNER = "SELECT offer_id FROM goals WHERE id = ?";
    pub const LIST_RETIRED_GOALS = "SELECT id FROM goals WHERE offer_id = ? AND retired_at_ms IS NOT NULL ORDER BY id";
    pub const LIST_TOKENS = "SELECT serial, issued_at_ms FROM advertiser_tokens WHERE advertiser_id = ? ORDER BY serial";
    pub const GET_PUBLISHER = "SELECT id, document FROM publishers WHERE id = ?";
    pub const LIST_PUBLISHERS = "SELECT id, document FROM publishers WHERE id > ? ORDER BY id LIMIT ?";
    pub const KNOWN_PUBLISHERS = "SELECT json_group_array(id) FROM publishers WHERE id IN (SELECT value FROM json_each(?))";
    pub const GET_APP = "SELECT id, document, terms_revision FROM apps WHERE id = ?";
    pub const LIST_APPS = "SELECT id, document, terms_revision FROM apps WHERE id > ? ORDER BY id LIMIT ?";
    pub const LIST_APP_NAMES = "SELECT json_group_object(id, document ->> '$.name') FROM
        (SELECT id, document FROM apps WHERE publisher_id = ? AND id > ? ORDER BY id LIMIT ?)";
    /// publisher, first app and last app (inclusive), maximum outboxes → JSON list of [app, number of outboxes]; the
    /// last app may exceed the maximum
    pub const LIST_PUBLISHER_OUTBOXES = "SELECT json_group_array(json_array(id, outbox_shards)) FROM (
        SELECT id, outbox_shards, SUM(outbox_shards) OVER (ORDER BY id) - outbox_shards AS before FROM apps
        WHERE publisher_id = ?1 AND id >= ?2 AND id <= ?3 ORDER BY id LIMIT ?4) WHERE before < ?4";
    pub const GET_OWN_APP = "SELECT document, revision, callback_sealed, click_secrets_sealed FROM apps
        WHERE id = ? AND publisher_id = ?";
    pub const GET_SEALED_APP = "SELECT document, revision, callback_sealed, click_secrets_sealed FROM apps WHERE id = ?";
    pub const LIST_OWN_APPS = "SELECT id, document FROM apps WHERE publisher_id = ? AND id > ? ORDER BY id LIMIT ?";
    /// publisher, first test app → number of the publisher's apps that are not test apps
    pub const COUNT_OWN_APPS = "SELECT COUNT(*) FROM apps WHERE publisher_id = ? AND id < ?";
    /// publisher, first test app → id, name
    pub const LIST_TEST_APPS = "SELECT id, document ->> '$.name' FROM apps WHERE publisher_id = ? AND id >= ?";
    pub const GET_OWN_APP_KEY = "SELECT app_id, request_hash FROM own_app_keys WHERE publisher_id = ? AND key = ?";
    pub const ADD_OWN_APP_KEY = "INSERT INTO own_app_keys (publisher_id, key, app_id, request_hash, at_ms) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (publisher_id, key) DO UPDATE SET app_id = excluded.app_id, request_hash = excluded.request_hash, at_ms = excluded.at_ms";
    pub const DELETE_OWN_APP_KEYS = "DELETE FROM own_app_keys WHERE at_ms < ?";
    pub const GET_ADVERTISER = "SELECT id, document FROM advertisers WHERE id = ?";
    pub const LIST_ADVERTISERS = "SELECT id, document FROM advertisers WHERE id > ? ORDER BY id LIMIT ?";
    pub const GET_OFFER = "SELECT d.id, d.document, o.terms_revision, d.updated_at_s
        FROM offer_documents d JOIN offers o ON o.id = d.id WHERE d.id = ?";
    pub const LIST_OFFERS = "SELECT d.id, d.document, o.terms_revision, d.updated_at_s
        FROM offer_documents d JOIN offers o ON o.id = d.id WHERE d.id > ? ORDER BY d.id LIMIT ?";

    pub const LIST_PUBLISHERS_BY_NAME = concat!("SELECT id, document FROM publishers d", by_name!("publishers"));
    pub const LIST_APPS_BY_NAME = concat!("SELECT id, document, terms_revision FROM apps d", by_name!("apps"));
    pub const LIST_ADVERTISERS_BY_NAME = concat!("SELECT id, document FROM advertisers d", by_name!("advertisers"));
    pub const LIST_OFFERS_BY_NAME = concat!("SELECT d.id, d.document, o.terms_revision, d.updated_at_s
        FROM offer_documents d JOIN offers o ON o.id = d.id", by_name!("offer_documents"));
    pub const LIST_APPS_OF = "SELECT id, document, terms_revision FROM apps WHERE publisher_id = ? AND id > ?
        ORDER BY id LIMIT ?";
    pub const LIST_OFFERS_OF = "SELECT d.id, d.document, o.terms_revision, d.updated_at_s
        FROM offers o JOIN offer_documents d ON d.id = o.id WHERE o.advertiser_id = ? AND o.id > ? ORDER BY o.id LIMIT ?";

    // Imports.
    pub const STAGE_LINE = "INSERT INTO import_lines (import, kind, line, id, document) VALUES (?, ?, ?, ?, ?)";
    pub const STAGE_GOAL = "INSERT INTO import_goals (import, id, offer_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    pub const LIST_STAGED = "SELECT kind, line, id, document FROM import_lines
        WHERE import = ? AND (kind, line) > (?, ?) ORDER BY kind, line LIMIT ?";
    pub const GET_STAGED_LINE = "SELECT line FROM import_lines WHERE import = ? AND kind = ? AND id = ?";
    pub const GET_STAGED_GOAL = "SELECT offer_id FROM import_goals WHERE import = ? AND id = ?";
    pub const DROP_LINE = "DELETE FROM import_lines WHERE import = ? AND kind = ? AND id = ?";
    pub const DELETE_LINE = "DELETE FROM import_lines WHERE import = ? AND kind = ? AND line = ?";
    pub const DISCARD_LINES = "DELETE FROM import_lines WHERE rowid IN (
        SELECT rowid FROM import_lines WHERE import BETWEEN ? AND ? LIMIT ?) RETURNING line";
    pub const DISCARD_GOALS = "DELETE FROM import_goals WHERE (import, id) IN (
        SELECT import, id FROM import_goals WHERE import BETWEEN ? AND ? LIMIT ?) RETURNING import";

    // Terms. Revisions never change; superseded ones are deleted when no click needs them any more.
    pub const GET_TERMS = "SELECT revision, terms FROM terms WHERE kind = ? AND id = ? AND revision = ?";
    pub const INSERT_TERMS = "INSERT INTO terms (kind, id, revision, terms) VALUES (?, ?, ?, ?)";
    pub const LIST_TERMS = "SELECT revision, terms, superseded_at_ms FROM terms WHERE kind = ? AND id = ? ORDER BY revision DESC LIMIT ?";
    pub const SUPERSEDE_TERMS = "UPDATE terms SET superseded_at_ms = ? WHERE kind = ? AND id = ? AND revision = ?";
    pub const SWEEP_TERMS = "DELETE FROM terms WHERE (kind, id, revision) IN
        (SELECT kind, id, revision FROM terms WHERE superseded_at_ms < ? LIMIT ?)";
    pub const GET_CURRENT_OFFER = "SELECT revision, terms_revision, terms_since, conversion_cap, min_seconds_to_convert
        FROM offers WHERE id = ?";
    pub const GET_CURRENT_APP = concat!("SELECT a.revision, a.terms_revision, a.terms_since, a.publisher_id, a.callback_revision,
        a.callback_sealed, o.app_id IS NOT NULL, a.outbox_shards, a.document ->> '$.max_rewards_per_user_day', ", suspension!(), "
        FROM apps a JOIN publishers p ON p.id = a.publisher_id LEFT JOIN outboxes o ON o.app_id = a.id AND o.shard = ?2 WHERE a.id = ?1");

    // Values under old keys. Parameters: the first byte of values under the current key; for lists also the exclusive
    // lower id and the maximum rows.
    pub const COUNT_OLD_PUB_KEYS = "SELECT COUNT(*) FROM publishers WHERE substr(pub_key_sealed, 1, 1) <> ?";
    pub const COUNT_OLD_CALLBACKS = "SELECT COUNT(*) FROM apps WHERE substr(callback_sealed, 1, 1) <> ?";
    pub const COUNT_OLD_CLICK_SECRETS = "SELECT COUNT(*) FROM apps WHERE substr(click_secrets_sealed, 1, 1) <> ?";
    pub const LIST_OLD_PUB_KEYS = "SELECT id, pub_key_sealed FROM publishers WHERE substr(pub_key_sealed, 1, 1) <> ? AND id > ? ORDER BY id LIMIT ?";
    pub const LIST_OLD_CALLBACKS = "SELECT id, callback_sealed FROM apps WHERE substr(callback_sealed, 1, 1) <> ? AND id > ? ORDER BY id LIMIT ?";
    pub const LIST_OLD_CLICK_SECRETS = "SELECT id, click_secrets_sealed FROM apps WHERE substr(click_secrets_sealed, 1, 1) <> ? AND id > ? ORDER BY id LIMIT ?";
    pub const RESEAL_PUB_KEY = "UPDATE publishers SET pub_key_sealed = ? WHERE id = ?";
    pub const RESEAL_CALLBACK = "UPDATE apps SET callback_sealed = ? WHERE id = ?";
    pub const RESEAL_CLICK_SECRETS = "UPDATE apps SET click_secrets_sealed = ? WHERE id = ?";

    // Callback settings for the outboxes.
    pub const RECORD_OUTBOX = "INSERT INTO outboxes (app_id, shard) VALUES (?, ?) ON CONFLICT DO NOTHING";
    pub const QUEUE_SETTINGS = "UPDATE outboxes SET due_at_ms = ? WHERE app_id = ?";
    pub const SUSPEND_APPS = "UPDATE apps SET callback_revision = ?1, revision = ?1 WHERE publisher_id = ?2";
    pub const QUEUE_SETTINGS_OF_PUBLISHER = "UPDATE outboxes SET due_at_ms = ?
        WHERE app_id IN (SELECT id FROM apps WHERE publisher_id = ?)";
    pub const LIST_QUEUED_SETTINGS = concat!(queued_settings!(), "WHERE o.app_id = ? AND o.due_at_ms IS NOT NULL");
    pub const LIST_QUEUED_SETTINGS_OF_PUBLISHER = concat!(queued_settings!(),
        "WHERE a.publisher_id = ? AND o.due_at_ms IS NOT NULL");
    pub const LIST_DUE_SETTINGS = concat!(queued_settings!(), "WHERE o.due_at_ms <= ? ORDER BY o.due_at_ms LIMIT ?");
    pub const POSTPONE_SETTINGS = "UPDATE outboxes SET due_at_ms = ?
        WHERE app_id = ? AND shard = ? AND due_at_ms IS NOT NULL";
    pub const UNQUEUE_SETTINGS = "UPDATE outboxes SET due_at_ms = NULL WHERE app_id = ? AND shard = ? AND due_at_ms IS NOT NULL
        AND (SELECT callback_revision FROM apps WHERE id = outboxes.app_id) = ?
        AND (SELECT callback_sealed FROM apps WHERE id = outboxes.app_id) IS ?";
    pub const GET_NEXT_DUE_SETTINGS = "SELECT due_at_ms FROM outboxes WHERE due_at_ms IS NOT NULL ORDER BY due_at_ms LIMIT 1";

    // Suspensions.
    pub const QUEUE_SUSPENSION = "INSERT INTO suspensions (publisher_id, revision, due_at_ms) VALUES (?, ?, ?)
        ON CONFLICT (publisher_id) DO UPDATE SET revision = excluded.revision, due_at_ms = excluded.due_at_ms";
    pub const QUEUE_ADMISSION = "UPDATE suspensions SET revision = ?2, due_at_ms = ?3 WHERE publisher_id = ?1";
    pub const GET_QUEUED_SUSPENSION = "SELECT p.id, NOT p.approved, s.revision
        FROM suspensions s JOIN publishers p ON p.id = s.publisher_id
        WHERE s.publisher_id = ? AND s.due_at_ms IS NOT NULL";
    pub const LIST_DUE_SUSPENSIONS = "SELECT p.id, NOT p.approved, s.revision
        FROM suspensions s JOIN publishers p ON p.id = s.publisher_id
        WHERE s.due_at_ms <= ? ORDER BY s.due_at_ms LIMIT ?";
    pub const POSTPONE_SUSPENSION = "UPDATE suspensions SET due_at_ms = ?
        WHERE publisher_id = ? AND due_at_ms IS NOT NULL";
    pub const UNQUEUE_SUSPENSION = "UPDATE suspensions SET due_at_ms = NULL WHERE publisher_id = ? AND revision = ?";
    pub const GET_NEXT_DUE_SUSPENSION = "SELECT due_at_ms FROM suspensions WHERE due_at_ms IS NOT NULL
        ORDER BY due_at_ms LIMIT 1";

    // Messages about new publishers without approval and about closed publishers.
    pub const QUEUE_WAITING = "INSERT INTO waiting_publishers (publisher_id, since_ms, closed, due_at_ms) VALUES (?, ?, ?, ?)
        ON CONFLICT (publisher_id) DO UPDATE SET since_ms = excluded.since_ms, closed = excluded.closed, due_at_ms = excluded.due_at_ms";
    pub const END_WAITING = "DELETE FROM waiting_publishers WHERE publisher_id = ?";
    pub const LIST_DUE_WAITING = "SELECT publisher_id, since_ms, closed FROM waiting_publishers WHERE due_at_ms <= ?
        ORDER BY due_at_ms LIMIT ?";
    pub const POSTPONE_WAITING = "UPDATE waiting_publishers SET due_at_ms = ? WHERE publisher_id = ?";
    pub const UNQUEUE_WAITING = "DELETE FROM waiting_publishers WHERE publisher_id = ? AND since_ms = ?";
    pub const GET_NEXT_DUE_WAITING = "SELECT MIN(due_at_ms) FROM waiting_publishers";

    // Caps for the outboxes that have asked for an offer's terms.
    pub const RECORD_OFFER_OUTBOX = "INSERT INTO offer_outboxes (offer_id, app_id, shard) VALUES (?, ?, ?)
        ON CONFLICT DO NOTHING RETURNING shard";
    pub const LIST_OFFER_OUTBOXES = "SELECT app_id, shard FROM offer_outboxes WHERE offer_id = ?";
    pub const QUEUE_CAP = "UPDATE offer_outboxes SET due_at_ms = ? WHERE offer_id = ?";
    pub const LIST_QUEUED_CAPS = concat!(queued_caps!(), "WHERE q.offer_id = ? AND q.due_at_ms IS NOT NULL");
    pub const LIST_DUE_CAPS = concat!(queued_caps!(), "WHERE q.due_at_ms <= ? ORDER BY q.due_at_ms LIMIT ?");
    pub const POSTPONE_CAP = "UPDATE offer_outboxes SET due_at_ms = ?
        WHERE offer_id = ? AND app_id = ? AND shard = ? AND due_at_ms IS NOT NULL";
    pub const UNQUEUE_CAP = "UPDATE offer_outboxes SET due_at_ms = NULL WHERE offer_id = ? AND app_id = ? AND shard = ?
        AND due_at_ms IS NOT NULL AND (SELECT revision FROM offers WHERE id = offer_outboxes.offer_id) = ?";
    pub const GET_NEXT_DUE_CAP = "SELECT due_at_ms FROM offer_outboxes WHERE due_at_ms IS NOT NULL ORDER BY due_at_ms LIMIT 1";

    // Publication.
    pub const STORE_STATS = "INSERT INTO offer_stats (offer_id, object, day, clicks, conversions, payout_micro_usd, clicks_taken,
        conversions_taken, apps)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (offer_id, object) DO UPDATE SET day = excluded.day, clicks = excluded.clicks,
        conversions = excluded.conversions, payout_micro_usd = excluded.payout_micro_usd,
        clicks_taken = excluded.clicks_taken, conversions_taken = excluded.conversions_taken, apps = excluded.apps
        WHERE (day, clicks, conversions, payout_micro_usd, clicks_taken, conversions_taken, apps) IS NOT
        (excluded.day, excluded.clicks, excluded.conversions, excluded.payout_micro_usd,
        excluded.clicks_taken, excluded.conversions_taken, excluded.apps)";
    pub const DELETE_STALE_STATS = "DELETE FROM offer_stats WHERE object = ? AND day < ?";
    pub const LIST_CHUNKS = "SELECT key, unlisted_version FROM chunks";
    pub const MARK_CHUNK_LISTED = "UPDATE chunks SET unlisted_version = ? WHERE key = ?";
    pub const LIST_BODIES_OF_OTHER_FORMATS = "SELECT d.id, d.document, d.updated_at_s
        FROM offer_bodies b JOIN offer_documents d ON d.id = b.id WHERE b.format <> ? LIMIT ?";
    pub const SET_BODY_HASH = "UPDATE offers SET body_hash = ?, body_length = ? WHERE id = ?";
    pub const GET_BODY = "SELECT body FROM offer_bodies WHERE id = ?";
    pub const INSERT_CHUNK = "INSERT INTO chunks (key) VALUES (?) ON CONFLICT DO NOTHING RETURNING key";
    pub const INSERT_CHUNK_BYTES = "INSERT INTO chunk_bytes (key, bytes) VALUES (?, ?)";
    pub const DELETE_SNAPSHOT = "DELETE FROM snapshot_parts WHERE kind = ?";
    pub const INSERT_SNAPSHOT_PART = "INSERT INTO snapshot_parts (kind, part, version, bytes) VALUES (?, ?, ?, ?)";
    pub const GET_SNAPSHOT = "SELECT bytes FROM snapshot_parts WHERE kind = ? ORDER BY part";
    pub const GET_CHUNK = "SELECT bytes FROM chunk_bytes WHERE key = ?";
    pub const LIST_CHUNKS_TO_WRITE = "SELECT key FROM chunks WHERE written_ms IS NULL AND unlisted_version IS NULL LIMIT ?";
    pub const MARK_CHUNK_WRITTEN = "UPDATE chunks SET written_ms = ? WHERE key = ?";
    /// key, latest time of the write (inclusive): marks the chunk as absent from KV if it was written by then
    pub const MARK_CHUNK_UNWRITTEN = "UPDATE chunks SET written_ms = NULL WHERE key = ? AND written_ms <= ?";
    pub const LIST_EXPIRED_CHUNKS = "SELECT key FROM chunks
        WHERE unlisted_version <= (SELECT MIN(version) FROM published) LIMIT 100";
    pub const DELETE_CHUNK_BYTES = "DELETE FROM chunk_bytes WHERE key = ?";
    pub const DELETE_CHUNK = "DELETE FROM chunks WHERE key = ?";
    pub const INSERT_VERSION = "INSERT INTO published (version) VALUES (?) ON CONFLICT DO NOTHING";
    pub const SUPERSEDE_VERSIONS = "UPDATE published SET superseded_at_ms = ?
        WHERE superseded_at_ms IS NULL AND version NOT IN (
        SELECT version FROM published ORDER BY version DESC LIMIT ?)";
    pub const LIST_POINTED_VERSIONS = "SELECT version FROM published WHERE superseded_at_ms IS NULL ORDER BY version DESC";
    pub const LIST_EXPIRED_VERSIONS = "SELECT version FROM published WHERE superseded_at_ms < ? ORDER BY version LIMIT 50";
    pub const DELETE_VERSION = "DELETE FROM published WHERE version = ?";
    pub const COUNT_RESOURCES = "SELECT (SELECT count(*) FROM publishers), (SELECT count(*) FROM apps),
        (SELECT count(*) FROM advertisers), (SELECT count(*) FROM offers), (SELECT count(*) FROM goals),
        (SELECT count(*) FROM goals WHERE retired_at_ms IS NOT NULL), (SELECT count(*) FROM chunks),
        (SELECT count(*) FROM pub_key_requests)";

    // The tracking snapshot.
    pub const MARK_ALL_SLOTS = "UPDATE tracking_slots SET change = 0 WHERE change IS NULL";
    pub const UNWRITE_SHARDS = "UPDATE tracking_shards SET written_at_ms = NULL";
    pub const UNWRITE_CHUNKS = "UPDATE chunks SET written_ms = NULL";
    pub const MARK_SLOT = "UPDATE tracking_slots SET change = ? WHERE kind = ? AND number = ?";
    pub const MARK_UNCHANGED_SLOT = "UPDATE tracking_slots SET change = 0 WHERE kind = ? AND number = ? AND change IS NULL";
    pub const LIST_APP_HASHES = "SELECT hash FROM apps WHERE publisher_id = ?";
    pub const LIST_GOAL_HASHES = "SELECT hash FROM goals WHERE offer_id = ?";
    pub const LIST_CHANGED_SLOTS = "SELECT kind, number, change FROM tracking_slots WHERE change IS NOT NULL
        ORDER BY kind, number LIMIT ?";
    pub const IS_SLOT_CHANGED = "SELECT EXISTS (SELECT 1 FROM tracking_slots WHERE change IS NOT NULL AND change <= ?)";
    pub const DELETE_SLOTS = "DELETE FROM tracking_slots WHERE kind = ?";
    /// kind, number of slots
    pub const INSERT_SLOTS = "INSERT INTO tracking_slots (kind, number, change)
        WITH RECURSIVE numbers (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbers LIMIT ?2)
        SELECT ?1, number, 0 FROM numbers";
    pub const LIST_CHECKSUMS = "SELECT checksum FROM tracking_slots WHERE kind = ? ORDER BY number";
    pub const RECORD_SHARD = "UPDATE tracking_slots SET checksum = ?, change = IIF(change = ?, NULL, change)
        WHERE kind = ? AND number = ?";
    pub const GET_SHARD = "SELECT written_at_ms, superseded_at_ms FROM tracking_shards WHERE key = ?";
    pub const LIST_SHARD = "INSERT INTO tracking_shards (key, superseded_at_ms) VALUES (?, ?)
        ON CONFLICT (key) DO UPDATE SET written_at_ms = NULL,
        superseded_at_ms = IIF(superseded_at_ms IS NULL, NULL, excluded.superseded_at_ms)";
    pub const MARK_SHARD_WRITTEN = "UPDATE tracking_shards SET written_at_ms = ? WHERE key = ? AND written_at_ms IS NULL";
    pub const UNWRITE_SHARD = "UPDATE tracking_shards SET written_at_ms = NULL WHERE key = ?";
    pub const NAME_SHARD = "UPDATE tracking_shards SET superseded_at_ms = NULL WHERE key = ?";
    pub const SUPERSEDE_SHARD = "UPDATE tracking_shards SET superseded_at_ms = ? WHERE key = ?";
    pub const LIST_EXPIRED_SHARDS = "SELECT key FROM tracking_shards WHERE superseded_at_ms < ?
        ORDER BY superseded_at_ms LIMIT ?";
    pub const DELETE_SHARD = "DELETE FROM tracking_shards WHERE key = ?";
    pub const LIST_SLOT_ADVERTISERS = "SELECT id, newest_serial FROM advertisers WHERE hash BETWEEN ? AND ? LIMIT ?";
    pub const LIST_SLOT_APPS = "SELECT a.id, a.document, a.revision, a.terms_revision, a.terms_since, a.callback_revision,
        a.outbox_shards, a.click_secrets_sealed, p.approved, p.pub_key_hash
        FROM apps a JOIN publishers p ON p.id = a.publisher_id WHERE a.hash BETWEEN ? AND ? LIMIT ?";
    pub const LIST_SLOT_GOALS = "SELECT g.id, g.retired_at_ms, o.id, o.active, o.starts_at, o.ends_at, o.os, o.countries,
        o.click_cap, o.click_id_max, o.conversion_cap, o.revision, o.target, o.includes_countries, o.terms_revision,
        o.terms_since, o.min_seconds_to_convert
        FROM goals g JOIN offers o ON o.id = g.offer_id WHERE g.hash BETWEEN ? AND ? LIMIT ?";

    // The console's queries.
    /// part in lower case, maximum rows → id; names that begin with the part come first
    pub const FIND_PUBLISHERS = named!("publishers");
    pub const FIND_APPS = named!("apps");
    pub const FIND_ADVERTISERS = named!("advertisers");
    pub const FIND_OFFERS = named!("offer_documents");
    /// → number of publishers that wait for approval, number of requests for a Pub-Key
    pub const COUNT_WAITING = "SELECT
        (SELECT COUNT(*) FROM publishers p WHERE NOT approved AND NOT COALESCE(document ->> '$.closed', 0)
          AND NOT EXISTS (SELECT 1 FROM suspensions s WHERE s.publisher_id = p.id)),
        (SELECT COUNT(*) FROM pub_key_requests)";
    pub const FIND_PUB_KEY = "SELECT id FROM publishers WHERE pub_key_hash = ?";
    pub const IS_TOKEN_VALID = "SELECT EXISTS (SELECT 1 FROM advertiser_tokens WHERE advertiser_id = ? AND serial = ?)";
    /// JSON list of ids, today → id, clicks, conversions, payout, clicks taken today, conversions taken today, click
    /// cap, conversion cap
    pub const LIST_FIGURES = "SELECT o.id, COALESCE(SUM(s.clicks), 0), COALESCE(SUM(s.conversions), 0),
        COALESCE(SUM(s.payout_micro_usd), 0), COALESCE(SUM(IIF(s.day = ?2, s.clicks_taken, 0)), 0),
        COALESCE(SUM(IIF(s.day = ?2, s.conversions_taken, 0)), 0), o.click_cap, o.conversion_cap
        FROM offers o LEFT JOIN offer_stats s ON s.offer_id = o.id
        WHERE o.id IN (SELECT value FROM json_each(?1)) GROUP BY o.id ORDER BY o.id";
    /// exclusive lower revision, maximum offers, today → id, revision, click cap, conversion cap, clicks taken today,
    /// conversions taken today
    pub const LIST_CAP_USE = "SELECT o.id, o.revision, o.click_cap, o.conversion_cap,
        COALESCE(SUM(IIF(s.day = ?3, s.clicks_taken, 0)), 0), COALESCE(SUM(IIF(s.day = ?3, s.conversions_taken, 0)), 0)
        FROM (SELECT id, revision, click_cap, conversion_cap FROM offers
          WHERE revision > ?1 AND ever_capped ORDER BY revision LIMIT ?2) o
        LEFT JOIN offer_stats s ON s.offer_id = o.id GROUP BY o.id ORDER BY o.revision";
    pub const LIST_EARNING = "SELECT json_group_array(publisher_id) FROM
        (SELECT DISTINCT a.publisher_id FROM outboxes o JOIN apps a ON a.id = o.app_id WHERE a.id < ? ORDER BY a.publisher_id LIMIT ?)";
    /// JSON list of ids → JSON object with the names of these offers and the titles of their goals
    pub const OFFER_NAMES = "SELECT json_object(
        'offers', json(COALESCE((SELECT json_group_object(id, document ->> '$.name') FROM offer_documents
          WHERE id IN (SELECT value FROM json_each(?1))), '{}')),
        'goals', json(COALESCE((SELECT json_group_object(g.value ->> '$.id', g.value ->> '$.ttl')
          FROM offer_documents, json_each(document, '$.goals') g WHERE offer_documents.id IN (SELECT value FROM json_each(?1))), '{}')))";
    pub const GET_OFFER_NAME = "SELECT document ->> '$.name' FROM offer_documents WHERE id = ?";

    // The listing.
    pub const LIST_OFFER_IDS = "SELECT id FROM offers WHERE id > ? ORDER BY id LIMIT ?";
    /// JSON list of ids, today → one row for each offer, by id. If an offer has no figures for today, nothing was taken
    /// from its caps.
    pub const LIST_LISTED_OFFERS = "SELECT o.id, o.off_type, o.os, o.countries, o.active, o.starts_at, o.ends_at, o.conversion_cap,
        o.click_cap, o.body_hash, o.body_length, SUM(s.clicks), SUM(s.conversions), SUM(s.payout_micro_usd),
        SUM(IIF(s.day = ?2, s.clicks_taken, 0)), SUM(IIF(s.day = ?2, s.conversions_taken, 0)), '[' || GROUP_CONCAT(s.apps) || ']'
        FROM offers o LEFT JOIN offer_stats s ON s.offer_id = o.id
        WHERE o.id IN (SELECT value FROM json_each(?1)) GROUP BY o.id ORDER BY o.id";
}
