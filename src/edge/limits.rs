//! Concurrency limits of an edge isolate. A request that waits, for an object, for KV or for its own body, holds a permit of
//! a pool; beyond the pool's limit it is rejected at once with 503 and `Retry-After`.
//!
//! Answers from memory, a click or a page of offers, have no limit: they wait for nothing, and a rejection costs as much. So
//! clicks go on while the rest is rejected. Each limit fits an isolate's memory beside its snapshots (48 MiB of 128 MB),
//! and is well above the normal load: an isolate has one thread, which serves about 1,000 conversions a second, each of
//! 0.1 s when objects are far.

use domain::model::time::{MINUTE_MS, SECOND_MS};
use platform::{
    concurrency_limit::{ConcurrencyLimit, Limit},
    pools,
};

/// Longer than any wait for an object: 30 s for an outbox, and the slip of a timer.
const LEASE_MS: i64 = MINUTE_MS;

/// Permits that one key may hold of its publisher's queries. A key may ask every two seconds, so this is for one that asks
/// too often to be told so, and not for many slow queries.
pub const QUERIES_OF_KEY: usize = 16;

pools! {
    /// Postbacks that wait for an app's outbox, and before it for the record of a short click id: 10 KB each, with the click,
    /// the command and the runtime's own objects, are 2.5 MB. An app has half: its outbox commits about 500 a second, so more
    /// of one app would only wait there.
    Conversions "conversion" = Limit { permits: 256, per_owner: 128, lease_ms: LEASE_MS };
    /// Report queries that are being read, of keys that were issued, also revoked ones: up to 256 KiB each are 16 MiB. A
    /// publisher has half, since it may have 100 keys.
    Queries "query" = Limit { permits: 64, per_owner: 32, lease_ms: LEASE_MS };
    /// Reports that wait for a ledger: up to 256 KiB of query each are 8 MiB. A publisher has half: its ledger makes one report
    /// after the other, in about 10 ms for each 1 M facts.
    Reports "report" = Limit { permits: 32, per_owner: 16, lease_ms: LEASE_MS };
    /// Clicks that wait for the counter of their offer's cap, or for the record of a short click id: 8 KB each are 4 MB. An
    /// offer has a quarter: its counter takes about 500 a second.
    Clicks "click" = Limit { permits: 512, per_owner: 128, lease_ms: LEASE_MS };
    /// Pages of offers that wait for bodies from KV: six chunks of about 64 KiB for each are 24 MB. An app has half: its
    /// backend may ask on as many connections when a new listing has just come and nothing is in memory.
    Pages "page" = Limit { permits: 64, per_owner: 32, lease_ms: LEASE_MS };
    /// Offers requests whose body is being read, of apps whose credentials were right: up to 64 KiB each are 8 MiB. An app has
    /// a quarter, so that a slow sender holds up nobody else.
    Bodies "body" = Limit { permits: 128, per_owner: 32, lease_ms: LEASE_MS };
    /// Forms of postbacks, whose senders are strangers until the body is there: 16 KiB each are 8 MiB. They are many and are
    /// waited for briefly, so that it takes a flood to hold up honest senders.
    Forms "form" = Limit { permits: 512, per_owner: 512, lease_ms: LEASE_MS };
    /// Requests of a cold isolate that wait for its first snapshot: 8 KB each are 4 MB.
    Starts "start" = Limit { permits: 512, per_owner: 512, lease_ms: 30 * SECOND_MS };
}
