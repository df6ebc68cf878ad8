//! Sends the messages of alarms with the sender, URL checks and schedule of callbacks. An object sends one message at a
//! time.

use serde_json::json;

use super::{
    address, compose, sql,
    words::{Sites, test_body},
};
use crate::delivery::callback_sender::CallbackSender;
use contract::operation::OperatorReply;
use domain::{
    callbacks::delivery::Next,
    model::{HOUR_MS, SECOND_MS},
};
use platform::{
    Database, DbResult, Failure, Result,
    http_call::HttpCall,
    log::{self, Event, Level, Line},
    params,
    traits::{Clock, Http, Random},
};

/// Maximum messages per run of the object's timer, so that the object does its other work between two messages.
const MAX_MESSAGES: usize = 1;
/// How long a message waits if the address cannot be decrypted, in milliseconds.
const UNREADABLE_MS: i64 = HOUR_MS;

/// Composes messages from the due causes, and sends at most `MAX_MESSAGES` due messages.
///
/// # Errors
/// The database failed, or the runtime returned no random bytes.
pub async fn send_due(
    db: &impl Database,
    runtime: &(impl Clock + Http + Random),
    sender: &CallbackSender,
    sites: &Sites,
) -> Result {
    compose(db, runtime.now_ms(), sites)?;
    for _ in 0..MAX_MESSAGES {
        let now_ms = runtime.now_ms();
        let Some(row) = db.query_first(sql::NEXT_MESSAGE, params![now_ms])? else {
            return Ok(());
        };
        let (message, attempts): (i64, u32) = (row.integer(0)?, row.number::<u32>(3)?.saturating_add(1));
        let endpoint = match address::endpoint(db, sender) {
            Ok(Some(endpoint)) => endpoint,
            Ok(None) => return Ok(()),
            Err(failure) => {
                // No key decrypts the address. The messages wait for the key or a new address; replays continue.
                log::error("alarms", failure);
                let later_ms = now_ms.saturating_add(UNREADABLE_MS);
                let attempts = attempts.saturating_sub(1);
                return Ok(db.execute(sql::SET_MESSAGE, params![attempts, later_ms, message])?);
            }
        };
        // If this process ends during the call, the message becomes due again, with the same id.
        let again_ms = now_ms.saturating_add(sender.claim_ms());
        db.execute(sql::SET_MESSAGE, params![attempts, again_ms, message])?;
        let request = endpoint.message(row.text(1)?, row.text(2)?.to_owned(), now_ms.div_euclid(SECOND_MS));
        let set_ms = address::set_ms(db)?;
        let call = sender.call(runtime, &request, sender.timeout()).await;
        // If the address changed during the call, the new address gets all attempts, and this failure does not count.
        let is_current = address::set_ms(db)? == set_ms;
        let judgement = sender.judge(runtime, attempts, &call)?;
        let publisher = address::publisher(db)?;
        log_attempt(runtime.now_ms(), publisher.as_deref(), attempts, &call, judgement.next);
        if !is_current && judgement.next != Next::Delivered {
            continue;
        }
        db.transaction(|| {
            note(db, &call)?;
            match judgement.next {
                Next::At(at_ms) => db.execute(sql::SET_MESSAGE, params![attempts, at_ms, message]),
                Next::Delivered | Next::Dead | Next::Kept => db.execute(sql::END_MESSAGE, params![message]),
            }
        })?;
    }
    Ok(())
}

fn log_attempt(now_ms: i64, publisher: Option<&str>, attempts: u32, call: &HttpCall, next: Next) {
    if next == Next::Delivered {
        return;
    }
    let is_over = !matches!(next, Next::At(_));
    let level = if is_over { Level::Error } else { Level::Warn };
    log::write(&Line {
        // `None` for the operator's alarms.
        publisher,
        next_try: match next {
            Next::At(at_ms) => Some(at_ms.div_euclid(SECOND_MS)),
            _ => None,
        },
        attempts: Some(attempts),
        status: call.outcome.as_ref().ok().map(|answer| answer.status),
        cause: call.outcome.as_ref().err().map(|no_answer| no_answer.cause),
        dead: Some(is_over),
        ms: Some(call.took_ms),
        ..Line::new(now_ms, level, Event::Alarm)
    });
}

/// Stores the last attempt. If the receiver did not answer, only one word is stored as the cause, so that nobody can
/// use alarms to probe hosts and ports.
fn note(db: &impl Database, call: &HttpCall) -> DbResult {
    let status = call.outcome.as_ref().ok().map(|answer| u32::from(answer.status));
    let error = call.outcome.as_ref().err().map(|no_answer| no_answer.cause);
    db.execute(sql::SET_TRIED, params![call.at_ms, status, error])
}

/// Carries out [`TestAlarms`](contract::alarms::TestAlarms).
///
/// # Errors
/// `no_address`
pub async fn test(
    db: &impl Database,
    runtime: &(impl Clock + Http + Random),
    sender: &CallbackSender,
) -> Result<OperatorReply> {
    let endpoint = address::endpoint(db, sender)?.ok_or(address::NO_ADDRESS)?;
    let random = runtime.random().map_err(Failure::Internal)?;
    let now_ms = runtime.now_ms();
    let id = format!("test-{}", hex::encode(random.get(..16).unwrap_or_default()));
    let request = endpoint.message(&id, test_body(now_ms), now_ms.div_euclid(SECOND_MS));
    let call = sender.call(runtime, &request, sender.test_timeout()).await;
    note(db, &call)?;
    Ok(OperatorReply::ok(&json!({
        "http_status": call.outcome.as_ref().ok().map(|answer| answer.status),
        "ms": call.took_ms,
        "error": call.outcome.as_ref().err().map(|no_answer| no_answer.cause),
    })))
}
