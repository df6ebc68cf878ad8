//! Counts the tries of callbacks in the isolate that their outboxes live in, and logs each try that did not deliver.

use std::cell::Cell;

use super::deliveries::Try;
use domain::{
    callbacks::delivery::{Judgement, Next},
    model::time::SECOND_MS,
};
use platform::{
    http_call::HttpCall,
    log::{self, Event, Level, Line},
};

thread_local! {
    static TRIES: Cell<Tries> = const { Cell::new(Tries { delivered: 0, failed: 0, dead: 0 }) };
}

/// Tries of callbacks by the outboxes that live in this isolate, since it started.
#[derive(Clone, Copy)]
pub struct Tries {
    pub delivered: u64,
    /// Tried again later, or kept.
    pub failed: u64,
    /// The last of their callback.
    pub dead: u64,
}

pub fn so_far() -> Tries {
    TRIES.get()
}

/// Counts a try, and tells the log of one that did not deliver.
pub fn note(now_ms: i64, tried: &Try, call: &HttpCall, made: u32, judgement: &Judgement) {
    let mut tries = TRIES.get();
    let counted = match judgement.next {
        Next::Delivered => &mut tries.delivered,
        Next::At(_) | Next::Kept => &mut tries.failed,
        Next::Dead => &mut tries.dead,
    };
    *counted += 1;
    TRIES.set(tries);
    if judgement.next == Next::Delivered {
        return;
    }
    let dead = judgement.next == Next::Dead;
    let level = if dead { Level::Error } else { Level::Warn };
    log::write(&Line {
        app: Some(&tried.fields.app_id),
        offer: Some(&tried.fields.offer_id),
        transaction_id: Some(&tried.fields.transaction_id),
        tries: Some(made),
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
