//! Retention: deletes expired rows. Entries are kept for 401 days, as in outboxes. Counts are kept while their days are
//! shown.

use domain::{
    conversions::reward::CLICK_LIFE_DAYS,
    model::{DAY_MS, time::next_night_ms},
};
use platform::{Database, DbResult, params};

use super::publisher::{feed_batches::first_day, sql};
use crate::{
    delivery::register,
    objects::activity::{alarms, attention},
};
use contract::activity::REPLAY_RETENTION_MS;
use domain::conversions::log_number::first_number;

/// Deletes expired rows. Returns when the next sweep is due. May be repeated at any time.
pub fn sweep(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    let first_day = first_day(now_ms);
    db.execute(sql::SWEEP_OUTBOX_COUNTS, params![first_day])?;
    db.execute(sql::SWEEP_COUNTS, params![first_day])?;
    let kept_from = first_number(now_ms.saturating_sub((CLICK_LIFE_DAYS + 1) * DAY_MS));
    db.execute(sql::DELETE_ENTRIES, params![kept_from.saturating_sub(1)])?;
    db.execute(sql::SWEEP_REPLAYS, params![now_ms.saturating_sub(REPLAY_RETENTION_MS)])?;
    register::sweep(db, now_ms)?;
    attention::size::sweep(db, now_ms)?;
    attention::isolates::sweep(db, now_ms)?;
    alarms::sweep(db, now_ms)?;
    next_alarm(db, now_ms)
}

/// Returns the time of the next sweep, replay step or alarm, whichever is earliest; `None` if nothing is due.
pub fn next_alarm(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    let has_rows = db.query_boolean(sql::ANYTHING_KEPT, &[])? || db.query_boolean(attention::sql::HAS_TO_SWEEP, &[])?;
    let replay_ms = db.query_integer(sql::FIRST_REPLAY, &[])?;
    let night_ms = has_rows.then(|| next_night_ms(now_ms));
    let register_ms = register::sweep_due_ms(db)?;
    let alarms_ms = alarms::due_ms(db)?;
    Ok([replay_ms, night_ms, register_ms, alarms_ms].into_iter().flatten().min())
}
