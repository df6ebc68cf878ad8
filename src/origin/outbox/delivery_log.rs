//! Counts callback attempts per isolate, and logs each attempt that did not deliver.

use std::cell::Cell;

use super::deliveries::ClaimedCallback;
use domain::{
    callbacks::delivery::{Judgement, Next},
    model::time::SECOND_MS,
};
use platform::{
    http_call::HttpCall,
    log::{self, Event, Level, Line},
};

thread_local! {
    static COUNTS: Cell<AttemptCounts> =
        const { Cell::new(AttemptCounts { delivered: 0, failed: 0, dead: 0 }) };
}

/// Callback attempts of all outboxes in this isolate since it started, by result.
#[derive(Clone, Copy)]
pub struct AttemptCounts {
    pub delivered: u64,
    /// Failed, to be retried later.
    pub failed: u64,
    /// Failed as the last attempt: the callback became a dead letter.
    pub dead: u64,
}

pub fn counts() -> AttemptCounts {
    COUNTS.get()
}

/// Counts an attempt, and logs it if it did not deliver. `attempts` includes this one.
pub fn record(
    now_ms: i64,
    callback: &ClaimedCallback,
    call: &HttpCall,
    attempts: u32,
    judgement: &Judgement,
) {
    let mut counts = COUNTS.get();
    let counted = match judgement.next {
        Next::Delivered => &mut counts.delivered,
        Next::At(_) | Next::Kept => &mut counts.failed,
        Next::Dead => &mut counts.dead,
    };
    *counted += 1;
    COUNTS.set(counts);
    if judgement.next == Next::Delivered {
        return;
    }
    let dead = judgement.next == Next::Dead;
    let level = if dead { Level::Error } else { Level::Warn };
    log::write(&Line {
        app: Some(&callback.fields.app_id),
        offer: Some(&callback.fields.offer_id),
        transaction_id: Some(&callback.fields.transaction_id),
        attempts: Some(attempts),
        status: call.outcome.as_ref().ok().map(|answer| answer.status),
        cause: call.outcome.as_ref().err().map(|no_answer| no_answer.cause),
        next_try: match judgement.next {
            Next::At(at_ms) => Some(at_ms.div_euclid(SECOND_MS)),
            _ => None,
        },
        dead: Some(dead),
        disabled: judgement.disables.then_some(true),
        ms: Some(call.took_ms),
        ..Line::new(now_ms, level, Event::Callback)
    });
}
