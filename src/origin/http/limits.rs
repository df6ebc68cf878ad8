//! Concurrency limits of the operator's interface and of the dashboard, and the timeout of their calls to objects. The
//! limits are separate from the edge's, so that public load cannot shut the operator out.

use std::time::Duration;

use domain::model::MINUTE_MS;
use platform::{
    concurrency_limit::{ConcurrencyLimit, Limit},
    pools,
};

/// The timeout of a call to an object. Some objects call further objects, each with a timeout of 5 s.
pub const TIMEOUT: Duration = Duration::from_secs(25);
/// The timeout of a call for an optional part of an answer.
pub const SPARE_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum permits of one member or key. It is 6 because browsers open at most 6 connections to a host. A publisher's
/// members and keys share 16 permits for calls and 16 permits for bodies, so no single one of them can take all.
pub const PER_MEMBER: usize = 6;

/// A permit's lease, in milliseconds. It is longer than the longest calls, which run in steps: a refresh, a replay, or
/// a page of outboxes' health.
const LEASE_MS: i64 = 5 * MINUTE_MS;

pools! {
    /// Pages of lists and small commands: about 10 KB each. The console gets at most three quarters of this pool, of
    /// `Documents` and of `Uploads`, and each member gets at most one quarter. So programs with the token are never
    /// shut out.
    Operator "operator" = Limit { permits: 128, per_owner: 96, lease_ms: LEASE_MS };
    /// Calls of the dashboard's pages and of publishers' keys. A publisher gets at most a quarter. A member or a key
    /// gets at most `PER_MEMBER` of its publisher's permits.
    Publishers "dashboard" = Limit { permits: 64, per_owner: 16, lease_ms: LEASE_MS };
    /// Calls of test pages, which anybody may make. They are separate from members' calls, which strangers must not
    /// shut out.
    TestPages "test_page" = Limit { permits: 32, per_owner: 8, lease_ms: LEASE_MS };
    /// All calls of the console's members. They are separate from publishers' calls, so publishers never shut out the
    /// operator. A member gets at most a quarter.
    Operators "console" = Limit { permits: 64, per_owner: 16, lease_ms: LEASE_MS };
    /// Members' bodies while they arrive, before their calls take a permit. A body has up to 257 KiB from the
    /// dashboard, and up to 1 MiB from the console, which gets at most a quarter. Together they take at most 28 MiB. A
    /// slow sender shuts out only its own bodies.
    MemberBodies "member_body" = Limit { permits: 64, per_owner: 16, lease_ms: MINUTE_MS };
    /// Sign-ins and other calls without a session, with bodies of up to 17 KiB. They are separate from members' calls,
    /// which strangers must not shut out.
    SignIns "sign_in" = Limit { permits: 32, per_owner: 32, lease_ms: LEASE_MS };
    /// Listings that the dashboard reads to show what an app's users see. For 200,000 offers a listing takes 12 MB, and
    /// twice that while it is read, so both permits take at most 48 MB. For 20,000 offers they take 5 MB.
    Listings "listing" = Limit { permits: 2, per_owner: 1, lease_ms: MINUTE_MS };
    /// Documents of a few KB and up to 1 MiB. Each is held twice while it is passed on, so at most 64 MiB together.
    Documents "document" = Limit { permits: 32, per_owner: 24, lease_ms: LEASE_MS };
    /// Facts and imports, which are streamed and take as long as their sender does, up to 15 minutes. A ledger shares
    /// 12 MiB among the uploads that it stages. Also a copy's pages of about 1 MB.
    Uploads "upload" = Limit { permits: 32, per_owner: 24, lease_ms: 16 * MINUTE_MS };
}
