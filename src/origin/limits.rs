//! Concurrency limits of the operator's interface. They are apart from the edge's, so that the operator gets in to see and
//! repair whatever strangers do.

use domain::model::time::MINUTE_MS;
use platform::{
    concurrency_limit::{ConcurrencyLimit, Limit},
    pools,
};

/// Longer than a call that goes on step by step: a refresh of all offers, a replay, a look at a page of outboxes.
const LEASE_MS: i64 = 5 * MINUTE_MS;

pools! {
    /// Pages of lists and small commands: about 10 KB each.
    Operator "operator" = Limit { permits: 128, per_owner: 128, lease_ms: LEASE_MS };
    /// Documents of a few KB and up to 1 MiB, held twice as they are passed on: 64 MiB if all are of the largest.
    Documents "document" = Limit { permits: 32, per_owner: 32, lease_ms: LEASE_MS };
    /// Facts and imports, which are passed on chunk by chunk and take as long as their sender does, up to 15 minutes. A ledger
    /// shares 12 MiB among those that it stages.
    Uploads "upload" = Limit { permits: 32, per_owner: 32, lease_ms: 16 * MINUTE_MS };
}
