//! Decides when the catalog publishes snapshots, pushes settings, caps and suspensions, reports waiting and closed
//! publishers, continues an import, and reseals secrets. The object's one alarm is set to the earliest due time.

use super::{callback_sync::QueuedSettings, cap_sync::QueuedCap, import_claims, revisions, waiting::Waiting};
use crate::delivery::push::Push;
use contract::accounts::Suspend;
use domain::{model::SECOND_MS, offers::page::REFRESH_MS};
use platform::{Database, DbResult};

/// How long the operator's changes are collected before they are published, in milliseconds.
const COALESCE_MS: i64 = SECOND_MS;

/// Returns when the tracking snapshot is due; none if nothing changed.
pub fn tracking_due_ms(db: &impl Database) -> DbResult<Option<i64>> {
    let dirty_since_ms = revisions::get(db, revisions::TRACKING_DIRTY_SINCE)?;
    Ok(dirty_since_ms.map(|since_ms| since_ms.saturating_add(COALESCE_MS)))
}

/// Returns when the listing is due: at the next five-minute boundary after its last publication, or at once if there
/// was none.
pub fn listing_due_ms(db: &impl Database) -> DbResult<i64> {
    let built_at_ms = revisions::get(db, revisions::LISTING_BUILT_AT)?;
    Ok(built_at_ms
        .map_or(0, |built_at_ms| built_at_ms.div_euclid(REFRESH_MS).saturating_add(1).saturating_mul(REFRESH_MS)))
}

/// Returns when the alarm must fire next; never a time in the past.
pub fn next_alarm(db: &impl Database, now_ms: i64) -> DbResult<i64> {
    let listing_ms = listing_due_ms(db)?;
    let import_ms = import_claims::decided(db)?.map(|_| now_ms);
    let others = [
        import_ms,
        revisions::get(db, revisions::RESEAL_FROM)?,
        tracking_due_ms(db)?,
        QueuedSettings::next_ms(db)?,
        Suspend::next_ms(db)?,
        QueuedCap::next_ms(db)?,
        Waiting::next_ms(db)?,
    ];
    let due_ms = others.into_iter().flatten().fold(listing_ms, i64::min);
    Ok(due_ms.max(now_ms))
}
