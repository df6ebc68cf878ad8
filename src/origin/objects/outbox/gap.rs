//! A restored outbox may have lost payments for good: its ledger has them, but its journal does not. Conversions of
//! clicks from before the last lost payment may have been paid, so they are held for 72 hours and then re-evaluated.

use super::{
    endpoint,
    peers::Peers,
    sums::{revenue_batches::lost, sql::LAST_NUMBER},
};
use crate::delivery::register;
use contract::{attention::Doubt, outbox::OutboxShard};
use domain::model::{DAY_MS, HOUR_MS};
use platform::{Clock, Database, DbResult, ObjectCall, log, params};

const HELD_MS: i64 = 3 * DAY_MS;
/// How long an outbox that was restored on purpose refuses conversions while its journal does not answer, in
/// milliseconds.
const WAITS_MS: i64 = HOUR_MS;

platform::statements! {
    /// last lost number, end of the holds → one row, if the number is higher than the noted one
    pub const NOTE = "UPDATE outbox SET lost = ?1, gap_until_ms = ?2 WHERE lost < ?1 RETURNING lost";
    /// lost number: lets the object's next start note the number again
    pub const NOTE_AGAIN = "UPDATE outbox SET lost = lost - 1 WHERE lost = ?";
    /// current time: ends the holds if the log has the lost number again, because the journal had it
    pub const LIFT = "UPDATE outbox SET gap_until_ms = ?1 WHERE gap_until_ms > ?1
        AND (EXISTS (SELECT 1 FROM entries WHERE entry = lost)
          OR EXISTS (SELECT 1 FROM entries WHERE movement <> entry AND movement = lost))";
    /// current time → one row, if the holds end now. Then held conversions are re-evaluated, unless the publisher is
    /// suspended
    pub const END = "UPDATE outbox SET gap_until_ms = NULL, released = IIF(suspended, NULL, 0) WHERE gap_until_ms <= ?
        RETURNING released";
    pub const PUT_BACK = "UPDATE outbox SET put_back_ms = ?";
    pub const GET_PUT_BACK = "SELECT put_back_ms FROM outbox";
}

/// Records that the outbox was restored on purpose, within the caller's transaction.
pub fn put_back(db: &impl Database, now_ms: i64) -> DbResult {
    db.execute(PUT_BACK, params![now_ms])?;
    endpoint::forget_current(db)
}

/// True if payments may be lost: the outbox was recently restored on purpose, or the ledger has a number that the log
/// lacks.
pub fn is_behind(db: &impl Database, now_ms: i64) -> DbResult<bool> {
    let put_back_ms = db.query_integer(GET_PUT_BACK, &[])?.unwrap_or(0);
    Ok(now_ms < put_back_ms.saturating_add(WAITS_MS) || lost(db, now_ms)?.is_some())
}

/// Notes the payments that are still lost after the refill from the journal, and tells the operator.
pub async fn note(db: &impl Database, runtime: &(impl Clock + ObjectCall), own: OutboxShard) -> DbResult {
    let (source, now_ms) = (own.object_name(), runtime.now_ms());
    db.execute(LIFT, params![now_ms])?;
    let Some(lost) = lost(db, now_ms)? else {
        return Ok(());
    };
    let until_ms = now_ms.saturating_add(HELD_MS);
    if db.query_first(NOTE, params![lost, until_ms])?.is_some() {
        let last = db.query_integer(LAST_NUMBER, &[])?.unwrap_or(0);
        log::error(
            "journal",
            format_args!("{source} has permanently lost its payments up to number {lost}; its log ends at {last}"),
        );
        let mut doubts = vec![Doubt::new(format!("{source}: payments"), "after_restore")];
        if last > lost {
            doubts.push(Doubt::new(format!("{source}: new rewards"), "paid_unknowing"));
        }
        if register::tell(runtime, &source, None, doubts).await.is_err() {
            db.execute(NOTE_AGAIN, params![lost])?;
        }
    }
    Ok(())
}

/// Ends the holds once they are due.
pub fn end(db: &impl Database, peers: &impl Peers) -> DbResult {
    if db.query_first(END, params![peers.now_ms()])?.is_some() {
        peers.state_cache().current.set(None);
    }
    Ok(())
}
