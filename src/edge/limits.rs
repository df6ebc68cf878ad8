//! Concurrency limits of an edge isolate. A request that waits for an object, for KV or for its own body holds a permit
//! of a pool. If the pool has no free permit, the request is rejected at once with 503 and `Retry-After`.
//!
//! Clicks and pages that are answered from memory have no limit: they do not wait, and a rejection would cost as much.
//! So clicks are served while other requests are rejected. The limits fit the memory that an isolate's snapshots leave.
//! They are well above the normal load: an isolate has one thread, which serves about 1,000 conversions per second, and
//! a conversion takes 0.1 s if its objects are far away.

use domain::model::{MINUTE_MS, SECOND_MS};
use platform::{
    concurrency_limit::{ConcurrencyLimit, Limit},
    pools,
};

/// The lease of a permit, in milliseconds. It is longer than any wait for an object: 30 s for an outbox, plus a timer's
/// delay.
const LEASE_MS: i64 = MINUTE_MS;

/// Maximum permits for queries that one key may hold. A key may query once every two seconds. The share is large enough
/// for a key that queries too often to receive its 429, and too small for many slow queries.
pub const QUERIES_OF_KEY: usize = 16;

pools! {
    /// Postbacks that wait for the record of a short click id or for an app's outbox. At 10 KB each, with the click,
    /// the command and the runtime's own objects, they take 2.5 MB. An app has half, so that its outboxes delay no
    /// other app.
    Conversions "conversion" = Limit { permits: 256, per_owner: 128, lease_ms: LEASE_MS };
    /// Report queries that are being read. Their keys were issued but may be revoked. At up to 256 KiB each, they take
    /// 16 MiB. A publisher has half, since it may have 100 keys.
    Queries "query" = Limit { permits: 64, per_owner: 32, lease_ms: LEASE_MS };
    /// Reports that wait for a ledger. With a query of up to 256 KiB each, they take 8 MiB. A publisher has half: its
    /// ledger makes one report at a time, in about 10 ms for each million facts.
    Reports "report" = Limit { permits: 32, per_owner: 16, lease_ms: LEASE_MS };
    /// Clicks that wait to take from their offer's cap, or for the record of a short click id. At 8 KB each, they take
    /// 4 MB. An offer has a quarter: its counters object does about 500 takes per second.
    Clicks "click" = Limit { permits: 512, per_owner: 128, lease_ms: LEASE_MS };
    /// Pages of offers that wait for bodies from KV. With six chunks of about 64 KiB each, they take 24 MB. An app has
    /// half: its backend may send that many requests at once after a new listing, when nothing is cached.
    Pages "page" = Limit { permits: 64, per_owner: 32, lease_ms: LEASE_MS };
    /// Offers requests with valid credentials whose body is being read. At up to 64 KiB each, they take 8 MiB. An app
    /// has a quarter, so that a slow sender does not block others.
    Bodies "body" = Limit { permits: 128, per_owner: 32, lease_ms: LEASE_MS };
    /// Forms of postbacks that are being read, before their senders are authenticated. At 16 KiB each, they take 8 MiB.
    /// The pool is large and the read timeout short, so only a flood can block honest senders.
    Forms "form" = Limit { permits: 512, per_owner: 512, lease_ms: LEASE_MS };
    /// Requests that wait for shards. There are twice as many permits as for [`Starts`](Self::Starts), since a click
    /// waits for two shards. At 4 KB each, they take 4 MB.
    Shards "shard" = Limit { permits: 1_024, per_owner: 1_024, lease_ms: 30 * SECOND_MS };
    /// Requests of a cold isolate that wait for its first snapshot. At 8 KB each, they take 4 MB.
    Starts "start" = Limit { permits: 512, per_owner: 512, lease_ms: 30 * SECOND_MS };
}
