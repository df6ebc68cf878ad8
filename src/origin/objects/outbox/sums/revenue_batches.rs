//! Sends revenue to ledgers and conversions to counters, in numbered [batches](crate::delivery::batches).

use std::{cell::Cell, time::Duration};

use super::day;
use crate::{
    delivery::batches::{Batch, DeliveryError, sender},
    objects::outbox::{
        calls,
        endpoint::{self, OutboxState},
        log::entries::TO_LEDGER,
        period,
    },
};
use contract::{counters, ledger};
use platform::{
    database::{Database, DatabaseError},
    traits::{Clock, ObjectCall},
};

/// The timeout of a call to a ledger.
const LEDGER_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends all due batches. `opened_ms` is the start of the period in which the outbox opened batches last: it is woken for
/// other work too, and a batch for each wake-up would cost more commits than the conversions.
pub async fn send(
    db: &impl Database,
    runtime: &(impl Clock + ObjectCall),
    opened_ms: &Cell<i64>,
) -> Result<(), DatabaseError> {
    let Some(state) = endpoint::read(db)? else {
        return Ok(());
    };
    let source = state.shard.object_name();
    let deliver = async |batch: &Batch| send_batch(runtime, &state, &source, batch).await;
    let acknowledge = |batch: &Batch| day::confirm(db, batch);
    let start_ms = period(Some(&state), runtime.now_ms()).start;
    let opens = opened_ms.replace(start_ms) != start_ms;
    while sender::send(db, runtime, &source, opens, deliver, acknowledge).await? {}
    Ok(())
}

async fn send_batch(
    runtime: &impl ObjectCall,
    state: &OutboxState,
    source: &str,
    batch: &Batch,
) -> Result<(), DeliveryError> {
    let applied = if batch.destination == TO_LEDGER {
        let publisher = state.current.as_ref().map(|current| &current.publisher_id);
        let publisher =
            publisher.ok_or_else(|| DeliveryError::Unanswered("the publisher is not known yet".into()))?;
        let operation = batch.to_ledger(source).map_err(DeliveryError::Refused)?;
        let ledger = ledger::address(publisher, ledger::BATCH);
        runtime.call(&ledger, operation, LEDGER_TIMEOUT).await
    } else {
        let operation = batch.to_counters(source).map_err(DeliveryError::Refused)?;
        let counters = counters::address(batch.destination.clone());
        runtime.call(&counters, operation, calls::TIMEOUT).await
    };
    applied.map(drop).map_err(DeliveryError::from)
}
