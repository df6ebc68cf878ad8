//! Sends an object's numbered [batches](super), which decide what is due and how failures are retried.

use futures_util::{StreamExt, stream};

use super::{Batch, DeliveryError};
use crate::delivery::{
    attention_feed::{open_late, open_refused},
    batches,
};
use platform::{
    CONNECTIONS,
    database::{Database, DatabaseError},
    log,
    traits::Clock,
};

/// Failed attempts after which one more makes a batch late: those waited for 75 s and their timeouts.
const LATE_AFTER: u32 = 4;

/// Opens batches if `opens`, calls `deliver` for those that are due, and records each outcome: `acknowledge` that of a batch
/// that was applied. `source` is the object's name in the log. Returns whether there is more to do at once.
///
/// # Errors
/// The database failed. The caller should not repeat a failed write at once.
pub async fn send(
    db: &impl Database,
    clock: &impl Clock,
    source: &str,
    opens: bool,
    deliver: impl AsyncFn(&Batch) -> Result<(), DeliveryError>,
    acknowledge: impl Fn(&Batch) -> Result<(), DatabaseError>,
) -> Result<bool, DatabaseError> {
    // A batch must be durable before it is sent, or its number could be reused for other sums; the runtime holds
    // requests back until earlier writes are durable. If opening fails, batches that are open already are still sent.
    let more = if opens {
        batches::prepare(db, clock.now_ms())
    } else {
        Ok(false)
    };
    let due = batches::outstanding(db, clock.now_ms())?;
    let settled: Vec<_> = stream::iter(due)
        .map(|batch| settle(db, clock, source, &deliver, &acknowledge, batch))
        .buffer_unordered(CONNECTIONS)
        .collect()
        .await;
    settled.into_iter().collect::<Result<(), _>>()?;
    more
}

async fn settle(
    db: &impl Database,
    clock: &impl Clock,
    source: &str,
    deliver: &impl AsyncFn(&Batch) -> Result<(), DeliveryError>,
    acknowledge: &impl Fn(&Batch) -> Result<(), DatabaseError>,
    batch: Batch,
) -> Result<(), DatabaseError> {
    let delivered = deliver(&batch).await;
    let subject = || format!("{source}: {}: batch {}", batch.destination, batch.sequence);
    match delivered {
        Ok(()) => acknowledge(&batch),
        Err(DeliveryError::Refused(cause)) => {
            log::error("batches", format_args!("{}: {cause}", subject()));
            let now_ms = clock.now_ms();
            db.transaction(|| {
                open_refused(db, now_ms, &batch.destination, batch.sequence, &cause)?;
                batches::refused(db, &batch, now_ms)
            })
        }
        Err(DeliveryError::Unanswered(cause)) => {
            log::warn("batches", format_args!("{}: {cause}", subject()));
            let now_ms = clock.now_ms();
            db.transaction(|| {
                if batch.attempts >= LATE_AFTER {
                    open_late(db, now_ms, &batch.destination, batch.sequence)?;
                }
                batches::failed(db, &batch, now_ms)
            })
        }
    }
}
