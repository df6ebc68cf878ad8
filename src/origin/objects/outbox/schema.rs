//! The outbox's tables.

use super::{attention, callbacks::bulk_replay, erasure, feed, sums::journal};
use crate::delivery::{attention_feed, batches};
use platform::migrations::Migration;

pub const MIGRATIONS: &[Migration] = &[&[
    TABLES,
    KEPT,
    batches::sql::TABLES,
    feed::schema::TABLES,
    attention_feed::sql::TABLES,
    attention::TABLES,
    attention::LOST_TERMS,
    bulk_replay::sql::TABLES,
    journal::sql::TABLES,
    CHANGES,
    erasure::TABLES,
]];

// Numbers of the log that have no payment. `entry` is set for a change of an entry, such as a rejection or an erasure.
// `claim` is JSON: a claim of a `txn`, or an erased user with the time of the erasure. Both columns are NULL in the row
// that an outbox writes just before it is restored on purpose.
const CHANGES: &[&str] = &["CREATE TABLE changes (number INTEGER PRIMARY KEY, entry INTEGER, claim TEXT) STRICT"];

/// Postbacks whose terms the catalog has lost. `goal` is the sender's name of the goal, `lacks` names the lost terms,
/// and `postback` is the conversion as JSON.
const KEPT: &[&str] = &[
    "CREATE TABLE kept (
       number INTEGER PRIMARY KEY, nonce BLOB NOT NULL, goal TEXT NOT NULL, status TEXT NOT NULL,
       advertiser TEXT NOT NULL, user_id TEXT NOT NULL, lacks TEXT NOT NULL, at_ms INTEGER NOT NULL, due_ms INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
       postback TEXT NOT NULL
     ) STRICT",
    "CREATE UNIQUE INDEX kept_by_postback ON kept (nonce, goal, status, advertiser)",
    "CREATE INDEX kept_by_due ON kept (due_ms)",
    "CREATE INDEX kept_by_lack ON kept (lacks)",
    "CREATE INDEX kept_by_user ON kept (user_id)",
];

const TABLES: &[&str] = &[
    // One row: the shard (an object does not know its name when its alarm starts it), the app's newest values, its
    // encrypted callback settings from the catalog, and the endpoint's health. `publisher` is NULL until the values are
    // known. `callback_wanted` is the newest known revision of the settings, and `callback_revision` is the stored one.
    // `enabled_ms` is when the endpoint was last enabled again. `suspended` is 1 for a suspended publisher and 2 for a
    // closed one. `released` is the last entry that was re-evaluated since a hold ended, or NULL if no entry is left to
    // re-evaluate. `claims` is the number of the last claim on a `txn`. `salt` is for the keys in `rewarded`. `lost` is
    // the last number that the ledger has and the log lacks. Until `gap_until_ms`, conversions are held because of
    // `lost`. `put_back_ms` is when the outbox noticed that it was restored on purpose, and `refilled_ms` when it last
    // wrote again what a restore had lost. `erasing` is the last examined entry while all users are being erased, and
    // NULL otherwise.
    "CREATE TABLE outbox (
       only INTEGER PRIMARY KEY CHECK (only = 1),
       app INTEGER NOT NULL,
       shard INTEGER NOT NULL,
       publisher TEXT,
       app_revision INTEGER NOT NULL DEFAULT 0,
       terms_revision INTEGER NOT NULL DEFAULT 0,
       terms_since INTEGER NOT NULL DEFAULT 0,
       callback_wanted INTEGER NOT NULL DEFAULT 0,
       outbox_shards INTEGER,
       max_rewards_per_user_day INTEGER,
       callback_revision INTEGER NOT NULL DEFAULT -1,
       callback_sealed BLOB,
       failures INTEGER NOT NULL DEFAULT 0,
       resumes_ms INTEGER NOT NULL DEFAULT 0,
       disabled_ms INTEGER,
       enabled_ms INTEGER NOT NULL DEFAULT 0,
       suspended INTEGER NOT NULL DEFAULT 0,
       released INTEGER,
       claims INTEGER NOT NULL DEFAULT 0,
       salt BLOB NOT NULL DEFAULT (randomblob(16)),
       lost INTEGER NOT NULL DEFAULT 0,
       gap_until_ms INTEGER,
       put_back_ms INTEGER NOT NULL DEFAULT 0,
       refilled_ms INTEGER NOT NULL DEFAULT 0,
       erasing INTEGER
     ) STRICT",
    // One row: the progress of the nightly work. `day` is the UTC day of the last complete sweep, `entry` is the last
    // entry that the current sweep has examined, and `firsts` is the last entry whose first attempt was swept.
    // `vouched` is the last day for which the outbox vouched to its ledger. `adding` is the day that is being added up,
    // `added_to` is the last number examined, and `is_added` is set once the day is complete. `attempts` and `due_ms`
    // belong to the call that vouches for this day. The other columns are the sums so far.
    "CREATE TABLE nights (
       only INTEGER PRIMARY KEY CHECK (only = 1), day INTEGER NOT NULL DEFAULT 0, entry INTEGER NOT NULL DEFAULT 0,
       firsts INTEGER NOT NULL DEFAULT 0, vouched INTEGER NOT NULL DEFAULT 0, adding INTEGER NOT NULL DEFAULT 0, added_to INTEGER NOT NULL DEFAULT 0,
       is_added INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, due_ms INTEGER NOT NULL DEFAULT 0,
       revenue_micro_usd INTEGER NOT NULL DEFAULT 0, rewards INTEGER NOT NULL DEFAULT 0,
       rewards_after_24_h INTEGER NOT NULL DEFAULT 0, rewards_by_superseded_terms INTEGER NOT NULL DEFAULT 0
     ) STRICT",
    "INSERT INTO nights (only) VALUES (1)",
    // `offers` has the newest values of each offer that had a conversion. `terms` has the revisions of terms by which
    // clicks are paid (docs/DECISIONS.md, "Conversions"). `kind` is `offer` or `app`. The app's own terms have an empty
    // `id`.
    "CREATE TABLE offers (
       offer TEXT PRIMARY KEY, revision INTEGER NOT NULL, terms_revision INTEGER NOT NULL, terms_since INTEGER NOT NULL,
       conversion_cap INTEGER, min_seconds_to_convert INTEGER
     ) STRICT, WITHOUT ROWID",
    "CREATE TABLE terms (
       kind TEXT NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL, terms TEXT NOT NULL,
       learned_ms INTEGER NOT NULL,
       PRIMARY KEY (kind, id, revision)
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX terms_by_time ON terms (learned_ms)",
    // Clicks that reached a goal. A row prevents a second payment, for as long as postbacks of the click are accepted.
    // `names` is a JSON list of the names by which senders called the goal; a postback without a name adds ''.
    // `offer_terms` is a revision of the offer's terms that has the goal. `entry` is the number of the log's entry.
    // `rewarded` is set while the conversion is paid: it is the key of the user and the goal, so that no other click of
    // the user is paid for this goal (see `rewarded.rs`). The operator may still pay both clicks.
    "CREATE TABLE conversions (
       nonce BLOB NOT NULL, goal TEXT NOT NULL, names TEXT NOT NULL, state INTEGER NOT NULL, entry INTEGER NOT NULL,
       offer_terms INTEGER NOT NULL, advertiser TEXT NOT NULL, rewarded BLOB,
       PRIMARY KEY (nonce, goal)
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX conversions_by_reward ON conversions (rewarded) WHERE rewarded IS NOT NULL",
    // Approvals that wait for the offer's cap. There are at most `MAX_RESERVED` of them, so they need no index.
    // `approval` is the whole reservation as JSON, so that the alarm can finish it.
    "CREATE TABLE reservations (
       nonce BLOB NOT NULL, goal TEXT NOT NULL, due_ms INTEGER NOT NULL, attempts INTEGER NOT NULL,
       number INTEGER NOT NULL, offer TEXT NOT NULL, erase INTEGER NOT NULL DEFAULT 0, user_id TEXT NOT NULL,
       rewarded BLOB, approval TEXT NOT NULL,
       PRIMARY KEY (nonce, goal)
     ) STRICT, WITHOUT ROWID",
    // The senders' own ids of conversions. Each id is claimed by one click, which may belong to any of the app's
    // outboxes.
    "CREATE TABLE txns (
       advertiser TEXT NOT NULL, goal TEXT NOT NULL, txn TEXT NOT NULL, nonce BLOB NOT NULL, number INTEGER NOT NULL,
       at_ms INTEGER NOT NULL,
       PRIMARY KEY (advertiser, goal, txn)
     ) STRICT, WITHOUT ROWID",
    "CREATE INDEX txns_by_time ON txns (at_ms)",
    // Claims by clicks of this outbox that must be freed in the outbox that keeps the `txn`. `txn` is the claim as
    // JSON.
    "CREATE TABLE txns_to_free (
       number INTEGER PRIMARY KEY, due_ms INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, txn TEXT NOT NULL
     ) STRICT",
    // The log: one entry for each transaction id. `entry` is unique over the app's outboxes. `movement` is the number
    // of the entry's payment in the log: the number of the entry itself or, if it was paid later, a number of that
    // time; NULL without a payment. `delivery` is NULL if there is no callback; otherwise 0 (waiting), 1 (delivered), 2
    // (dead) or 3 (not wanted). `after` is the reward's entry, in the entry of a reversal or a notice. `notice` is the
    // notice's status, 0 (pending) or 2 (rejected). `due_ms` of a reversal is NULL until the reward's callback has
    // ended. `attempts_made` counts the attempts of the current schedule. `erase` is set if the user must be erased
    // once the callback has ended. `superseded` is set if newer terms had superseded the terms under which the entry is
    // paid. `uncapped` is set if nothing was taken from a cap. `reason` is the text of a sender or the operator.
    // `first_at_ms` to `first_error` are the first attempt, if it ended within a day of the entry's creation.
    // `offer_terms`, `app_terms` and `placement` come from the click. `fields` is the callback's frozen content as
    // JSON.
    "CREATE TABLE entries (
       entry INTEGER PRIMARY KEY, transaction_id TEXT NOT NULL, nonce BLOB NOT NULL, goal TEXT NOT NULL,
       after INTEGER, at_ms INTEGER NOT NULL, payout_micro_usd INTEGER NOT NULL, movement INTEGER,
       delivery INTEGER, due_ms INTEGER, attempts_made INTEGER NOT NULL DEFAULT 0, erase INTEGER NOT NULL DEFAULT 0,
       superseded INTEGER NOT NULL DEFAULT 0, uncapped INTEGER NOT NULL DEFAULT 0, notice INTEGER, reason TEXT, offer_terms INTEGER NOT NULL, app_terms INTEGER NOT NULL,
       placement TEXT, user_id TEXT, txn TEXT, first_at_ms INTEGER, first_ms INTEGER, first_status INTEGER,
       first_body TEXT, first_error TEXT, fields TEXT NOT NULL
     ) STRICT",
    "CREATE UNIQUE INDEX entries_by_transaction ON entries (transaction_id)",
    // A delivered callback is in neither of the next two indexes.
    "CREATE INDEX entries_waiting ON entries (due_ms) WHERE delivery = 0",
    "CREATE INDEX entries_dead ON entries (delivery) WHERE delivery = 2",
    "CREATE INDEX entries_by_user ON entries (user_id) WHERE user_id IS NOT NULL",
    "CREATE INDEX entries_paid_later ON entries (movement) WHERE movement <> entry",
    "CREATE INDEX entries_after ON entries (after) WHERE after IS NOT NULL",
    "CREATE TABLE attempts (
       attempt INTEGER PRIMARY KEY, entry INTEGER NOT NULL, at_ms INTEGER NOT NULL, ms INTEGER NOT NULL,
       http_status INTEGER, body TEXT NOT NULL, error TEXT
     ) STRICT",
    "CREATE INDEX attempts_of_entry ON attempts (entry)",
];
