//! Observes callback attempts. Production counts attempts per isolate, and logs the attempts that did not deliver.

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

/// Observes the start and the end of each attempt of a callback. Production logs attempts; the simulation checks them.
pub trait Observer {
    fn claimed(&self, _callback: &ClaimedCallback) {}

    /// Called when a callback ended without an attempt, because the publisher does not want it.
    fn skipped(&self, _entry: i64) {}

    fn concluded(&self, now_ms: i64, result: &AttemptResult<'_>);
}

/// The end of an attempt.
#[derive(Clone, Copy)]
pub struct AttemptResult<'a> {
    pub callback: &'a ClaimedCallback,
    pub call: &'a HttpCall,
    pub judgement: &'a Judgement,
    /// True if the result was stored.
    pub written: bool,
}

/// Production's observer.
pub struct DeliveryLog;

impl Observer for DeliveryLog {
    fn concluded(&self, now_ms: i64, result: &AttemptResult<'_>) {
        let AttemptResult { callback, call, judgement, .. } = result;
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
            attempts: Some(callback.attempts_made.saturating_add(1)),
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
}
