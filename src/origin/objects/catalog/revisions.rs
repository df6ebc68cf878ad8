//! The catalog's revision counter and other marks, which are named integers in the table `state`.

use super::sql;
use domain::{conversions::terms::TermsInForce, model::revision};
use platform::{Database, DbResult, Row, params};

/// The last revision. Each change by the operator or a member makes a revision. Offers and apps store the revision of
/// their last change.
const CHANGE: &str = "change";
/// The time of the first change that the tracking snapshot lacks, in milliseconds.
pub const TRACKING_DIRTY_SINCE: &str = "tracking_dirty_since_ms";
pub const TRACKING_BUILT_AT: &str = "tracking_built_at_ms";
pub const LISTING_BUILT_AT: &str = "listing_built_at_ms";
/// The version of the listing that the pointer in KV names, and the time at which that pointer was written.
pub const POINTED_LISTING: &str = "pointed_listing";
pub const POINTED_AT: &str = "pointed_at_ms";
pub const CONFIRMED_AT: &str = "confirmed_at_ms";
/// The slot number at which the next routine rebuild begins, for each kind of slots.
pub const CHECKED_SLOTS: &str = "checked_slots";
/// The format in which the bodies of all offers are rendered.
pub const BODIES_FORMAT: &str = "bodies_format";
/// The code that last published, as [`own_code`](super::publication::own_code).
pub const PUBLISHED_BY: &str = "published_by";
/// The sealing keys of the last complete pass of [`resealing`](super::resealing), as a number.
pub const SEALED_BY: &str = "sealed_by";
/// The number of values that were not sealed with the current sealing keys when the values were last counted or
/// resealed.
pub const OLD_SEALS: &str = "old_seals";
/// When a pass of [`resealing`](super::resealing) became due, in milliseconds.
pub const RESEAL_FROM: &str = "reseal_from_ms";
/// The bytes that active offers take in the listing.
pub const LISTED_BYTES: &str = "listed_bytes";
/// The number of the newest import.
pub const IMPORT: &str = "import";
/// The number of the import that is decided and not yet applied.
pub const DECIDED_IMPORT: &str = "decided_import";
/// The newest snapshot version of either kind.
pub const VERSION: &str = "version";

/// Returns a mark's value, if it is set.
pub fn get(db: &impl Database, name: &str) -> DbResult<Option<i64>> {
    db.query_integer(sql::GET_MARK, params![name])
}

pub fn set(db: &impl Database, name: &str, value: i64) -> DbResult {
    db.execute(sql::SET_MARK, params![name, value])
}

pub fn clear(db: &impl Database, name: &str) -> DbResult {
    db.execute(sql::CLEAR_MARK, params![name])
}

/// Returns the version of the next snapshot. Versions are numbered like a [`revision`], so that a restored catalog
/// reuses no version and its snapshots replace earlier ones.
pub fn next_snapshot(db: &impl Database, now_ms: i64) -> DbResult<u64> {
    let version = revision::after(get(db, VERSION)?.unwrap_or_default(), now_ms);
    set(db, VERSION, version)?;
    Ok(u64::try_from(version).unwrap_or_default())
}

/// Returns the last revision; 0 before the first change.
pub fn last(db: &impl Database) -> DbResult<i64> {
    get(db, CHANGE).map(Option::unwrap_or_default)
}

/// Makes a publication of the tracking snapshot due.
pub fn mark_changed(db: &impl Database, now_ms: i64) -> DbResult {
    db.execute(sql::MARK_IF_NEW, params![TRACKING_DIRTY_SINCE, now_ms])
}

/// Records a change that the tracking snapshot must include, and returns its [`revision`]. The caller marks the changed
/// [slots](super::tracking_slots).
pub fn record(db: &impl Database, now_ms: i64) -> DbResult<i64> {
    mark_changed(db, now_ms)?;
    let revision = revision::after(last(db)?, now_ms);
    set(db, CHANGE, revision)?;
    Ok(revision)
}

/// Reads the revision in force and, from the next column, the time `since`. The revision also pays for clicks before
/// that time.
pub fn in_force(row: &Row, column: usize) -> DbResult<TermsInForce> {
    Ok(TermsInForce { revision: row.integer(column)?, since: row.integer(column + 1)? })
}
