//! The sending of an object's numbered batches, as Workers runs it. Which is due, and what a failure means, is in the book
//! ([`forward`]).

use futures_util::{StreamExt, stream};

use super::{
    CONNECTIONS,
    database::DatabaseError,
    durable::DurableDatabase,
    forward::{self, Batch, Untold},
};
use crate::{log, runtime::now_ms};

/// Begins the batches that can be begun, has `tell` send those that are due, and writes down what became of each.
/// `source` is what lines of the log call this object. Returns whether there is more to do at once.
///
/// # Errors
/// What the database says. What cannot be written down is not to be tried again at once.
pub async fn forward(
    db: &DurableDatabase,
    source: &str,
    tell: impl AsyncFn(&Batch) -> Result<(), Untold>,
) -> Result<bool, DatabaseError> {
    // A batch leaves the object only when it is durable: the runtime holds requests back until what was written before
    // them is. A number that was lost with its batch would be given to other sums. And what cannot be begun keeps
    // nothing that was begun from being sent.
    let more = forward::prepare(db, now_ms());
    let batches = forward::outstanding(db, now_ms())?;
    let settled: Vec<_> = stream::iter(batches)
        .map(|batch| settle(db, source, &tell, batch))
        .buffer_unordered(CONNECTIONS)
        .collect()
        .await;
    settled.into_iter().collect::<Result<(), _>>()?;
    more
}

async fn settle(
    db: &DurableDatabase,
    source: &str,
    tell: &impl AsyncFn(&Batch) -> Result<(), Untold>,
    batch: Batch,
) -> Result<(), DatabaseError> {
    let told = tell(&batch).await;
    let of_batch = || format!("{source}: {}: batch {}", batch.destination, batch.sequence);
    match told {
        Ok(()) => forward::acknowledge(db, &batch),
        Err(Untold::Refused(why)) => {
            log::error("forward", format_args!("{}: {why}", of_batch()));
            forward::refused(db, &batch, now_ms())
        }
        Err(Untold::Unanswered(why)) => {
            log::warn("forward", format_args!("{}: {why}", of_batch()));
            forward::failed(db, &batch, now_ms())
        }
    }
}
