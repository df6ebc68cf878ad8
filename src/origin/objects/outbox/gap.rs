//! What an outbox that was put back has lost for good: payments that its ledger has, and no journal. Conversions of clicks of that
//! time may have been paid, so they are held for 72 hours, and then judged again.

use super::{
    peers::Peers,
    sums::{revenue_batches::TO_LEDGER, sql::LAST_NUMBER},
};
use crate::delivery::{batches, register};
use contract::{attention::Doubt, outbox::OutboxShard};
use domain::{
    conversions::{log_number::first_number, reward::CLICK_LIFE_DAYS},
    model::time::DAY_MS,
};
use platform::{
    database::{Database, DatabaseError},
    log, params,
    traits::{Clock, ObjectCall},
};

const HELD_MS: i64 = 3 * DAY_MS;

/// The last number that a receiver has and the log lacks, and until when conversions are held for it.
pub const COLUMNS: &[&str] = &[
    "ALTER TABLE outbox ADD COLUMN lost INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE outbox ADD COLUMN gap_until_ms INTEGER",
];

platform::statements! {
    /// last lost number, end of the holds → one row if that number is new
    pub const NOTE = "UPDATE outbox SET lost = ?1, gap_until_ms = ?2 WHERE lost < ?1 RETURNING lost";
    /// now: what was held is judged again → one row if that is due
    pub const END = "UPDATE outbox SET gap_until_ms = NULL, released = 0 WHERE gap_until_ms <= ? RETURNING released";
}

/// Notes what is lost for good, once the journal has put back what it has, and tells the operator.
pub async fn note(
    db: &impl Database,
    runtime: &(impl Clock + ObjectCall),
    own: OutboxShard,
) -> Result<(), DatabaseError> {
    let (source, now_ms) = (own.object_name(), runtime.now_ms());
    let lost = batches::mark_of(db, TO_LEDGER)?;
    let last = db.query_integer(LAST_NUMBER, &[])?.unwrap_or(0);
    // An older log may have left, and no click is so old.
    let oldest = first_number(now_ms.saturating_sub(CLICK_LIFE_DAYS * DAY_MS));
    let until_ms = now_ms.saturating_add(HELD_MS);
    if lost > last.max(oldest) && db.query_first(NOTE, params![lost, until_ms])?.is_some() {
        log::error("journal", format_args!("{source}: up to {lost} is lost for good"));
        // What is held is listed, too.
        let doubts = vec![Doubt::new(format!("{source}: payments"), "after_restore")];
        drop(register::tell(runtime, &source, None, doubts).await);
    }
    Ok(())
}

/// Ends the holds once they are due.
pub fn end(db: &impl Database, peers: &impl Peers) -> Result<(), DatabaseError> {
    if db.query_first(END, params![peers.now_ms()])?.is_some() {
        peers.state_cache().set_current(None);
    }
    Ok(())
}
