//! Flushes the isolate's click counts to the counters, in the lifetime of a click that was already answered.

use std::{rc::Rc, time::Duration};

use futures_util::{StreamExt, stream};
use worker::Delay;

use crate::isolate::{Isolate, RequestContext};
use contract::{counters, operation::CallError};
use domain::tracking::click_counts::{Batch, ClickKind, Duty};
use platform::{CONNECTIONS, ObjectCall, catch_panics, faults, log, runtime, workers::Workers};

const TIMEOUT: Duration = Duration::from_secs(10);
/// The time over which the calls of one round are spread, in milliseconds, so that no click waits for all of them. It
/// is shorter than the interval of the rounds, so that an object has answered before its next batch.
const SPREAD_MS: i64 = 800;
/// Maximum failed rounds of one request. A later click's request then retries the batches, since the runtime ends a
/// request's background work 30 seconds after its answer.
const MAX_ATTEMPTS: usize = 3;

/// Counts a click that was answered.
pub fn count(context: &RequestContext, kind: ClickKind<'_>) {
    let object = counters::click_object(kind.offer);
    let duty = context.isolate.counts.borrow_mut().add(object, kind, context.now_ms);
    let Duty::Send { wait_ms, batch } = duty else {
        return;
    };
    let (workers, isolate) = (context.workers.clone(), Rc::clone(&context.isolate));
    context.go_on(async move {
        if wait_ms > 0 {
            pause(wait_ms).await;
        }
        send_if_open(&workers, &isolate, batch).await;
    });
}

/// Sends the due batches, unless another request has already sent this batch.
pub async fn send_if_open(workers: &Workers, isolate: &Isolate, batch: u64) {
    let is_open = isolate.counts.borrow().is_open(batch);
    if is_open {
        send(workers, isolate).await;
    }
}

async fn pause(ms: i64) {
    Delay::from(Duration::from_millis(u64::try_from(ms).unwrap_or(0))).await;
}

/// Sends the due batches. Then sends the batches that became due during the calls and that no other request will send.
async fn send(workers: &Workers, isolate: &Isolate) {
    let mut attempts = 0;
    while attempts < MAX_ATTEMPTS {
        let batches = isolate.counts.borrow_mut().take(runtime::now_ms());
        let step_ms = SPREAD_MS / i64::try_from(batches.len()).unwrap_or(1).max(1);
        let sent: Vec<bool> = stream::iter(batches)
            .enumerate()
            .then(async |(number, batch)| {
                if number > 0 {
                    pause(step_ms).await;
                }
                batch
            })
            .map(|batch| send_batch(workers, isolate, batch))
            .buffer_unordered(CONNECTIONS)
            .collect()
            .await;
        if sent.into_iter().all(|arrived| arrived) {
            if isolate.counts.borrow().has_unscheduled() {
                continue;
            }
            return;
        }
        attempts += 1;
        let pause_ms = isolate.counts.borrow().interval_ms();
        pause(pause_ms).await;
    }
}

/// Sends one batch and returns whether it was confirmed. A panic counts as a missing answer.
async fn send_batch(workers: &Workers, isolate: &Isolate, batch: Batch) -> bool {
    let (object, sequence) = (batch.object, batch.sequence);
    let sent = catch_panics(try_send(workers, isolate, batch)).await;
    sent.unwrap_or_else(|panic| {
        log::error("click_flush", format_args!("click batch {sequence} failed: {panic}"));
        let mut counts = isolate.counts.borrow_mut();
        counts.record_failure(object, sequence, false, runtime::now_ms());
        false
    })
}

async fn try_send(workers: &Workers, isolate: &Isolate, batch: Batch) -> bool {
    let Batch { object, sequence, sums } = batch;
    faults::inject("click_flush", "before");
    let flush = counters::Flush { isolate: isolate.id.clone(), sequence, sums };
    let name = counters::name(object);
    let answer = workers.call(&counters::address(name.clone()), flush, TIMEOUT).await;
    faults::inject("click_flush", "after");
    let mut counts = isolate.counts.borrow_mut();
    match answer {
        Ok(_) => {
            counts.confirm(object, sequence);
            true
        }
        Err(error) => {
            log::warn(
                "click_flush",
                format_args!("click batch {sequence} did not reach {name}, and is sent again: {error}"),
            );
            let busy = matches!(&error, CallError::Unanswered(cause) if cause.overloaded);
            counts.record_failure(object, sequence, busy, runtime::now_ms());
            false
        }
    }
}
