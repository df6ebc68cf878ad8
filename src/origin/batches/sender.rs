//! Sends an object's numbered [batches](super). Which is due, and what a failure means, is decided there.

use futures_util::{StreamExt, stream};

use super::{Batch, DeliveryError};
use crate::batches;
use platform::{
    CONNECTIONS,
    database::{Database, DatabaseError},
    log,
    traits::Clock,
};

/// Opens the batches that can be opened, has `deliver` send those that are due, and records the outcome of each. `source` is
/// the object's name in the log. Returns whether there is more to do at once.
///
/// # Errors
/// The database failed. A write that failed is not to be tried again at once.
pub async fn send(
    db: &impl Database,
    clock: &impl Clock,
    source: &str,
    deliver: impl AsyncFn(&Batch) -> Result<(), DeliveryError>,
) -> Result<bool, DatabaseError> {
    // A batch leaves the object only when it is durable: the runtime holds requests back until earlier writes are. A number
    // that was lost with its batch would be given to other sums. And a batch that cannot be opened keeps no open one from
    // being sent.
    let more = batches::prepare(db, clock.now_ms());
    let due = batches::outstanding(db, clock.now_ms())?;
    let settled: Vec<_> = stream::iter(due)
        .map(|batch| settle(db, clock, source, &deliver, batch))
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
    batch: Batch,
) -> Result<(), DatabaseError> {
    let delivered = deliver(&batch).await;
    let subject = || format!("{source}: {}: batch {}", batch.destination, batch.sequence);
    match delivered {
        Ok(()) => batches::acknowledge(db, &batch),
        Err(DeliveryError::Refused(cause)) => {
            log::error("batches", format_args!("{}: {cause}", subject()));
            batches::refused(db, &batch, clock.now_ms())
        }
        Err(DeliveryError::Unanswered(cause)) => {
            log::warn("batches", format_args!("{}: {cause}", subject()));
            batches::failed(db, &batch, clock.now_ms())
        }
    }
}
