// An object that writes the rows of a conversion as an outbox does, with the same tables and indexes, and nothing else;
// behind a Worker that forwards requests. It answers when they are on disk.
import { DurableObject } from "cloudflare:workers";

// As in src/origin/objects/outbox/schema.rs and src/origin/delivery/batches/sql.rs.
const TABLES = `
  CREATE TABLE IF NOT EXISTS conversions (
    nonce BLOB NOT NULL, goal TEXT NOT NULL, names TEXT NOT NULL, state INTEGER NOT NULL, entry INTEGER NOT NULL,
    offer_terms INTEGER NOT NULL, rewarded BLOB,
    PRIMARY KEY (nonce, goal)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX IF NOT EXISTS conversions_by_reward ON conversions (rewarded) WHERE rewarded IS NOT NULL;
  CREATE TABLE IF NOT EXISTS entries (
    entry INTEGER PRIMARY KEY, transaction_id TEXT NOT NULL, nonce BLOB NOT NULL, goal TEXT NOT NULL,
    after INTEGER, at_ms INTEGER NOT NULL, payout_micro_usd INTEGER NOT NULL,
    delivery INTEGER, due_ms INTEGER, attempts_made INTEGER NOT NULL DEFAULT 0, erase INTEGER NOT NULL DEFAULT 0,
    superseded INTEGER NOT NULL DEFAULT 0, reason TEXT, offer_terms INTEGER NOT NULL, app_terms INTEGER NOT NULL,
    placement TEXT, user_id TEXT, txn TEXT, fields TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS entries_by_transaction ON entries (transaction_id);
  CREATE INDEX IF NOT EXISTS entries_by_delivery ON entries (delivery, due_ms) WHERE delivery IS NOT NULL;
  CREATE INDEX IF NOT EXISTS entries_by_user ON entries (user_id) WHERE user_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS entries_after ON entries (after) WHERE after IS NOT NULL;
  CREATE TABLE IF NOT EXISTS traffic (
    destination TEXT NOT NULL, day INTEGER NOT NULL, app INTEGER NOT NULL, offer TEXT NOT NULL,
    country TEXT NOT NULL, placement TEXT NOT NULL, clicks INTEGER NOT NULL,
    conversions INTEGER NOT NULL DEFAULT 0, revenue_micro_usd INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (destination, day, app, offer, country, placement)
  ) STRICT, WITHOUT ROWID;
`;
const CONVERSION = `INSERT INTO conversions (nonce, goal, names, state, entry, offer_terms, rewarded)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const ENTRY = `INSERT INTO entries
    (transaction_id, nonce, goal, at_ms, payout_micro_usd, delivery, due_ms, offer_terms, app_terms, placement, user_id,
      fields)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING entry`;
const SUMS = `INSERT INTO traffic
    (destination, day, app, offer, country, placement, clicks, conversions, revenue_micro_usd)
  VALUES ('ledger', ?1, ?2, ?3, 'DE', 'main', 0, 1, ?4), ('counters', ?1, ?2, ?3, '', '', 0, 1, ?4)
  ON CONFLICT (destination, day, app, offer, country, placement) DO UPDATE SET
    clicks = clicks + excluded.clicks, conversions = conversions + excluded.conversions,
    revenue_micro_usd = revenue_micro_usd + excluded.revenue_micro_usd`;

const APP = 79000901;
const OFFER = "speed-plain";
const PAYOUT = 1250000;
const DAY_MS = 86400000;

export class Rows extends DurableObject {
  constructor(state, env) {
    super(state, env);
    this.storage = state.storage;
    this.storage.sql.exec(TABLES);
  }

  fetch() {
    const sql = this.storage.sql;
    const now = Date.now();
    const id = crypto.randomUUID();
    const nonce = crypto.getRandomValues(new Uint8Array(16));
    const rewarded = crypto.getRandomValues(new Uint8Array(16));
    const user = `player-${id.slice(0, 6)}`;
    const fields = JSON.stringify({
      transaction_id: id, status: "approved", app_id: "79000901", offer_id: OFFER, goal_id: "speed-plain-1",
      event: "install", user_id: user, value: "1250", currency: "Coins", payout: "1.25",
      country: "DE", placement_id: "main", click_ts: Math.floor(now / 1000), conversion_ts: Math.floor(now / 1000),
    });
    this.storage.transactionSync(() => {
      const { entry } = sql.exec(ENTRY, id, nonce, "speed-plain-1", now, PAYOUT, 0, now, 1, 1, "main", user, fields).one();
      sql.exec(CONVERSION, nonce, "speed-plain-1", '[""]', 1, entry, 1, rewarded);
      sql.exec(SUMS, Math.floor(now / DAY_MS), APP, OFFER, PAYOUT);
    });
    return new Response("inserted\n");
  }
}

export default {
  fetch: (request, env) => env.ROWS.getByName("one").fetch(request),
};
