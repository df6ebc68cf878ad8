//! A restored outbox may have permanently lost payments: its ledger has them, but no journal does. Conversions of
//! clicks from before the last lost payment may have been paid, so they are held for 72 hours and then decided again.

use super::{
    peers::Peers,
    sums::{
        revenue_batches::TO_LEDGER,
        sql::{HAS_NUMBER, LAST_NUMBER},
    },
};
use crate::delivery::{batches, register};
use contract::{attention::Doubt, outbox::OutboxShard};
use domain::{
    conversions::{log_number::first_number, reward::CLICK_LIFE_DAYS},
    model::{DAY_MS, HOUR_MS},
};
use platform::{Clock, Database, DbResult, ObjectCall, log, params};

const HELD_MS: i64 = 3 * DAY_MS;
/// How long an outbox that was put back on purpose refuses conversions if its journal does not answer.
const WAITS_MS: i64 = HOUR_MS;

platform::statements! {
    /// last lost number, end of the holds → one row if that number is new
    pub const NOTE = "UPDATE outbox SET lost = ?1, gap_until_ms = ?2 WHERE lost < ?1 RETURNING lost";
    /// lost number: lets the next start note it again
    pub const NOTE_AGAIN = "UPDATE outbox SET lost = lost - 1 WHERE lost = ?";
    /// now: ends the holds if the journal had the lost number
    pub const LIFT = "UPDATE outbox SET gap_until_ms = ?1 WHERE gap_until_ms > ?1
        AND (EXISTS (SELECT 1 FROM entries WHERE entry = lost)
          OR EXISTS (SELECT 1 FROM entries WHERE movement <> entry AND movement = lost))";
    /// now: has held conversions decided again, unless the publisher is suspended → one row if that is due
    pub const END = "UPDATE outbox SET gap_until_ms = NULL, released = IIF(suspended, NULL, 0) WHERE gap_until_ms <= ?
        RETURNING released";
    /// time. The callback settings of a copy may have been replaced.
    pub const PUT_BACK = "UPDATE outbox SET put_back_ms = ?, callback_revision = -1";
    pub const GET_PUT_BACK = "SELECT put_back_ms FROM outbox";
}

/// Records that the outbox was put back on purpose, within the caller's transaction.
pub fn put_back(db: &impl Database, now_ms: i64) -> DbResult {
    db.execute(PUT_BACK, params![now_ms])
}

/// True if something may be lost: the outbox was put back on purpose recently, or the ledger has a number that the log lacks.
pub fn is_behind(db: &impl Database, now_ms: i64) -> DbResult<bool> {
    let put_back_ms = db.query_integer(GET_PUT_BACK, &[])?.unwrap_or(0);
    Ok(now_ms < put_back_ms.saturating_add(WAITS_MS) || lost(db, now_ms)?.is_some())
}

/// Returns the ledger's last number if the log lacks it, unless it is older than any click: such entries may be
/// deleted.
pub fn lost(db: &impl Database, now_ms: i64) -> DbResult<Option<i64>> {
    let mark = batches::mark_of(db, TO_LEDGER)?;
    let oldest = first_number(now_ms.saturating_sub(CLICK_LIFE_DAYS * DAY_MS));
    let is_lost = mark > oldest && !db.query_boolean(HAS_NUMBER, params![mark])?;
    Ok(is_lost.then_some(mark))
}

/// Notes the payments that are still missing after the journal has put back what it has, and tells the operator.
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
            format_args!("{source} has permanently lost number {lost}; its log ends at {last}"),
        );
        let doubts = vec![Doubt::new(format!("{source}: payments"), "after_restore")];
        if register::tell(runtime, &source, None, doubts).await.is_err() {
            db.execute(NOTE_AGAIN, params![lost])?;
        }
    }
    Ok(())
}

/// Ends the holds once they are due.
pub fn end(db: &impl Database, peers: &impl Peers) -> DbResult {
    if db.query_first(END, params![peers.now_ms()])?.is_some() {
        peers.state_cache().set_current(None);
    }
    Ok(())
}
